/**
 * Upper bounds of a tile's logits, in integers: where no draw can use more than a few of the logits, that is enough to
 * tell which (docs/spec.md, section 4.4). Four hidden rows are multiplied while the weights come from memory and are
 * rounded; the others take the rounded weights from the cache.
 */
import { boundTable, hiddenRounded, logitTile, panel, weights } from "./areas";
import { loadMask, octetBytes } from "./decode";
import { Rows2, Rows4 } from "./dotBlock";
import { pairs } from "./dotL32";
import { blocks, touchAhead } from "./head";
import { BOUND_ROWS, SLACKS } from "./roundHidden";
import { roundOctet, weightConstant, weightUnit } from "./roundWeights";
import { TILE } from "./sampleTile";

/** Weight rows that are rounded, then multiplied with the other hidden rows: as many as the panel holds. */
const STRIP: u32 = 4;

/** Whether a call of so many rows is screened by bounds: one or two rows wait for memory, not for arithmetic. */
// @ts-ignore: decorator
@inline
export function isBounded<T>(rows: u32): bool {
  return !isFloat<T>() && sizeof<T>() == 2 && rows > 2;
}

/** Writes bounds of the logits of `count` tokens from `tile` on, for `rows` rows. */
export function boundTile<T>(tile: u32, count: u32, rows: u32): void {
  const rowBytes = usize(blocks) * 4 * octetBytes<T>();
  const unit = weightUnit<T>();
  const constant = weightConstant<T>();
  // Rounded weights that no other row reads all go to one place, to leave the first cache to the hidden states.
  const keptBytes: usize = rows > BOUND_ROWS ? rowBytes : 0;
  for (let start: u32 = 0; start < count; start += STRIP) {
    const end = min(start + STRIP, count);
    for (let token = start; token < end; token++) {
      const w = weights + usize(tile + token) * rowBytes;
      touchAhead(w, rowBytes);
      boundRow<T>(w, constant, panel + usize(token - start) * keptBytes, unit, token);
    }
    for (let row = BOUND_ROWS; row < rows; row += BOUND_ROWS) {
      for (let token = start; token < end; token += 2) {
        const rounded = panel + usize(token - start) * rowBytes;
        if (rows - row > 2) boundPair<Rows4>(rounded, row, unit, token);
        else boundPair<Rows2>(rounded, row, unit, token);
      }
    }
  }
}

// @ts-ignore: decorator
@inline
function addProducts(sum: v128, weights: v128, hidden: v128): v128 {
  return i32x4.add(sum, i32x4.dot_i16x8_s(weights, hidden));
}

/** Rounds a weight row, leaves it at `rounded`, and bounds its logits with the first four hidden rows. */
function boundRow<T>(w: usize, constant: f32, rounded: usize, unit: f32, token: u32): void {
  const mask = loadMask<T>();
  const constants = f32x4.splat(constant);
  let x = hiddenRounded;
  let a0 = i32x4.splat(0);
  let a1 = a0;
  let a2 = a0;
  let a3 = a0;
  for (const end = w + usize(blocks) * 4 * octetBytes<T>(); w < end; w += octetBytes<T>()) {
    const a = roundOctet<T>(w, mask, constants);
    v128.store(rounded, a);
    a0 = addProducts(a0, a, v128.load(x));
    a1 = addProducts(a1, a, v128.load(x, 16));
    a2 = addProducts(a2, a, v128.load(x, 32));
    a3 = addProducts(a3, a, v128.load(x, 48));
    rounded += 16;
    x += 64;
  }
  storeBounds(a0, a1, a2, a3, 0, unit, token);
}

/** Bounds the logits of two rounded weight rows and four hidden rows, from `row` on; of two, if no more are left. */
function boundPair<Count>(w: usize, row: u32, unit: f32, token: u32): void {
  const rowBytes = usize(blocks) << 6;
  let x = hiddenRounded + usize(row) * rowBytes;
  let a0 = i32x4.splat(0);
  let a1 = a0;
  let a2 = a0;
  let a3 = a0;
  let b0 = a0;
  let b1 = a0;
  let b2 = a0;
  let b3 = a0;
  for (const end = w + rowBytes; w < end; w += 16) {
    const a = v128.load(w);
    const b = v128.load(w + rowBytes);
    const x0 = v128.load(x);
    a0 = addProducts(a0, a, x0);
    b0 = addProducts(b0, b, x0);
    const x1 = v128.load(x, 16);
    a1 = addProducts(a1, a, x1);
    b1 = addProducts(b1, b, x1);
    if (offsetof<Count>() == 4) {
      const x2 = v128.load(x, 32);
      a2 = addProducts(a2, a, x2);
      b2 = addProducts(b2, b, x2);
      const x3 = v128.load(x, 48);
      a3 = addProducts(a3, a, x3);
      b3 = addProducts(b3, b, x3);
    }
    x += 64;
  }
  storeBounds(a0, a1, a2, a3, row, unit, token);
  storeBounds(b0, b1, b2, b3, row, unit, token + 1);
}

/** Bounds of one token and four hidden rows, from `row` on, from the sums of their products. */
function storeBounds(a: v128, b: v128, c: v128, d: v128, row: u32, unit: f32, token: u32): void {
  const sums = pairs(
    pairs(f32x4.convert_i32x4_s(a), f32x4.convert_i32x4_s(b)),
    pairs(f32x4.convert_i32x4_s(c), f32x4.convert_i32x4_s(d)),
  );
  const entry = boundTable + (row << 2);
  const bounds = f32x4.add(
    f32x4.mul(sums, f32x4.mul(f32x4.splat(unit), v128.load(entry))),
    f32x4.mul(f32x4.splat(unit), v128.load(entry, SLACKS)),
  );
  const logit = logitTile + (row * TILE + token) * 4;
  v128.store32_lane(logit, bounds, 0);
  v128.store32_lane(logit, bounds, 1, TILE * 4);
  v128.store32_lane(logit, bounds, 2, TILE * 8);
  v128.store32_lane(logit, bounds, 3, TILE * 12);
}
