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

/** The sum of a whole row, column after column, in place of that of 32 lanes. One hidden row. */
const SEQUENTIAL = `
fn sequentialDot(row: u32) -> u32 {
  var sum = 0f;
  for (var unit = 0u; unit < piece.units; unit++) {
    for (var block = 0u; block < UNIT_BLOCKS; block++) {
      for (var part = 0u; part < THREADS_A_ROW; part++) {
        let weight = unpackWeights(weights[(row * piece.units + unit) * THREADS_A_ROW + part], block);
        let values = hidden[((sweep.firstRow * piece.units + unit) * UNIT_BLOCKS + block) * THREADS_A_ROW + part];
        for (var i = 0u; i < 4u; i++) {
          sum = opaque(sum + opaque(weight[i] * values[i]));
        }
      }
    }
  }
  return bitcast<u32>(sum);
}`;

/** A device may round the product in fma() as well. This is one rounding: the product's and the sum's errors are added back. */
const FUSED = `
fn fused(w: vec4f, x: vec4f, sum: vec4f) -> vec4f {
  let product = opaque4(w * x);
  let wHigh = bitcast<vec4f>(bitcast<vec4u>(w) & vec4u(0xfffff000u));
  let xHigh = bitcast<vec4f>(bitcast<vec4u>(x) & vec4u(0xfffff000u));
  let wLow = opaque4(w - wHigh);
  let xLow = opaque4(x - xHigh);
  let crossed = opaque4(opaque4(opaque4(wHigh * xHigh) - product) + opaque4(wHigh * xLow));
  let lost = opaque4(opaque4(crossed + opaque4(wLow * xHigh)) + opaque4(wLow * xLow));
  let total = opaque4(sum + product);
  let added = opaque4(total - sum);
  let rounded = opaque4(opaque4(sum - opaque4(total - added)) + opaque4(product - added));
  return opaque4(total + opaque4(rounded + lost));
}`;

export const MUTANTS: readonly Mutant[] = [
  { name: "one sum in place of 32 lanes", head: "f32", from: "return bitcast<u32>(sum);", to: "return sequentialDot(token);", helpers: SEQUENTIAL },
  { name: "a tree of distant lanes", head: "bf16", from: TREE, to: "opaque(opaque(values.x + values.z) + opaque(values.y + values.w))" },
  { name: "a list in place of a tree", head: "f16", from: TREE, to: "opaque(opaque(opaque(values.x + values.y) + values.z) + values.w)" },
  { name: "f32 products fused with sums", head: "f32", from: "opaque4(sum + opaque4(weight * hidden))", to: "fused(weight, hidden, sum)", helpers: FUSED },
  { name: "the last bit of products cut off", head: "f32", from: "opaque4(weight * hidden)", to: "bitcast<vec4f>(bitcast<vec4u>(weight * hidden) & vec4u(0xfffffffeu))" },
  { name: "bf16 products rounded to bf16", head: "bf16", from: FMA, to: "(sum + bitcast<vec4f>((bitcast<vec4u>(weight * hidden) + vec4u(0x8000u)) & vec4u(0xffff0000u)))" },
  { name: "f16 hidden states that are subnormal flushed", head: "f16", from: FMA, to: "fma(weight, select(vec4f(), hidden, abs(hidden) >= vec4f(0x1p-14f)), sum)" },
  { name: "f16 weights that are subnormal flushed", head: "f16", from: "select(normal, subnormal, magnitude < vec4u(0x400u))", to: "select(normal, vec4u(), magnitude < vec4u(0x400u))" },
  { name: "int8 sums cut off at 2^-16", head: "int8 narrow", from: FMA, to: "trunc(fma(weight, hidden, sum) * 65536f) / 65536f" },
  { name: "int8 logits rounded in place of truncated", head: "int8 narrow", from: "shiftRight64(product, shift & 63u)", to: "shiftRight64(add64(product, shiftLeft64(vec2u(1u, 0u), (shift - 1u) & 63u)), shift & 63u)" },
  { name: "one scale for all groups", head: "int8 narrow", from: "scales[token * piece.groups + group]", to: "scales[token * piece.groups]" },
  { name: "another clamp", head: "f32", from: "0x40000000u", to: "0x60000000u" },
  { name: "the low word of the noise ignored", head: "f32", from: "gamma26(words[at], words[BATCH * TILE + at])", to: "gamma26(words[at], 0u)" },
  { name: "24 bits of noise", head: "f32", from: "gamma26(words[at], words[BATCH * TILE + at])", to: "gamma26(words[at] & 0xffffff00u, words[BATCH * TILE + at])" },
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
