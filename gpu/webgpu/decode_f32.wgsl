// f32 weights: four columns in 16 bytes. Their products are not exact, so each is rounded before it is added:
// opaque4() keeps the device from fusing the two steps.

alias Packed = vec4f;

fn unpackWeights(packed: Packed, block: u32) -> vec4f {
  return packed;
}

fn multiplyAdd(weight: vec4f, hidden: vec4f, sum: vec4f) -> vec4f {
  return opaque4(sum + opaque4(weight * hidden));
}
