/** Row-major matrices as callers hand them over: kinds and lengths checked, 16-bit floats widened exactly. */
import { describe } from "./describe.js";
import { bf16ToF32Bits, f16ToF32Bits } from "./spec/float.js";
import { ownView, typedArrayKind } from "./typed-arrays.js";

export type FloatDtype = "f32" | "f16" | "bf16";

/** Values and their format: f32 as they are, f16 and bf16 by their bits. */
export type TaggedFloats =
  | { readonly data: Float32Array; readonly dtype: "f32" }
  | { readonly data: Uint16Array; readonly dtype: "f16" | "bf16" };

/** f32 values, or values of another format. */
export type FloatData = Float32Array | TaggedFloats;

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
  const { data, dtype } = typedArrayKind(value) === "Float32Array" ? { data: value, dtype: "f32" } : ((value ?? {}) as { data?: unknown; dtype?: unknown });
  const kind = typedArrayKind(data);
  const isF32 = dtype === "f32" && kind === "Float32Array";
  if (!isF32 && !((dtype === "f16" || dtype === "bf16") && kind === "Uint16Array")) {
    throw new TypeError(`"${name}" expected ${EXPECTED}, got ${describe(value)}${dtype === undefined ? "" : ` with dtype ${describe(dtype)}`}`);
  }
  const checked = isF32 ? ownView(data, Float32Array) : ownView(data, Uint16Array);
  if (checked.length === 0 || checked.length % columns !== 0) {
    throw new RangeError(`"${name}" expected a positive multiple of ${columnsName} = ${columns} values, got ${checked.length}`);
  }
  return { data: checked, dtype: dtype as FloatDtype, rowCount: checked.length / columns };
}

/** A copy of the values as f32: what the caller does to the matrix afterwards no longer matters. */
export function widenedCopy(matrix: Pick<Matrix, "data" | "dtype">): Float32Array {
  const values = widen(matrix);
  return values === matrix.data ? values.slice() : values;
}

/** The values as f32. An f32 matrix is returned as it is. */
export function widen({ data, dtype }: Pick<Matrix, "data" | "dtype">): Float32Array {
  if (data instanceof Float32Array) return data;
  const bits = new Uint32Array(data.length);
  const toBits = dtype === "f16" ? f16ToF32Bits : bf16ToF32Bits;
  for (let index = 0; index < data.length; index++) bits[index] = toBits(data[index]!);
  return new Float32Array(bits.buffer);
}
