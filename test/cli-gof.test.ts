/** `flash-sampling gof`: verdict, table, JSON and exit codes. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { encodeNpyIntegers } from "../src/head/npy.js";
import type { GofDocument } from "../src/verify/documents.js";
import { goodnessOfFit } from "../src/verify/gof/gof.js";
import { useCli } from "./cli-process.js";
import { normalLogits, sampler, softmax, uniforms } from "./gof-draws.js";
import { bytesOf, npy, npyDict } from "./head-fixtures.js";

const { folder, run } = useCli();
const V = 60;
const logits = normalLogits(2 * V, 2, 1);
const rowWeights = [0, 1].map((row) => softmax(logits.subarray(row * V, (row + 1) * V)));
const right = drawn(rowWeights, 3);
const wrong = drawn([0, 1].map((row) => softmax(logits.subarray(row * V, (row + 1) * V), 1.5)), 4);

function drawn(weights: readonly Float64Array[], seed: number): Int32Array {
  const samplers = weights.map((row, index) => sampler(row, uniforms(10 * seed + index)));
  return Int32Array.from({ length: 2 * 3000 }, (_, index) => samplers[Math.floor(index / 3000)]!());
}

function drawnOf(weights: Float64Array, count: number, seed: number): Int32Array {
  const draw = sampler(weights, uniforms(seed));
  return Int32Array.from({ length: count }, draw);
}

function write(name: string, descr: string, shape: string, data: ArrayBufferView): void {
  writeFileSync(join(folder, name), npy(npyDict(descr, shape), bytesOf(data)));
}

write("logits.npy", "<f4", `(2, ${V})`, logits);
write("logits64.npy", "<f8", `(2, ${V})`, Float64Array.from(logits));
write("row.npy", "<f4", `(${V},)`, logits.subarray(0, V));
write("masked.npy", "<f4", `(2, ${V})`, logits.map((logit, index) => (index % V === right[0] ? -Infinity : logit)));
write("nan.npy", "<f4", `(${V},)`, new Float32Array(V).fill(NaN));
write("cube.npy", "<f4", `(1, 2, ${V})`, logits);
writeFileSync(join(folder, "right.npy"), encodeNpyIntegers(right, [2, 3000]));
writeFileSync(join(folder, "wrong.npy"), encodeNpyIntegers(wrong, [2, 3000]));
write("int16.npy", "<i2", "(2, 3000)", Int16Array.from(right));
write("steps.npy", "<i4", "(2, 100, 30)", right);
write("huge.npy", "<u8", "(2,)", BigUint64Array.of(1n, 2n ** 63n));
write("few.npy", "<i4", "(5,)", right.subarray(0, 5));
write("three.npy", "<f4", "(3,)", new Float32Array(3));
write("many.npy", "<i4", "(9000,)", drawnOf(Float64Array.of(1, 1, 1), 9000, 5));
write("floats.npy", "<f4", "(2,)", new Float32Array(2));
for (let part = 0; part < 6; part++) {
  for (const [name, tokens] of [["right", right], ["wrong", wrong]] as const) {
    write(`${name}-${part}.npy`, "<i4", "(2, 500)", Int32Array.from({ length: 1000 }, (_, index) => tokens[Math.floor(index / 500) * 3000 + 500 * part + (index % 500)]!));
  }
}

const gof = (...args: string[]) => run(["gof", ...args]);
const json = async (...args: string[]) => JSON.parse((await gof(...args, "--json")).stdout);

describe("verdict", () => {
  test("of correct tokens: passed, exit 0", async () => {
    const { code, stdout, stderr } = await gof("--tokens", "right.npy", "--logits", "logits.npy");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.split("\n");
    expect(lines[0]).toBe("passed: nothing speaks against softmax(logits / 1)");
    expect(lines[1]).toBe("6000 draws from 2 distributions over 60 tokens, false-alarm rate 1e-9");
    expect(lines[3]).toMatch(/^test +statistic +degrees +p-value +threshold$/);
    expect(lines[4]).toMatch(/^support +0 +- +1 +-$/);
    expect(stdout).toMatch(/^equal neighbours along row and sample, crosswise, even +\d+ +- +\S+ +\S+$/m);
    expect(stdout).toMatch(/^Smallest biases that so many draws would show \(probability 0\.9\):\n {2}relative increase of token \d+, of probability \S+: \+\S+ %\n/m);
    expect(stdout).toMatch(/^ {2}root mean square of relative biases of all tokens, random in sign: [\d.]+ %$/m);
    expect(stdout).not.toContain("gross");
    expect(stdout).not.toContain("FAILED");
  });

  test("of few draws: passed, and what that is worth", async () => {
    const { code, stdout } = await gof("--tokens", "few.npy", "--logits", "row.npy");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^passed: .*\nBut so few draws find only gross faults: [^]*"What to draw", says how many find what\.\n5 draws from/);
    // Of three tokens no bias of all is stated, and that of one tells as much.
    expect((await gof("--tokens", "many.npy", "--logits", "three.npy")).stdout).toMatch(/^passed: .*\n9000 draws/);
  });

  test("of wrong ones: failed, what is off, exit 1", async () => {
    const { code, stdout, stderr } = await gof("--tokens", "wrong.npy", "--logits", "logits.npy");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toMatch(/^failed: the tokens do not follow softmax\(logits \/ 1\)\n/);
    expect(stdout).toMatch(/^g-test .* FAILED$/m);
    expect(stdout).toMatch(/^g-test: .*token \d+ was drawn \d+ times, \S+ expected/m);
  });

  test("of tokens that cannot be drawn: named, exit 1", async () => {
    const masked = await gof("--tokens", "right.npy", "--logits", "masked.npy");
    expect(masked.code).toBe(1);
    expect(masked.stdout).toContain(`support: token ${right[0]} at [0, 0] is masked, the first of`);
    const huge = await gof("--tokens", "huge.npy", "--logits", "row.npy");
    expect(huge.code).toBe(1);
    expect(huge.stdout).toContain("support: token 9223372036854775808 at [1] is out-of-range: V = 60\n");
  });
});

describe("--json", () => {
  test("is the library's document, and what it takes to come to it again", async () => {
    const expected = goodnessOfFit({ tokens: right, shape: [2, 3000], logits, vocabSize: V });
    const inputs = { tokens: ["right.npy"], logits: "logits.npy", axes: null, shards: 1, sequential: false };
    expect(await json("--tokens", "right.npy", "--logits", "logits.npy")).toEqual({ ...expected, inputs });
    expect(await json("--tokens", "int16.npy", "--logits", "logits64.npy")).toEqual({ ...expected, inputs: { ...inputs, tokens: ["int16.npy"], logits: "logits64.npy" } });
  });

  test("every option reaches it", async () => {
    const args = ["--tokens", "steps.npy", "--logits", "logits.npy", "--temperature", "1.25", "--alpha", "1e-3", "--axes", "request,step,draw", "--shards", "3"];
    const expected = goodnessOfFit({ tokens: right, shape: [2, 100, 30], logits, vocabSize: V, temperature: 1.25, alpha: 1e-3, axes: ["request", "step", "draw"], shards: 3 });
    const document = await json(...args);
    expect(document).toEqual({ ...expected, inputs: { tokens: ["steps.npy"], logits: "logits.npy", axes: ["request", "step", "draw"], shards: 3, sequential: false } });
    expect(document).toMatchObject({ passed: false, temperature: 1.25, alpha: 1e-3 });
    expect(document.tests.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(["correlation along step", "shards"]));
  });

  test("from stdin", async () => {
    const piped = await run(["gof", "--tokens", "-", "--logits", "logits.npy", "--json"], { stdin: readFileSync(join(folder, "right.npy")) });
    expect(piped.code).toBe(0);
    const whole = await json("--tokens", "right.npy", "--logits", "logits.npy");
    expect(JSON.parse(piped.stdout)).toEqual({ ...whole, inputs: { ...whole.inputs, tokens: ["-"] } });
  });
});

describe("--document and --junit", () => {
  test("are written beside what is printed, for a verdict of either kind", async () => {
    for (const name of ["right", "wrong"]) {
      const { code, stdout, stderr } = await gof("--tokens", `${name}.npy`, "--logits", "logits.npy", "--json", "--document", `${name}.json`, "--junit", `${name}.xml`);
      expect({ code, stderr }).toEqual({ code: name === "right" ? 0 : 1, stderr: "" });
      expect(readFileSync(join(folder, `${name}.json`), "utf8")).toBe(stdout);
      const { tests } = JSON.parse(stdout) as GofDocument;
      const xml = readFileSync(join(folder, `${name}.xml`), "utf8");
      const failures = tests.filter(({ passed }) => !passed);
      expect(xml).toMatch(new RegExp(`^<\\?xml version="1\\.0" encoding="UTF-8"\\?>\n<testsuites tests="${tests.length}" failures="${failures.length}" errors="0" skipped="0">\n<testsuite name="flash-sampling gof" `));
      expect(xml.match(/<failure type="failed" message="[^"]+">/g) ?? []).toHaveLength(failures.length);
      expect(failures.length > 0).toBe(name === "wrong");
      expect(xml).toContain('<property name="draws" value="6000"/>');
    }
  });

  test.each([
    [["--document", "right.npy"], '"--document" expected another file than --tokens reads, got right.npy'],
    [["--junit", "./logits.npy"], '"--junit" expected another file than --logits reads, got ./logits.npy'],
    [["--sequential", "--junit", "right-1.npy", "--tokens", "right-1.npy"], '"--junit" expected another file than --tokens 2 reads, got right-1.npy'],
    [["--document", "x.out", "--junit", "./x.out"], '"--junit" expected another file than --document writes, got ./x.out'],
    [["--document", "nowhere/x.json"], '"--document" expected an existing folder, got nowhere'],
  ])("%j: refused before any work", async (args, message) => {
    const before = readdirSync(folder);
    const { code, stdout, stderr } = await gof("--tokens", "right.npy", "--logits", "logits.npy", ...args);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: `flash-sampling: ${message}\n` });
    expect(readdirSync(folder)).toEqual(before);
  });
});

describe("--sequential", () => {
  const files = (name: string) => ["--tokens", ...Array.from({ length: 6 }, (_, part) => `${name}-${part}.npy`), "--logits", "logits.npy", "--sequential"];

  test("takes the batches of one stream", async () => {
    const document = await json(...files("right"));
    expect(document).toMatchObject({ passed: true, draws: 6000, looks: 4 });
    const whole = await json("--tokens", "right.npy", "--logits", "logits.npy");
    expect(document.bins).toEqual(whole.bins);
  });

  test("stops where it is sure, exit 1", async () => {
    const { code, stdout } = await gof(...files("wrong"));
    expect(code).toBe(1);
    expect(stdout).toMatch(/^failed: .*\n[1-6]000 draws from 2 distributions/);
  });
});

describe("misuse: exit 2, one line", () => {
  test.each([
    [["--tokens", "right.npy"], /--logits/],
    [["--logits", "logits.npy"], /--tokens/],
    [["--tokens", "right.npy", "wrong.npy", "--logits", "logits.npy"], /"--tokens" expected one file without --sequential, got 2/],
    [["--tokens", "-", "--logits", "-"], /"--tokens" expected one array from stdin, got more/],
    [["--tokens", "right.npy", "--logits", "cube.npy"], /"--logits" expected shape \[V\] or \[B, V\]/],
    [["--tokens", "right.npy", "--logits", "nan.npy"], /"--logits" expected finite numbers or -Infinity, got NaN in row 0, token 0/],
    [["--tokens", "floats.npy", "--logits", "row.npy"], /expected integers/],
    [["--tokens", "huge.npy", "--logits", "logits.npy", "--axes", "a,b"], /"--axes" expected 1 names/],
    [["--tokens", "right.npy", "--logits", "logits.npy", "--axes", "a,,b"], /"--axes" expected names of letters and digits, got ""/],
    [["--tokens", "steps.npy", "--logits", "row.npy", "--temperature", "0"], /"--temperature" expected a number in \(0, 256\)/],
    [["--tokens", "steps.npy", "--logits", "row.npy", "--temperature", "warm"], /"--temperature" expected a number, got "warm"/],
    [["--tokens", "steps.npy", "--logits", "row.npy", "--alpha", "1"], /"--alpha" expected a number from 1e-12 to 0.1/],
    [["--tokens", "steps.npy", "--logits", "row.npy", "--shards", "0"], /"--shards" expected a whole number/],
    [["--tokens", "nowhere.npy", "--logits", "row.npy"], /nowhere.npy/],
  ])("%j", async (args, message) => {
    const { code, stdout, stderr } = await gof(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd()).not.toContain("\n");
  });
});
