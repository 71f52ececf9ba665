/** What a CUDA device must do with memory and streams of callers: each a function that throws where it does not. */
import { deepStrictEqual, equal, match, notDeepStrictEqual, ok, rejects } from "node:assert/strict";
import { createSampler, type CudaHiddenStates, type Dtype, type HeadArray, type SampleOptions, type Sampler } from "../src/index.js";
import { prepareHiddenStates } from "../src/hidden.js";
import { widen, type FloatData, type FloatDtype } from "../src/matrix.js";
import { PIECE_BYTES, type CudaMemory } from "./cuda-memory.js";
import { adversarial, asFormat, FLOATS } from "./hidden-inputs.js";
import { DTYPES, Inputs, makeWeights } from "./problems.js";

export interface PointerCheck {
  readonly name: string;
  readonly run: (memory: CudaMemory) => Promise<void>;
}

const CALL = { seed: 77n, sequence: 5, position: 3, details: true, onInvalid: "mark" } as const;
const inMemory = (data: Float32Array | Uint16Array, dtype: FloatDtype) => ({ data, dtype }) as FloatData;
const cuda = (weights: HeadArray): Promise<Sampler> => createSampler({ weights, backend: "cuda" });

function headOf(dtype: Dtype, vocabSize: number, hiddenSize: number, groupSize = hiddenSize): HeadArray {
  const data = makeWeights(new Inputs(vocabSize + hiddenSize), dtype, vocabSize, hiddenSize);
  const scales = Float32Array.from({ length: (vocabSize * hiddenSize) / groupSize }, (_, at) => (1 + (at % 7)) / 512);
  return { data, dtype, shape: [vocabSize, hiddenSize], ...(dtype === "int8" && { scales }) } as HeadArray;
}

function normals(seed: number, length: number): Float32Array {
  const inputs = new Inputs(seed);
  return Float32Array.from({ length }, () => inputs.normal());
}

/** Hidden states at a pointer give what the same from memory give, each with every number of every draw. */
async function expectSame(memory: CudaMemory, sampler: Sampler, data: Float32Array | Uint16Array, dtype: FloatDtype, options: Omit<SampleOptions, "hiddenStates">): Promise<void> {
  const hiddenStates = inMemory(data, dtype);
  const wanted = await sampler.sample({ hiddenStates, ...options });
  const pointer = memory.with(data, 2 * data.BYTES_PER_ELEMENT); // not where an allocation begins
  const shape = [data.length / sampler.hiddenSize, sampler.hiddenSize] as const;
  deepStrictEqual(await sampler.sample({ hiddenStates: { pointer, dtype, shape }, ...options }), wanted);
  memory.free(pointer - BigInt(2 * data.BYTES_PER_ELEMENT));
}

/** Rows for each block of hidden rows that a kernel takes, and several blocks. */
function sameAsMemory(format: FloatDtype, dtype: Dtype, hiddenSize: number, groupSize?: number): PointerCheck {
  return {
    name: `hidden states in ${format} for a head of ${dtype}, D = ${hiddenSize}${groupSize ? ` in groups of ${groupSize}` : ""}`,
    async run(memory) {
      const sampler = await cuda(headOf(dtype, 300, hiddenSize, groupSize));
      for (const rows of [1, 2, 3, 8, 19]) await expectSame(memory, sampler, asFormat(format, normals(rows, rows * hiddenSize)), format, { numSamples: 3, ...CALL });
      sampler.dispose();
    },
  };
}

/** A row for each value: logits and scores show what it became, "mark" whether it was refused. */
function roundsEach(format: FloatDtype, dtype: Dtype): PointerCheck {
  return {
    name: `every rounding of ${format} for a head of ${dtype}`,
    async run(memory) {
      const weight = dtype === "f32" ? Float32Array.of(1, -1) : dtype === "int8" ? Int8Array.of(1, -1) : asFormat(dtype, Float32Array.of(1, -1));
      const sampler = await cuda({ data: weight, dtype, shape: [2, 1], ...(dtype === "int8" && { scales: Float32Array.of(1, 1) }) } as HeadArray);
      const data = adversarial(format);
      const { invalidRow } = prepareHiddenStates(widen({ data, dtype: format } as never), { dtype, hiddenSize: 1 }, 1);
      ok(invalidRow.some((problem) => problem !== null));
      await expectSame(memory, sampler, data, format, { ...CALL, temperature: 0 });
      sampler.dispose();
    },
  };
}

