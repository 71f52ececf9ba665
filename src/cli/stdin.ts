/**
 * A .npy array from stdin. Nobody has said how long a stream is, so its header is read first: what is no array is refused after
 * its first bytes, an array that goes on past what its header states as soon as it does. What arrives is all that is held.
 */
import { isNpy, readNpyHeader } from "../head/npy-header.js";
import { bytesSource, checkRange, type ByteSource } from "../head/source.js";

const NAME = "stdin";
/** Bytes in front of the header's text, which say how long it is: magic, version, and a length of two or of four bytes. */
const START = 12;
/** More than any header has: what is past it is not waited for, but refused. */
const HEADER_LIMIT = 1 << 16;
const VERSIONS: readonly number[] = [1, 2, 3];
/** More would not fit one array of every engine. */
const SIZE_LIMIT = 2 ** 32;

/** @throws RangeError as soon as it can only be something else than one .npy array */
export async function stdinNpy(): Promise<ByteSource> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let stated: number | null = null;
  // Leaving the loop early closes the stream: whoever writes is told.
  for await (const chunk of readStdin()) {
    chunks.push(chunk);
    size += chunk.length;
    stated ??= await statedSize(concatenated(chunks));
    if (stated !== null && size > stated) throw new RangeError(`"${NAME}" expected the ${stated} bytes that its header states, got more`);
  }
  return chunkSource(chunks, size);
}

export async function* readStdin(): AsyncGenerator<Uint8Array> {
  try {
    yield* process.stdin;
  } catch (cause) {
    throw new Error(`"${NAME}" expected a stream that can be read, got ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
}

/** Bytes of the whole file, by its header, which is checked; null while it is not all there. */
async function statedSize(start: Uint8Array): Promise<number | null> {
  if (start.length < START) return null;
  const view = new DataView(start.buffer, start.byteOffset);
  const headerEnd = start[6] === 1 ? 10 + view.getUint16(8, true) : START + view.getUint32(8, true);
  const hasHeader = isNpy(start) && VERSIONS.includes(start[6]!) && headerEnd <= HEADER_LIMIT;
  if (hasHeader && start.length < headerEnd) return null;
  const size = hasHeader ? headerEnd + dataSize(String.fromCharCode(...start.subarray(10, headerEnd))) : NaN;
  // It refuses all that is no header, and reads nothing behind one. The size is right by now, or none that a file can have.
  await readNpyHeader({ ...bytesSource(start, NAME), size: Number.isSafeInteger(size) ? size : Number.MAX_SAFE_INTEGER });
  if (size > SIZE_LIMIT) throw new RangeError(`"${NAME}" expected an array of at most ${SIZE_LIMIT} bytes, got a header that states ${size}`);
  return size;
}

/** Bytes of the elements. A text that is no header gives any number: readNpyHeader decides what is one. */
function dataSize(header: string): number {
  const itemSize = Number(/[<>|=][a-zA-Z](\d)/.exec(header)?.[1]);
  const sizes = /\(([\d\s,]*)\)/.exec(header)?.[1]!.match(/\d+/g) ?? [];
  return sizes.reduce((product, size) => product * Number(size), itemSize);
}

function concatenated(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 ? chunks[0]! : new Uint8Array(Buffer.concat(chunks));
}

/** Bytes that lie in pieces. */
function chunkSource(chunks: readonly Uint8Array[], size: number): ByteSource {
  return {
    name: NAME,
    size,
    async read(offset, target) {
      checkRange({ name: NAME, size }, offset, target.length);
      let start = 0;
      for (const chunk of chunks) {
        const [from, to] = [Math.max(offset - start, 0), Math.min(offset + target.length - start, chunk.length)];
        if (from < to) target.set(chunk.subarray(from, to), start + from - offset);
        start += chunk.length;
      }
    },
    async close() {},
  };
}
