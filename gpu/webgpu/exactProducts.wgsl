// Heads whose products with hidden states are exact in f32: bf16, f16, int8.

/// sum + weight * hidden: fused or not, it is rounded once.
fn multiplyAdd(weight: f32, hidden: f32, sum: f32) -> f32 {
  let next = fma(weight, hidden, sum);
  if (OPAQUE_SUMS) {
    return opaque(next);
  }
  return next;
}
