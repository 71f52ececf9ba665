/**
 * Weights in 12-bit integers, for upper bounds of logits (docs/spec.md, section 4.4): w = unit (q + e), |e| <= 1/2, |q| <= 2^11,
 * with one power of two as unit for all weights of this memory.
 */
import { weights, words } from "./areas";
import { evens, F16_SCALE_BITS, loadOctet, odds } from "./decode";
import { blocks, vocabSize } from "./head";
import { powerBelow, roundingConstant } from "./roundHidden";

/** 2^-60: for a head of zeros. */
const LEAST: f32 = 8.673617379884035e-19;

/** 2^-112 */
const F16_UNSCALE_BITS: u32 = 15 << 23;

/** Bits of the largest magnitude among the weights, bf16 or f16. */
let largest: u32 = 0;

/** Finds the largest weight: once, when all are in place. */
export function measureWeights(): void {
  const mask = i16x8.splat(0x7fff);
  let most = i16x8.splat(0);
  for (let at = weights, end = weights + usize(vocabSize) * (usize(blocks) << 6); at < end; at += 16) {
    most = i16x8.max_u(most, v128.and(v128.load(at), mask));
  }
  v128.store(words, most);
  largest = 0;
  for (let at: usize = 0; at < 16; at += 2) largest = max(largest, load<u16>(words + at));
}

/** The unit of the weights. */
// @ts-ignore: decorator
@inline
export function weightUnit<T>(): f32 {
  const magnitude = isSigned<T>() ? reinterpret<f32>(largest << 13) * reinterpret<f32>(F16_SCALE_BITS) : reinterpret<f32>(largest << 16);
  return powerBelow(max(magnitude, LEAST)) * 0.0009765625;
}

/** The rounding constant for weights as decode.ts gives them. */
// @ts-ignore: decorator
@inline
export function weightConstant<T>(): f32 {
  return roundingConstant(weightUnit<T>()) * (isSigned<T>() ? reinterpret<f32>(F16_UNSCALE_BITS) : 1);
}

/** The q of eight columns, in their order. constants: the rounding constant, four times. */
// @ts-ignore: decorator
@inline
export function roundOctet<T>(weights: usize, mask: v128, constants: v128): v128 {
  const octet = loadOctet<T>(weights);
  const even = f32x4.add(evens<T>(octet, weights, mask), constants);
  const odd = f32x4.add(odds<T>(octet, weights, mask), constants);
  // Every second lane from either: engines have one instruction for it.
  return v128.shuffle<i16>(even, i32x4.shl(odd, 16), 0, 9, 2, 11, 4, 13, 6, 15);
}
