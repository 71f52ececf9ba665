/**
 * Fair numbers that break the ties of counts: a count has steps, and a p-value that may fall anywhere inside a step is exactly
 * uniform. They come from Philox keyed by a digest of the tokens: the same tokens get the same verdict, other tokens fresh numbers.
 */
import { rowDigest } from "../../head/digest.js";
import { philox4x32, type Words4 } from "../../spec/philox.js";
import { normalPointAbove } from "./special.js";
import type { Tail } from "./tails.js";

export type Coins = () => number;

/** stream: one for each use, so that a use more does not change the others. The numbers lie inside (0, 1). */
export type CoinStreams = (stream: number) => Coins;

export function coinsFor(tokens: Int32Array): CoinStreams {
  const key = rowDigest(new DataView(tokens.buffer, tokens.byteOffset, tokens.byteLength), 0, tokens.byteLength);
  return (stream) => {
    let words: Words4 = [0, 0, 0, 0];
    let drawn = 0;
    return () => {
      if (drawn % 4 === 0) words = philox4x32([drawn / 4, stream, 0, 0], key);
      return (words[drawn++ % 4]! + 0.5) / 2 ** 32;
    };
  };
}

/** P(as much or more), uniform under the hypothesis. */
export function randomisedAbove({ above, at }: Tail, coin: number): number {
  return above + coin * at;
}

/** P(as little or less), the other side of the same coin. */
export function randomisedBelow({ below, at }: Tail, coin: number): number {
  return below + (1 - coin) * at;
}

/** Deviates past this are this: their probability is below the smallest f64. */
const LARGEST_DEVIATE = 38.5;

/** A count as a deviate: exactly standard normal under the hypothesis, for a coin uniform in (0, 1). */
export function deviateOf(tail: Tail, coin: number): number {
  const above = randomisedAbove(tail, coin);
  const below = randomisedBelow(tail, coin);
  const size = Math.min(LARGEST_DEVIATE, normalPointAbove(Math.min(above, below)));
  return above < below ? size : -size;
}
