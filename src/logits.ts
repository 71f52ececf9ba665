/** Sampling from logits that somebody else computed: the same noise, score and decision, without a head. */
import { checkDraws, checkInteger, type DrawOptions } from "./arguments.js";
import type { Backend } from "./backend.js";
import { createBackend, type BackendName } from "./backends/list.js";
import { checkMatrix, widen, type FloatData } from "./matrix.js";
import { checkOnInvalid, toResult, type ResultOptions, type SampleResult } from "./outcome.js";
import { encodeRequest } from "./spec/request.js";

export interface SampleLogitsOptions extends DrawOptions, ResultOptions {
  /** [B, V], row-major; -Infinity masks a token, NaN and +Infinity make the row invalid */
  readonly logits: FloatData;
}

/** Token ids are u32 in the counter, and Int32Array where they come out. */
const VOCAB_LIMIT = 2 ** 31;

/**
 * Draws from softmax(logits / T) without a head.
 * vocabSize: V, default all logits in one row. backend: default "auto".
 * @throws TypeError, RangeError naming the argument; InvalidRowError for a row without a token
 */
export async function sampleLogits(
  options: SampleLogitsOptions & { readonly vocabSize?: number; readonly backend?: BackendName | "auto" },
): Promise<SampleResult> {
  const vocabSize = options.vocabSize ?? checkMatrix("logits", options.logits, "V", 1).rowCount;
  checkInteger("vocabSize", vocabSize, 1, VOCAB_LIMIT);
  return sampleMatrix(await sharedBackend(options.backend ?? "auto"), options, vocabSize);
}

/** A decode loop calls again and again: what it needs is made once, a few hundred KiB that are never given back. */
const shared = new Map<BackendName | "auto", Promise<Backend>>();

function sharedBackend(name: BackendName | "auto"): Promise<Backend> {
  let backend = shared.get(name);
  if (backend === undefined) {
    backend = createBackend(name);
    shared.set(name, backend);
    backend.catch(() => shared.delete(name));
  }
  return backend;
}

/** The same on a backend that is there already. */
export async function sampleMatrix(backend: Backend, options: SampleLogitsOptions, vocabSize: number): Promise<SampleResult> {
  const matrix = checkMatrix("logits", options.logits, "V", vocabSize);
  const onInvalid = checkOnInvalid(options.onInvalid);
  const draws = checkDraws(options, matrix.rowCount);
  const request = encodeRequest(draws.rows, draws.samples);
  const candidates = await backend.sampleLogits({ logits: widen(matrix), vocabSize, request });
  return toResult(candidates, draws, options.details ?? false, onInvalid);
}
