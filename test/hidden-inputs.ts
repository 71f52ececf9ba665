/** Hidden values for tests of those that round and check them on a device. */
import type { FloatDtype } from "../src/matrix.js";
import { bitsFromF32, f32BitsToBf16, f32BitsToF16 } from "../src/spec/float.js";
import { Inputs } from "./problems.js";

export const FLOATS: readonly FloatDtype[] = ["f32", "f16", "bf16"];

/** Numbers with the given bits, or rounded to a format: what goes into a device's memory. */
export function asFormat(dtype: FloatDtype, values: Float32Array): Float32Array | Uint16Array {
  if (dtype === "f32") return values;
  const round = dtype === "f16" ? f32BitsToF16 : f32BitsToBf16;
  return Uint16Array.from(values, (value) => round(bitsFromF32(value)));
}

/** Values at and beside what roundings and rules are sensitive to, both signs; of 16-bit formats all. */
export function adversarial(dtype: FloatDtype): Float32Array | Uint16Array {
  if (dtype !== "f32") return Uint16Array.from({ length: 0x10000 }, (_, bits) => bits);
  const inputs = new Inputs(1);
  const bits = [0, 1, 0x7fffff, 0x800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff];
  for (let exponent = 0; exponent < 256; exponent++) {
    // The middles between neighbours of bf16 and of f16, normal or not, and the numbers themselves.
    for (const fraction of [0, 0x8000, 0x18000, 0x1000, 0x3000, 0x7fffff, inputs.below(128) << 16, inputs.below(1 << 23)]) {
      for (const nudge of [-1, 0, 1]) bits.push(((exponent << 23) | fraction) + nudge);
    }
  }
  for (const subnormal of [1, 2, 3, 511, 1023]) bits.push(bitsFromF32((subnormal + 0.5) * 2 ** -24), bitsFromF32(subnormal * 2 ** -24));
  bits.push(0x477fe000, 0x477fefff, 0x477ff000, 0x477ff001, 0x7f7f7fff, 0x7f7f8000);
  const both = bits.filter((pattern) => pattern >= 0).flatMap((pattern) => [pattern, (pattern | 0x80000000) >>> 0]);
  return new Float32Array(Uint32Array.from(both).buffer);
}
