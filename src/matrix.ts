/** Row-major matrices as callers hand them over: kinds and lengths checked, 16-bit floats widened exactly. */
import { describe } from "./arguments.js";
import { bf16ToF32Bits, f16ToF32Bits } from "./spec/float.js";

export type FloatDtype = "f32" | "f16" | "bf16";

/** f32 values, or the bits of f16 or bf16 values. */
export type FloatData = Float32Array | { readonly data: Float32Array | Uint16Array; readonly dtype: FloatDtype };

export interface Matrix {
  readonly data: Float32Array | Uint16Array;
  readonly dtype: FloatDtype;
  readonly rowCount: number;
}

const EXPECTED = "a Float32Array, or { data, dtype } with dtype f32 (Float32Array), f16 or bf16 (Uint16Array of bits)";

/**
 * columnsName: what the row length is called in errors ("D" or "V").
 * @throws TypeError for another kind of data, RangeError when the length is no positive multiple of the row length
 */
export function checkMatrix(name: string, value: FloatData, columnsName: string, columns: number): Matrix {
  const { data, dtype } = value instanceof Float32Array ? { data: value, dtype: "f32" as const } : ((value ?? {}) as { data?: unknown; dtype?: unknown });
  const rightKind = dtype === "f32" ? data instanceof Float32Array : (dtype === "f16" || dtype === "bf16") && data instanceof Uint16Array;
  if (!rightKind) throw new TypeError(`"${name}" expected ${EXPECTED}, got ${describe(value)}${dtype === undefined ? "" : ` with dtype ${describe(dtype)}`}`);
  const checked = data as Float32Array | Uint16Array;
  if (checked.length === 0 || checked.length % columns !== 0) {
    throw new RangeError(`"${name}" expected a positive multiple of ${columnsName} = ${columns} values, got ${checked.length}`);
  }
  return { data: checked, dtype: dtype as FloatDtype, rowCount: checked.length / columns };
}

/** The values as f32. An f32 matrix is returned as it is. */
export function widen({ data, dtype }: Pick<Matrix, "data" | "dtype">): Float32Array {
  if (data instanceof Float32Array) return data;
  const bits = new Uint32Array(data.length);
  const toBits = dtype === "f16" ? f16ToF32Bits : bf16ToF32Bits;
  for (let index = 0; index < data.length; index++) bits[index] = toBits(data[index]!);
  return new Float32Array(bits.buffer);
}
