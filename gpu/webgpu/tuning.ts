/** How kernels divide their work, by the number of hidden rows. Speed only: every choice returns the same bits. */
import type { Dtype } from "../../src/backend.js";
import { DOT_LANES } from "../../src/spec/constants.js";
import type { TileShape } from "./shaders.js";

type Division = Omit<TileShape, "opaqueSums">;

/** Hidden rows up to which a division serves; the last one takes larger batches block by block. */
const DIVISIONS: readonly { readonly rows: number; readonly division: Division }[] = [
  { rows: 1, division: { workgroup: 64, rowsAThread: 32, batch: 1, staged: false } },
  { rows: 2, division: { workgroup: 64, rowsAThread: 32, batch: 2, staged: false } },
  { rows: 4, division: { workgroup: 128, rowsAThread: 16, batch: 4, staged: false } },
  { rows: Infinity, division: { workgroup: 64, rowsAThread: 16, batch: 8, staged: true } },
];

/**
 * Where the processor plays the GPU, compiling costs more than computing, and more the more memory a workgroup has: kernels are
 * small, and there are two of them.
 */
const SOFTWARE_DIVISIONS: typeof DIVISIONS = [
  { rows: 1, division: { workgroup: 32, rowsAThread: 16, batch: 1, staged: false } },
  { rows: Infinity, division: { workgroup: 32, rowsAThread: 4, batch: 4, staged: false } },
];

/** isSoftware: whether the adapter computes on the processor. */
export function divisionFor(rows: number, isSoftware: boolean): Division {
  return (isSoftware ? SOFTWARE_DIVISIONS : DIVISIONS).find((entry) => rows <= entry.rows)!.division;
}

/** Threads of a workgroup of reduceTiles. */
export function reduceThreads(isSoftware: boolean): number {
  return isSoftware ? 32 : 256;
}

/** The division as it is for a dtype: f32 weights take twice the registers of others. */
export function divisionOf(dtype: Dtype, division: Division): Division {
  const rowsAThread = dtype === "f32" ? Math.max(division.rowsAThread / 2, 16 / division.batch) : division.rowsAThread;
  return { ...division, rowsAThread };
}

/** Tokens of one tile. */
export function tileTokens({ workgroup, rowsAThread }: Division): number {
  return (workgroup / DOT_LANES) * rowsAThread;
}
