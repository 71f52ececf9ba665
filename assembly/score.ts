/** S = Z + T * noise, Q31.32 (docs/spec.md, "Scores"). Twin of scoreOf in src/spec/score.ts; the caller has dropped MASK. */
import { NOISE_SHIFT } from "../src/spec/constants";

/** gamma: Q26, tau: Q24; their 64-bit product is unsigned. */
// @ts-ignore: decorator
@inline
export function score(z: i64, gamma: u32, tau: u32): i64 {
  return z + i64((u64(gamma) * u64(tau)) >>> NOISE_SHIFT);
}
