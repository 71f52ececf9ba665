/** What other engines really drew, put to `flash-sampling check --engine`: recordings of one GPU, from the formulas that came with them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useCli } from "./cli-process.js";
import { lackOfShared, logitsOfRow, sharedRecording } from "./engines-recordings.js";
import { bytesOf, npy, npyDict } from "./head-fixtures.js";
import { unavailable } from "./require.js";

const { folder, run, runMany } = useCli();

function write(name: string, descr: string, shape: readonly number[], data: ArrayBufferView): string {
  writeFileSync(join(folder, name), npy(npyDict(descr, `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`), bytesOf(data)));
  return name;
}

const writeLogits = (B: number, V: number): string[] => {
  const rows = Array.from({ length: B }, (_, row) => [...logitsOfRow(row, V)]);
  return ["--logits", write(`logits-${B}-${V}.npy`, "<f4", [B, V], Float32Array.from(rows.flat()))];
};

const grid = (height: number, width: number, at: (i: number, j: number) => number): Float32Array =>
  Float32Array.from({ length: height * width }, (_, index) => at(Math.floor(index / width), index % width));

/** bf16 holds these values exactly. */
const toBf16 = (values: Float32Array): Uint16Array => Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16);

function writeHead(V: number, D: number, B: number): string[] {
  const weights = grid(V, D, (i, j) => ((Math.floor((i * 2654435761 + j * 40503 + ((i * j) % 251) * 977) / 8) % 17) - 8) / 16);
  const hidden = grid(B, D, (i, j) => ((Math.floor((i * 668265263 + j * 374761393 + 17) / 32) % 9) - 4) / 8);
  return ["--weights", write(`w-${V}-${D}.npy`, "|V2", [V, D], toBf16(weights)), "--hidden", write(`h-${B}-${D}.npy`, "<f4", [B, D], hidden)];
}

interface Call {
  readonly name: string;
  readonly engine: string;
  readonly inputs: () => string[];
  readonly args: readonly string[];
  /** [B][samples] */
  readonly tokens: readonly (readonly number[])[];
  readonly vocabSize: number;
}

const column = (tokens: readonly number[]): number[][] => tokens.map((token) => [token]);
const transposed = (tokens: readonly (readonly number[])[]): number[][] => tokens[0]!.map((_, row) => tokens.map((sample) => sample[row]!));
const options = (...texts: string[]): string[] => texts.flatMap((text) => ["--engine-option", text]);

function recordedCalls(): Call[] {
  const flashInfer = sharedRecording.flashinfer_sampling_from_logits.map(({ B, V, seed, offset, tokens }: any): Call => ({
    name: `FlashInfer, V = ${V}, seed ${seed}`,
    engine: "flashinfer",
    inputs: () => writeLogits(B, V),
    args: ["--seed", String(seed), ...options(`offset=${offset}`)],
    tokens: column(tokens),
    vocabSize: V,
  }));
  const flashSampling = sharedRecording.flashsampling_triton.map(({ V, D, B, seed, temperature, block_v, tokens }: any): Call => ({
    name: `FlashSampling, V = ${V}, D = ${D}, B = ${B}, seed ${seed}`,
    engine: "flashsampling",
    inputs: () => writeHead(V, D, B),
    args: ["--seed", String(seed), "--temperature", String(temperature), ...options(`block-v=${block_v}`)],
    tokens,
    vocabSize: V,
  }));
  const vllm = sharedRecording.vllm_mrv2.map(({ B, V, seeds, pos, temp, fp64, tokens }: any): Call => ({
    name: `vLLM, ${fp64 ? "f64" : "f32"}`,
    engine: "vllm-mrv2",
    inputs: () => [
      ...writeLogits(B, V),
      ...["--seeds", write(`seeds-${fp64 ? "f64" : "f32"}.npy`, "<i8", [B], BigInt64Array.from(seeds as number[], BigInt))],
      ...["--positions", write(`positions-${fp64 ? "f64" : "f32"}.npy`, "<i8", [B], BigInt64Array.from(pos as number[], BigInt))],
      ...["--temperatures", write(`temperatures-${fp64 ? "f64" : "f32"}.npy`, "<f8", [B], Float64Array.from(temp as number[]))],
    ],
    args: options(`precision=${fp64 ? "f64" : "f32"}`),
    tokens: column(tokens),
    vocabSize: V,
  }));
  const jax = sharedRecording.jax.cases.flatMap(({ seed, categorical, categorical_shape5 }: any): Call[] => {
    const common = { engine: "jax", inputs: () => writeLogits(3, 1000), args: ["--seed", String(seed)], vocabSize: 1000 };
    return [
      { ...common, name: "JAX, categorical", tokens: column(categorical) },
      { ...common, name: "JAX, categorical of shape (5, 3)", tokens: transposed(categorical_shape5) },
    ];
  });
  return [...flashInfer, ...flashSampling, ...vllm, ...jax];
}

