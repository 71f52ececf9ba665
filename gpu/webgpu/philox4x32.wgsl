// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11).

fn philox4x32(counter: vec4u, key: vec2u) -> vec4u {
  var x = counter;
  var k = key;
  for (var round = 0u; round < PHILOX_ROUNDS; round++) {
    let product0 = mulWide(PHILOX_M0, x.x);
    let product1 = mulWide(PHILOX_M1, x.z);
    x = vec4u(product1.y ^ x.y ^ k.x, product1.x, product0.y ^ x.w ^ k.y, product0.x);
    k += vec2u(PHILOX_W0, PHILOX_W1);
  }
  return x;
}
