/** How kernels divide their work, by the number of hidden rows. Speed only: every choice returns the same bits. */
import { THREADS_A_ROW } from "./layout.js";
import type { TileShape } from "./shaders.js";

type Division = Omit<TileShape, "opaqueSums">;

/** Hidden rows up to which a division serves; the last one takes larger batches block by block. */
const DIVISIONS: readonly { readonly rows: number; readonly division: Division }[] = [
  { rows: 1, division: { workgroup: 128, rowsAThread: 2, batchAThread: 1, batchGroups: 1, step: 4, strips: 4 } },
  { rows: 2, division: { workgroup: 128, rowsAThread: 2, batchAThread: 2, batchGroups: 1, step: 2, strips: 4 } },
  { rows: 4, division: { workgroup: 64, rowsAThread: 4, batchAThread: 4, batchGroups: 1, step: 2, strips: 2 } },
  { rows: Infinity, division: { workgroup: 128, rowsAThread: 4, batchAThread: 4, batchGroups: 1, step: 2, strips: 1 } },
];

/** Where the processor plays the GPU, compiling costs more than computing: kernels are small, and there are two of them. */
const SOFTWARE_DIVISIONS: typeof DIVISIONS = [
  { rows: 1, division: { workgroup: 64, rowsAThread: 1, batchAThread: 1, batchGroups: 1, step: 1, strips: 1 } },
  { rows: Infinity, division: { workgroup: 64, rowsAThread: 1, batchAThread: 4, batchGroups: 1, step: 1, strips: 1 } },
];

/** isSoftware: whether the adapter computes on the processor. */
export function divisionFor(rows: number, isSoftware: boolean): Division {
  return (isSoftware ? SOFTWARE_DIVISIONS : DIVISIONS).find((entry) => rows <= entry.rows)!.division;
}

/** Hidden rows of one workgroup. */
export function batchRows({ batchAThread, batchGroups }: Division): number {
  return batchAThread * batchGroups;
}

/** Tokens of one tile. */
export function tileTokens({ workgroup, rowsAThread, batchGroups, strips }: Division): number {
  return (workgroup / THREADS_A_ROW / batchGroups) * rowsAThread * strips;
}

/** The division's step, or less where it does not divide the units of a group. */
export function stepOf({ step }: Division, units: number): number {
  return [step, 2].find((candidate) => candidate <= step && units % candidate === 0) ?? 1;
}
