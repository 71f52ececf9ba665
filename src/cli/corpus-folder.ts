/** The folder of an export: filled whole, or left as it was; and never over files of somebody else. */
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { lstat, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseJsonObject } from "../head/json.js";
import { openSource, readBytes } from "../head/source.js";
import { exportedFiles, INDEX_NAME, type CorpusFile } from "../verify/corpus/export.js";
import { cleanedUp } from "./exit.js";
import { makeFolders } from "./folders.js";

/** Bytes of an index that is read to see whether it is one. */
const INDEX_LIMIT = 1 << 26;

/**
 * Writes the files into folder, the index last. An older export is replaced, its files that are no more among them; other files stay.
 * files: the index last
 * @throws Error for a folder with other files and no older export, unless force is true; and where it cannot be written
 */
export async function writeExport(folder: string, files: Iterable<CorpusFile>, force: boolean): Promise<void> {
  const made = await named(folder, () => makeFolders(folder));
  const staging = join(folder, `.${randomUUID()}.tmp`);
  const cleanUp = () => rmSync(made ?? staging, { recursive: true, force: true });
  await cleanedUp(cleanUp, async () => {
    try {
      const older = await olderExport(folder, force);
      const paths = await stage(staging, files);
      await replace(folder, staging, paths, older);
      rmSync(staging, { recursive: true, force: true });
    } catch (cause) {
      cleanUp();
      throw cause;
    }
  });
}

/** The files of the export that is there, none for an empty folder. */
async function olderExport(folder: string, force: boolean): Promise<string[]> {
  const entries = await named(folder, () => readdir(folder));
  if (entries.length === 0) return [];
  const files = entries.includes(INDEX_NAME) ? await readIndex(join(folder, INDEX_NAME)).catch(() => null) : null;
  if (files === null && !force) throw new Error(`"folder" expected an empty one or an older export, got ${folder} with other files: --force writes beside them`);
  return files ?? [];
}

async function readIndex(path: string): Promise<string[] | null> {
  const source = await openSource(path);
  try {
    if (source.size > INDEX_LIMIT) return null;
    return exportedFiles(parseJsonObject(await readBytes(source, 0, source.size), source.name));
  } finally {
    await source.close();
  }
}

async function stage(staging: string, files: Iterable<CorpusFile>): Promise<string[]> {
  const paths: string[] = [];
  for (const { path, bytes } of files) {
    const target = join(staging, path);
    await named(target, () => makeFolders(dirname(target)));
    await named(target, () => writeFile(target, bytes));
    paths.push(path);
  }
  return paths;
}

/** Renames alone: from here on the folder has an index only when all is there. */
async function replace(folder: string, staging: string, paths: readonly string[], older: readonly string[]): Promise<void> {
  for (const parent of new Set(paths.map((path) => dirname(path)))) await requireFolder(join(folder, parent));
  await named(folder, () => rm(join(folder, INDEX_NAME), { force: true }));
  for (const path of older.filter((candidate) => !paths.includes(candidate))) await named(folder, () => rm(join(folder, path), { force: true }));
  for (const path of paths) await named(join(folder, path), () => rename(join(staging, path), join(folder, path)));
}

/** A link would lead the files to another place. */
async function requireFolder(path: string): Promise<void> {
  await named(path, () => makeFolders(path));
  if (!(await lstat(path)).isDirectory()) throw new Error(`"folder" expected a folder, got ${path}, which is a link`);
}

async function named<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    throw new Error(`"folder" expected a place to write, got ${path} (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
}
