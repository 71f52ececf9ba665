/**
 * The fused Triton kernel of the FlashSampling authors.
 * Source: FlashSampling/FlashSampling, src/fused_mm_sampling/core.py (its version with f32 tile maxima and one offset a place; commit not
 * known); recorded with Triton 3.6.0.
 *
 * The kernel cuts the logits [vocabulary, rows] into tiles of blockV by blockH. A place in a tile, counted over all tiles before it, is the
 * offset of its noise, modulo 2^32, and seed + sample the seed. So the noise depends on the tile height that the autotuner chose, and on the count of
 * rows; sample 1 of seed 0 is sample 0 of seed 1.
 *
 * Not reproduced: earlier versions (other seeds a tile, bf16 maxima), the CUDA kernel, seeds where seed + sample leaves [0, 2^31), the top-k kernel.
 * Ranks that share a vocabulary have the noise of their own part: give its logits, and add its start to the token.
 */
import type { Words4 } from "../../spec/philox.js";
import { decide, ERROR_F32, exactly, LOG_ERROR_F32, minusLog, plus, within, type Approximate, type Prediction } from "./philox-streams.js";
import * as triton from "./triton.js";

/** Where the noise of a row's draw lies. */
export interface Place {
  readonly seed: number;
  readonly sample: number;
  readonly row: number;
  /** rows of the call */
  readonly rows: number;
  /** tile height: tokens. 128 or 256, as the autotuner chose. */
  readonly blockV: number;
  /** tile width: rows. As blockHOf(rows) says. */
  readonly blockH: number;
}

/** As the kernel's launcher chooses it. */
export const blockHOf = (rows: number): number => (rows <= 16 ? 16 : rows <= 32 ? 32 : 64);

function streamSeed({ seed, sample }: Place): bigint {
  const sum = seed + sample;
  if (!Number.isInteger(sum) || sum < 0 || sum >= 2 ** 31) throw new RangeError(`"seed" expected seed + sample from 0 to 2^31 - 1, got ${sum}`);
  return BigInt(sum);
}

function streamOffset({ row, rows, blockV, blockH }: Place, token: number): bigint {
  const tile = Math.floor(token / blockV) * Math.ceil(rows / blockH) + Math.floor(row / blockH);
  const inTile = (token % blockV) * blockH + (row % blockH);
  return BigInt((tile * blockV * blockH + inTile) >>> 0);
}

export const words = (place: Place, token: number): Words4 => triton.words(streamSeed(place), streamOffset(place, token));

/** The uniform number of a token, its very bits. */
export const uniform = (place: Place, token: number): number => triton.uniform(streamSeed(place), streamOffset(place, token));

/** Gumbel noise, -log(-log u). */
export function noise(place: Place, token: number): Approximate {
  return minusLog(minusLog(exactly(uniform(place, token)), LOG_ERROR_F32), LOG_ERROR_F32);
}

/** The token drawn for a row of f32 logits, as the kernel's dot products give them. */
export function predict(logits: ArrayLike<number>, place: Place, temperature: number): Prediction {
  const divisor = Math.fround(temperature);
  return decide(Array.from(logits, (logit, token) => plus(within(logit / divisor, ERROR_F32), noise(place, token), ERROR_F32)));
}
