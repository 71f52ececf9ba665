// What a thread of the screening kernel does with its fast logits. It has sums[half][4 j + 2 h + e] of two tokens h in two columns e
// of every eight; the thread four lanes on has the next two tokens. Between them each looks at four tokens in one column: a cell.
#pragma once
#include "screen-shape.cuh"

/// Of a tile, the group of four tokens of a thread's cells.
template <int N>
__device__ __forceinline__ uint32_t groupOfThread(uint32_t half) {
  return (half * 4 + teamThread<N>() / 32) * 4 + threadIdx.x % 32 / 8;
}

/// Of eight columns, that of a thread's cells.
__device__ __forceinline__ uint32_t columnOfThread() {
  return threadIdx.x % 4 * 2 + threadIdx.x / 4 % 2;
}

/// A thread's sums of one tile.
template <int N>
using Sums = float[Shape<N>::HALVES][N / 2];

/// Norms of a thread's groups.
template <int N>
using Norms = float[Shape<N>::HALVES];

/// Which of a thread's cells may have a token that matters.
template <int N>
__device__ __forceinline__ uint32_t markCells(const Shared<N>& shared, uint32_t tile, const Norms<N>& norms, const Sums<N>& sums) {
  const bool isUpper = threadIdx.x / 4 % 2;
  const float* thresholds = shared.thresholds[teamOfThread<N>()];
  uint32_t marks = 0;
#pragma unroll
  for (uint32_t cell = 0; cell < Shape<N>::CELLS; cell++) {
    const uint32_t half = cell / Shape<N>::EIGHTS, j = cell % Shape<N>::EIGHTS;
    const uint32_t column = 8 * j + columnOfThread();
    const float* four = &sums[half][4 * j];
    const float lower = fmaxf(four[0], four[2]), upper = fmaxf(four[1], four[3]);
    const float largest = fmaxf(isUpper ? upper : lower, __shfl_xor_sync(~0u, isUpper ? lower : upper, 4));
    const Words4 words = groupWords(shared.columns[column], tile * (TILE_TOKENS / 4) + groupOfThread<N>(half));
    const int nearest = min(min(int(words.x), int(words.y)), min(int(words.z), int(words.w))); // distances as signed numbers
    const float error = __fmul_ru(norms[half], shared.columns[column].error);
    const float atMost = scoreAtMost(clampZ(largest), noiseAtMost(shared.columns[column].noise, distanceOf(uint32_t(nearest))), error);
    marks |= uint32_t(atMost >= thresholds[column]) << cell;
  }
  return marks;
}

/// A thread's cells in columns of the sweep.
template <int N>
__device__ __forceinline__ uint32_t columnMarks(const Screen& screen) {
  const uint32_t columns = columnsOf(screen);
  const uint32_t count = columns > columnOfThread() ? (columns - columnOfThread() + 7) / 8 : 0;
  const uint32_t marks = count >= 32 ? ~0u : (1u << count) - 1;
  return Shape<N>::HALVES == 1 ? marks : marks | marks << Shape<N>::EIGHTS % 32;
}

/// A warp's cells that give first thresholds, in a block's first tile.
template <int N>
__device__ __forceinline__ uint32_t seedMarks() {
  uint32_t marks = 0;
  for (uint32_t cell = threadIdx.x / 32 % Shape<N>::SEED_SHARE; cell < Shape<N>::EIGHTS; cell += Shape<N>::SEED_SHARE) marks |= 1u << cell;
  return marks;
}

