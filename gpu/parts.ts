/** A call cut into parts that fit a device's buffers. */

/** Some rows of a request and some of their samples. Its draws follow each other in the request. */
export interface Block {
  readonly firstRow: number;
  readonly rows: number;
  readonly firstSample: number;
  readonly samples: number;
}

/**
 * Blocks of at most so many rows and draws, at least one of each: whole rows, or some samples of one row. Where more than `batch`
 * rows fit, multiples of it: a kernel takes these together.
 */
export function cut(block: Block, mostRows: number, mostDraws: number, batch: number): Block[] {
  const samples = Math.max(1, Math.min(block.samples, mostDraws));
  const most = Math.max(1, Math.min(block.rows, mostRows, Math.floor(mostDraws / block.samples)));
  const rows = most > batch ? most - (most % batch) : most;
  const blocks: Block[] = [];
  for (let row = 0; row < block.rows; row += rows) {
    for (let sample = 0; sample < block.samples; sample += samples) {
      blocks.push({ firstRow: row, rows: Math.min(rows, block.rows - row), firstSample: sample, samples: Math.min(samples, block.samples - sample) });
    }
  }
  return blocks;
}
