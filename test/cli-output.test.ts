/** --out: what it refuses before any work, what it keeps, and what a signal leaves behind. */
import { chmodSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { cleanedUp } from "../src/cli/exit.js";
import { progressLine } from "../src/cli/progress.js";
import { checkOutput, writeWhole } from "../src/cli/write.js";
import { encodeNpyIntegers } from "../src/head/npy.js";
import { useCli, writeInputs } from "./cli-process.js";

const { folder, run, runMany } = useCli();
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

describe.skipIf(isWindows)("no room", () => {
  const LIMITED = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"];
  const DRAW = ["sample", ...LOGITS, "--seed", "1", "--num-samples", "2"];
  const CHECK = ["check", ...LOGITS, "--tokens", "drawn.npy", "--seed", "1"];
  const GOF = ["gof", ...LOGITS, "--tokens", "drawn.npy"];
  const MODULE = ["invariance", "--module", "fixed.mjs", "--reads", "none", "--only", "repeated-call"];
  const CORPUS = ["corpus", "check", "--tokens", "answers"];
  beforeAll(async () => {
    expect(await run([...DRAW, "--out", "drawn.npy", "--receipt", "receipt.json"])).toMatchObject({ code: 0 });
    expect(await run([...CHECK, "--document", "check.json"])).toMatchObject({ code: 0 });
    mkdirSync(join(folder, "answers"));
    writeFileSync(join(folder, "answers", "nan-row.npy"), encodeNpyIntegers([], [0]));
    writeFileSync(join(folder, "fixed.mjs"), "export default ({ rows }) => new Int32Array(rows);");
  });

  describe("on a disk: exit 2, and what was there stays", () => {
    const outputs: [label: string, place: string, args: string[]][] = [
      ["--out", "full.npy", DRAW],
      ["--receipt", "full.json", DRAW],
      ["--document", "full.json", CHECK],
      ["--junit", "full.xml", CHECK],
      ["--document", "full.json", GOF],
      ["--junit", "full.xml", GOF],
      ["--document", "full.json", CORPUS],
      ["--junit", "full.xml", CORPUS],
      ["--document", "full.json", ["replay", "receipt.json"]],
      ["--out", "full.html", ["report", "check.json"]],
      ["--document", "full.json", MODULE],
      ["--junit", "full.xml", MODULE],
    ];
    let before: Record<string, string>;
    const ended = runMany(
      () => {
        for (const [, place] of outputs) writeFileSync(join(folder, place), "kept");
        before = contents();
        return [...outputs.map(([label, place, args]) => [...args, label, place]), ["corpus", "export", "full-corpus"], ["invariance", "--", process.execPath, "-e", "0"]];
      },
      { wrapper: LIMITED },
    );

    test.each(outputs.map(([label, place, args], index) => [args[0]!, label, place, index] as const))("%s %s", async (_, label, place, index) => {
      const { code, stdout, stderr } = await ended(index);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(new RegExp(`^flash-sampling: "${label}" expected a place to write, got [^\\n]*${place} \\(EFBIG\\)\\n$`));
      expect(contents()).toEqual(before);
    });

    test("corpus export", async () => {
      const { code, stderr } = await ended(outputs.length);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^flash-sampling: "folder" expected a place to write, got full-corpus.*\(EFBIG\)\n$/);
      expect(existsSync(join(folder, "full-corpus"))).toBe(false);
    });

    test("invariance, for its calls: the sampler is not blamed", async () => {
      const { code, stderr } = await ended(outputs.length + 1);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^flash-sampling: "TMPDIR" expected a folder to write in, got .*\(EFBIG\)\n$/);
    });
  });

  const isFull = existsSync("/dev/full");
  const printing: [name: string, args: string[]][] = [
    ["help", ["--help"]],
    ["sample", DRAW],
    ["check, of wrong tokens", [...CHECK, "--seed", "2"]],
    ["gof", [...GOF, "--json"]],
    ["replay", ["replay", "receipt.json"]],
    ["report", ["report", "check.json", "--out", "printed.html"]],
    ["corpus check, of missing answers", CORPUS],
    ["invariance", MODULE],
  ];
  test.skipIf(!isFull).each(printing)("behind stdout: %s", async (_, args) => {
    expect(await run(args, { wrapper: ["sh", "-c", 'exec "$@" >/dev/full', "sh"] })).toEqual({ code: 2, stdout: "", stderr: 'flash-sampling: "stdout" expected a place to write, got ENOSPC\n' });
  });

  test.skipIf(!isFull)("behind stderr: what is printed is printed", async () => {
    const { code, stdout } = await run(["sample", ...LOGITS], { wrapper: ["sh", "-c", 'exec "$@" 2>/dev/full', "sh"] });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+\n\d+\n\d+\n$/);
  });

  test("a reader that leaves early does not turn a wrong answer into a right one", async () => {
    const ended = await run([...CHECK, "--seed", "2", "--json"], { onStart: (child) => child.stdout!.destroy() });
    expect(ended).toEqual({ code: 1, stdout: "", stderr: "" });
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
    ["SIGHUP", 129],
    ["SIGQUIT", 131],
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
    const count = () => ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"].map((signal) => process.listenerCount(signal));
    const before = count();
    await writeWhole("--out", join(folder, "quiet.npy"), new Uint8Array(10));
    expect(count()).toEqual(before);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)("%s clears the line of progress first, then all that is left, whatever fails", async (signal) => {
    const done: string[] = [];
    vi.spyOn(process, "exit").mockImplementation(() => (done.push("exit"), undefined as never));
    vi.spyOn(process.stderr, "write").mockImplementation((text) => (done.push(String(text)), true));
    const { isTTY } = process.stderr;
    process.stderr.isTTY = true;
    await cleanedUp(
      () => done.push("cleaned up"),
      () =>
        cleanedUp(
          () => {
            throw new Error("not to be removed");
          },
          async () => {
            const line = progressLine({ format: "{value} of {total}" }, 10, {});
            process.emit(signal, signal);
            line.stop();
          },
        ),
    );
    process.stderr.isTTY = isTTY;
    const texts = done.join("|");
    expect(texts).toMatch(/0 of 10.*\x1b\[2K.*\|cleaned up\|flash-sampling: interrupted\n\|exit/s);
  });
});
