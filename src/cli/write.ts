/** A file that is there whole or not at all: written beside its place, then renamed. */
import { randomUUID } from "node:crypto";
import { chmodSync, closeSync, fstatSync, openSync, rmSync, statSync } from "node:fs";
import { access, constants, lstat, open, realpath, rename, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describe } from "../describe.js";
import { cleanedUp } from "./exit.js";

/** The files of this machine that the work reads: the option that names it, and its path or "-" for stdin. */
export type LocalInputs = ReadonlyMap<string, string>;

/**
 * Several outputs of one run, each as checkOutput takes it, and no two of them in one file.
 * places: by the options that name them
 * @returns the path to write for each, null for one that is not asked for
 */
export async function checkOutputs<Label extends string>(places: Readonly<Record<Label, string | undefined>>, inputs: LocalInputs): Promise<Readonly<Record<Label, string | null>>> {
  const paths = new Map<string, string | null>();
  const labels = new Map<string, string>();
  for (const [label, place] of Object.entries<string | undefined>(places)) {
    const path = place === undefined ? null : await checkOutput(label, place, inputs);
    paths.set(label, path);
    if (path === null) continue;
    const file = join(await realpath(dirname(path)), basename(path));
    const other = labels.get(file);
    if (other !== undefined) throw new Error(`"${label}" expected another file than ${other} writes, got ${place}`);
    labels.set(file, label);
  }
  return Object.fromEntries(paths) as Record<Label, string | null>;
}

/**
 * Refuses a place that cannot be written, or that the work reads, before the work that would fill it.
 * @returns the path to write: links are followed, so that the file changes and not the link
 * @throws Error naming the path
 */
export async function checkOutput(label: string, path: string, inputs: LocalInputs): Promise<string> {
  if (path === "" || path === "-" || /[/\\]$/.test(path)) throw new Error(`"${label}" expected the path of a file to write, got ${describe(path)}`);
  const target = (await isThere(label, path)) ? await existingFile(label, path) : path;
  await refuseInput(label, path, target, inputs);
  await refuseFolder(label, dirname(target));
  return target;
}

/** Links that lead nowhere are there. */
async function isThere(label: string, path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return false;
    throw unwritable(label, path, cause);
  }
}

async function existingFile(label: string, path: string): Promise<string> {
  try {
    // A rename would put a file in the place of a device or pipe.
    if (!(await stat(path)).isFile()) throw new Error(`"${label}" expected a file to write, got ${path}, which is not a file`);
    // A rename needs no leave of the file that it replaces; its owner may still have meant it.
    await access(path, constants.W_OK);
    return await realpath(path);
  } catch (cause) {
    if (codeOf(cause) === undefined) throw cause;
    if (codeOf(cause) === "ENOENT" || codeOf(cause) === "ELOOP") throw new Error(`"${label}" expected a file to write, got ${path}, a link that leads nowhere`, { cause });
    throw unwritable(label, path, cause);
  }
}

/** Shards of an index are known by their names, and all of them by how they begin: no output is one of those. */
async function refuseInput(label: string, path: string, target: string, inputs: LocalInputs): Promise<void> {
  if ([path, target].some((name) => /\.safetensors$/i.test(name)) || (await beginsAsSafetensors(target))) {
    throw new Error(`"${label}" expected a file to write that holds no weights, got ${path}, a .safetensors file`);
  }
  const there = identityOf(target);
  const input = there === null ? undefined : [...inputs].find(([, place]) => identityOf(place) === there);
  if (input !== undefined) throw new Error(`"${label}" expected another file than ${input[0]} reads, got ${path}`);
}

/** A length below 2^32, then an opening brace. */
async function beginsAsSafetensors(path: string): Promise<boolean> {
  // Not there, or not to be read: then it is none that could be read as a shard either.
  const file = await open(path).catch(() => null);
  if (file === null) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(9), 0, 9, 0);
    return bytesRead === 9 && buffer.readUInt32LE(4) === 0 && buffer[8] === 0x7b;
  } finally {
    await file.close();
  }
}

/** The same for all names of one file; null when there is none. */
function identityOf(place: string): string | null {
  try {
    // Inodes of some file systems are past 2^53.
    const { dev, ino } = place === "-" ? fstatSync(0, { bigint: true }) : statSync(place, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

/** By trying: permissions alone do not say it of file systems that are read-only, or not for files. */
async function refuseFolder(label: string, folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true) throw new Error(`"${label}" expected an existing folder, got ${folder}`);
  const trial = unfinishedIn(folder);
  const cleanUp = () => rmSync(trial, { force: true });
  await cleanedUp(cleanUp, async () => {
    try {
      closeSync(openSync(trial, "wx"));
    } catch (cause) {
      throw unwritable(label, folder, cause);
    }
    cleanUp();
  });
}

/** path: from checkOutput. A file that is there keeps its mode. @throws Error naming the path; then nothing is left behind */
export async function writeWhole(label: string, path: string, content: Uint8Array | string | Iterable<string>): Promise<void> {
  const unfinished = unfinishedIn(dirname(path));
  const cleanUp = () => rmSync(unfinished, { force: true });
  await cleanedUp(cleanUp, async () => {
    try {
      // At once, so that no signal can come between the making and the knowing of it.
      closeSync(openSync(unfinished, "wx"));
      const mode = statSync(path, { throwIfNoEntry: false })?.mode;
      if (mode !== undefined) chmodSync(unfinished, mode & 0o777);
      await writeFile(unfinished, bytesOf(content), { flag: "r+" });
      await rename(unfinished, path);
    } catch (cause) {
      cleanUp();
      throw unwritable(label, path, cause);
    }
  });
}

/** Texts may be longer together than one string can be. */
function bytesOf(content: Uint8Array | string | Iterable<string>): Uint8Array {
  if (content instanceof Uint8Array) return content;
  return new Uint8Array(Buffer.concat(Array.from(typeof content === "string" ? [content] : content, (piece) => Buffer.from(piece))));
}

function unfinishedIn(folder: string): string {
  return join(folder, `.${randomUUID()}.tmp`);
}

function codeOf(cause: unknown): string | undefined {
  return (cause as NodeJS.ErrnoException).code;
}

function unwritable(label: string, path: string, cause: unknown): Error {
  return new Error(`"${label}" expected a place to write, got ${path} (${codeOf(cause)})`, { cause });
}
