/** A sampler's answers to the cases of the corpus, checked before they are judged. */
import { describe } from "../../describe.js";
import { typedArrayKind } from "../../typed-arrays.js";
import { isList } from "../values.js";
import { readTokens } from "../tokens.js";
import { CORPUS, type CorpusCase } from "./corpus.js";

/**
 * A sampler's answer to one case: tokens [rows * numSamples], integers of any type, negative for none, or the noise of each word. null: the
 * call was refused as a whole.
 */
export type Answer = ArrayLike<number | bigint> | null;

/** How many numbers an answer has. */
export function answerLength(item: CorpusCase): number {
  return item.kind === "noise" ? item.rows : item.rows * item.parameters.numSamples;
}

/** @throws TypeError, RangeError for what is none of the corpus's own cases */
export function checkCase(item: unknown): asserts item is CorpusCase {
  if (CORPUS.cases.includes(item as CorpusCase)) return;
  const Kind = typeof item === "object" && item !== null ? RangeError : TypeError;
  throw new Kind(`"item" expected one of CORPUS.cases, got ${describe(item)}`);
}

/**
 * The numbers of an answer. Tokens past 2^53 are bigints, and no others.
 * @throws TypeError, RangeError naming the case
 */
export function readAnswer(item: CorpusCase, answer: unknown): readonly (number | bigint)[] | null {
  if (answer === null) return null;
  if (!isList(answer) && typedArrayKind(answer) === undefined) throw new TypeError(`"${item.name}" expected an array of numbers, or null, got ${describe(answer)}`);
  const { length } = answer as ArrayLike<unknown>;
  if (length !== answerLength(item)) throw new RangeError(`"${item.name}" expected ${answerLength(item)} numbers, got ${length}`);
  return item.kind === "noise" ? readNoise(item.name, answer as ArrayLike<unknown>) : Array.from(readTokens(item.name, answer), plainToken);
}

const plainToken = (token: number | bigint): number | bigint => (Number.isSafeInteger(Number(token)) ? Number(token) : BigInt(token));

/** Infinite noise and NaN are for the judge. */
function readNoise(label: string, noise: ArrayLike<unknown>): (number | bigint)[] {
  return Array.from(noise, (value, index) => {
    if (typeof value !== "number" && typeof value !== "bigint") throw new TypeError(`"${label}[${index}]" expected a number, got ${describe(value)}`);
    return value;
  });
}
