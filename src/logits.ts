/** Sampling from logits that somebody else computed: the same noise, score and decision, without a head. */
import { CALL_OPTIONS, checkCall, checkInteger, checkOptions, type CheckedCall, type DrawOptions, type ResultOptions } from "./arguments.js";
import { describe } from "./describe.js";
import type { Backend, LogitsBatch } from "./backend.js";
import { createBackend, type BackendName } from "./backends/list.js";
import { coreGeneration } from "./core-module.js";
import { checkMatrix, widenedCopy, type FloatData } from "./matrix.js";
import { toResult, type DetailedResult, type SampleResult } from "./outcome.js";
import { encodeRequest } from "./spec/request.js";

export interface SampleLogitsOptions extends DrawOptions, ResultOptions {
  /** [B, V], row-major; -Infinity masks a token, NaN and +Infinity make the row invalid */
  readonly logits: FloatData;
}

/** Logits, and what a head would have told of them. */
export interface GivenLogits extends SampleLogitsOptions {
  readonly vocabSize?: number;
  readonly backend?: BackendName | "auto";
}

/** Token ids are u32 in the counter, and Int32Array where they come out. */
const VOCAB_LIMIT = 2 ** 31;

/**
 * Draws from softmax(logits / T) without a head.
 * vocabSize: V, default all logits in one row. backend: default "auto".
 * @throws TypeError, RangeError naming the argument; InvalidRowError for a row without a token
 */
export function sampleLogits(options: GivenLogits & { readonly details: true }): Promise<DetailedResult>;
export function sampleLogits(options: GivenLogits): Promise<SampleResult>;
export async function sampleLogits(options: GivenLogits): Promise<SampleResult> {
  checkOptions(options, [...LOGITS_OPTIONS, "vocabSize", "backend"]);
  const { vocabSize = checkMatrix("logits", options.logits, "V", 1).rowCount, backend = "auto" } = options;
  checkInteger("vocabSize", vocabSize, 1, VOCAB_LIMIT);
  const checked = checkLogits(options, vocabSize);
  return decide(await sharedBackend(backend), checked);
}

/** The same on a backend that is there already. */
export async function sampleLogitsOn(backend: Backend, options: SampleLogitsOptions, vocabSize: number): Promise<SampleResult> {
  checkOptions(options, LOGITS_OPTIONS);
  return decide(backend, checkLogits(options, vocabSize));
}

const LOGITS_OPTIONS = ["logits", ...CALL_OPTIONS];

interface CheckedLogits {
  readonly call: CheckedCall;
  readonly batch: LogitsBatch;
}

/** All of it in one go, before anything is awaited: the caller may use its arrays again at once. */
function checkLogits(options: SampleLogitsOptions, vocabSize: number): CheckedLogits {
  const matrix = checkMatrix("logits", options.logits, "V", vocabSize);
  const call = checkCall(options, matrix.rowCount);
  return { call, batch: { logits: widenedCopy(matrix), vocabSize, request: encodeRequest(call.rows, call.samples) } };
}

async function decide(backend: Backend, { call, batch }: CheckedLogits): Promise<SampleResult> {
  return toResult(await backend.sampleLogits(batch), call);
}

/** A decode loop calls again and again: what it needs is made once, a few hundred KiB that are never given back. */
const shared = new Map<string, Promise<Backend>>();

function sharedBackend(name: BackendName | "auto"): Promise<Backend> {
  // A core that init() handed over since then makes other backends.
  const key = `${describe(name)} ${coreGeneration()}`;
  let backend = shared.get(key);
  if (backend === undefined) {
    backend = createBackend(name, "logits");
    shared.set(key, backend);
    backend.catch(() => shared.delete(key));
  }
  return backend;
}
