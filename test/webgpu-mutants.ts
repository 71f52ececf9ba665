/** Shaders as a wrong compiler or device would run them: each computes other bits than docs/spec.md says. */
import type { KnownHead } from "../gpu/webgpu/self-test-inputs.js";

export interface Mutant {
  readonly name: string;
  readonly head: KnownHead;
  readonly from: string;
  readonly to: string;
  /** WGSL functions that `to` calls */
  readonly helpers?: string;
}

const TREE = "opaque(opaque(values.x + values.y) + opaque(values.z + values.w))";
const FMA = "fma(weight, hidden, sum)";
const NOISE = "gamma26(noiseWord(0u, b, i), noiseWord(1u, b, i))";

/** The sum of a whole row, column after column, in place of that of 32 lanes. One hidden row. */
const SEQUENTIAL = `
fn sequentialDot(row: u32) -> u32 {
  var sum = 0f;
  for (var unit = 0u; unit < piece.units; unit++) {
    for (var column = 0u; column < UNIT_COLUMNS; column++) {
      let packed = weightsOf(row * rowLength() + column % DOT_LANES, unit);
      let value = hidden[(sweep.firstRow * piece.units + unit) * UNIT_COLUMNS + column];
      sum = opaque(sum + opaque(weightOf(packed, column / DOT_LANES) * value));
    }
  }
  return bitcast<u32>(sum);
}`;

/** A device may round the product in fma() as well. This is one rounding: the product's and the sum's errors are added back. */
const FUSED = `
fn fused(w: f32, x: f32, sum: f32) -> f32 {
  let product = opaque(w * x);
  let wHigh = bitcast<f32>(bitcast<u32>(w) & 0xfffff000u);
  let xHigh = bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
  let wLow = opaque(w - wHigh);
  let xLow = opaque(x - xHigh);
  let crossed = opaque(opaque(opaque(wHigh * xHigh) - product) + opaque(wHigh * xLow));
  let lost = opaque(opaque(crossed + opaque(wLow * xHigh)) + opaque(wLow * xLow));
  let total = opaque(sum + product);
  let added = opaque(total - sum);
  let rounded = opaque(opaque(sum - opaque(total - added)) + opaque(product - added));
  return opaque(total + opaque(rounded + lost));
}`;

export const MUTANTS: readonly Mutant[] = [
  { name: "one sum in place of 32 lanes", head: "f32", from: "return bitcast<u32>(sum);", to: "return sequentialDot(token);", helpers: SEQUENTIAL },
  { name: "a tree of distant lanes", head: "bf16", from: TREE, to: "opaque(opaque(values.x + values.z) + opaque(values.y + values.w))" },
  { name: "a list in place of a tree", head: "f16", from: TREE, to: "opaque(opaque(opaque(values.x + values.y) + values.z) + values.w)" },
  { name: "f32 products fused with sums", head: "f32", from: "opaque(sum + opaque(weight * hidden))", to: "fused(weight, hidden, sum)", helpers: FUSED },
  { name: "the last bit of products cut off", head: "f32", from: "opaque(weight * hidden)", to: "bitcast<f32>(bitcast<u32>(weight * hidden) & 0xfffffffeu)" },
  { name: "bf16 products rounded to bf16", head: "bf16", from: FMA, to: "(sum + bitcast<f32>((bitcast<u32>(weight * hidden) + 0x8000u) & 0xffff0000u))" },
  { name: "f16 hidden states that are subnormal flushed", head: "f16", from: FMA, to: "fma(weight, select(0f, hidden, abs(hidden) >= 0x1p-14f), sum)" },
  { name: "f16 weights that are subnormal flushed", head: "f16", from: "select(normal, subnormal, magnitude < 0x400u)", to: "select(normal, 0u, magnitude < 0x400u)" },
  { name: "int8 sums cut off at 2^-16", head: "int8 narrow", from: FMA, to: "trunc(fma(weight, hidden, sum) * 65536f) / 65536f" },
  { name: "int8 logits rounded in place of truncated", head: "int8 narrow", from: "shiftRight64(product, shift & 63u)", to: "shiftRight64(add64(product, shiftLeft64(vec2u(1u, 0u), (shift - 1u) & 63u)), shift & 63u)" },
  { name: "one scale for all groups", head: "int8 narrow", from: "scales[token * piece.groups + group]", to: "scales[token * piece.groups]" },
  { name: "another clamp", head: "f32", from: "0x40000000u", to: "0x60000000u" },
  { name: "the low word of the noise ignored", head: "f32", from: NOISE, to: "gamma26(noiseWord(0u, b, i), 0u)" },
  { name: "24 bits of noise", head: "f32", from: NOISE, to: "gamma26(noiseWord(0u, b, i) & 0xffffff00u, noiseWord(1u, b, i))" },
  { name: "a tie to the larger token", head: "f32", from: "a.token < b.token", to: "a.token > b.token" },
  { name: "scores compared with the wrong sign", head: "f32", from: "greater64(a.score, b.score)", to: "greater64(a.score ^ vec2u(0u, 0x80000000u), b.score ^ vec2u(0u, 0x80000000u))" },
  { name: "scores compared by their upper words", head: "f32", from: "a.y > b.y || (a.y == b.y && a.x > b.x)", to: "a.y > b.y" },
  { name: "the last tile left out", head: "f32", from: "if (firstRow >= piece.rows) {", to: "if (firstRow + TILE > piece.rows) {" },
  { name: "the last token left out", head: "f32", from: "firstRow + i < piece.rows", to: "firstRow + i + 1u < piece.rows" },
  { name: "a token past the last", head: "f32", from: "firstRow + i < piece.rows", to: "firstRow + i <= piece.rows" },
];

/** @throws Error when the shader does not hold the text: a mutant that changes nothing would prove nothing */
export function mutate(code: string, { name, from, to, helpers = "" }: Mutant): string {
  const mutated = code.replaceAll(from, () => to) + helpers;
  if (mutated === code) throw new Error(`"${name}" expected a shader with ${from}, got none`);
  return mutated;
}
