/** `flash-sampling invariance`: commands, servers and modules that answer as they should, that draw wrongly, and that misbehave. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { InvarianceDocument } from "../src/verify/documents.js";
import { INVARIANCES } from "../src/verify/invariance/list.js";
import { useCli, type RunOptions } from "./cli-process.js";
import { writeSampler } from "./invariance-program.js";

const { folder, run: start } = useCli();
writeSampler(folder);
const temporary = join(folder, "temporary");
mkdirSync(temporary);
const PIDS = join(folder, "pids");

/** Nothing may be left of the folders that calls lie in. */
async function run(args: readonly string[], options: RunOptions = {}) {
  const ended = await start(["invariance", ...args], { ...options, variables: { TMPDIR: temporary, TEMP: temporary, PIDS } });
  expect(readdirSync(temporary)).toEqual([]);
  return ended;
}

const program = (mode: string, ...more: string[]) => ["--", process.execPath, "sampler.mjs", mode, ...more];
const server = (mode: string) => ["--server", ...program(`serve-${mode}`)];

function findings(stdout: string, status: string): string[] {
  return (JSON.parse(stdout) as InvarianceDocument).findings.filter((finding) => finding.status === status).map(({ name }) => name);
}

describe("a right sampler", () => {
  test("as a command, run once a call", async () => {
    const { code, stdout, stderr } = await run(["--only", "batch-permutation,sample-count", ...program("right")]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/2 kept, 0 broken, 0 skipped, in 16 calls \(seed 1, reads samples,sequence,position\)\nkept {5}batch-permutation {2}Do rows in another order keep their tokens\?\nkept {5}sample-count /);
  });

  test("with the folder where {dir} says", async () => {
    expect((await run(["--only", "repeated-call", ...program("right", "--dir={dir}")])).code).toBe(0);
  });

  test("as a server, asked for all that it reads", async () => {
    const { code, stdout } = await run(["--json", "--also", "logit-shift,losers-masked", ...server("right")]);
    const needing = INVARIANCES.filter(({ needs }) => needs.some((input) => !["samples", "sequence", "position"].includes(input))).map(({ name }) => name);
    expect(findings(stdout, "broken")).toEqual([]);
    expect(findings(stdout, "skipped")).toEqual(needing);
    expect(code).toBe(0);
    const document = JSON.parse(stdout) as InvarianceDocument;
    expect(document).toMatchObject({ kind: "invariance", passed: true, specVersion: expect.any(String), version: expect.any(String) });
    expect(document.sampler).toContain("sampler.mjs serve-right");
  });

  test("as a server that reads masks and filters", async () => {
    const { code, stdout } = await run(["--json", "--reads", "mask,top-k,top-p", "--only", "batchmates,mask-as-infinity,mask,top-k,top-p", ...server("right")]);
    expect({ code, kept: findings(stdout, "kept").length }).toEqual({ code: 0, kept: 5 });
  });

  test("as a module", async () => {
    writeFileSync(join(folder, "greedy.mjs"), "export default ({ logits, rows, vocabSize }) => Int32Array.from({ length: rows }, (_, row) => { const own = logits.subarray(row * vocabSize, (row + 1) * vocabSize); return own.indexOf(own.reduce((a, b) => Math.max(a, b))); });");
    const { code, stdout } = await run(["--module", "greedy.mjs", "--reads", "none", "--only", "greedy,batch-alone", "--json"]);
    expect({ code, kept: findings(stdout, "kept") }).toEqual({ code: 0, kept: ["batch-alone", "greedy"] });
  });
});

