/** Writes the head and the hidden states of a story as files, so that its draws can be repeated without the model. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Head } from "./head.js";
import type { Story } from "./story.js";

const SAFETENSORS_NAMES = { f32: "F32", f16: "F16", bf16: "BF16" } as const;

/** Writes head.safetensors, hidden.npy [draws, D] and tokens.npy [draws]. Row k was drawn at position k. */
export async function exportStory(folder: string, head: Head, { tokens, hiddenStates }: Story): Promise<void> {
  const hidden = new Float32Array(hiddenStates.length * head.shape[1]);
  hiddenStates.forEach((state, row) => hidden.set(state, row * state.length));
  await mkdir(folder, { recursive: true });
  // One piece: Bun 1.4 writes a list of pieces with bytes too many at the end.
  const write = (name: string, parts: readonly Uint8Array[]) => writeFile(join(folder, name), concatenate(parts));
  await write("head.safetensors", safetensors("lm_head.weight", head));
  await write("hidden.npy", npy("<f4", [hiddenStates.length, head.shape[1]], hidden));
  await write("tokens.npy", npy("<i4", [tokens.length], Int32Array.from(tokens)));
}

/** One tensor: the length of the header as u64, a JSON header padded with spaces to a multiple of 8, the data. */
function safetensors(name: string, { data, dtype, shape }: Head): Uint8Array[] {
  const entry = { dtype: SAFETENSORS_NAMES[dtype], shape, data_offsets: [0, data.byteLength] };
  const json = JSON.stringify({ [name]: entry });
  const header = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8));
  const length = new DataView(new ArrayBuffer(8));
  length.setBigUint64(0, BigInt(header.length), true);
  return [bytesOf(length), header, bytesOf(data)];
}

/** Version 1.0: magic, version, u16 length of a header that ends in a newline at a multiple of 64, the data. */
function npy(descr: string, shape: readonly number[], data: ArrayBufferView): Uint8Array[] {
  const dict = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(", ")},), }`;
  const header = `${dict.padEnd(Math.ceil((11 + dict.length) / 64) * 64 - 11)}\n`;
  return [Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, header.length >> 8), new TextEncoder().encode(header), bytesOf(data)];
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
