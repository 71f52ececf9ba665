/** A kernel's parameter as C lays it out: addresses, then 32-bit words. */
export function structOf(addresses: readonly bigint[], words: readonly number[]): ArrayBuffer {
  const bytes = new ArrayBuffer(8 * addresses.length + 8 * Math.ceil(words.length / 2));
  new BigUint64Array(bytes, 0, addresses.length).set(addresses);
  new Uint32Array(bytes, 8 * addresses.length).set(words);
  return bytes;
}
