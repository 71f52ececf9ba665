/**
 * An LM head and hidden states of any shape, the same on every machine: integers of a xorshift generator, read as numbers.
 * Only for showing and timing. The weights are spread so that logits have a standard deviation of about 3, as real ones do.
 */
import { allocate } from "../allocate.js";
import type { HeadArray } from "../head/head-reader.js";

/** Marsaglia, "Xorshift RNGs" (2003): the triple 13, 17, 5, period 2^32 - 1. */
function xorshift32(state: number): number {
  state ^= state << 13;
  state ^= state >>> 17;
  return state ^ (state << 5);
}

/** Any number but 0 starts the generator. */
const WEIGHTS_START = 0x2545f491;
const HIDDEN_START = 0x6c078965;

/** bf16 weights [V, D]: either sign, magnitudes in [2^-9, 2^-5). */
export function syntheticHead(vocabSize: number, hiddenSize: number): HeadArray {
  const data = allocate(() => new Uint16Array(vocabSize * hiddenSize), `${vocabSize} * ${hiddenSize} weights`);
  let state = WEIGHTS_START;
  for (let index = 0; index < data.length; index++) {
    state = xorshift32(state);
    // Sign and fraction from the upper bits; two bits choose the exponent field, from 118 (2^-9) up.
    data[index] = ((state >>> 16) & 0x807f) | ((118 + ((state >>> 24) & 3)) << 7);
  }
  return { data, dtype: "bf16", shape: [vocabSize, hiddenSize] };
}

/** f32 [rowCount, D]: multiples of 1/8 in [-8, 8), which bf16 holds exactly. */
export function syntheticHiddenStates(rowCount: number, hiddenSize: number): Float32Array {
  let state = HIDDEN_START;
  return Float32Array.from({ length: rowCount * hiddenSize }, () => {
    state = xorshift32(state);
    return (((state >>> 16) & 127) - 64) / 8;
  });
}
