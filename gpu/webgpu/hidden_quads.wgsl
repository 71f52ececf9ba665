// Four hidden rows' values of a column at a time.

alias HiddenPart = vec4f;
const PART_ROWS = 4u;

fn rowOf(part: HiddenPart, row: u32) -> f32 {
  return part[row];
}

fn stagePart(at: u32, part: HiddenPart) {
  scratch[at] = bitcast<vec4u>(part);
}

fn stagedPart(at: u32) -> HiddenPart {
  return bitcast<vec4f>(scratch[at]);
}
