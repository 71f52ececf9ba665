// Questions to the pieces of sampleTile, for tests: appended to its text, so that the very functions it runs answer. A thread
// answers one question of 16 words with 8 words. scaledSum of int8 heads comes as scaledWords, which other heads lack.

const ASK_MULHI = 0u;
const ASK_PHILOX = 1u;
const ASK_Q32 = 2u;
const ASK_GAMMA = 3u;
const ASK_FIX = 4u;
const ASK_SCORE = 5u;
const ASK_BEST = 6u;
const ASK_SCALED_SUM = 7u;
const ASK_DOT = 8u;
const ASK_GAMMA_AT_MOST = 9u;
const ASK_RANK = 10u;

struct Questions {
  kind: u32,
  count: u32,
  words: array<array<u32, 16>>,
}

@group(2) @binding(0) var<storage, read> questions: Questions;
@group(2) @binding(1) var<storage, read_write> answers: array<array<u32, 8>>;

@compute @workgroup_size(1)
fn probe(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= questions.count) {
    return;
  }
  let q = questions.words[id.x];
  let first = vec4u(q[0], q[1], q[2], q[3]);
  let second = vec4u(q[4], q[5], q[6], q[7]);
  var a = vec4u();
  var b = vec4u();
  switch questions.kind {
    case ASK_MULHI: {
      a = vec4u(mulhi(first.x, second.x), mulhi(first.y, second.y), mulhi(first.z, second.z), mulhi(first.w, second.w));
      b = vec4u(mulhi(first.x, second.x), mulWide(first.y, second.y), 0u);
    }
    case ASK_PHILOX: {
      a = philox4x32(first, second.xy);
    }
    case ASK_Q32: {
      a = vec4u(q32(first.x), q32(first.y), q32(first.z), q32(first.w));
    }
    case ASK_GAMMA: {
      a = vec4u(gamma26(first.x, second.x), gamma26(first.y, second.y), gamma26(first.z, second.z), gamma26(first.w, second.w));
    }
    case ASK_FIX: {
      a = vec4u(fix(q[0]), 0u, 0u);
    }
    case ASK_SCORE: {
      a = vec4u(orderedScore(first.xy, first.z, first.w), 0u, 0u);
    }
    case ASK_BEST: {
      let left = Best(Scored(first.xy, first.z), Scored(second.xy, second.z));
      let right = Best(Scored(vec2u(q[8], q[9]), q[10]), Scored(vec2u(q[12], q[13]), q[14]));
      let best = argmaxCombine(left, right);
      a = vec4u(best.first.score, best.first.token, 0u);
      b = vec4u(best.second.score, best.second.token, 0u);
    }
    case ASK_SCALED_SUM: {
      a = vec4u(scaledWords(q[0], q[1]), 0u, 0u);
    }
    case ASK_GAMMA_AT_MOST: {
      a = vec4u(gammaAtMost(first.x), gammaAtMost(first.y), gammaAtMost(first.z), gammaAtMost(first.w));
    }
    case ASK_RANK: {
      a = vec4u(rankOf(first.xy), rankOf(first.zw), rankOf(second.xy), rankOf(second.zw));
    }
    default: {
      a = dotL32(q[0]);
    }
  }
  answers[id.x] = array(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w);
}

/// One weight row times the hidden row of the same number, by one thread: Z, and the sum of the last scale group.
fn dotL32(row: u32) -> vec4u {
  var logit: Logit;
  var sum = 0f;
  for (var group = 0u; group < piece.groups; group++) {
    for (var lane = 0u; lane < DOT_LANES; lane++) {
      var total = 0f;
      for (var unit = group * piece.groupUnits; unit < (group + 1u) * piece.groupUnits; unit++) {
        let packed = weightsOf(row * rowLength() + lane, unit);
        for (var block = 0u; block < UNIT_BLOCKS; block++) {
          let column = (row * piece.units + unit) * UNIT_COLUMNS + block * DOT_LANES + lane;
          total = multiplyAdd(weightOf(packed, block), hidden[column], total);
        }
      }
      store(lane, total);
    }
    sum = opaque(sumSixteen(0u) + sumSixteen(16u));
    logit = addGroup(logit, sum, row, group);
  }
  return vec4u(zOf(logit), bitcast<u32>(sum), 0u);
}
