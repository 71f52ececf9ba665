// A draw's two best tokens in two vectors: score, token, flags; score, token, 0.

fn storeBest(at: u32, found: Best, flags: u32) {
  candidates[at] = vec4u(found.first.score, found.first.token, flags);
  candidates[at + 1u] = vec4u(found.second.score, found.second.token, 0u);
}
