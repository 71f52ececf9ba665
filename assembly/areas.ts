/** Where the host put everything (src/backends/wasm-core.ts): addresses are u32 and may pass 2^31; no area ends at 2^32. */
import { Draw } from "./argmaxCombine";
import { Row } from "./row";

/** u32 [32]: high and low words of 16 tokens. */
export let words: usize = 0;
/** Row [rows] */
export let rowTable: usize = 0;
/** Draw [rows * samples] */
export let drawTable: usize = 0;
/** f32 [rows][64]: the logits of a tile. */
export let logitTile: usize = 0;
/** i64 [rows][64]: Z of a tile, int8 only. */
export let zTile: usize = 0;
/** Partial sums of a block. */
export let partial: usize = 0;
/** Two decoded weight rows, or four rounded ones. */
export let panel: usize = 0;
/** f32: one hidden state, or a piece of given logits. */
export let staged: usize = 0;
/** The packed hidden states. */
export let hidden: usize = 0;
/** The hidden states as of rows alone, bf16 for a bf16 head: for logits that a bound leaves open. As the next two, bf16 and f16 only. */
export let hiddenAlone: usize = 0;
/** i16: the rounded hidden states, see roundHidden.ts. */
export let hiddenRounded: usize = 0;
/** f32 [2][64]: unit and slack of each hidden row. */
export let boundTable: usize = 0;
/** [vocabSize] rows, padded with zeros to whole blocks of 32 columns. 32 bytes after it may be read. */
export let weights: usize = 0;
/** f32 [vocabSize][groups] */
export let scales: usize = 0;

export function setAreas(
  wordsAt: usize,
  rowTableAt: usize,
  drawTableAt: usize,
  logitTileAt: usize,
  zTileAt: usize,
  partialAt: usize,
  panelAt: usize,
  stagedAt: usize,
  hiddenAt: usize,
  hiddenAloneAt: usize,
  hiddenRoundedAt: usize,
  boundTableAt: usize,
  weightsAt: usize,
  scalesAt: usize,
): void {
  words = wordsAt;
  rowTable = rowTableAt;
  drawTable = drawTableAt;
  logitTile = logitTileAt;
  zTile = zTileAt;
  partial = partialAt;
  panel = panelAt;
  staged = stagedAt;
  hidden = hiddenAt;
  hiddenAlone = hiddenAloneAt;
  hiddenRounded = hiddenRoundedAt;
  boundTable = boundTableAt;
  weights = weightsAt;
  scales = scalesAt;
}

// @ts-ignore: decorator
@inline
export function rowAt(index: u32): Row {
  return changetype<Row>(rowTable + usize(index) * offsetof<Row>());
}

// @ts-ignore: decorator
@inline
export function drawAt(index: u32): Draw {
  return changetype<Draw>(drawTable + usize(index) * offsetof<Draw>());
}
