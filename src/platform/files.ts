/** Node, Deno and Bun: the core lies on disk. */
import { compileCore, type CoreVariant, type Platform } from "../core-module.js";

/** folder: where the cores are; by default beside this code, once it is bundled. */
export function filePlatform(name: string, folder: URL = new URL(".", import.meta.url)): Platform {
  const load = async (file: string) => {
    const { readFile } = await import("node:fs/promises");
    const url = new URL(file, folder);
    return compileCore(await readFile(url), url.href);
  };
  return {
    name,
    variants: ["core.relaxed", "core"],
    loadCore: (variant: CoreVariant) => load(`${variant}.wasm`),
    loadJudge: () => load("judge.wasm"),
  };
}
