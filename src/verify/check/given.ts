/** What a check is given, as far as it can be judged before a file is opened. */
import { checkInteger, DETAIL_LIMIT } from "../../arguments.js";
import type { HeadArray } from "../../head/head-reader.js";
import type { SourceInput } from "../../head/source.js";
import { checkMatrix, type FloatData } from "../../matrix.js";
import { SAMPLE_LIMIT } from "../../spec/constants.js";
import { typedArrayKind } from "../../typed-arrays.js";
import { checkBackend } from "../backend-name.js";
import { checkCallback, checkSignal, readOptions } from "../guards.js";
import { readHeadPlaces } from "../head-input.js";
import { checkLogitError } from "../logit-error.js";
import { givenTokens, readTokens, type GivenTokens } from "../tokens.js";
import { isList } from "../values.js";
import { OPTION_NAMES, type CheckOptions } from "./options.js";

/** Options of the right kinds, each read once. */
export interface CheckGiven extends Omit<CheckOptions, "tokens"> {
  readonly tokens: GivenTokens;
}

/** @throws TypeError, RangeError naming the option */
export function readCheckOptions(options: CheckOptions): CheckGiven {
  const given = readOptions(options, OPTION_NAMES);
  const { backend, ranks, signal, onProgress, seed, logitError, mask } = given;
  checkSignal(signal);
  checkCallback("onProgress", onProgress);
  if (backend !== undefined) checkBackend(backend);
  if (ranks !== undefined) checkInteger("ranks", ranks, 0, DETAIL_LIMIT + 1);
  if (logitError !== undefined) checkLogitError(logitError);
  if (seed === undefined) throw new TypeError('"seed" expected the seed of the draws, got undefined');
  const tokens = readTokens("tokens", given.tokens);
  if (tokens.length < 1 || tokens.length > DETAIL_LIMIT) throw new RangeError(`"tokens" expected 1 to ${DETAIL_LIMIT} tokens, got ${tokens.length}`);
  return { ...given, tokens: givenTokens(tokens), ...(mask !== undefined && { mask: readOptions(mask, ["data", "rowCount"], "mask") }) };
}

/** How many rows the draws are of, where a call says it for logits whose columns it does not count. */
function rowsOf({ tokens, numSamples = 1, seed, temperature, position, sequence, mask }: CheckGiven): number {
  checkInteger("numSamples", numSamples, 1, SAMPLE_LIMIT + 1);
  const column = [seed, temperature, position, sequence].find((value) => isList(value) || typedArrayKind(value) !== undefined) as ArrayLike<unknown> | undefined;
  if (column !== undefined) return Math.max(1, column.length);
  // A mask of one row may serve all.
  if (Number.isSafeInteger(mask?.rowCount) && mask!.rowCount > 1) return mask!.rowCount;
  return Math.max(1, Math.floor(tokens.values.length / numSamples));
}

/**
 * V of logits: as it is said, else all logits over the rows.
 * @throws RangeError where that is no whole number
 */
export function vocabSizeOf(given: CheckGiven, logits: { readonly length: number }): number {
  if (given.vocabSize !== undefined) return given.vocabSize;
  const rows = rowsOf(given);
  if (logits.length % rows === 0) return logits.length / rows;
  throw new RangeError(`"vocabSize" expected the columns of the logits, as ${logits.length} of them are no whole number for each of ${rows} rows, got undefined`);
}

/** A head with hidden states, or logits. */
export type CheckInputs = { readonly weights: HeadArray | SourceInput; readonly hiddenStates: FloatData } | { readonly logits: FloatData };

/** Which of the two it is. @throws TypeError, RangeError for anything between them */
export function readInputs({ weights, hiddenStates, logits, tensor, scales, vocabSize }: CheckGiven): CheckInputs {
  if (weights !== undefined && hiddenStates !== undefined && logits === undefined) {
    const head = readHeadPlaces({ weights, tensor, scales });
    checkMatrix("hiddenStates", hiddenStates, "D", 1);
    if (vocabSize !== undefined) throw new TypeError('"vocabSize" expected logits, got weights: padding of a head is said by unpaddedSize');
    return { weights: head, hiddenStates };
  }
  if (weights !== undefined || hiddenStates !== undefined || logits === undefined) {
    const given = Object.entries({ weights, hiddenStates, logits }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
    throw new TypeError(`"weights" expected a head, and hiddenStates beside it (or logits alone in their place), got ${given.join(" and ") || "none"}`);
  }
  for (const [name, value] of Object.entries({ tensor, scales })) if (value !== undefined) throw new TypeError(`"${name}" expected weights beside it, got logits`);
  return { logits };
}
