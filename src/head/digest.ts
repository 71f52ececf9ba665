/**
 * A digest that names a head by its canonical content: the same for any file layout, tensor name, block size and backend.
 *
 *   row digest   = XXH32(bytes, seed 0), XXH32(bytes, seed 1): two u32, little-endian, of the row's canonical bytes
 *   head digest  = SHA-256 of:  the ASCII text "flash-sampling head 1\n" dtype " " V " " D " " groupSize "\n"
 *                               then the row digests of the V rows in order
 *                               then, for int8, the row digests of the V rows of scales (f32 [V, D / groupSize]) in order
 *
 * XXH32: Collet's xxHash specification. Limit: XXH32 tells heads apart that differ by accident; it does not resist an attacker.
 */
import type { HeadShape } from "../backend.js";

const P1 = 0x9e3779b1;
const P2 = 0x85ebca77;
const P3 = 0xc2b2ae3d;
const P4 = 0x27d4eb2f;
const P5 = 0x165667b1;

/** The row digest of length bytes from start on. One walk for both seeds, which share the loads and a product. */
export function rowDigest(view: DataView, start: number, length: number): [seed0: number, seed1: number] {
  const end = start + length;
  if (length < 16) return [finishXxh32(P5, view, start, end, length), finishXxh32(1 + P5, view, start, end, length)];
  // Four lanes a seed, which start at seed + P1 + P2, seed + P2, seed, seed - P1.
  let a0 = (P1 + P2) | 0;
  let b0 = P2 | 0;
  let c0 = 0;
  let d0 = -P1 | 0;
  let a1 = (1 + P1 + P2) | 0;
  let b1 = (1 + P2) | 0;
  let c1 = 1;
  let d1 = (1 - P1) | 0;
  let at = start;
  // DataView: a row with an odd number of halves is not aligned to words.
  for (; at <= end - 16; at += 16) {
    const a = Math.imul(view.getInt32(at, true), P2);
    const b = Math.imul(view.getInt32(at + 4, true), P2);
    const c = Math.imul(view.getInt32(at + 8, true), P2);
    const d = Math.imul(view.getInt32(at + 12, true), P2);
    a0 = Math.imul(rotate((a0 + a) | 0, 13), P1);
    b0 = Math.imul(rotate((b0 + b) | 0, 13), P1);
    c0 = Math.imul(rotate((c0 + c) | 0, 13), P1);
    d0 = Math.imul(rotate((d0 + d) | 0, 13), P1);
    a1 = Math.imul(rotate((a1 + a) | 0, 13), P1);
    b1 = Math.imul(rotate((b1 + b) | 0, 13), P1);
    c1 = Math.imul(rotate((c1 + c) | 0, 13), P1);
    d1 = Math.imul(rotate((d1 + d) | 0, 13), P1);
  }
  const hash0 = rotate(a0, 1) + rotate(b0, 7) + rotate(c0, 12) + rotate(d0, 18);
  const hash1 = rotate(a1, 1) + rotate(b1, 7) + rotate(c1, 12) + rotate(d1, 18);
  return [finishXxh32(hash0, view, at, end, length), finishXxh32(hash1, view, at, end, length)];
}

/** Takes in the length and what is left from at to end, and mixes. */
function finishXxh32(state: number, view: DataView, at: number, end: number, length: number): number {
  let hash = (state + length) | 0;
  for (; at <= end - 4; at += 4) hash = Math.imul(rotate(hash + Math.imul(view.getInt32(at, true), P3), 17), P4);
  for (; at < end; at++) hash = Math.imul(rotate(hash + Math.imul(view.getUint8(at), P5), 11), P1);
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Collects the digests of a head's rows, in ascending order. */
export class HeadDigest {
  readonly #shape: HeadShape;
  readonly #header: Uint8Array;
  readonly #message: Uint8Array<ArrayBuffer>;
  readonly #words: DataView;
  #end: number;

  constructor(shape: HeadShape) {
    const { dtype, vocabSize, hiddenSize, groupSize } = shape;
    this.#shape = shape;
    this.#header = new TextEncoder().encode(`flash-sampling head 1\n${dtype} ${vocabSize} ${hiddenSize} ${groupSize}\n`);
    this.#message = new Uint8Array(this.#header.length + 8 * vocabSize * (dtype === "int8" ? 2 : 1));
    this.#words = new DataView(this.#message.buffer);
    this.#message.set(this.#header);
    this.#end = this.#header.length;
  }

  /** Adds the next rows: rowCount * rowBytes canonical bytes. */
  addRows(bytes: Uint8Array, rowCount: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const rowBytes = bytes.length / rowCount;
    for (let row = 0; row < rowCount; row++) {
      const [seed0, seed1] = rowDigest(view, row * rowBytes, rowBytes);
      this.#words.setUint32(this.#end, seed0, true);
      this.#words.setUint32(this.#end + 4, seed1, true);
      this.#end += 8;
    }
  }

  /**
   * The head digest as 64 hexadecimal digits, once all rows are added.
   * Null where there is no Web Crypto: pages that are not a secure context.
   */
  async finish(scales: Float32Array | null): Promise<string | null> {
    if (scales !== null) this.addRows(new Uint8Array(scales.buffer, scales.byteOffset, scales.byteLength), this.#shape.vocabSize);
    if (this.#end !== this.#message.length) throw new Error(`"digest" expected ${this.#message.length} bytes, got ${this.#end}`);
    if (globalThis.crypto?.subtle === undefined) return null;
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", this.#message));
    return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}
