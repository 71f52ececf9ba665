/** `flash-sampling invariance`: commands, servers and modules that answer as they should, that draw wrongly, and that misbehave. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { moduleSampler } from "../src/platform/command/module-sampler.js";
import type { InvarianceDocument } from "../src/verify/documents.js";
import { INVARIANCES } from "../src/verify/invariance/list.js";
import { useCli, type Ended, type RunOptions } from "./cli-process.js";
import { writeSampler } from "./invariance-program.js";

const { folder, run: start, runMany: startMany, program: cli } = useCli();
writeSampler(folder);

/** A place of its own for the folders of calls, of which nothing may be left, and for what programs write down of themselves. */
function makePlace(title: string) {
  const name = title.replaceAll(" ", "-");
  const temporary = join(folder, `temporary-${name}`);
  mkdirSync(temporary);
  const variables = { TMPDIR: temporary, TEMP: temporary, PIDS: join(folder, `pids-${name}`), ORPHAN: join(folder, `orphan-${name}`) };
  const run = async (args: readonly string[], options: RunOptions = {}) => {
    const ended = await start(["invariance", ...args], { ...options, variables });
    expect(readdirSync(temporary)).toEqual([]);
    return ended;
  };
  const runMany = (lists: () => readonly (readonly string[])[]) => {
    const ended = startMany(() => lists().map((args) => ["invariance", ...args]), { variables });
    return async (index: number): Promise<Ended> => {
      const one = await ended(index);
      expect(readdirSync(temporary)).toEqual([]);
      return one;
    };
  };
  return { variables, run, runMany };
}

const { run, runMany } = makePlace("shared");
const program = (mode: string, ...more: string[]) => ["--", process.execPath, "sampler.mjs", mode, ...more];
const server = (mode: string) => ["--server", ...program(`serve-${mode}`)];

/** The text of a module, as a file. */
function module(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

module("greedy.mjs", "export default ({ logits, rows, vocabSize }) => Int32Array.from({ length: rows }, (_, row) => { const own = logits.subarray(row * vocabSize, (row + 1) * vocabSize); return own.indexOf(own.reduce((a, b) => Math.max(a, b))); });");
module("talkative.mjs", 'import { writeSync } from "node:fs"; import greedy from "./greedy.mjs"; console.log("hello"); export default (call) => { console.log("a call"); writeSync(1, "past the console\\n"); console.error("an aside"); return greedy(call); };');

const documentOf = ({ stdout }: Ended): InvarianceDocument => JSON.parse(stdout);

function findings(ended: Ended, status: string): string[] {
  return documentOf(ended).findings.filter((finding) => finding.status === status).map(({ name }) => name);
}

/** Never gives way, and hardly computes. */
const LOOP = "while (true) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);";
// Programs of their own need some time to start, all at once.
const HANGS: Readonly<Record<string, readonly [seconds: number, args: readonly string[]]>> = {
  "a command": [8, program("hang")],
  "a server": [8, server("hang")],
  "a module that loops": [1, ["--module", module("loop.mjs", `export default () => { ${LOOP} };`)]],
  "a module that loops as it loads": [1, ["--module", module("load.mjs", LOOP)]],
  "a module that never answers": [1, ["--module", module("never.mjs", "export default () => new Promise(() => {});")]],
};
const ORPHANS: Readonly<Record<string, readonly string[]>> = {
  "a command": ["--only", "samples-differ", ...program("orphan")],
  "a server": ["--only", "samples-differ", ...server("orphan")],
  "a module": ["--reads", "none", "--only", "greedy", "--module", module("orphan.mjs", `import { spawn } from "node:child_process"; import { writeFileSync } from "node:fs"; export { default } from "./greedy.mjs"; const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { stdio: "inherit", detached: true }); writeFileSync(process.env.ORPHAN, String(child.pid)); child.unref();`)],
};
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGQUIT: 131 } as const;
/** Runs that wait for something, by what they are: begun first, beside all others. */
const waiting = new Map<string, Promise<Ended>>();

