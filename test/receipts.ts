/** Receipts of every kind of draw, made on any backend: what the tests of receipts share. */
import { createSampler, sampleLogits, type BackendName, type DrawOptions, type FloatData, type HeadArray } from "../src/index.js";
import { receiptOf, type Receipt } from "../src/verify/receipt.js";
import { DTYPES, Inputs, makeWeights } from "./problems.js";

export interface ReceiptCase {
  readonly name: string;
  readonly inputs: { readonly weights: HeadArray; readonly hiddenStates: FloatData } | { readonly logits: FloatData };
  readonly options: DrawOptions;
}

const V = 61;
const D = 64;
const ROWS = 3;

/** Marks a row that has no token. */
function withNaN(values: Float32Array, at: number): Float32Array {
  values[at] = NaN;
  return values;
}

function headCase(dtype: (typeof DTYPES)[number], groups: number, name: string, hiddenStates: FloatData, options: DrawOptions): ReceiptCase {
  const inputs = new Inputs(V + groups);
  const scales = Float32Array.from({ length: V * groups }, () => (1 + inputs.below(99)) / 1024);
  const weights = { data: makeWeights(inputs, dtype, V, D), dtype, shape: [V, D], ...(dtype === "int8" && { scales }) } as HeadArray;
  return { name, inputs: { weights, hiddenStates }, options };
}

const normals = (seed: number, length: number): Float32Array => {
  const inputs = new Inputs(seed);
  return Float32Array.from({ length }, () => inputs.normal());
};
const halves = (seed: number, length: number): Uint16Array => Uint16Array.from(new Uint32Array(normals(seed, length).buffer), (bits) => bits >>> 16);

export const RECEIPT_CASES: readonly ReceiptCase[] = [
  ...DTYPES.map((dtype) => headCase(dtype, 1, dtype, normals(1, ROWS * D), { seed: 42n, temperature: 0.7, position: 3, numSamples: 2 })),
  headCase("int8", 2, "int8 in groups, bf16 hidden states", { data: halves(2, ROWS * D), dtype: "bf16" }, { seed: 2n ** 64n - 1n, sequence: 9 }),
  headCase("bf16", 1, "a seed, temperature, position and sequence a row", normals(3, ROWS * D), {
    seed: BigUint64Array.of(1n, 2n ** 63n, 3n),
    temperature: [0, 1, 1e-4],
    position: [2 ** 32 - 1, 0, 7],
    sequence: [5, 5, 6],
  }),
  headCase("f32", 1, "a marked row", withNaN(normals(4, ROWS * D), D + 1), { seed: 5n, numSamples: 2 }),
  { name: "logits", inputs: { logits: normals(5, ROWS * V) }, options: { seed: 6n, numSamples: 3 } },
  { name: "logits with a masked and an invalid row", inputs: { logits: withNaN(normals(6, ROWS * V).fill(-Infinity, V, 2 * V), 2 * V) }, options: { seed: 7n, temperature: 255.9 } },
];

/** The receipt of a case that a backend drew. */
export async function makeReceipt({ inputs, options }: ReceiptCase, backend: BackendName): Promise<Receipt> {
  const call = { ...options, details: true, onInvalid: "mark" } as const;
  if ("logits" in inputs) {
    const vocabSize = V;
    const result = await sampleLogits({ ...call, logits: inputs.logits, vocabSize, backend });
    return receiptOf({ backend, from: { vocabSize, logits: inputs.logits }, options, result, places: { logits: "l.npy" } });
  }
  const { hiddenStates, ...head } = inputs;
  const sampler = await createSampler({ ...head, backend });
  try {
    const result = await sampler.sample({ ...call, hiddenStates });
    return await receiptOf({ backend, from: { head: sampler, hiddenStates }, options, result, places: { weights: "w.npy", hidden: "h.npy" } });
  } finally {
    sampler.dispose();
  }
}
