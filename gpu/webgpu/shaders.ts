/** Puts shaders together: the rule's constants, the kernel's parameters, then the pieces of text that it is made of. */
import type { Dtype } from "../../src/backend.js";
import * as rule from "../../src/spec/constants.js";
import * as layout from "../../src/spec/request.js";
import { UNIT_BLOCKS } from "../layout.js";
import argmaxCombine from "./argmaxCombine.wgsl";
import decodeBf16 from "./decode_bf16.wgsl";
import decodeF16 from "./decode_f16.wgsl";
import decodeF32 from "./decode_f32.wgsl";
import decodeInt8 from "./decode_int8.wgsl";
import dotL32 from "./dotL32.wgsl";
import exactProducts from "./exactProducts.wgsl";
import gamma26 from "./gamma26.wgsl";
import hiddenQuads from "./hidden_quads.wgsl";
import hiddenScalars from "./hidden_scalars.wgsl";
import integers from "./integers.wgsl";
import logitsTile from "./logitsTile.wgsl";
import narrowUnits from "./narrow_units.wgsl";
import philox4x32 from "./philox4x32.wgsl";
import reduceTiles from "./reduceTiles.wgsl";
import request from "./request.wgsl";
import sampleTile from "./sampleTile.wgsl";
import score from "./score.wgsl";
import storeBest from "./storeBest.wgsl";
import sweep from "./sweep.wgsl";
import unitBlocks from "./unit_blocks.wgsl";
import { unrollLoops } from "./unroll.js";
import zFloat from "./z_float.wgsl";
import zInt8 from "./z_int8.wgsl";

/** How a sampleTile kernel divides its work. All but opaqueSums leave the bits as they are by the rule, and it by their exactness. */
export interface TileShape {
  /** threads of a workgroup: a power of two, at least 32 */
  readonly workgroup: number;
  /** weight rows of a thread: a power of two; times batch, a multiple of 16 */
  readonly rowsAThread: number;
  /** hidden rows of a workgroup: at most 32, 1, 2, or a multiple of 4 */
  readonly batch: number;
  /** Whether a workgroup holds hidden values in its memory, unit by unit; at most 128 * batch / 4 threads then. */
  readonly staged: boolean;
  /** Hides every partial sum from the compiler: for devices that reorder what they may not. */
  readonly opaqueSums: boolean;
}

const RULE = constantsOf({ ...rule, ...layout });

function decoderOf(dtype: Dtype, isNarrow: boolean): string[] {
  switch (dtype) {
    case "bf16":
      return [decodeBf16, unitBlocks, exactProducts, zFloat];
    case "f16":
      return [decodeF16, unitBlocks, exactProducts, zFloat];
    case "f32":
      return [decodeF32, unitBlocks, zFloat];
    case "int8":
      return [...(isNarrow ? [narrowUnits] : [decodeInt8, unitBlocks]), exactProducts, zInt8];
  }
}

/** isNarrow: as layOutHead says. */
export function sampleTileShader(dtype: Dtype, isNarrow: boolean, shape: TileShape): string {
  const { rowsAThread: ROWS_A_THREAD, batch: BATCH } = shape;
  const unit = isNarrow ? 1 : UNIT_BLOCKS;
  const parameters = constantsOf({
    UNIT_BLOCKS: unit,
    WORKGROUP: shape.workgroup,
    ROWS_A_THREAD,
    BATCH,
    STAGED: shape.staged && !isNarrow,
    OPAQUE_SUMS: shape.opaqueSums,
  });
  const hidden = BATCH % 4 === 0 ? hiddenQuads : hiddenScalars;
  const decoder = decoderOf(dtype, isNarrow);
  const text = [RULE, parameters, integers, philox4x32, gamma26, score, argmaxCombine, dotL32, ...decoder, hidden, sweep, request, storeBest, sampleTile].join("\n");
  const parts = BATCH % 4 === 0 ? BATCH / 4 : BATCH;
  const unitParts = unit * rule.DOT_LANES * parts;
  return unrollLoops(text, {
    UNIT_BLOCKS: unit,
    ROWS_A_THREAD,
    BATCH,
    PARTS: parts,
    STAGE_PARTS: Math.max(1, unitParts / shape.workgroup),
    ROUNDS: (ROWS_A_THREAD * BATCH) / 16,
    ROUND_SUMS: 16,
    OWNED: Math.ceil((ROWS_A_THREAD * BATCH) / rule.DOT_LANES),
  });
}

/** Threads of a workgroup of logitsTile; each takes four tokens. */
const LOGITS_WORKGROUP = 64;
export const LOGITS_TILE = 4 * LOGITS_WORKGROUP;

export function logitsTileShader(): string {
  return [RULE, constantsOf({ WORKGROUP: LOGITS_WORKGROUP }), integers, philox4x32, gamma26, score, argmaxCombine, sweep, request, storeBest, logitsTile].join("\n");
}

/** Tiles whose candidates a thread of reduceTiles reads at a time. */
const REDUCE_AHEAD = 4;

/** workgroup: threads, a power of two */
export function reduceTilesShader(workgroup: number): string {
  const text = [constantsOf({ WORKGROUP: workgroup, AHEAD: REDUCE_AHEAD }), integers, argmaxCombine, reduceTiles].join("\n");
  return unrollLoops(text, { AHEAD: REDUCE_AHEAD });
}

/** `const NAME = value;` for numbers that are u32, and booleans; what is neither stays out. */
export function constantsOf(values: Record<string, unknown>): string {
  return Object.entries(values)
    .flatMap(([name, value]) => {
      if (typeof value === "boolean") return [`const ${name} = ${value};`];
      return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32 ? [`const ${name} = ${value as number}u;`] : [];
    })
    .join("\n");
}
