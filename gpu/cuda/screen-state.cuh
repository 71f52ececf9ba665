// What the kernels of a screened sweep pass on to each other. A *column* is a draw: one hidden row, one sample of it.
#pragma once
#include "bounds.cuh"
#include "sweep.cuh"
#include "tiles.cuh"

constexpr uint32_t MAX_COLUMNS = 256; // of a sweep
constexpr uint32_t CONTENDER_ROOM = 2048; // groups of four tokens that a column may have; more, and all tokens are decided exactly

/// What noise and bounds need of a column. Philox's first two rounds hardly depend on the token (see groupWords).
struct alignas(16) Column {
  uint32_t z1; // for round 2: its third word but for the token's part
  uint32_t x2, z2, w2; // the same for round 3
  uint32_t key0, key1; // of round 3
  NoiseScale noise;
  float error; // times a token's norm: how far its fast logit may be from its logit
  uint32_t unused[3];
};

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
  uint32_t* seeded; // how many blocks have left first thresholds
  Contender* contenders; // [MAX_COLUMNS, CONTENDER_ROOM]
  const uint8_t* weights; // [tiles, steps, TILE_TOKENS, STEP_BYTES]: see tiles.cuh
  const float* norms; // [groups of whole tiles]: the largest norm of four tokens
  uint8_t* operands; // hidden rows of the columns: [steps, columnRoom, STEP_BYTES]
  uint32_t vocabSize;
  uint32_t tiles; // of TILE_TOKENS
  uint32_t units; // of 128 columns of the head, a row
  uint32_t columnRoom; // columns of a screening kernel, >= those of the sweep
  uint32_t firstRow;
  uint32_t rows;
  uint32_t firstSample;
  uint32_t samples;
  float errorFactor; // of the product of norms
};

__device__ __forceinline__ uint32_t columnsOf(const Screen& screen) {
  return screen.rows * screen.samples;
}

/// The noise words of four tokens, group = token / 4: Philox from its second round on.
__device__ __forceinline__ Words4 groupWords(const Column& column, uint32_t group) {
  const uint64_t product0 = uint64_t(PHILOX_M0) * group; // round 1; its other half is the same for all tokens
  const uint64_t product1 = uint64_t(PHILOX_M1) * (uint32_t(product0 >> 32) ^ column.z1); // round 2, likewise
  Words4 counter = {uint32_t(product1 >> 32) ^ column.x2, uint32_t(product1), uint32_t(product0) ^ column.z2, column.w2};
  uint32_t key0 = column.key0, key1 = column.key1;
#pragma unroll
  for (int round = 2; round < int(PHILOX_ROUNDS); round++) {
    const uint64_t left = uint64_t(PHILOX_M0) * counter.x;
    const uint64_t right = uint64_t(PHILOX_M1) * counter.z;
    counter = {uint32_t(right >> 32) ^ counter.y ^ key0, uint32_t(right), uint32_t(left >> 32) ^ counter.w ^ key1, uint32_t(left)};
    key0 += PHILOX_W0;
    key1 += PHILOX_W1;
  }
  return counter;
}
