/** Where a head is, as an argument: in memory or in a file. All that can be told before it is opened is told here. */
import { describe } from "../describe.js";
import { arrayHead, type HeadArray } from "../head/head-reader.js";
import { isHeadArray } from "../head/load.js";
import type { ScalesLocation } from "../head/scales.js";
import type { SourceInput } from "../head/source.js";
import { isBuffer, typedArrayKind } from "../typed-arrays.js";
import { readOptions } from "./guards.js";
import { checkText, fieldsOf, isList, isReadable, isRecord } from "./values.js";

/** tensor, scales: of a file */
interface HeadPlaces {
  readonly weights: unknown;
  readonly tensor: unknown;
  readonly scales: unknown;
}

/** A head and its places: those of a file are not read of a head in memory. @throws TypeError, RangeError */
export function readHeadPlaces({ weights, tensor, scales }: HeadPlaces): HeadArray | SourceInput {
  const head = readWeights(weights);
  checkPlaces(tensor, scales);
  if (!isHeadArray(head)) return head;
  if (tensor !== undefined || scales !== undefined) throw new TypeError('"weights" expected a file together with tensor or scales, got an array');
  arrayHead(head);
  return head;
}

const WEIGHTS = "{ data, dtype, shape }, a path, URL, Blob, list of Files or bytes";

/**
 * A head in memory, its fields each read once, or where its file is. What is in them is for those who read them.
 * @throws TypeError, RangeError
 */
function readWeights(weights: unknown): HeadArray | SourceInput {
  if (typeof weights === "string") {
    if (weights === "") throw new RangeError(`"weights" expected ${WEIGHTS}, got ""`);
    return weights;
  }
  if (isList(weights)) return readFiles(weights);
  const kind = typedArrayKind(weights);
  if (kind !== undefined && kind !== "Uint8Array") {
    throw new TypeError(`"weights" expected { data, dtype, shape } for weights in memory, or the bytes of a file in a Uint8Array, got ${kind}`);
  }
  if (typeof weights !== "object" || weights === null || !isReadable(weights)) throw new TypeError(`"weights" expected ${WEIGHTS}, got ${describe(weights)}`);
  if (kind !== undefined || ArrayBuffer.isView(weights) || isBuffer(weights) || weights instanceof URL || isBlob(weights)) return weights as SourceInput;
  const { name, size, read, close, ...head } = fieldsOf(weights, ["data", "dtype", "shape", "scales", "name", "size", "read", "close"]);
  if (isHeadArray(weights as HeadArray)) return readHeadArray(head);
  // The fields of a ByteSource.
  if (typeof name === "string" && Number.isSafeInteger(size) && typeof read === "function" && typeof close === "function") return weights as SourceInput;
  throw new TypeError(`"weights" expected ${WEIGHTS}, got ${describe(weights)}`);
}

function readHeadArray(head: Readonly<Record<string, unknown>>): HeadArray {
  for (const [name, value] of Object.entries(head)) if (!isReadable(value)) throw new TypeError(`"weights.${name}" expected a value that can be read, got a proxy that was revoked`);
  return Object.fromEntries(Object.entries(head).filter(([, value]) => value !== undefined)) as unknown as HeadArray;
}

const isBlob = (value: unknown): boolean => typeof Blob !== "undefined" && value instanceof Blob;

function readFiles(files: readonly unknown[]): readonly File[] {
  if (files.length === 0) throw new RangeError(`"weights" expected a list of Files, got none`);
  return Array.from(files, (file, index) => {
    if (isReadable(file) && isBlob(file) && typeof (file as File).name === "string") return file as File;
    throw new TypeError(`"weights[${index}]" expected a File, got ${describe(file)}`);
  });
}

/** The places in a file of weights. @throws TypeError, RangeError */
function checkPlaces(tensor: unknown, scales: unknown): void {
  if (tensor !== undefined) checkText("tensor", tensor);
  if (scales === undefined || typeof scales === "string") return;
  if (!isRecord(scales)) throw new TypeError(`"scales" expected the name of a tensor or { source, tensor? }, got ${describe(scales)}`);
  const file = readOptions(scales as Exclude<ScalesLocation, string>, ["source", "tensor"], "scales");
  if (file.source === undefined) throw new TypeError('"scales.source" expected a path, URL, Blob, list of Files or bytes, got undefined');
  if (file.tensor !== undefined) checkText("scales.tensor", file.tensor);
}
