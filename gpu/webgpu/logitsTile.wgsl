// One tile of given logits for one row: noise, scores, and the two best tokens of every draw.

const TILE = WORKGROUP * 4u; // tokens
const FLAG_INVALID = 1u;

struct Piece {
  zero: u32,
  rows: u32, // tokens
  firstToken: u32,
  firstTile: u32,
}

@group(0) @binding(0) var<uniform> piece: Piece;
@group(1) @binding(1) var<storage, read> logits: array<u32>; // f32 bits [rows of the request, tokens]

var<workgroup> best: array<Best, WORKGROUP>;
var<workgroup> flags: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn logitsTile(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = workgroup.x;
  let stream = streamOf(sweep.firstRow + row);
  let firstToken = workgroup.y * TILE + thread * 4u;
  var z: array<vec2u, 4>;
  for (var i = 0u; i < 4u; i++) {
    z[i] = MASKED;
    if (firstToken + i < piece.rows) {
      let bits = logits[(sweep.firstRow + row) * piece.rows + firstToken + i];
      if ((bits & 0x7f800000u) != 0x7f800000u) {
        z[i] = fix(bits);
      } else if (bits != 0xff800000u) { // all but -inf
        atomicOr(&flags, FLAG_INVALID);
      }
    }
  }
  for (var sample = 0u; sample < sweep.samples; sample++) {
    let number = stream.firstSample + sweep.firstSample + sample;
    let high = noiseWords(stream, firstToken / 4u, number, 0u);
    let low = noiseWords(stream, firstToken / 4u, number, 1u);
    var found = NO_BEST;
    for (var i = 0u; i < 4u; i++) {
      if (any(z[i] != MASKED)) {
        found = withToken(found, orderedScore(z[i], gamma26(high[i], low[i]), stream.tau), firstToken + i);
      }
    }
    best[thread] = found;
    for (var stride = WORKGROUP / 2u; stride > 0u; stride /= 2u) {
      workgroupBarrier();
      if (thread < stride) {
        best[thread] = argmaxCombine(best[thread], best[thread + stride]);
      }
    }
    if (thread == 0u) {
      storeBest(row * sweep.samples + sample, best[0], atomicLoad(&flags));
    }
    workgroupBarrier();
  }
}
