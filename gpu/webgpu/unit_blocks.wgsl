// A unit of four blocks: what a thread loads at a time.

fn rowLength() -> u32 {
  return piece.units * DOT_LANES;
}

fn weightsOf(at: u32, unit: u32) -> Packed {
  return weights[at + unit * DOT_LANES];
}
