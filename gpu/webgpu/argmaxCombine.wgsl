// The two best tokens of a set: the larger score, then the smaller token. Associative and commutative.

const NO_TOKEN = 0xffffffffu;

struct Scored {
  score: vec2u, // ordered: see orderedScore
  token: u32,
}

struct Best {
  first: Scored,
  second: Scored,
}

const NO_SCORED = Scored(vec2u(0u, 0u), NO_TOKEN);
const NO_BEST = Best(NO_SCORED, NO_SCORED);

fn wins(a: Scored, b: Scored) -> bool {
  return greater64(a.score, b.score) || (all(a.score == b.score) && a.token < b.token);
}

fn better(a: Scored, b: Scored) -> Scored {
  if (wins(a, b)) {
    return a;
  }
  return b;
}

fn argmaxCombine(a: Best, b: Best) -> Best {
  if (wins(a.first, b.first)) {
    return Best(a.first, better(a.second, b.first));
  }
  return Best(b.first, better(b.second, a.first));
}

fn withToken(best: Best, score: vec2u, token: u32) -> Best {
  return argmaxCombine(best, Best(Scored(score, token), NO_SCORED));
}
