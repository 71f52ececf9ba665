/** createSampler: validate, choose a backend, load the head, sample. */
import { CALL_OPTIONS, checkCall, checkOptions, type CheckedCall, type DrawOptions, type ResultOptions } from "./arguments.js";
import { describe } from "./describe.js";
import {
  DTYPE_BYTES,
  STATUS_INVALID,
  type Backend,
  type BackendHead,
  type Candidates,
  type DeviceBatch,
  type DeviceHead,
  type Dtype,
  type HeadShape,
} from "./backend.js";
import { createBackend, type BackendName } from "./backends/list.js";
import type { CudaHiddenStates, CudaTokens } from "./cuda-pointers.js";
import { bufferPlaces, pointerPlaces, usesBuffers, usesPointers, type Places } from "./device-places.js";
import { checkDevice, checkGpuHead, isOnDevice, type GpuDevice, type GpuHead, type GpuHiddenStates, type GpuTokens } from "./gpu-buffers.js";
import { createWebgpuOn } from "./gpu-platform.js";
import { loadHead, type LoadOptions, type LoadProgress } from "./head/load.js";
import { prepareHiddenStates, type HiddenProblem, type PreparedHiddenStates } from "./hidden.js";
import { sampleLogitsOn, type SampleLogitsOptions } from "./logits.js";
import { checkMatrix, widen, type FloatData } from "./matrix.js";
import { InvalidRowError, toResult, type DetailedResult, type SampleResult } from "./outcome.js";
import { encodeRequest } from "./spec/request.js";

export interface SamplerOptions {
  /**
   * The LM head: { data, dtype, shape: [V, D], scales? } in memory; { buffer, dtype, shape, scales? } in a buffer of `device`,
   * of which one copy is made on the device; or a safetensors or npy file as path, URL, Blob or bytes.
   */
  readonly weights: LoadOptions["weights"] | GpuHead;
  /** Name of the tensor in the file. Default: the usual names of LM heads. */
  readonly tensor?: LoadOptions["tensor"];
  /** Where the scales of an int8 head in a file are. Default: the usual names. */
  readonly scales?: LoadOptions["scales"];
  /** Default "auto": the fastest that runs here; with a device, WebGPU on it. */
  readonly backend?: BackendName | "auto";
  /**
   * The caller's GPUDevice, for "webgpu": buffers of it can hold the weights, the hidden states and the tokens. Its limits decide
   * how a head is cut into pieces; the default ones suffice. It stays the caller's: it must be kept, and is never destroyed here.
   * In Node, destroy it before the process ends with calls under way: a driver made of software may crash otherwise.
   */
  readonly device?: GpuDevice;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: LoadProgress) => void;
}

export interface SampleOptions extends DrawOptions, ResultOptions {
  /**
   * [B, D], row-major; B is its length / D. Or on the device, which nothing but decisions and the reports of refused rows then
   * leaves: on "webgpu" { buffer, dtype, shape: [B, D], byteOffset? } in a buffer of the sampler's device, on "cuda"
   * { pointer, dtype, shape: [B, D] } in memory of the CUDA device.
   */
  readonly hiddenStates: FloatData | GpuHiddenStates | CudaHiddenStates;
  /**
   * On "cuda", for a call with a pointer: a CUstream of the primary context. The call reads and writes the memory of its pointers
   * after what was put on the stream before the call, and before what is put there once the call has resolved. 0n is the legacy
   * default stream. Default: none; hidden states must then be complete before the call, and tokens are once it has resolved.
   */
  readonly stream?: bigint;
}

/** A call whose tokens stay on the device. */
export interface SubmitOptions extends Omit<SampleOptions, "details" | "onInvalid"> {
  /** Where the tokens go, i32 [B * numSamples], the samples of a row side by side; -1 for each draw of a row without a token. */
  readonly tokensTo: GpuTokens | CudaTokens;
  readonly details?: false;
  readonly onInvalid?: "mark";
}

/** What a call with tokensTo gives. */
export interface SubmitResult {
  /** the seed used: as given, or the one that was drawn */
  readonly seed: bigint | BigUint64Array;
}

