// int8 weights: a lane's four blocks in 4 bytes.

alias Packed = u32;

fn weightOf(packed: Packed, block: u32) -> f32 {
  return f32(bitcast<i32>(packed << (24u - 8u * block)) >> 24u);
}
