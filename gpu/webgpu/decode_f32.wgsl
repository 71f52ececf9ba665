// f32 weights: a lane's four blocks in 16 bytes. Their products are not exact, so each is rounded before it is added:
// opaque() keeps the device from fusing the two steps.

alias Packed = vec4f;

fn weightOf(packed: Packed, block: u32) -> f32 {
  return packed[block];
}

fn multiplyAdd(weight: f32, hidden: f32, sum: f32) -> f32 {
  return opaque(sum + opaque(weight * hidden));
}