test("--document writes what --json prints, beside the text", async () => {
  const args = ["--only", "repeated-call,greedy", "--seed", "7", "--reads", "none"];
  const { code, stdout, stderr } = await run([...args, "--document", "found.json", ...server("right")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/: 2 kept, 0 broken, 0 skipped, in \d+ calls \(seed 7, reads none\)\n/);
  const written = readFileSync(join(folder, "found.json"), "utf8");
  expect(written).toBe((await run([...args, "--json", ...server("right")])).stdout);
  expect(JSON.parse(written)).toMatchObject({ kind: "invariance", passed: true, seed: 7, reads: [] });
});

describe("a wrong sampler", () => {
  test("is told with its smallest cases", async () => {
    const args = ["--only", "batchmates,row-seeds,greedy", ...server("first-seed")];
    const [{ code, stdout }, again] = [await run(args), await run(args)];
    expect(code).toBe(1);
    expect(again.stdout).toBe(stdout);
    expect(stdout).toContain("1 kept, 2 broken, 0 skipped");
    expect(stdout).toMatch(/\nrow-seeds: Is each row's own seed used for it\?\n.*\nthe smallest case, 2 rows of 2 tokens:\n/);
    const [, before, after] = /row 1 before: ([01 ]+)\n {2}row 1 after: {2}([01 ]+)\n$/.exec(stdout)!;
    expect(before).not.toBe(after);
  });

  test.each([
    ["past-end", "token 1 is none of a vocabulary of 1"],
    ["negative", "token -1 is none of a vocabulary of 1"],
  ])("draws a token %s", async (mode, why) => {
    const { code, stdout } = await run(["--only", "token-range", "--json", ...server(mode)]);
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as InvarianceDocument).findings[0]).toMatchObject({ status: "broken", why, smallest: { rows: 1, vocabSize: 1 } });
  });

  test("as unsigned integers -1 is past all vocabularies", async () => {
    const { code, stdout } = await run(["--only", "nan-row", "--json", ...server("unsigned")]);
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as InvarianceDocument).findings[0]!.why).toMatch(/^token 2147483647 is none of a vocabulary of \d+$/);
  });

  test("fails for some vocabularies alone", async () => {
    const { code, stdout } = await run(["--only", "batch-split,mask-as-infinity,greedy", "--max-calls", "20", ...program("odd")]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/broken {3}batch-split +the call failed: "command" expected exit code 0, got exit code 1 \(/);
    expect(stdout).toMatch(/skipped {2}greedy +no more calls may be made/);
  });
});

