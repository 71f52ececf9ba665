/**
 * Typed arrays from outside, of any realm (an iframe, node:vm, a test runner): known by their internal slots, so that neither a
 * foreign constructor nor a property that sits on the array misleads. A detached array counts as empty.
 */

const prototype = Object.getPrototypeOf(Uint8Array.prototype) as object;
const slot = (name: string | symbol) => Object.getOwnPropertyDescriptor(prototype, name)!.get!;
const kindSlot = slot(Symbol.toStringTag);
const bufferSlot = slot("buffer");
const offsetSlot = slot("byteOffset");
const lengthSlot = slot("length");
const byteLengthSlot = slot("byteLength");

/** "Float32Array", "Uint16Array", ...; undefined for what is no typed array. */
export function typedArrayKind(value: unknown): string | undefined {
  return kindSlot.call(value) as string | undefined;
}

/** The same elements as an array of this realm and of the given kind, which typedArrayKind must have said. */
export function ownView<T>(value: unknown, kind: new (buffer: ArrayBuffer, byteOffset: number, length: number) => T): T {
  const length = lengthSlot.call(value) as number;
  if (length === 0) return new kind(new ArrayBuffer(0), 0, 0);
  return new kind(bufferSlot.call(value) as ArrayBuffer, offsetSlot.call(value) as number, length);
}

/** The bytes of the elements. */
export function ownBytes(value: unknown): Uint8Array {
  const length = byteLengthSlot.call(value) as number;
  return length === 0 ? new Uint8Array(0) : new Uint8Array(bufferSlot.call(value) as ArrayBuffer, offsetSlot.call(value) as number, length);
}

/** An ArrayBuffer or SharedArrayBuffer of any realm, told by the tag that their prototypes carry. */
export function isBuffer(input: unknown): input is ArrayBufferLike {
  return /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(input));
}
