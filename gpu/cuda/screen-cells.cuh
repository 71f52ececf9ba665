// What a thread of the screening kernel does with its fast logits. Of each part it has two columns, 8 apart, and of each of them every
// fourth group of four tokens: sums[part][8 g + 4 p + 2 h + e] is that of the token 2 p + e of the group 4 g + lane % 4 in the column h.
#pragma once
#include "screen-shape.cuh"

/// A thread's sums of one tile.
template <int N>
using Sums = float[Shape<N>::PARTS][Shape<N>::TOKENS / 2];

/// Of a warp's columns of a part, a thread's column h.
__device__ __forceinline__ uint32_t columnOfThread(uint32_t h) {
  return 8 * h + threadIdx.x % 32 / 4;
}

/// A warp's columns of which tokens matter, a bit each: WARP_COLUMNS of a part follow each other.
using Columns = uint32_t;

/// Whether any of the columns h of a part is among them: the same for a warp.
__device__ __forceinline__ bool hasColumns(Columns columns, uint32_t part, uint32_t h) {
  return (columns >> (WARP_COLUMNS * part + 8 * h) & 255) != 0;
}

/// The part whose first thresholds a block finds: blocks share the parts out.
template <int N>
__device__ __forceinline__ uint32_t seededPart() {
  return blockIdx.x % Shape<N>::PARTS;
}

/// How many groups of a block's first tile, of a column, give first thresholds: few of many columns.
template <int N>
__device__ __forceinline__ uint32_t seedGroups(Columns columns) {
  const uint32_t count = max(1, __popc(columns >> WARP_COLUMNS * seededPart<N>() & 0xffff));
  return 4 * min(Shape<N>::GROUPS, max(1u, WARP_COLUMNS / count));
}

/// A thread's cells that do.
template <int N>
__device__ __forceinline__ uint32_t seedMarks(Columns columns) {
  const uint32_t ofColumn = (1u << seedGroups<N>(columns) / 4) - 1;
  uint32_t marks = 0;
#pragma unroll
  for (uint32_t h = 0; h < 2; h++) {
    if (columns >> (WARP_COLUMNS * seededPart<N>() + columnOfThread(h)) & 1) marks |= ofColumn << (2 * seededPart<N>() + h) * Shape<N>::GROUPS;
  }
  return marks;
}

/// No token's norm of a thread is larger. Groups past the head's last have the norm of that: a cluster's last tiles may not be there.
template <int N>
__device__ __forceinline__ float largestNorm(const Screen& screen, uint32_t firstGroup) {
  const uint32_t last = screen.tiles * (TILE_TOKENS / 4) - 1;
  float norm = 0;
#pragma unroll
  for (uint32_t g = 0; g < Shape<N>::GROUPS; g++) norm = fmaxf(norm, __ldg(screen.norms + min(firstGroup + 4 * g + threadIdx.x % 4, last)));
  return norm;
}

/// Which of a thread's cells may have a token that matters. order: of the warp's columns, in turn in its lanes.
template <int N>
__device__ __forceinline__ uint32_t markCells(const Shared<N>& shared, uint32_t firstGroup, float norm, Columns columns, uint32_t order, const Sums<N>& sums) {
  constexpr uint32_t GROUPS = Shape<N>::GROUPS;
  uint32_t marks = 0;
#pragma unroll
  for (uint32_t part = 0; part < Shape<N>::PARTS; part++) {
#pragma unroll
    for (uint32_t h = 0; h < 2; h++) {
      if (!hasColumns(columns, part, h)) continue;
      const Column& column = shared.columns[firstColumnOfWarp<N>(threadIdx.x / 32, part) + columnOfThread(h)];
      const float threshold = floatOf(__shfl_sync(~0u, order, WARP_COLUMNS * part + columnOfThread(h)));
      const float least = leastZAtOne(column.noise, threshold, __fmul_ru(norm, column.error));
      const GroupKeys keys(column);
#pragma unroll
      for (uint32_t g = 0; g < GROUPS; g++) {
        const float* z = &sums[part][8 * g + 2 * h];
        const float largest = fmaxf(fmaxf(z[0], z[1]), fmaxf(z[4], z[5]));
        const float log2 = log2Distance(nearestOf(groupWords(column, keys, firstGroup + 4 * g + threadIdx.x % 4)));
        marks |= uint32_t(largest >= leastZ(column.noise, least, log2)) << ((2 * part + h) * GROUPS + g);
      }
    }
  }
  return marks;
}

