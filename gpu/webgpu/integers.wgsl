// Integer arithmetic that WGSL lacks: the upper half of a 32-bit product, and 64-bit values as vec2u(low, high).

/// floor(a b / 2^32), by halves: no partial sum leaves 32 bits.
fn mulhi(a: u32, b: u32) -> u32 {
  let aLow = a & 0xffffu;
  let aHigh = a >> 16u;
  let bLow = b & 0xffffu;
  let bHigh = b >> 16u;
  let middle = aHigh * bLow + ((aLow * bLow) >> 16u);
  let middle2 = (middle & 0xffffu) + aLow * bHigh;
  return aHigh * bHigh + (middle >> 16u) + (middle2 >> 16u);
}

/// The whole product of two u32.
fn mulWide(a: u32, b: u32) -> vec2u {
  return vec2u(a * b, mulhi(a, b));
}

fn add64(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  return vec2u(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn negate64(a: vec2u) -> vec2u {
  return vec2u(~a.x + 1u, ~a.y + select(0u, 1u, a.x == 0u));
}

/// a << shift for 0 <= shift < 64.
fn shiftLeft64(a: vec2u, shift: u32) -> vec2u {
  let inner = shift & 31u;
  let carried = (a.x >> 1u) >> (31u - inner);
  return select(vec2u(a.x << inner, (a.y << inner) | carried), vec2u(0u, a.x << inner), shift >= 32u);
}

/// a >> shift for 0 <= shift < 64, unsigned.
fn shiftRight64(a: vec2u, shift: u32) -> vec2u {
  let inner = shift & 31u;
  let carried = (a.y << 1u) << (31u - inner);
  return select(vec2u((a.x >> inner) | carried, a.y >> inner), vec2u(a.y >> inner, 0u), shift >= 32u);
}

/// a > b, unsigned.
fn greater64(a: vec2u, b: vec2u) -> bool {
  return a.y > b.y || (a.y == b.y && a.x > b.x);
}
