// Heads in memory (gpu/layout.ts) and their dot products in the order L32 (docs/spec.md, "Logits"). Each lane of a warp has one of
// the 32 partial sums.
#pragma once
#include <cuda_fp16.h>
#include "rule.cuh"

constexpr int LANES = DOT_LANES;
constexpr int UNIT = 4; // blocks of 32 columns that a lane loads at a time

/// Products that are exact in f32: bf16, f16, int8.
struct ExactProducts {
  __device__ static float multiplyAdd(float weight, float hidden, float sum) {
    return __fmaf_rn(weight, hidden, sum);
  }
};

struct Bf16 : ExactProducts {
  static constexpr int BLOCKS = UNIT; // of what weightOf() reads from
  using Packed = uint2;
  using Loaded = uint2;
  __device__ static float weightOf(Packed packed, int block) {
    const uint32_t word = block < 2 ? packed.x : packed.y;
    return __uint_as_float(block % 2 ? word & 0xffff0000u : word << 16);
  }
};

struct F16 : ExactProducts {
  static constexpr int BLOCKS = UNIT;
  using Packed = uint2;
  using Loaded = uint2;
  __device__ static float weightOf(Packed packed, int block) {
    const uint32_t word = block < 2 ? packed.x : packed.y;
    return __half2float(__ushort_as_half(uint16_t(block % 2 ? word >> 16 : word & 0xffff)));
  }
};

struct F32 {
  static constexpr int BLOCKS = UNIT;
  using Packed = float4;
  using Loaded = float4;
  __device__ static float weightOf(Packed packed, int block) {
    return block == 0 ? packed.x : block == 1 ? packed.y : block == 2 ? packed.z : packed.w;
  }
  /// The product is not exact: it is rounded before it is added.
  __device__ static float multiplyAdd(float weight, float hidden, float sum) {
    return __fadd_rn(sum, __fmul_rn(weight, hidden));
  }
};

struct Int8 : ExactProducts {
  static constexpr int BLOCKS = UNIT;
  using Packed = uint32_t;
  using Loaded = uint32_t;
  __device__ static float weightOf(Packed packed, int block) {
    return float(int32_t(packed << (24 - 8 * block)) >> 24);
  }
};

/// Groups of columns that four blocks do not divide: a unit is one block, and four share their 4 bytes.
struct Int8Narrow : ExactProducts {
  static constexpr int BLOCKS = 1;
  using Packed = int32_t;
  using Loaded = uint32_t;
  __device__ static float weightOf(Packed packed, int) {
    return float(packed);
  }
};

/// A part of the vocabulary.
struct Head {
  const void* weights; // [rows, units, lanes], rows up to a multiple of 32
  const uint32_t* scales; // f32 bits [rows, groups], likewise
  const float* hidden; // [blocks of B rows, columns, B]
  uint32_t rows;
  uint32_t units; // in a row
  uint32_t groups; // scales in a row; 1 without scales
};

/// A lane's weights in a unit of a row.
template <class Dtype>
__device__ __forceinline__ typename Dtype::Packed loadWeights(const typename Dtype::Loaded* row, uint32_t unit) {
  if constexpr (Dtype::BLOCKS == 1) return int32_t(__ldg(row + unit / UNIT * LANES) << (24 - 8 * (unit % UNIT))) >> 24;
  else return __ldg(row + unit * LANES);
}

/// B hidden rows' values of a column.
template <int B>
__device__ __forceinline__ void loadHidden(float (&values)[B], const float* hidden, uint32_t column) {
  if constexpr (B % 4 == 0) {
#pragma unroll
    for (int part = 0; part < B / 4; part++) {
      const float4 four = __ldg(reinterpret_cast<const float4*>(hidden) + column * (B / 4) + part);
      values[4 * part] = four.x;
      values[4 * part + 1] = four.y;
      values[4 * part + 2] = four.z;
      values[4 * part + 3] = four.w;
    }
  } else {
#pragma unroll
    for (int b = 0; b < B; b++) values[b] = __ldg(hidden + column * B + b);
  }
}

