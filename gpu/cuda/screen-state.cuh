// What the kernels of a screened sweep pass on to each other. A *column* is a draw: one hidden row, one sample of it.
#pragma once
#include "bounds.cuh"
#include "sweep.cuh"
#include "tiles.cuh"

constexpr uint32_t MAX_COLUMNS = 256; // of a sweep
constexpr uint32_t SEEDED_COLUMNS = 16; // those of a warp
constexpr uint32_t CONTENDER_ROOM = 2048; // groups of four tokens that a column may have; more, and all tokens are decided exactly

/// What noise and bounds need of a column. Philox's first two rounds hardly depend on the token (see groupWords).
struct alignas(16) Column {
  uint32_t z1; // for round 2: its third word but for the token's part
  uint32_t x2, z2, w2; // the same for round 3
  uint32_t key0, key1; // of round 3
  NoiseScale noise;
  float error; // times a token's norm: how far its fast logit may be from its logit. NaN, which no bound is larger than: see needsLogits()
  uint32_t unused[3];
};

/// Not where T = 0 and the hidden row is zero: all tokens score the same.
__device__ __forceinline__ bool needsLogits(const Column& column) {
  return !isnan(column.error);
}

constexpr Column ABSENT_COLUMN = {0, 0, 0, 0, 0, 0, {0, 0}, NAN, {}};

/// A group of four tokens, one of which may be among a column's two best.
struct Contender {
  float z[4]; // fast logits, clamped
  uint32_t group; // token / 4
  float atMost; // no score of the group is higher
};

/// What has been found out about a column.
struct ColumnState {
  uint32_t leader; // order of a lower bound of some token's score
  uint32_t threshold; // likewise; two tokens score at least that
  uint32_t contenders; // how many there were; only CONTENDER_ROOM are kept
  uint32_t finished; // blocks that have decided their share of all tokens
};

/// A screened sweep: rows of the request, times their samples.
struct Screen {
  const uint32_t* request;
  Column* columns; // [MAX_COLUMNS]
  ColumnState* states; // [MAX_COLUMNS]
  uint32_t* seeded; // [MAX_COLUMNS / SEEDED_COLUMNS]: how many blocks have left these columns' first thresholds
  Contender* contenders; // [MAX_COLUMNS, CONTENDER_ROOM]
  const uint8_t* weights; // [tiles, steps, TILE_TOKENS, STEP_BYTES]: see tiles.cuh
  const float* norms; // [groups of whole tiles]: the largest norm of four tokens
  uint8_t* operands; // hidden rows of the columns: [steps, columnRoom, STEP_BYTES]
  uint32_t vocabSize;
  uint32_t tiles; // of TILE_TOKENS
  uint32_t units; // of 128 columns of the head, a row
  uint32_t columnRoom; // columns of the sweep up to a multiple of 8
  uint32_t firstRow;
  uint32_t rows;
  uint32_t firstSample;
  uint32_t samples;
  float errorFactor; // of the product of norms
};

__device__ __forceinline__ uint32_t columnsOf(const Screen& screen) {
  return screen.rows * screen.samples;
}

constexpr int ROUNDS_OF_GROUPS = int(PHILOX_ROUNDS) - 2;

/// A column's Philox keys from the third round on.
struct GroupKeys {
  uint32_t key0[ROUNDS_OF_GROUPS], key1[ROUNDS_OF_GROUPS];

  __device__ __forceinline__ explicit GroupKeys(const Column& column) {
#pragma unroll
    for (int round = 0; round < ROUNDS_OF_GROUPS; round++) {
      key0[round] = column.key0 + round * PHILOX_W0;
      key1[round] = column.key1 + round * PHILOX_W1;
    }
  }
};

/// The noise words of four tokens, group = token / 4: Philox from its second round on.
__device__ __forceinline__ Words4 groupWords(const Column& column, const GroupKeys& keys, uint32_t group) {
  const uint64_t product0 = uint64_t(PHILOX_M0) * group; // round 1; its other half is the same for all tokens
  const uint64_t product1 = uint64_t(PHILOX_M1) * (uint32_t(product0 >> 32) ^ column.z1); // round 2, likewise
  Words4 counter = {uint32_t(product1 >> 32) ^ column.x2, uint32_t(product1), uint32_t(product0) ^ column.z2, column.w2};
#pragma unroll
  for (int round = 0; round < ROUNDS_OF_GROUPS; round++) {
    const uint64_t left = uint64_t(PHILOX_M0) * counter.x;
    const uint64_t right = uint64_t(PHILOX_M1) * counter.z;
    counter = {uint32_t(right >> 32) ^ counter.y ^ keys.key0[round], uint32_t(right), uint32_t(left >> 32) ^ counter.w ^ keys.key1[round], uint32_t(left)};
  }
  return counter;
}

/// The nearest of a group's words, at most FAR_WORD.
__device__ __forceinline__ int nearestOf(const Words4& words) {
  return __vimin3_s32(__vimin3_s32(int(words.x), int(words.y), int(words.w)), int(words.z), FAR_WORD);
}
