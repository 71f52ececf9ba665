/** The sampler of this package as one that is judged: masks and filters become logits of -Infinity, shards are merged by score. */
import type { BackendName } from "../backends/list.js";
import { sampleLogits, type GivenLogits } from "../logits.js";
import type { SampleDetail } from "../outcome.js";
import { argmaxCombine } from "../spec/score.js";
import { byLogit } from "./by-logit.js";
import { checkBackend } from "./backend-name.js";
import { readCall } from "./sampler-call.js";
import type { SamplerCall, SamplerUnderTest } from "./sampler-under-test.js";

/**
 * Plain f64 TypeScript around sampleLogits. top-k comes before top-p, whose mass is that of the tokens left.
 * @throws TypeError, RangeError for what is no backend; the sampler rejects with them for a call that does not fit itself
 */
export function ownSampler(backend: BackendName | "auto" = "auto"): SamplerUnderTest {
  checkBackend(backend);
  return async (given) => {
    const call = readCall(given);
    const options = {
      vocabSize: call.vocabSize,
      numSamples: call.numSamples,
      temperature: call.temperature,
      seed: BigUint64Array.from(call.seed),
      sequence: call.sequence,
      position: call.position,
      onInvalid: "mark",
      backend,
    } as const;
    const logits = filteredLogits(call);
    return call.shards === undefined || call.shards === 1 ? sampleLogits({ ...options, logits }).then(({ tokens }) => tokens) : sampleShards(options, logits, call.shards);
  };
}

/** Each shard draws as if the tokens of the others were masked; the best score of all wins. */
async function sampleShards(options: Omit<GivenLogits, "logits"> & { readonly vocabSize: number }, logits: Float32Array, shards: number): Promise<Int32Array> {
  const { vocabSize } = options;
  const size = Math.ceil(vocabSize / shards);
  const drawn: SampleDetail[][] = [];
  for (let first = 0; first < vocabSize; first += size) {
    const part = logits.map((logit, index) => (isIn(index % vocabSize, first, size) || Number.isNaN(logit) || logit === Infinity ? logit : -Infinity));
    drawn.push((await sampleLogits({ ...options, logits: part, details: true })).details);
  }
  return Int32Array.from(drawn[0]!, (_, draw) => {
    const best = drawn.flatMap((details) => {
      const { token, scoreBits } = details[draw]!;
      return scoreBits === null ? [] : [{ token, score: scoreBits }];
    });
    return best.length === 0 ? -1 : best.reduce(argmaxCombine).token;
  });
}

function isIn(token: number, first: number, size: number): boolean {
  return token >= first && token < first + size;
}

/**
 * The logits [rows, vocabSize] of a call with what its mask, top-k and top-p leave out at -Infinity. A row with NaN or +Infinity
 * stays as it is: it has no token whatever is left out.
 */
export function filteredLogits({ logits, rows, vocabSize, mask, topK, topP, temperature }: SamplerCall): Float32Array {
  const filtered = logits.slice();
  const wordsARow = Math.ceil(vocabSize / 32);
  for (let row = 0; row < rows; row++) {
    const own = filtered.subarray(row * vocabSize, (row + 1) * vocabSize);
    if (!own.every((logit) => logit < Infinity)) continue;
    if (mask !== undefined) applyMask(own, mask.subarray(row * wordsARow, (row + 1) * wordsARow));
    if (topK !== undefined) keepOnly(own, byLogit(own).slice(0, topK[row]!));
    if (topP !== undefined) keepOnly(own, heaviest(own, topP[row]!, temperature[row]!));
  }
  return filtered;
}

function applyMask(logits: Float32Array, words: Uint32Array): void {
  logits.forEach((_, token) => {
    if (((words[token >>> 5]! >>> (token & 31)) & 1) === 0) logits[token] = -Infinity;
  });
}

function keepOnly(logits: Float32Array, kept: readonly number[]): void {
  const isKept = new Set(kept);
  logits.forEach((_, token) => {
    if (!isKept.has(token)) logits[token] = -Infinity;
  });
}

/** The smallest set of the most probable tokens whose mass is at least `mass`, and at least one token. At T = 0: the most probable. */
function heaviest(logits: Float32Array, mass: number, temperature: number): number[] {
  const order = byLogit(logits).filter((token) => logits[token]! > -Infinity);
  if (temperature === 0) return order.slice(0, 1);
  const weights = order.map((token) => Math.exp((logits[token]! - logits[order[0]!]!) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  const count = weights.findIndex((weight) => (sum += weight) >= mass * total);
  return count < 0 ? order : order.slice(0, count + 1);
}