/** An LM head in a backend's memory, ready to sample. */
export interface Sampler {
  readonly backend: BackendName;
  readonly dtype: Dtype;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  /**
   * Names the canonical weights and scales, whatever file they came from (docs/spec.md, section 8); null without Web Crypto, and
   * for weights that came in a GPUBuffer.
   */
  readonly headDigest: string | null;
  /**
   * Draws from softmax(weights * hiddenState / T) for each row. With seed, sequence and position given, a row's tokens
   * depend on nothing else in the call.
   * @throws TypeError, RangeError naming the argument; InvalidRowError for a row without a token; on "webgpu" and "cuda"
   *   GpuError
   */
  sample(options: SampleOptions & { readonly details: true }): Promise<DetailedResult>;
  /**
   * The same on the sampler's device alone: nothing is read back. Resolves once the device has taken the commands; what is
   * submitted to its queue, or put on the call's stream, afterwards finds the tokens. On "cuda" without a stream it resolves when
   * the tokens are there. Rows without a token are marked, never an error.
   */
  sample(options: SubmitOptions): Promise<SubmitResult>;
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
 * @throws TypeError, RangeError naming the argument or the place in the file; AbortError when the signal says so; on "webgpu"
 *   GpuError, whose kind says whether the device was lost, is out of memory, or refused something
 */
export async function createSampler(options: SamplerOptions): Promise<Sampler> {
  checkOptions(options, ["weights", "tensor", "scales", "backend", "device", "signal", "onProgress"]);
  const { weights, tensor, scales, backend: name = "auto", device, signal, onProgress } = options;
  if (signal !== undefined && typeof signal?.throwIfAborted !== "function") throw new TypeError(`"signal" expected an AbortSignal, got ${describe(signal)}`);
  if (onProgress !== undefined && typeof onProgress !== "function") throw new TypeError(`"onProgress" expected a function, got ${describe(onProgress)}`);
  if (device !== undefined) checkDevice(device);
  if (device !== undefined && name !== "auto" && name !== "webgpu") throw new RangeError(`"backend" expected "webgpu" or "auto" with a device, got ${describe(name)}`);
  const onDevice = isOnDevice(weights) ? weights : null;
  if (onDevice !== null && device === undefined) throw new TypeError('"device" expected the GPUDevice of "weights.buffer", got undefined');
  if (onDevice !== null && (tensor !== undefined || scales !== undefined)) throw new TypeError('"weights" expected a file together with tensor or scales, got a buffer');
  signal?.throwIfAborted();
  const head = onDevice === null ? null : checkGpuHead(onDevice);
  const open = () => (device === undefined ? createBackend(name) : createWebgpuOn(device));
  const loaded = head === null ? await load(open, { weights: weights as LoadOptions["weights"], tensor, scales, signal, onProgress }) : await copy(open, head, signal, onProgress);
  return new HeadSampler(loaded, device !== undefined);
}

/** A sampler of a head in memory or a file, on a backend that the caller opens. */
export async function createSamplerOn(open: () => Promise<Backend>, options: Omit<LoadOptions, "createSink">): Promise<Sampler> {
  return new HeadSampler(await load(open, options), false);
}

interface Loaded {
  readonly backend: Backend;
  readonly shape: HeadShape;
  readonly head: BackendHead;
  readonly largestMagnitude: number;
  readonly digest: string | null;
}

/** The backend is opened last: a wrong argument is found without a look for a GPU. */
async function load(open: () => Promise<Backend>, options: Omit<LoadOptions, "createSink">): Promise<Loaded> {
  let backend = null as Backend | null;
  const createSink: LoadOptions["createSink"] = async (shape, scales) => {
    backend = await open();
    return backend.createHead(shape, scales);
  };
  try {
    const { shape, head, statistics } = await loadHead({ ...options, createSink });
    return { backend: backend!, shape, head, ...statistics };
  } catch (error) {
    backend?.dispose();
    throw error;
  }
}

async function copy(open: () => Promise<Backend>, head: DeviceHead, signal?: AbortSignal, onProgress?: SamplerOptions["onProgress"]): Promise<Loaded> {
  const { dtype, vocabSize, hiddenSize } = head.shape;
  const backend = await open();
  try {
    signal?.throwIfAborted();
    const rowBytes = hiddenSize * DTYPE_BYTES[dtype];
    const copied = await backend.copyHead!(head, (rows) => {
      signal?.throwIfAborted();
      onProgress?.({ bytes: rows * rowBytes, totalBytes: vocabSize * rowBytes });
    });
    return { backend, shape: head.shape, digest: null, ...copied };
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
  #hasDevice: boolean;

  constructor(loaded: Loaded, hasDevice: boolean) {
    this.backend = loaded.backend.name as BackendName;
    this.dtype = loaded.shape.dtype;
    this.vocabSize = loaded.shape.vocabSize;
    this.hiddenSize = loaded.shape.hiddenSize;
    this.headDigest = loaded.digest;
    this.#shape = loaded.shape;
    this.#largestMagnitude = loaded.largestMagnitude;
    this.#backend = loaded.backend;
    this.#head = loaded.head;
    this.#hasDevice = hasDevice;
  }

  sample(options: SampleOptions & { readonly details: true }): Promise<DetailedResult>;
  sample(options: SubmitOptions): Promise<SubmitResult>;
  sample(options: SampleOptions): Promise<SampleResult>;
  async sample(options: SampleOptions | SubmitOptions): Promise<SampleResult | SubmitResult> {
    this.#backendInUse();
    checkOptions(options, ["hiddenStates", ...CALL_OPTIONS, "tokensTo", "stream"]);
    const head = this.#head;
    if (usesPointers(options, head)) return this.#sampleOnDevice(pointerPlaces(head, this.hiddenSize, this.backend, options), options);
    if (usesBuffers(options)) return this.#sampleOnDevice(bufferPlaces(head, this.hiddenSize, this.#hasDevice, options), options);
    const { values, invalidRow, call } = this.#checkMemory(options);
    if (call.onInvalid === "throw") refuseInvalid(invalidRow, this.#shape);
    const candidates = await head.sample({ hiddenStates: values, request: encodeRequest(call.rows, call.samples) });
    markInvalid(candidates, invalidRow, call.samples);
    return toResult(candidates, call);
  }

  async #sampleOnDevice<Place>(places: Places<Place>, options: SampleOptions | SubmitOptions): Promise<SampleResult | SubmitResult> {
    const target = "tokensTo" in options ? options.tokensTo : undefined;
    const { hiddenStates, call } = this.#checkPlaced(places, target === undefined ? options : asSubmission(options));
    const tokensTo = target === undefined ? null : places.tokens(target, call.rows.length * call.samples);
    const request = encodeRequest(call.rows, call.samples);
    const { candidates, invalidRow } = await places.sample({ hiddenStates, request, largestMagnitude: this.#largestMagnitude, tokensTo });
    if (candidates === null) return { seed: call.seed };
    if (call.onInvalid === "throw") refuseInvalid(invalidRow, this.#shape);
    markInvalid(candidates, invalidRow, call.samples);
    return toResult(candidates, call);
  }

  #checkPlaced<Place>(places: Places<Place>, options: SampleOptions): { readonly hiddenStates: DeviceBatch<Place>["hiddenStates"]; readonly call: CheckedCall } {
    const placed = places.hiddenStates(options.hiddenStates);
    if (placed !== null) return { hiddenStates: placed, call: checkCall(options, placed.rowCount) };
    const { values, invalidRow, call } = this.#checkMemory(options);
    return { hiddenStates: { values, isRefused: invalidRow.map((problem) => problem !== null) }, call };
  }

  #checkMemory(options: SampleOptions): PreparedHiddenStates & { readonly call: CheckedCall } {
    const matrix = checkMatrix("hiddenStates", options.hiddenStates as FloatData, "D", this.hiddenSize);
    const call = checkCall(options, matrix.rowCount);
    return { ...prepareHiddenStates(widen(matrix), this.#shape, this.#largestMagnitude), call };
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

/** Nobody waits for what rows without a token would be told by. */
function asSubmission(options: SampleOptions | SubmitOptions): SampleOptions {
  const { details = false, onInvalid = "mark" } = options;
  if (details !== false) throw new RangeError(`"details" expected false with tokensTo, got ${describe(details)}`);
  if (onInvalid !== "mark") throw new RangeError(`"onInvalid" expected "mark" with tokensTo, got ${describe(onInvalid)}`);
  return { ...options, details, onInvalid };
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
