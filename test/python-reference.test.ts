/** The second implementation, in Python: it is right about itself, and the committed known answers are what it says. */
import { execFile, execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { unavailable } from "./require.js";

const folder = fileURLToPath(new URL("../examples/python-reference/", import.meta.url));

function missing(): string | null {
  try {
    execFileSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"], { stdio: "ignore" });
    return null;
  } catch {
    return "no python3 of version 3.9 or newer on the path";
  }
}

describe.skipIf(unavailable("python", missing()))("the Python reference", () => {
  it.each([
    { script: "self_test.py", args: [] },
    { script: "generate_vectors.py", args: ["--check"] },
  ])("$script $args", { timeout: 120_000 }, async ({ script, args }) => {
    // -B: no __pycache__ in the tree.
    const { stdout } = await promisify(execFile)("python3", ["-B", script, ...args], { cwd: folder });
    expect(stdout).not.toBe("");
  });
});
