/** The two kinds of places on a device where the values of a call may lie, each with its checks: buffers of WebGPU, memory of CUDA. */
import type { BackendHead, BufferSlice, DeviceBatch, DeviceDecisions, PointerSlice } from "./backend.js";
import { checkCudaHiddenStates, checkCudaTokens, checkStream, isAtPointer, type CudaHiddenStates, type CudaTokens } from "./cuda-pointers.js";
import { checkGpuHiddenStates, checkGpuTokens, isOnDevice, type GpuHiddenStates, type GpuTokens } from "./gpu-buffers.js";
import type { FloatData, FloatDtype } from "./matrix.js";

/** What of a call may lie on a device. */
export interface PlacedOptions {
  readonly hiddenStates: FloatData | GpuHiddenStates | CudaHiddenStates;
  readonly tokensTo?: GpuTokens | CudaTokens;
  readonly stream?: bigint;
}

export interface Places<Place> {
  /** Hidden states in such a place; null where they lie elsewhere. */
  hiddenStates(given: PlacedOptions["hiddenStates"]): (Place & { readonly dtype: FloatDtype; readonly rowCount: number }) | null;
  tokens(given: NonNullable<PlacedOptions["tokensTo"]>, draws: number): Place;
  sample(batch: DeviceBatch<Place>): Promise<DeviceDecisions>;
}

export function usesBuffers({ hiddenStates, tokensTo }: PlacedOptions): boolean {
  return tokensTo !== undefined || isOnDevice(hiddenStates);
}

/** @param hasDevice buffers belong to a device, and only the caller's own can have made any */
export function bufferPlaces(head: BackendHead, hiddenSize: number, hasDevice: boolean, { tokensTo }: PlacedOptions): Places<BufferSlice> {
  const name = tokensTo === undefined ? "hiddenStates" : "tokensTo";
  if (!hasDevice) throw new RangeError(`"${name}" expected a buffer only with a sampler that was created with its device, got one without`);
  return {
    hiddenStates: (given) => (isOnDevice(given) ? checkGpuHiddenStates(given, hiddenSize) : null),
    tokens: (given, draws) => checkGpuTokens(given as GpuTokens, draws),
    sample: (batch) => head.sampleOnDevice!(batch),
  };
}

export function usesPointers({ hiddenStates, tokensTo, stream }: PlacedOptions, head: BackendHead): boolean {
  const takesTokens = tokensTo !== undefined && (isAtPointer(tokensTo) || (head.sampleAtPointers !== undefined && !isOnDevice(tokensTo)));
  return stream !== undefined || isAtPointer(hiddenStates) || takesTokens;
}

export function pointerPlaces(head: BackendHead, hiddenSize: number, backend: string, { hiddenStates, tokensTo, stream }: PlacedOptions): Places<PointerSlice> {
  const name = isAtPointer(hiddenStates) ? "hiddenStates.pointer" : tokensTo === undefined ? "stream" : "tokensTo.pointer";
  if (head.sampleAtPointers === undefined) throw new RangeError(`"${name}" expected a sampler on the backend cuda, got one on ${backend}`);
  if (name === "stream") throw new RangeError('"stream" expected hidden states or tokens at a pointer, got neither');
  const checkedStream = checkStream(stream);
  return {
    hiddenStates: (given) => (isAtPointer(given) ? checkCudaHiddenStates(given, hiddenSize) : null),
    tokens: (given) => checkCudaTokens(given as CudaTokens),
    sample: (batch) => head.sampleAtPointers!({ ...batch, stream: checkedStream }),
  };
}
