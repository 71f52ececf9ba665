/**
 * Sums of products in f64, for those who judge samplers. Twin of src/verify/check/dot-tile.ts, bit for bit: each sum is of one weight row and one hidden
 * row, column by column. Four of either are multiplied at a time: 8 vectors of sums, two of weights, one of a hidden value and one product fit the
 * registers (docs/performance.md).
 */

/** 2^112, see decode.ts. */
const F16_SCALE: f64 = 5192296858534827628530496329220096.0;

/**
 * Four rows of weights from the addresses row0 .. row3 on, `columns` of each, with `quads` times four hidden rows: f64 [quads][columns][4] at `hidden`.
 * Adds to f64 [4 * quads + 1][4] at `sums`: for each hidden row the four sums, times the four f64 at `scales`; last the sums of the squares of the
 * weights, times the squares of the scales. panel: room for f64 [columns][4].
 */
export function sweep<T>(row0: usize, row1: usize, row2: usize, row3: usize, columns: u32, hidden: usize, quads: u32, panel: usize, scales: usize, sums: usize): void {
  widen<T>(row0, row1, row2, row3, columns, panel, scales, sums + (usize(quads) << 7));
  for (const end = hidden + ((usize(columns) * quads) << 5); hidden < end; hidden += usize(columns) << 5) {
    multiply(panel, hidden, columns, scales, sums);
    sums += 128;
  }
}

/** Four rows as f64, side by side, and the sums of their squares. Two columns at a time, of which the second may not be there: then what is read is not used. */
function widen<T>(row0: usize, row1: usize, row2: usize, row3: usize, columns: u32, panel: usize, scales: usize, sums: usize): void {
  let a = f64x2.splat(0);
  let b = a;
  for (let column: u32 = 0; column < columns; column += 2) {
    const pair0 = loadPair<T>(row0, row1);
    const pair1 = loadPair<T>(row2, row3);
    let w0 = first<T>(pair0);
    let w1 = first<T>(pair1);
    v128.store(panel, w0);
    v128.store(panel, w1, 16);
    a = f64x2.add(a, f64x2.mul(w0, w0));
    b = f64x2.add(b, f64x2.mul(w1, w1));
    if (column + 1 == columns) break;
    w0 = second<T>(pair0);
    w1 = second<T>(pair1);
    v128.store(panel, w0, 32);
    v128.store(panel, w1, 48);
    a = f64x2.add(a, f64x2.mul(w0, w0));
    b = f64x2.add(b, f64x2.mul(w1, w1));
    row0 += 2 * sizeof<T>();
    row1 += 2 * sizeof<T>();
    row2 += 2 * sizeof<T>();
    row3 += 2 * sizeof<T>();
    panel += 64;
  }
  const scales0 = v128.load(scales);
  const scales1 = v128.load(scales, 16);
  add(sums, f64x2.mul(scales0, scales0), a);
  add(sums + 16, f64x2.mul(scales1, scales1), b);
}

/** Two columns of two rows: 32-bit lanes 0 and 1 hold them row by row, of f32 lanes 0 and 1 the first column and 2 and 3 the second. */
// @ts-ignore: decorator
@inline
function loadPair<T>(row0: usize, row1: usize): v128 {
  if (sizeof<T>() == 4) return v128.shuffle<u32>(v128.load64_zero(row0), v128.load64_zero(row1), 0, 4, 1, 5);
  if (sizeof<T>() == 2) return v128.shuffle<u32>(v128.load32_zero(row0), v128.load32_zero(row1), 0, 4, 1, 5);
  return i32x4.replace_lane(i32x4.splat(load<u16>(row0)), 1, load<u16>(row1));
}

/** The first column of a pair, as f64. */
// @ts-ignore: decorator
@inline
function first<T>(pair: v128): v128 {
  if (sizeof<T>() == 4) return f64x2.promote_low_f32x4(pair);
  if (sizeof<T>() == 2) return widenHalf<T>(i32x4.shl(pair, 16));
  return f64x2.convert_low_i32x4_s(i32x4.shr_s(i32x4.shl(pair, 24), 24));
}

/** The second. */
// @ts-ignore: decorator
@inline
function second<T>(pair: v128): v128 {
  if (sizeof<T>() == 4) return f64x2.promote_low_f32x4(v128.shuffle<u64>(pair, pair, 1, 1));
  if (sizeof<T>() == 2) return widenHalf<T>(i32x4.shl(i32x4.shr_u(pair, 16), 16));
  return f64x2.convert_low_i32x4_s(i32x4.shr_s(i32x4.shl(pair, 16), 24));
}

/** What the upper halves of lanes 0 and 1 are. An f16 moved to f32's fields reads as its value times 2^-112 (decode.ts); one that is not finite is NaN here. */
// @ts-ignore: decorator
@inline
function widenHalf<T>(bits: v128): v128 {
  if (!isSigned<T>()) return f64x2.promote_low_f32x4(bits);
  const values = f64x2.mul(f64x2.promote_low_f32x4(v128.and(i32x4.shr_s(bits, 3), i32x4.splat(0x8fffe000))), f64x2.splat(F16_SCALE));
  return v128.or(values, f64x2.ge(f64x2.abs(values), f64x2.splat(65536)));
}

/** The products with four hidden rows: a and b hold the sums of two weight rows each. */
function multiply(panel: usize, hidden: usize, columns: u32, scales: usize, sums: usize): void {
  let a0 = f64x2.splat(0);
  let a1 = a0;
  let a2 = a0;
  let a3 = a0;
  let b0 = a0;
  let b1 = a0;
  let b2 = a0;
  let b3 = a0;
  for (const end = panel + (usize(columns) << 5); panel < end; panel += 32) {
    const a = v128.load(panel);
    const b = v128.load(panel, 16);
    const x0 = v128.load64_splat(hidden);
    a0 = f64x2.add(a0, f64x2.mul(a, x0));
    b0 = f64x2.add(b0, f64x2.mul(b, x0));
    const x1 = v128.load64_splat(hidden, 8);
    a1 = f64x2.add(a1, f64x2.mul(a, x1));
    b1 = f64x2.add(b1, f64x2.mul(b, x1));
    const x2 = v128.load64_splat(hidden, 16);
    a2 = f64x2.add(a2, f64x2.mul(a, x2));
    b2 = f64x2.add(b2, f64x2.mul(b, x2));
    const x3 = v128.load64_splat(hidden, 24);
    a3 = f64x2.add(a3, f64x2.mul(a, x3));
    b3 = f64x2.add(b3, f64x2.mul(b, x3));
    hidden += 32;
  }
  const scales0 = v128.load(scales);
  const scales1 = v128.load(scales, 16);
  add(sums, scales0, a0);
  add(sums + 16, scales1, b0);
  add(sums + 32, scales0, a1);
  add(sums + 48, scales1, b1);
  add(sums + 64, scales0, a2);
  add(sums + 80, scales1, b2);
  add(sums + 96, scales0, a3);
  add(sums + 112, scales1, b3);
}

// @ts-ignore: decorator
@inline
function add(at: usize, scale: v128, sum: v128): void {
  v128.store(at, f64x2.add(v128.load(at), f64x2.mul(scale, sum)));
}
