/** examples/logits: what it says of right, nearly right and wrong draws, and of files that are no list of draws. */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { wgslForEsbuild } from "../scripts/wgsl.mjs";
import { sampleLogits } from "../src/index.js";
import { useCli } from "./cli-process.js";

const { folder, run } = useCli();
const program = join(folder, "logits.mjs");
const root = fileURLToPath(new URL("..", import.meta.url));
beforeAll(async () => {
  // With the package as its source has it.
  await build({
    entryPoints: [join(root, "examples/logits/index.js")],
    alias: { "flash-sampling": join(root, "src/entries/node.ts") },
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["webgpu"],
    plugins: [wgslForEsbuild],
    logLevel: "error",
  });
  copyFileSync(join(root, "examples/logits/draws.jsonl"), join(folder, "draws.jsonl"));
});

const DRAW = { logits: [0.5, 1, null, 2], seed: "42", sequence: 0, position: 0, temperature: 1, token: 0 };

async function judge(...lines: unknown[]) {
  writeFileSync(join(folder, "given.jsonl"), lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
  const { code, stdout, stderr } = await run(["given.jsonl"], { program });
  const verdicts = stdout.split("\n").slice(1, -1).map((line) => line.replace(/^.{35}/, "").trim());
  return { code, stdout, stderr, verdicts };
}

test("its own draws: one of each verdict", async () => {
  const { code, stdout, stderr } = await run([], { program });
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(stdout.split("\n").slice(1, 4).map((line) => line.match(/same|near tie|wrong/)?.[0])).toEqual(["same", "near tie", "wrong"]);
});

describe("a draw", () => {
  test("that is the rule's is the same", async () => {
    const { tokens } = await sampleLogits({ logits: Float32Array.of(0.5, 1, -Infinity, 2), seed: 42n, sequence: 0, backend: "reference" });
    expect(await judge({ ...DRAW, token: tokens[0] })).toMatchObject({ code: 0, stderr: "", verdicts: ["same"] });
  });

  test.each([
    ["none, where the only token is drawn", { logits: [1], token: -1 }],
    ["none, where all but one are masked", { logits: [null, 1, null], token: -1 }],
    ["another, where all are masked", { logits: [null, null], token: 0 }],
    ["past the vocabulary", { token: 4 }],
  ])("of %s is wrong", async (_, fields) => {
    expect(await judge({ ...DRAW, ...fields })).toMatchObject({ code: 1, stderr: "", verdicts: ["wrong"] });
  });

  test("of none from a row without a token is the same", async () => {
    expect(await judge({ ...DRAW, logits: [null, null], token: -1 })).toMatchObject({ code: 0, verdicts: ["same"] });
  });
});

describe("a line that is no draw", () => {
  test.each([["null"], ["[]"], ["7"], ['"draw"'], ["{"], ["\x1b[2J"]])("%j", async (line) => {
    const { code, stdout, stderr } = await judge(DRAW, "", line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^logits: "draw" of line 3 expected a JSON object, got [\x20-\x7e]+\n$/);
  });

  test.each(Object.keys(DRAW))("one without %s", async (name) => {
    const { code, stdout, stderr } = await judge({ ...DRAW, [name]: undefined });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^logits: "${name}" of line 1 expected [^\n]+, got nothing\n$`));
  });

  test.each([
    ["logits", "0123"],
    ["logits", []],
    ["logits", [1, "2"]],
    ["logits", { length: 2 }],
    ["seed", 42],
    ["seed", "-1"],
    ["seed", "18446744073709551616"],
    ["seed", "0x2a"],
    ["sequence", "0"],
    ["sequence", 2 ** 32],
    ["position", 0.5],
    ["position", null],
    ["temperature", "1"],
    ["temperature", 256],
    ["token", "0"],
    ["token", null],
    ["token", -2],
  ])("%s: %j", async (name, value) => {
    const { code, stderr } = await judge({ ...DRAW, [name]: value });
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`^logits: "${name}" of line 1 expected [^\n]+\n$`));
  });

  test("no line at all, and no file", async () => {
    expect(await judge("")).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^logits: "given.jsonl" expected at least one draw[^\n]*\n$/) });
    expect(await run(["missing.jsonl"], { program })).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^logits: ENOENT[^\n]*\n$/) });
  });
});
