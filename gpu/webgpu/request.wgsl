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

/// gamma of four tokens, 4 quad to 4 quad + 3, in one draw.
fn quadGamma(stream: Stream, quad: u32, sample: u32) -> vec4u {
  let purpose = (sample << PURPOSE_BITS) | stream.purpose;
  let high = philox4x32(vec4u(quad, stream.position, stream.sequence, purpose), stream.key);
  let low = philox4x32(vec4u(quad, stream.position, stream.sequence, purpose + 1u), stream.key);
  return gamma26(high, low);
}
