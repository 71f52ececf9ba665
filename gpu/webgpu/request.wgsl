// What one row asks for: a record of the packed request (src/spec/request.ts).

struct Stream {
  key: vec2u,
  sequence: u32,
  position: u32,
  tau: u32,
  firstSample: u32,
  purpose: u32,
}

fn streamOf(row: u32) -> Stream {
  let record = HEADER_WORDS + row * RECORD_WORDS;
  return Stream(
    vec2u(request[record + RECORD_SEED_LOW], request[record + RECORD_SEED_HIGH]),
    request[record + RECORD_SEQUENCE],
    request[record + RECORD_POSITION],
    request[record + RECORD_TAU],
    request[record + RECORD_FIRST_SAMPLE],
    request[record + RECORD_PURPOSE],
  );
}

/// The high (word 0) or low (word 1) noise words of four tokens, 4 quad to 4 quad + 3, in one draw.
fn noiseWords(stream: Stream, quad: u32, sample: u32, word: u32) -> vec4u {
  let purpose = (sample << PURPOSE_BITS) | (stream.purpose + word);
  return philox4x32(vec4u(quad, stream.position, stream.sequence, purpose), stream.key);
}
