/** Hidden states that a device rounds and checks by itself (src/hidden.ts does it in memory): formats, and reports of each row. */
import type { Dtype } from "../src/backend.js";
import type { HiddenProblem } from "../src/hidden.js";
import type { FloatDtype } from "../src/matrix.js";
import { f32FromBits } from "../src/spec/float.js";

/** As prepareHidden.wgsl and hidden.cuh number them. */
export const FORMATS: Readonly<Record<FloatDtype, number>> = { f32: 0, f16: 1, bf16: 2 };
const PROBLEM_RANGE = 2;

/** Words of a row's report: its problem, the column, and the f32 bits there. The first is 0 for a row without a problem. */
export const REPORT_WORDS = 4;

/** The operands of an int8 head are bf16. */
export function operandFormat(dtype: Dtype): FloatDtype {
  return dtype === "int8" ? "bf16" : dtype;
}

/** What reports say of each row. */
export function problemsOf(reports: Uint32Array): (HiddenProblem | null)[] {
  return Array.from({ length: reports.length / REPORT_WORDS }, (_, row) => {
    const [problem, column, bits] = reports.subarray(row * REPORT_WORDS, row * REPORT_WORDS + 3) as unknown as [number, number, number];
    if (problem === 0) return null;
    const value = f32FromBits(bits);
    return { reason: problem === PROBLEM_RANGE ? "range" : Number.isFinite(value) ? "overflow" : "not-finite", column, value };
  });
}

/** Reports of rows that were checked in memory: all that a kernel needs of them is which were refused. */
export function reportsOf(isRefused: readonly boolean[]): Uint32Array {
  const reports = new Uint32Array(isRefused.length * REPORT_WORDS);
  isRefused.forEach((refused, row) => (reports[row * REPORT_WORDS] = refused ? 1 : 0));
  return reports;
}