beforeAll(() => {
  for (const [name, [seconds, args]] of Object.entries(HANGS)) waiting.set(name, makePlace(name).run(["--timeout", String(seconds), ...args]));
  if (process.platform !== "win32") for (const [name, args] of Object.entries(ORPHANS)) waiting.set(`orphan of ${name}`, makePlace(`of ${name}`).run(args));
  for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) {
    const { run, variables } = makePlace(signal);
    waiting.set(signal, run(program("hang"), { onStart: async (child) => void ((await pidsOf(variables.PIDS)) && child.kill(signal)) }));
  }
  // Told by the test that asks for it.
  for (const ended of waiting.values()) ended.catch(() => {});
});

afterAll(async () => {
  await Promise.allSettled(waiting.values());
  for (const pid of Object.keys(ORPHANS).map(orphanOf)) if (pid !== null && isRunning(pid)) process.kill(pid, "SIGKILL");
});

describe("a right sampler", () => {
  const ended = runMany(() => [
    ["--only", "samples-differ", ...program("right")],
    ["--only", "rows-differ", "--reads", "sequence", ...program("right", "--dir={dir}")],
    ["--json", "--also", "logit-shift,losers-masked", ...server("right")],
    ["--json", "--reads", "mask,top-k,top-p", "--only", "batchmates,mask-as-infinity,mask,top-k,top-p", ...server("right")],
    ["--module", "greedy.mjs", "--reads", "none", "--only", "greedy,batch-alone", "--json"],
    ["--module", "talkative.mjs", "--reads", "none", "--only", "greedy", "--json"],
    ["--json", "--only", "repeated-call,row-seeds,batch-split", ...server("10-right")],
    ["--json", "--only", "samples-differ", ...server("1-right")],
  ]);

  test("as a command, run once a call", async () => {
    const { code, stdout, stderr } = await ended(0);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/: 1 kept, 0 broken, 0 skipped, in 3 calls \(seed 1, reads samples,sequence,position\)\nkept {5}samples-differ {2}\w/);
  });

  test("with the folder where {dir} says", async () => {
    expect((await ended(1)).code).toBe(0);
  });

  test("as a server, asked for all that it reads", async () => {
    const result = await ended(2);
    const needing = INVARIANCES.filter(({ needs }) => needs.some((input) => !["samples", "sequence", "position"].includes(input))).map(({ name }) => name);
    expect(findings(result, "broken")).toEqual([]);
    expect(findings(result, "skipped")).toEqual(needing);
    expect(result.code).toBe(0);
    const document = documentOf(result);
    expect(document).toMatchObject({ kind: "invariance", passed: true, specVersion: expect.any(String), version: expect.any(String) });
    expect(document.sampler).toContain("sampler.mjs serve-right");
  });

  test("as a server that reads masks and filters", async () => {
    const result = await ended(3);
    expect({ code: result.code, kept: findings(result, "kept").length }).toEqual({ code: 0, kept: 5 });
  });

  test.each([
    ["ten calls", 6],
    ["each call", 7],
  ])("as a server that leaves after %s: another one answers the next", async (_, index) => {
    const result = await ended(index);
    const { calls } = documentOf(result);
    expect({ code: result.code, stderr: result.stderr, broken: findings(result, "broken") }).toEqual({ code: 0, stderr: "", broken: [] });
    expect(calls).toBeGreaterThan(index === 6 ? 20 : 2);
  });

  test("as a module", async () => {
    const result = await ended(4);
    expect({ code: result.code, kept: findings(result, "kept"), stderr: result.stderr }).toEqual({ code: 0, kept: ["batch-alone", "greedy"], stderr: "" });
  });

  test("as a module that prints: on stderr alone", async () => {
    const result = await ended(5);
    expect({ code: result.code, kept: findings(result, "kept") }).toEqual({ code: 0, kept: ["greedy"] });
    expect(result.stdout.trimEnd()).not.toContain("\n");
    for (const text of ["hello\n", "a call\n", "past the console\n", "an aside\n"]) expect(result.stderr).toContain(text);
  });
});

