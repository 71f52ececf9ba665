/**
 * Random access to bytes: all that the readers in this folder know about where a file lives.
 * Only web APIs here. Local files load file-source.ts on first use, so a browser never meets node:fs.
 * A source serves one reader: its reads must not overlap in time.
 */
import { allocate } from "../allocate.js";
import { describe, visible } from "../describe.js";
import { isBuffer, ownBytes, typedArrayKind } from "../typed-arrays.js";
import { openUrl } from "./http-source.js";

export interface ByteSource {
  /** For messages: a path, an address without its query, or what the caller said. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /**
   * Fills the whole target, which may be a view of WebAssembly memory, with the bytes from offset on.
   * @throws RangeError when offset + target.length is past the size; the signal's reason once it aborts
   */
  read(offset: number, target: Uint8Array, signal?: AbortSignal): Promise<void>;
  /** Another file of the same folder, by its plain name. Absent where there is no folder. */
  sibling?(name: string, signal?: AbortSignal): Promise<ByteSource>;
  close(): Promise<void>;
}

/** What openSource takes. A list of files stands for a folder: its index, or its only file, is opened. */
export type SourceInput = string | URL | ArrayBufferLike | ArrayBufferView | Blob | readonly File[] | ByteSource;

/**
 * Opens a local path or file: URL, an http(s) URL, bytes in memory, a Blob or a list of Files. A source passes through.
 * Where there are no local files (a browser, a worker), a string without a scheme is an address relative to the page.
 * @throws TypeError for another kind of input; RangeError for another scheme; Error when it cannot be opened
 */
export async function openSource(input: SourceInput, signal?: AbortSignal): Promise<ByteSource> {
  signal?.throwIfAborted();
  if (typeof input === "string" || input instanceof URL) return openAddress(input, signal);
  if (typeof Blob !== "undefined" && input instanceof Blob) return blobSource(input);
  if (typedArrayKind(input) !== undefined) return bytesSource(ownBytes(input));
  if (ArrayBuffer.isView(input)) return bytesSource(new Uint8Array(input.buffer, input.byteOffset, input.byteLength));
  if (isBuffer(input)) return bytesSource(new Uint8Array(input));
  if (Array.isArray(input)) return folderSource(input);
  if (typeof (input as ByteSource | null)?.read === "function") return input as ByteSource;
  throw new TypeError(`"source" expected a path, URL, Blob, list of Files or bytes, got ${describe(input)}`);
}

/**
 * Reads length bytes into new memory.
 * @throws RangeError, before it allocates, when they are not all inside the source
 */
export async function readBytes(source: ByteSource, offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  checkRange(source, offset, length);
  const bytes = allocate(() => new Uint8Array(length), `${length} bytes of ${describe(source.name)}`);
  await source.read(offset, bytes, signal);
  return bytes;
}

/** @throws RangeError unless 0 <= offset and offset + length <= size */
export function checkRange(source: Pick<ByteSource, "name" | "size">, offset: number, length: number): void {
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || offset < 0 || length < 0 || offset > source.size - length) {
    throw new RangeError(`"${source.name}" expected a range inside its ${source.size} bytes, got ${length} bytes at offset ${offset}`);
  }
}

/** Bytes in memory. They are read when asked for, never copied as a whole. */
export function bytesSource(bytes: Uint8Array, name = "bytes"): ByteSource {
  const source: ByteSource = {
    name,
    size: bytes.length,
    async read(offset, target, signal) {
      signal?.throwIfAborted();
      checkRange(source, offset, target.length);
      target.set(bytes.subarray(offset, offset + target.length));
    },
    async close() {},
  };
  return source;
}

function blobSource(blob: Blob): ByteSource {
  const source: ByteSource = {
    name: "name" in blob && typeof blob.name === "string" ? visible(blob.name) : "blob",
    size: blob.size,
    async read(offset, target, signal) {
      checkRange(source, offset, target.length);
      // A piece at a time: slice().arrayBuffer() makes a copy as large as the slice.
      for (let done = 0; done < target.length; done += BLOB_PIECE) {
        signal?.throwIfAborted();
        const length = Math.min(BLOB_PIECE, target.length - done);
        target.set(new Uint8Array(await blob.slice(offset + done, offset + done + length).arrayBuffer()), done);
      }
      signal?.throwIfAborted();
    },
    async close() {},
  };
  return source;
}

const BLOB_PIECE = 4 << 20;

function folderSource(files: readonly File[]): ByteSource {
  const other = files.find((file) => !(file instanceof Blob) || typeof file.name !== "string");
  if (files.length === 0 || other !== undefined) throw new TypeError(`"source" expected a list of Files, got one with ${files.length === 0 ? "none" : describe(other)}`);
  const index = files.find((file) => file.name.endsWith(".index.json")) ?? (files.length === 1 ? files[0] : undefined);
  if (index === undefined) throw new RangeError(`"source" expected a list with one file or with an .index.json file, got ${files.length} files`);
  return {
    ...blobSource(index),
    async sibling(name) {
      const file = files.find((candidate) => candidate.name === name);
      if (file === undefined) throw new Error(`"source" expected a file named ${name} in the list, got none`);
      return blobSource(file);
    },
  };
}

async function openAddress(address: string | URL, signal: AbortSignal | undefined): Promise<ByteSource> {
  const text = String(address);
  // One letter before the colon is a Windows drive, not a scheme.
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === "http" || scheme === "https") return openUrl(parseUrl(text), signal);
  if (scheme === undefined && !hasLocalFiles() && typeof location !== "undefined") return openUrl(parseUrl(text, location.href), signal);
  if (scheme !== undefined && scheme !== "file" && (address instanceof URL || /^(data|blob):|^[^:]+:\/\//i.test(text))) {
    throw new RangeError(`"source" expected a path or a file:, http: or https: URL, got ${scheme}:`);
  }
  const { openFile } = await import("./file-source.js");
  return openFile(scheme === "file" ? parseUrl(text) : text);
}

function parseUrl(text: string, base?: string): URL {
  try {
    return new URL(text, base);
  } catch (cause) {
    throw new RangeError(`"source" expected a URL, got ${describe(text.replace(/\?.*/s, ""))}`, { cause });
  }
}

function hasLocalFiles(): boolean {
  return typeof process !== "undefined" && process.versions?.node !== undefined;
}
