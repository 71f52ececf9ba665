/**
 * The header of one safetensors file: u64 length, a JSON object { name: { dtype, shape, data_offsets } }, then the data.
 * Source: the format section of huggingface/safetensors' README. The file is untrusted: all numbers are checked here, before
 * anything of a tensor's size is allocated. As the format demands, tensors cover the data without overlap, hole or rest.
 */
import { describe, nameText } from "../describe.js";
import { foreignFormat } from "./foreign.js";
import { asJsonObject, kindOf, parseJsonObject, type ValueLimit } from "./json.js";
import { readBytes, type ByteSource } from "./source.js";

/** A tensor and where its bytes lie: row-major, little-endian. */
export interface StoredTensor {
  readonly name: string;
  /** The file's own word: BF16, F32, ... */
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly source: ByteSource;
  /** Of the first byte, in the source. */
  readonly offset: number;
  /** Bytes. */
  readonly length: number;
}

/** The format's own limit. */
const HEADER_LIMIT = 100_000_000;
/** More tensors than any real file has: a matrix has 8 values, with its entry, its lists and what is in them. */
const VALUE_LIMIT: ValueLimit = { values: 8 * 2 ** 17, why: `as many as ${2 ** 17} tensors have` };
/** No real tensor has more dimensions. */
const RANK_LIMIT = 16;

/** Bits of an element. A dtype of a later version of the format is not checked for size, and cannot be read. */
const DTYPE_BITS: ReadonlyMap<string, number> = new Map([
  ...["F64", "I64", "U64", "C64"].map((dtype) => [dtype, 64] as const),
  ...["F32", "I32", "U32"].map((dtype) => [dtype, 32] as const),
  ...["F16", "BF16", "I16", "U16"].map((dtype) => [dtype, 16] as const),
  ...["I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"].map((dtype) => [dtype, 8] as const),
  ...["F6_E2M3", "F6_E3M2"].map((dtype) => [dtype, 6] as const),
  ["F4", 4],
]);

/**
 * Reads and checks the header.
 * @param start the first 8 bytes, from a caller that has them: reading them again would cost a request
 * @throws RangeError that names the file, the tensor and what is wrong
 */
export async function readSafetensors(source: ByteSource, signal?: AbortSignal, start?: Uint8Array): Promise<StoredTensor[]> {
  if (source.size < 8) throw new RangeError(`"${source.name}" expected a safetensors file of at least 8 bytes, got ${source.size}`);
  const prefix = start ?? (await readBytes(source, 0, 8, signal));
  // Past 2^53 the sum is no longer exact, and far past every limit.
  const headerLength = prefix.reduceRight((length, byte) => length * 256 + byte, 0);
  const limit = Math.min(HEADER_LIMIT, source.size - 8);
  if (headerLength < 2 || headerLength > limit) {
    const foreign = foreignFormat(source.name, await readBytes(source, 0, Math.min(source.size, 64), signal));
    throw new RangeError(`"${source.name}" expected ${foreign ?? `a safetensors file with a header of 2 to ${limit} bytes, got a length of ${headerLength}`}`);
  }
  const header = parseJsonObject(await readBytes(source, 8, headerLength, signal), source.name, VALUE_LIMIT);
  header.delete("__metadata__");
  const tensors = Array.from(header, ([name, entry]) => readEntry(source, 8 + headerLength, name, entry));
  refuseOverlaps(source, 8 + headerLength, tensors);
  return tensors;
}

function readEntry(source: ByteSource, dataStart: number, name: string, entry: unknown): StoredTensor {
  const refuse = (expected: string, got: unknown): never => {
    throw new RangeError(`"${source.name}" expected ${expected} of tensor ${nameText(name)}, got ${listText(got)}`);
  };
  const fields = asJsonObject(entry) ?? refuse("an object for the entry", kindOf(entry));
  const dtype = fields.get("dtype");
  if (typeof dtype !== "string") return refuse("a string for dtype", dtype);
  const shape = fields.get("shape");
  if (!isListOfSizes(shape)) return refuse(`at most ${RANK_LIMIT} sizes for shape`, shape);
  const range = fields.get("data_offsets");
  if (!isListOfSizes(range) || range.length !== 2 || range[0]! > range[1]!) return refuse("two ascending offsets for data_offsets", range);
  const [begin, end] = range as [number, number];
  const available = source.size - dataStart;
  if (end > available) return refuse(`data_offsets within the file's ${available} bytes of data`, range);
  const bits = DTYPE_BITS.get(dtype);
  // A product past 2^53 is not exact, but longer than any file.
  if (bits !== undefined && shape.reduce((product, size) => product * size, bits) !== (end - begin) * 8) {
    return refuse(`${dtype} ${JSON.stringify(shape)} to match the ${end - begin} bytes`, range);
  }
  return { name, dtype, shape, source, offset: dataStart + begin, length: end - begin };
}

/** A short list with what is in it, one level deep. */
function listText(value: unknown): string {
  return Array.isArray(value) && value.length <= RANK_LIMIT ? `[${value.map(describe).join(",")}]` : describe(value);
}

function isListOfSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.length <= RANK_LIMIT && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function refuseOverlaps(source: ByteSource, dataStart: number, tensors: readonly StoredTensor[]): void {
  const ordered = [...tensors].sort((a, b) => a.offset - b.offset || a.length - b.length);
  let end = dataStart;
  for (const tensor of ordered) {
    if (tensor.offset !== end) {
      const problem = tensor.offset < end ? "an overlap" : `a hole of ${tensor.offset - end} bytes`;
      throw new RangeError(`"${source.name}" expected tensors that follow one another, got ${problem} before tensor ${nameText(tensor.name)}`);
    }
    end += tensor.length;
  }
  if (end !== source.size) throw new RangeError(`"${source.name}" expected tensors up to its last byte, got ${source.size - end} bytes after them`);
}
