// A float head's logit stays f32 until its score is due.

alias Logit = u32;

fn zOf(logit: Logit) -> vec2u {
  return fix(logit);
}

fn addGroup(so_far: Logit, sum: f32, token: u32, group: u32) -> Logit {
  return bitcast<u32>(sum);
}