/** Rows of three that are refused, at which column, and with which value. */
const REFUSED = [
  { bad: [4, NaN, Infinity], place: /got NaN at row 1, column 1/ },
  { bad: [-Infinity, 1, NaN], place: /got -Infinity at row 1, column 0/ },
  { bad: [1, 2, 3.4e38], place: /got 3\.39\d+e\+38 at row 1, column 2/ },
  { bad: [2 ** 99, -(2 ** 100), 2 ** 100], place: /below 2\^127, got -1\.267\d+e\+30 at row 1, column 1/ },
];

const refusedRows: PointerCheck[] = REFUSED.map(({ bad, place }) => ({
  name: `a row of ${bad.join(", ")} is refused as from memory`,
  async run(memory) {
    const sampler = await cuda({ data: new Uint16Array(12).fill(0x4c80), dtype: "bf16", shape: [4, 3] });
    const data = Float32Array.from([7, 8, 9, ...bad, 7, 8, 9, NaN, NaN, NaN, 7, 8, 9]);
    const hiddenStates: CudaHiddenStates = { pointer: memory.with(data), dtype: "f32", shape: [5, 3] };
    const told = await sampler.sample({ hiddenStates: data, seed: 1n }).catch((error: Error) => error.message);
    match(told as string, place);
    await rejects(sampler.sample({ hiddenStates, seed: 1n }), { name: "InvalidRowError", row: 1, message: told as string });
    await expectSame(memory, sampler, data, "f32", { numSamples: 2, ...CALL });
    sampler.dispose();
  },
}));

/** Tokens from rows in memory and on the device, of which two are refused; words beside them stay as they are. */
function storesTokens(dtype: Dtype, rows: number, numSamples: number): PointerCheck {
  return {
    name: `tokens of ${rows} rows, ${numSamples} each, of a head of ${dtype}`,
    async run(memory) {
      const sampler = await cuda(headOf(dtype, 50, 40));
      const data = normals(4, rows * 40);
      data[45] = NaN;
      data[(rows - 1) * 40] = 3.4e38;
      const call = { seed: 3n, numSamples };
      const { tokens } = await sampler.sample({ hiddenStates: data, onInvalid: "mark", ...call });
      ok(tokens.includes(-1));
      const beside = Int32Array.of(11, 12, 13);
      const pointer = memory.with(data);
      for (const hiddenStates of [data, { pointer, dtype: "f32", shape: [rows, 40] } as const]) {
        const out = memory.with(Int32Array.from([...beside, ...tokens.map(() => 99), ...beside]));
        deepStrictEqual(await sampler.sample({ hiddenStates, tokensTo: { pointer: out + 12n }, ...call }), { seed: 3n });
        deepStrictEqual(memory.read(out, tokens.length + 6), Int32Array.from([...beside, ...tokens, ...beside]));
        memory.free(out);
      }
      memory.free(pointer);
      sampler.dispose();
    },
  };
}

const SLOW_BYTES = 256 << 20;
const SLOW_COPIES = 300;

