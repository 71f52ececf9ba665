/** A call as a folder of .npy files, and the tokens that a command put there: docs/invariance.md, "The protocol". */
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeNpy, readNpyStored } from "../../head/npy.js";
import { bytesSource } from "../../head/source.js";
import type { SamplerCall } from "../../verify/sampler-under-test.js";

const TOKENS = "tokens.npy";
/** Bytes of the longest .npy header that is read, and more. */
const HEADER_ROOM = 1 << 16;
const [LOWEST, HIGHEST] = [-(2 ** 31), 2 ** 31 - 1];

export async function writeCall(folder: string, call: SamplerCall): Promise<void> {
  const { rows, vocabSize, numSamples, mask, topK, topP, shards } = call;
  const files: Record<string, Uint8Array> = {
    "logits.npy": npy("<f4", call.logits, [rows, vocabSize]),
    "temperature.npy": npy("<f8", Float64Array.from(call.temperature), [rows]),
    "seed.npy": npy("<u8", BigUint64Array.from(call.seed), [rows]),
    "sequence.npy": npy("<u4", Uint32Array.from(call.sequence), [rows]),
    "position.npy": npy("<u4", Uint32Array.from(call.position), [rows]),
    ...(mask && { "mask.npy": npy("<u4", mask, [rows, mask.length / rows]) }),
    ...(topK && { "top_k.npy": npy("<u4", Uint32Array.from(topK), [rows]) }),
    ...(topP && { "top_p.npy": npy("<f8", Float64Array.from(topP), [rows]) }),
    "call.json": new TextEncoder().encode(JSON.stringify({ rows, vocab_size: vocabSize, num_samples: numSamples, shards: shards ?? 1 })),
  };
  await mkdir(folder);
  await Promise.all(Object.entries(files).map(([name, bytes]) => writeFile(join(folder, name), bytes)));
}

function npy(descr: string, { buffer, byteOffset, byteLength }: ArrayBufferView, shape: readonly number[]): Uint8Array {
  return encodeNpy(descr, shape, new Uint8Array(buffer, byteOffset, byteLength));
}

/**
 * Tokens past 32 bits come as the nearest that fits: none of any vocabulary either way.
 * @throws Error when there is no such file; RangeError when it is no integers [rows] or [rows, samples]
 */
export async function readTokens(folder: string, { rows, numSamples }: SamplerCall): Promise<Int32Array> {
  const path = join(folder, TOKENS);
  const found = await stat(path).catch(() => null);
  // Opening a pipe would wait for its other end.
  if (found?.isFile() !== true) throw new Error(`"${TOKENS}" expected in the folder of the call, got ${found === null ? "none" : "something that is no file"}`);
  const limit = rows * numSamples * 8 + HEADER_ROOM;
  if (found.size > limit) throw new RangeError(`"${TOKENS}" expected at most ${limit} bytes, got ${found.size}`);
  const { data, shape } = await readNpyStored(bytesSource(await readFile(path), TOKENS));
  const isFlat = shape.length === 1 && numSamples === 1;
  if (shape[0] !== rows || !(isFlat || (shape.length === 2 && shape[1] === numSamples))) {
    const isOneARow = numSamples > 1 && data.length === rows;
    const expected = `${numSamples === 1 ? `[${rows}] or ` : ""}[${rows}, ${numSamples}], rows x num_samples of call.json`;
    throw new RangeError(`"${TOKENS}" expected shape ${expected}, got [${shape.join(", ")}]${isOneARow ? ": for a sampler of one draw a row: --reads sequence,position" : ""}`);
  }
  return Int32Array.from(data as ArrayLike<number | bigint>, (token) => Math.min(Math.max(Number(token), LOWEST), HIGHEST));
}
