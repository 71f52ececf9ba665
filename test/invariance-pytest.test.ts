/** examples/pytest: its tests pass on the sampler that is right and fail on one that is not; the core from Python draws the same tokens. */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { AREA_BYTES, layOut } from "../src/backends/wasm-core.js";
import { D, useCli, V, writeInputs } from "./cli-process.js";
import { unavailable } from "./require.js";

const TIMEOUT = 240_000;
const examples = fileURLToPath(new URL("../examples/", import.meta.url));
const core = fileURLToPath(new URL("../build/core.wasm", import.meta.url));
const { folder, program, run } = useCli();
const execute = promisify(execFile);

function python(code: string): string | null {
  try {
    return execFileSync("python3", ["-B", "-c", code], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return null;
  }
}

const missing = python("import sys; sys.exit(sys.version_info < (3, 9))") === null ? "no python3 of version 3.9 or newer on the path" : null;

/** Runs the tests in place with pytest where it is, else with unittest. @returns the exit code and what was printed */
async function runTests(place: string, ...files: string[]): Promise<{ readonly code: number; readonly said: string }> {
  const hasPytest = python("import pytest") !== null;
  const runner = hasPytest ? ["pytest", "-p", "no:cacheprovider", ...files] : ["unittest", ...(files.length === 0 ? ["discover"] : files.map((file) => file.replace(".py", "")))];
  const env = { ...process.env, FLASH_SAMPLING_CLI: `"${process.execPath}" "${program()}"` };
  return execute("python3", ["-B", "-m", ...runner], { cwd: place, env }).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, said: stdout + stderr }),
  );
}

describe.skipIf(unavailable("python", missing))("examples/pytest", () => {
  test("passes on the rule", { timeout: TIMEOUT }, async () => {
    const { code, said } = await runTests(join(examples, "pytest"));
    expect(code, said).toBe(0);
    expect(said).toMatch(/5 passed|Ran 5 tests/);
  });

  test("fails on a sampler that forgets a factor", { timeout: TIMEOUT }, async () => {
    const place = join(folder, "examples");
    cpSync(examples, place, { recursive: true, filter: (source) => source === examples || /examples.(pytest|python-reference)/.test(source) });
    const sampler = join(place, "pytest", "sampler.py");
    const text = readFileSync(sampler, "utf8");
    writeFileSync(sampler, text.replace("tau(temperature), (seed", "tau(2.0), (seed"));
    expect(readFileSync(sampler, "utf8")).not.toBe(text);
    const { code, said } = await runTests(join(place, "pytest"), "test_check.py", "test_gof.py");
    expect(code).toBe(1);
    expect(said).toContain("test_tokens_are_exact");
    expect(said).toContain("test_tokens_follow_the_softmax");
  });

  test.skipIf(python("import wasmtime, numpy") === null)("the core from Python draws the tokens of the command line", async () => {
    writeInputs(folder);
    const script = join(examples, "pytest", "core_from_python.py");
    for (const seed of ["42", "18446744073709551615"]) {
      const args = ["--logits", "logits.npy", "--seed", seed, "--temperature", "0.7"];
      const { stdout } = await execute("python3", ["-B", script, core, ...args], { cwd: folder });
      expect(stdout).toBe((await run(["sample", ...args])).stdout);
    }
  });

  test.skipIf(python("import wasmtime, numpy") === null)("the areas of the core from Python are those of the package", () => {
    const code = `import json, core_from_python as core; print(json.dumps([core.lay_out(head) for head in (None, (${V}, 64, 4), (${V}, 64, 2))]))`;
    const told = JSON.parse(execFileSync("python3", ["-B", "-c", code], { cwd: join(examples, "pytest"), encoding: "utf8" })) as Record<string, number>[];
    const head = { vocabSize: V, hiddenSize: D, groups: 0 };
    ([null, { ...head, dtype: "f32" }, { ...head, dtype: "f16" }] as const).forEach((shape, index) => {
      const areas = Object.entries(layOut(shape));
      areas.slice(0, -1).forEach(([name, start], place) => {
        const size = told[index]![name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]!;
        // The script draws one sample a row, and has fewer draws.
        if (name !== "draws") expect(Math.ceil((start + size) / AREA_BYTES) * AREA_BYTES, name).toBe(areas[place + 1]![1]);
      });
    });
  });
});
