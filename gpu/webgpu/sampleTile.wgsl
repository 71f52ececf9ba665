// One tile of the vocabulary for a block of hidden rows: logits, noise, scores, and the two best tokens of every draw.
// The logits live in registers and in workgroup memory; what leaves the tile is 32 bytes a draw.
//
// A workgroup has THREADS_A_ROW threads for each of ROW_SLOTS weight rows and BATCH_GROUPS groups of hidden rows. A thread
// multiplies ROWS_A_THREAD weight rows with BATCH_A_THREAD hidden rows, and goes over STRIPS strips of weight rows before the
// tile is searched. Weights come to registers STEP units before they are used.

const ROW_SLOTS = WORKGROUP / THREADS_A_ROW / BATCH_GROUPS;
const STRIP = ROW_SLOTS * ROWS_A_THREAD; // weight rows that are multiplied at the same time
const TILE = STRIPS * STRIP; // tokens
const BATCH = BATCH_A_THREAD * BATCH_GROUPS; // hidden rows
const OUTPUTS = ROWS_A_THREAD * BATCH_A_THREAD; // logits that eight threads work on together
const ROUNDS = (OUTPUTS + 3u) / 4u; // of exchanges, four logits each
const CHUNK = 0x40000000u; // units: more than a row has
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
@group(0) @binding(1) var<storage, read> weights: array<Packed>; // [rows, units, THREADS_A_ROW]
@group(0) @binding(2) var<storage, read> scales: array<u32>; // f32 bits [rows, groups]
@group(1) @binding(1) var<storage, read> hidden: array<vec4f>; // [rows of the request, units * UNIT_BLOCKS * THREADS_A_ROW]

var<workgroup> partial: array<vec4f, WORKGROUP>;
var<workgroup> logits: array<Logit, TILE * BATCH>;
var<workgroup> streams: array<Stream, BATCH>;
var<workgroup> words: array<u32, 2u * BATCH * TILE>; // noise, [high and low, hidden row, token]
var<workgroup> best: array<Best, BATCH * DRAW_THREADS>;

@compute @workgroup_size(WORKGROUP)
fn sampleTile(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tile = workgroup.z * piece.gridWidth + workgroup.y;
  let firstRow = tile * TILE;
  if (firstRow >= piece.rows) {
    return;
  }
  // Blocks of hidden rows follow each other, so that they find a tile's weights in the cache.
  let batchBase = workgroup.x * BATCH;
  if (thread < BATCH) {
    streams[thread] = streamOf(sweep.firstRow + min(batchBase + thread, sweep.rows - 1u));
  }
  for (var strip = 0u; strip < TILE; strip += STRIP) {
    computeLogits(firstRow, strip, batchBase, thread);
  }
  workgroupBarrier();
  for (var sample = 0u; sample < sweep.samples; sample++) {
    drawNoise((piece.firstToken + firstRow) / 4u, sweep.firstSample + sample, thread);
    workgroupBarrier();
    searchTile(firstRow, batchBase, thread);
    workgroupBarrier();
    if (thread < BATCH && batchBase + thread < sweep.rows) {
      let draw = (batchBase + thread) * sweep.samples + sample;
      storeBest((draw * sweep.tiles + piece.firstTile + tile) * 2u, best[thread * DRAW_THREADS], 0u);
    }
    workgroupBarrier();
  }
}

