/** The WGSL twins of the rule's functions, each put to the known answers of test/vectors on the device. */
import { beforeAll, describe, expect, it } from "vitest";
import { GpuContext } from "../gpu/webgpu/context.js";
import { COPY_DST, COPY_SRC, MAP_MODE_READ, MAP_READ, STAGE_COMPUTE, STORAGE, UNIFORM } from "../gpu/webgpu/flags.js";
import { arrangeHidden, arrangeRows, layOutHead } from "../gpu/layout.js";
import probe from "../gpu/webgpu/probe.wgsl";
import { sampleTileShader } from "../gpu/webgpu/shaders.js";
import { divisionFor } from "../gpu/webgpu/tuning.js";
import { DTYPE_BYTES, type Dtype, type HeadShape } from "../src/backend.js";
import { f16ToF32Bits } from "../src/spec/float.js";
import { Inputs } from "./problems.js";
import { unavailable } from "./require.js";
import { openSharedContext } from "./webgpu-device.js";
import { f32Values, hex, readVectors, weightArray, wide, words } from "./vector-checks.js";

/** As in probe.wgsl. */
const ASK = { mulhi: 0, philox: 1, q32: 2, gamma: 3, fix: 4, score: 5, best: 6, scaledSum: 7, dot: 8, gammaAtMost: 9, rank: 10 } as const;
const QUESTION_WORDS = 16;
const ANSWER_WORDS = 8;
const POISON = 0xdeadbeef;
const SIGN = 1n << 63n;

/** What a dot product is made of: heads of one row, or of a row and its hidden row each. */
interface Operands {
  readonly shape: HeadShape;
  readonly bytes: Uint8Array;
  readonly hidden: Float32Array;
  readonly scales: Float32Array | null;
}
const NO_OPERANDS: Operands = { shape: { dtype: "f32", vocabSize: 1, hiddenSize: 1, groupSize: 0 }, bytes: new Uint8Array(4), hidden: new Float32Array(1), scales: null };

/** The device for all tests. Its GPU stays referenced: Dawn needs it as long as the device is used. */
const opened = await openSharedContext();

class Probe {
  readonly #context: GpuContext;
  readonly #code: string;
  readonly #layouts: GPUBindGroupLayout[];

  /** @param shape of heads whose kernel answers */
  constructor(context: GpuContext, shape: HeadShape, opaqueSums = false) {
    const scaledWords = `fn scaledWords(sum: u32, scale: u32) -> vec2u { return ${shape.dtype === "int8" ? "scaledSum(sum, scale)" : "vec2u()"}; }`;
    this.#context = context;
    this.#code = [sampleTileShader(shape.dtype, layOutHead(shape).isNarrow, { ...divisionFor(1, context.isSoftware), opaqueSums }), scaledWords, probe].join("\n");
    const layout = (types: Record<number, GPUBufferBindingType>) =>
      context.device.createBindGroupLayout({ entries: Object.entries(types).map(([binding, type]) => ({ binding: Number(binding), visibility: STAGE_COMPUTE, buffer: { type } })) });
    const read = "read-only-storage" as const;
    this.#layouts = [layout({ 0: "uniform", 1: read, 2: read }), layout({ 1: read }), layout({ 0: read, 1: "storage" })];
  }

