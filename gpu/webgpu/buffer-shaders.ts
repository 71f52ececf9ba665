/** The shaders that read and write the buffers of callers. */
import { DTYPE_BYTES, type Dtype } from "../../src/backend.js";
import type { FloatDtype } from "../../src/matrix.js";
import { CANON_EXPONENT_BF16, CANON_EXPONENT_F32, DOT_LANES } from "../../src/spec/constants.js";
import arrangeHead from "./arrangeHead.wgsl";
import { FORMATS } from "../hidden-on-device.js";
import { UNIT_BLOCKS } from "../layout.js";
import prepareHidden from "./prepareHidden.wgsl";
import { constantsOf } from "./shaders.js";
import sourceValues from "./sourceValues.wgsl";
import storeTokens from "./storeTokens.wgsl";

/** Threads of a workgroup that works on one row. */
const ROW_WORKGROUP = 64;

function valuesOf(dtype: Dtype): Record<string, unknown> {
  const bits = 8 * DTYPE_BYTES[dtype];
  return { VALUE_BITS: bits, VALUE_MASK: 2 ** bits - 1, WORKGROUP: ROW_WORKGROUP };
}

export function prepareHiddenShader(source: FloatDtype, operand: FloatDtype): string {
  const formats = { SOURCE_FORMAT: FORMATS[source], OPERAND_FORMAT: FORMATS[operand], CANON_EXPONENT_BF16, CANON_EXPONENT_F32 };
  return [constantsOf({ ...valuesOf(source), ...formats }), sourceValues, prepareHidden].join("\n");
}

/** Magnitude bits from which on a weight is no number, and those below which CANON reads it as 0. */
const WEIGHT_LIMITS: Readonly<Record<Dtype, { readonly NOT_FINITE: number; readonly CANON_BELOW: number }>> = {
  bf16: { NOT_FINITE: 0x7f80, CANON_BELOW: CANON_EXPONENT_BF16 << 7 },
  f16: { NOT_FINITE: 0x7c00, CANON_BELOW: 0 },
  f32: { NOT_FINITE: 0x7f800000, CANON_BELOW: CANON_EXPONENT_F32 << 23 },
  int8: { NOT_FINITE: 0xffffffff, CANON_BELOW: 0 },
};

export function arrangeHeadShader(dtype: Dtype): string {
  const order = { UNIT_BLOCKS, DOT_LANES, IS_INT8: dtype === "int8" };
  return [constantsOf({ ...valuesOf(dtype), ...WEIGHT_LIMITS[dtype], ...order }), sourceValues, arrangeHead].join("\n");
}

/** Draws of a workgroup of storeTokens. */
export const TOKENS_WORKGROUP = 64;

export function storeTokensShader(): string {
  return [constantsOf({ WORKGROUP: TOKENS_WORKGROUP }), storeTokens].join("\n");
}
