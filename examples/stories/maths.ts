/**
 * The functions of the forward pass that Math offers only approximately. The language lets each engine choose the last
 * bit of Math.exp, Math.sin, Math.cos and Math.pow, and one bit is enough to tell another story some hundred tokens later.
 * Here is nothing but + - * /, Math.round and Math.sqrt, which IEEE 754 and ECMAScript fix to the bit.
 * Limit: written for clarity, several times slower than the engine's own.
 */

/** ln 2 in two parts, as fdlibm splits it: k * LN2_HIGH is exact for |k| < 2^20. */
const LN2_HIGH = 6.93147180369123816490e-1;
const LN2_LOW = 1.90821492927058770002e-10;
/** log2(e), to find the nearest power of two; its rounding cannot matter. */
const LOG2_E = 1.4426950408889634;
/** ln(10000): the base of the rotary angles (RoFormer, section 3.4.3). */
const LN_10000 = 9.210340371976184;
/** pi/2 in three parts, as fdlibm splits it: the first two have 33 bits, so that k times each is exact for k < 2^20. */
const HALF_PI_HIGH = 1.57079632673412561417;
const HALF_PI_MIDDLE = 6.07710050630396597660e-11;
const HALF_PI_LOW = 2.02226624879595063154e-21;
const TWO_OVER_PI = 0.6366197723675814;
/** What keeps the mean square of a zero row away from 0; the value Llama's RMS norm was trained with. */
const RMS_EPSILON = 1e-5;

const powerView = new DataView(new ArrayBuffer(8));

/** 2^k for -1022 <= k <= 1023, from its exponent field. */
function powerOfTwo(k: number): number {
  powerView.setUint32(0, (k + 1023) << 20);
  return powerView.getFloat64(0);
}

/**
 * e^x: Taylor series of degree 13 on |r| <= ln(2)/2, scaled by 2^k. 0 below -708, Infinity above 709.
 * Relative error below 2e-16 there (1.7e-16 at 200,001 points against 80-bit arithmetic).
 */
export function exp(x: number): number {
  if (x !== x) return x;
  if (x < -708) return 0;
  if (x > 709) return Infinity;
  const k = Math.round(x * LOG2_E);
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  let sum = 1;
  for (let n = 13; n > 0; n--) sum = 1 + (r * sum) / n;
  return sum * powerOfTwo(k);
}

/**
 * Sine and cosine of 0 <= x < 2^20: Taylor series to r^17 and r^18 on |r| <= pi/4.
 * Absolute error below 2e-16 (1.7e-16 at 200,001 points against 80-bit arithmetic).
 */
export function sinCos(x: number): { readonly sin: number; readonly cos: number } {
  const k = Math.round(x * TWO_OVER_PI);
  const r = x - k * HALF_PI_HIGH - k * HALF_PI_MIDDLE - k * HALF_PI_LOW;
  const square = r * r;
  let sine = 1;
  let cosine = 1;
  for (let n = 16; n > 0; n -= 2) sine = 1 - (square * sine) / (n * (n + 1));
  for (let n = 18; n > 0; n -= 2) cosine = 1 - (square * cosine) / (n * (n - 1));
  sine *= r;
  const [sin, cos] = k % 2 === 0 ? [sine, cosine] : [cosine, -sine];
  return k % 4 < 2 ? { sin, cos } : { sin: -sin, cos: -cos };
}

/** 10000^(-fraction), the frequency of a rotary pair. */
export function rotaryFrequency(fraction: number): number {
  return exp(-fraction * LN_10000);
}

/** x / (1 + e^-x) */
export function silu(x: number): number {
  return x / (1 + exp(-x));
}

/** Turns values[0..count) into probabilities. */
export function softmax(values: Float64Array, count: number): void {
  let largest = values[0]!;
  for (let index = 1; index < count; index++) if (values[index]! > largest) largest = values[index]!;
  let total = 0;
  for (let index = 0; index < count; index++) {
    const weight = exp(values[index]! - largest);
    values[index] = weight;
    total += weight;
  }
  for (let index = 0; index < count; index++) values[index]! /= total;
}

/** out = x / rms(x) * gain. out may be x. */
export function rmsNorm(out: Float32Array, x: Float32Array, gain: Float32Array): void {
  let squares = 0;
  for (const value of x) squares += value * value;
  const scale = 1 / Math.sqrt(squares / x.length + RMS_EPSILON);
  for (let index = 0; index < x.length; index++) out[index] = x[index]! * scale * gain[index]!;
}

/** out = matrix * x, matrix [out.length, x.length] row-major. Sums in double, first column first. */
export function multiply(out: Float32Array, matrix: Float32Array, x: Float32Array): void {
  const columns = x.length;
  for (let row = 0; row < out.length; row++) {
    let sum = 0;
    for (let column = 0; column < columns; column++) sum += matrix[row * columns + column]! * x[column]!;
    out[row] = sum;
  }
}
