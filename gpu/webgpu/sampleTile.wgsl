// One tile of the vocabulary for a block of hidden rows: logits, noise, scores, and the two best tokens of every draw.
// The logits live in registers and in workgroup memory; what leaves the tile is 32 bytes a draw.
//
// A workgroup has THREADS_A_ROW threads for each of ROW_SLOTS weight rows and BATCH_GROUPS groups of hidden rows. A thread
// multiplies ROWS_A_THREAD weight rows with BATCH_A_THREAD hidden rows. Weights stream from the buffer to registers, STEP
// units ahead of their use; hidden states pass through workgroup memory in chunks.

const ROW_SLOTS = WORKGROUP / THREADS_A_ROW / BATCH_GROUPS;
const TILE = ROW_SLOTS * ROWS_A_THREAD; // tokens
const BATCH = BATCH_A_THREAD * BATCH_GROUPS; // hidden rows
const OUTPUTS = ROWS_A_THREAD * BATCH_A_THREAD; // logits that eight threads work on together
const ROUNDS = (OUTPUTS + 3u) / 4u; // of exchanges, four logits each
const DRAW_THREADS = min(TILE / 4u, WORKGROUP / BATCH); // threads that search one draw's tile
const CHUNK_COLUMNS = CHUNK * UNIT_BLOCKS * THREADS_A_ROW; // vectors of four columns in a chunk of one hidden row
const SPACED = BATCH_A_THREAD | 1u; // odd: neighbouring threads then read from different banks

/// A part of the vocabulary that lies in one buffer.
struct Piece {
  zero: u32, // 0; see opaque()
  rows: u32, // weight rows in the buffer
  firstToken: u32,
  firstTile: u32,
  units: u32, // in a row: see layout.ts
  groups: u32, // scales in a row; 1 without scales
  groupUnits: u32, // units that share a scale
  gridWidth: u32, // workgroups along x
}

/// One sweep over the head: some rows of the request, some of their samples.
struct Sweep {
  firstRow: u32,
  rows: u32,
  firstSample: u32,
  samples: u32,
  tiles: u32, // of all pieces
}

@group(0) @binding(0) var<uniform> piece: Piece;
@group(0) @binding(1) var<storage, read> weights: array<Packed>; // [rows, units, THREADS_A_ROW]
@group(0) @binding(2) var<storage, read> scales: array<u32>; // f32 bits [rows, groups]
@group(1) @binding(0) var<uniform> sweep: Sweep;
@group(1) @binding(1) var<storage, read> hidden: array<vec4f>; // [rows of the request, units * UNIT_BLOCKS * THREADS_A_ROW]
@group(1) @binding(2) var<storage, read> request: array<u32>;
@group(1) @binding(3) var<storage, read_write> candidates: array<vec4u>; // [sweep.rows * sweep.samples, sweep.tiles, 2]

var<workgroup> hiddenChunk: array<array<vec4f, SPACED>, BATCH_GROUPS * CHUNK_COLUMNS>;
var<workgroup> partial: array<vec4f, WORKGROUP>;
var<workgroup> logits: array<Logit, TILE * BATCH>;
var<workgroup> best: array<Best, BATCH * DRAW_THREADS>;

@compute @workgroup_size(WORKGROUP)
fn sampleTile(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup.y * piece.gridWidth + workgroup.x;
  let firstRow = tile * TILE;
  if (firstRow >= piece.rows) {
    return;
  }
  let batchBase = workgroup.z * BATCH;
  computeLogits(firstRow, batchBase, thread);
  workgroupBarrier();
  for (var sample = 0u; sample < sweep.samples; sample++) {
    searchTile(firstRow, batchBase, sample, thread);
    workgroupBarrier();
    if (thread < BATCH && batchBase + thread < sweep.rows) {
      let draw = (batchBase + thread) * sweep.samples + sample;
      storeBest((draw * sweep.tiles + piece.firstTile + tile) * 2u, best[thread * DRAW_THREADS], 0u);
    }
    workgroupBarrier();
  }
}

/// Puts a chunk of the hidden rows into workgroup memory, and zeros past the columns of its scale group: whatever weights
/// they meet, they add nothing.
fn stageHidden(batchBase: u32, firstUnit: u32, endUnit: u32, thread: u32) {
  let columns = (endUnit - firstUnit) * UNIT_BLOCKS * THREADS_A_ROW;
  for (var i = thread; i < BATCH * CHUNK_COLUMNS; i += WORKGROUP) {
    let b = i / CHUNK_COLUMNS;
    let column = i % CHUNK_COLUMNS;
    let row = sweep.firstRow + min(batchBase + b, sweep.rows - 1u);
    var values = vec4f();
    if (column < columns) {
      values = hidden[(row * piece.units + firstUnit) * UNIT_BLOCKS * THREADS_A_ROW + column];
    }
    hiddenChunk[(b / BATCH_A_THREAD) * CHUNK_COLUMNS + column][b % BATCH_A_THREAD] = values;
  }
}

