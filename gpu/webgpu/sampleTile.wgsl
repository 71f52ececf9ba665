// One tile of the vocabulary for a block of hidden rows: logits, noise, scores, and the two best tokens of every draw.
// The logits live in registers and in workgroup memory; what leaves the tile is 32 bytes a draw.
//
// Thirty-two neighbouring threads, a *lane group*, hold one of the 32 partial sums each (docs/spec.md, "Logits"): a thread reads
// its own lane's weights of ROWS_A_THREAD rows, one unit before they are used, and its own lane's values of BATCH hidden rows.

const GROUPS = WORKGROUP / DOT_LANES; // lane groups
const TILE = GROUPS * ROWS_A_THREAD; // tokens
const QUADS = TILE / 4u;
const OUTPUTS = ROWS_A_THREAD * BATCH; // logits of a lane group
const ROUND_SUMS = 16u; // of them, that change hands at a time
const ROUNDS = OUTPUTS / ROUND_SUMS;
const OWNED = (OUTPUTS + DOT_LANES - 1u) / DOT_LANES; // logits that a thread finishes
const CHUNK = 0x40000000u; // units: more than a row has
const PARTS = BATCH / PART_ROWS; // of a column's hidden values
const UNIT_COLUMNS = UNIT_BLOCKS * DOT_LANES;
const UNIT_PARTS = UNIT_COLUMNS * PARTS;
const STAGE_PARTS = max(UNIT_PARTS / WORKGROUP, 1u); // that a thread stages
const PADDED_LANES = DOT_LANES + 1u; // so that threads which read down a column meet no bank twice
const SCRATCH = max(max(GROUPS * ROUND_SUMS * PADDED_LANES, 2u * BATCH * TILE), select(0u, 2u * UNIT_PARTS * PART_ROWS, STAGED));
const DRAW_THREADS = min(TILE, WORKGROUP / BATCH); // threads that search one draw's tile

/// A part of the vocabulary that lies in one buffer.
struct Piece {
  zero: u32, // 0; see opaque()
  rows: u32, // weight rows in the buffer
  firstToken: u32,
  firstTile: u32,
  units: u32, // in a row: see layout.ts
  groups: u32, // scales in a row; 1 without scales
  groupUnits: u32, // units that share a scale
  gridWidth: u32, // workgroups along y
}

@group(0) @binding(0) var<uniform> piece: Piece;
@group(0) @binding(1) var<storage, read> weights: array<Packed>; // [rows, units, lanes]
@group(0) @binding(2) var<storage, read> scales: array<u32>; // f32 bits [rows, groups]
@group(1) @binding(1) var<storage, read> hidden: array<HiddenPart>; // [blocks of BATCH rows, columns, PARTS]

/// Bits of hidden values of two units, or of sums on their way; then noise, [high and low, hidden row, token].
var<workgroup> scratch: array<vec4u, (SCRATCH + 3u) / 4u>;
var<workgroup> logits: array<Logit, TILE * BATCH>;
var<workgroup> streams: array<Stream, BATCH>;
var<workgroup> best: array<Best, BATCH * DRAW_THREADS>;
var<workgroup> marks: atomic<u32>; // a bit for each hidden row that the tile may matter to
var<workgroup> marked: u32; // the same, when all have marked theirs

@compute @workgroup_size(WORKGROUP)
fn sampleTile(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup.z * piece.gridWidth + workgroup.y;
  let firstRow = tile * TILE;
  if (firstRow >= piece.rows) {
    return;
  }
  // Blocks of hidden rows follow each other, so that they find a tile's weights in the cache.
  let block = sweep.firstRow / BATCH + workgroup.x;
  let begin = max(block * BATCH, sweep.firstRow);
  let end = min((block + 1u) * BATCH, sweep.firstRow + sweep.rows);
  if (thread < end - begin) {
    streams[(begin + thread) % BATCH] = streamOf(begin + thread);
  }
  computeLogits(firstRow, block, thread);
  workgroupBarrier();
  for (var sample = 0u; sample < sweep.samples; sample++) {
    let firstQuad = (piece.firstToken + firstRow) / 4u;
    let rows = rowsToSearch(begin, end, firstQuad, sample, thread);
    if (rows == 0u) {
      continue;
    }
    drawNoise(firstQuad, sample, thread);
    workgroupBarrier();
    searchTile(firstRow, thread);
    workgroupBarrier();
    if (thread < end - begin) {
      let row = begin + thread;
      if (((rows >> (row % BATCH)) & 1u) == 1u) {
        storeBest((row - sweep.firstRow) * sweep.samples + sample, best[row % BATCH * DRAW_THREADS], 0u);
      }
    }
    workgroupBarrier();
  }
}

