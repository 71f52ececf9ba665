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
  { name: "more draws than one call returns", call: { numSamples: 2 ** 24, hiddenStates: new Float32Array(15).fill(1) }, error: "RangeError", message: /"numSamples" expected at most 67108864 draws in one call, got 5 rows \* 16777216/ },
  { name: "more draws than one call returns with details", call: { numSamples: 2 ** 22, details: true }, error: "RangeError", message: /"numSamples" expected at most 4194304 draws in one call with details, got 2 rows \* 4194304/ },
  ...["yes", 1, null].map((details) => ({ name: `details ${details}`, call: { details }, error: "TypeError" as const, message: /"details" expected true or false/ })),
  { name: "onInvalid null", call: { onInvalid: null }, error: "RangeError", message: /"onInvalid".*got null/ },
  { name: "numSamples a string", call: { numSamples: "2" }, error: "TypeError", message: /"numSamples".*got "2"/ },
  { name: "onInvalid unknown", call: { onInvalid: "ignore" }, error: "RangeError", message: /"onInvalid" expected "throw" or "mark", got "ignore"/ },
];

/** A safetensors file of one tensor of 16 bytes, whatever its dtype is said to be. */
function safetensorsOf(name: string, dtype: string): Uint8Array {
  const header = new TextEncoder().encode(JSON.stringify({ [name]: { dtype, shape: [2, dtype === "I8" ? 8 : dtype === "F64" ? 1 : 4], data_offsets: [0, 16] } }));
  const file = new Uint8Array(8 + header.length + 16);
  new DataView(file.buffer).setUint32(0, header.length, true);
  file.set(header, 8);
  return file;
}

function detached(): Uint16Array {
  const array = new Uint16Array(15);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

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
  ...[3, 5n, Symbol("x"), null, {}].map((backend) => ({ name: `backend ${typeof backend}`, options: { weights: GOOD_HEAD, backend }, error: "RangeError" as const, message: /"backend" expected auto/ })),
  ...[5, {}, null].map((signal) => ({ name: `signal ${signal}`, options: { weights: GOOD_HEAD, signal }, error: "TypeError" as const, message: /"signal" expected an AbortSignal/ })),
  { name: "onProgress a number", options: { weights: GOOD_HEAD, onProgress: 5 }, error: "TypeError", message: /"onProgress" expected a function, got 5/ },
  { name: "tensor a number", options: { weights: safetensorsOf("w", "BF16"), tensor: 5 }, error: "TypeError", message: /"tensor" expected the name of a tensor, got 5/ },
  { name: "tensor a symbol", options: { weights: safetensorsOf("w", "BF16"), tensor: Symbol("w") }, error: "TypeError", message: /"tensor".*got a symbol/ },
  { name: "scales null for a file", options: { weights: safetensorsOf("w", "I8"), scales: null }, error: "TypeError", message: /"scales" expected the name of a tensor/ },
  ...["toString", "constructor", "__proto__"].map((dtype) => ({ name: `a file's dtype ${dtype}`, options: { weights: safetensorsOf("w", dtype) }, error: "RangeError" as const, message: /expected BF16, F16, F32 or I8/ })),
  { name: "a tensor name with control characters", options: { weights: safetensorsOf("a\nb\u001b[31m", "F64") }, error: "RangeError", message: /for "a\\nb\\u001b\[31m", got F64/ },
  { name: "a dtype that is an object", options: weights({ dtype: Object.create(null) }), error: "RangeError", message: /"weights.dtype".*got Object/ },
  { name: "a shape of symbols", options: weights({ shape: [Symbol("V"), 3] }), error: "RangeError", message: /got \[a symbol, 3\]/ },
  { name: "detached data", options: weights({ data: detached() }), error: "RangeError", message: /5 \* 3.*got 0/ },
  ...[[], [1, 2], [null]].map((list) => ({ name: `a list of ${list.length} that are no Files`, options: { weights: list }, error: "TypeError" as const, message: /"source" expected a list of Files/ })),
  ...["http://", "http://%zz/", "https://[/x"].map((url) => ({ name: `the URL ${url}`, options: { weights: url }, error: "RangeError" as const, message: /"source" expected a URL, got/ })),
  ...["data:application/octet-stream,abc", "blob:abc", "ftp://host/x"].map((url) => ({ name: `the address ${url}`, options: { weights: url }, error: "RangeError" as const, message: /"source" expected a path or a file:, http: or https: URL/ })),
  { name: "a URL with a password", options: { weights: "http://user:secret@127.0.0.1:9/x?key=secret" }, error: "RangeError", message: /"http:\/\/127.0.0.1:9\/x" expected a URL without user name and password, got one with them$/ },
  { name: "a file: URL of another machine", options: { weights: "file://host/x" }, error: "RangeError", message: /"source" expected a file: URL of this machine/ },
];
