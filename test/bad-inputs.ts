/** Bad inputs and the error each must give: one table, run over the API and every backend, and over the command line where it can say them. */
import type { SampleOptions, SamplerOptions } from "../src/index.js";

export interface BadInput {
  readonly name: string;
  readonly error: "TypeError" | "RangeError" | "InvalidRowError";
  /** What the message must say: the argument, what was expected, what came. */
  readonly message: RegExp;
}

/** A head that every bad call below is made on: V = 5, D = 3, bf16 ones. */
export const GOOD_HEAD = { data: new Uint16Array(15).fill(0x3f80), dtype: "bf16", shape: [5, 3] } as const;
export const GOOD_CALL = { hiddenStates: new Float32Array(6).fill(0.5), seed: 1n } as const;

type Loose<T> = { [Key in keyof T]?: unknown };

export const BAD_SAMPLES: readonly (BadInput & { readonly call: Loose<SampleOptions> })[] = [
  { name: "hiddenStates missing", call: { hiddenStates: undefined }, error: "TypeError", message: /"hiddenStates" expected a Float32Array.*got undefined/ },
  { name: "hiddenStates a plain array", call: { hiddenStates: [1, 2, 3] }, error: "TypeError", message: /"hiddenStates".*got Array/ },
  { name: "hiddenStates Float64Array", call: { hiddenStates: new Float64Array(3) }, error: "TypeError", message: /"hiddenStates".*got Float64Array/ },
  { name: "hiddenStates bits without dtype", call: { hiddenStates: { data: new Uint16Array(3) } }, error: "TypeError", message: /"hiddenStates"/ },
  { name: "hiddenStates bits with dtype f32", call: { hiddenStates: { data: new Uint16Array(3), dtype: "f32" } }, error: "TypeError", message: /"hiddenStates".*f32/ },
  { name: "hiddenStates empty", call: { hiddenStates: new Float32Array(0) }, error: "RangeError", message: /"hiddenStates" expected a positive multiple of D = 3.*got 0/ },
  { name: "hiddenStates of another D", call: { hiddenStates: new Float32Array(7) }, error: "RangeError", message: /"hiddenStates".*D = 3.*got 7/ },
  { name: "NaN in a hidden state", call: { hiddenStates: Float32Array.of(1, 1, 1, 1, NaN, 1) }, error: "InvalidRowError", message: /"hiddenStates".*NaN.*row 1.*column 1/ },
  { name: "Infinity in a hidden state", call: { hiddenStates: Float32Array.of(1, 1, Infinity, 1, 1, 1) }, error: "InvalidRowError", message: /"hiddenStates".*Infinity.*row 0.*column 2/ },
  { name: "a hidden state that rounds to infinity", call: { hiddenStates: new Float32Array(3).fill(3.4e38) }, error: "InvalidRowError", message: /"hiddenStates".*row 0.*column 0/ },
  { name: "a row that could overflow", call: { hiddenStates: new Float32Array(3).fill(2 ** 125) }, error: "InvalidRowError", message: /"hiddenStates".*row 0/ },
  ...[-1, 256, 1e300, NaN, Infinity, -1e-300].map((temperature) => ({
    name: `temperature ${temperature}`, call: { temperature }, error: "RangeError" as const, message: new RegExp(`"temperature" expected a number in \\[0, 256\\), got ${String(temperature).replace("+", "\\+")}`),
  })),
  { name: "temperature a string", call: { temperature: "1" }, error: "TypeError", message: /"temperature".*got "1"/ },
  { name: "temperature null", call: { temperature: null }, error: "TypeError", message: /"temperature".*got null/ },
  { name: "temperatures for too few rows", call: { temperature: [1] }, error: "RangeError", message: /"temperature" expected 2 values.*got 1/ },
  { name: "one bad temperature among rows", call: { temperature: [1, -1] }, error: "RangeError", message: /"temperature\[1\]".*got -1/ },
  { name: "a hole among temperatures", call: { temperature: [1, undefined] }, error: "TypeError", message: /"temperature\[1\]".*got undefined/ },
  ...[-1, 1.5, 2 ** 53, NaN].map((seed) => ({ name: `seed ${seed}`, call: { seed }, error: "RangeError" as const, message: /"seed" expected a non-negative safe integer/ })),
  { name: "seed -1n", call: { seed: -1n }, error: "RangeError", message: /"seed" expected a bigint in \[0, 2\^64\), got -1/ },
  { name: "seed 2^64", call: { seed: 1n << 64n }, error: "RangeError", message: /"seed".*got 18446744073709551616/ },
  { name: "seed a string", call: { seed: "42" }, error: "TypeError", message: /"seed".*got "42"/ },
  { name: "seed null", call: { seed: null }, error: "TypeError", message: /"seed".*got null/ },
  { name: "seeds for too few rows", call: { seed: BigUint64Array.of(1n) }, error: "RangeError", message: /"seed" expected 2 seeds.*got 1/ },
  { name: "signed seeds", call: { seed: BigInt64Array.of(1n, 2n) }, error: "TypeError", message: /"seed".*got BigInt64Array/ },
  ...["sequence", "position"].flatMap((name) => [
    ...[-1, 0.5, 2 ** 32, NaN, Infinity].map((value) => ({
      name: `${name} ${value}`, call: { [name]: value }, error: "RangeError" as const, message: new RegExp(`"${name}" expected an integer in \\[0, 4294967296\\), got ${value}`),
    })),
    { name: `${name} a bigint`, call: { [name]: 1n }, error: "TypeError" as const, message: new RegExp(`"${name}"`) },
    { name: `${name} for too many rows`, call: { [name]: [0, 1, 2] }, error: "RangeError" as const, message: new RegExp(`"${name}" expected 2 values.*got 3`) },
  ]),
  ...[0, -1, 1.5, 2 ** 24 + 1, NaN].map((numSamples) => ({
    name: `numSamples ${numSamples}`, call: { numSamples }, error: "RangeError" as const, message: /"numSamples" expected an integer in \[1, 16777217\)/,
  })),
  { name: "numSamples a string", call: { numSamples: "2" }, error: "TypeError", message: /"numSamples".*got "2"/ },
  { name: "onInvalid unknown", call: { onInvalid: "ignore" }, error: "RangeError", message: /"onInvalid" expected "throw" or "mark", got "ignore"/ },
];

