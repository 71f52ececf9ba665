// Before a screened sweep: a head's rows in their places and their norms, once; for each call the hidden rows likewise, the columns'
// constants and their empty states.
#pragma once
#include <cuda_bf16.h>
#include "head.cuh"
#include "hopper.cuh"
#include "screen-state.cuh"

constexpr int PREPARE_THREADS = 256;
/// Sums of squares and what is made of them are off by less.
constexpr float NORM_SLACK = 1 + 0x1p-10f;
/// An infinite norm times one of nothing but zeros is infinite, not NaN.
constexpr float LEAST_NORM = 0x1p-120f;

template <class Dtype>
struct Operand;

template <>
struct Operand<Bf16> {
  __device__ static uint16_t of(float value) { return __bfloat16_as_ushort(__float2bfloat16_rn(value)); }
  __device__ static float valueOf(uint16_t bits) { return __uint_as_float(uint32_t(bits) << 16); }
  /// The size that bounds of the tensor cores' sums have to take for a value.
  __device__ static float size(float value) { return fabsf(value); }
};

template <>
struct Operand<F16> {
  __device__ static uint16_t of(float value) { return __half_as_ushort(__float2half_rn(value)); }
  __device__ static float valueOf(uint16_t bits) { return __half2float(__ushort_as_half(bits)); }
  /// Subnormal numbers are aligned as the smallest normal one.
  __device__ static float size(float value) { return value == 0 ? 0 : fmaxf(fabsf(value), 0x1p-14f); }
};

__device__ __forceinline__ float warpSum(float value) {
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(~0u, value, mask);
  return value;
}

constexpr int ARRANGE_WARPS = 4;

/// Rows of a head, as they are given, to their place, and their norms: a warp a row. Both were zero before.
template <class Dtype>
__device__ __forceinline__ void arrangeRows(const uint16_t* given, uint32_t firstToken, uint32_t rows, uint32_t hiddenSize, uint32_t units, uint8_t* weights, float* norms) {
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t row = blockIdx.x * ARRANGE_WARPS + threadIdx.x / 32;
  if (row >= rows) return;
  const uint16_t* source = given + uint64_t(row) * hiddenSize;
  float sum = 0;
  for (uint32_t unit = 0; unit < units; unit++) {
    uint16_t bits[UNIT];
#pragma unroll
    for (int block = 0; block < UNIT; block++) {
      const uint32_t column = (unit * UNIT + block) * LANES + lane;
      bits[block] = column < hiddenSize ? __ldg(source + column) : 0;
      const float size = Operand<Dtype>::size(Operand<Dtype>::valueOf(bits[block]));
      sum += size * size;
    }
    *reinterpret_cast<ushort4*>(weights + placeInHead(units, firstToken + row, unit, lane)) = {bits[0], bits[1], bits[2], bits[3]};
  }
  const float norm = fmaxf(sqrtf(warpSum(sum)) * NORM_SLACK, LEAST_NORM);
  // Floats that are not negative are in the order of their bits.
  if (lane == 0) atomicMax(reinterpret_cast<int*>(norms) + (firstToken + row) / 4, __float_as_int(norm));
}

/// What a call brings.
struct Prepare {
  const float* hidden; // [rows of the request, hiddenSize], rounded and canonical
  uint32_t hiddenSize;
};

__device__ __forceinline__ Column columnOf(const Screen& screen, uint32_t row, uint32_t sample, float norm) {
  const Stream stream = Stream::of(screen.request, row);
  const uint32_t word = ((stream.firstSample + sample) << PURPOSE_BITS) | stream.purpose;
  const uint64_t sequence = uint64_t(PHILOX_M1) * stream.sequence;
  const uint32_t x1 = uint32_t(sequence >> 32) ^ stream.position ^ stream.key0;
  const uint64_t first = uint64_t(PHILOX_M0) * x1;
  Column column = {};
  column.z1 = word ^ stream.key1;
  column.x2 = uint32_t(sequence) ^ (stream.key0 + PHILOX_W0);
  column.z2 = uint32_t(first >> 32) ^ (stream.key1 + PHILOX_W1);
  column.w2 = uint32_t(first);
  column.key0 = stream.key0 + 2 * PHILOX_W0;
  column.key1 = stream.key1 + 2 * PHILOX_W1;
  column.noise = noiseScaleOf(stream.tau);
  column.error = norm == 0 && stream.tau == 0 ? NAN : __fmul_ru(screen.errorFactor, fmaxf(norm, LEAST_NORM));
  return column;
}

/// Grid: the columns of the sweep.
template <class Dtype>
__device__ __forceinline__ void prepareColumn(const Screen& screen, const Prepare& prepare) {
  waitForKernelsBefore(); // that may still read what is written here
  letNextKernelStart();
  __shared__ float sums[PREPARE_THREADS / 32];
  const uint32_t row = screen.firstRow + blockIdx.x / screen.samples;
  const uint32_t sample = screen.firstSample + blockIdx.x % screen.samples;
  const float* source = prepare.hidden + uint64_t(row) * prepare.hiddenSize;
  float sum = 0;
  for (uint32_t four = threadIdx.x; four < screen.units * LANES; four += PREPARE_THREADS) {
    const uint32_t first = four / LANES * (UNIT * LANES) + four % LANES;
    uint16_t operands[UNIT];
#pragma unroll
    for (int block = 0; block < UNIT; block++) {
      const uint32_t column = first + block * LANES;
      const float value = column < prepare.hiddenSize ? __ldg(source + column) : 0.0f;
      operands[block] = Operand<Dtype>::of(value);
      const float size = Operand<Dtype>::size(value);
      sum += size * size;
    }
    const uint64_t place = placeInPiece(screen.columnRoom, blockIdx.x, four / LANES, four % LANES);
    *reinterpret_cast<ushort4*>(screen.operands + place) = {operands[0], operands[1], operands[2], operands[3]};
  }
  sum = warpSum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < PREPARE_THREADS / 32; warp++) sum += sums[warp];
  screen.columns[blockIdx.x] = columnOf(screen, row, sample, sqrtf(sum) * NORM_SLACK);
  screen.states[blockIdx.x] = {};
  if (blockIdx.x % SEEDED_COLUMNS == 0) screen.seeded[blockIdx.x / SEEDED_COLUMNS] = 0;
}

#define PREPARE(NAME, DTYPE) \
  extern "C" __global__ void __launch_bounds__(ARRANGE_WARPS * 32) arrange_##NAME(const uint16_t* given, uint32_t firstToken, uint32_t rows, uint32_t hiddenSize, uint32_t units, uint8_t* weights, float* norms) { \
    arrangeRows<DTYPE>(given, firstToken, rows, hiddenSize, units, weights, norms); \
  } \
  extern "C" __global__ void __launch_bounds__(PREPARE_THREADS) prepare_##NAME(const __grid_constant__ Screen screen, const __grid_constant__ Prepare prepare) { \
    prepareColumn<DTYPE>(screen, prepare); \
  }
PREPARE(bf16, Bf16)
PREPARE(f16, F16)
