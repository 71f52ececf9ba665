/** The list of engines, their options, and what they refuse. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { around, decide, exactly } from "../src/verify/bounded.js";
import type { EngineDraw } from "../src/verify/engines/engine.js";
import { engineOf, engines, readEngineOptions } from "../src/verify/engines/list.js";
import { drawOf, logitsOfRow, recordedDraws, sharedDraws } from "./engines-recordings.js";

const scoresOf = (name: string, logits: readonly number[], draw: Partial<EngineDraw> = {}, options: readonly string[] = []) =>
  engineOf(name).scores(exactly(logits), drawOf(logits.length, draw), readEngineOptions(engineOf(name), options).values);

describe("the list", () => {
  it("names each engine once, and says what it is", () => {
    expect(engines.map(({ name }) => name)).toEqual(["vllm-murmur3", "vllm-mrv2", "sglang", "flashinfer", "flashsampling", "torch", "jax", "llamacpp", "transformersjs"]);
    for (const { title, source, limits } of engines) {
      expect([title, ...Object.values(source), ...limits].every((text) => text.length > 2)).toBe(true);
      expect(limits.length).toBeGreaterThan(0);
    }
  });

  it("calls recorded what has recordings", () => {
    const withRecordings = [...Object.keys(recordedDraws), ...Object.keys(sharedDraws)];
    for (const { name, status } of engines) expect(withRecordings.includes(name)).toBe(status === "recorded");
  });

  it("is told in docs/engines.md", () => {
    const docs = readFileSync(new URL("../docs/engines.md", import.meta.url), "utf8");
    for (const { name, status, options } of engines) {
      const row = docs.split("\n").find((line) => line.startsWith(`| \`${name}\``));
      expect(row, name).toContain(status);
      for (const option of Object.keys(options)) expect(docs).toContain(`\`${option}`);
    }
  });

  it("refuses a name that it does not have", () => {
    expect(() => engineOf("tensorrt")).toThrow(/^"engine" expected one of vllm-murmur3, .*, got tensorrt$/);
    expect(() => engineOf("toString")).toThrow(RangeError);
  });
});

describe("options", () => {
  it("have their defaults, or the last text given", () => {
    const { values, texts } = readEngineOptions(engineOf("flashsampling"), ["block-v=128", "block-v=256"]);
    expect(values).toEqual({ "block-v": 256, "block-h": null });
    expect(texts).toEqual({ "block-v": "256", "block-h": "auto" });
    expect(readEngineOptions(engineOf("sglang"), [])).toEqual({ values: {}, texts: {} });
  });

  it("read their own defaults", () => {
    for (const engine of engines) expect(() => readEngineOptions(engine, [])).not.toThrow();
  });

  it.each([
    ["sglang", "x=1", '"--engine-option" expected none for sglang, got x'],
    ["torch", "blocks=1", '"--engine-option" expected one of offset, generator, multiprocessors, threads-per-multiprocessor for torch, got blocks'],
    ["torch", "__proto__=1", '"--engine-option" expected one of offset, generator, multiprocessors, threads-per-multiprocessor for torch, got __proto__'],
    ["torch", "offset", '"--engine-option" expected NAME=VALUE, got "offset"'],
    ["torch", "=3", '"--engine-option" expected NAME=VALUE, got "=3"'],
    ["torch", "offset=-4", '"--engine-option offset" expected a whole number from 0 to 4503599627370496, got "-4"'],
    ["torch", "offset=", '"--engine-option offset" expected a whole number from 0 to 4503599627370496, got ""'],
    ["torch", "multiprocessors=0", '"--engine-option multiprocessors" expected a whole number from 1 to 4096, got "0"'],
    ["torch", "multiprocessors=1e2", '"--engine-option multiprocessors" expected a whole number from 1 to 4096, got "1e2"'],
    ["vllm-mrv2", "precision=F32", '"--engine-option precision" expected f32 or f64, got "F32"'],
    ["flashsampling", "block-h=99999999999999999999", '"--engine-option block-h" expected a whole number from 1 to 1048576, got "99999999999999999999"'],
  ])("%s refuses %s", (name, text, message) => {
    expect(() => readEngineOptions(engineOf(name), [text])).toThrow(new RangeError(message));
  });
});

describe("a draw", () => {
  it("of one token is that token, masked tokens are never drawn, whatever the engine", () => {
    for (const { name } of engines) {
      expect(decide(scoresOf(name, [3])).token, name).toBe(0);
      const { token, gap, error } = decide(scoresOf(name, [-Infinity, -Infinity, -3, -Infinity]));
      expect({ name, token, gap, error }).toEqual({ name, token: 2, gap: Infinity, error: 0 });
    }
  });

  it("has no NaN, and bounds in order, for odd logits and the widest bounds", () => {
    const odd = [0, -0, 1e-45, -3.4e38, 3.4e38, 88, -88, -104, -Infinity, 65504];
    for (const engine of engines) {
      for (const errors of [0, 1e-6, 100]) {
        const logits = around(odd, odd.map(() => errors));
        const { value, low, high } = engine.scores(logits, drawOf(odd.length), readEngineOptions(engine, []).values);
        for (const token of odd.keys()) {
          const inOrder = low[token]! <= value[token]! && value[token]! <= high[token]!;
          expect({ engine: engine.name, errors, token, inOrder }).toEqual({ engine: engine.name, errors, token, inOrder: true });
        }
      }
    }
  });

  it("of wider logits has wider scores that hold those of all logits within", () => {
    const row = logitsOfRow(2, 64);
    for (const engine of engines) {
      const options = readEngineOptions(engine, []).values;
      const draw = drawOf(64, { seed: 7n });
      const wide = engine.scores(around(row, row.map(() => 0.01)), draw, options);
      for (const shift of [-0.01, 0, 0.01]) {
        // Every token moved its own way, within the bounds.
        const moved = engine.scores(exactly(row.map((logit, token) => logit + shift * Math.cos(token))), draw, options);
        moved.value.forEach((value, token) => {
          expect(value, engine.name).toBeGreaterThanOrEqual(wide.low[token]!);
          expect(value, engine.name).toBeLessThanOrEqual(wide.high[token]!);
        });
      }
    }
  });

  it("at temperature 0 is the highest logit for vLLM, and refused by the others", () => {
    for (const { name } of engines) {
      if (name.startsWith("vllm")) expect(decide(scoresOf(name, [1, 5, 2], { temperature: 0 })).token).toBe(1);
      else expect(() => scoresOf(name, [1, 2], { temperature: 0 }), name).toThrow(/"temperature" expected more than 0/);
      expect(() => scoresOf(name, [1, 2], { temperature: NaN }), name).toThrow(RangeError);
    }
  });

  it.each<[string, Partial<EngineDraw>, string[], string]>([
    ["vllm-mrv2", { sample: 1, numSamples: 2 }, [], '"sample" expected 0: each sample is a request of its own, got 1'],
    ["vllm-murmur3", { seed: 1n << 64n }, [], '"seed" expected an integer from -2^63 to 2^64 - 1, got 18446744073709551616'],
    ["sglang", { sample: 1, numSamples: 2 }, [], '"sample" expected 0: each sample is a request of its own, got 1'],
    ["flashsampling", { position: 3n }, [], '"position" expected 0: this engine has no positions, give each step its own seed, got 3'],
    ["flashsampling", { seed: 2n ** 31n - 1n, sample: 1, numSamples: 2 }, [], '"seed" expected seed + sample from 0 to 2^31 - 1, got 2147483648'],
    ["torch", {}, ["offset=3"], '"offset" expected a multiple of 4, got 3'],
    ["torch", { sample: 1, numSamples: 2 }, [], '"sample" expected 0: several samples a row are drawn in another way, got 1'],
    ["torch", { rows: 2 ** 31 }, [], '"vocabSize" expected fewer than 2^31 elements in the call, got 4294967296'],
    ["jax", { position: 3n }, [], '"position" expected 0: key=seed has none; fold-in has, got 3'],
    ["jax", { position: 1n << 32n }, ["key=fold-in"], '"position" expected a number of 32 bits to fold in, got 4294967296'],
    ["llamacpp", { seed: 2n ** 32n - 1n }, [], '"seed" expected an integer from 0 to 2^32 - 2, got 4294967295'],
    ["llamacpp", { position: 2n ** 40n }, [], '"draws-before" expected 0 to 16777216 draws, got 1099511627776'],
    ["transformersjs", { seed: 2n ** 53n }, [], '"seed" expected an integer from 0 to 2^53 - 1, got 9007199254740992'],
    ["transformersjs", { seed: -1n }, [], '"seed" expected an integer from 0 to 2^53 - 1, got -1'],
  ])("%s refuses %o %j", (name, draw, options, message) => {
    expect(() => scoresOf(name, [1, 2], draw, options)).toThrow(new RangeError(message));
  });

  it("without any token is refused where a softmax needs one, and has no score elsewhere", () => {
    for (const name of ["torch", "sglang", "llamacpp", "transformersjs"]) {
      expect(() => scoresOf(name, [-Infinity, -Infinity]), name).toThrow(new RangeError('"logits" expected a finite highest one, got -Infinity'));
    }
    for (const name of ["vllm-mrv2", "jax", "flashinfer"]) expect([...scoresOf(name, [-Infinity, -Infinity]).high], name).toEqual([-Infinity, -Infinity]);
  });
});
