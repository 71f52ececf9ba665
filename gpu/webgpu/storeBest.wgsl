// How a tile adds a draw's two best tokens to the candidates, in two vectors: score, token, flags; score, token, 0. The order
// of a draw's candidates changes from run to run, its decision does not.

fn storeBest(draw: u32, found: Best, flags: u32) {
  let at = (draw * sweep.tiles + atomicAdd(&draws[draw].candidates, 1u)) * 2u;
  candidates[at] = vec4u(found.first.score, found.first.token, flags);
  candidates[at + 1u] = vec4u(found.second.score, found.second.token, 0u);
  let rank = rankOf(found.first.score);
  let other = atomicMax(&draws[draw].leader, rank);
  atomicMax(&draws[draw].threshold, max(min(rank, other), rankOf(found.second.score)));
}
