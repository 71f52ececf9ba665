// Dot products in the order L32 (docs/spec.md, "Logits"): 32 partial sums, then a tree of neighbours.

/// Its argument, by a way that no compiler may see through: piece.zero is 0 at run time only. It keeps sums in their order.
fn opaque(value: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(value) ^ piece.zero);
}

/// Two levels of the pairwise tree: four neighbours to one.
fn sumFour(values: vec4f) -> f32 {
  return opaque(opaque(values.x + values.y) + opaque(values.z + values.w));
}