/// Logits of the tile.
fn computeLogits(firstRow: u32, hiddenBlock: u32, thread: u32) {
  let lane = thread % DOT_LANES;
  let group = thread / DOT_LANES;
  let groupRow = firstRow + group * ROWS_A_THREAD;
  let hiddenAt = hiddenBlock * piece.units * UNIT_PARTS;
  let summed = group * ROUND_SUMS * PADDED_LANES;
  var owned = array<Logit, OWNED>();
  var weightAt: array<u32, ROWS_A_THREAD>;
  for (var r = 0u; r < ROWS_A_THREAD; r++) {
    // Rows past the end repeat the last one; their tokens are left out later.
    weightAt[r] = min(groupRow + r, piece.rows - 1u) * rowLength() + lane;
  }
  for (var scaleGroup = 0u; scaleGroup < piece.groups; scaleGroup++) {
    var sums = array<f32, OUTPUTS>();
    let firstUnit = scaleGroup * piece.groupUnits;
    let endUnit = firstUnit + piece.groupUnits;
    var packed: array<Packed, ROWS_A_THREAD>;
    for (var r = 0u; r < ROWS_A_THREAD; r++) {
      packed[r] = weightsOf(weightAt[r], firstUnit);
    }
    var values: array<HiddenPart, PARTS>;
    var staged = 0u; // where the unit at hand lies
    if (STAGED) {
      workgroupBarrier(); // the sums of the group before are read
      for (var i = 0u; i < STAGE_PARTS; i++) {
        stagePart(i * WORKGROUP + thread, hidden[hiddenAt + firstUnit * UNIT_PARTS + i * WORKGROUP + thread]);
      }
    } else {
      for (var p = 0u; p < PARTS; p++) {
        values[p] = hidden[hiddenAt + firstUnit * UNIT_PARTS + lane * PARTS + p];
      }
    }
    // One turn of this loop: inside it, a driver schedules the loads of the next better (docs/performance-webgpu.md).
    for (var chunk = firstUnit; chunk < endUnit; chunk += CHUNK) {
      let endChunk = min(chunk + CHUNK, endUnit);
      for (var unit = chunk; unit < endChunk; unit++) {
        // What the next unit needs is asked for before this unit's work; the last one asks again for what it has.
        let nextUnit = min(unit + 1u, endUnit - 1u);
        var next: array<Packed, ROWS_A_THREAD>;
        for (var r = 0u; r < ROWS_A_THREAD; r++) {
          next[r] = weightsOf(weightAt[r], nextUnit);
        }
        var pending: array<HiddenPart, STAGE_PARTS>;
        if (STAGED) {
          for (var i = 0u; i < STAGE_PARTS; i++) {
            pending[i] = hidden[hiddenAt + nextUnit * UNIT_PARTS + i * WORKGROUP + thread];
          }
          workgroupBarrier();
          for (var p = 0u; p < PARTS; p++) {
            values[p] = stagedPart(staged + lane * PARTS + p);
          }
        }
        for (var block = 0u; block < UNIT_BLOCKS; block++) {
          let current = values;
          if (!STAGED) {
            let nextColumn = min(unit * UNIT_BLOCKS + block + 1u, endUnit * UNIT_BLOCKS - 1u) * DOT_LANES + lane;
            for (var p = 0u; p < PARTS; p++) {
              values[p] = hidden[hiddenAt + nextColumn * PARTS + p];
            }
          } else if (block + 1u < UNIT_BLOCKS) {
            for (var p = 0u; p < PARTS; p++) {
              values[p] = stagedPart(staged + ((block + 1u) * DOT_LANES + lane) * PARTS + p);
            }
          }
          for (var r = 0u; r < ROWS_A_THREAD; r++) {
            let weight = weightOf(packed[r], block);
            for (var b = 0u; b < BATCH; b++) {
              sums[b * ROWS_A_THREAD + r] = multiplyAdd(weight, rowOf(current[b / PART_ROWS], b % PART_ROWS), sums[b * ROWS_A_THREAD + r]);
            }
          }
        }
        packed = next;
        if (STAGED) {
          staged = UNIT_PARTS - staged;
          for (var i = 0u; i < STAGE_PARTS; i++) {
            stagePart(staged + i * WORKGROUP + thread, pending[i]);
          }
        }
      }
    }
    // A thread holds one lane of each sum. Sixteen sums a round change hands: then it adds half the lanes of one.
    var halves: array<f32, ROUNDS>;
    for (var round = 0u; round < ROUNDS; round++) {
      workgroupBarrier();
      for (var i = 0u; i < ROUND_SUMS; i++) {
        store(summed + i * PADDED_LANES + lane, sums[round * ROUND_SUMS + i]);
      }
      workgroupBarrier();
      halves[round] = sumSixteen(summed + lane % ROUND_SUMS * PADDED_LANES + lane / ROUND_SUMS * 16u);
    }
    workgroupBarrier();
    for (var round = 0u; round < ROUNDS; round++) {
      store(summed + round * DOT_LANES + lane, halves[round]);
    }
    workgroupBarrier();
    for (var i = 0u; i < OWNED; i++) {
      let output = min(i * DOT_LANES + lane, OUTPUTS - 1u);
      let at = summed + output / ROUND_SUMS * DOT_LANES + output % ROUND_SUMS;
      let row = min(groupRow + output % ROWS_A_THREAD, piece.rows - 1u);
      owned[i] = addGroup(owned[i], opaque(load(at) + load(at + ROUND_SUMS)), row, scaleGroup);
    }
  }
  for (var i = 0u; i < OWNED; i++) {
    let output = i * DOT_LANES + lane;
    if (output < OUTPUTS) {
      logits[output / ROWS_A_THREAD * TILE + group * ROWS_A_THREAD + output % ROWS_A_THREAD] = owned[i];
    }
  }
}

