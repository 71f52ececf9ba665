/** The rule as it is: every step of docs/spec.md, written for speed, without a fault. */
import { LN2_Q32, SCORE_FRACTION_BITS, Z_LIMIT_BITS } from "../../src/spec/constants.js";
import { gamma26 } from "../../src/spec/gumbel.js";
import { tauOf } from "../../src/spec/score.js";
import type { SamplerCall } from "../../src/verify/sampler-under-test.js";
import { crossing, forbid, keepFirst, maskBit, ranked, weightsOf } from "./filters.js";
import type { Noise, Rule } from "./rule.js";

/** The logits of a row in place. */
export function rowOf({ logits, vocabSize }: SamplerCall, row: number): Float32Array {
  return logits.subarray(row * vocabSize, (row + 1) * vocabSize);
}

/** docs/spec.md, end of section 3: 1 + ln 2 (6 + log2(2 ln 2) + n) 2^26 for n zeros behind a 1, where not all bits are; 5 * 2^26 for a 0. */
const LIMITS = Float64Array.from({ length: 34 }, (_, zeros) => {
  if (zeros > 31) return zeros === 32 ? 2 ** 32 : 5 * 2 ** 26;
  return Math.ceil(1 + (LN2_Q32 / 2 ** 32) * (6.4713 + zeros) * 2 ** 26);
});

export const GAMMA26: Noise = { of: gamma26, limits: LIMITS };

export function correctRule(words: Rule["words"]): Rule {
  return {
    readLogits: (call, row) => rowOf(call, row).slice(),
    applyMask: (logits, call, row) => forbid(logits, (token) => maskBit(call, row, token)),
    applyTopK: (logits, k) => keepFirst(logits, ranked(logits), k),
    applyTopP(logits, p, temperature) {
      const order = ranked(logits);
      if (order.length > 0) keepFirst(logits, order, crossing(weightsOf(logits, order, temperature), p));
    },
    beforeDraws() {},
    isInvalid: (call, row) => !areBelowInfinity(rowOf(call, row)),
    tau: ({ temperature }, row) => tauOf(temperature[row]!),
    tileSize: ({ vocabSize, shards = 1 }) => Math.ceil(vocabSize / shards),
    stream: ({ seed, sequence, position }, row, sample) => ({
      keyLow: Number(seed[row]! & 0xffffffffn),
      keyHigh: Number(seed[row]! >> 32n),
      sequence: sequence[row]!,
      position: position[row]!,
      sample,
      highPurpose: 0,
      lowPurpose: 1,
      firstIndex: 0,
    }),
    noiseIndices: () => null,
    words,
    noise: GAMMA26,
    score: null,
    tileScore: null,
    lastOfEqual: false,
    nothingDrawn: () => -1,
    pick: null,
    finish() {},
  };
}

/** 1 and the largest logit, in Q32. */
const ONE = 2 ** SCORE_FRACTION_BITS;
const LARGEST = 2 ** Z_LIMIT_BITS;

/** Logits in Q32, toward zero, as exact doubles; -Infinity stays. */
export function zOf(logits: Float32Array): Float64Array {
  const z = new Float64Array(logits.length);
  for (let token = 0; token < z.length; token++) {
    const logit = logits[token]!;
    z[token] = logit === -Infinity ? logit : Math.max(-LARGEST, Math.min(LARGEST, Math.trunc(logit * ONE)));
  }
  return z;
}

/** Whether all logits are below +Infinity, and numbers. */
function areBelowInfinity(logits: Float32Array): boolean {
  for (let token = 0; token < logits.length; token++) if (!(logits[token]! < Infinity)) return false;
  return true;
}

/** floor(gamma * tau / 2^18): exact for integers, since no part of it reaches 2^53. */
export function scaled(gamma: number, tau: number): number {
  if (tau === 0) return 0;
  if (!Number.isFinite(gamma)) return gamma;
  const upper = Math.floor(gamma / 65536);
  return Math.floor((upper * tau + Math.floor(((gamma - upper * 65536) * tau) / 65536)) / 4);
}