describe.skipIf(unavailable("shared", lackOfShared))("recorded draws", () => {
  const calls = lackOfShared === null ? recordedCalls() : [];

  const flatOf = ({ tokens }: Call): Int32Array => Int32Array.from(tokens.flat());
  /** As recorded, and with another last token. */
  const ended = runMany(() =>
    calls.flatMap((call, index) => {
      const { engine, inputs, args, tokens, vocabSize } = call;
      const shape = [tokens.length, tokens[0]!.length];
      const flat = flatOf(call);
      const changed = flat.map((token, at) => (at === flat.length - 1 ? (token + 1) % vocabSize : token));
      const asked = ["check", ...inputs(), "--engine", engine, ...args, "--json", "--tokens"];
      return [[...asked, write(`tokens-${index}.npy`, "<i4", shape, flat)], [...asked, write(`changed-${index}.npy`, "<i4", shape, changed)]];
    }),
  );

  test.each(calls.map((call, index) => [call.name, call, index] as const))("%s", async (_, call, index) => {
    const flat = flatOf(call);
    const right = await ended(2 * index);
    expect(right.stderr).toBe("");
    const document = JSON.parse(right.stdout);
    expect({ code: right.code, wrong: document.counts.wrong }).toEqual({ code: 0, wrong: 0 });
    expect(document.engine).toMatchObject({ name: call.engine, status: "recorded" });
    // Near-ties are rare, and few of them come out the other way.
    expect(document.counts.exact).toBeGreaterThanOrEqual(0.98 * flat.length);

    const changed = await ended(2 * index + 1);
    expect(changed.code).toBe(1);
    expect(JSON.parse(changed.stdout).draws.at(-1)).toMatchObject({ verdict: "wrong", fault: null, expected: flat.at(-1), rank: expect.any(Number), probability: expect.any(Number) });
  });

  test("another seed, tile height or offset than the engine's does not pass", async () => {
    // As recorded it passes: see above. With one column of tiles the tile height does not count: a column is 64 rows.
    const call = calls.find(({ engine, tokens }) => engine === "flashsampling" && tokens.length > 64)!;
    const asked = ["check", ...call.inputs(), "--engine", "flashsampling", ...call.args, "--tokens", write("others.npy", "<i4", [call.tokens.length, call.tokens[0]!.length], flatOf(call))];
    const others = runMany(() => [[...asked, "--engine-option", "block-v=64"], [...asked, "--seed", "99"]]);
    expect([(await others(0)).code, (await others(1)).code]).toEqual([1, 1]);
  });

  test("what recordings do not prove is said in every format", async () => {
    const call = calls.find(({ engine }) => engine === "jax")!;
    const tokens = write("jax.npy", "<i4", [3], Int32Array.from(call.tokens.flat().slice(0, 3)));
    const asked = ["check", ...call.inputs(), "--engine", "jax", ...call.args, "--tokens", tokens, "--num-samples", "1", "--github", "--junit", "jax.xml"];
    const { stdout } = await run(asked);
    expect(stdout).toContain("\nnot proven by recordings of jax: TPUs");
    expect(stdout).toContain("::warning title=unproven in jax::");
  });
});