fn computeLogits(firstRow: u32, batchBase: u32, thread: u32) {
  let part = thread % THREADS_A_ROW;
  let slot = (thread / THREADS_A_ROW) % ROW_SLOTS;
  let group = thread / (THREADS_A_ROW * ROW_SLOTS);
  var owned: array<Logit, ROUNDS>;
  var weightAt: array<u32, ROWS_A_THREAD>;
  for (var r = 0u; r < ROWS_A_THREAD; r++) {
    // Rows past the end repeat the last one; their tokens are left out later.
    weightAt[r] = min(firstRow + slot + r * ROW_SLOTS, piece.rows - 1u) * piece.units * THREADS_A_ROW + part;
  }
  for (var scaleGroup = 0u; scaleGroup < piece.groups; scaleGroup++) {
    var sums = array<vec4f, OUTPUTS>();
    let firstUnit = scaleGroup * piece.groupUnits;
    let endUnit = firstUnit + piece.groupUnits;
    var packed: array<Packed, STEP * ROWS_A_THREAD>;
    for (var step = 0u; step < STEP; step++) {
      for (var r = 0u; r < ROWS_A_THREAD; r++) {
        packed[step * ROWS_A_THREAD + r] = weights[weightAt[r] + min(firstUnit + step, endUnit - 1u) * THREADS_A_ROW];
      }
    }
    for (var chunk = firstUnit; chunk < endUnit; chunk += CHUNK) {
      workgroupBarrier();
      stageHidden(batchBase, chunk, min(chunk + CHUNK, endUnit), thread);
      workgroupBarrier();
      for (var unit = 0u; unit < CHUNK && chunk + unit < endUnit; unit += STEP) {
        // What the next step needs is asked for before this step's work.
        var next: array<Packed, STEP * ROWS_A_THREAD>;
        for (var step = 0u; step < STEP; step++) {
          let ahead = min(chunk + unit + STEP + step, endUnit - 1u) * THREADS_A_ROW;
          for (var r = 0u; r < ROWS_A_THREAD; r++) {
            next[step * ROWS_A_THREAD + r] = weights[weightAt[r] + ahead];
          }
        }
        for (var step = 0u; step < STEP; step++) {
          for (var block = 0u; block < UNIT_BLOCKS; block++) {
            let column = group * CHUNK_COLUMNS + ((unit + step) * UNIT_BLOCKS + block) * THREADS_A_ROW + part;
            var row: array<vec4f, ROWS_A_THREAD>;
            for (var r = 0u; r < ROWS_A_THREAD; r++) {
              row[r] = unpackWeights(packed[step * ROWS_A_THREAD + r], block);
            }
            for (var b = 0u; b < BATCH_A_THREAD; b++) {
              let values = hiddenChunk[column][b];
              for (var r = 0u; r < ROWS_A_THREAD; r++) {
                sums[b * ROWS_A_THREAD + r] = multiplyAdd(row[r], values, sums[b * ROWS_A_THREAD + r]);
              }
            }
          }
        }
        packed = next;
      }
    }
    // Eight threads hold eight parts of OUTPUTS sums. They exchange four sums a round; the first four threads finish one each.
    for (var round = 0u; round < ROUNDS; round++) {
      var parts: vec4f;
      for (var i = 0u; i < 4u; i++) {
        if (round * 4u + i < OUTPUTS) {
          parts[i] = sumFour(sums[min(round * 4u + i, OUTPUTS - 1u)]);
        }
      }
      partial[thread] = parts;
      workgroupBarrier();
      if (part < 4u) {
        let first = thread - part;
        let low = sumFour(vec4f(partial[first][part], partial[first + 1u][part], partial[first + 2u][part], partial[first + 3u][part]));
        let high = sumFour(vec4f(partial[first + 4u][part], partial[first + 5u][part], partial[first + 6u][part], partial[first + 7u][part]));
        let row = min(firstRow + slot + ((round * 4u + part) % ROWS_A_THREAD) * ROW_SLOTS, piece.rows - 1u);
        owned[round] = addGroup(owned[round], opaque(low + high), row, scaleGroup);
      }
      workgroupBarrier();
    }
  }
  for (var round = 0u; round < ROUNDS; round++) {
    let output = round * 4u + part;
    if (part < 4u && output < OUTPUTS) {
      let b = group * BATCH_A_THREAD + output / ROWS_A_THREAD;
      logits[b * TILE + slot + (output % ROWS_A_THREAD) * ROW_SLOTS] = owned[round];
    }
  }
}

/// Leaves the two best tokens of each of the block's rows in best[row * DRAW_THREADS].
fn searchTile(firstRow: u32, batchBase: u32, sample: u32, thread: u32) {
  let b = thread / DRAW_THREADS;
  let part = thread % DRAW_THREADS;
  let isActive = b < BATCH && batchBase + b < sweep.rows;
  if (isActive) {
    let stream = streamOf(sweep.firstRow + batchBase + b);
    var found = NO_BEST;
    for (var quad = part; quad < TILE / 4u; quad += DRAW_THREADS) {
      let token = piece.firstToken + firstRow + quad * 4u;
      let gamma = quadGamma(stream, token / 4u, stream.firstSample + sweep.firstSample + sample);
      for (var i = 0u; i < 4u; i++) {
        if (firstRow + quad * 4u + i < piece.rows) {
          found = withToken(found, orderedScore(zOf(logits[b * TILE + quad * 4u + i]), gamma[i], stream.tau), token + i);
        }
      }
    }
    best[thread] = found;
  }
  for (var stride = DRAW_THREADS / 2u; stride > 0u; stride /= 2u) {
    workgroupBarrier();
    if (isActive && part < stride) {
      best[thread] = argmaxCombine(best[thread], best[thread + stride]);
    }
  }
}
