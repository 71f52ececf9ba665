// What every sweep over a source of logits is given, and where it leaves its candidates.

/// Some rows of the request, some of their samples.
struct Sweep {
  firstRow: u32,
  rows: u32,
  firstSample: u32,
  samples: u32,
  tiles: u32, // of all the source's pieces
}

@group(1) @binding(0) var<uniform> sweep: Sweep;
@group(1) @binding(2) var<storage, read> request: array<u32>;
@group(1) @binding(3) var<storage, read_write> candidates: array<vec4u>; // [sweep.rows * sweep.samples, sweep.tiles, 2]
@group(1) @binding(4) var<storage, read_write> draws: array<Draw>; // [sweep.rows * sweep.samples], zero before a sweep

/// What tiles of a draw have found so far, for those that follow. Two tokens are known to rank at least as high as the threshold.
struct Draw {
  leader: atomic<u32>, // the highest rank of a score
  threshold: atomic<u32>,
  candidates: atomic<u32>, // tiles that left some
}
