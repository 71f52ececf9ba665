// bf16 weights: a lane's four blocks in 8 bytes; an f32 has a bf16's bits on top.

alias Packed = vec2u;

fn weightOf(packed: Packed, block: u32) -> f32 {
  let word = packed[block / 2u];
  return bitcast<f32>(select(word << 16u, word & 0xffff0000u, block % 2u == 1u));
}
