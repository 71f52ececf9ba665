/** How kernels divide their work, by the number of hidden rows. Speed only: every choice returns the same bits. */
import { THREADS_A_ROW } from "./layout.js";
import type { TileShape } from "./shaders.js";

type Division = Omit<TileShape, "opaqueSums">;

/** Hidden rows up to which a division serves; the last one takes larger batches block by block. */
const DIVISIONS: readonly { readonly rows: number; readonly division: Division }[] = [
  { rows: 1, division: { workgroup: 64, rowsAThread: 4, batchAThread: 1, batchGroups: 1, step: 2, chunk: 16 } },
  { rows: 2, division: { workgroup: 64, rowsAThread: 4, batchAThread: 2, batchGroups: 1, step: 1, chunk: 8 } },
  { rows: 4, division: { workgroup: 64, rowsAThread: 4, batchAThread: 4, batchGroups: 1, step: 1, chunk: 4 } },
  { rows: 8, division: { workgroup: 128, rowsAThread: 4, batchAThread: 4, batchGroups: 2, step: 1, chunk: 4 } },
  { rows: Infinity, division: { workgroup: 256, rowsAThread: 4, batchAThread: 8, batchGroups: 2, step: 1, chunk: 2 } },
];

export function divisionFor(rows: number): Division {
  return DIVISIONS.find((entry) => rows <= entry.rows)!.division;
}

/** Hidden rows of one workgroup. */
export function batchRows({ batchAThread, batchGroups }: Division): number {
  return batchAThread * batchGroups;
}

/** Tokens of one tile. */
export function tileTokens({ workgroup, rowsAThread, batchGroups }: Division): number {
  return (workgroup / THREADS_A_ROW / batchGroups) * rowsAThread;
}
