/** Receipts: the same from every backend, confirmed by every backend, and no bit of them can change without being found. */
import { describe, expect, it } from "vitest";
import { createSampler, sampleLogits, SPEC_VERSION, type FloatData } from "../src/index.js";
import { valuesDigest } from "../src/verify/receipt-digest.js";
import { checkReceipt, readReceipt } from "../src/verify/receipt-read.js";
import { replay, type Replay } from "../src/verify/receipt-replay.js";
import { formatReceipt, RECEIPT_LIMIT, receiptOf, type Receipt } from "../src/verify/receipt.js";
import { VERSION } from "../src/version.js";
import { describeBackends } from "./each-backend.js";
import { messageOf } from "./head-fixtures.js";
import { makeReceipt, RECEIPT_CASES, type ReceiptCase } from "./receipts.js";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (receipt: unknown): Receipt => readReceipt(bytesOf(JSON.stringify(receipt)), "r.json");
const caseNamed = (name: string): ReceiptCase => RECEIPT_CASES.find((candidate) => candidate.name === name)!;

describe("the digest of values", () => {
  // hashlib.sha256 of numpy's bytes: np.array([1, -0.0, nan, -inf, 0.1], "<f4"), and the same of 16-bit patterns widened.
  it("is SHA-256 of little-endian f32", async () => {
    expect(await valuesDigest({ data: Float32Array.of(1, -0, NaN, -Infinity, 0.1), dtype: "f32" })).toBe("0683d4fae4de7bdce6003e0ca34fa2a13fe6e6188537097489f7f8ae5b38278b");
    expect(await valuesDigest({ data: Uint16Array.of(0x0001, 0x8000, 0x7e01, 0x3c00), dtype: "f16" })).toBe("e1f6ade1842ed8c7fca7b97f6f0e16dac492c20c65a5e410d279de523003a418");
    expect(await valuesDigest({ data: Uint16Array.of(0x3f80, 0x8000, 0xffc1, 0x0001), dtype: "bf16" })).toBe("8e135829cd0955b1561f9795e61666660b39ef85cf6520b8bf5f2c23f3838146");
  });

  it("knows one NaN, and leaves the values alone", async () => {
    const bits = Uint32Array.of(0x7f800001, 0xffffffff, 0x3f800000);
    const values = new Float32Array(bits.buffer);
    expect(await valuesDigest({ data: values, dtype: "f32" })).toBe(await valuesDigest({ data: Float32Array.of(NaN, NaN, 1), dtype: "f32" }));
    expect([...bits]).toEqual([0x7f800001, 0xffffffff, 0x3f800000]);
  });

  it("takes shared memory", async () => {
    const shared = new Float32Array(new SharedArrayBuffer(8));
    shared.set([1, 2]);
    expect(await valuesDigest({ data: shared, dtype: "f32" })).toBe(await valuesDigest({ data: Float32Array.of(1, 2), dtype: "f32" }));
  });

  it("is of the elements of a view, not of its buffer", async () => {
    const whole = Float32Array.of(9, 1, 2, 9);
    expect(await valuesDigest({ data: whole.subarray(1, 3), dtype: "f32" })).toBe(await valuesDigest({ data: Float32Array.of(1, 2), dtype: "f32" }));
  });
});

describeBackends("writes receipts that differ from the oracle's in the backend alone", (backend) => {
  it.each(RECEIPT_CASES)("$name", async (drawn) => {
    const [oracle, receipt] = [await makeReceipt(drawn, "reference"), await makeReceipt(drawn, backend)];
    const others = formatReceipt(receipt).split("\n").filter((line, index) => line !== formatReceipt(oracle).split("\n")[index]);
    expect(others).toEqual(backend === "reference" ? [] : [`  "backend": "${backend}",`]);
  });

  it.each(RECEIPT_CASES)("and confirms the oracle's: $name", async (drawn) => {
    const receipt = read(await makeReceipt(drawn, "reference"));
    expect(await replay(receipt, drawn.inputs, backend)).toEqual({ confirmed: true, input: null, draw: null });
  });
});

