/** Would the known answers notice a wrong WebAssembly core? It is built with one constant broken at a time. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import { describe, expect, it } from "vitest";
import { createWasmBackend } from "../../src/backends/wasm.js";
import { QUESTIONS } from "../backend-vectors.js";
import { BREAKS, type Break } from "../broken-rule.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const CONSTANTS = "src/spec/constants.ts";
/** What the core leaves to its host: operands, temperatures, reports, requests. */
const HOST_CLAUSES = /^(2 purpose|4\.1 |4\.2 lanes|5 largest tau|6 |7 )/;
const CORE_BREAKS = BREAKS.filter(({ file, clause }) => file === "constants" && !HOST_CLAUSES.test(clause));

async function buildCore(broken: Break | null): Promise<WebAssembly.Module> {
  let binary: Uint8Array<ArrayBuffer> | null = null;
  const { error, stderr } = await asc.main(["assembly/index.ts", "--config", "asconfig.json", "--target", "core", "--baseDir", root], {
    readFile(name, baseDir) {
      const text = (() => {
        try {
          return readFileSync(`${baseDir}/${name}`, "utf8");
        } catch {
          return null;
        }
      })();
      if (name !== CONSTANTS || broken === null || text === null) return text;
      if (text.split(broken.from).length !== 2) throw new Error(`expected exactly one "${broken.from}"`);
      return text.replace(broken.from, broken.to);
    },
    writeFile(_, contents) {
      if (contents instanceof Uint8Array) binary = Uint8Array.from(contents);
    },
  });
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`);
  return WebAssembly.compile(binary!);
}

/** Whether any known answer differs. A core that traps differs. */
async function isNoticed(module: WebAssembly.Module): Promise<boolean> {
  const backend = createWasmBackend({ name: "broken", module });
  try {
    for (const { answers } of QUESTIONS) {
      const { expected, got } = await answers(backend);
      if (got.join() !== expected.join()) return true;
    }
    return false;
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) return true;
    throw error;
  }
}

describe("the known answers", { timeout: 120_000 }, () => {
  it("hold for the core as it is, built the same way", async () => {
    expect(await isNoticed(await buildCore(null))).toBe(false);
  });

  it.each(CORE_BREAKS)("notice a core with a broken $clause", async (broken) => {
    expect(await isNoticed(await buildCore(broken))).toBe(true);
  });
});
