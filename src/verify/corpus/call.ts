/** A case of given logits as a call of a sampler, docs/invariance.md. */
import { widen } from "../../matrix.js";
import type { OptionalInput } from "../invariance/case.js";
import type { SamplerCall } from "../sampler-under-test.js";
import { elementsOf, wordsOf } from "./arrays.js";
import { CORPUS, ofCorpusRow, type CorpusArray, type DrawCase } from "./corpus.js";

/** What a sampler must read for the case to be put to it. */
export function needsOf({ files, parameters, outcomes }: DrawCase): readonly OptionalInput[] {
  const { numSamples, topK, topP, shards, sequence, position } = parameters;
  // Rows that nothing else tells apart would rightly draw the same.
  const mustDiffer = outcomes.some(({ distinct }) => distinct !== undefined);
  const needs: Partial<Record<OptionalInput, boolean>> = {
    samples: numSamples > 1,
    sequence: mustDiffer && Array.isArray(sequence),
    position: mustDiffer && Array.isArray(position),
    mask: files.mask !== undefined,
    "top-k": topK !== undefined,
    "top-p": topP !== undefined,
    shards: shards !== undefined && shards > 1,
  };
  return (Object.keys(needs) as OptionalInput[]).filter((name) => needs[name]);
}

/** item: of the kind "logits". f16 and bf16 are widened. Sequence and position are 0 for a sampler that is not said to read them. */
export function callOf({ files, rows, V, parameters }: DrawCase, reads: ReadonlySet<OptionalInput>): SamplerCall {
  const { seed, temperature, position, sequence, numSamples, topK, topP, shards } = parameters;
  const each = <Value>(value: (row: number) => Value): Value[] => Array.from({ length: rows }, (_, row) => value(row));
  return {
    logits: logitsOf(CORPUS.arrays[files.logits!]!),
    ...{ rows, vocabSize: V, numSamples },
    temperature: each((row) => Number(ofCorpusRow(temperature, row))),
    seed: each((row) => BigInt(ofCorpusRow(seed, row))),
    sequence: each((row) => (reads.has("sequence") ? ofCorpusRow(sequence, row) : 0)),
    position: each((row) => (reads.has("position") ? ofCorpusRow(position, row) : 0)),
    ...(files.mask !== undefined && { mask: wordsOf(CORPUS.arrays[files.mask]!) }),
    ...(topK !== undefined && { topK: each(() => topK) }),
    ...(topP !== undefined && { topP: each(() => Number(topP)) }),
    ...(shards !== undefined && { shards }),
  };
}

function logitsOf(array: CorpusArray): Float32Array {
  const data = elementsOf(array);
  return data instanceof Float32Array ? data : widen({ data: data as Uint16Array, dtype: array.dtype as "f16" | "bf16" });
}
