// One hidden value of a column at a time: for blocks of few rows.

alias HiddenPart = f32;
const PART_ROWS = 1u;

fn rowOf(part: HiddenPart, row: u32) -> f32 {
  return part;
}

fn stagePart(at: u32, part: HiddenPart) {
  store(at, part);
}

fn stagedPart(at: u32) -> HiddenPart {
  return load(at);
}
