/**
 * The header of a .npy file, versions 1.0 to 3.0. Source: the format notes of numpy.lib.format.
 * The header is a Python dict literal. It is read by one strict pattern with exactly the three keys numpy writes, in any order;
 * nothing is ever evaluated.
 */
import { describe, visible } from "../describe.js";
import { readBytes, type ByteSource } from "./source.js";

export interface NpyHeader {
  /** numpy's type string: "<f4", "|i1", ... */
  readonly descr: string;
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
  /** Bytes of one element. */
  readonly itemSize: number;
  /** Offset of the first element in the file. */
  readonly dataOffset: number;
  /** Bytes from there to the end of the file: exactly the elements. */
  readonly dataLength: number;
}

/** numpy's own limit for a header that it reads without being told to trust it. */
const HEADER_LIMIT = 10_000;
/** numpy's limit. */
const RANK_LIMIT = 32;
const MAGIC = "\x93NUMPY";

export function isNpy(firstBytes: Uint8Array): boolean {
  return String.fromCharCode(...firstBytes.subarray(0, MAGIC.length)) === MAGIC;
}

/**
 * @throws RangeError when the header is not in order, or the file is not exactly as long as the header says
 */
export async function readNpyHeader(source: ByteSource, signal?: AbortSignal): Promise<NpyHeader> {
  const start = await readBytes(source, 0, Math.min(source.size, 12), signal);
  if (!isNpy(start) || start.length < 10) throw new RangeError(`"${source.name}" expected a .npy file, got ${describeStart(start)}`);
  const [major, minor] = [start[6]!, start[7]!];
  if (major < 1 || major > 3 || minor !== 0) throw new RangeError(`"${source.name}" expected .npy version 1.0, 2.0 or 3.0, got ${major}.${minor}`);
  const textStart = major === 1 ? 10 : 12;
  const view = new DataView(start.buffer);
  const length = major === 1 ? view.getUint16(8, true) : start.length < 12 ? 0 : view.getUint32(8, true);
  const limit = Math.min(HEADER_LIMIT, source.size - textStart);
  if (length < 1 || length > limit) throw new RangeError(`"${source.name}" expected a .npy header of 1 to ${limit} bytes, got a length of ${length}`);
  const text = String.fromCharCode(...(await readBytes(source, textStart, length, signal)));
  const { descr, fortranOrder, shape } = parseDict(text, source.name);
  const itemSize = itemSizeOf(descr, source.name);
  const dataOffset = textStart + length;
  const dataLength = source.size - dataOffset;
  // A product past 2^53 is not exact, but longer than any file.
  const expectedLength = shape.reduce((product, size) => product * size, itemSize);
  if (expectedLength !== dataLength) {
    throw new RangeError(`"${source.name}" expected ${expectedLength} bytes of data for ${descr} (${shape.join(", ")}), got ${dataLength}`);
  }
  return { descr, fortranOrder, shape, itemSize, dataOffset, dataLength };
}

// One key with its value, and the comma after it.
const ENTRY = /^\s*(?:'(\w+)'|"(\w+)")\s*:\s*(?:'([^'"\\]*)'|"([^'"\\]*)"|(True|False)|\(([\d\s,]*)\))\s*(,|(?=\}))/;

function parseDict(text: string, name: string): Pick<NpyHeader, "descr" | "fortranOrder" | "shape"> {
  const refuse = (): never => {
    throw new RangeError(`"${name}" expected a .npy header with descr, fortran_order and shape, got ${visible(JSON.stringify(text.trim().slice(0, 200)))}`);
  };
  const entries = new Map<string, string | boolean | number[]>();
  let rest = /^\s*\{/.test(text) ? text.replace(/^\s*\{/, "") : refuse();
  for (let match = ENTRY.exec(rest); match !== null; match = ENTRY.exec(rest)) {
    const key = match[1] ?? match[2]!;
    if (entries.has(key)) refuse();
    const flag = match[5];
    entries.set(key, match[3] ?? match[4] ?? (flag !== undefined ? flag === "True" : (parseTuple(match[6]!) ?? refuse())));
    rest = rest.slice(match[0].length);
  }
  const [descr, fortranOrder, shape] = [entries.get("descr"), entries.get("fortran_order"), entries.get("shape")];
  if (!/^\s*\}\s*$/.test(rest) || entries.size !== 3) return refuse();
  if (typeof descr !== "string" || typeof fortranOrder !== "boolean" || !Array.isArray(shape) || shape.length > RANK_LIMIT) return refuse();
  return { descr, fortranOrder, shape };
}

/** The inside of a Python tuple of sizes: "", "3," or "3, 4" with an optional last comma. Null for anything else. */
function parseTuple(text: string): number[] | null {
  if (text.trim() === "") return [];
  if (!/^\s*\d+\s*,(?:\s*\d+\s*,)*(?:\s*\d+)?\s*$/.test(text)) return null;
  const sizes = text.split(",").map((part) => part.trim()).filter((part) => part !== "").map(Number);
  return sizes.every(Number.isSafeInteger) ? sizes : null;
}

function itemSizeOf(descr: string, name: string): number {
  const size = /^[<>|=](?:[fiuV](?=[1248]$)|b(?=1$))(\d)$/.exec(descr)?.[1];
  if (size === undefined) throw new RangeError(`"${name}" expected numbers of 1, 2, 4 or 8 bytes, got the type ${describe(descr)}`);
  return Number(size);
}

function describeStart(start: Uint8Array): string {
  return `${start.length < 10 ? `${start.length} bytes` : "bytes"} that start with ${JSON.stringify(String.fromCharCode(...start.subarray(0, 8)))}`;
}
