/** Files made by hand, byte for byte, and a sink that remembers: what the head tests share. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { DTYPE_BYTES, type BackendHead, type HeadShape, type HeadSink, type RowBlock, type RowStatistics } from "../src/backend.js";

export interface TensorBytes {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

export function bytesOf(array: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength).slice();
}

/** A file from its parts, right or wrong. */
export function rawSafetensors(header: string, data: Uint8Array = new Uint8Array(0), headerLength?: bigint): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(header);
  const file = new Uint8Array(8 + text.length + data.length);
  new DataView(file.buffer).setBigUint64(0, headerLength ?? BigInt(text.length), true);
  file.set(text, 8);
  file.set(data, 8 + text.length);
  return file;
}

/** A file in order, tensors in the order of their keys. */
export function safetensors(tensors: Readonly<Record<string, TensorBytes>>, metadata?: Record<string, string>): Uint8Array<ArrayBuffer> {
  const header: Record<string, unknown> = metadata === undefined ? {} : { __metadata__: metadata };
  let end = 0;
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [end, (end += bytes.length)] };
  }
  const data = new Uint8Array(end);
  let at = 0;
  for (const { bytes } of Object.values(tensors)) {
    data.set(bytes, at);
    at += bytes.length;
  }
  return rawSafetensors(JSON.stringify(header), data);
}

/** A .npy file from its parts, right or wrong. */
export function npy(dict: string, data: Uint8Array, version: readonly [number, number] = [1, 0], headerLength?: number): Uint8Array<ArrayBuffer> {
  const header = new TextEncoder().encode(`${dict}\n`);
  const prefix = version[0] === 1 ? 10 : 12;
  const file = new Uint8Array(prefix + header.length + data.length);
  file.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, ...version]);
  const view = new DataView(file.buffer);
  if (version[0] === 1) view.setUint16(8, headerLength ?? header.length, true);
  else view.setUint32(8, headerLength ?? header.length, true);
  file.set(header, prefix);
  file.set(data, prefix + header.length);
  return file;
}

export function npyDict(descr: string, shape: string, fortranOrder = "False"): string {
  return `{'descr': '${descr}', 'fortran_order': ${fortranOrder}, 'shape': ${shape}, }`;
}

/** Keeps what a load hands over. Its memory is poisoned, so a row that nobody filled shows. */
export class MemorySink implements HeadSink {
  readonly bytes: Uint8Array;
  readonly norms: Float32Array;
  readonly largest: Float32Array;
  readonly log: string[] = [];
  readonly #rowBytes: number;

  /** maxRows: rows a block may hold, however many are asked for. */
  constructor(
    readonly shape: HeadShape,
    readonly scales: Float32Array | null,
    readonly maxRows = Infinity,
  ) {
    this.#rowBytes = shape.hiddenSize * DTYPE_BYTES[shape.dtype];
    this.bytes = new Uint8Array(shape.vocabSize * this.#rowBytes).fill(0xaa);
    this.norms = new Float32Array(shape.vocabSize).fill(NaN);
    this.largest = new Float32Array(shape.vocabSize).fill(NaN);
  }

  reserve(firstRow: number, rowCount: number): RowBlock {
    const rows = Math.min(rowCount, this.maxRows);
    this.log.push(`reserve ${firstRow} ${rows}`);
    return { firstRow, rowCount: rows, bytes: this.bytes.subarray(firstRow * this.#rowBytes, (firstRow + rows) * this.#rowBytes) };
  }

  commit(block: RowBlock, statistics: RowStatistics): void | Promise<void> {
    this.log.push(`commit ${block.firstRow} ${block.rowCount}`);
    this.norms.set(statistics.norms, block.firstRow);
    this.largest.set(statistics.largest, block.firstRow);
  }

  finish(): BackendHead {
    this.log.push("finish");
    return { sample: () => Promise.reject(new Error("no sampling here")), dispose: () => {} };
  }

  abort(): void {
    this.log.push("abort");
  }
}

/** Sinks made by a load, for a look at them afterwards. */
export function recordingSinks(maxRows?: number): { sinks: MemorySink[]; createSink: (shape: HeadShape, scales: Float32Array | null) => MemorySink } {
  const sinks: MemorySink[] = [];
  return {
    sinks,
    createSink: (shape, scales) => {
      sinks.push(new MemorySink(shape, scales, maxRows));
      return sinks.at(-1)!;
    },
  };
}

/** The message of the error that action must end with. */
export async function messageOf(action: () => unknown): Promise<string> {
  try {
    await action();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
  return "no error";
}

/** Runs a server on this machine for the time of one test. */
export async function withServer<Result>(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  action: (base: string, requests: string[]) => Promise<Result>,
): Promise<Result> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.url} ${request.headers.range ?? "whole"}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await action(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Answers a range as a file server does. */
export function serveRange(file: Uint8Array, request: IncomingMessage, response: ServerResponse): void {
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1]);
  response.writeHead(206, { "Content-Length": file.length - start, "Content-Range": `bytes ${start}-${file.length - 1}/${file.length}` });
  response.end(file.subarray(start));
}

/** count numbers in [-1, 1) that are the same in each run. */
export function pseudoRandom(seed: number, count: number): Float64Array {
  let state = seed;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  });
}
