// f16 weights: two blocks' four columns in 16 bytes, decoded with integers, since a device may flush what is subnormal in f16.

alias Packed = vec4u;

fn unpackWeights(packed: Packed, block: u32) -> vec4f {
  let words = vec2u(packed[2u * block], packed[2u * block + 1u]);
  let bits = vec4u(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu, words.y >> 16u);
  let magnitude = bits & vec4u(0x7fffu);
  let normal = (magnitude << vec4u(13u)) + vec4u(0x38000000u);
  let subnormal = bitcast<vec4u>(vec4f(magnitude) * 0x1p-24f);
  let value = select(normal, subnormal, magnitude < vec4u(0x400u));
  return bitcast<vec4f>(value | ((bits & vec4u(0x8000u)) << vec4u(16u)));
}
