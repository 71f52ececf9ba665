/**
 * The fused kernel: the logits of a tile of tokens, or bounds of them, then its decisions, tile after tile. Weights come
 * from memory once for all rows; no more than a tile of logits exists at a time.
 */
import { drawTable, logitTile, zTile } from "./areas";
import { Draw } from "./argmaxCombine";
import { boundTile, isBounded } from "./boundTile";
import { setExactLogit } from "./exactLogit";
import { exactTile } from "./exactTile";
import { MASK } from "./fix";
import { firstToken, vocabSize } from "./head";
import { sampleTile, TILE } from "./sampleTile";

/** Where bounds leave more than a quarter of a tile's logits open, exact logits are cheaper: so many tokens go without bounds. */
const WITHOUT_BOUNDS: u32 = 7 * TILE;

/** Decides all draws of `rows` rows over all tokens of this memory. */
export function sampleHead<T>(rows: u32, samples: u32): void {
  if (isBounded<T>(rows)) setExactLogit<T>();
  // In the first tile there is no score yet that a bound could be below.
  let boundsFrom = TILE;
  for (let tile: u32 = 0; tile < vocabSize; tile += TILE) {
    const count = min(TILE, vocabSize - tile);
    const hasBounds = isBounded<T>(rows) && tile >= boundsFrom;
    if (hasBounds) boundTile<T>(tile, count, rows);
    else exactTile<T>(tile, count, rows);
    let open: u32 = 0;
    for (let row: u32 = 0; row < rows; row++) {
      for (let token = count; token < TILE; token++) {
        store<f32>(logitTile + (row * TILE + token) * 4, -Infinity);
        if (sizeof<T>() == 1) store<i64>(zTile + (row * TILE + token) * 8, MASK);
      }
      const z = sizeof<T>() == 1 ? zTile + row * TILE * 8 : 0;
      const draws = drawTable + usize(row * samples) * offsetof<Draw>();
      open += sampleTile(row, draws, samples, logitTile + row * TILE * 4, z, firstToken + tile, hasBounds ? count : 0);
    }
    if (open * 4 > rows * TILE) boundsFrom = tile + TILE + WITHOUT_BOUNDS;
  }
}
