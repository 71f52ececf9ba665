/**
 * Philox4x32-10, four counters at a time: the random words of 16 consecutive tokens (docs/spec.md, "Random words").
 * Twin of src/spec/philox.ts. A counter's four output words belong to tokens 4c .. 4c+3.
 */
import { PHILOX_M0, PHILOX_M1, PHILOX_ROUNDS, PHILOX_W0, PHILOX_W1 } from "../src/spec/constants";

// In memory: V8 builds a constant vector anew at every use, but keeps a loaded one.
const CONSTANTS = memory.data<u32>([
  u32(PHILOX_M0), u32(PHILOX_M0), u32(PHILOX_M0), u32(PHILOX_M0),
  u32(PHILOX_M1), u32(PHILOX_M1), u32(PHILOX_M1), u32(PHILOX_M1),
  u32(PHILOX_W0), u32(PHILOX_W0), u32(PHILOX_W0), u32(PHILOX_W0),
  u32(PHILOX_W1), u32(PHILOX_W1), u32(PHILOX_W1), u32(PHILOX_W1),
]); // prettier-ignore

/** Tokens served by one call. */
export const WORDS: u32 = 16;

/**
 * Writes 16 words at `words`, one for each of the tokens 16 * group .. 16 * group + 15.
 * tag is counter word 3: sample << 8 | purpose.
 */
export function philox4x32(words: usize, group: u32, position: u32, sequence: u32, tag: u32, key0: u32, key1: u32): void {
  const m0 = v128.load(CONSTANTS);
  const m1 = v128.load(CONSTANTS, 16);
  const w0 = v128.load(CONSTANTS, 32);
  const w1 = v128.load(CONSTANTS, 48);
  let k0 = i32x4.splat(key0);
  let k1 = i32x4.splat(key1);
  let x0 = i32x4.add(i32x4.splat(group << 2), i32x4(0, 1, 2, 3));
  let x1 = i32x4.splat(position);
  let x2 = i32x4.splat(sequence);
  let x3 = i32x4.splat(tag);
  for (let round = 0; round < PHILOX_ROUNDS; round++) {
    const low0 = i64x2.extmul_low_i32x4_u(m0, x0);
    const high0 = i64x2.extmul_high_i32x4_u(m0, x0);
    const low1 = i64x2.extmul_low_i32x4_u(m1, x2);
    const high1 = i64x2.extmul_high_i32x4_u(m1, x2);
    x0 = v128.xor(v128.xor(upperWords(low1, high1), x1), k0);
    x1 = lowerWords(low1, high1);
    x2 = v128.xor(v128.xor(upperWords(low0, high0), x3), k1);
    x3 = lowerWords(low0, high0);
    k0 = i32x4.add(k0, w0);
    k1 = i32x4.add(k1, w1);
  }
  // Lane c of x_j is the word of token 4c + j: transpose into token order.
  const a = v128.shuffle<i32>(x0, x1, 0, 4, 1, 5);
  const b = v128.shuffle<i32>(x0, x1, 2, 6, 3, 7);
  const c = v128.shuffle<i32>(x2, x3, 0, 4, 1, 5);
  const d = v128.shuffle<i32>(x2, x3, 2, 6, 3, 7);
  v128.store(words, v128.shuffle<i64>(a, c, 0, 2));
  v128.store(words, v128.shuffle<i64>(a, c, 1, 3), 16);
  v128.store(words, v128.shuffle<i64>(b, d, 0, 2), 32);
  v128.store(words, v128.shuffle<i64>(b, d, 1, 3), 48);
}

/** The upper halves of four 64-bit products. */
// @ts-ignore: decorator
@inline
function upperWords(a: v128, b: v128): v128 {
  return v128.shuffle<i32>(a, b, 1, 3, 5, 7);
}

/** The lower halves of four 64-bit products. */
// @ts-ignore: decorator
@inline
function lowerWords(a: v128, b: v128): v128 {
  return v128.shuffle<i32>(a, b, 0, 2, 4, 6);
}
