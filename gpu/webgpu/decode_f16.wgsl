// f16 weights: a lane's four blocks in 8 bytes, decoded with integers, since a device may flush what is subnormal in f16.

alias Packed = vec2u;

fn weightOf(packed: Packed, block: u32) -> f32 {
  let bits = (packed[block / 2u] >> (16u * (block % 2u))) & 0xffffu;
  let magnitude = bits & 0x7fffu;
  let normal = (magnitude << 13u) + 0x38000000u;
  let subnormal = bitcast<u32>(f32(magnitude) * 0x1p-24f);
  let value = select(normal, subnormal, magnitude < 0x400u);
  return bitcast<f32>(value | ((bits & 0x8000u) << 16u));
}
