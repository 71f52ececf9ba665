/**
 * A local file as a ByteSource, on Node, Deno and Bun. Bytes go straight from the file into the caller's memory.
 * The only file of this folder that touches node: modules, and only inside a function.
 */
import { describe, visible } from "../describe.js";
import { checkRange, type ByteSource } from "./source.js";

/** Bytes of one system read: small enough that an abort is seen soon, and below the 2 GiB limit of one call. */
const READ_LIMIT = 16 << 20;

/** @throws Error when the path is not a file that can be read */
export async function openFile(path: string | URL): Promise<ByteSource> {
  const { open, stat } = await importNode<typeof import("node:fs/promises")>("node:fs/promises", path);
  const { dirname, join } = await importNode<typeof import("node:path")>("node:path", path);
  const { fileURLToPath } = await importNode<typeof import("node:url")>("node:url", path);
  const place = typeof path === "string" ? path : localPath(path, fileURLToPath);
  const name = visible(place);
  // Before opening: opening a pipe would wait for its other end.
  const found = await stat(place).catch((cause: unknown) => {
    throw new Error(`"${name}" expected a readable file, got ${codeOf(cause)}`, { cause });
  });
  if (!found.isFile()) throw new Error(`"${name}" expected a file, got ${found.isDirectory() ? "a directory: name a file in it" : "something else"}`);
  const handle = await open(place, "r").catch((cause: unknown) => {
    throw new Error(`"${name}" expected a readable file, got ${codeOf(cause)}`, { cause });
  });
  const source: ByteSource = {
    name,
    size: found.size,
    async read(offset, target, signal) {
      checkRange(source, offset, target.length);
      for (let done = 0; done < target.length; ) {
        signal?.throwIfAborted();
        const { bytesRead } = await handle.read(target, done, Math.min(READ_LIMIT, target.length - done), offset + done);
        if (bytesRead === 0) throw new Error(`"${name}" expected ${found.size} bytes as when it was opened, got ${offset + done}`);
        done += bytesRead;
      }
      signal?.throwIfAborted();
    },
    sibling: (sibling) => openFile(join(dirname(place), sibling)),
    close: () => handle.close(),
  };
  return source;
}

function localPath(url: URL, fileURLToPath: (url: URL) => string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new RangeError(`"source" expected a file: URL of this machine, got ${describe(url.href)}`, { cause });
  }
}

/** The specifier is a variable on purpose: bundlers for browsers must neither resolve nor refuse it. */
async function importNode<Module>(specifier: string, path: string | URL): Promise<Module> {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ specifier)) as Module;
  } catch (cause) {
    throw new Error(`"${path}" expected a runtime with local files, got none: pass a URL, a Blob or bytes`, { cause });
  }
}

function codeOf(cause: unknown): string {
  return (cause as NodeJS.ErrnoException).code ?? String(cause);
}
