// What every sweep over a source of logits is given, and where it leaves its candidates.
#pragma once
#include "rule.cuh"

/// What one row asks for: a record of the packed request (src/spec/request.ts).
struct Stream {
  uint32_t key0, key1, sequence, position, tau, firstSample, purpose;

  __device__ static Stream of(const uint32_t* __restrict__ request, uint32_t row) {
    const uint32_t* record = request + HEADER_WORDS + row * RECORD_WORDS;
    return {record[RECORD_SEED_LOW], record[RECORD_SEED_HIGH], record[RECORD_SEQUENCE], record[RECORD_POSITION],
            record[RECORD_TAU],      record[RECORD_FIRST_SAMPLE], record[RECORD_PURPOSE]};
  }

  /// The high (word 0) or low (word 1) noise words of the tokens 4 group, 4 group + 1, ... in one draw.
  __device__ Words4 noiseWords(uint32_t group, uint32_t sample, uint32_t word) const {
    return philox4x32({group, position, sequence, (sample << PURPOSE_BITS) | (purpose + word)}, key0, key1);
  }

  /// That of one token.
  __device__ uint32_t noiseWord(uint32_t token, uint32_t sample, uint32_t word) const {
    const Words4 four = noiseWords(token / 4, sample, word);
    const uint32_t lower = token & 1 ? four.y : four.x;
    const uint32_t upper = token & 1 ? four.w : four.z;
    return token & 2 ? upper : lower;
  }
};

/// What warps have found of a draw so far, for those that follow. Two tokens are known to rank at least as high as the threshold.
struct Draw {
  uint32_t leader; // the highest rank of a score
  uint32_t threshold;
  uint32_t candidates; // how many were left
  uint32_t invalid; // 1: a logit that is no number
};

/// Two tokens in memory: score and token of the first, then of the second.
struct Candidate {
  uint64_t score;
  uint32_t token;
  uint32_t flags;
  uint64_t score2;
  uint32_t token2;
  uint32_t decided; // of a screened draw's decision: how many tokens got their logit in the order L32
};

/// Some rows of the request, some of their samples.
struct Sweep {
  const uint32_t* request;
  Candidate* candidates; // [rows * samples, room]
  Draw* draws; // [rows * samples], zero before a sweep
  uint32_t room; // candidates of a draw
  uint32_t firstRow;
  uint32_t rows;
  uint32_t firstSample;
  uint32_t samples;
};

__device__ __forceinline__ Scored shuffled(const Scored& mine, int mask) {
  return {__shfl_xor_sync(~0u, mine.score, mask), __shfl_xor_sync(~0u, mine.token, mask)};
}

/// The two best of all lanes whose numbers differ in the bits from `firstBit` on; every one of these has the result.
__device__ __forceinline__ Best combineLanes(Best best, int firstBit) {
  for (int mask = firstBit; mask < 32; mask *= 2) {
    best = argmaxCombine(best, Best{shuffled(best.first, mask), shuffled(best.second, mask)});
  }
  return best;
}

/// Adds two tokens to a draw's candidates. Their order changes from run to run, the decision does not.
__device__ __forceinline__ void addCandidate(const Sweep& sweep, uint32_t draw, const Best& best) {
  Draw* state = sweep.draws + draw;
  const uint32_t at = atomicAdd(&state->candidates, 1u);
  sweep.candidates[uint64_t(draw) * sweep.room + at] = {best.first.score, best.first.token, 0, best.second.score, best.second.token, 0};
  const uint32_t rank = rankOf(best.first.score);
  const uint32_t other = atomicMax(&state->leader, rank);
  atomicMax(&state->threshold, max(min(rank, other), rankOf(best.second.score)));
}

/// Draws one sample for the logits that the lanes of a warp hold, one each; lanes whose numbers differ in bits from `firstBit` on
/// have logits of the same draw. Tokens that cannot be one of the draw's two best are passed over.
__device__ __forceinline__ void drawSample(const Sweep& sweep, const Stream& stream, uint32_t row, uint32_t sample, bool isToken, int64_t z, uint32_t token, int firstBit) {
  const uint32_t draw = (row - sweep.firstRow) * sweep.samples + sample;
  const uint32_t number = stream.firstSample + sweep.firstSample + sample;
  bool matters = false;
  uint32_t high = 0;
  if (isToken) {
    const uint32_t threshold = *reinterpret_cast<volatile uint32_t*>(&sweep.draws[draw].threshold);
    high = stream.noiseWord(token, number, 0);
    matters = rankOf(orderedScore(z, gammaAtMost(high), stream.tau)) >= threshold;
  }
  if (!__any_sync(~0u, matters)) return;
  Best best = NO_BEST;
  if (matters && z != MASKED) best.first = {orderedScore(z, gamma26(high, stream.noiseWord(token, number, 1)), stream.tau), token};
  best = combineLanes(best, firstBit);
  if ((threadIdx.x & 31) < firstBit && best.first.token != NO_TOKEN) addCandidate(sweep, draw, best);
}
