/**
 * The exports of the core. The host places every area (src/backends/wasm-layout.ts) and names the areas here; the layouts
 * of rows and draws stay private. Addresses are u32 and may pass 2^31; no area ends at 2^32.
 */
import { argmaxCombine, Draw, resetDraw } from "./argmaxCombine";
import { Bf16, F16, Int8 } from "./decode";
import { dotL32 } from "./dotL32";
import { addGroup, MASK } from "./fix";
import { Row } from "./row";
import { sampleTile, TILE } from "./sampleTile";
import { setScreen } from "./screen";

let words: usize, rowTable: usize, drawTable: usize, logitTile: usize, zTile: usize;
let weights: usize, scales: usize, hidden: usize, staged: usize;
let vocabSize: u32, blocks: u32, groupBlocks: u32, firstToken: u32;

// The twins, for known answers.
export { fix } from "./fix";
export { gamma26 } from "./gamma26";
export { philox4x32 } from "./philox4x32";

export function heapBase(): usize { return __heap_base; }
export function rowBytes(): u32 { return offsetof<Row>(); }
export function drawBytes(): u32 { return offsetof<Draw>(); }

export function setAreas(words_: usize, rowTable_: usize, drawTable_: usize, logitTile_: usize, zTile_: usize, staged_: usize, hidden_: usize, weights_: usize, scales_: usize): void {
  words = words_; rowTable = rowTable_; drawTable = drawTable_; logitTile = logitTile_; zTile = zTile_;
  staged = staged_; hidden = hidden_; weights = weights_; scales = scales_;
}
export function setHead(vocabSize_: u32, blocks_: u32, groupBlocks_: u32, firstToken_: u32): void {
  vocabSize = vocabSize_; blocks = blocks_; groupBlocks = groupBlocks_; firstToken = firstToken_;
}

export function setRow(index: u32, key0: u32, key1: u32, sequence: u32, position: u32, tau: u32, firstSample: u32, purpose: u32): void {
  const row = rowAt(index);
  row.key0 = key0; row.key1 = key1; row.sequence = sequence; row.position = position; row.tau = tau;
  row.firstSample = firstSample; row.purpose = purpose; row.invalid = 0;
  setScreen(row);
}
export function resetDraws(count: u32): void {
  for (let i: u32 = 0; i < count; i++) resetDraw(drawAt(i));
}

@inline function rowAt(i: u32): Row { return changetype<Row>(rowTable + i * offsetof<Row>()); }
@inline function drawAt(i: u32): Draw { return changetype<Draw>(drawTable + i * offsetof<Draw>()); }

export function isInvalid(row: u32): bool { return rowAt(row).invalid != 0; }
export function token(draw: u32): i32 { return drawAt(draw).token; }
export function runnerUp(draw: u32): i32 { return drawAt(draw).runnerUp; }
export function score(draw: u32): i64 { return drawAt(draw).score; }
export function runnerUpScore(draw: u32): i64 { return drawAt(draw).runnerUpScore; }

/** Takes the staged hidden state [blocks * 32], as f32, into row `row`: even columns of each eight, then odd. */
export function packHidden(row: u32): void {
  const to = hidden + (row * blocks << 7);
  for (let at: usize = 0; at < (blocks << 7); at += 32) {
    const a = v128.load(staged + at), b = v128.load(staged + at, 16);
    v128.store(to + at, v128.shuffle<f32>(a, b, 0, 2, 4, 6));
    v128.store(to + at, v128.shuffle<f32>(a, b, 1, 3, 5, 7), 16);
  }
}

function sampleHead<T>(rows: u32, samples: u32): void {
  for (let tile: u32 = 0; tile < vocabSize; tile += TILE) {
    for (let r: u32 = 0; r < rows; r++) {
      for (let v: u32 = 0; v < TILE; v++) {
        if (tile + v >= vocabSize) {
          store<f32>(logitTile + v * 4, -Infinity);
          if (sizeof<T>() == 1) store<i64>(zTile + v * 8, MASK);
          continue;
        }
        const w = weights + (tile + v) * (blocks * 32 * sizeof<T>());
        const x = hidden + (r * blocks << 7);
        if (sizeof<T>() == 1) {
          let z: i64 = 0;
          const groups = blocks / groupBlocks;
          for (let g: u32 = 0; g < groups; g++) {
            z = addGroup(z, dotL32<T>(w + g * groupBlocks * 32, x + (g * groupBlocks << 7), groupBlocks), load<f32>(scales + ((tile + v) * groups + g) * 4));
          }
          store<i64>(zTile + v * 8, z);
          const zf = f32(f64(z) * 2.3283064365386963e-10);
          store<f32>(logitTile + v * 4, zf + abs(zf) * 2.384185791015625e-7);
        } else store<f32>(logitTile + v * 4, dotL32<T>(w, x, blocks));
      }
      sampleTile(rowAt(r), drawTable + r * samples * offsetof<Draw>(), samples, logitTile, sizeof<T>() == 1 ? zTile : 0, firstToken + tile, words);
    }
  }
}
export function sampleBf16(rows: u32, samples: u32): void { sampleHead<Bf16>(rows, samples); }
export function sampleF16(rows: u32, samples: u32): void { sampleHead<F16>(rows, samples); }
export function sampleF32(rows: u32, samples: u32): void { sampleHead<f32>(rows, samples); }
export function sampleInt8(rows: u32, samples: u32): void { sampleHead<Int8>(rows, samples); }

/** Decides `count` more logits of row 0, staged as f32 and padded with -inf to a multiple of TILE. */
export function sampleLogits(count: u32, samples: u32, first: u32): void {
  const row = rowAt(0);
  if (row.invalid) return;
  for (let at: u32 = 0; at < count; at += 4) {
    if (!i32x4.all_true(f32x4.lt(v128.load(staged + at * 4), f32x4.splat(Infinity)))) {
      row.invalid = 1;
      return;
    }
  }
  for (let at: u32 = 0; at < count; at += TILE) sampleTile(row, drawTable, samples, staged + at * 4, 0, first + at, words);
}
