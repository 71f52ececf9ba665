/** An LM head in the element type asked for: float32 as stored, or rounded once, nearest even, to bf16 or f16 bits. */
export type HeadDtype = "f32" | "f16" | "bf16";

/** As createSampler takes it. */
export type Head = {
  /** [V, D] */
  readonly shape: readonly [number, number];
} & ({ readonly data: Float32Array; readonly dtype: "f32" } | { readonly data: Uint16Array; readonly dtype: "bf16" | "f16" });

/** weights: [V, D] row-major; values past the largest of the type become infinite, which createSampler refuses. */
export function roundHead(weights: Float32Array, dtype: HeadDtype, shape: readonly [number, number]): Head {
  if (dtype === "f32") return { data: weights, dtype, shape };
  return { data: Uint16Array.from(weights, dtype === "bf16" ? bf16Bits : f16Bits), dtype, shape };
}

const floatView = new Float32Array(1);
const bitsView = new Uint32Array(floatView.buffer);

/** The upper half of a float32. */
export function bf16Bits(value: number): number {
  floatView[0] = value;
  const bits = bitsView[0]!;
  if (value !== value) return 0x7fc0;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/**
 * 1 sign, 5 exponent and 10 fraction bits. The magnitude is rounded to a multiple of its unit by adding and taking away a
 * number that has this unit in double, where the addition rounds to nearest even.
 */
export function f16Bits(value: number): number {
  if (value !== value) return 0x7e00;
  floatView[0] = value;
  const sign = (bitsView[0]! >>> 16) & 0x8000;
  const magnitude = Math.abs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  // Counts from the smallest normal f16, whose unit the subnormal ones share.
  const exponent = Math.max(((bitsView[0]! >>> 23) & 255) - 113, 0);
  const unit = (1 << exponent) / (1 << 24);
  const shifter = SHIFTER * unit;
  const steps = (magnitude + shifter - shifter) / unit;
  // 1024 steps are the hidden bit, which adds one to the exponent field, as a carry past it does.
  return sign | (steps + (exponent << 10));
}

/** 1.5 * 2^52: the unit of a double there is 1, also after a subtraction. */
const SHIFTER = 6755399441055744;
