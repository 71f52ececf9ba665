/** createSampler: validate, choose a backend, load the head, sample. */
import { CALL_OPTIONS, checkCall, checkOptions, type DrawOptions, type ResultOptions } from "./arguments.js";
import { describe } from "./describe.js";
import { STATUS_INVALID, type Backend, type BackendHead, type Candidates, type Dtype, type HeadShape } from "./backend.js";
import { createBackend, type BackendName } from "./backends/list.js";
import { loadHead, type LoadOptions, type LoadedHead, type LoadProgress } from "./head/load.js";
import { prepareHiddenStates, type HiddenProblem } from "./hidden.js";
import { sampleLogitsOn, type SampleLogitsOptions } from "./logits.js";
import { checkMatrix, widen, type FloatData } from "./matrix.js";
import { InvalidRowError, toResult, type DetailedResult, type SampleResult } from "./outcome.js";
import { encodeRequest } from "./spec/request.js";

export interface SamplerOptions {
  /** The LM head: { data, dtype, shape: [V, D], scales? } in memory; or a safetensors or npy file as path, URL, Blob or bytes. */
  readonly weights: LoadOptions["weights"];
  /** Name of the tensor in the file. Default: the usual names of LM heads. */
  readonly tensor?: LoadOptions["tensor"];
  /** Where the scales of an int8 head in a file are. Default: the usual names. */
  readonly scales?: LoadOptions["scales"];
  /** Default "auto": the fastest that runs here. */
  readonly backend?: BackendName | "auto";
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: LoadProgress) => void;
}

export interface SampleOptions extends DrawOptions, ResultOptions {
  /** [B, D], row-major; B is its length / D */
  readonly hiddenStates: FloatData;
}

/** An LM head in a backend's memory, ready to sample. */
export interface Sampler {
  readonly backend: BackendName;
  readonly dtype: Dtype;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  /** Names the canonical weights and scales, whatever file they came from (docs/spec.md, section 8); null without Web Crypto. */
  readonly headDigest: string | null;
  /**
   * Draws from softmax(weights * hiddenState / T) for each row. With seed, sequence and position given, a row's tokens
   * depend on nothing else in the call.
   * @throws TypeError, RangeError naming the argument; InvalidRowError for a row without a token
   */
  sample(options: SampleOptions & { readonly details: true }): Promise<DetailedResult>;
  sample(options: SampleOptions): Promise<SampleResult>;
  /** Draws from softmax(logits / T) by the same rule. */
  sampleLogits(options: SampleLogitsOptions & { readonly details: true }): Promise<DetailedResult>;
  sampleLogits(options: SampleLogitsOptions): Promise<SampleResult>;
  /** Gives the memory back. Calls after it are refused. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/**
 * Loads an LM head into a backend.
 * @throws TypeError, RangeError naming the argument or the place in the file; AbortError when the signal says so
 */
export async function createSampler(options: SamplerOptions): Promise<Sampler> {
  checkOptions(options, ["weights", "tensor", "scales", "backend", "signal", "onProgress"]);
  const { weights, tensor, scales, backend: name = "auto", signal, onProgress } = options;
  if (signal !== undefined && typeof signal?.throwIfAborted !== "function") throw new TypeError(`"signal" expected an AbortSignal, got ${describe(signal)}`);
  if (onProgress !== undefined && typeof onProgress !== "function") throw new TypeError(`"onProgress" expected a function, got ${describe(onProgress)}`);
  signal?.throwIfAborted();
  const backend = await createBackend(name);
  try {
    const createSink = backend.createHead.bind(backend);
    return new HeadSampler(backend, await loadHead({ weights, tensor, scales, signal, onProgress, createSink }));
  } catch (error) {
    backend.dispose();
    throw error;
  }
}

/** Runtimes without explicit resource management have no Symbol.dispose yet. */
const disposeSymbol: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");

class HeadSampler implements Sampler {
  readonly backend: BackendName;
  readonly dtype: Dtype;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly headDigest: string | null;
  #shape: HeadShape;
  #largestMagnitude: number;
  #backend: Backend | null;
  #head: BackendHead;

  constructor(backend: Backend, loaded: LoadedHead) {
    this.backend = backend.name as BackendName;
    this.dtype = loaded.shape.dtype;
    this.vocabSize = loaded.shape.vocabSize;
    this.hiddenSize = loaded.shape.hiddenSize;
    this.headDigest = loaded.statistics.digest;
    this.#shape = loaded.shape;
    this.#largestMagnitude = loaded.statistics.largestMagnitude;
    this.#backend = backend;
    this.#head = loaded.head;
  }

  sample(options: SampleOptions & { readonly details: true }): Promise<DetailedResult>;
  async sample(options: SampleOptions): Promise<SampleResult> {
    this.#backendInUse();
    checkOptions(options, ["hiddenStates", ...CALL_OPTIONS]);
    const hiddenStates = checkMatrix("hiddenStates", options.hiddenStates, "D", this.hiddenSize);
    const call = checkCall(options, hiddenStates.rowCount);
    const { values, invalidRow } = prepareHiddenStates(widen(hiddenStates), this.#shape, this.#largestMagnitude);
    if (call.onInvalid === "throw") refuseInvalid(invalidRow, this.#shape);
    const candidates = await this.#head.sample({ hiddenStates: values, request: encodeRequest(call.rows, call.samples) });
    markInvalid(candidates, invalidRow, call.samples);
    return toResult(candidates, call);
  }

  sampleLogits(options: SampleLogitsOptions & { readonly details: true }): Promise<DetailedResult>;
  async sampleLogits(options: SampleLogitsOptions): Promise<SampleResult> {
    return sampleLogitsOn(this.#backendInUse(), options, this.vocabSize);
  }

  dispose(): void {
    this.#head.dispose();
    this.#backend?.dispose();
    this.#backend = null;
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  #backendInUse(): Backend {
    if (this.#backend === null) throw new Error('"sampler" expected to be in use, got one that was disposed');
    return this.#backend;
  }
}

function refuseInvalid(invalidRow: readonly (HiddenProblem | null)[], { dtype }: HeadShape): void {
  const row = invalidRow.findIndex((problem) => problem !== null);
  if (row < 0) return;
  const { reason, column, value } = invalidRow[row]!;
  const expected = {
    "not-finite": "finite numbers",
    overflow: `numbers that round to a finite ${dtype === "f16" ? "f16" : "bf16"}`,
    range: "max |weight| * max |hidden state| * D below 2^127",
  }[reason];
  throw new InvalidRowError(row, `"hiddenStates" expected ${expected}, got ${value} at row ${row}, column ${column}`);
}

/** A row whose hidden state was refused was sampled as zeros: its outcome is "invalid" instead. */
function markInvalid(candidates: Candidates, invalidRow: readonly (HiddenProblem | null)[], samples: number): void {
  invalidRow.forEach((problem, row) => {
    if (problem === null) return;
    const [from, to] = [row * samples, (row + 1) * samples];
    candidates.status.fill(STATUS_INVALID, from, to);
    candidates.token.fill(-1, from, to);
    candidates.score.fill(0n, from, to);
    candidates.runnerUp.fill(-1, from, to);
    candidates.runnerUpScore.fill(0n, from, to);
  });
}
