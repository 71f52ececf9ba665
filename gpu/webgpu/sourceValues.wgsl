// Values of a caller's buffer, by their bits: neither NaN nor a subnormal passes through the device's arithmetic.

const NONE = 0xffffffffu;
const VALUES_A_WORD = 32u / VALUE_BITS;

@group(0) @binding(1) var<storage, read> source: array<u32>;

fn sourceBits(index: u32) -> u32 {
  return (source[index / VALUES_A_WORD] >> ((index % VALUES_A_WORD) * VALUE_BITS)) & VALUE_MASK;
}

fn isFinite(bits: u32) -> bool {
  return (bits & 0x7f800000u) != 0x7f800000u;
}