/** A stream of the caller's that is busy for a while, and then copies hidden states to where a call reads them. */
const streamOrder: PointerCheck = {
  name: "a call is in order with its stream, and does not wait for it",
  async run(memory) {
    const sampler = await cuda(headOf("bf16", 400, 64));
    const [first, second, none] = [normals(1, 4 * 64), normals(2, 4 * 64), new Float32Array(4 * 64).fill(NaN)];
    const call = { seed: 8n, numSamples: 2 };
    const wanted = [(await sampler.sample({ hiddenStates: first, ...call })).tokens, (await sampler.sample({ hiddenStates: second, ...call })).tokens];
    notDeepStrictEqual(wanted[0], wanted[1]);
    const stream = memory.createStream();
    const slow = [memory.allocate(SLOW_BYTES), memory.allocate(SLOW_BYTES)] as const;
    const sources = [memory.with(first), memory.with(second)];
    const hidden = memory.with(none);
    const tokens = memory.with(new Int32Array(8).fill(99));
    const copies = [memory.allocate(32), memory.allocate(32)];
    const options = { hiddenStates: { pointer: hidden, dtype: "f32", shape: [4, 64] }, stream, ...call } as const;
    await sampler.sample({ ...options, tokensTo: { pointer: tokens } }).then(() => memory.finish(stream)); // all memory is there now
    const keepBusy = (): void => {
      for (let count = 0; count < SLOW_COPIES; count++) memory.copyOn(stream, slow[count % 2]!, slow[1 - (count % 2)]!, SLOW_BYTES);
    };
    keepBusy();
    memory.copyOn(stream, hidden, sources[0]!, first.byteLength);
    await sampler.sample({ ...options, tokensTo: { pointer: tokens } });
    ok(memory.isBusy(stream), "the call waited for the stream");
    memory.copyOn(stream, copies[0]!, tokens, 32);
    memory.copyOn(stream, hidden, sources[1]!, second.byteLength); // once the call has read what was there
    await sampler.sample({ ...options, tokensTo: { pointer: tokens } });
    memory.copyOn(stream, copies[1]!, tokens, 32);
    memory.finish(stream);
    deepStrictEqual([memory.read(copies[0]!, 8), memory.read(copies[1]!, 8)], wanted);
    // The same where decisions come back, and on the legacy default stream.
    keepBusy();
    memory.copyOn(stream, hidden, sources[0]!, first.byteLength);
    deepStrictEqual((await sampler.sample(options)).tokens, wanted[0]);
    memory.copyOn(0n, hidden, sources[1]!, second.byteLength);
    deepStrictEqual((await sampler.sample({ ...options, stream: 0n })).tokens, wanted[1]);
    memory.destroyStream(stream);
    for (const address of [...slow, ...sources, hidden, tokens, ...copies]) memory.free(address);
    sampler.dispose();
  },
};

/** Calls that nobody waits for, between others that read back: they share memory. */
const callsAtOnce: PointerCheck = {
  name: "calls at once, of which some leave their tokens on the device",
  async run(memory) {
    const sampler = await cuda(headOf("f16", 500, 96));
    const stream = memory.createStream();
    const calls = Array.from({ length: 12 }, (_, index) => {
      const rows = 1 + (index % 5);
      const data = normals(index, rows * 96);
      return { rows, data, seed: BigInt(index), pointer: memory.with(data), out: memory.allocate(4 * rows) };
    });
    const wanted: Int32Array[] = [];
    for (const { data, seed } of calls) wanted.push((await sampler.sample({ hiddenStates: data, seed })).tokens);
    const found = await Promise.all(
      calls.map(async ({ rows, seed, pointer, out, data }, index) => {
        const hiddenStates = { pointer, dtype: "f32", shape: [rows, 96] } as const;
        if (index % 3 === 2) return (await sampler.sample({ hiddenStates: data, seed })).tokens;
        if (index % 3 === 1) return (await sampler.sample({ hiddenStates, seed })).tokens;
        await sampler.sample({ hiddenStates, seed, tokensTo: { pointer: out }, stream });
        return null;
      }),
    );
    memory.finish(stream);
    deepStrictEqual(found.map((tokens, index) => tokens ?? memory.read(calls[index]!.out, calls[index]!.rows)), wanted);
    memory.destroyStream(stream);
    for (const { pointer, out } of calls) [pointer, out].forEach((address) => memory.free(address));
    sampler.dispose();
  },
};

