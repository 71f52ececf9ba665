// The kernels on memory of callers: hidden states from it, tokens into it.
#pragma once
#include "hidden.cuh"
#include "sweep.cuh"

constexpr uint32_t ROUND_THREADS = 1024;

/// Hidden rows as a caller has them, and as the kernels read them.
struct Rounding {
  const void* given; // [rows, columns]
  uint32_t* rounded; // f32 bits [blocks of rows, paddedColumns, batch]: see gpu/layout.ts
  Report* reports; // [rows]
  uint32_t rows;
  uint32_t columns;
  uint32_t paddedColumns;
  uint32_t batch; // rows side by side
  uint32_t format; // of the head's operands
  uint32_t exponentLimit;
};

/// The findings of a block's threads, in all of them.
__device__ __forceinline__ Findings combineThreads(Findings mine) {
  __shared__ Findings warps[ROUND_THREADS / 32];
  for (int mask = 16; mask > 0; mask /= 2) {
    const Findings other = {__shfl_xor_sync(~0u, mine.badColumn, mask), __shfl_xor_sync(~0u, mine.largestColumn, mask), __shfl_xor_sync(~0u, mine.largest, mask)};
    mine = combineFindings(mine, other);
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  Findings all = NO_FINDINGS;
  for (uint32_t warp = 0; warp < ROUND_THREADS / 32; warp++) all = combineFindings(all, warps[warp]);
  return all;
}

/// Rounds a row and checks it; one that is refused becomes zeros. Grid: the rows up to whole blocks of `batch`; those past the last
/// become zeros as well.
template <class Word, uint32_t GIVEN_FORMAT>
__device__ __forceinline__ void roundRow(const Rounding& rounding) {
  const uint32_t row = blockIdx.x;
  const uint32_t columns = row < rounding.rows ? rounding.columns : 0;
  const Word* given = static_cast<const Word*>(rounding.given) + uint64_t(row) * rounding.columns;
  uint32_t* rounded = rounding.rounded + uint64_t(row - row % rounding.batch) * rounding.paddedColumns + row % rounding.batch;
  Findings mine = NO_FINDINGS;
#pragma unroll 4
  for (uint32_t column = threadIdx.x; column < rounding.paddedColumns; column += ROUND_THREADS) {
    uint32_t bits = 0;
    if (column < columns) {
      bits = roundOperand(rounding.format, widened(GIVEN_FORMAT, given[column]));
      mine = combineFindings(mine, findingsOf(column, bits));
    }
    rounded[uint64_t(column) * rounding.batch] = bits;
  }
  Report report = reportOf(combineThreads(mine), rounding.exponentLimit);
  if (report.problem != NO_PROBLEM) {
    // Each thread overwrites what it wrote itself.
    for (uint32_t column = threadIdx.x; column < columns; column += ROUND_THREADS) rounded[uint64_t(column) * rounding.batch] = 0;
    report.given = widened(GIVEN_FORMAT, given[report.column]);
  }
  if (threadIdx.x == 0 && row < rounding.rows) rounding.reports[row] = report;
}

#define ROUND(NAME, WORD, FORMAT) \
  extern "C" __global__ void __launch_bounds__(ROUND_THREADS) round_##NAME(const __grid_constant__ Rounding rounding) { \
    roundRow<WORD, FORMAT>(rounding); \
  }
ROUND(f32, uint32_t, FORMAT_F32)
ROUND(f16, uint16_t, FORMAT_F16)
ROUND(bf16, uint16_t, FORMAT_BF16)

/// Decisions of draws that follow each other in a request, and where their tokens go.
struct Storing {
  const Candidate* decisions; // [draws]
  const Report* reports; // [rows of the request]
  int32_t* tokens; // [draws of the request]
  uint32_t draws;
  uint32_t firstDraw; // in the request
  uint32_t samples; // draws of a row of the request
};

constexpr uint32_t STORE_THREADS = 256;

/// Grid: draws / STORE_THREADS.
extern "C" __global__ void __launch_bounds__(STORE_THREADS) store_tokens(const __grid_constant__ Storing storing) {
  const uint32_t at = blockIdx.x * STORE_THREADS + threadIdx.x;
  if (at >= storing.draws) return;
  const uint32_t draw = storing.firstDraw + at;
  const Candidate& decision = storing.decisions[at];
  const bool isRefused = decision.flags != 0 || storing.reports[draw / storing.samples].problem != NO_PROBLEM;
  // A decision without a token has NO_TOKEN there, which is -1.
  storing.tokens[draw] = isRefused ? -1 : int32_t(decision.token);
}
