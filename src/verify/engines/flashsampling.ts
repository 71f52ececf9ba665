/**
 * The fused Triton kernel of the FlashSampling authors.
 * Source: FlashSampling/FlashSampling, src/fused_mm_sampling/core.py (its version with f32 tile maxima and one offset a place; commit not
 * known); recorded with Triton 3.6.0.
 *
 * The kernel cuts the logits [vocabulary, rows] into tiles of blockV by blockH. A place in a tile, counted over all tiles before it, is the
 * offset of its noise, modulo 2^32, and seed + sample the seed. So the noise depends on the count of rows and, beyond one tile of them, on the tile height
 * that the autotuner chose; sample 1 of seed 0 is sample 0 of seed 1.
 */
import { exactly, minusLog, plus, type Bounded } from "../bounded.js";
import { expectNoPosition, overTemperature, wholeOption, wholeOrWordOption } from "./asked.js";
import { LIBRARY_LOG_F32, QUOTIENT_F32, SUM_F32 } from "./device-errors.js";
import type { EngineDraw, EngineReplay } from "./engine.js";
import { uniformOf, wordsAt } from "./triton.js";
import { halves } from "./words64.js";

/** The tiles of a call: heights in tokens, widths in rows. */
export interface Tiles {
  readonly blockV: number;
  readonly blockH: number;
}

/** As the kernel's launcher chooses it. */
export const blockHOf = (rows: number): number => (rows <= 16 ? 16 : rows <= 32 ? 32 : 64);

/** The offset of a token's noise, u32. */
export function offsetOf(row: number, rows: number, { blockV, blockH }: Tiles, token: number): number {
  const tile = Math.floor(token / blockV) * Math.ceil(rows / blockH) + Math.floor(row / blockH);
  const inTile = (token % blockV) * blockH + (row % blockH);
  return (tile * blockV * blockH + inTile) % 2 ** 32;
}

/** The uniform numbers of a row's draw, their very bits [vocabSize]. */
export function uniforms({ seed, sample, row, rows, vocabSize }: EngineDraw, tiles: Tiles): Float64Array {
  const sum = seed + BigInt(sample);
  if (seed < 0n || sum >= 1n << 31n) throw new RangeError(`"seed" expected seed + sample from 0 to 2^31 - 1, got ${sum}`);
  const key = halves("seed", sum);
  return new Float64Array(vocabSize).map((_, token) => uniformOf(wordsAt(key, offsetOf(row, rows, tiles, token))[0]));
}

/** Gumbel noise, -log(-log u). */
export const noise = (u: Float64Array): Bounded => minusLog(minusLog(exactly(u), LIBRARY_LOG_F32), LIBRARY_LOG_F32);

type Options = { readonly "block-v": number; readonly "block-h": number | null };

const HEIGHTS = "tiles of other heights than 256 for more than 64 rows";

export const flashSampling: EngineReplay<Options> = {
  name: "flashsampling",
  title: "FlashSampling's fused Triton kernel",
  source: {
    project: "FlashSampling/FlashSampling",
    file: "src/fused_mm_sampling/core.py",
    version: "with f32 tile maxima; recorded with Triton 3.6.0",
    licence: "Apache-2.0",
  },
  status: "recorded",
  unproven: [HEIGHTS],
  unprovenIn: ({ rows }, options) => (options["block-v"] !== 256 && rows > 64 ? [HEIGHTS] : []),
  hasNoPositions: true,
  limits: [
    "beyond 64 rows the noise depends on the tile height, the autotuner's choice: name it with block-v",
    "not earlier versions (other seeds a tile, bf16 maxima), the CUDA kernel, the top-k kernel",
    "seed + sample below 2^31",
    "ranks that share a vocabulary have the noise of their own part: give its logits, and add its start to the token",
  ],
  options: {
    "block-v": wholeOption("tile height in tokens, as the autotuner chose: 128 or 256", 128, 1, 2 ** 20),
    "block-h": wholeOrWordOption("tile width in rows", "auto", 1, 2 ** 20),
  },
  scores(logits, draw, options) {
    expectNoPosition(draw, "this engine has no positions, give each step its own seed");
    const tiles = { blockV: options["block-v"], blockH: options["block-h"] ?? blockHOf(draw.rows) };
    const scaled = overTemperature(logits, Math.fround(draw.temperature), QUOTIENT_F32);
    return plus(scaled, noise(uniforms(draw, tiles)), SUM_F32);
  },
};