/** Nothing of a refused call runs: the next one is right. */
const refusedPointers: PointerCheck = {
  name: "pointers and streams that are none are refused by name",
  async run(memory) {
    const sampler = await cuda(headOf("bf16", 20, 8));
    const data = normals(3, 16);
    const hidden = memory.with(data);
    const small = memory.allocate(4);
    const own = new Float32Array(new ArrayBuffer(64));
    const at = (pointer: unknown, dtype: FloatDtype = "f32", shape: readonly number[] = [2, 8]) => ({ hiddenStates: { pointer, dtype, shape } }) as unknown as SampleOptions;
    const to = (pointer: unknown) => ({ ...at(hidden), tokensTo: { pointer } }) as unknown as SampleOptions;
    const refuses = (options: SampleOptions, message: RegExp) => rejects(sampler.sample({ seed: 1n, ...options }), { message });
    await refuses(at(64), /"hiddenStates\.pointer" expected a bigint, got 64/);
    await refuses(at(0n), /"hiddenStates\.pointer" expected an address .* multiple of 4, got 0n/);
    await refuses(at(hidden + 2n), /"hiddenStates\.pointer" expected an address .* multiple of 4/);
    await refuses(at(4096n), /"hiddenStates\.pointer" expected memory of the CUDA device, got 0x1000/);
    await refuses(at(hidden + (1n << 46n)), /"hiddenStates\.pointer" expected memory of the CUDA device/);
    await refuses(at(hidden, "f32", [1 << 18, 8]), /"hiddenStates\.pointer" expected 8388608 bytes of memory, got \d+/);
    await refuses(at(hidden, "f32", [2, 9]), /"hiddenStates\.shape" expected \[B, 8\]/);
    await refuses(at(hidden, "f64" as FloatDtype), /"hiddenStates\.dtype" expected f32, f16 or bf16/);
    await refuses(to(small + 2n), /"tokensTo\.pointer" expected an address .* multiple of 4/);
    await refuses(to(8192n), /"tokensTo\.pointer" expected memory of the CUDA device/);
    await refuses({ ...to(small), numSamples: 1 << 20 }, /"tokensTo\.pointer" expected 8388608 bytes of memory/);
    await memory.withHostMemory((address) => refuses(to(address), /"tokensTo\.pointer" expected memory of the CUDA device/));
    await refuses({ ...at(hidden), tokensTo: 5 } as never, /"tokensTo" expected \{ pointer \}, got 5/);
    await refuses({ ...to(small), details: true }, /"details" expected false with tokensTo/);
    await refuses({ ...to(small), onInvalid: "throw" }, /"onInvalid" expected "mark" with tokensTo/);
    await refuses({ ...at(hidden), stream: 5 } as never, /"stream" expected a bigint, got 5/);
    await refuses({ ...at(hidden), stream: -1n }, /"stream" expected a CUstream/);
    await refuses({ hiddenStates: own, stream: 0n }, /"stream" expected hidden states or tokens at a pointer/);
    await memory.withForeignStream((stream) => refuses({ ...at(hidden), stream }, /"stream" expected a stream of the device's primary context/));
    const stream = memory.createStream();
    await memory.capturing(stream, () => refuses({ ...at(hidden), stream }, /"stream" expected a stream that is not being captured/));
    memory.destroyStream(stream);
    await refuses({ ...at(hidden), stream }, /"stream" expected a CUstream, got one that was destroyed or never was/);
    await refuses({ ...at(hidden), stream: hidden }, /"stream" expected a CUstream, got memory of the device/);
    for (const none of [3n, 4096n, 1n << 63n]) await refuses({ ...at(hidden), stream: none }, /"stream" expected a CUstream \(0n, 1n, 2n or an address/);
    const { tokens } = await sampler.sample({ hiddenStates: data, seed: 1n });
    deepStrictEqual((await sampler.sample({ ...at(hidden), seed: 1n })).tokens, tokens);
    equal(tokens.length, 2);
    [hidden, small].forEach((address) => memory.free(address));
    sampler.dispose();
  },
};

/** Their memory is there until they are done; what begins later is refused. */
const disposedMeanwhile: PointerCheck = {
  name: "calls that were begun are answered when their sampler is disposed of meanwhile",
  async run(memory) {
    for (const dtype of ["bf16", "f32"] as const) {
      const sampler = await cuda(headOf(dtype, 700, 96));
      const data = normals(6, 40 * 96);
      const pointer = memory.with(data);
      const { tokens } = await sampler.sample({ hiddenStates: data, seed: 2n });
      for (const hiddenStates of [data, { pointer, dtype: "f32", shape: [40, 96] } as const]) {
        const brief = await cuda(headOf(dtype, 700, 96));
        const begun = [brief, brief, sampler, brief].map((used) => used.sample({ hiddenStates, seed: 2n }));
        brief.dispose();
        brief.dispose();
        const later = rejects(brief.sample({ hiddenStates, seed: 2n }), /"sampler" expected to be in use, got one that was disposed/);
        const next = await cuda(headOf(dtype, 700, 96)); // may get its memory
        deepStrictEqual((await Promise.all(begun)).map((result) => result.tokens), [tokens, tokens, tokens, tokens]);
        await later;
        next.dispose();
      }
      memory.free(pointer);
      sampler.dispose();
    }
  },
};

/** An illegal access would end all CUDA work of the process, so the call after each refusal shows that there was none. */
const virtualMemory: PointerCheck = {
  name: "virtual memory is used where it is mapped with the rights for it, across pieces, and refused elsewhere",
  async run(memory) {
    const sampler = await cuda(headOf("bf16", 20, 8));
    const data = normals(3, 32);
    const call = { seed: 1n, numSamples: 8 };
    const { tokens } = await sampler.sample({ hiddenStates: data, ...call });
    const good = memory.with(data);
    await memory.withPieces([3, 3, 1, null, 0, 3], async (start) => {
      /** So many bytes before the end of a piece; a call reads and writes 128. */
      const before = (piece: number, bytes: number) => start + BigInt((piece + 1) * PIECE_BYTES - bytes);
      const read = (pointer: bigint) => sampler.sample({ hiddenStates: { pointer, dtype: "f32", shape: [4, 8] }, onInvalid: "mark", ...call });
      const write = (pointer: bigint) => sampler.sample({ hiddenStates: { pointer: good, dtype: "f32", shape: [4, 8] }, tokensTo: { pointer }, ...call });
      memory.write(before(0, 64), data);
      deepStrictEqual((await read(before(0, 64))).tokens, tokens);
      await write(before(0, 64));
      deepStrictEqual(memory.read(before(0, 64), 32), tokens);
      await Promise.all([read(before(1, 64)), read(before(2, 128))]); // whatever is there
      const refusals: readonly (readonly [typeof read | typeof write, bigint, RegExp])[] = [
        [write, before(1, 64), /"tokensTo\.pointer" expected 128 bytes of memory, got 64 from/],
        [write, before(2, 128), /"tokensTo\.pointer" expected memory that the CUDA device may write/],
        [read, before(2, 64), /"hiddenStates\.pointer" expected 128 bytes of memory, got 64 from/],
        [read, before(3, 128), /"hiddenStates\.pointer" expected memory of the CUDA device, got .* none/],
        [read, before(4, 128), /"hiddenStates\.pointer" expected memory that the CUDA device may read/],
        [read, before(5, 64), /"hiddenStates\.pointer" expected 128 bytes of memory, got 64 from/],
      ];
      for (const [use, pointer, message] of refusals) {
        await rejects(use(pointer) as Promise<unknown>, { name: "RangeError", message });
        deepStrictEqual((await read(good)).tokens, tokens);
      }
    });
    memory.free(good);
    sampler.dispose();
  },
};

const foreignContext: PointerCheck = {
  name: "another context of the caller stays current",
  async run(memory) {
    const data = normals(3, 16);
    const use = async (): Promise<void> => {
      const sampler = await cuda(headOf("bf16", 20, 8));
      await sampler.sample({ hiddenStates: data });
      sampler.dispose();
      await rejects(cuda(headOf("f32", 2, 3)).then((other) => other.sample({ hiddenStates: { pointer: 64n, dtype: "f32", shape: [1, 3] } })), RangeError);
    };
    ok(await memory.keepsForeignContext(use));
  },
};

export const POINTER_CHECKS: readonly PointerCheck[] = [
  ...FLOATS.flatMap((format) => DTYPES.flatMap((dtype) => [sameAsMemory(format, dtype, 5), sameAsMemory(format, dtype, 261), roundsEach(format, dtype)])),
  sameAsMemory("bf16", "int8", 96, 32),
  sameAsMemory("f32", "int8", 512, 128),
  sameAsMemory("f16", "bf16", 3000),
  ...refusedRows,
  ...DTYPES.flatMap((dtype) => [storesTokens(dtype, 9, 2), storesTokens(dtype, 150, 7)]),
  streamOrder,
  callsAtOnce,
  refusedPointers,
  disposedMeanwhile,
  virtualMemory,
  foreignContext,
];
