/** The part of a head that this memory holds, as the host set it. */
import { weights, words } from "./areas";

/** Into the last quarter of the next page of memory: measured (docs/performance.md), faster than its first word. */
const TOUCH_BYTES: usize = 7168;

/** Tokens of this memory, blocks of 32 columns, blocks that share one scale (all without scales), id of the first token. */
export let vocabSize: u32 = 0;
export let blocks: u32 = 0;
export let groupBlocks: u32 = 0;
export let firstToken: u32 = 0;

export function setHead(tokens: u32, columnBlocks: u32, scaleBlocks: u32, first: u32): void {
  vocabSize = tokens;
  blocks = columnBlocks;
  groupBlocks = scaleBlocks;
  firstToken = first;
}

/**
 * Reads one word of the weights ahead of the row at `row`: the page walk, which no prefetcher does, then runs beside the
 * arithmetic. The word is stored so that no compiler drops the read.
 */
// @ts-ignore: decorator
@inline
export function touchAhead(row: usize, rowBytes: usize): void {
  store<u32>(words, load<u32>(min(row + TOUCH_BYTES, weights + usize(vocabSize) * rowBytes)));
}