describe("a receipt", () => {
  it("has one value where rows agree, else one a row", async () => {
    const perRow = await makeReceipt(caseNamed("a seed, temperature, position and sequence a row"), "reference");
    expect(perRow).toMatchObject({ seed: ["1", "9223372036854775808", "3"], temperature: [0, 1, 1e-4], position: [4294967295, 0, 7], sequence: [5, 5, 6] });
    const common = await makeReceipt(caseNamed("bf16"), "reference");
    expect(common).toMatchObject({ kind: "receipt", specVersion: SPEC_VERSION, version: VERSION, seed: "42", temperature: 0.7, position: 3, sequence: [0, 1, 2], B: 3, V: 61, D: 64, dtype: "bf16", logitsDigest: null });
    const equal = await receiptOfLogits({ seed: BigUint64Array.of(4n, 4n), temperature: [-0, 0], sequence: Uint32Array.of(3, 3) });
    expect(formatReceipt(equal)).toContain('"seed": "4",\n  "temperature": 0,\n  "position": 0,\n  "sequence": 3,');
  });

  it("says of a row without a token that it has none", async () => {
    const { draws } = await makeReceipt(caseNamed("logits with a masked and an invalid row"), "reference");
    expect(draws.slice(1)).toEqual([
      { token: -1, scoreBits: null, status: "all-masked" },
      { token: -1, scoreBits: null, status: "invalid" },
    ]);
  });

  it("is what its text says", async () => {
    for (const drawn of RECEIPT_CASES) {
      const receipt = await makeReceipt(drawn, "reference");
      expect(readReceipt(bytesOf(formatReceipt(receipt)), "r.json"), drawn.name).toEqual(receipt);
    }
  });

  it("holds a seed that was left out", async () => {
    const logits = new Float32Array(20);
    const result = await sampleLogits({ logits, vocabSize: 10, backend: "reference", details: true });
    const receipt = await receiptOf({ backend: "reference", from: { vocabSize: 10, logits }, options: {}, result });
    expect(receipt.seed).toBe(String(result.seed));
    expect((await replay(receipt, { logits }, "reference")).confirmed).toBe(true);
  });

  it("needs details, all draws, a digest, and no more draws than it holds", async () => {
    const logits = new Float32Array(20);
    const result = await sampleLogits({ logits, vocabSize: 10, backend: "reference", seed: 1n, details: true });
    const make = (changes: object) => messageOf(() => receiptOf({ backend: "reference", from: { vocabSize: 10, logits }, options: {}, result, ...changes }));
    expect(await make({ result: { tokens: result.tokens, seed: 1n } })).toBe('TypeError: "result" expected details of each draw, got none: draw with details: true');
    expect(await make({ options: { numSamples: 2 } })).toBe('RangeError: "result" expected 2 rows * 2 draws, got 2');
    expect(await make({ from: { vocabSize: 7, logits } })).toMatch(/^RangeError: "logits" expected a positive multiple of V = 7/);
    const head = { dtype: "bf16", vocabSize: 5, hiddenSize: 10, headDigest: null };
    expect(await make({ from: { head, hiddenStates: logits } })).toMatch(/^TypeError: "head" expected a head with a digest, got null/);
  });
});

async function receiptOfLogits(options: Parameters<typeof receiptOf>[0]["options"]): Promise<Receipt> {
  const logits = Float32Array.from({ length: 20 }, (_, index) => index % 7);
  const result = await sampleLogits({ ...options, logits, vocabSize: 10, backend: "reference", details: true });
  return receiptOf({ backend: "reference", from: { vocabSize: 10, logits }, options, result });
}