/// Adds the lanes of 32 sums by the tree of neighbours. A lane is left with the sum number brev5(lane).
template <int WIDTH = 16>
__device__ __forceinline__ float transposeAdd(float (&sums)[32], uint32_t lane) {
  constexpr int MASK = 16 / WIDTH;
  const bool upper = lane & MASK;
#pragma unroll
  for (int i = 0; i < WIDTH; i++) {
    const float kept = upper ? sums[i + WIDTH] : sums[i];
    const float given = upper ? sums[i] : sums[i + WIDTH];
    sums[i] = __fadd_rn(kept, __shfl_xor_sync(~0u, given, MASK));
  }
  if constexpr (WIDTH == 1) return sums[0];
  else return transposeAdd<WIDTH / 2>(sums, lane);
}

/// The number of the sum, of each 32, that transposeAdd leaves to a lane.
__device__ __forceinline__ uint32_t ownedSum(uint32_t lane) {
  return __brev(lane) >> 27;
}

/// Z of R weight rows times B hidden rows, R * B / 32 a lane: number k is that of output 32 k + ownedSum(lane), output b R + r.
template <class Dtype, int R, int B>
__device__ __forceinline__ void computeLogits(const Head& head, uint32_t firstRow, const float* hidden, uint32_t lane, int64_t (&z)[R * B / 32]) {
  using Packed = typename Dtype::Packed;
  const uint32_t groupUnits = head.units / head.groups;
  const uint32_t length = (Dtype::BLOCKS == 1 ? (head.units + UNIT - 1) / UNIT : head.units) * LANES;
  const typename Dtype::Loaded* weights = static_cast<const typename Dtype::Loaded*>(head.weights) + uint64_t(firstRow) * length + lane;
#pragma unroll
  for (int k = 0; k < R * B / 32; k++) z[k] = 0;
  for (uint32_t group = 0; group < head.groups; group++) {
    float sums[R * B / 32][32] = {};
    const uint32_t firstUnit = group * groupUnits;
    const uint32_t endUnit = firstUnit + groupUnits;
    constexpr bool AHEAD = R * sizeof(Packed) <= 256; // else registers would not hold two units
    Packed packed[R], next[R];
    float values[B], nextValues[B];
#pragma unroll
    for (int r = 0; AHEAD && r < R; r++) next[r] = loadWeights<Dtype>(weights + r * length, firstUnit);
    loadHidden<B>(nextValues, hidden, firstUnit * Dtype::BLOCKS * LANES + lane);
    for (uint32_t unit = firstUnit; unit < endUnit; unit++) {
      // What the next unit needs is asked for before this unit's work; the last one asks again for what it has.
      const uint32_t nextUnit = min(unit + 1, endUnit - 1);
#pragma unroll
      for (int r = 0; r < R; r++) {
        packed[r] = AHEAD ? next[r] : loadWeights<Dtype>(weights + r * length, unit);
        if (AHEAD) next[r] = loadWeights<Dtype>(weights + r * length, nextUnit);
      }
#pragma unroll
      for (int block = 0; block < Dtype::BLOCKS; block++) {
#pragma unroll
        for (int b = 0; b < B; b++) values[b] = nextValues[b];
        const uint32_t column = min(unit * Dtype::BLOCKS + block + 1, endUnit * Dtype::BLOCKS - 1) * LANES + lane;
        loadHidden<B>(nextValues, hidden, column);
#pragma unroll
        for (int r = 0; r < R; r++) {
          const float weight = Dtype::weightOf(packed[r], block);
#pragma unroll
          for (int b = 0; b < B; b++) {
            float& sum = sums[(b * R + r) / 32][(b * R + r) % 32];
            sum = Dtype::multiplyAdd(weight, values[b], sum);
          }
        }
      }
    }
#pragma unroll
    for (int k = 0; k < R * B / 32; k++) {
      const uint32_t sum = __float_as_uint(transposeAdd(sums[k], lane));
      if constexpr (sizeof(Packed) == 4) { // int8
        const uint32_t row = firstRow + (32 * k + ownedSum(lane)) % R;
        z[k] = addClamped(z[k], scaledSum(sum, __ldg(head.scales + uint64_t(row) * head.groups + group)));
      } else {
        z[k] = fix(sum);
      }
    }
  }
}
