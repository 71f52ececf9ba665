/** A file that is there whole or not at all: written beside its place, then renamed. */
import { randomUUID } from "node:crypto";
import { realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Refuses a place that cannot be written, before the work that would fill it.
 * @returns the path to write: links are followed, so that the file changes and not the link
 * @throws Error naming the path
 */
export async function checkOutput(label: string, path: string): Promise<string> {
  const existing = await stat(path).catch(() => null);
  // A rename would put a file in the place of a device or pipe.
  if (existing !== null && !existing.isFile()) throw new Error(`"${label}" expected a file to write, got ${path}, which is not a file`);
  if (existing !== null) return realpath(path);
  const folder = await stat(dirname(path)).catch(() => null);
  if (folder?.isDirectory() !== true) throw new Error(`"${label}" expected an existing folder, got ${dirname(path)}`);
  return path;
}

/** @throws Error naming the path; then nothing is left behind */
export async function writeWhole(label: string, path: string, bytes: Uint8Array): Promise<void> {
  const unfinished = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    await writeFile(unfinished, bytes, { flag: "wx" });
    await rename(unfinished, path);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw new Error(`"${label}" expected a place to write, got ${path} (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
}
