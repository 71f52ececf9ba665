/** Merges what shards of one vocabulary decided: associative, commutative, and the same result as one pass over all tokens. */
import { STATUS_ALL_MASKED, STATUS_INVALID, STATUS_OK, type Candidates } from "../backend.js";

/** Room for `draws` decisions, all "every token is masked": the neutral element of mergeCandidates. */
export function emptyCandidates(draws: number): Candidates {
  return {
    status: new Uint8Array(draws).fill(STATUS_ALL_MASKED),
    token: new Int32Array(draws).fill(-1),
    score: new BigInt64Array(draws),
    runnerUp: new Int32Array(draws).fill(-1),
    runnerUpScore: new BigInt64Array(draws),
  };
}

/**
 * The decision over two disjoint sets of tokens, draw by draw: the two best of the four tokens, by score, then by smaller id.
 * One invalid side makes the draw invalid.
 * @throws RangeError when the two do not hold the same number of draws
 */
export function mergeCandidates(a: Candidates, b: Candidates): Candidates {
  if (a.token.length !== b.token.length) {
    throw new RangeError(`"candidates" expected ${a.token.length} draws from each shard, got ${b.token.length}`);
  }
  const merged = emptyCandidates(a.token.length);
  for (let draw = 0; draw < merged.token.length; draw++) {
    if (a.status[draw] === STATUS_INVALID || b.status[draw] === STATUS_INVALID) {
      merged.status[draw] = STATUS_INVALID;
      continue;
    }
    const [winner, loser] = wins(a, b, draw) ? [a, b] : [b, a];
    if (winner.token[draw] === -1) continue;
    merged.status[draw] = STATUS_OK;
    merged.token[draw] = winner.token[draw]!;
    merged.score[draw] = winner.score[draw]!;
    const second = isBetter(winner.runnerUp[draw]!, winner.runnerUpScore[draw]!, loser.token[draw]!, loser.score[draw]!);
    merged.runnerUp[draw] = second ? winner.runnerUp[draw]! : loser.token[draw]!;
    merged.runnerUpScore[draw] = second ? winner.runnerUpScore[draw]! : loser.score[draw]!;
  }
  return merged;
}

function wins(a: Candidates, b: Candidates, draw: number): boolean {
  return isBetter(a.token[draw]!, a.score[draw]!, b.token[draw]!, b.score[draw]!);
}

/** The larger score, then the smaller token; -1 is no token and loses to any. */
function isBetter(token: number, score: bigint, otherToken: number, otherScore: bigint): boolean {
  if (token === -1 || otherToken === -1) return otherToken === -1;
  return score !== otherScore ? score > otherScore : token < otherToken;
}
