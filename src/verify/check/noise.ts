/** The rule's noise and scores for all tokens of a row. */
import type { RowRequest } from "../../spec/request.js";
import { PURPOSE_GUMBEL } from "../../spec/constants.js";
import { gamma26 } from "../../spec/gumbel.js";
import { philox4x32, wordAddress, type DrawAddress } from "../../spec/philox.js";
import { scoreOf, tokenGamma } from "../../spec/score.js";
import { judgeCore, type JudgeCore } from "./judge-core.js";

export function addressOf(request: RowRequest, sample: number): DrawAddress {
  const { seed, sequence, position } = request;
  return { seed, sequence, position, sample, purpose: PURPOSE_GUMBEL };
}

let core: Promise<JudgeCore | null> | null = null;

/** gamma of each token, Q26, u32 [V] */
export async function rowGammas(address: DrawAddress, vocabSize: number): Promise<Uint32Array> {
  core ??= judgeCore();
  const loaded = await core;
  return loaded === null ? scriptGammas(address, vocabSize) : wasmGammas(loaded, address, vocabSize);
}

/** Groups of 16 tokens that are made at a time. */
const GROUPS = 256;
const GROUP_TOKENS = 16;

/** The memory holds nothing from one call to the next. */
export function wasmGammas({ memory, exports }: JudgeCore, address: DrawAddress, vocabSize: number): Uint32Array {
  const gammas = new Uint32Array(vocabSize);
  const { counter, key } = wordAddress(address, 0);
  const [, position, sequence, highWord] = counter;
  const words = Math.ceil(exports.heapBase() / GROUP_TOKENS) * GROUP_TOKENS;
  const made = new Uint32Array(memory.buffer, words + 2 * 4 * GROUP_TOKENS, GROUPS * GROUP_TOKENS);
  for (let first = 0; first < vocabSize; first += made.length) {
    const count = Math.min(made.length, vocabSize - first);
    exports.gammas(first / GROUP_TOKENS, Math.ceil(count / GROUP_TOKENS), position, sequence, highWord, highWord + 1, ...key, words, made.byteOffset);
    gammas.set(made.subarray(0, count), first);
  }
  return gammas;
}

/** In JavaScript, four tokens at a time as the words come. */
export function scriptGammas(address: DrawAddress, vocabSize: number): Uint32Array {
  const gammas = new Uint32Array(vocabSize);
  const { counter, key } = wordAddress(address, 0);
  const [, position, sequence, highWord] = counter;
  const lowWord = wordAddress({ ...address, purpose: address.purpose + 1 }, 0).counter[3];
  for (let token = 0; token < vocabSize; token += 4) {
    const high = philox4x32([token >>> 2, position, sequence, highWord], key);
    const low = philox4x32([token >>> 2, position, sequence, lowWord], key);
    for (let place = 0; place < 4 && token + place < vocabSize; place++) gammas[token + place] = gamma26(high[place]!, low[place]!);
  }
  return gammas;
}

/** S of one token. */
export function tokenScore(z: bigint, request: RowRequest, sample: number, token: number): bigint {
  return scoreOf(z, tokenGamma(addressOf(request, sample), token).gamma, request.tau);
}
