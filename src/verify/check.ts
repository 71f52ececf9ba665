/** Were these tokens drawn by the rule, or by the engine that is named? Each draw is exact, a near-tie or wrong. */
import { checkInteger, checkOptions } from "../arguments.js";
import { describe } from "../describe.js";
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
import { askedEngine, OPTION_NAMES, type Asked, type CheckOptions } from "./check/options.js";
import { judgeOurs } from "./check/ours.js";
import { judgeReplay } from "./check/replay.js";
import { Vocabulary } from "./check/vocabulary.js";
import type { CheckDocument } from "./documents.js";
import { logitErrorOf } from "./logit-error.js";

export { ENGINE_NAMES, type CheckOptions } from "./check/options.js";
export type { TokenMask } from "./check/vocabulary.js";

/**
 * Memory: of a head for "ours", what a sampler of it takes; else, and for wrong draws, 64 MiB of logits and hidden states, or a row's where they are more.
 * @throws TypeError, RangeError naming the option, or the place in a file; the signal's reason
 */
export async function check(options: CheckOptions): Promise<CheckDocument> {
  checkOptions(options, OPTION_NAMES);
  const asked = askedEngine(options);
  const { weights, hiddenStates, logits } = options;
  const hasHead = weights !== undefined && hiddenStates !== undefined && logits === undefined;
  if (!hasHead && !(weights === undefined && hiddenStates === undefined && logits !== undefined)) {
    const given = (["weights", "hiddenStates", "logits"] as const).filter((name) => options[name] !== undefined);
    throw new TypeError(`"weights" expected with hiddenStates, or logits alone, got ${given.join(" and ") || "none"}`);
  }
  return hasHead ? checkHead(options, weights, hiddenStates, asked) : checkLogits(options, logits!, asked);
}

async function checkHead(options: CheckOptions, weights: NonNullable<CheckOptions["weights"]>, hiddenStates: FloatData, asked: Asked): Promise<CheckDocument> {
  const { tensor, scales, signal } = options;
  if (typeof weights !== "string" && (typeof weights !== "object" || weights === null)) {
    throw new TypeError(`"weights" expected { data, dtype, shape }, a path, URL, Blob, list of Files or bytes, got ${describe(weights)}`);
  }
  if (isHeadArray(weights) && (tensor ?? scales) !== undefined) throw new TypeError('"weights" expected a file together with tensor or scales, got an array');
  if (isHeadArray(weights)) return checkReader(options, arrayHead(weights), weights, hiddenStates, asked);
  const source = await openSource(weights, signal);
  try {
    const reader = await readHead(source, tensor, scales, signal);
    try {
      return await checkReader(options, reader, source, hiddenStates, asked);
    } finally {
      await reader.close();
    }
  } finally {
    if (source !== weights) await source.close();
  }
}

async function checkReader(options: CheckOptions, reader: HeadReader, weights: SourceInput | HeadArray, hiddenStates: FloatData, asked: Asked): Promise<CheckDocument> {
  const { shape } = reader;
  const matrix = checkMatrix("hiddenStates", hiddenStates, "D", shape.hiddenSize);
  const error = logitErrorOf(options.logitError, shape);
  const vocabulary = new Vocabulary(shape.vocabSize, options.unpaddedSize ?? shape.vocabSize, matrix.rowCount, options.mask);
  const call = callOf(options, matrix.rowCount);
  const values = widenedCopy(matrix);
  const task = taskOf(options, call, headLogits(reader, values, error, options.signal), vocabulary, error);
  if (asked !== null) return documentOf(task, call, asked, null, await judgeReplay(task, asked.engine, asked.options.values));
  const { tensor, scales, backend, signal, onProgress } = options;
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

async function checkLogits(options: CheckOptions, logits: FloatData, asked: Asked): Promise<CheckDocument> {
  for (const name of ["tensor", "scales"] as const) if (options[name] !== undefined) throw new TypeError(`"${name}" expected weights, got logits`);
  const vocabSize = options.vocabSize ?? checkMatrix("logits", logits, "V", 1).rowCount;
  checkInteger("vocabSize", vocabSize, 1, 2 ** 31);
  const matrix = checkMatrix("logits", logits, "V", vocabSize);
  const error = logitErrorOf(options.logitError, null);
  const vocabulary = new Vocabulary(vocabSize, options.unpaddedSize ?? vocabSize, matrix.rowCount, options.mask);
  const call = callOf(options, matrix.rowCount);
  const values = maskedLogits(widen(matrix), vocabulary);
  const task = taskOf(options, call, givenLogits(values, vocabSize), vocabulary, error);
  if (asked !== null) return documentOf(task, call, asked, null, await judgeReplay(task, asked.engine, asked.options.values));
  const { details } = await sampleLogits({ logits: values, vocabSize, ...(options.backend && { backend: options.backend }), ...drawOptions(task, call) });
  return documentOf(task, call, null, null, await judgeOurs(task, details));
}

/** A copy, unless there is nothing to mask. */
function maskedLogits(values: Float32Array, vocabulary: Vocabulary): Float32Array {
  if (vocabulary.isWhole) return values;
  return values.map((logit, index) => (vocabulary.isAllowed(Math.floor(index / vocabulary.size), index % vocabulary.size) ? logit : -Infinity));
}
