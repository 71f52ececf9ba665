/** flash-sampling/verify refuses bad arguments by name: each argument and option of each public function, with values that make programs trip. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSampler, sampleLogits } from "../src/index.js";
import * as verify from "../src/verify/index.js";
import { messageOf } from "./head-fixtures.js";

interface Target {
  readonly name: string;
  /** arguments that it takes */
  readonly args: () => unknown[];
  readonly call: (...args: any[]) => unknown;
  /** what else than TypeError and RangeError may come of an argument: a file that is not there */
  readonly mayFail?: RegExp;
}

const detached = <Kind extends ArrayBufferView>(array: Kind): Kind => {
  structuredClone(array.buffer, { transfer: [array.buffer as ArrayBuffer] });
  return array;
};
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
};
const endless: object = new Proxy({}, { get: (_, name) => (typeof name === "symbol" ? undefined : endless) });

/** Made anew for each call: some are used up. */
const NASTY: Readonly<Record<string, () => unknown>> = {
  null: () => null,
  undefined: () => undefined,
  true: () => true,
  NaN: () => NaN,
  Infinity: () => Infinity,
  "-1": () => -1,
  "-0": () => -0,
  "1.5": () => 1.5,
  "2^53": () => 2 ** 53,
  "no text": () => "",
  text: () => "x",
  "text that a terminal obeys": () => '\x1b[2J\x9b"\r\n\u202e',
  symbol: () => Symbol("odd"),
  object: () => ({}),
  "an object without a prototype": () => Object.create(null),
  "no elements": () => [],
  "a hole": () => [, 1],
  "only holes": () => new Array(2 ** 32 - 1),
  "a symbol in a list": () => [Symbol("odd")],
  bigint: () => 10n,
  "a bigint of many digits": () => 1n << 100_000n,
  function: () => () => {},
  "floats of a detached buffer": () => detached(new Float32Array(8)),
  "integers of a detached buffer": () => detached(new Int32Array(8)),
  "doubles of a detached buffer": () => detached(new Float64Array(4)),
  "shared floats": () => new Float32Array(new SharedArrayBuffer(32)),
  "shared integers": () => new Int32Array(new SharedArrayBuffer(8)),
  "64-bit integers": () => BigInt64Array.of(1n, -(2n ** 63n)),
  "a proxy of an object": () => new Proxy({}, {}),
  "a proxy of a list": () => new Proxy([], {}),
  "a proxy of a typed array": () => new Proxy(new Float32Array(8), {}),
  "a proxy that has everything": () => endless,
  "a proxy that was revoked": revoked,
  "a getter that throws": () => ({ get name(): never { throw new Error("trap\x1b"); } }),
};

const V = 4;
const LOGITS = () => Float32Array.of(0, 1, 2, 3, 3, 2, 1, 0);
const DRAWN = () => ({ seed: 1n, temperature: [1, 0.5], sequence: [0, 1], position: [3, 4], numSamples: 1 });
const HEAD = () => ({ data: new Uint16Array(8).fill(0x3f80), dtype: "bf16", shape: [V, 2], scales: undefined });
const signal = new AbortController().signal;
const onProgress = () => {};
let receipt: verify.Receipt;
let headReceipt: verify.Receipt;
let result: Awaited<ReturnType<typeof sampleLogits>>;

beforeAll(async () => {
  result = await sampleLogits({ logits: LOGITS(), vocabSize: V, backend: "reference", details: true, ...DRAWN() } as never);
  receipt = await verify.receiptOf({ backend: "reference", from: { vocabSize: V, logits: LOGITS() }, options: DRAWN(), result });
  const [head, hiddenStates] = [await createSampler({ weights: HEAD() as never, backend: "reference" }), new Float32Array(4)];
  const drawn = await head.sample({ hiddenStates, details: true, ...DRAWN() });
  headReceipt = await verify.receiptOf({ backend: "reference", from: { head, hiddenStates }, options: DRAWN(), result: drawn });
});

