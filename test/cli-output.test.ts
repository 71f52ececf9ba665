/** --out: what it refuses before any work, what it keeps, and what a signal leaves behind. */
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { checkOutput, writeWhole } from "../src/cli/write.js";
import { useCli, writeInputs } from "./cli-process.js";

const { folder, run } = useCli();
writeInputs(folder);
const SHARD = "model-00001-of-00002.safetensors";
writeFileSync(join(folder, "blob"), readFileSync(join(folder, "head.safetensors")));
writeFileSync(join(folder, SHARD), readFileSync(join(folder, "head.safetensors")));
writeFileSync(join(folder, "model.safetensors.index.json"), JSON.stringify({ weight_map: { "lm_head.weight": SHARD, "norm.weight": "model-00002-of-00002.safetensors" } }));
const isWindows = process.platform === "win32";
const HEAD = ["--weights", "head.safetensors", "--hidden", "hidden.npy"];
const INT8 = ["--weights", "int8.safetensors", "--tensor", "w", "--scales", "scales.npy", "--hidden", "hidden.npy"];
const INDEX = ["--weights", "model.safetensors.index.json", "--hidden", "hidden.npy"];
const LOGITS = ["--logits", "logits.npy"];

/** Everything in the folder, and what it holds. */
function contents(): Record<string, string> {
  const files = readdirSync(folder).filter((name) => existsSync(join(folder, name)) && statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), "latin1")]));
}

async function refused(inputs: readonly string[], out: string, options = {}): Promise<string> {
  const before = contents();
  const { code, stdout, stderr } = await run(["sample", ...inputs, "--seed", "1", "--out", out], options);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^flash-sampling: "--out" expected [^\n]+\n$/);
  expect(contents()).toEqual(before);
  return stderr;
}

describe("an input stays what it is", () => {
  test.each([
    ["the head", HEAD, "head.safetensors"],
    ["the hidden states", HEAD, "hidden.npy"],
    ["the logits", LOGITS, "logits.npy"],
    ["the logits, by another path", LOGITS, "./folder/../logits.npy"],
    ["the scales", INT8, "scales.npy"],
    ["an index", INDEX, "model.safetensors.index.json"],
    ["a shard", INDEX, SHARD],
    ["a shard that is not there", INDEX, "model-00002-of-00002.safetensors"],
    ["a safetensors file under another name", INDEX, "blob"],
  ])("%s", async (_, inputs, out) => {
    mkdirSync(join(folder, "folder"), { recursive: true });
    await refused(inputs, out);
  });

  test("a file: URL is a path", async () => {
    expect(await refused(["--logits", pathToFileURL(join(folder, "logits.npy")).href], "logits.npy")).toContain("than --logits reads");
  });

  test.skipIf(isWindows)("through links of either kind, in either place", async () => {
    symlinkSync("logits.npy", join(folder, "symbolic.npy"));
    symlinkSync(SHARD, join(folder, "shard.npy"));
    linkSync(join(folder, "logits.npy"), join(folder, "hard.npy"));
    await refused(LOGITS, "symbolic.npy");
    await refused(["--logits", "symbolic.npy"], "logits.npy");
    await refused(LOGITS, "hard.npy");
    await refused(INDEX, "shard.npy");
  });

  test("before any work: inputs that are missing are not looked for", async () => {
    await refused(["--weights", "missing.safetensors", "--hidden", "hidden.npy"], "hidden.npy");
  });

  test("another array is written over", async () => {
    writeFileSync(join(folder, "old.npy"), readFileSync(join(folder, "wide.npy")));
    expect(await run(["sample", ...LOGITS, "--seed", "1", "--out", "old.npy"])).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(join(folder, "old.npy"), "latin1")).toContain("'descr': '<i8'");
  });
});

describe("a place that cannot be written, before any work", () => {
  const MISSING = ["--logits", "missing.npy"];

  test.each(["", "-", "folder/", "missing/", "missing/tokens.npy", "head.safetensors/tokens.npy", ".", "..", `${"x".repeat(300)}.npy`])("%j", async (out) => {
    mkdirSync(join(folder, "folder"), { recursive: true });
    await refused(MISSING, out);
  });

  test.skipIf(isWindows)("links that lead nowhere, or in a circle", async () => {
    symlinkSync("nowhere.npy", join(folder, "dangling.npy"));
    symlinkSync("circle-b.npy", join(folder, "circle-a.npy"));
    symlinkSync("circle-a.npy", join(folder, "circle-b.npy"));
    expect(await refused(MISSING, "dangling.npy")).toContain("a link that leads nowhere");
    expect(await refused(MISSING, "circle-a.npy")).toContain("a link that leads nowhere");
    expect(existsSync(join(folder, "nowhere.npy"))).toBe(false);
  });

  test.skipIf(!existsSync("/proc/self"))("a file system that is not for files", async () => {
    await refused(MISSING, "/proc/tokens.npy");
  });

  test("a folder and a file without permission", async ({ skip }) => {
    skip(isWindows || process.getuid?.() === 0, "this user (root?) may write everywhere");
    mkdirSync(join(folder, "closed"));
    chmodSync(join(folder, "closed"), 0o555);
    writeFileSync(join(folder, "closed.npy"), "");
    chmodSync(join(folder, "closed.npy"), 0o444);
    await refused(MISSING, "closed/tokens.npy");
    await refused(MISSING, "closed.npy");
  });
});

describe.skipIf(isWindows)("what is there keeps", () => {
  test.each([0o600, 0o640, 0o666])("its mode, %o", async (mode) => {
    const out = `mode-${mode}.npy`;
    writeFileSync(join(folder, out), "");
    chmodSync(join(folder, out), mode);
    expect(await run(["sample", ...LOGITS, "--seed", "1", "--out", out])).toMatchObject({ code: 0, stderr: "" });
    expect(statSync(join(folder, out)).mode & 0o777).toBe(mode);
    expect(statSync(join(folder, out)).size).toBeGreaterThan(128);
  });

  test("its link", async () => {
    writeFileSync(join(folder, "target.npy"), "");
    symlinkSync("target.npy", join(folder, "link.npy"));
    expect(await run(["sample", ...LOGITS, "--seed", "1", "--out", "link.npy"])).toMatchObject({ code: 0, stderr: "" });
    expect(statSync(join(folder, "target.npy")).size).toBeGreaterThan(128);
    expect(readFileSync(join(folder, "link.npy"))).toEqual(readFileSync(join(folder, "target.npy")));
  });
});

describe("a signal during the writing", () => {
  afterEach(() => vi.restoreAllMocks());

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s ends with %i and leaves nothing", async (signal, code) => {
    const before = contents();
    const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
    const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const path = await checkOutput("--out", join(folder, "interrupted.npy"), new Map());
    const written = writeWhole("--out", path, new Uint8Array(1000));
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toHaveLength(1);
    process.emit(signal, signal);
    expect(exit.mock.calls).toEqual([[code]]);
    expect(stderr.mock.calls).toEqual([["flash-sampling: interrupted\n"]]);
    expect(contents()).toEqual(before);
    // The process would have ended; here it goes on, to a file that is gone.
    await expect(written).rejects.toThrow('"--out" expected a place to write');
    expect(contents()).toEqual(before);
  });

  test("afterwards nobody listens any more", async () => {
    const listeners = process.listenerCount("SIGINT");
    await writeWhole("--out", join(folder, "quiet.npy"), new Uint8Array(10));
    expect(process.listenerCount("SIGINT")).toBe(listeners);
  });
});
