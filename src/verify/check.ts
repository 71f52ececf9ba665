/** Were these tokens drawn by the rule, or by the engine that is named? Each draw is exact, a near-tie or wrong. */
import { checkInteger } from "../arguments.js";
import { arrayHead, readHead, type HeadArray, type HeadReader } from "../head/head-reader.js";
import { isHeadArray } from "../head/load.js";
import { openSource, type SourceInput } from "../head/source.js";
import { sampleLogits } from "../logits.js";
import { checkMatrix, widen, widenedCopy, type FloatData } from "../matrix.js";
import type { SampleDetail } from "../outcome.js";
import { createSampler } from "../sampler.js";
import { callOf, drawOptions, taskOf } from "./check/call.js";
import { documentOf } from "./check/document.js";
import { givenLogits, headLogits } from "./check/logit-source.js";
import { readCheckOptions, readInputs, vocabSizeOf, type CheckGiven } from "./check/given.js";
import { askedEngine, type Asked, type CheckOptions } from "./check/options.js";
import { judgeOurs } from "./check/ours.js";
import { judgeReplay } from "./check/replay.js";
import { Vocabulary } from "./check/vocabulary.js";
import type { CheckDocument } from "./documents.js";
import { abortable } from "./guards.js";
import { logitErrorOf } from "./logit-error.js";

export { ENGINE_NAMES, type CheckOptions } from "./check/options.js";
export type { TokenMask } from "./check/vocabulary.js";

/**
 * Memory: of a head for "ours", what a sampler of it takes; else, and for wrong draws, 64 MiB of logits and hidden states, or a row's where they are more.
 * @throws TypeError, RangeError naming the option, or the place in a file; the signal's reason, whatever that is
 */
export async function check(options: CheckOptions): Promise<CheckDocument> {
  const given = readCheckOptions(options);
  const asked = askedEngine(given);
  const inputs = readInputs(given);
  return abortable(given.signal, () => ("logits" in inputs ? checkLogits(given, inputs.logits, asked) : checkHead(given, inputs.weights, inputs.hiddenStates, asked)));
}

async function checkHead(given: CheckGiven, weights: NonNullable<CheckOptions["weights"]>, hiddenStates: FloatData, asked: Asked): Promise<CheckDocument> {
  const { tensor, scales, signal } = given;
  if (isHeadArray(weights)) return checkReader(given, arrayHead(weights), weights, hiddenStates, asked);
  const source = await openSource(weights, signal);
  try {
    const reader = await readHead(source, tensor, scales, signal);
    try {
      return await checkReader(given, reader, source, hiddenStates, asked);
    } finally {
      await reader.close();
    }
  } finally {
    if (source !== weights) await source.close();
  }
}

async function checkReader(given: CheckGiven, reader: HeadReader, weights: SourceInput | HeadArray, hiddenStates: FloatData, asked: Asked): Promise<CheckDocument> {
  const { shape } = reader;
  const { unpaddedSize = shape.vocabSize } = given;
  const matrix = checkMatrix("hiddenStates", hiddenStates, "D", shape.hiddenSize);
  const error = logitErrorOf(given.logitError, shape);
  const vocabulary = new Vocabulary(shape.vocabSize, unpaddedSize, matrix.rowCount, given.mask);
  const call = callOf(given, matrix.rowCount);
  const values = widenedCopy(matrix);
  const task = taskOf(given, call, headLogits(reader, values, error, given.signal), vocabulary, error);
  if (asked !== null) return documentOf(task, call, asked, null, await judgeReplay(task, asked.engine, asked.options.values));
  const { tensor, scales, backend, signal, onProgress } = given;
  const places = isHeadArray(weights) ? {} : { tensor, scales };
  const sampler = await createSampler({ weights, ...places, ...(backend && { backend }), ...(signal && { signal }), ...(onProgress && { onProgress }) });
  let details: readonly SampleDetail[];
  const { headDigest } = sampler;
  try {
    ({ details } = await sampler.sample({ hiddenStates: values, ...drawOptions(task, call) }));
  } finally {
    // What follows reads the head from its source again: it need not be in memory twice.
    sampler.dispose();
  }
  return documentOf(task, call, null, headDigest, await judgeOurs(task, details));
}

async function checkLogits(given: CheckGiven, logits: FloatData, asked: Asked): Promise<CheckDocument> {
  const vocabSize = vocabSizeOf(given, checkMatrix("logits", logits, "V", 1).data);
  checkInteger("vocabSize", vocabSize, 1, 2 ** 31);
  const { unpaddedSize = vocabSize } = given;
  const matrix = checkMatrix("logits", logits, "V", vocabSize);
  const error = logitErrorOf(given.logitError, null);
  const vocabulary = new Vocabulary(vocabSize, unpaddedSize, matrix.rowCount, given.mask);
  const call = callOf(given, matrix.rowCount);
  const values = maskedLogits(widen(matrix), vocabulary);
  const task = taskOf(given, call, givenLogits(values, vocabSize), vocabulary, error);
  if (asked !== null) return documentOf(task, call, asked, null, await judgeReplay(task, asked.engine, asked.options.values));
  const { details } = await sampleLogits({ logits: values, vocabSize, ...(given.backend && { backend: given.backend }), ...drawOptions(task, call) });
  return documentOf(task, call, null, null, await judgeOurs(task, details));
}

/** A copy, unless there is nothing to mask. */
function maskedLogits(values: Float32Array, vocabulary: Vocabulary): Float32Array {
  if (vocabulary.isWhole) return values;
  return values.map((logit, index) => (vocabulary.isAllowed(Math.floor(index / vocabulary.size), index % vocabulary.size) ? logit : -Infinity));
}