describe("misuse", () => {
  test.each([
    ["nowhere/found.json", '"--document" expected an existing folder'],
    ["kept.mjs", '"--document" expected another file than --module reads, got kept.mjs'],
  ])("a document at %s, before any call", async (place, message) => {
    writeFileSync(join(folder, "kept.mjs"), 'throw new Error("called");');
    const { code, stdout, stderr } = await run(["--module", "kept.mjs", "--document", place]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(readFileSync(join(folder, "kept.mjs"), "utf8")).toContain("called");
  });

  test.each([
    ["exit", '"command" expected exit code 0, got exit code 3 (ValueError: no kernel for this)'],
    ["nothing", '"tokens.npy" expected in the folder of the call, got none'],
    ["garbage", '"tokens.npy" expected a .npy file, got 6 bytes'],
    ["shape", '"tokens.npy" expected shape [1] or [1, 1], got [2]'],
    ["floats", '"tokens.npy" expected integers (i1 to i8, u1 to u8), got <f4'],
  ])("a command that gives %s", async (mode, message) => {
    const { code, stdout, stderr } = await run(program(mode));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`flash-sampling: ${message}`);
  });

  test.each([
    ["serve-garbage", /"answer" expected valid JSON, got: /],
    ["serve-error", /"answer" expected no error, got "out of memory"$/],
    ["serve-end", /"command" expected an answer, got exit code 4$/],
    ["serve-exit", /"command" expected an answer, got exit code 3 \(ValueError: no kernel for this\)$/],
    ["serve-nothing", /"tokens.npy" expected in the folder of the call, got none$/],
  ])("a server: %s", async (mode, message) => {
    const { code, stderr } = await run(["--server", ...program(mode)]);
    expect(code).toBe(2);
    expect(stderr.trim()).toMatch(message);
  });

  test.each([
    [[], '"command" expected a program after --, or --module, got none'],
    [["--", "no-such-program-anywhere"], '"command" expected exit code 0, got a program that does not start: "no-such-program-anywhere" (ENOENT)'],
    [["--server", "--", "no-such-program-anywhere"], '"command" expected an answer, got a program that does not start: "no-such-program-anywhere" (ENOENT)'],
    [["--module", "greedy.mjs", "--", "node"], '"--module" expected no command beside it, got one'],
    [["--module", "greedy.mjs", "--server"], '"--module" expected no --server beside it, got one'],
    [["--module", "missing.mjs"], '"--module" expected a module that loads, got "missing.mjs"'],
    [["--only", "batches", "--", "node"], '"--only" expected names from repeated-call, batch-permutation'],
    [["--only", "", "--", "node"], '"--only" expected names from'],
    [["--reads", "masks", "--", "node"], '"--reads" expected names from samples, sequence'],
    [["--only", "shards", ...program("right")], '"only" expected at least one invariance that is asked, got shards (the sampler is not said to read shards)'],
    [["--only", "greedy", "--skip", "greedy", ...program("right")], '"only" expected at least one invariance that is asked, got greedy (left out)'],
    [["--timeout", "0", "--", "node"], '"--timeout" expected a whole number in [1, 86401), got "0"'],
    [["--max-calls", "1", "--", "node"], '"--max-calls" expected a whole number in [2, 4294967296), got "1"'],
    [["--seed", "-1", "--", "node"], '"--seed" expected a whole number in [0, 4294967296), got "-1"'],
  ])("%j", async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`flash-sampling: ${message}`);
  });

  test.each([
    ["export default 7;", /"--module" expected a function as its default export, got 7/],
    ["export default () => { throw new Error('no device'); };", /"sampler" expected tokens from its first calls, got an error: no device/],
    ["export default () => [0.5];", /"sampler" expected to return whole numbers, got 0\.5/],
    ["export default () => 'tokens';", /"sampler" expected to return an Int32Array of tokens, got "tokens"/],
    ["export default () => new Int32Array(9);", /"sampler" expected to return 1 rows \* 1 samples, got 9 tokens/],
    ["export default () => new Promise(() => {});", /"--module" expected an answer within 1 s, got none/],
    ["process.exit(0);", /"--module" expected a sampler that leaves the process running, got its end before a verdict/],
    ["let calls = 0; export default ({ rows, numSamples }) => (++calls === 4 ? process.exit(0) : new Int32Array(rows * numSamples));", /"--module" expected a sampler that leaves the process running/],
    ["setTimeout(() => { throw new Error('late'); }); export default () => new Promise(() => {});", /"--module" expected a sampler that gives its errors to its caller, got one by itself: late/],
    ["export default async ({ rows }) => { Promise.reject(new Error('lost')); await new Promise((go) => setTimeout(go)); return new Int32Array(rows); };", /got one by itself: lost/],
  ])("a module: %s", async (text, message) => {
    writeFileSync(join(folder, "wrong.mjs"), text);
    const { code, stderr } = await run(["--timeout", "1", "--module", "wrong.mjs"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

test("--help has examples, names all that is asked, and fits 80 columns", async () => {
  const { code, stdout } = await run(["--help"]);
  expect(code).toBe(0);
  expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(stdout).toContain("Examples:\n  $ flash-sampling invariance ");
  for (const { name, question } of INVARIANCES) expect(stdout).toMatch(new RegExp(`\\n  ${name} +[r*]* +${question.replace(/[?]/g, "\\?")}\n`));
});

test("a temporary folder that is not there", async () => {
  const { code, stderr } = await start(["invariance", ...program("right")], { variables: { TMPDIR: join(folder, "nowhere") } });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^flash-sampling: "TMPDIR" expected a folder to write in, got .*nowhere \(ENOENT\)\n$/);
});

describe("a sampler that hangs", () => {
  test.each([
    ["a command", program("hang")],
    ["a server", server("hang")],
  ])("%s is ended with its children", async (_, args) => {
    const { code, stderr } = await run(["--timeout", "2", ...args]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'flash-sampling: "command" expected an answer within 2 s, got none\n' });
    await expectEnded();
  });

  test.each(["SIGINT", "SIGTERM"] as const)("%s ends all, and removes the folder", async (signal) => {
    const { code, stderr } = await run(program("hang"), {
      async onStart(child) {
        while (!existsSync(PIDS) || readFileSync(PIDS, "utf8") === "") await setTimeout(20);
        child.kill(signal);
      },
    });
    expect({ code, stderr }).toEqual({ code: signal === "SIGINT" ? 130 : 143, stderr: "flash-sampling: interrupted\n" });
    await expectEnded();
  });
});

/** The command and what it started, which wrote down who they are. */
async function expectEnded(): Promise<void> {
  const pids = readFileSync(PIDS, "utf8").split(" ").map(Number);
  expect(pids).toHaveLength(2);
  writeFileSync(PIDS, "");
  for (const pid of pids) await expect.poll(() => isRunning(pid), { timeout: 5000 }).toBe(false);
}

/** A process that nobody waits for any more is a zombie, and has ended all the same. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
