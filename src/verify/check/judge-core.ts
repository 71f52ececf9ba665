/** An instance of judge.wasm (assembly/judge.ts): what is slow in JavaScript of judging samplers. */
import { judgeModule } from "../../core-module.js";

type Sweep = (row0: number, row1: number, row2: number, row3: number, columns: number, hidden: number, quads: number, panel: number, scales: number, sums: number) => void;

/** What assembly/judge.ts exports. Numbers of 32 bits may come back with a sign. */
export interface JudgeExports {
  heapBase(): number;
  readonly sweepBf16: Sweep;
  readonly sweepF16: Sweep;
  readonly sweepF32: Sweep;
  readonly sweepInt8: Sweep;
  gammas(group: number, groups: number, position: number, sequence: number, high: number, low: number, key0: number, key1: number, words: number, target: number): void;
}

export interface JudgeCore {
  /** Of one page; whoever has the instance may let it grow. */
  readonly memory: WebAssembly.Memory;
  readonly exports: JudgeExports;
}

/** A new one; null where it does not run, or was not shipped. */
export async function judgeCore(): Promise<JudgeCore | null> {
  const module = await judgeModule();
  if (module === null) return null;
  try {
    const memory = new WebAssembly.Memory({ initial: 1 });
    const { exports } = await WebAssembly.instantiate(module as WebAssembly.Module, { env: { memory } });
    return { memory, exports: exports as unknown as JudgeExports };
  } catch {
    return null; // no memory for it
  }
}
