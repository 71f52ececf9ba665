// After a screened sweep: each column's contenders are decided in the order L32. A column with too many of them is decided from
// all tokens, by all blocks.
#pragma once
#include "prepare.cuh"

constexpr int DECIDE_WARPS = 4;
constexpr int DECIDE_THREADS = DECIDE_WARPS * 32;
constexpr int DECIDE_BLOCKS = 2; // of a multiprocessor: all columns at once
constexpr uint32_t AT_ONCE = 16; // units that a lane asks for together

/// The two best of a block, in its first warp's lanes.
__device__ __forceinline__ Best combineBlock(const Best& best, Best (&shared)[DECIDE_WARPS]) {
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = best;
  __syncthreads();
  return combineLanes(threadIdx.x % 32 < DECIDE_WARPS ? shared[threadIdx.x % 32] : Best(NO_BEST), 1);
}

/// A token's logit in a column, by all lanes of a warp.
template <class Dtype>
__device__ __forceinline__ float logitOf(const Screen& screen, uint32_t token, uint32_t column) {
  const uint32_t lane = threadIdx.x % 32;
  const uint8_t* weights = screen.weights + placeInHead(screen.units, token, 0, lane);
  const uint8_t* hidden = screen.operands + placeInPiece(screen.columnRoom, column, 0, lane);
  float sum = 0;
  for (uint32_t first = 0; first < screen.units; first += AT_ONCE) {
    uint2 weight[AT_ONCE], value[AT_ONCE];
#pragma unroll
    for (uint32_t i = 0; i < AT_ONCE; i++) {
      const uint32_t unit = min(first + i, screen.units - 1);
      weight[i] = __ldg(reinterpret_cast<const uint2*>(weights + unit * (2 * TILE_BYTES)));
      if (first + i >= screen.units) weight[i] = {0, 0}; // adds +0 or -0 to a sum that is never -0: nothing changes
      value[i] = *reinterpret_cast<const uint2*>(hidden + unit * (2 * STEP_BYTES * screen.columnRoom));
    }
#pragma unroll
    for (uint32_t i = 0; i < AT_ONCE; i++) {
#pragma unroll
      for (int block = 0; block < UNIT; block++) sum = Dtype::multiplyAdd(Dtype::weightOf(weight[i], block), Dtype::weightOf(value[i], block), sum);
    }
  }
  for (int mask = 1; mask < 32; mask *= 2) sum = __fadd_rn(sum, __shfl_xor_sync(~0u, sum, mask)); // neighbours first
  return sum;
}

/// One column's part of everything.
template <class Dtype>
struct ColumnView {
  const Screen& screen;
  Candidate* decisions; // of all columns
  uint32_t column;
  Stream stream;
  uint32_t sample;

  __device__ ColumnView(const Screen& screen, Candidate* decisions, uint32_t column)
      : screen(screen), decisions(decisions), column(column), stream(Stream::of(screen.request, screen.firstRow + column / screen.samples)),
        sample(stream.firstSample + screen.firstSample + column % screen.samples) {}

  __device__ uint32_t gammaOf(uint32_t token) const {
    return gamma26(stream.noiseWord(token, sample, 0), stream.noiseWord(token, sample, 1));
  }

  /// The noise of a group's four tokens.
  __device__ void gammasOf(uint32_t group, uint32_t (&gammas)[4]) const {
    const Words4 high = stream.noiseWords(group, sample, 0), low = stream.noiseWords(group, sample, 1);
    gammas[0] = gamma26(high.x, low.x);
    gammas[1] = gamma26(high.y, low.y);
    gammas[2] = gamma26(high.z, low.z);
    gammas[3] = gamma26(high.w, low.w);
  }

  /// A token's score, by all lanes of a warp.
  __device__ Scored scoreOf(uint32_t token, uint32_t gamma) const {
    const float logit = logitOf<Dtype>(screen, token, column);
    return {orderedScore(fix(__float_as_uint(logit)), gamma, stream.tau), token};
  }

  __device__ void write(const Best& best, uint32_t decided) const {
    if (threadIdx.x == 0) decisions[column] = {best.first.score, best.first.token, 0, best.second.score, best.second.token, decided};
  }
};

/// Decides a column whose tokens all score 0.
template <class Dtype>
__device__ __forceinline__ void decideEqualTokens(const ColumnView<Dtype>& view) {
  const uint64_t score = orderedScore(0, 0, view.stream.tau);
  view.write({{score, 0}, view.screen.vocabSize > 1 ? Scored{score, 1} : NO_SCORED}, 0);
}

/// A token with its noise.
struct Noisy {
  uint32_t token, gamma;
};

