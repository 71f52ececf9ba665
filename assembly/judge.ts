/** The exports of judge.wasm, a module beside the core, for those who judge samplers: what src/verify/check/judge-core.ts calls. */
import { Bf16, F16, Int8 } from "./decode";
import { gamma26 } from "./gamma26";
import { philox4x32, WORDS } from "./philox4x32";
import { sweep } from "./sweep";

/** The first byte that the module does not use for itself. */
export function heapBase(): usize {
  return __heap_base;
}

export function sweepBf16(row0: usize, row1: usize, row2: usize, row3: usize, columns: u32, hidden: usize, quads: u32, panel: usize, scales: usize, sums: usize): void {
  sweep<Bf16>(row0, row1, row2, row3, columns, hidden, quads, panel, scales, sums);
}
export function sweepF16(row0: usize, row1: usize, row2: usize, row3: usize, columns: u32, hidden: usize, quads: u32, panel: usize, scales: usize, sums: usize): void {
  sweep<F16>(row0, row1, row2, row3, columns, hidden, quads, panel, scales, sums);
}
export function sweepF32(row0: usize, row1: usize, row2: usize, row3: usize, columns: u32, hidden: usize, quads: u32, panel: usize, scales: usize, sums: usize): void {
  sweep<f32>(row0, row1, row2, row3, columns, hidden, quads, panel, scales, sums);
}
export function sweepInt8(row0: usize, row1: usize, row2: usize, row3: usize, columns: u32, hidden: usize, quads: u32, panel: usize, scales: usize, sums: usize): void {
  sweep<Int8>(row0, row1, row2, row3, columns, hidden, quads, panel, scales, sums);
}

/** gamma of 16 * groups tokens from 16 * group on, u32, at `target`. high, low: counter word 3 of either noise word. words: room for 32. */
export function gammas(group: u32, groups: u32, position: u32, sequence: u32, high: u32, low: u32, key0: u32, key1: u32, words: usize, target: usize): void {
  const lowWords = words + WORDS * 4;
  for (const end = group + groups; group < end; group++) {
    philox4x32(words, group, position, sequence, high, key0, key1);
    philox4x32(lowWords, group, position, sequence, low, key0, key1);
    for (let token: u32 = 0; token < WORDS; token++) store<u32>(target + token * 4, gamma26(load<u32>(words + token * 4), load<u32>(lowWords + token * 4)));
    target += WORDS * 4;
  }
}
