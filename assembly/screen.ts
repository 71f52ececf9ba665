/**
 * The exact skip: which of 16 tokens can still change a draw, told from logits, or upper bounds of them, and high words.
 *
 * Let k = min(high ^ 2^31, 2^31 - 1). For high >= 2^31, u = 1 - w/2 with w >= k 2^-31, so -ln u >= k 2^-32 and
 * g <= ln 2 (32 - log2 k); for the other half of the words g < 0.37, below that bound at k = 2^31 - 1. The bits of f32(k),
 * read as an integer i, give log2 k >= i 2^-23 - 127 (a chord lies below its concave curve; largest gap 0.087).
 * So gamma 2^-26 <= ln 2 (159 - i 2^-23) + G0. SLACK covers the f32 roundings here (below 3e-5) and the error of gamma26;
 * FLOOR covers the truncation of Z and the two roundings of the threshold. Both only let a few more tokens through.
 * Rounding is monotone, so a token whose score reaches the runner-up's is never lost.
 */
import { Row } from "./row";
import { Draw } from "./argmaxCombine";

/** ln 2 * 159 + G0 + SLACK, SLACK = 0.003. */
const CEILING: f64 = 113.31262391;
/** ln 2 * 2^-23 */
const SLOPE: f64 = 8.262958294867817e-8;
/** 2^-20 */
const FLOOR: f64 = 9.5367431640625e-7;
/** 2^-24: tau to temperature. */
const TAU_UNIT: f64 = 5.9604644775390625e-8;

export function setScreen(row: Row): void {
  const temperature = f64(row.tau) * TAU_UNIT;
  row.ceiling = f32(temperature * CEILING + FLOOR);
  row.slope = f32(temperature * SLOPE);
}

/** Bit t is set when token t of the 16 logits (or bounds) at `logits`, with the high words at `words`, must be scored. */
// @ts-ignore: decorator
@inline
export function screen(logits: usize, words: usize, row: Row, draw: Draw): i32 {
  const ceiling = f32x4.splat(row.ceiling);
  const slope = f32x4.splat(row.slope);
  const threshold = f32x4.splat(draw.threshold);
  return i8x16.bitmask(
    i8x16.narrow_i16x8_s(
      i16x8.narrow_i32x4_s(reaches(logits, words, ceiling, slope, threshold), reaches(logits + 16, words + 16, ceiling, slope, threshold)),
      i16x8.narrow_i32x4_s(reaches(logits + 32, words + 32, ceiling, slope, threshold), reaches(logits + 48, words + 48, ceiling, slope, threshold)),
    ),
  );
}

// @ts-ignore: decorator
@inline
function reaches(logits: usize, words: usize, ceiling: v128, slope: v128, threshold: v128): v128 {
  if (isDefined(NOISE_STUB)) return f32x4.ge(v128.load(logits), threshold);
  const rank = i32x4.min_u(v128.xor(v128.load(words), i32x4.splat(0x80000000)), i32x4.splat(0x7fffffff));
  const noise = f32x4.sub(ceiling, f32x4.mul(slope, f32x4.convert_i32x4_s(f32x4.convert_i32x4_s(rank))));
  // fix() raises a logit below -2^30 to it.
  return f32x4.ge(f32x4.add(f32x4.pmax(f32x4.splat(-1073741824), v128.load(logits)), noise), threshold);
}
