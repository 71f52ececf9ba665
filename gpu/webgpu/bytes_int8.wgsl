fn signedBytes(word: u32) -> vec4f {
  return vec4f(bitcast<vec4i>(vec4u(word) << vec4u(24u, 16u, 8u, 0u)) >> vec4u(24u));
}

fn multiplyAdd(weight: vec4f, hidden: vec4f, sum: vec4f) -> vec4f {
  return exactMultiplyAdd(weight, hidden, sum);
}
