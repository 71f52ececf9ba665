// bf16 weights: two blocks' four columns in 16 bytes; an f32 has a bf16's bits on top.

alias Packed = vec4u;

fn unpackWeights(packed: Packed, block: u32) -> vec4f {
  let words = vec2u(packed[2u * block], packed[2u * block + 1u]);
  return bitcast<vec4f>(vec4u(words.x << 16u, words.x & 0xffff0000u, words.y << 16u, words.y & 0xffff0000u));
}