test("--document and --junit are written beside what is printed", async () => {
  const args = ["--only", "repeated-call,row-seeds,greedy", "--seed", "7", "--reads", "samples", ...server("first-seed")];
  const { code, stdout, stderr } = await run(["--json", "--document", "found.json", "--junit", "found.xml", ...args]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(readFileSync(join(folder, "found.json"), "utf8")).toBe(stdout);
  expect(JSON.parse(stdout)).toMatchObject({ kind: "invariance", passed: false, seed: 7, reads: ["samples"] });
  const xml = readFileSync(join(folder, "found.xml"), "utf8");
  expect(xml).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites tests="3" failures="1" errors="0" skipped="0">\n<testsuite name="flash-sampling invariance" /);
  expect(xml).toMatch(/<testcase classname="flash-sampling invariance" name="row-seeds"><failure type="broken" message="[^"]+">[^<]+the smallest case, 2 rows of 2 tokens:\n[^]*row 1 before: [01 ]+\n[^]*<\/testsuites>\n$/);
});

describe("a wrong sampler", () => {
  const told = ["--only", "batchmates,row-seeds,greedy", ...server("first-seed")];
  const ended = runMany(() => [
    told,
    told,
    ...["past-end", "negative"].map((mode) => ["--only", "token-range", "--json", ...server(mode)]),
    ["--only", "nan-row", "--json", ...server("unsigned")],
    ["--only", "batch-split,mask-as-infinity,greedy", "--max-calls", "5", ...program("odd")],
  ]);

  test("is told with its smallest cases", async () => {
    const [{ code, stdout }, again] = [await ended(0), await ended(1)];
    expect(code).toBe(1);
    expect(again.stdout).toBe(stdout);
    expect(stdout).toContain("1 kept, 2 broken, 0 skipped");
    expect(stdout).toMatch(/\nrow-seeds: Is each row's own seed used for it\?\n.*\nthe smallest case, 2 rows of 2 tokens:\n/);
    const [, before, after] = /row 1 before: ([01 ]+)\n {2}row 1 after: {2}([01 ]+)\n$/.exec(stdout)!;
    expect(before).not.toBe(after);
  });

  test.each([
    ["past-end", 2, "token 1 is none of a vocabulary of 1"],
    ["negative", 3, "token -1 is none of a vocabulary of 1"],
  ])("draws a token %s", async (_, index, why) => {
    const result = await ended(index);
    expect(result.code).toBe(1);
    expect(documentOf(result).findings[0]).toMatchObject({ status: "broken", why, smallest: { rows: 1, vocabSize: 1 } });
  });

  test("as unsigned integers -1 is past all vocabularies", async () => {
    const result = await ended(4);
    expect(result.code).toBe(1);
    expect(documentOf(result).findings[0]!.why).toMatch(/^token 2147483647 is none of a vocabulary of \d+$/);
  });

  test("fails for some vocabularies alone", async () => {
    const { code, stdout } = await ended(5);
    expect(code).toBe(1);
    expect(stdout).toMatch(/broken {3}batch-split +the call failed: "command" expected exit code 0, got exit code 1 \(/);
    expect(stdout).toMatch(/skipped {2}greedy +no more calls may be made/);
  });
});

test("questions that calls did not suffice for are no pass: exit code 2, and it says so first", async () => {
  const { code, stdout, stderr } = await run(["--reads", "none", "--only", "batch-alone,greedy", "--max-calls", "14", "--junit", "cut.xml", "--module", "greedy.mjs"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
  expect(stdout.split("\n")[0]).toBe("greedy.mjs: incomplete, as calls did not suffice for 1: 1 kept, 0 broken, 1 skipped, in 14 calls (seed 1, reads none)");
  expect(readFileSync(join(folder, "cut.xml"), "utf8")).toMatch(/<testsuites tests="2" failures="1" errors="0" skipped="0">[^]*name="greedy"><failure type="missing" message="no more calls may be made">/);
  expect((await run(["--reads", "none", "--only", "greedy", "--max-calls", "2", "--module", "greedy.mjs"])).stderr).toBe('flash-sampling: "--max-calls" expected enough calls for one invariance, got 2\n');
});

/** All of the lists in one process; each is refused with its message. */
function describeRefused(what: string, cases: readonly (readonly [args: readonly string[], message: string | RegExp])[]): void {
  describe(what, () => {
    const ended = runMany(() => cases.map(([args]) => args));
    test.each(cases.map(([args, message], index) => [JSON.stringify(args), message, index] as const))("%s", async (_, message, index) => {
      const { code, stdout, stderr } = await ended(index);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(/^flash-sampling: [^\n]{1,600}\n$/);
      if (typeof message === "string") expect(stderr).toContain(`flash-sampling: ${message}`);
      else expect(stderr.trim()).toMatch(message);
    });
  });
}

describe("misuse", () => {
  module("kept.mjs", 'throw new Error("called");');
  test("of an input for an output: it stays", async () => {
    const ended = runMany(() => [["--module", "kept.mjs", "--junit", "./kept.mjs"]]);
    expect((await ended(0)).stderr).toContain('"--junit" expected another file than --module reads, got ./kept.mjs');
    expect(readFileSync(join(folder, "kept.mjs"), "utf8")).toContain("called");
  });

  describeRefused("before any call", [
    [["--module", "kept.mjs", "--document", "nowhere/found.json"], '"--document" expected an existing folder'],
    [["--module", "kept.mjs", "--document", "kept.mjs"], '"--document" expected another file than --module reads, got kept.mjs'],
    [["--module", "kept.mjs", "--document", "x.out", "--junit", "./x.out"], '"--junit" expected another file than --document writes, got ./x.out'],
    [[], '"command" expected a program after --, or --module, got none'],
    [["--", ""], '"command" expected a program after --, or --module, got ""'],
    [["--server", "--", "", "x"], '"command" expected a program after --, or --module, got ""'],
    [["--module", ""], '"--module" expected the path of a module, got ""'],
    [["--", "no-such-program-anywhere"], '"command" expected exit code 0, got a program that does not start: "no-such-program-anywhere" (ENOENT)'],
    [["--server", "--", "no-such-program-anywhere"], '"command" expected an answer, got a program that does not start: "no-such-program-anywhere" (ENOENT)'],
    [["--module", "greedy.mjs", "--", "node"], '"--module" expected no command beside it, got one'],
    [["--module", "greedy.mjs", "--server"], '"--module" expected no --server beside it, got one'],
    [["--module", "missing.mjs"], '"--module" expected a module that loads, got "missing.mjs"'],
    [["--only", "batches", "--", "node"], '"--only" expected names from repeated-call, batch-permutation'],
    [["--only", "", "--", "node"], '"--only" expected names from'],
    [["--reads", "masks", "--", "node"], '"--reads" expected names from samples, sequence'],
    [["--only", "shards", ...program("right")], '"--only" expected at least one invariance that is asked, got shards (the sampler is not said to read shards)'],
    [["--only", "greedy", "--skip", "greedy", ...program("right")], '"--only" expected at least one invariance that is asked, got greedy (left out)'],
    [["--timeout", "0", "--", "node"], '"--timeout" expected a whole number in [1, 86401), got "0"'],
    [["--max-calls", "1", "--", "node"], '"--max-calls" expected a whole number in [2, 4294967296), got "1"'],
    [["--seed", "-1", "--", "node"], '"--seed" expected a whole number in [0, 4294967296), got "-1"'],
  ]);

  describeRefused("a command that gives", [
    [program("exit"), '"command" expected exit code 0, got exit code 3 (ValueError: no kernel for this)'],
    [program("nothing"), '"tokens.npy" expected in the folder of the call, got none'],
    [program("garbage"), '"tokens.npy" expected a .npy file, got 6 bytes'],
    [program("shape"), '"tokens.npy" expected shape [1] or [1, 1], rows x num_samples of call.json, got [2]'],
    [program("one-a-row"), '"tokens.npy" expected shape [3, 2], rows x num_samples of call.json, got [3]: for a sampler of one draw a row: --reads sequence,position'],
    [program("floats"), '"tokens.npy" expected integers (i1 to i8, u1 to u8), got <f4'],
    [program("long-line"), /"command" expected exit code 0, got exit code 3 \(x{300}\.\.\.\)$/],
  ]);

  describeRefused("a server", [
    [["--server", ...program("serve-garbage")], /"answer" expected valid JSON, got: /],
    [["--server", ...program("serve-error")], /"answer" expected no error, got "out of memory"$/],
    [["--server", ...program("serve-end")], /"command" expected an answer, got exit code 4$/],
    [["--server", ...program("serve-leave")], /"command" expected an answer, got its end$/],
    [["--server", ...program("serve-exit")], /"command" expected an answer, got exit code 3 \(ValueError: no kernel for this\)$/],
    [["--server", ...program("serve-nothing")], /"tokens.npy" expected in the folder of the call, got none$/],
    [["--server", ...program("serve-endless-line")], /"answer" expected a line of at most 1048576 characters, got more$/],
  ]);

  const modules: [text: string, message: RegExp][] = [
    ["export default 7;", /"--module" expected a function as its default export, got 7/],
    ["export default (", /"--module" expected a module that loads, got "wrong-1\.mjs" \(Unexpected end of input\)/],
    ["throw null; export default 7;", /"--module" expected a module that loads, got "wrong-2\.mjs" \(null\)/],
    ["export default () => { throw new Error('no device'); };", /"sampler" expected tokens from its first calls, got an error: no device/],
    ["export default () => [0.5];", /"sampler" expected to return whole numbers, got 0\.5/],
    ["export default () => 'tokens';", /"sampler" expected to return an Int32Array of tokens, got "tokens"/],
    ["export default () => new Int32Array(9);", /"sampler" expected to return 1 rows \* 1 samples, got 9 tokens/],
    ["process.exit(0);", /"--module" expected a sampler that leaves the process running, got exit code 0 before a verdict/],
    ["let calls = 0; export default ({ rows, numSamples }) => (++calls === 4 ? process.exit(0) : new Int32Array(rows * numSamples));", /"--module" expected a sampler that leaves the process running, got exit code 0 before a verdict/],
    ["export default () => process.kill(process.pid, 'SIGKILL');", /"--module" expected a sampler that leaves the process running, got its end by SIGKILL before a verdict/],
    ["setTimeout(() => { throw new Error('late'); }); export default () => new Promise(() => {});", /"--module" expected a sampler that gives its errors to its caller, got one by itself: late/],
    ["export default async ({ rows }) => { Promise.reject(null); await new Promise((go) => setTimeout(go)); return new Int32Array(rows); };", /got one by itself: /],
  ];
  test("a module that throws or returns what it should not, call by call", async () => {
    const file = module("odd.mjs", `
      const unreadable = Object.defineProperty(new Error(), "message", { get() { throw this; } });
      const odd = [() => { throw null; }, () => { throw new Error("x".repeat(5e7)); }, () => { throw unreadable; }, () => () => 1, () => "tokens", () => [1, 2], ({ logits, mask }) => new Int32Array([logits.buffer.byteLength, mask.buffer.byteLength])];
      export default (call) => odd[Number(call.seed[0])](call);`);
    const sampler = moduleSampler({ host: [...process.execArgv, cli(), "module-host", "--", join(folder, file)], timeout: 60 });
    const call = (seed: number) => sampler.sample({ logits: new Float32Array(5), rows: 1, vocabSize: 5, numSamples: 1, temperature: [1], seed: [BigInt(seed)], sequence: [0], position: [0], mask: Uint32Array.of(31) });
    await expect(call(0)).rejects.toThrow(/^null$/);
    await expect(call(1)).rejects.toThrow(/^x{300}\.\.\.$/);
    await expect(call(2)).rejects.toThrow(/^an error that cannot be read$/);
    await expect(call(3)).rejects.toThrow('"--module" expected to return an Int32Array of tokens, got a function');
    expect(await call(4)).toBe("tokens");
    expect(await call(5)).toEqual([1, 2]);
    // What came is its own.
    expect(await call(6)).toEqual(Int32Array.of(20, 4));
    await sampler.close();
    await expect(sampler.failed).rejects.toThrow("expected a sampler that leaves the process running");
  });

  describeRefused("a module", modules.map(([text, message], index) => [["--module", module(`wrong-${index}.mjs`, text)], message]));
});

test("--help has examples, names all that is asked, and fits 80 columns", async () => {
  const ended = startMany(() => [["invariance", "--help"], ["--help"]]);
  const { code, stdout } = await ended(0);
  expect(code).toBe(0);
  expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(stdout).toContain("Examples:\n  $ flash-sampling invariance ");
  for (const { name, question } of INVARIANCES) expect(stdout).toMatch(new RegExp(`\\n  ${name} +[r*]* +${question.replace(/[?]/g, "\\?")}\n`));
  // The process that a module runs in is nobody's command.
  expect((await ended(1)).stdout).not.toContain("module-host");
});

test("a temporary folder that is not there", async () => {
  const { code, stderr } = await start(["invariance", ...program("right")], { variables: { TMPDIR: join(folder, "nowhere") } });
  expect(code).toBe(2);
  expect(stderr).toMatch(/^flash-sampling: "TMPDIR" expected a folder to write in, got .*nowhere \(ENOENT\)\n$/);
});

describe("a sampler that hangs", () => {
  test.each(Object.keys(HANGS))("%s is ended with its children", async (name) => {
    const { code, stderr } = await waiting.get(name)!;
    const label = name.startsWith("a module") ? "--module" : "command";
    expect({ code, stderr }).toEqual({ code: 2, stderr: `flash-sampling: "${label}" expected an answer within ${HANGS[name]![0]} s, got none${name === "a server" ? ": is stdout flushed?" : ""}\n` });
    if (label === "command") await expectEnded(join(folder, `pids-${name.replaceAll(" ", "-")}`));
  });

  test.each(Object.entries(SIGNALS))("%s ends all, and removes the folder", async (signal, code) => {
    expect(await waiting.get(signal)!).toEqual({ code, stdout: "", stderr: "flash-sampling: interrupted\n" });
    await expectEnded(join(folder, `pids-${signal}`));
  });
});

test.skipIf(process.platform === "win32").each(Object.keys(ORPHANS))("%s leaves a process behind that holds its pipes: nobody waits for it", async (name) => {
  expect(await waiting.get(`orphan of ${name}`)!).toMatchObject({ code: 0, stderr: "" });
  expect(isRunning(orphanOf(name)!)).toBe(true);
});

/** The process that was left behind; null where there is none yet. */
function orphanOf(name: string): number | null {
  const file = join(folder, `orphan-of-${name.replaceAll(" ", "-")}`);
  return existsSync(file) ? Number(readFileSync(file, "utf8")) : null;
}

/** Of a command and what it started, once it has written down who they are. */
async function pidsOf(file: string): Promise<number[]> {
  while (!existsSync(file) || readFileSync(file, "utf8") === "") await setTimeout(20);
  return readFileSync(file, "utf8").split(" ").map(Number);
}

async function expectEnded(file: string): Promise<void> {
  const pids = await pidsOf(file);
  expect(pids).toHaveLength(2);
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
