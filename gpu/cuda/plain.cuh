// Plain kernels, for every GPU: logits in the order L32 on the CUDA cores, noise, scores, and the two best tokens of every draw.
#pragma once
#include "head.cuh"
#include "sweep.cuh"

constexpr int WARPS = 4; // of a block

/// A warp takes R weight rows and a block of B hidden rows. Grid: [blocks of hidden rows, tokens / (WARPS * R)].
template <class Dtype, int R, int B>
__device__ __forceinline__ void sampleRows(const Head& head, const Sweep& sweep) {
  const uint32_t lane = threadIdx.x % 32;
  const uint32_t firstToken = (blockIdx.y * WARPS + threadIdx.x / 32) * R;
  if (firstToken >= head.rows) return;
  const uint32_t block = sweep.firstRow / B + blockIdx.x;
  int64_t z[R * B / 32];
  computeLogits<Dtype, R, B>(head, firstToken, head.hidden + uint64_t(block) * head.units * Dtype::BLOCKS * LANES * B, lane, z);
#pragma unroll
  for (int k = 0; k < R * B / 32; k++) {
    const uint32_t output = 32 * k + ownedSum(lane);
    const uint32_t row = block * B + output / R;
    const uint32_t token = firstToken + output % R;
    const bool isToken = token < head.rows && row >= sweep.firstRow && row < sweep.firstRow + sweep.rows;
    const Stream stream = Stream::of(sweep.request, isToken ? row : sweep.firstRow);
    for (uint32_t sample = 0; sample < sweep.samples; sample++) {
      drawSample(sweep, stream, isToken ? row : sweep.firstRow, sample, isToken, z[k], token, 32 / R);
    }
  }
}

#define SAMPLE(NAME, DTYPE, R, B) \
  extern "C" __global__ void __launch_bounds__(WARPS * 32) NAME(const __grid_constant__ Head head, const __grid_constant__ Sweep sweep) { \
    sampleRows<DTYPE, R, B>(head, sweep); \
  }
#define SAMPLE_ALL(NAME, DTYPE, R1, R2, R4, R8) \
  SAMPLE(NAME##_1, DTYPE, R1, 1) SAMPLE(NAME##_2, DTYPE, R2, 2) SAMPLE(NAME##_4, DTYPE, R4, 4) SAMPLE(NAME##_8, DTYPE, R8, 8)
SAMPLE_ALL(sample_bf16, Bf16, 32, 32, 16, 16)
SAMPLE_ALL(sample_f16, F16, 32, 32, 16, 16)
SAMPLE_ALL(sample_f32, F32, 32, 16, 8, 8)
SAMPLE_ALL(sample_int8, Int8, 32, 32, 16, 16)
SAMPLE_ALL(sample_int8_narrow, Int8Narrow, 32, 32, 16, 16)

/// Given logits, f32 bits [rows, tokens]. Grid: [rows, tokens / (WARPS * 32)].
extern "C" __global__ void __launch_bounds__(WARPS * 32) sample_logits(const uint32_t* __restrict__ logits, uint32_t tokens, const __grid_constant__ Sweep sweep) {
  const uint32_t token = (blockIdx.y * WARPS + threadIdx.x / 32) * 32 + threadIdx.x % 32;
  const uint32_t row = sweep.firstRow + blockIdx.x;
  int64_t z = MASKED;
  bool invalid = false;
  if (token < tokens) {
    const uint32_t bits = logits[uint64_t(row) * tokens + token];
    if ((bits & 0x7f800000u) != 0x7f800000u) z = fix(bits);
    else invalid = bits != 0xff800000u; // all but -inf
  }
  const bool anyInvalid = __any_sync(~0u, invalid);
  const Stream stream = Stream::of(sweep.request, row);
  for (uint32_t sample = 0; sample < sweep.samples; sample++) {
    if (anyInvalid && threadIdx.x % 32 == 0) sweep.draws[blockIdx.x * sweep.samples + sample].invalid = 1;
    drawSample(sweep, stream, row, sample, token < tokens && z != MASKED, z, token, 1);
  }
}

/// The two best tokens of each draw from its candidates, a warp a draw, and zero for the next sweep.
extern "C" __global__ void __launch_bounds__(32) reduce_draws(const __grid_constant__ Sweep sweep, Candidate* __restrict__ decisions) {
  const uint32_t draw = blockIdx.x;
  const Draw state = sweep.draws[draw];
  Best best = NO_BEST;
  for (uint32_t at = threadIdx.x; at < state.candidates; at += 32) {
    const Candidate found = sweep.candidates[uint64_t(draw) * sweep.room + at];
    best = argmaxCombine(best, Best{{found.score, found.token}, {found.score2, found.token2}});
  }
  best = combineLanes(best, 1);
  if (threadIdx.x == 0) {
    decisions[draw] = {best.first.score, best.first.token, state.invalid, best.second.score, best.second.token, 0};
    sweep.draws[draw] = {};
  }
}