/// Logits of one strip of the tile.
fn computeLogits(firstRow: u32, strip: u32, batchBase: u32, thread: u32) {
  let part = thread % THREADS_A_ROW;
  let slot = (thread / THREADS_A_ROW) % ROW_SLOTS;
  let group = thread / (THREADS_A_ROW * ROW_SLOTS);
  var owned: array<Logit, ROUNDS>;
  var weightAt: array<u32, ROWS_A_THREAD>;
  for (var r = 0u; r < ROWS_A_THREAD; r++) {
    // Rows past the end repeat the last one; their tokens are left out later.
    weightAt[r] = min(firstRow + strip + slot + r * ROW_SLOTS, piece.rows - 1u) * piece.units * THREADS_A_ROW + part;
  }
  var hiddenAt: array<u32, BATCH_A_THREAD>;
  for (var b = 0u; b < BATCH_A_THREAD; b++) {
    let row = sweep.firstRow + min(batchBase + group * BATCH_A_THREAD + b, sweep.rows - 1u);
    hiddenAt[b] = row * piece.units * UNIT_BLOCKS * THREADS_A_ROW;
  }
  for (var scaleGroup = 0u; scaleGroup < piece.groups; scaleGroup++) {
    var sums = array<vec4f, OUTPUTS>();
    let firstUnit = scaleGroup * piece.groupUnits;
    let endUnit = firstUnit + piece.groupUnits;
    var packed: array<Packed, STEP * ROWS_A_THREAD>;
    for (var step = 0u; step < STEP; step++) {
      for (var r = 0u; r < ROWS_A_THREAD; r++) {
        packed[step * ROWS_A_THREAD + r] = weights[weightAt[r] + (firstUnit + step) * THREADS_A_ROW];
      }
    }
    // One turn of this loop: inside it, a driver schedules the loads of the next better (docs/performance.md).
    for (var chunk = firstUnit; chunk < endUnit; chunk += CHUNK) {
      let endChunk = min(chunk + CHUNK, endUnit);
      for (var unit = chunk; unit < endChunk; unit += STEP) {
        // What the next step needs is asked for before this step's work; the last step asks again for what it has.
        let nextUnit = select(unit, unit + STEP, unit + STEP < endUnit);
        var next: array<Packed, STEP * ROWS_A_THREAD>;
        for (var step = 0u; step < STEP; step++) {
          for (var r = 0u; r < ROWS_A_THREAD; r++) {
            next[step * ROWS_A_THREAD + r] = weights[weightAt[r] + (nextUnit + step) * THREADS_A_ROW];
          }
        }
        for (var step = 0u; step < STEP; step++) {
          for (var block = 0u; block < UNIT_BLOCKS; block++) {
            let column = ((unit + step) * UNIT_BLOCKS + block) * THREADS_A_ROW + part;
            var row: array<vec4f, ROWS_A_THREAD>;
            for (var r = 0u; r < ROWS_A_THREAD; r++) {
              row[r] = unpackWeights(packed[step * ROWS_A_THREAD + r], block);
            }
            for (var b = 0u; b < BATCH_A_THREAD; b++) {
              let values = hidden[hiddenAt[b] + column];
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
        let row = min(firstRow + strip + slot + ((round * 4u + part) % ROWS_A_THREAD) * ROW_SLOTS, piece.rows - 1u);
        owned[round] = addGroup(owned[round], opaque(low + high), row, scaleGroup);
      }
      workgroupBarrier();
    }
  }
  for (var round = 0u; round < ROUNDS; round++) {
    let output = round * 4u + part;
    if (part < 4u && output < OUTPUTS) {
      let b = group * BATCH_A_THREAD + output / ROWS_A_THREAD;
      logits[b * TILE + strip + slot + (output % ROWS_A_THREAD) * ROW_SLOTS] = owned[round];
    }
  }
}

/// The noise words of the tile's tokens, for each of the block's rows.
fn drawNoise(firstQuad: u32, sample: u32, thread: u32) {
  for (var item = thread; item < BATCH * TILE / 2u; item += WORKGROUP) {
    let quad = item % (BATCH * TILE / 4u); // of the block's rows, one after the other
    let word = item / (BATCH * TILE / 4u);
    let stream = streams[quad / (TILE / 4u)];
    let four = noiseWords(stream, firstQuad + quad % (TILE / 4u), stream.firstSample + sample, word);
    let at = item * 4u;
    words[at] = four.x;
    words[at + 1u] = four.y;
    words[at + 2u] = four.z;
    words[at + 3u] = four.w;
  }
}

/// Leaves the two best tokens of each of the block's rows in best[row * DRAW_THREADS].
fn searchTile(firstRow: u32, batchBase: u32, thread: u32) {
  let b = thread / DRAW_THREADS;
  let part = thread % DRAW_THREADS;
  if (b < BATCH) {
    let tau = streams[b].tau;
    var found = NO_BEST;
    for (var i = part; i < TILE; i += DRAW_THREADS) {
      let at = b * TILE + i;
      let gamma = gamma26(words[at], words[BATCH * TILE + at]);
      if (firstRow + i < piece.rows) {
        found = withToken(found, orderedScore(zOf(logits[at]), gamma, tau), piece.firstToken + firstRow + i);
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