const CHECK = { tokens: [3, 0], unpaddedSize: V, logitError: { absolute: 0.1, relative: 0 }, engine: "ours", engineOptions: [], ranks: 2, backend: "reference", signal, onProgress };
const CORPUS_CASE = verify.CORPUS.cases.find(({ name }) => name === "equal-1000") as verify.DrawCase;
const NOISE_CASE = verify.CORPUS.cases.find(({ kind }) => kind === "noise") as verify.NoiseCase;
const DRAW = { seed: 1n, position: 0n, row: 0, rows: 1, sample: 0, numSamples: 1, vocabSize: 2, temperature: 1 };
const GOF = () => ({ logits: LOGITS(), vocabSize: V, temperature: 1, alpha: 1e-6, axes: ["row", "sample"], shards: 2 });
const greedy = ({ logits, rows, vocabSize, numSamples }: verify.SamplerCall) =>
  Int32Array.from({ length: rows * numSamples }, (_, draw) => {
    const row = logits.subarray(Math.floor(draw / numSamples) * vocabSize, (Math.floor(draw / numSamples) + 1) * vocabSize);
    return row.reduce((best, logit, token) => (logit > row[best]! ? token : best), 0);
  });
const NO_FILE = /^".+" expected a readable file, got ENOENT$/;
const document = () => ({ ...JSON.parse(JSON.stringify({ kind: "invariance", specVersion: "1.0", version: "1.0.0", passed: true, sampler: "s", calls: 1, findings: [] })) });

const TARGETS: readonly Target[] = [
  { name: "check, logits", args: () => [{ ...CHECK, ...DRAWN(), logits: LOGITS(), vocabSize: V, mask: { data: new Uint8Array(2 * V).fill(1), rowCount: 2 } }], call: verify.check },
  { name: "check, logits and no columns", args: () => [{ ...CHECK, seed: 1n, logits: { data: Uint16Array.from({ length: 8 }, () => 0), dtype: "f16" } }], call: verify.check },
  { name: "check, another engine", args: () => [{ tokens: [0], seed: 1n, logits: LOGITS(), engine: "torch", engineOptions: ["offset=4"] }], call: verify.check },
  { name: "check, a head", args: () => [{ ...CHECK, ...DRAWN(), weights: HEAD(), hiddenStates: new Float32Array(4), tensor: undefined, scales: undefined }], call: verify.check, mayFail: NO_FILE },
  { name: "check, files", args: () => [{ ...CHECK, ...DRAWN(), weights: [new File([new Uint8Array(9)], "a.safetensors")], hiddenStates: new Float32Array(4), tensor: "w", scales: { source: new Uint8Array(3), tensor: "s" } }], call: verify.check, mayFail: NO_FILE },
  { name: "engineOf", args: () => ["jax"], call: verify.engineOf },
  // Not a plain object: most fields of an engine are for people.
  { name: "readEngineOptions", args: () => [Object.create(verify.engineOf("jax")), ["mode=low"]], call: verify.readEngineOptions },
  ...verify.engines.flatMap((engine): Target[] => [
    { name: `scores of ${engine.name}`, args: () => [verify.exactly([0, 1]), { ...DRAW }, verify.readEngineOptions(engine, []).values], call: engine.scores },
    ...Object.entries(engine.options).map(([name, option]): Target => ({ name: `${name} of ${engine.name}`, args: () => [option.default], call: option.parse })),
  ]),
  { name: "exactly", args: () => [[0, 1]], call: verify.exactly },
  { name: "around", args: () => [[0, 1], [1, 0]], call: verify.around },
  { name: "decide", args: () => [{ ...verify.around([0, 1], [1, 0]) }], call: verify.decide },
  { name: "isProven", args: () => [{ gap: 1, error: 0 }], call: verify.isProven },
  { name: "goodnessOfFit", args: () => [{ ...GOF(), tokens: [3, 2, 0, 1], shape: [2, 2] }], call: verify.goodnessOfFit },
  { name: "SequentialGoodnessOfFit", args: () => [GOF(), { tokens: Int32Array.of(3, 2, 0, 1), shape: [2, 2] }], call: sequential },
  { name: "findInvariances", args: () => [greedy, { name: "s", only: ["greedy"], skip: [], also: [], reads: ["samples"], seed: 1, maxCalls: 60, signal, onProgress }], call: verify.findInvariances, mayFail: /^"sampler" expected tokens from its first calls/ },
  { name: "ownSampler", args: () => ["reference"], call: (backend) => verify.ownSampler(backend)({ ...callOf(), shards: 1 }) },
  { name: "a call of ownSampler", args: () => [callOf()], call: verify.ownSampler("reference") },
  { name: "receiptOf, logits", args: () => [{ backend: "reference", from: { vocabSize: V, logits: LOGITS() }, options: DRAWN(), result: { tokens: result.tokens, seed: result.seed, details: result.details }, places: { logits: "l.npy" } }], call: madeReceipt },
  { name: "receiptOf, a head", args: () => [{ backend: "reference", from: { head: { dtype: "bf16", vocabSize: V, hiddenSize: 4, headDigest: "0".repeat(64) }, hiddenStates: LOGITS() }, options: DRAWN(), result }], call: madeReceipt },
  { name: "formatReceipt", args: () => [JSON.parse(JSON.stringify(receipt))], call: verify.formatReceipt },
  { name: "checkReceipt", args: () => [JSON.parse(JSON.stringify(receipt))], call: verify.checkReceipt },
  { name: "readReceipt", args: () => [verify.formatReceipt(receipt), "r.json"], call: verify.readReceipt },
  { name: "replay", args: () => [JSON.parse(JSON.stringify(receipt)), { logits: LOGITS() }, "reference"], call: verify.replay },
  { name: "replay of a head", args: () => [JSON.parse(JSON.stringify(headReceipt)), { weights: HEAD(), hiddenStates: new Float32Array(4), tensor: undefined, scales: undefined, signal, onProgress }, "reference"], call: verify.replay, mayFail: NO_FILE },
  { name: "judgeCorpus", args: () => [CORPUS_CASE, [0, 0, 0], { answerTo: () => undefined, exact: true }], call: verify.judgeCorpus },
  { name: "judgeCorpus, noise", args: () => [NOISE_CASE, new Array(NOISE_CASE.rows).fill(1), { answerTo: () => undefined, exact: false }], call: verify.judgeCorpus },
  { name: "report", args: () => [[document()], ["a.json"]], call: verify.report },
];

