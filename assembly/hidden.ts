/**
 * The hidden states of a pass, laid out for the order in which the dot products read them. Rows go in blocks of nearly
 * equal size; a block of `count` rows takes count * blocks * 128 bytes.
 */
import { hiddenAlone } from "./areas";
import { isBounded } from "./boundTile";
import { decodeRow, evens, F16_SCALE_BITS, odds } from "./decode";
import { mostBlockRows, passVectors } from "./dotBlock";
import { roundHidden } from "./roundHidden";
import { weightUnit } from "./roundWeights";

/**
 * How many of the first hidden rows are multiplied alone: the first one always, because its product streams weights in as
 * fast as memory gives them, and a second one that would be alone anyway.
 */
// @ts-ignore: decorator
@inline
export function singleRows(rows: u32): u32 {
  return rows == 2 ? 2 : 1;
}

/** Rows of the block that begins at `row`: the rest, shared out evenly over as few blocks as it needs. */
// @ts-ignore: decorator
@inline
export function blockRows<T>(row: u32, rows: u32): u32 {
  const rest = rows - row;
  const count = (rest + mostBlockRows<T>() - 1) / mostBlockRows<T>();
  return (rest + count - 1) / count;
}

/**
 * Takes hidden state `row` of `rows`, staged as f32 [blocks * 32], to its place among blocks of rows, or to that of a row
 * alone. Where bounds come first it is needed rounded as well, and as of a row alone.
 */
export function packHidden<T>(staged: usize, hidden: usize, row: u32, rows: u32, blocks: u32): void {
  if (isBounded<T>(rows)) roundHidden(staged, row, blocks, weightUnit<T>());
  if (sizeof<T>() == 2 && isSigned<T>()) scale(staged, blocks, reinterpret<f32>(F16_SCALE_BITS));
  if (isBounded<T>(rows)) {
    if (isSigned<T>()) decodeRow<f32>(staged, blocks, hiddenAlone + ((row * blocks) << 7));
    else packNarrow(staged, blocks, hiddenAlone + ((row * blocks) << 6));
  }
  if (row < singleRows(rows)) {
    packRow<T>(staged, hidden + ((row * blocks) << 7), blocks);
    return;
  }
  const none = i32x4.splat(0);
  let first = singleRows(rows);
  let count = blockRows<T>(first, rows);
  while (row >= first + count) {
    first += count;
    count = blockRows<T>(first, rows);
  }
  const block = hidden + ((first * blocks) << 7);
  const vectors = passVectors<T>(count);
  for (let k: u32 = 0; k < blocks; k++) {
    for (let octet: u32 = 0; octet < 4; octet++) {
      const even = ((2 / vectors) * octet * blocks + k) * vectors * count + row - first;
      const odd = even + (vectors == 2 ? count : blocks * count);
      v128.store(block + (even << 4), evens<f32>(none, staged, none));
      v128.store(block + (odd << 4), odds<f32>(none, staged, none));
      staged += 32;
    }
  }
}

/**
 * Whether a hidden row alone is stored as bf16, which it is rounded to for a bf16 head, and not as f32: half the bytes to
 * keep in the first cache beside the stream of weights. That pays above 2048 columns; other formats wait for decoding.
 */
// @ts-ignore: decorator
@inline
export function isNarrow<T>(blocks: u32): bool {
  return !isFloat<T>() && sizeof<T>() == 2 && !isSigned<T>() && blocks > 64;
}

function packRow<T>(staged: usize, hidden: usize, blocks: u32): void {
  if (isNarrow<T>(blocks)) packNarrow(staged, blocks, hidden);
  else decodeRow<f32>(staged, blocks, hidden);
}

/** Takes f32 values that are bf16 to bf16. */
function packNarrow(staged: usize, blocks: u32, hidden: usize): void {
  for (const end = staged + (usize(blocks) << 7); staged < end; staged += 32) {
    v128.store(hidden, v128.shuffle<i16>(v128.load(staged), v128.load(staged, 16), 1, 3, 5, 7, 9, 11, 13, 15));
    hidden += 16;
  }
}

function scale(staged: usize, blocks: u32, factor: f32): void {
  for (const end = staged + (usize(blocks) << 7); staged < end; staged += 16) {
    v128.store(staged, f32x4.mul(v128.load(staged), f32x4.splat(factor)));
  }
}
