// int8 weights whose groups have blocks that four do not divide: four columns of one block in 4 bytes.

alias Packed = u32;

fn unpackWeights(packed: Packed, block: u32) -> vec4f {
  return signedBytes(packed);
}
