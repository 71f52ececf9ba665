/**
 * Hidden states in 16-bit integers, for upper bounds of logits (docs/spec.md, section 4.4). Each value is x = unit (q + e),
 * |e| <= 1/2, with one power of two as unit for the row.
 */
import { boundTable, hiddenRounded } from "./areas";
import { pairs } from "./dotL32";

/** Hidden rows that share one pass over the weights; rows that fill up the last four are computed and never read. */
export const BOUND_ROWS: u32 = 4;

/** Rows of boundTable, at most. */
const MOST_ROWS: usize = 64;

/** Where the slacks begin: boundTable is f32 [2][MOST_ROWS], units and slacks, the latter for weights in units of theirs. */
export const SLACKS: usize = MOST_ROWS * 4;

/** 2^-20: for a hidden state of zeros, or nearly so. */
const LEAST: f32 = 9.5367431640625e-7;
/** 2^100: beyond it units could leave the range of f32. */
const MOST: f32 = 1.2676506002282294e30;
/** 2^18 columns: so many are summed in f32 with an error below 2^-9. */
const MOST_BLOCKS: u32 = 8192;

/** The largest power of two that is not above a positive number. */
// @ts-ignore: decorator
@inline
export function powerBelow(value: f32): f32 {
  return reinterpret<f32>(reinterpret<u32>(value) & 0x7f800000);
}

/** Adding it to a number of magnitude below 2^22 unit rounds it to a multiple of unit, which the low 16 bits then hold. */
// @ts-ignore: decorator
@inline
export function roundingConstant(unit: f32): f32 {
  return unit * 12582912;
}

/**
 * Takes hidden state `row`, staged as f32 [blocks * 32], to i16 [rows / 4][blocks * 4][4][8]: for each octet of columns
 * four rows. A row whose bounds cannot be told gets the slack +inf, and unit 0 so that no bound is NaN.
 */
export function roundHidden(staged: usize, row: u32, blocks: u32, weightUnit: f32): void {
  const end = staged + (usize(blocks) << 7);
  let sums = f32x4.splat(0);
  let peaks = sums;
  for (let at = staged; at < end; at += 32) {
    const a = f32x4.abs(v128.load(at));
    const b = f32x4.abs(v128.load(at, 16));
    sums = f32x4.add(sums, pairs(a, b));
    peaks = f32x4.max(peaks, f32x4.max(a, b));
  }
  // Each lane of a sum of products stays below 2^31 (its |q| sum to 2^20 at most), and each q fits 16 bits.
  const four = f32x4.max(f32x4.mul(sums, f32x4.splat(1.0625)), f32x4.mul(peaks, f32x4.splat(32)));
  const two = f32x4.max(four, v128.shuffle<f32>(four, four, 2, 3, 0, 1));
  const largest = max(max(f32x4.extract_lane(two, 0), f32x4.extract_lane(two, 1)), LEAST);
  const isBounded = largest < MOST && weightUnit < MOST && blocks < MOST_BLOCKS;
  const unit: f32 = isBounded ? powerBelow(largest) * 1.9073486328125e-6 : 0;
  const sum = pairs(sums, sums);
  const total = f64(f32x4.extract_lane(sum, 0) + f32x4.extract_lane(sum, 1));
  // sum|x| / 2 for the rounding of weights and (D / 32 + 5) 2^-24 2^11 sum|x| for L32; 2^11 D / 2 for that of x; 2^11 for f32.
  const slack = total * (0.5 + f64(blocks + 5) * 0.0001220703125) + f64(unit) * (f64(blocks) * 32768 + 2048);
  const entry = boundTable + (row << 2);
  store<f32>(entry, unit);
  store<f32>(entry, isBounded ? f32(slack * 1.00390625) : Infinity, SLACKS);
  const constants = f32x4.splat(roundingConstant(unit));
  let to = hiddenRounded + usize(row / BOUND_ROWS) * (usize(blocks) << 8) + ((row % BOUND_ROWS) << 4);
  for (; staged < end; staged += 32) {
    const a = f32x4.add(v128.load(staged), constants);
    const b = f32x4.add(v128.load(staged, 16), constants);
    v128.store(to, v128.shuffle<i16>(a, b, 0, 2, 4, 6, 8, 10, 12, 14));
    to += 64;
  }
}