function sequential(options: verify.JudgedBy, batch: verify.TokenBatch) {
  const stream = new verify.SequentialGoodnessOfFit(options);
  stream.add(batch);
  return stream.finish();
}

function callOf() {
  return { logits: LOGITS(), rows: 2, vocabSize: V, numSamples: 1, temperature: [1, 1], seed: [1n, 2n], sequence: [0, 1], position: [0, 0], mask: Uint32Array.of(15, 15), topK: [2, 2], topP: [1, 0.5], shards: 2 };
}

/** Whatever comes of it must be one that can be read. */
async function madeReceipt(options: verify.ReceiptOptions) {
  const made = await verify.receiptOf(options);
  verify.readReceipt(verify.formatReceipt(made));
  return made;
}

type Path = readonly (string | number)[];

/** Each argument, and what is in those that are plain objects and lists. */
function pathsOf(value: unknown): Path[] {
  const isList = Array.isArray(value);
  const isPlain = isList || (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype);
  if (!isPlain) return [];
  return (isList ? [...value.keys()].slice(0, 3) : Object.keys(value)).flatMap((key): Path[] => [[key], ...pathsOf((value as any)[key]).map((path) => [key, ...path])]);
}

function replaced(value: any, [key, ...rest]: Path, spoilt: unknown): any {
  // A value before it in the list may have taken its place.
  if (typeof value !== "object" || value === null) return value;
  const copy = Array.isArray(value) ? value.slice(0, 10) : { ...value };
  copy[key!] = rest.length === 0 ? spoilt : replaced(copy[key!], rest, spoilt);
  return copy;
}

/** Of the processor, which others may share. A default may mean much work. */
const [REFUSAL_SECONDS, RESULT_SECONDS] = [1, 10];

/** The library's word for it, before long: a result without NaN, or an error that names what it is about. */
async function answer(target: Target, args: readonly unknown[]): Promise<string> {
  const start = process.cpuUsage();
  let said: string;
  let limit = REFUSAL_SECONDS;
  try {
    const made: unknown = await target.call(...args);
    said = holdsNaN(made) ? "a result with NaN" : "fine";
    limit = RESULT_SECONDS;
  } catch (error) {
    said = isWorded(error, target) ? "fine" : `${(error as Error)?.name}: ${(error as Error)?.message}`;
  }
  const { user, system } = process.cpuUsage(start);
  const seconds = (user + system) / 1e6;
  return seconds < limit ? said : `${said} after ${seconds} s`;
}

function isWorded(error: unknown, { mayFail }: Target): boolean {
  if (!(error instanceof Error) || /[\p{Cc}\p{Cf}]/u.test(error.message)) return false;
  return (error instanceof TypeError || error instanceof RangeError ? /^"[^"]+" expected .*, got:? /s : (mayFail ?? /^$/)).test(error.message);
}