/// Decides a column from its contenders, by one block.
template <class Dtype>
__device__ __forceinline__ void decideContenders(const ColumnView<Dtype>& view, uint32_t count, Best (&shared)[DECIDE_WARPS]) {
  __shared__ uint32_t reaching[CONTENDER_ROOM];
  __shared__ uint32_t reachingCount, contenderCount;
  __shared__ Noisy contenders[DECIDE_THREADS * 4];
  __shared__ uint32_t leader, threshold; // orders
  const Contender* list = view.screen.contenders + view.column * CONTENDER_ROOM;
  const Column& constants = view.screen.columns[view.column];
  if (threadIdx.x == 0) {
    reachingCount = 0;
    leader = NO_ORDER;
    threshold = view.screen.states[view.column].threshold;
  }
  __syncthreads();
  const float screened = floatOf(threshold);
  for (uint32_t at = threadIdx.x; at < count; at += DECIDE_THREADS) {
    if (list[at].atMost >= screened) reaching[atomicAdd(&reachingCount, 1u)] = at;
  }
  __syncthreads();
  Best best = NO_BEST;
  uint32_t decided = 0;
  // Now with the noise itself: what is left is the error of the fast logits.
  for (uint32_t first = 0; first < reachingCount; first += DECIDE_THREADS) {
    if (threadIdx.x == 0) contenderCount = 0;
    float atMost[4];
    uint32_t gammas[4];
    uint32_t token = 0;
    const bool isGroup = first + threadIdx.x < reachingCount;
    if (isGroup) {
      const Contender group = list[reaching[first + threadIdx.x]];
      token = group.group * 4;
      const float error = __fadd_ru(__fmul_ru(__ldg(view.screen.norms + group.group), constants.error), 2 * SCORE_SLACK);
      view.gammasOf(group.group, gammas);
      TwoFloats most = {-INFINITY, -INFINITY};
#pragma unroll
      for (int i = 0; i < 4; i++) {
        atMost[i] = -INFINITY;
        if (token + i >= view.screen.vocabSize) continue;
        const float noise = __ull2float_ru((uint64_t(gammas[i]) * view.stream.tau) >> NOISE_SHIFT) * 0x1p-32f;
        const float score = __fadd_ru(group.z[i], noise);
        atMost[i] = __fadd_ru(score, error);
        // Three roundings of a sum apart at most: two more units of it than the upper bound.
        const float atLeast = __fsub_rd(__fsub_rd(__fadd_rd(group.z[i], __fmul_rd(noise, 1 - 0x1p-23f)), error), SCORE_SLACK);
        most = combineTwo(most, {atLeast, -INFINITY});
      }
      const float other = floatOf(atomicMax(&leader, orderOf(most.first)));
      atomicMax(&threshold, orderOf(fmaxf(most.second, fminf(most.first, other))));
    }
    __syncthreads();
    const float reached = floatOf(threshold);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      if (isGroup && token + i < view.screen.vocabSize && atMost[i] >= reached) contenders[atomicAdd(&contenderCount, 1u)] = {token + i, gammas[i]};
    }
    __syncthreads();
    decided += contenderCount;
    for (uint32_t at = threadIdx.x / 32; at < contenderCount; at += DECIDE_WARPS) best = argmaxCombine(best, Best{view.scoreOf(contenders[at].token, contenders[at].gamma), NO_SCORED});
    __syncthreads();
  }
  view.write(combineBlock(best, shared), decided);
}

/// This block's share of all tokens; the last block to finish writes the decision.
template <class Dtype>
__device__ __forceinline__ void decideAllTokens(const ColumnView<Dtype>& view, Best (&shared)[DECIDE_WARPS]) {
  __shared__ bool isLast;
  Best best = NO_BEST;
  for (uint32_t token = blockIdx.x * DECIDE_WARPS + threadIdx.x / 32; token < view.screen.vocabSize; token += gridDim.x * DECIDE_WARPS) {
    best = argmaxCombine(best, Best{view.scoreOf(token, view.gammaOf(token)), NO_SCORED});
  }
  best = combineBlock(best, shared);
  // The list of contenders is of no use any more: it holds the blocks' results.
  Best* results = reinterpret_cast<Best*>(view.screen.contenders + view.column * CONTENDER_ROOM);
  if (threadIdx.x == 0) {
    results[blockIdx.x] = best;
    __threadfence();
    isLast = atomicAdd(&view.screen.states[view.column].finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!isLast) return;
  __threadfence();
  Best all = NO_BEST;
  for (uint32_t at = threadIdx.x; at < gridDim.x; at += DECIDE_THREADS) all = argmaxCombine(all, results[at]);
  view.write(combineBlock(combineLanes(all, 1), shared), view.screen.vocabSize);
}

/// Grid: at least the columns, at most MAX_COLUMNS.
template <class Dtype>
__device__ __forceinline__ void decideColumns(const Screen& screen, Candidate* decisions) {
  __shared__ Best shared[DECIDE_WARPS];
  waitForKernelsBefore();
  const uint32_t columns = columnsOf(screen);
  bool overflows = false;
  for (uint32_t column = threadIdx.x; column < columns; column += DECIDE_THREADS) overflows |= screen.states[column].contenders > CONTENDER_ROOM;
  const bool anyOverflow = __syncthreads_or(overflows);
  if (blockIdx.x < columns) {
    const ColumnView<Dtype> view(screen, decisions, blockIdx.x);
    const uint32_t count = screen.states[blockIdx.x].contenders;
    if (!needsLogits(screen.columns[blockIdx.x])) decideEqualTokens(view);
    else if (count <= CONTENDER_ROOM) decideContenders(view, count, shared);
  }
  if (!anyOverflow) return;
  for (uint32_t column = 0; column < columns; column++) {
    if (screen.states[column].contenders > CONTENDER_ROOM) decideAllTokens(ColumnView<Dtype>(screen, decisions, column), shared);
  }
}

#define DECIDE(NAME, DTYPE) \
  extern "C" __global__ void __launch_bounds__(DECIDE_THREADS, DECIDE_BLOCKS) decide_##NAME(const __grid_constant__ Screen screen, Candidate* decisions) { \
    decideColumns<DTYPE>(screen, decisions); \
  }
DECIDE(bf16, Bf16)
DECIDE(f16, F16)
