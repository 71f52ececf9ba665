/** Puts shaders together: the rule's constants, the kernel's parameters, then the pieces of text that it is made of. */
import type { Dtype } from "../../src/backend.js";
import * as rule from "../../src/spec/constants.js";
import * as layout from "../../src/spec/request.js";
import { THREADS_A_ROW } from "./layout.js";
import argmaxCombine from "./argmaxCombine.wgsl";
import bytesInt8 from "./bytes_int8.wgsl";
import decodeBf16 from "./decode_bf16.wgsl";
import decodeF16 from "./decode_f16.wgsl";
import decodeF32 from "./decode_f32.wgsl";
import decodeInt8 from "./decode_int8.wgsl";
import decodeInt8Narrow from "./decode_int8_narrow.wgsl";
import dotL32 from "./dotL32.wgsl";
import exactProducts from "./exactProducts.wgsl";
import gamma26 from "./gamma26.wgsl";
import integers from "./integers.wgsl";
import logitsTile from "./logitsTile.wgsl";
import philox4x32 from "./philox4x32.wgsl";
import reduceTiles from "./reduceTiles.wgsl";
import request from "./request.wgsl";
import sampleTile from "./sampleTile.wgsl";
import score from "./score.wgsl";
import storeBest from "./storeBest.wgsl";
import sweep from "./sweep.wgsl";
import { unrollLoops } from "./unroll.js";
import zFloat from "./z_float.wgsl";
import zInt8 from "./z_int8.wgsl";

/** How a sampleTile kernel divides its work. All but opaqueSums leave the bits as they are by the rule, and it by their exactness. */
export interface TileShape {
  /** threads of a workgroup */
  readonly workgroup: number;
  readonly rowsAThread: number;
  readonly batchAThread: number;
  readonly batchGroups: number;
  /** units whose loads are under way while as many are multiplied */
  readonly step: number;
  /** strips of weight rows that make a tile */
  readonly strips: number;
  /** Hides every partial sum from the compiler: for devices that reorder what they may not. */
  readonly opaqueSums: boolean;
}

const RULE = constantsOf({ ...rule, ...layout });

function decoderOf(dtype: Dtype, unitBlocks: number): string[] {
  switch (dtype) {
    case "bf16":
      return [decodeBf16, exactProducts, zFloat];
    case "f16":
      return [decodeF16, exactProducts, zFloat];
    case "f32":
      return [decodeF32, zFloat];
    case "int8":
      return [bytesInt8, unitBlocks === 1 ? decodeInt8Narrow : decodeInt8, exactProducts, zInt8];
  }
}

/** unitBlocks: as layOutHead says. */
export function sampleTileShader(dtype: Dtype, unitBlocks: number, shape: TileShape): string {
  const sizes = {
    THREADS_A_ROW,
    UNIT_BLOCKS: unitBlocks,
    WORKGROUP: shape.workgroup,
    ROWS_A_THREAD: shape.rowsAThread,
    BATCH_A_THREAD: shape.batchAThread,
    BATCH_GROUPS: shape.batchGroups,
    STEP: shape.step,
    STRIPS: shape.strips,
  };
  const parameters = constantsOf({ ...sizes, OPAQUE_SUMS: shape.opaqueSums });
  const text = [RULE, parameters, integers, philox4x32, gamma26, score, argmaxCombine, dotL32, ...decoderOf(dtype, unitBlocks), sweep, request, storeBest, sampleTile].join("\n");
  const { STEP, UNIT_BLOCKS, ROWS_A_THREAD, BATCH_A_THREAD } = sizes;
  return unrollLoops(text, { STEP, UNIT_BLOCKS, ROWS_A_THREAD, BATCH_A_THREAD, ROUNDS: Math.ceil((ROWS_A_THREAD * BATCH_A_THREAD) / 4) });
}

/** Threads of a workgroup of logitsTile; each takes four tokens. */
const LOGITS_WORKGROUP = 64;
export const LOGITS_TILE = 4 * LOGITS_WORKGROUP;

export function logitsTileShader(): string {
  return [RULE, constantsOf({ WORKGROUP: LOGITS_WORKGROUP }), integers, philox4x32, gamma26, score, argmaxCombine, sweep, request, storeBest, logitsTile].join("\n");
}

/** Threads of a workgroup of reduceTiles. */
const REDUCE_WORKGROUP = 256;
/** Tiles whose candidates a thread of reduceTiles reads at a time. */
const REDUCE_AHEAD = 4;

export function reduceTilesShader(): string {
  const text = [constantsOf({ WORKGROUP: REDUCE_WORKGROUP, AHEAD: REDUCE_AHEAD }), integers, argmaxCombine, reduceTiles].join("\n");
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
