/** Would the recordings notice? The replays are broken on purpose, a constant or an order at a time; some recorded draw must differ. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { describe, expect, it } from "vitest";
import type * as List from "../src/verify/engines/list.js";
import { compare, lackOfShared, recordedDraws, replay, sharedDraws, type RecordedDraw } from "./engines-recordings.js";
import { unavailable } from "./require.js";

const lacksShared = unavailable("shared", lackOfShared);
const sourceOf = (path: string): string => fileURLToPath(new URL(`../src/${path}.ts`, import.meta.url));

/** A file of src, a text that is in it once, and another one. */
type Break = readonly [engine: string, file: string, from: string, to: string];

function broken([, file, from, to]: Break): Plugin {
  const path = sourceOf(`verify/engines/${file}`);
  return {
    name: "break",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, (args) => {
        if (args.path !== path) return undefined;
        const text = readFileSync(path, "utf8");
        if (text.split(from).length !== 2) throw new Error(`${file}.ts expected exactly one "${from}", got ${text.split(from).length - 1}`);
        return { contents: text.replace(from, () => to), loader: "ts" };
      });
    },
  };
}

async function listOf(plugins: Plugin[]): Promise<typeof List> {
  const { outputFiles } = await build({ entryPoints: [sourceOf("verify/engines/list")], bundle: true, format: "esm", write: false, plugins, logLevel: "silent" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]!.contents).toString("base64")}`) as Promise<typeof List>;
}

/** The recorded draws of small vocabularies, every fifth: those of FlashSampling and FlashInfer are in ../shared. */
const drawsOf = (engine: string): RecordedDraw[] =>
  (recordedDraws[engine] ?? sharedDraws[engine])!().filter(({ draw }, index) => draw.vocabSize < 10_000 && (index % 5 === 0 || draw.rows > 64 || draw.numSamples === 4));

const wrongIn = (list: typeof List, engine: string): number =>
  compare(drawsOf(engine).map((draw) => replay(list, list.engineOf(engine), draw))).wrong;

const BREAKS: readonly Break[] = [
  ["vllm-murmur3", "murmur3", "0xcc9e2d51), 15)", "0xcc9e2d51), 14)"],
  ["vllm-murmur3", "murmur3", "0xcc9e2d51", "0xcc9e2d50"],
  ["vllm-murmur3", "murmur3", "0x1b873593", "0x1b873592"],
  ["vllm-murmur3", "murmur3", "scrambled, 13), 5)", "scrambled, 12), 5)"],
  ["vllm-murmur3", "murmur3", "0xe6546b64", "0xe6546b65"],
  ["vllm-murmur3", "murmur3", "4 * count", "count"],
  ["sglang", "murmur3", "hash >>> 13", "hash >>> 12"],
  ["sglang", "murmur3", '...halves("seed", seed), halves("position", position)[0]', 'halves("position", position)[0], ...halves("seed", seed)'],
  ["sglang", "sglang", "word(token) / 0xffffffff", "1 - word(token) / 0xffffffff"],
  ["vllm-murmur3", "vllm-murmur3", "UPPER_DOMAIN = 0x9e3779b9", "UPPER_DOMAIN = 0x9e3779b8"],
  ["vllm-mrv2", "vllm-mrv2", "[words(seed, position)[0], 0]", "[words(seed, position)[1], 0]"],
  ["vllm-mrv2", "vllm-mrv2", "high! * 2 ** 32 + low!", "low! * 2 ** 32 + high!"],
  ["vllm-mrv2", "vllm-mrv2", "1n << 30n", "1n << 29n"],
  ["vllm-mrv2", "triton", "signed < 0 ? ~signed : signed", "signed < 0 ? -signed : signed >>> 1"],
  ["vllm-mrv2", "words64", "philox4x32([...offset, ...subsequence], seed)", "philox4x32([...subsequence, ...offset], seed)"],
  ["torch", "torch", "(first + index) % threads", "(first + index + 1) % threads"],
  ["torch", "torch", "offset >> 2n", "offset >> 1n"],
  ["torch", "flashinfer", "2 ** -32 + 2 ** -33", "-(2 ** -32) + 1"],
  ["jax", "jax", "[13, 15, 26, 6]", "[13, 15, 26, 7]"],
  ["jax", "jax", "[17, 29, 16, 24]", "[17, 28, 16, 24]"],
  ["jax", "jax", "PARITY = 0x1bd11bda", "PARITY = 0x1bd11bdb"],
  ["jax", "jax", "(first ^ second) >>> 0", "first"],
  ["jax", "jax", "Math.ceil(count / 2)", "Math.floor(count / 2)"],
  ["jax", "jax", "highNoise(uniforms(2 * size, first)", "highNoise(uniforms(size, first)"],
  ["jax", "jax", "sample * rows + row", "row * numSamples + sample"],
  ["llamacpp", "mersenne", "TWIST = 0x9908b0df", "TWIST = 0x9908b0de"],
  ["llamacpp", "mersenne", "SHIFT = 397", "SHIFT = 396"],
  ["llamacpp", "mersenne", "low + next() * 2 ** 32", "low * 2 ** 32 + next()"],
  ["llamacpp", "mersenne", "WORDS_A_DRAW = 2", "WORDS_A_DRAW = 1"],
  ["transformersjs", "mersenne", "1566083941", "1566083940"],
  ["transformersjs", "mersenne", "high * 2 ** 26", "high * 2 ** 27"],
  ["transformersjs", "cdf", "other < id", "other > id"],
];

const SHARED_BREAKS: readonly Break[] = [
  ["flashinfer", "flashinfer", "output * vocabSize + first", "output + first"],
  ["flashinfer", "flashinfer", "words[lane]!", "words[0]"],
  ["flashinfer", "flashinfer", "vocabSize % 4 === 0 ? 4", "vocabSize % 4 === 0 ? 2"],
  ["flashsampling", "flashsampling", "(token % blockV) * blockH + (row % blockH)", "(token % blockV) + blockV * (row % blockH)"],
  ["flashsampling", "flashsampling", "seed + BigInt(sample)", "seed"],
  ["flashsampling", "flashsampling", "Math.ceil(rows / blockH)", "Math.floor(rows / blockH)"],
];

describe("the recordings", () => {
  it("hold for the replays as they are, built the same way", async () => {
    const list = await listOf([]);
    for (const engine of Object.keys(recordedDraws)) expect(wrongIn(list, engine), engine).toBe(0);
  });

  it.each(BREAKS)("of %s notice in %s: %s to %s", async (...change) => {
    expect(wrongIn(await listOf([broken(change)]), change[0])).toBeGreaterThan(0);
  });

  it.skipIf(lacksShared).each(SHARED_BREAKS)("of %s notice in %s: %s to %s", async (...change) => {
    expect(wrongIn(await listOf([broken(change)]), change[0])).toBeGreaterThan(0);
  });
});
