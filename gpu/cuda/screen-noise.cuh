// With more than 128 columns nobody multiplies while cells are looked at. What of that does not need the products is done before, by
// the copying warpgroup's other warps: how much noise a cell's four tokens have at most.
#pragma once
#include "screen-shape.cuh"

constexpr uint32_t NOISE_WARPS = 3;
constexpr uint32_t NOISE_THREADS = NOISE_WARPS * 32;
/// Cells keep log2 of the distance in eighths: a byte.
constexpr float STEPS_OF_LOG2 = 8;

/// Where a group's cell of a column is: a thread's cells of all eights of columns lie side by side.
template <int N>
__device__ __forceinline__ uint32_t noisePlace(uint32_t group, uint32_t column) {
  return (group * 8 + column % 8) * Shape<N>::EIGHTS + column / 8;
}

/// log2 of the smallest distance of four tokens, in eighths, rounded down; 0 tells nothing.
__device__ __forceinline__ uint8_t quantisedDistance(const Words4& words) {
  const int nearest = min(min(int(words.x), int(words.y)), min(int(words.z), int(words.w))); // distances as signed numbers
  const float log2 = __log2f(__uint2float_rd(min(distanceOf(uint32_t(nearest)), FAR_DISTANCE)));
  return uint8_t(__float2uint_rd(fmaxf(0.0f, (log2 - 1e-4f) * STEPS_OF_LOG2)));
}

/// No smaller than T gamma of a cell's tokens.
__device__ __forceinline__ float noiseAtMost(const NoiseScale& scale, uint8_t quantised) {
  return quantised == 0 ? INFINITY : __fmaf_ru(-scale.upper, float(quantised) * (1 / STEPS_OF_LOG2), scale.upperTop);
}

constexpr uint32_t NOISE_MADE_BARRIER = 6, NOISE_READ_BARRIER = 7;

/// The multiplying warps: waits for a tile's noise.
template <int N>
__device__ __forceinline__ void waitForNoise() {
  if (Shape<N>::HAS_NOISE) syncThreads(NOISE_MADE_BARRIER, MULTIPLYING_THREADS + NOISE_THREADS);
}

/// The multiplying warps: the place of the noise may be used for the next tile.
template <int N>
__device__ __forceinline__ void releaseNoise() {
  if (Shape<N>::HAS_NOISE) arriveThreads(NOISE_READ_BARRIER, MULTIPLYING_THREADS + NOISE_THREADS);
}

/// The warps that make noise: each lane has a column at a time.
template <int N>
__device__ __forceinline__ void makeNoise(const Screen& screen, Shared<N>& shared, uint32_t block, uint32_t clusters, uint32_t cluster) {
  const uint32_t thread = threadIdx.x - MULTIPLYING_THREADS - 32;
  for (uint32_t pair = cluster * Shape<N>::CLUSTER; pair < screen.tiles; pair += clusters * Shape<N>::CLUSTER) {
    const uint32_t firstGroup = (pair + block) * (TILE_TOKENS / 4);
    syncThreads(NOISE_READ_BARRIER, MULTIPLYING_THREADS + NOISE_THREADS);
    for (uint32_t column = thread; column < columnsOf(screen); column += NOISE_THREADS) {
      const Column constants = shared.columns[column];
#pragma unroll 4
      for (uint32_t group = 0; group < TILE_TOKENS / 4; group++) {
        shared.noise[noisePlace<N>(group, column)] = quantisedDistance(groupWords(constants, firstGroup + group));
      }
    }
    arriveThreads(NOISE_MADE_BARRIER, MULTIPLYING_THREADS + NOISE_THREADS);
  }
}
