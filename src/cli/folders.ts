/** Folders that are made with those above them. Node's own way to do so never ends where a file system denies what is there, as /proc does. */
import { mkdir, rmdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * @returns the outermost folder that was made; undefined where all were there
 * @throws the system's error; then none that was made is left
 */
export async function makeFolders(path: string): Promise<string | undefined> {
  const missing: string[] = [];
  for (let at = resolve(path); at !== dirname(at) && (await kindOf(at)) === "none"; at = dirname(at)) missing.push(at);
  if ((await kindOf(path)) === "other") missing.push(path);
  const made: string[] = [];
  try {
    for (const folder of missing.reverse()) if (await makeFolder(folder)) made.push(folder);
  } catch (cause) {
    for (const folder of made.reverse()) await rmdir(folder).catch(() => {});
    throw cause;
  }
  return made[0];
}

/** Of what cannot be looked at, and of what is no folder, the making says why. */
async function kindOf(path: string): Promise<"folder" | "other" | "none"> {
  return stat(path).then(
    (found) => (found.isDirectory() ? "folder" : "other"),
    () => "none",
  );
}

/** @returns whether it was made here: somebody else may have come first */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST" && (await kindOf(path)) === "folder") return false;
    throw cause;
  }
}
