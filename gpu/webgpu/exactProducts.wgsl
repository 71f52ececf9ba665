// Heads whose products with hidden states are exact in f32: bf16, f16, int8.

/// sum + weight * hidden: fused or not, it is rounded once.
fn multiplyAdd(weight: vec4f, hidden: vec4f, sum: vec4f) -> vec4f {
  let next = fma(weight, hidden, sum);
  if (OPAQUE_SUMS) {
    return opaque4(next);
  }
  return next;
}
