// int8 weights whose groups have blocks that four do not divide: a unit is one block, and four units share their 4 bytes.

alias Packed = i32;

fn rowLength() -> u32 {
  return (piece.units + 3u) / 4u * DOT_LANES;
}

fn weightsOf(at: u32, unit: u32) -> Packed {
  return (weights[at + unit / 4u * DOT_LANES] << (24u - 8u * (unit % 4u))) >> 24u;
}

fn weightOf(packed: Packed, block: u32) -> f32 {
  return f32(packed);
}