  /** An answer of eight words for each question of up to sixteen. */
  async ask(kind: number, questions: readonly (readonly number[])[], { shape, bytes, hidden, scales }: Operands = NO_OPERANDS): Promise<number[][]> {
    const { device } = this.#context;
    // The kind as a constant: what other kinds need is not compiled.
    const code = this.#code.replace("switch questions.kind {", `switch ${kind}u {`);
    const pipeline = await this.#context.pipeline("probe", code, "probe", this.#layouts);
    const asked = new Uint32Array(2 + questions.length * QUESTION_WORDS);
    asked.set([kind, questions.length]);
    questions.forEach((question, index) => asked.set(question, 2 + index * QUESTION_WORDS));
    const layout = layOutHead(shape);
    const { units, groups } = layout;
    const values = new Float32Array(shape.vocabSize * layout.hiddenSize);
    arrangeHidden(hidden, shape.vocabSize, layout.hiddenSize, 1, values);
    const arranged = new Uint8Array(shape.vocabSize * layout.rowBytes);
    arrangeRows(bytes, arranged, shape.hiddenSize, DTYPE_BYTES[shape.dtype], layout);
    const buffers: GPUBuffer[] = [];
    const buffer = (data: ArrayBufferView<ArrayBuffer>, usage: number): GPUBuffer => {
      const made = device.createBuffer({ size: Math.max(16, data.byteLength), usage: usage | COPY_DST });
      device.queue.writeBuffer(made, 0, data.buffer, data.byteOffset, data.byteLength);
      buffers.push(made);
      return made;
    };
    const group = (index: number, entries: Record<number, GPUBuffer>) =>
      device.createBindGroup({ layout: this.#layouts[index]!, entries: Object.entries(entries).map(([binding, made]) => ({ binding: Number(binding), resource: { buffer: made } })) });
    const answers = buffer(new Uint32Array(questions.length * ANSWER_WORDS).fill(POISON), STORAGE | COPY_SRC);
    const readBack = buffer(new Uint32Array(questions.length * ANSWER_WORDS), MAP_READ);
    const piece = Uint32Array.of(0, shape.vocabSize, 0, 0, units, groups, units / groups, 1);
    const groupsBound = [
      group(0, { 0: buffer(piece, UNIFORM), 1: buffer(arranged, STORAGE), 2: buffer(scales?.slice() ?? new Float32Array(4), STORAGE) }),
      group(1, { 1: buffer(values, STORAGE) }),
      group(2, { 0: buffer(asked, STORAGE), 1: answers }),
    ];
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    groupsBound.forEach((bound, index) => pass.setBindGroup(index, bound));
    pass.dispatchWorkgroups(questions.length);
    pass.end();
    encoder.copyBufferToBuffer(answers, 0, readBack, 0, readBack.size);
    device.queue.submit([encoder.finish()]);
    await readBack.mapAsync(MAP_MODE_READ);
    const found = Array.from(new Uint32Array(readBack.getMappedRange().slice(0)));
    for (const made of buffers) made.destroy();
    return questions.map((_, index) => found.slice(index * ANSWER_WORDS, (index + 1) * ANSWER_WORDS));
  }
}

const low = (value: bigint): number => Number(BigInt.asUintN(32, value));
const high = (value: bigint): number => Number(BigInt.asUintN(32, value >> 32n));
/** The lists side by side, four of each a question. */
function quads(...lists: readonly number[][]): number[][] {
  const count = Math.ceil(lists[0]!.length / 4);
  return Array.from({ length: count }, (_, i) => lists.flatMap((list) => [0, 1, 2, 3].map((lane) => list[Math.min(4 * i + lane, list.length - 1)]!)));
}
const firstFour = (answers: readonly number[][], length: number): number[] => answers.flatMap((answer) => answer.slice(0, 4)).slice(0, length);
const pairs = (answers: readonly number[][]): string[] => answers.map(([lower, upper]) => hex((BigInt(upper!) << 32n) | BigInt(lower!), 16));
const as32 = (values: readonly number[]): string[] => values.map((value) => hex(value, 8));

const HEADS: readonly HeadShape[] = [
  { dtype: "bf16", vocabSize: 1, hiddenSize: 64, groupSize: 0 },
  { dtype: "f16", vocabSize: 1, hiddenSize: 64, groupSize: 0 },
  { dtype: "f32", vocabSize: 1, hiddenSize: 64, groupSize: 0 },
  { dtype: "int8", vocabSize: 1, hiddenSize: 256, groupSize: 128 },
  { dtype: "int8", vocabSize: 1, hiddenSize: 64, groupSize: 32 },
];

describe.skipIf(unavailable("webgpu", typeof opened === "string" ? opened : null))("WGSL", () => {
  const { context } = opened as Exclude<typeof opened, string>;
  let f32: Probe;
  beforeAll(() => void (f32 = new Probe(context, HEADS[2]!)));

  it("mulhi", async () => {
    const inputs = new Inputs(32);
    const edges = [0, 1, 2, 0xffff, 0x10000, 0x10001, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];
    const a = [...edges.flatMap((value) => edges.map(() => value)), ...Array.from({ length: 400 }, () => inputs.word())];
    const b = [...edges.flatMap(() => edges), ...Array.from({ length: 400 }, () => inputs.word())];
    const asked = quads(a, b);
    const product = (x: number, y: number): bigint => BigInt(x) * BigInt(y);
    const upper = (x: number, y: number): number => high(product(x, y));
    const expected = asked.map((q) => [...[0, 1, 2, 3].map((i) => upper(q[i]!, q[4 + i]!)), upper(q[0]!, q[4]!), low(product(q[1]!, q[5]!)), upper(q[1]!, q[5]!), 0]);
    expect(await f32.ask(ASK.mulhi, asked)).toEqual(expected);
  });

  const philox = readVectors("philox").cases as { counter: string; key: string; output: string }[];
  const askPhilox = async (of: Probe): Promise<string[]> => {
    const answers = await of.ask(ASK.philox, philox.map(({ counter, key }) => [...words(counter), ...words(key)]));
    return answers.map((answer) => as32(answer.slice(0, 4)).join(" "));
  };

  it("philox4x32", async () => {
    expect(await askPhilox(f32)).toEqual(philox.map(({ output }) => output));
  });

  it("philox4x32 with one bit of a multiplier flipped gives other words", async () => {
    const flips = new GpuContext(context.device, context.description, context.isSoftware, (code) => code.replace("PHILOX_M0 = 3528531795u", "PHILOX_M0 = 3528531794u"));
    const answers = await askPhilox(new Probe(flips, HEADS[2]!));
    expect(answers.filter((answer, index) => answer === philox[index]!.output)).toEqual([]);
  });

  it("gamma26 and its polynomial", async () => {
    const { hi, lo, gamma, q32 } = readVectors("gamma26");
    const expected = words(gamma);
    expect(as32(firstFour(await f32.ask(ASK.gamma, quads(words(hi), words(lo))), expected.length))).toEqual(as32(expected));
    expect(as32(firstFour(await f32.ask(ASK.q32, quads(words(q32.t))), words(q32.t).length))).toEqual(as32(words(q32.q)));
  });

  it("gammaAtMost is above every gamma26 of its upper bits, and not far", async () => {
    const inputs = new Inputs(33);
    const powers = Array.from({ length: 32 }, (_, i) => 2 ** i);
    const ends = [0, ...powers, ...powers.flatMap((power) => [power - 1, power + 1, (0x80000000 | power) >>> 0, (0x80000000 | (power - 1)) >>> 0])];
    const highs = [...ends, 0xffffffff, ...Array.from({ length: 2000 }, () => inputs.word())].map((word) => word >>> 0);
    const most = firstFour(await f32.ask(ASK.gammaAtMost, quads(highs)), highs.length);
    for (const lower of [0, 1, 0x80000000, 0xffffffff]) {
      const gammas = firstFour(await f32.ask(ASK.gamma, quads(highs, highs.map(() => lower))), highs.length);
      expect(highs.filter((_, index) => gammas[index]! > most[index]!).map((word) => hex(word, 8))).toEqual([]);
      if (lower === 0) expect(highs.filter((word, index) => word > 0x80000000 && word < 0x88000000 && most[index]! - gammas[index]! > 0.1 * 2 ** 26).map((word) => hex(word, 8))).toEqual([]);
    }
  });

  it("fix", async () => {
    const { bits, z } = readVectors("fix");
    // Infinities and NaN are decided before: a head has none.
    const finite = words(bits).flatMap((word, index) => ((word & 0x7f800000) === 0x7f800000 ? [] : [{ word, expected: z.split(" ")[index] as string }]));
    expect(finite.length).toBeGreaterThan(1000);
    expect(pairs(await f32.ask(ASK.fix, finite.map(({ word }) => [word])))).toEqual(finite.map(({ expected }) => expected));
  });

  it("orderedScore", async () => {
    const { Z, gamma, tau, S } = readVectors("score");
    const [gammas, taus] = [words(gamma), words(tau)];
    const asked = wide(Z).map((z, index) => [low(z), high(z), gammas[index]!, taus[index]!]);
    expect(pairs(await f32.ask(ASK.score, asked))).toEqual(wide(S).map((score) => hex(score ^ SIGN, 16)));
  });

  it("rankOf rises with the score, by one for each 2^-8 within +-2^23", async () => {
    const inputs = new Inputs(34);
    const [least, most] = [SIGN - (1n << 55n), SIGN + (1n << 55n)];
    const edges = [0n, 1n, least, most, SIGN, 2n * SIGN].flatMap((edge) => [-(1n << 24n), -1n, 0n, 1n, 1n << 24n].map((step) => edge + step));
    const scores = [...edges, ...Array.from({ length: 500 }, () => least + (BigInt(inputs.word()) << 24n) + BigInt(inputs.word() >>> 8))]
      .filter((score) => score >= 0n && score < 2n * SIGN)
      .sort((a, b) => (a < b ? -1 : 1));
    const asked = Array.from({ length: Math.ceil(scores.length / 4) }, (_, i) => [0, 1, 2, 3].flatMap((k) => [low(scores[4 * i + k] ?? 0n), high(scores[4 * i + k] ?? 0n)]));
    const expected = scores.map((score) => (score < least ? 0 : score >= most ? 0xffffffff : Number((score - least) >> 24n)));
    expect(firstFour(await f32.ask(ASK.rank, asked), scores.length)).toEqual(expected);
  });

  it("argmaxCombine: larger scores, then smaller tokens, no token last", async () => {
    const none = { score: 0n, token: 0xffffffff };
    const scored = [5n, 5n, 6n, 0x4_0000_0005n, 0x5_0000_0004n, 0xffffffff_ffffffffn, 0n].map((score, token) => ({ score, token: 7 - token }));
    const sets = [[], ...scored.map((entry) => [entry]), ...scored.flatMap((x, i) => scored.slice(i + 1).map((y) => [x, y]))];
    type Entry = (typeof scored)[number];
    const best = (entries: readonly Entry[]): Entry[] =>
      [...entries, none, none].sort((x, y) => (x.score === y.score ? x.token - y.token : x.score > y.score ? -1 : 1)).slice(0, 2);
    const textOf = (entries: readonly Entry[]): number[] => entries.flatMap(({ score, token }) => [low(score), high(score), token, 0]);
    const asked = sets.flatMap((left) => sets.filter((right) => !right.some((entry) => left.includes(entry))).map((right) => [left, right] as const));
    expect(asked.length).toBeGreaterThan(300);
    const answers = await f32.ask(ASK.best, asked.map(([left, right]) => [...textOf(best(left)), ...textOf(best(right))]));
    expect(answers).toEqual(asked.map(([left, right]) => textOf(best([...left, ...right]))));
  });

  it("scaledSum of int8 heads", async () => {
    const { sum, scale, zGroup } = readVectors("int8").scaled;
    const scales = words(scale);
    const answers = await new Probe(context, HEADS[3]!).ask(ASK.scaledSum, words(sum).map((bits, index) => [bits, scales[index]!]));
    expect(pairs(answers)).toEqual(zGroup.split(" "));
  });

  it.each([["f32", false], ["bf16", false], ["bf16", true], ["f16", false]] as const)("dotL32 of %s heads, sums hidden from the compiler: %s", async (dtype, opaqueSums) => {
    const cases = (readVectors("dot").cases as any[]).filter((given) => given.dtype === dtype);
    expect(cases.length).toBeGreaterThan(25);
    // Shorter rows end in zeros, which leave their lanes as they are.
    const hiddenSize = Math.max(...cases.map(({ D }) => D));
    const shape: HeadShape = { dtype, vocabSize: cases.length, hiddenSize, groupSize: 0 };
    const bytes = new Uint8Array(cases.length * hiddenSize * DTYPE_BYTES[dtype]);
    const hidden = new Float32Array(cases.length * hiddenSize);
    cases.forEach(({ w, x }, row) => {
      bytes.set(new Uint8Array(canonical(dtype, weightArray(dtype, w)).buffer), row * hiddenSize * DTYPE_BYTES[dtype]);
      hidden.set(valuesOf(dtype, canonical(dtype, weightArray(dtype, x))), row * hiddenSize);
    });
    const answers = await new Probe(context, { ...shape, vocabSize: 1 }, opaqueSums).ask(ASK.dot, cases.map((_, row) => [row]), { shape, bytes, hidden, scales: null });
    expect(answers.map((answer) => hex(answer[2]!, 8))).toEqual(cases.map(({ logit }) => logit));
  });

  it.each([["four", HEADS[3]!], ["one", HEADS[4]!]] as const)("Z of int8 heads with units of %s blocks", async (_, like) => {
    const { rows, groups } = readVectors("int8");
    const known = [
      ...rows.map((row: any) => ({ D: row.D, G: row.G, weights: weightArray("int8", row.w), x: valuesOf("bf16", weightArray("bf16", row.x)), scales: f32Values(row.scales), Z: row.Z })),
      ...groups.map(({ sums, scales, Z }: any) => {
        // 1 * sum in the first lane of each group.
        const sumOfGroup = f32Values(sums);
        const [x, weights] = [new Float32Array(32 * sumOfGroup.length), new Int8Array(32 * sumOfGroup.length)];
        sumOfGroup.forEach((sum, group) => {
          x[32 * group] = sum;
          weights[32 * group] = 1;
        });
        return { D: x.length, G: 32, weights, x, scales: f32Values(scales), Z };
      }),
    ].map((given) => ({ ...given, shape: { dtype: "int8", vocabSize: 1, hiddenSize: given.D, groupSize: given.G } as HeadShape }));
    const mine = known.filter(({ shape }) => layOutHead(shape).isNarrow === layOutHead(like).isNarrow);
    expect(mine.length).toBeGreaterThan(3);
    const int8 = new Probe(context, like);
    for (const { shape, weights, x, scales, Z } of mine) {
      const answers = await int8.ask(ASK.dot, [[0]], { shape, bytes: new Uint8Array((weights as Int8Array).slice().buffer), hidden: x, scales });
      expect(pairs(answers), `D = ${shape.hiddenSize}, G = ${shape.groupSize}`).toEqual([Z]);
    }
  });
});

/** Operands too small for the rule read as +0, before any backend sees them. */
function canonical(dtype: Dtype, data: ReturnType<typeof weightArray>): Uint16Array | Float32Array {
  if (dtype === "f32") return (data as Float32Array).map((value) => (Math.abs(value) < 2 ** -40 ? 0 : value));
  return dtype === "bf16" ? (data as Uint16Array).map((bits) => ((bits >>> 7) & 0xff) < 71 ? 0 : bits) : (data as Uint16Array);
}

function valuesOf(dtype: Dtype, data: ReturnType<typeof weightArray>): Float32Array {
  if (dtype === "f32") return data as Float32Array;
  return new Float32Array(Uint32Array.from(data as Uint16Array, (bits) => (dtype === "f16" ? f16ToF32Bits(bits) : bits << 16)).buffer);
}
