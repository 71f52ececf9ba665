/** The bits of the bf16 weight number `index`, row-major: magnitudes from 2^-7 to 2^-3. FILL of gpu.mjs and bench/h200/fill.cu make the same on a device. */
export function weightBits(index) {
  let x = Math.imul(index, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 15), 0x85ebca77);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae3d);
  x ^= x >>> 16;
  return ((x >>> 16) & 0x8000) | 0x3c00 | ((x >>> 8) & 0x1ff);
}
