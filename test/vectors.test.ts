/** The known answers of the independent reader: the oracle function by function, every backend but WebGPU decision by decision. */
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
// @ts-expect-error: a build script without types
import { buildWasm } from "../scripts/build-wasm.mjs";
import { createWasmBackend } from "../src/backends/wasm.js";
import { BACKENDS, type HeadArray } from "../src/index.js";
import { rowDigest } from "../src/head/digest.js";
import { loadHead } from "../src/head/load.js";
import { isInRange, prepareHiddenStates } from "../src/hidden.js";
import * as float from "../src/spec/float.js";
import * as oracle from "../src/oracle.js";
import { knownAnswers, QUESTIONS } from "./backend-vectors.js";
import { describeBackends } from "./each-backend.js";
import { f32Values, readVectors, VECTOR_CHECKS, vectorHead, words } from "./vector-checks.js";

describe("the oracle gives the known answers of", () => {
  it.each(Object.keys(VECTOR_CHECKS))("%s", (name) => {
    expect(VECTOR_CHECKS[name]!({ ...oracle, ...float })).toEqual([]);
  });

  it("range", () => {
    const cases = readVectors("range").cases as string[];
    expect(cases.length).toBeGreaterThan(100);
    for (const line of cases) {
      const [weight, hidden, size, verdict] = line.split(" ");
      const passes = isInRange(f32Values(weight!)[0]!, f32Values(hidden!)[0]!, parseInt(size!, 16));
      expect(passes ? "pass" : "refuse", line).toBe(verdict);
    }
  });

  it("and every file is read by a test", () => {
    const read = new Set([...Object.keys(VECTOR_CHECKS).map((name) => name.split(" ")[0]), "range", "refused", "digest", "tensor-core"]);
    const files = readdirSync(new URL("vectors", import.meta.url)).filter((file) => file.endsWith(".json"));
    expect(files.map((file) => file.replace(".json", "")).sort()).toEqual([...read].sort());
  });
});

describeBackends("gives the known answers of", knownAnswers);

describe("the unoptimised build of the core", async () => {
  const module = await WebAssembly.compile(Uint8Array.from(await readFile(`${await buildWasm()}/core.debug.wasm`)));
  it("gives the known answers", async () => {
    const backend = createWasmBackend({ name: "core.debug", module });
    expect(QUESTIONS.length).toBeGreaterThan(0);
    for (const { name, answers } of QUESTIONS) {
      const { expected, got } = await answers(backend);
      expect(got, name).toEqual(expected);
    }
  });
});

describe("heads and hidden states that the rule refuses, or not", () => {
  // G follows from the number of scales here: a G that contradicts one scale a row cannot be said, so it cannot be refused.
  const sayable = readVectors("refused").cases.filter(({ result, scales, weights }: any) => !/^group/.test(result) || scales.join(" ").split(" ").length > weights.length);
  it.each<any>(sayable)("$name $dtype: $result", async (given) => {
    const hiddenSize = words(given.weights[0]).length;
    const head = vectorHead({ ...given, V: given.weights.length, D: hiddenSize });
    const weights = { data: head.weights, dtype: head.dtype, shape: [head.vocabSize, hiddenSize], scales: head.scales } as HeadArray;
    const backend = await BACKENDS.find(({ name }) => name === "reference")!.create();
    const loading = loadHead({ weights, createSink: backend.createHead.bind(backend) });
    const isHeadError = given.result !== "ok" && /weight|scale|group/.test(given.result);
    if (isHeadError) {
      const place = given.column === undefined ? `row ${given.row}` : `row ${given.row}, column ${given.column}`;
      await expect(loading).rejects.toThrow(new RegExp(given.row === undefined ? "scales" : place));
      return;
    }
    const { shape, statistics } = await loading;
    const { invalidRow } = prepareHiddenStates(f32Values(given.hidden.join(" ")), shape, statistics.largestMagnitude);
    const row = invalidRow.findIndex((found) => found !== null);
    if (given.result === "ok") return expect(row).toBe(-1);
    expect(row).toBe(given.row ?? 0);
    if (given.column !== undefined) expect(invalidRow[row]!.column).toBe(given.column);
  });
});

describe("digests", () => {
  it("xxh32", () => {
    for (const { bytes, seed, xxh32 } of readVectors("digest").hashes) {
      const data = Uint8Array.from(Buffer.from(bytes, "hex"));
      expect(rowDigest(new DataView(data.buffer), 0, data.length)[seed], `${bytes} seed ${seed}`).toBe(parseInt(xxh32, 16));
    }
  });

  it.each<any>(readVectors("digest").heads)("of a head, $dtype $weights.length rows: $digest", async (given) => {
    const { dtype, vocabSize, hiddenSize, weights: data, scales } = vectorHead({ ...given, V: given.weights.length, D: words(given.weights[0]).length });
    const backend = await BACKENDS.find(({ name }) => name === "reference")!.create();
    const weights = { data, dtype, shape: [vocabSize, hiddenSize], scales } as HeadArray;
    const { statistics } = await loadHead({ weights, createSink: backend.createHead.bind(backend) });
    expect(statistics.digest).toBe(given.digest);
  });
});
