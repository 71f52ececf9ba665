/** The exports of the core: what src/backends/wasm-core.ts calls, and the twins for known answers. */
import { drawAt, drawTable, hidden, rowAt, staged } from "./areas";
import { resetDraw, Draw } from "./argmaxCombine";
import { Bf16, F16, Int8 } from "./decode";
import { blocks } from "./head";
import { packHidden } from "./hidden";
import { Row } from "./row";
import { sampleHead } from "./sampleHead";
import { sampleTile, TILE } from "./sampleTile";
import { setScreen } from "./screen";

export { setAreas } from "./areas";
export { fix } from "./fix";
export { gamma26 } from "./gamma26";
export { philox4x32 } from "./philox4x32";
export { setHead } from "./head";
export { measureWeights } from "./roundWeights";

/** The first byte that the module does not use for itself, and the sizes of the host's table entries. */
export function heapBase(): usize {
  return __heap_base;
}
export function rowBytes(): u32 {
  return offsetof<Row>();
}
export function drawBytes(): u32 {
  return offsetof<Draw>();
}

export function setRow(
  index: u32,
  key0: u32,
  key1: u32,
  sequence: u32,
  position: u32,
  tau: u32,
  firstSample: u32,
  purpose: u32,
): void {
  const row = rowAt(index);
  row.key0 = key0;
  row.key1 = key1;
  row.sequence = sequence;
  row.position = position;
  row.tau = tau;
  row.firstSample = firstSample;
  row.purpose = purpose;
  row.invalid = 0;
  setScreen(row);
}

export function resetDraws(count: u32): void {
  for (let index: u32 = 0; index < count; index++) resetDraw(drawAt(index));
}

/** A pass over a head: pack each of `rows` staged hidden states, then decide. One pair of functions for each stored format. */
export function packBf16(row: u32, rows: u32): void {
  packHidden<Bf16>(staged, hidden, row, rows, blocks);
}
export function sampleBf16(rows: u32, samples: u32): void {
  sampleHead<Bf16>(rows, samples);
}
export function packF16(row: u32, rows: u32): void {
  packHidden<F16>(staged, hidden, row, rows, blocks);
}
export function sampleF16(rows: u32, samples: u32): void {
  sampleHead<F16>(rows, samples);
}
export function packF32(row: u32, rows: u32): void {
  packHidden<f32>(staged, hidden, row, rows, blocks);
}
export function sampleF32(rows: u32, samples: u32): void {
  sampleHead<f32>(rows, samples);
}
export function packInt8(row: u32, rows: u32): void {
  packHidden<Int8>(staged, hidden, row, rows, blocks);
}
export function sampleInt8(rows: u32, samples: u32): void {
  sampleHead<Int8>(rows, samples);
}

/** Takes `count` more logits of row 0, staged as f32 and padded with -inf to whole tiles; the first is that of token `first`. */
export function sampleLogits(count: u32, samples: u32, first: u32): void {
  const row = rowAt(0);
  if (row.invalid) return;
  for (let index: u32 = 0; index < count; index += 4) {
    // False for NaN and +inf alone.
    if (!i32x4.all_true(f32x4.lt(v128.load(staged + index * 4), f32x4.splat(Infinity)))) {
      row.invalid = 1;
      return;
    }
  }
  for (let tile: u32 = 0; tile < count; tile += TILE) sampleTile(0, drawTable, samples, staged + tile * 4, 0, first + tile, 0);
}

export function isInvalid(row: u32): bool {
  return rowAt(row).invalid != 0;
}
export function token(draw: u32): i32 {
  return drawAt(draw).token;
}
export function runnerUp(draw: u32): i32 {
  return drawAt(draw).runnerUp;
}
export function score(draw: u32): i64 {
  return drawAt(draw).score;
}
export function runnerUpScore(draw: u32): i64 {
  return drawAt(draw).runnerUpScore;
}
