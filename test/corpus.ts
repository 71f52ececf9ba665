/** The edge corpus, drawn by a backend: its tokens and scores must be those of the independent reader. */
import { expect, it } from "vitest";
import { createSampler, sampleLogits, type BackendName, type DetailedResult, type HeadArray } from "../src/index.js";
import { elementsOf, wordsOf } from "../src/verify/corpus/arrays.js";
import { CORPUS, ofCorpusRow, type CorpusArray, type CorpusCase, type DrawCase } from "../src/verify/corpus/corpus.js";
import { judge, type Answer } from "../src/verify/corpus/judge.js";

export const DRAW_CASES = CORPUS.cases.filter((item): item is DrawCase => item.kind !== "noise");

const arrayOf = (name: string): CorpusArray => CORPUS.arrays[name]!;

/** The parameters of a case, as the package takes them. */
function optionsOf({ parameters, rows }: DrawCase) {
  const { seed, temperature, position, sequence, numSamples } = parameters;
  const each = Array.from({ length: rows }, (_, row) => row);
  return {
    seed: BigUint64Array.from(each, (row) => BigInt(ofCorpusRow(seed, row))),
    temperature: each.map((row) => Number(ofCorpusRow(temperature, row))),
    position: each.map((row) => ofCorpusRow(position, row)),
    sequence: each.map((row) => ofCorpusRow(sequence, row)),
    numSamples,
    details: true,
    onInvalid: "mark",
  } as const;
}

/** The logits, with what a mask or a filter leaves out at -Infinity: the package has neither. */
function logitsOf({ files, parameters, outcomes, V }: DrawCase) {
  const array = arrayOf(files.logits!);
  if (array.dtype === "f16" || array.dtype === "bf16") return { data: elementsOf(array) as Uint16Array, dtype: array.dtype };
  const logits = elementsOf(array) as Float32Array;
  if (files.mask !== undefined) {
    const mask = wordsOf(arrayOf(files.mask));
    return logits.map((logit, token) => (((mask[token >> 5] ?? 0) >>> (token & 31)) & 1 ? logit : -Infinity));
  }
  if (parameters.topK === undefined && parameters.topP === undefined) return logits;
  const kept = outcomes.flatMap(({ allowed }) => allowed ?? []);
  return logits.map((logit, index) => (kept.some(([first, last]) => first <= index % V && index % V <= last) ? logit : -Infinity));
}

async function draw(item: DrawCase, backend: BackendName): Promise<DetailedResult> {
  const options = optionsOf(item);
  if (item.kind === "logits") return sampleLogits({ ...options, logits: logitsOf(item), vocabSize: item.V, backend });
  const { weights, scales, hidden } = item.files;
  const head = { data: elementsOf(arrayOf(weights!)), dtype: item.dtype, shape: [item.V, item.D], ...(scales !== undefined && { scales: elementsOf(arrayOf(scales)) }) };
  const sampler = await createSampler({ weights: head as unknown as HeadArray, backend });
  try {
    expect([sampler.headDigest, sampler.dtype]).toEqual([item.headDigest, item.dtype]);
    return await sampler.sample({ ...options, hiddenStates: elementsOf(arrayOf(hidden!)) as Float32Array });
  } finally {
    sampler.dispose();
  }
}

const isRefused = ({ parameters: { temperature } }: DrawCase): boolean => [temperature].flat().some((value) => !(Number(value) >= 0 && Number(value) < 256));

/** What a backend answers; null where it refuses the call. */
export async function answerOf(item: DrawCase, backend: BackendName): Promise<Answer> {
  return isRefused(item) ? null : (await draw(item, backend)).tokens;
}

/** What a backend draws, once for all tests of it. */
const drawn = new Map<string, Promise<DetailedResult>>();
function drawOnce(item: DrawCase, backend: BackendName): Promise<DetailedResult> {
  const key = `${backend} ${item.name}`;
  const result = drawn.get(key) ?? draw(item, backend);
  drawn.set(key, result);
  return result;
}

export function corpus(backend: BackendName): void {
  it.each(DRAW_CASES.filter(({ expected }) => expected !== null))("$name", async (item) => {
    const { tokens, scoreBits } = item.expected!;
    if (isRefused(item)) {
      await expect(draw(item, backend)).rejects.toThrow(/"temperature(\[0\])?" expected a number in \[0, 256\)/);
      expect(new Set(tokens)).toEqual(new Set([-1]));
      return;
    }
    const { details } = await drawOnce(item, backend);
    expect(details.map(({ token }) => token)).toEqual(tokens);
    expect(details.map((detail) => (detail.scoreBits === null ? "-" : BigInt.asUintN(64, detail.scoreBits).toString(16).padStart(16, "0")))).toEqual(scoreBits.split(" "));
  });

  it("passes its own judgement, token for token", async () => {
    const answers = new Map<string, Answer>();
    for (const item of DRAW_CASES) if (item.expected !== null) answers.set(item.name, isRefused(item) ? null : (await drawOnce(item, backend)).tokens);
    const faults = [...answers].flatMap(([name, answer]) => judge(caseNamed(name), answer, { answerTo: (other) => answers.get(other), exact: true }).map((fault) => ({ name, ...fault })));
    expect(answers.size).toBeGreaterThan(100);
    expect(faults).toEqual([]);
  });
}

export function caseNamed(name: string): CorpusCase {
  const found = CORPUS.cases.find((item) => item.name === name);
  if (found === undefined) throw new Error(`no case ${name}`);
  return found;
}