function holdsNaN(value: unknown): boolean {
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array).some(Number.isNaN);
  return typeof value === "object" && value !== null ? Object.values(value).some(holdsNaN) : Number.isNaN(value);
}

const rejections: unknown[] = [];
const note = (reason: unknown) => rejections.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));

describe("good arguments are taken", () => {
  test.each(TARGETS.filter(({ name }) => name !== "check, files"))("$name", async ({ args, call }) => {
    expect(holdsNaN(await call(...args()))).toBe(false);
  });
});

describe("one bad value anywhere", () => {
  test.each(TARGETS)("$name", async (target) => {
    const wrong: string[] = [];
    for (const path of pathsOf(target.args())) {
      for (const [name, make] of Object.entries(NASTY)) {
        const said = await answer(target, replaced(target.args(), path, make()));
        if (said !== "fine") wrong.push(`${path.join(".")} = ${name}: ${said}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(rejections).toEqual([]);
  });
});

test("two bad values at once", async () => {
  const places = TARGETS.flatMap((target) => pathsOf(target.args()).length < 2 ? [] : [fc.tuple(fc.constant(target), fc.subarray(pathsOf(target.args()), { minLength: 2, maxLength: 2 }))]);
  const nasty = fc.constantFrom(...Object.keys(NASTY));
  const property = fc.asyncProperty(fc.oneof(...places), nasty, nasty, async ([target, [first, second]], one, other) => {
    const args = replaced(replaced(target.args(), second!, NASTY[other]!()), first!, NASTY[one]!());
    expect(await answer(target, args), `${target.name}: ${first!.join(".")} = ${one}, ${second!.join(".")} = ${other}`).toBe("fine");
  });
  await fc.assert(property, { numRuns: 3000, seed: 20 });
  expect(rejections).toEqual([]);
});

describe("what is refused, in words", () => {
  const odd = (values: object) => values as never;

  test.each<[string, () => unknown, string]>([
    ["a sampler's fraction", () => verify.judgeCorpus(CORPUS_CASE, [0, 0.5, 1], { answerTo: () => undefined, exact: false }), 'TypeError: "equal-1000[1]" expected an integer, got 0.5'],
    ["a case of somebody else", () => verify.judgeCorpus({ ...CORPUS_CASE }, [0, 0, 0], { answerTo: () => undefined, exact: false }), 'RangeError: "item" expected one of CORPUS.cases, got Object'],
    ["noise of text", () => verify.judgeCorpus(NOISE_CASE, odd(new Array(NOISE_CASE.rows).fill("1")), { answerTo: () => undefined, exact: false }), 'TypeError: "noise-words[0]" expected a number, got "1"'],
    ["an engine's option that is not known", () => verify.engineOf("torch").scores(verify.exactly([0, 1]), DRAW, { ...verify.readEngineOptions(verify.engineOf("torch"), []).values, x: 1 }), 'TypeError: "options" expected only offset, generator, multiprocessors, threads-per-multiprocessor, got x'],
    ["an engine's option that is missing", () => verify.engineOf("jax").scores(verify.exactly([0, 1]), DRAW, { key: "seed", mode: "low", partitionable: "yes" }), 'TypeError: "options.seed-bits" expected 32 or 64, got undefined'],
    ["logits of another vocabulary", () => verify.engineOf("jax").scores(verify.exactly([0, 1, 2]), DRAW, {}), 'RangeError: "logits" expected 2, as vocabSize says, got 3'],
    ["a call whose mask is too short", () => verify.ownSampler("reference")({ ...callOf(), mask: Uint32Array.of(15) }), 'RangeError: "mask" expected 2 rows * 1 words, got 1'],
    ["a call with a top-p of 2", () => verify.ownSampler("reference")({ ...callOf(), topP: [1, 2] }), 'RangeError: "topP[1]" expected a number from 0 to 1, got 2'],
    ["a call with more shards than tokens", () => verify.ownSampler("reference")({ ...callOf(), shards: 5 }), 'RangeError: "shards" expected an integer in [1, 5), got 5'],
    ["a call whose seed would wrap", () => verify.ownSampler("reference")({ ...callOf(), seed: [1n, 1n << 64n] }), 'RangeError: "seed[1]" expected a bigint in [0, 2^64), got 18446744073709551616n'],
    ["no list of invariances", () => verify.findInvariances(greedy, odd({ only: null })), 'TypeError: "only" expected a list of names, got null'],
    ["a hole among invariances", () => verify.findInvariances(greedy, odd({ skip: [, "greedy"] })), 'RangeError: "skip" expected names from repeated-call,'],
    ["a shape without end", () => verify.goodnessOfFit({ ...GOF(), tokens: [0, 1], shape: new Array(2 ** 32 - 1) }), 'RangeError: "shape" expected 1 to 4 sizes, got 4294967295'],
    ["names that are null", () => verify.report([document()], odd(null as never)), 'TypeError: "names" expected a list of texts, got null'],
    ["a name too few", () => verify.report([document(), document()], ["a.json"]), 'RangeError: "names" expected 2, one of each document, got 1'],
    ["a backend that is null", () => verify.check(odd({ tokens: [0], seed: 1n, logits: LOGITS(), backend: null })), 'TypeError: "backend" expected text, got null'],
    ["a vocabulary of a head", () => verify.check(odd({ tokens: [0, 0], seed: 1n, weights: HEAD(), hiddenStates: new Float32Array(4), vocabSize: V })), 'TypeError: "vocabSize" expected logits, got weights'],
    ["a receipt of no backend", () => verify.receiptOf(odd({ backend: {}, from: { vocabSize: V, logits: LOGITS() }, options: {}, result })), 'TypeError: "backend" expected the name of a backend, got Object'],
    ["a receipt of another seed", () => verify.receiptOf({ backend: "wasm", from: { vocabSize: V, logits: LOGITS() }, options: { ...DRAWN(), seed: 2n }, result }), 'RangeError: "options.seed" expected 1 for row 0, as the result says, got 2'],
    ["a receipt of a misspelt option", () => verify.receiptOf({ backend: "wasm", from: { vocabSize: V, logits: LOGITS() }, options: odd({ temprature: 1 }), result }), 'TypeError: "options" expected only temperature, seed,'],
    ["a receipt of a place on two lines", () => verify.receiptOf({ backend: "wasm", from: { vocabSize: V, logits: LOGITS() }, options: DRAWN(), result, places: { logits: "a\nb" } }), 'RangeError: "places.logits" expected a text of 1 to 4096 characters without control characters, got "a\\nb"'],
    ["a receipt of a token past V", () => verify.receiptOf({ backend: "wasm", from: { vocabSize: V, logits: LOGITS() }, options: DRAWN(), result: { ...result, details: result.details!.map((detail) => ({ ...detail, token: V })) } }), 'RangeError: "result.details[0].token" expected an integer in [0, 4), got 4'],
    ["a receipt of other tokens than its details'", () => verify.receiptOf({ backend: "wasm", from: { vocabSize: V, logits: LOGITS() }, options: DRAWN(), result: { ...result, tokens: result.tokens.map((token) => token ^ 1) } }), 'RangeError: "result.tokens[0]" expected'],
  ])("%s", async (_, action, message) => {
    expect(await messageOf(action)).toContain(message);
  });

  test("text that a terminal obeys is shown, wherever it comes from", async () => {
    const hostile = "a\x1b[2J\x9b\u202e\"";
    const shown = String.raw`a\x1b[2J\x9b\u{202e}\x22`;
    expect(await messageOf(() => verify.report([{} as never], [hostile]))).toContain(`"${shown}: kind" expected`);
    expect(await messageOf(() => verify.readReceipt("[]", hostile))).toBe(`RangeError: "${shown}" expected a JSON object, got array`);
    expect(await messageOf(() => verify.engineOf(hostile))).toContain(String.raw`got "a\u001b[2J\u009b\u202e\""`);
    expect(await messageOf(() => verify.readReceipt("\x1b[2J"))).not.toMatch(/\p{Cc}/u);
    expect(await messageOf(() => verify.findInvariances(() => { throw new Error(hostile); }))).not.toMatch(/\p{Cc}/u);
  });
});

test("answers of 64-bit integers are judged as they are", () => {
  const judged = (answer: verify.Answer) => verify.judgeCorpus(CORPUS_CASE, answer, { answerTo: () => undefined, exact: true });
  const right = CORPUS_CASE.expected!.tokens;
  expect(judged(BigInt64Array.from(right, BigInt))).toEqual([]);
  expect(judged(BigInt64Array.from(right, (token, index) => (index === 0 ? 2n ** 53n + 1n : BigInt(token))))[0]).toMatchObject({ row: 0, why: "token 9007199254740993 is past the vocabulary of 5" });
});