/// Queues a warp's marked cells of one number.
template <int N>
__device__ __forceinline__ void queueCells(Shared<N>& shared, const Norms<N>& norms, const Sums<N>& sums, uint32_t cell, bool isMarked, uint32_t& queued) {
  const uint32_t half = cell / Shape<N>::EIGHTS, j = cell % Shape<N>::EIGHTS;
  const bool isUpper = threadIdx.x / 4 % 2;
  const float* four = &sums[half][4 * j];
  const float kept[2] = {isUpper ? four[1] : four[0], isUpper ? four[3] : four[2]};
  const float got[2] = {__shfl_xor_sync(~0u, isUpper ? four[0] : four[1], 4), __shfl_xor_sync(~0u, isUpper ? four[2] : four[3], 4)};
  const uint32_t mask = __ballot_sync(~0u, isMarked);
  if (isMarked) {
    const uint32_t at = queued + __popc(mask & ((1u << threadIdx.x % 32) - 1));
    const uint32_t place = (8 * j + columnOfThread()) * 32 + groupOfThread<N>(half);
    Cell& queue = shared.queues[threadIdx.x / 32][at];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      queue.z[i] = clampZ(isUpper ? got[i] : kept[i]);
      queue.z[2 + i] = clampZ(isUpper ? kept[i] : got[i]);
    }
    queue.norm = norms[half];
    queue.place = place;
  }
  queued += __popc(mask);
}

/// Looks closely at a queued cell: raises its column's threshold where it may, and lists its group if that may matter.
template <int N>
__device__ __forceinline__ void considerCell(const Screen& screen, Shared<N>& shared, uint32_t tile, const Cell& cell, uint32_t excluded, bool lists) {
  const uint32_t column = cell.place / 32;
  const uint32_t group = tile * (TILE_TOKENS / 4) + cell.place % 32;
  const Column& constants = shared.columns[column];
  const Words4 words = groupWords(constants, group);
  const uint32_t high[4] = {words.x, words.y, words.z, words.w};
  const float error = __fmul_ru(cell.norm, constants.error);
  TwoFloats best = {-INFINITY, -INFINITY};
  float atMost = -INFINITY;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (group * 4 + i >= screen.vocabSize) continue;
    const uint32_t distance = distanceOf(high[i]);
    atMost = fmaxf(atMost, scoreAtMost(cell.z[i], noiseAtMost(constants.noise, distance), error));
    best = combineTwo(best, {scoreAtLeast(constants.noise, cell.z[i], distance, error), -INFINITY});
  }
  const uint32_t number = cell.place % 32 / (4 * Shape<N>::TEAM_WARPS) * Shape<N>::EIGHTS + column / 8;
  uint32_t order = NO_ORDER;
  if ((excluded >> number & 1) == 0 && best.first > -INFINITY) {
    const float other = floatOf(atomicMax(&shared.leaders[column], orderOf(best.first)));
    order = orderOf(fmaxf(best.second, fminf(best.first, other)));
  }
  order = max(order, atomicMax(&shared.orders[column], order));
  if (!lists || atMost == -INFINITY || orderOf(atMost) < order) return;
  const uint32_t place = atomicAdd(&screen.states[column].contenders, 1u);
  if (place < CONTENDER_ROOM) screen.contenders[column * CONTENDER_ROOM + place] = {{cell.z[0], cell.z[1], cell.z[2], cell.z[3]}, group, atMost};
}

/// Looks closely at a thread's marked cells. excluded: those of the warp whose tokens have raised thresholds before.
template <int N>
__device__ __forceinline__ void considerCells(const Screen& screen, Shared<N>& shared, uint32_t tile, const Norms<N>& norms, const Sums<N>& sums, uint32_t marks, uint32_t excluded, bool lists) {
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint32_t left = __reduce_or_sync(~0u, marks);
  while (left != 0) {
    uint32_t queued = 0;
#pragma unroll
    for (uint32_t cell = 0; cell < Shape<N>::CELLS; cell++) {
      if ((left >> cell & 1) == 0 || queued > QUEUE_ROOM - 32) continue;
      queueCells<N>(shared, norms, sums, cell, marks >> cell & 1, queued);
      left &= ~(1u << cell);
    }
    __syncwarp();
    for (uint32_t at = lane; at < queued; at += 32) considerCell<N>(screen, shared, tile, shared.queues[warp][at], excluded, lists);
    __syncwarp();
  }
}

