/**
 * The logits of a tile, bit for bit: of all tokens and all rows. Weights come from memory for the first hidden row alone,
 * a strip of them at a time; the others read them from the cache.
 */
import { hidden, logitTile, panel, partial, scales, weights, zTile } from "./areas";
import { Bf16, decodeRow, octetBytes, Panel } from "./decode";
import { directRows, dotBlock, passVectors } from "./dotBlock";
import { dotRow } from "./dotL32";
import { addGroup } from "./fix";
import { blocks, groupBlocks, touchAhead } from "./head";
import { blockRows, isNarrow, singleRows } from "./hidden";
import { TILE } from "./sampleTile";

/** 2^-32 */
const Z_UNIT: f64 = 2.3283064365386963e-10;
/** Weights of so many bytes are streamed in for the first hidden row, then read again from the second cache for the others. */
const STRIP_BYTES: usize = 131072;

/** Writes the logits of `count` tokens from `tile` on, for `rows` rows. */
export function exactTile<T>(tile: u32, count: u32, rows: u32): void {
  const rowBytes = usize(blocks) * 4 * octetBytes<T>();
  const strip = min(TILE, max(2, u32(STRIP_BYTES / rowBytes) & ~1));
  for (let start: u32 = 0; start < count; start += strip) {
    const end = min(start + strip, count);
    for (let token = start; token < end; token++) {
      touchAhead(weights + usize(tile + token) * rowBytes, rowBytes);
      for (let row: u32 = 0; row < singleRows(rows); row++) {
        if (isNarrow<T>(blocks)) multiplyRow<T, Bf16>(tile + token, row, row * TILE + token, rowBytes);
        else multiplyRow<T, Panel>(tile + token, row, row * TILE + token, rowBytes);
      }
    }
    if (rows > 2) for (let token = start; token < end; token += 2) multiplyPair<T>(tile + token, token + 1 < end, token, rowBytes, rows);
  }
}

/** One token, one hidden row, stored as H. */
// @ts-ignore: decorator
@inline
function multiplyRow<T, H>(token: u32, row: u32, entry: u32, rowBytes: usize): void {
  const w = weights + usize(token) * rowBytes;
  const x = hidden + ((row * blocks) << 7);
  const sum = logitTile + entry * 4;
  if (sizeof<T>() != 1) {
    dotRow<T, H>(w, x, blocks, partial, sum);
    return;
  }
  store<i64>(zTile + entry * 8, 0);
  const groups = blocks / groupBlocks;
  for (let group: u32 = 0; group < groups; group++) {
    const block = group * groupBlocks;
    dotRow<T, H>(w + usize(block) * 4 * octetBytes<T>(), x + usize(block) * 4 * octetBytes<H>(), groupBlocks, partial, sum);
    scaleSum(sum, entry, scales + (token * groups + group) * 4);
  }
  boundZ(entry);
}

/** Two tokens (or one, taken twice), all hidden rows but the first, which left the two weight rows in the first cache. */
// @ts-ignore: decorator
@inline
function multiplyPair<T>(token: u32, hasSecond: bool, lane: u32, rowBytes: usize, rows: u32): void {
  let w = weights + usize(token) * rowBytes;
  const isPanel = directRows<T>() == 0 || rows > directRows<T>();
  let secondBytes: usize = hasSecond ? rowBytes : 0;
  if (isPanel) {
    decodeRow<T>(w, blocks, panel);
    if (hasSecond) decodeRow<T>(w + rowBytes, blocks, panel + (usize(blocks) << 7) + 64);
    w = panel;
    secondBytes = hasSecond ? (usize(blocks) << 7) + 64 : 0;
  }
  const groups = blocks / groupBlocks;
  let row = singleRows(rows);
  let x = hidden + ((row * blocks) << 7);
  while (row < rows) {
    const count = blockRows<T>(row, rows);
    const vectors = passVectors<T>(count);
    const passBytes = usize(blocks * count * vectors) << 4;
    const sums = logitTile + (row * TILE + lane) * 4;
    if (sizeof<T>() == 1) for (let i = row; i < row + count; i++) v128.store(zTile + (i * TILE + lane) * 8, i64x2.splat(0));
    for (let group: u32 = 0; group < groups; group++) {
      const block = group * groupBlocks;
      const at = x + ((block * count * vectors) << 4);
      if (directRows<T>() == 0 || isPanel) dotBlock<Panel>(count, w + (block << 7), secondBytes, at, passBytes, groupBlocks, partial, sums, TILE * 4);
      else dotBlock<T>(count, w + usize(block) * 4 * octetBytes<T>(), secondBytes, at, passBytes, groupBlocks, partial, sums, TILE * 4);
      if (sizeof<T>() != 1) continue;
      const scale = scales + (token * groups + group) * 4;
      for (let i = row; i < row + count; i++) {
        scaleSum(logitTile + (i * TILE + lane) * 4, i * TILE + lane, scale);
        if (hasSecond) scaleSum(logitTile + (i * TILE + lane + 1) * 4, i * TILE + lane + 1, scale + groups * 4);
      }
    }
    if (sizeof<T>() == 1) {
      for (let i = row; i < row + count; i++) {
        boundZ(i * TILE + lane);
        boundZ(i * TILE + lane + 1);
      }
    }
    row += count;
    x += (count * blocks) << 7;
  }
}

/** Adds a group's sum, scaled, to the Z of the tile's entry. */
// @ts-ignore: decorator
@inline
function scaleSum(sum: usize, entry: u32, scale: usize): void {
  const z = zTile + entry * 8;
  store<i64>(z, addGroup(load<i64>(z), load<f32>(sum), load<f32>(scale)));
}

/** The logit by which the screen judges a Z: not below it. Rounding loses at most 2^-24 of it, the second term adds 2^-22. */
// @ts-ignore: decorator
@inline
function boundZ(entry: u32): void {
  const logit = f32(f64(load<i64>(zTile + entry * 8)) * Z_UNIT);
  store<f32>(logitTile + entry * 4, logit + abs(logit) * 2.384185791015625e-7);
}