/// The fast logits of a thread's cell, FIRST <= number < FIRST + COUNT: registers have no index.
template <int N, int FIRST = 0, int COUNT = Shape<N>::CELLS>
__device__ __forceinline__ void takeCell(const Sums<N>& sums, uint32_t number, float (&z)[4]) {
  if constexpr (COUNT > 1) {
    if (number < FIRST + COUNT / 2) takeCell<N, FIRST, COUNT / 2>(sums, number, z);
    else takeCell<N, FIRST + COUNT / 2, COUNT / 2>(sums, number, z);
  } else {
    constexpr int part = FIRST / (2 * Shape<N>::GROUPS), h = FIRST / Shape<N>::GROUPS % 2, g = FIRST % Shape<N>::GROUPS;
    z[0] = sums[part][8 * g + 2 * h];
    z[1] = sums[part][8 * g + 2 * h + 1];
    z[2] = sums[part][8 * g + 2 * h + 4];
    z[3] = sums[part][8 * g + 2 * h + 5];
  }
}

/// Queues a warp's marked cells of one number.
template <int N>
__device__ __forceinline__ void queueCells(Queue& queue, float norm, const Sums<N>& sums, uint32_t number, bool isMarked, uint32_t& queued) {
  float z[4];
  takeCell<N>(sums, number, z);
  const uint32_t mask = __ballot_sync(~0u, isMarked);
  if (isMarked) {
    Cell& cell = queue.cells[queued + __popc(mask & ((1u << threadIdx.x % 32) - 1))];
#pragma unroll
    for (int i = 0; i < 4; i++) cell.z[i] = clampZ(z[i]);
    const uint32_t part = number / (2 * Shape<N>::GROUPS), h = number / Shape<N>::GROUPS % 2, g = number % Shape<N>::GROUPS;
    cell.norm = norm;
    cell.place = (firstColumnOfWarp<N>(threadIdx.x / 32, part) + columnOfThread(h)) * 64 + 4 * g + threadIdx.x % 4;
  }
  queued += __popc(mask);
}

/// Looks closely at a queued cell: raises its column's threshold where it may, and lists its group if that may matter.
template <int N>
__device__ __forceinline__ void considerCell(const Screen& screen, Shared<N>& shared, const Queue& queue, const Cell& cell, bool lists) {
  const uint32_t column = cell.place / 64, group = queue.firstGroup + cell.place % 64;
  const Column& constants = shared.columns[column];
  const Words4 words = groupWords(constants, GroupKeys(constants), group);
  const uint32_t high[4] = {words.x, words.y, words.z, words.w};
  const float error = __fmul_ru(cell.norm, constants.error);
  TwoFloats best = {-INFINITY, -INFINITY};
  float atMost = -INFINITY;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    if (group * 4 + i >= screen.vocabSize) continue;
    atMost = fmaxf(atMost, scoreAtMost(cell.z[i], noiseAtMost(constants.noise, log2Distance(min(int(high[i]), FAR_WORD))), error));
    best = combineTwo(best, {scoreAtLeast(constants.noise, cell.z[i], distanceOf(high[i]), error), -INFINITY});
  }
  const bool isCounted = cell.place % 64 < queue.seeds && (Shape<N>::PARTS == 1 || column / PART_COLUMNS == seededPart<N>());
  uint32_t order = NO_ORDER;
  if (!isCounted && best.first > -INFINITY) {
    const float other = floatOf(atomicMax(&shared.leaders[column], orderOf(best.first)));
    order = orderOf(fmaxf(best.second, fminf(best.first, other)));
  }
  order = max(order, atomicMax(&shared.orders[column], order));
  if (!lists || atMost == -INFINITY || orderOf(atMost) < order) return;
  const uint32_t columnOfSweep = firstColumnOfBlock<N>() + column;
  const uint32_t place = atomicAdd(&screen.states[columnOfSweep].contenders, 1u);
  if (place < CONTENDER_ROOM) screen.contenders[columnOfSweep * CONTENDER_ROOM + place] = {{cell.z[0], cell.z[1], cell.z[2], cell.z[3]}, group, atMost};
  else atomicMax(&shared.orders[column], GIVEN_UP); // all tokens will be decided: none has to be looked at any more
}

/// The cells of a queue, by one warp.
template <int N>
__device__ __forceinline__ void considerCells(const Screen& screen, Shared<N>& shared, const Queue& queue, uint32_t count, bool lists) {
  __syncwarp();
  for (uint32_t at = threadIdx.x % 32; at < count; at += 32) considerCell<N>(screen, shared, queue, queue.cells[at], lists);
  __syncwarp();
}

/// Queues a warp's marked cells. Those that there is no room for are looked at first, here and now.
template <int N>
__device__ __forceinline__ void queueMarked(const Screen& screen, Shared<N>& shared, Queue& queue, float norm, const Sums<N>& sums, uint32_t marks, bool lists) {
  uint32_t left = __reduce_or_sync(~0u, marks);
  uint32_t queued = 0;
  while (left != 0) {
    if (queued > QUEUE_ROOM - 32) {
      considerCells<N>(screen, shared, queue, queued, lists);
      queued = 0;
    }
    const uint32_t number = __ffs(int(left)) - 1;
    queueCells<N>(queue, norm, sums, number, marks >> number & 1, queued);
    left &= left - 1;
  }
  if (threadIdx.x % 32 == 0) queue.count = queued;
}