fn store(at: u32, value: f32) {
  scratch[at / 4u][at % 4u] = bitcast<u32>(value);
}

fn load(at: u32) -> f32 {
  return bitcast<f32>(scratch[at / 4u][at % 4u]);
}

/// Four levels of the pairwise tree.
fn sumSixteen(at: u32) -> f32 {
  return sumFour(vec4f(sumFourAt(at), sumFourAt(at + 4u), sumFourAt(at + 8u), sumFourAt(at + 12u)));
}

fn sumFourAt(at: u32) -> f32 {
  return sumFour(vec4f(load(at), load(at + 1u), load(at + 2u), load(at + 3u)));
}

/// A bit for each of the block's hidden rows for which a token of the tile may be one of the draw's two best.
fn rowsToSearch(begin: u32, end: u32, firstQuad: u32, sample: u32, thread: u32) -> u32 {
  if (thread == 0u) {
    atomicStore(&marks, 0u);
  }
  workgroupBarrier();
  for (var item = thread; item < (end - begin) * QUADS; item += WORKGROUP) {
    let row = begin + item / QUADS;
    let b = row % BATCH;
    let quad = item % QUADS;
    let threshold = atomicLoad(&draws[(row - sweep.firstRow) * sweep.samples + sample].threshold);
    let stream = streams[b];
    let high = noiseWords(stream, firstQuad + quad, stream.firstSample + sweep.firstSample + sample, 0u);
    var most = 0u;
    for (var i = 0u; i < 4u; i++) {
      most = max(most, rankOf(orderedScore(zOf(logits[b * TILE + quad * 4u + i]), gammaAtMost(high[i]), stream.tau)));
    }
    if (most >= threshold) {
      atomicOr(&marks, 1u << b);
    }
  }
  workgroupBarrier();
  if (thread == 0u) {
    marked = atomicLoad(&marks);
  }
  return workgroupUniformLoad(&marked);
}

/// The noise words of the tile's tokens, for each of the block's rows.
fn drawNoise(firstQuad: u32, sample: u32, thread: u32) {
  for (var item = thread; item < 2u * BATCH * QUADS; item += WORKGROUP) {
    let quad = item % (BATCH * QUADS); // of the block's rows, one after the other
    let stream = streams[quad / QUADS];
    scratch[item] = noiseWords(stream, firstQuad + quad % QUADS, stream.firstSample + sweep.firstSample + sample, item / (BATCH * QUADS));
  }
}

fn noiseWord(word: u32, b: u32, token: u32) -> u32 {
  return scratch[(word * BATCH + b) * QUADS + token / 4u][token % 4u];
}

/// Leaves the tile's two best tokens for each of the block's rows in best[row * DRAW_THREADS].
fn searchTile(firstRow: u32, thread: u32) {
  let b = thread / DRAW_THREADS;
  let part = thread % DRAW_THREADS;
  if (b < BATCH) {
    let tau = streams[b].tau;
    var found = NO_BEST;
    for (var i = part; i < TILE; i += DRAW_THREADS) {
      let gamma = gamma26(noiseWord(0u, b, i), noiseWord(1u, b, i));
      if (firstRow + i < piece.rows) {
        found = withToken(found, orderedScore(zOf(logits[b * TILE + i]), gamma, tau), piece.firstToken + firstRow + i);
      }
    }
    best[thread] = found;
  }
  for (var stride = DRAW_THREADS / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (b < BATCH && part < stride) {
      best[thread] = argmaxCombine(best[thread], best[thread + stride]);
    }
  }
}
