/** The rule's noise and scores for all tokens of a row, four at a time as the words come. */
import type { RowRequest } from "../../spec/request.js";
import { PURPOSE_GUMBEL } from "../../spec/constants.js";
import { gamma26 } from "../../spec/gumbel.js";
import { philox4x32, wordAddress, type DrawAddress } from "../../spec/philox.js";
import { scoreOf, tokenGamma } from "../../spec/score.js";

export function addressOf(request: RowRequest, sample: number): DrawAddress {
  const { seed, sequence, position } = request;
  return { seed, sequence, position, sample, purpose: PURPOSE_GUMBEL };
}

/** gamma of each token, Q26, u32 [V] */
export function rowGammas(address: DrawAddress, vocabSize: number): Uint32Array {
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