const weights = (change: object) => ({ weights: { ...GOOD_HEAD, ...change } });

export const BAD_HEADS: readonly (BadInput & { readonly options: Loose<SamplerOptions> })[] = [
  { name: "weights missing", options: {}, error: "TypeError", message: /"weights"/ },
  { name: "weights null", options: { weights: null }, error: "TypeError", message: /"weights"/ },
  { name: "weights a number", options: { weights: 5 }, error: "TypeError", message: /"weights"/ },
  { name: "dtype unknown", options: weights({ dtype: "fp8" }), error: "RangeError", message: /dtype.*bf16.*fp8/ },
  { name: "data of another kind", options: weights({ data: new Float32Array(15) }), error: "TypeError", message: /Uint16Array.*Float32Array/ },
  { name: "shape missing", options: weights({ shape: undefined }), error: "TypeError", message: /shape/ },
  { name: "V = 0", options: weights({ shape: [0, 3], data: new Uint16Array(0) }), error: "RangeError", message: /shape/ },
  { name: "D = 0", options: weights({ shape: [5, 0], data: new Uint16Array(0) }), error: "RangeError", message: /shape/ },
  { name: "a fractional shape", options: weights({ shape: [2.5, 6] }), error: "RangeError", message: /shape/ },
  { name: "a shape of rank 3", options: weights({ shape: [5, 3, 1] }), error: "RangeError", message: /shape/ },
  { name: "data shorter than the shape", options: weights({ data: new Uint16Array(14) }), error: "RangeError", message: /5 \* 3.*14/ },
  { name: "V beyond any memory", options: weights({ shape: [2 ** 40, 2 ** 40] }), error: "RangeError", message: /shape|expected/ },
  { name: "NaN in the weights", options: weights({ data: Uint16Array.from({ length: 15 }, (_, i) => (i === 7 ? 0x7fc1 : 0x3f80)) }), error: "RangeError", message: /"weights".*NaN.*row 2.*column 1/ },
  { name: "infinity in the weights", options: weights({ data: Uint16Array.from({ length: 15 }, (_, i) => (i === 14 ? 0xff80 : 0x3f80)) }), error: "RangeError", message: /"weights".*Infinity.*row 4.*column 2/ },
  { name: "int8 without scales", options: weights({ dtype: "int8", data: new Int8Array(15) }), error: "TypeError", message: /scales/ },
  { name: "scales for bf16", options: weights({ scales: new Float32Array(5).fill(1) }), error: "RangeError", message: /scales.*int8.*bf16/ },
  ...[0, -1, NaN, Infinity, 1e-40].map((scale) => ({
    name: `a scale of ${scale}`, options: weights({ dtype: "int8", data: new Int8Array(15), scales: Float32Array.of(1, 1, scale, 1, 1) }), error: "RangeError" as const, message: /scales.*row 2/,
  })),
  { name: "scales of another length", options: weights({ dtype: "int8", data: new Int8Array(15), scales: new Float32Array(10).fill(1) }), error: "RangeError", message: /scales/ },
  { name: "backend unknown", options: { weights: GOOD_HEAD, backend: "cpu" }, error: "RangeError", message: /"backend" expected auto.*got "cpu"/ },
  { name: "backend not a name", options: { weights: GOOD_HEAD, backend: 3 }, error: "RangeError", message: /"backend"/ },
];
