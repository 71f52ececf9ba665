// int8 weights, four columns of four blocks in 16 bytes.

alias Packed = vec4u;

fn unpackWeights(packed: Packed, block: u32) -> vec4f {
  return signedBytes(packed[block]);
}
