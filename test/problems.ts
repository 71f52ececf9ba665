/**
 * Seeded sampling problems for conformance runs: the same on every engine, since only 32-bit integers make them.
 * A fifth are built to be decided by ties or by the last bit of a score.
 */
import type { Dtype } from "../src/backend.js";
import type { SampleOptions } from "../src/sampler.js";
import { bitsFromF32, f32BitsToBf16, f32BitsToF16, f32FromBits } from "../src/spec/float.js";
import type { WeightData } from "../src/spec/logit.js";

export const DTYPES: readonly Dtype[] = ["bf16", "f16", "f32", "int8"];
export const TEMPERATURES = [0, 1e-4, 0.7, 1, 255.9] as const;
const SHAPE_KINDS = ["plain", "plain", "plain", "plain", "tied"] as const;
const TIES = ["duplicate rows", "one ulp apart", "zero hidden state", "clamped logits"] as const;

export interface Problem {
  readonly name: string;
  readonly weights: { data: WeightData; dtype: Dtype; shape: [number, number]; scales?: Float32Array };
  readonly sample: SampleOptions & { readonly seed: bigint };
}

/** A 32-bit counter hashed by multiply and shift: small, and good enough to make inputs. */
export class Inputs {
  #state: number;
  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }
  /** u32 */
  word(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return (x ^ (x >>> 14)) >>> 0;
  }
  /** An integer in [0, limit). */
  below(limit: number): number {
    return Math.floor((this.word() / 2 ** 32) * limit);
  }
  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }
  /** A number of about unit size: the sum of four uniforms, centred, exact in f32. */
  normal(): number {
    return (this.below(65536) + this.below(65536) + this.below(65536) + this.below(65536) - 131070) / 32768;
  }
  /** 1..limit, every power of two as likely as the next. */
  logUniform(limit: number): number {
    const power = this.below(Math.ceil(32 - Math.clz32(limit)));
    return Math.min(limit, 2 ** power + this.below(2 ** power));
  }
}

/** Problem number `index`: dtypes take turns, so a run of 4 N problems has N of each. */
export function makeProblem(index: number, maxVocab = 5000, maxHidden = 1024): Problem {
  const inputs = new Inputs(index);
  const dtype = DTYPES[index % DTYPES.length]!;
  const tie = inputs.pick(SHAPE_KINDS) === "tied" ? inputs.pick(TIES) : null;
  const vocabSize = inputs.logUniform(maxVocab);
  const hiddenSize = 1 + inputs.below(maxHidden);
  const rows = 1 + inputs.below(3);
  const data = makeWeights(inputs, dtype, vocabSize, hiddenSize);
  if (tie === "duplicate rows" || tie === "one ulp apart") repeatRows(inputs, data, vocabSize, hiddenSize, tie === "one ulp apart");
  const hiddenScale = tie === "zero hidden state" ? 0 : tie === "clamped logits" && dtype !== "f16" ? 2 ** 40 : inputs.pick([1, 0.25, 4]);
  const hiddenStates = Float32Array.from({ length: rows * hiddenSize }, () => inputs.normal() * hiddenScale);
  const groupSize = hiddenSize % 32 === 0 && inputs.below(2) === 1 ? 32 : hiddenSize;
  const groups = hiddenSize / groupSize;
  const scales = Float32Array.from({ length: vocabSize * groups }, () => (1 + inputs.below(1000)) / 4096);
  return {
    name: `problem ${index}: ${dtype} V=${vocabSize} D=${hiddenSize} B=${rows}${tie ? ` (${tie})` : ""}`,
    weights: { data, dtype, shape: [vocabSize, hiddenSize], ...(dtype === "int8" && { scales }) },
    sample: {
      hiddenStates,
      temperature: inputs.pick(TEMPERATURES),
      seed: (BigInt(inputs.word()) << 32n) | BigInt(inputs.word()),
      sequence: Array.from({ length: rows }, () => inputs.word()),
      position: inputs.word(),
      numSamples: 1 + inputs.below(2),
      details: true,
    },
  };
}

/** Weights of about 1 / sqrt(D), so that logits are of about unit size. */
export function makeWeights(inputs: Inputs, dtype: Dtype, vocabSize: number, hiddenSize: number): WeightData {
  const length = vocabSize * hiddenSize;
  const scale = 2 ** -Math.ceil((32 - Math.clz32(hiddenSize)) / 2);
  switch (dtype) {
    case "bf16":
      return fill(new Uint16Array(length), () => f32BitsToBf16(bitsFromF32(inputs.normal() * scale)));
    case "f16":
      return fill(new Uint16Array(length), () => f32BitsToF16(bitsFromF32(inputs.normal() * scale)));
    case "f32":
      return fill(new Float32Array(length), () => inputs.normal() * scale);
    case "int8":
      return fill(new Int8Array(length), () => inputs.below(256) - 128);
  }
}

function fill<T extends WeightData>(values: T, make: () => number): T {
  for (let index = 0; index < values.length; index++) values[index] = make();
  return values;
}

/** Makes most rows copies of a few; with `nudge` some copies differ in the last bit of one weight. */
function repeatRows(inputs: Inputs, data: WeightData, vocabSize: number, hiddenSize: number, nudge: boolean): void {
  const originals = Math.min(vocabSize, 1 + inputs.below(3));
  for (let token = originals; token < vocabSize; token++) {
    const source = inputs.below(originals) * hiddenSize;
    data.copyWithin(token * hiddenSize, source, source + hiddenSize);
    if (!nudge || inputs.below(2) === 0) continue;
    const at = token * hiddenSize + inputs.below(hiddenSize);
    data[at] = data instanceof Float32Array ? f32FromBits(bitsFromF32(data[at]!) ^ 1) : data[at]! ^ 1;
  }
}