/** What a replay of the text says; the error's message where it is refused. */
async function replayText(text: Uint8Array, { inputs }: ReceiptCase): Promise<Replay | string> {
  try {
    return await replay(readReceipt(text, "r.json"), inputs, "reference");
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

/** The text with one bit of its last hexadecimal digit flipped: "e" becomes "f", and stays a digit. */
const flipped = (digits: string): string => digits.slice(0, -1) + (parseInt(digits.at(-1)!, 16) ^ 1).toString(16);

describe("one flipped bit", () => {
  const drawn = caseNamed("bf16");
  const changed = async (change: (receipt: Receipt) => object) => {
    const receipt = await makeReceipt(drawn, "reference");
    return replay(read({ ...receipt, ...change(receipt) }), drawn.inputs, "reference");
  };

  it("of any token is found", async () => {
    for (let at = 0; at < 6; at++) {
      const { draw } = await changed(({ draws }) => ({ draws: draws.map((old, index) => (index === at ? { ...old, token: old.token ^ 1 } : old)) }));
      expect(draw).toMatchObject({ row: at >> 1, sample: at & 1, count: 1 });
      expect(draw!.expected.token).toBe(draw!.got.token ^ 1);
    }
  });

  it("of any score is found, whichever bit", async () => {
    for (let bit = 0; bit < 64; bit++) {
      const at = bit % 6;
      const flip = (bits: string) => (BigInt(`0x${bits}`) ^ (1n << BigInt(bit))).toString(16).padStart(16, "0");
      const { draw } = await changed(({ draws }) => ({ draws: draws.map((old, index) => (index === at ? { ...old, scoreBits: flip(old.scoreBits!) } : old)) }));
      expect(draw, `bit ${bit}`).toMatchObject({ row: at >> 1, sample: at & 1, count: 1 });
    }
  });

  it("of a status is found", async () => {
    const { draw } = await changed(({ draws }) => ({ draws: [...draws.slice(0, 5), { token: -1, scoreBits: null, status: "invalid" }] }));
    expect(draw).toMatchObject({ row: 2, sample: 1, count: 1, got: { status: "ok" } });
  });

  it.each([
    ["headDigest", "head"],
    ["hiddenDigest", "hidden states"],
  ] as const)("of %s is found", async (field, input) => {
    expect(await changed((receipt) => ({ [field]: flipped(receipt[field]!) }))).toMatchObject({ confirmed: false, input: { input, property: "digest" }, draw: null });
  });

  it("of the logits' digest is found", async () => {
    const given = caseNamed("logits");
    const receipt = await makeReceipt(given, "reference");
    const replayed = await replay({ ...receipt, logitsDigest: flipped(receipt.logitsDigest!) }, given.inputs, "reference");
    expect(replayed.input).toMatchObject({ input: "logits", property: "digest" });
  });

  it("of any seed is found", async () => {
    for (let bit = 0n; bit < 64n; bit++) {
      const { draw } = await changed(({ seed }) => ({ seed: String(BigInt(seed as string) ^ (1n << bit)) }));
      expect(draw, `bit ${bit}`).not.toBeNull();
    }
    const perRow = caseNamed("a seed, temperature, position and sequence a row");
    const receipt = await makeReceipt(perRow, "reference");
    const replayed = await replay({ ...receipt, seed: ["1", "9223372036854775809", "3"] }, perRow.inputs, "reference");
    expect(replayed.draw).toMatchObject({ row: 1, sample: 0, count: 1 });
  });

  it.each([
    ["dtype", { dtype: "f16" }],
    ["dtype", { dtype: "f32" }],
    ["V", { V: 60 }],
  ])("of %s is found: %j", async (property, change) => {
    const { input } = await changed(() => change);
    expect(input).toMatchObject({ input: "head", property });
  });

  it.each([{ temperature: 0.700001 }, { position: 2 }, { sequence: [0, 1, 3] }, { sequence: 0 }, { seed: "43" }])("of what the rows were given is found: %j", async (change) => {
    expect((await changed(() => change)).draw).not.toBeNull();
  });

  it("of the text is found, or refused by name, wherever it is not about who drew and where", async () => {
    const given = caseNamed("logits");
    const receipt = await makeReceipt(given, "reference");
    const bytes = bytesOf(formatReceipt(receipt));
    let confirmed = 0;
    for (let at = 0; at < bytes.length; at++) {
      const other = bytes.map((byte, index) => (index === at ? byte ^ (1 << ((5 * at) % 7)) : byte));
      const outcome = await replayText(other, given);
      if (typeof outcome === "string") {
        expect(outcome, `byte ${at}`).toMatch(/^(Type|Range)Error: "(r\.json|receipt|logits)[\w.[\]]*" expected /);
        continue;
      }
      if (!outcome.confirmed) continue;
      confirmed++;
      const about = (changed: Receipt) => ({ ...changed, specVersion: "", version: "", backend: "", places: {} });
      expect(about(readReceipt(other, "r.json")), `byte ${at}`).toEqual(about(receipt));
    }
    expect(confirmed).toBeGreaterThan(10);
  });

  it("of the inputs is found", async () => {
    const receipt = await makeReceipt(drawn, "reference");
    const { weights, hiddenStates } = drawn.inputs as { weights: { data: Uint16Array }; hiddenStates: Float32Array };
    const otherWeights = { ...weights, data: weights.data.map((bits, index) => (index === 100 ? bits ^ 1 : bits)) };
    const otherHidden: FloatData = hiddenStates.map((value, index) => (index === 100 ? value + 1e-6 : value));
    expect((await replay(receipt, { ...drawn.inputs, weights: otherWeights } as typeof drawn.inputs, "reference")).input).toMatchObject({ input: "head", property: "digest" });
    expect((await replay(receipt, { ...drawn.inputs, hiddenStates: otherHidden } as typeof drawn.inputs, "reference")).input).toMatchObject({ input: "hidden states", property: "digest" });
    expect((await replay(receipt, { ...drawn.inputs, hiddenStates: hiddenStates.subarray(0, 64) } as typeof drawn.inputs, "reference")).input).toMatchObject({ property: "B", expected: 3, got: 1 });
  });
});

describe("a receipt from anywhere", () => {
  const good = async (): Promise<Record<string, unknown>> => ({ ...(await makeReceipt(caseNamed("logits"), "reference")) });
  const change = async (changes: object) => messageOf(async () => read({ ...(await good()), ...changes }));
  const draw = { token: 1, scoreBits: "0".repeat(16), status: "ok" };
  const draws = (first: unknown) => ({ draws: [first, ...Array(8).fill(draw)] });

  it.each([
    [{ kind: "check" }, 'RangeError: "receipt.kind" expected receipt, got "check"'],
    [{ specVersion: "2.0" }, 'RangeError: "receipt.specVersion" expected 1.x, the rule that this package draws by, got 2.0'],
    [{ specVersion: "2.0", aField: "of the future" }, /specVersion" expected 1\.x/],
    [{ specVersion: 1 }, 'RangeError: "receipt.specVersion" expected a version of the rule, got 1'],
    [{ version: "1.0.0\n" }, /"receipt\.version" expected a version/],
    [{ backend: "../../x" }, /"receipt\.backend" expected the name of a backend/],
    [{ headDigest: "0".repeat(64) }, /"receipt\.headDigest" expected null/],
    [{ logitsDigest: "A".repeat(64) }, /"receipt\.logitsDigest" expected 64 hexadecimal digits, lower case, got "AAA/],
    [{ logitsDigest: null }, 'TypeError: "receipt.logitsDigest" expected 64 hexadecimal digits, lower case, got null'],
    [{ dtype: "bf16" }, /"receipt\.headDigest" expected 64/],
    [{ dtype: "__proto__" }, /"receipt\.headDigest" expected 64/],
    [{ V: 0 }, 'RangeError: "receipt.V" expected an integer in [1, 2147483648), got 0'],
    [{ V: 1.5 }, /"receipt\.V" expected an integer/],
    [{ V: "61" }, 'TypeError: "receipt.V" expected an integer in [1, 2147483648), got "61"'],
    [{ D: 40 }, 'RangeError: "receipt.D" expected null, got 40'],
    [{ B: 4 }, 'RangeError: "receipt.sequence" expected a list of 4, got 3'],
    [{ numSamples: 4 }, 'RangeError: "receipt.draws" expected a list of 12, got 9'],
    [{ B: 2 ** 20, numSamples: 2 }, `RangeError: "receipt" expected at most ${RECEIPT_LIMIT} draws, got 1048576 rows * 2`],
    [{ B: 1e300 }, /"receipt\.B" expected an integer/],
    [{ numSamples: 2 ** 24 + 1 }, /"receipt\.numSamples" expected an integer in \[1, 16777217\)/],
    [{ seed: 6 }, 'RangeError: "receipt.seed" expected a whole number from 0 to 2^64-1 as decimal text, got 6'],
    [{ seed: "18446744073709551616" }, /"receipt\.seed" expected a whole number/],
    [{ seed: "0x6" }, /"receipt\.seed" expected a whole number/],
    [{ seed: "06" }, /"receipt\.seed" expected a whole number/],
    [{ seed: "9".repeat(5000) }, /"receipt\.seed" expected a whole number .* got "9{80}\.\.\."$/],
    [{ seed: ["1", "2"] }, 'RangeError: "receipt.seed" expected a list of 3, got 2'],
    [{ seed: ["1", "2", "-3"] }, /"receipt\.seed\[2\]" expected/],
    [{ temperature: 256 }, 'RangeError: "receipt.temperature" expected a number in [0, 256), got 256'],
    [{ temperature: -1 }, /"receipt\.temperature" expected/],
    [{ temperature: null }, 'TypeError: "receipt.temperature" expected a number in [0, 256), got null'],
    [{ temperature: [1, 1, [1]] }, 'TypeError: "receipt.temperature[2]" expected a number in [0, 256), got Array'],
    [{ position: 2 ** 32 }, 'RangeError: "receipt.position" expected an integer in [0, 4294967296), got 4294967296'],
    [{ sequence: -1 }, /"receipt\.sequence" expected/],
    [{ sequence: {} }, /"receipt\.sequence" expected an integer/],
    [{ places: [] }, 'TypeError: "receipt.places" expected an object, got Array'],
    [{ places: { home: "x" } }, /"receipt\.places" expected only .*, got home/],
    [{ places: { logits: "a\0b" } }, /"receipt\.places\.logits" expected a text of 1 to 4096 characters without control characters/],
    [{ places: { logits: "a".repeat(5000) } }, /"receipt\.places\.logits" expected/],
    [{ places: { logits: "" } }, /"receipt\.places\.logits" expected/],
    [{ places: undefined }, 'TypeError: "receipt.places" expected an object, got undefined'],
    [{ draws: {} }, 'TypeError: "receipt.draws" expected a list of 9, got Object'],
    [draws(null), 'TypeError: "receipt.draws[0]" expected an object, got null'],
    [draws({ ...draw, token: 61 }), 'RangeError: "receipt.draws[0].token" expected an integer in [0, 61), got 61'],
    [draws({ ...draw, token: -1 }), /"receipt\.draws\[0\]\.token" expected/],
    [draws({ ...draw, scoreBits: "F".repeat(16) }), /"receipt\.draws\[0\]\.scoreBits" expected 16 hexadecimal digits, lower case/],
    [draws({ ...draw, scoreBits: 0 }), /"receipt\.draws\[0\]\.scoreBits" expected/],
    [draws({ ...draw, status: "fine" }), 'RangeError: "receipt.draws[0].status" expected ok, invalid, all-masked, got "fine"'],
    [draws({ ...draw, status: "invalid" }), 'RangeError: "receipt.draws[0].token" expected an integer in [-1, 0), got 1'],
    [draws({ token: -1, scoreBits: "0".repeat(16), status: "invalid" }), /"receipt\.draws\[0\]\.scoreBits" expected null/],
    [draws({ ...draw, margin: 1 }), 'RangeError: "receipt.draws[0]" expected only status, token, scoreBits, got margin'],
    [{ "\u001b[2J": 1 }, /"receipt" expected only .*, got "\\u001b\[2J"$/],
  ])("is refused by the name of the field: number %#", async (changes, message) => {
    const said = await change(changes);
    if (typeof message === "string") expect(said).toBe(message);
    else expect(said).toMatch(message);
  });

  it.each([
    ["[]", 'RangeError: "r.json" expected a JSON object, got array'],
    ["", /"r\.json" expected valid JSON/],
    ['{"kind":"receipt","kind":"receipt"}', 'RangeError: "r.json" expected each JSON key once, got "kind" twice'],
    [`${"[".repeat(200_000)}`, /"r\.json" expected JSON of at most 64 levels, got more$/],
    ['{"__proto__":{"kind":"receipt"}}', /"receipt\.kind" expected receipt, got undefined/],
  ])("is no receipt: text %#", async (text, message) => {
    const said = await messageOf(() => readReceipt(bytesOf(text), "r.json"));
    if (typeof message === "string") expect(said).toBe(message);
    else expect(said).toMatch(message);
  });

  it("is read from its text as from its bytes, with or without a name", async () => {
    const text = formatReceipt(checkReceipt(await good()));
    expect(readReceipt(text)).toEqual(await good());
    expect(readReceipt(bytesOf(text))).toEqual(await good());
    expect(await messageOf(() => readReceipt("["))).toMatch(/^RangeError: "receipt" expected valid JSON/);
    expect(await messageOf(() => readReceipt("[]", "r.json"))).toBe('RangeError: "r.json" expected a JSON object, got array');
  });

  it.each([[undefined, "undefined"], [null, "null"], [{}, "Object"], [7, "7"], [Uint16Array.of(1), "Uint16Array"]])("is not read from %s", async (text, got) => {
    const said = await messageOf(() => readReceipt(text as never));
    expect(said).toMatch(/^TypeError: "text" expected a string or a Uint8Array, got /);
    expect(said).toContain(got);
    expect(await messageOf(() => readReceipt("{}", 7 as never))).toBe('TypeError: "name" expected text, got 7');
  });

  it("may be of a later rule with the same first number", async () => {
    expect(read({ ...(await good()), specVersion: "1.7" }).specVersion).toBe("1.7");
  });

  it("may give a list where one value would do", async () => {
    const given = caseNamed("logits");
    const receipt = { ...(await good()), seed: ["6", "6", "6"], position: [0, 0, 0] };
    expect((await replay(receipt, given.inputs, "reference")).confirmed).toBe(true);
  });

  it("is not replayed from inputs of the other kind", async () => {
    const [logits, head] = [caseNamed("logits"), caseNamed("bf16")];
    expect(await messageOf(async () => replay(await makeReceipt(logits, "reference"), head.inputs, "reference"))).toBe('TypeError: "inputs" expected logits, as the receipt\'s draws were made from, got a head');
    expect(await messageOf(async () => replay(await makeReceipt(head, "reference"), logits.inputs, "reference"))).toMatch(/"inputs" expected weights and hidden states/);
    expect(await messageOf(async () => replay({}, logits.inputs, "reference"))).toBe('TypeError: "receipt.kind" expected receipt, got undefined');
  });

  it("is checked even where it was made here, and a sampler's own says the same", async () => {
    expect(checkReceipt(await good())).toEqual(await good());
    const sampler = await createSampler({ weights: { data: Float32Array.of(1, 2), dtype: "f32", shape: [2, 1] }, backend: "reference" });
    const result = await sampler.sample({ hiddenStates: Float32Array.of(1), seed: 1n, details: true });
    const receipt = await receiptOf({ backend: sampler.backend, from: { head: sampler, hiddenStates: Float32Array.of(1) }, options: { seed: 1n }, result });
    sampler.dispose();
    expect(receipt).toMatchObject({ B: 1, sequence: 0, V: 2, D: 1, places: {} });
  });
});
