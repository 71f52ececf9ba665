// How the operands of the tensor cores lie in memory: as shared memory wants them, so that each step of a tile is copied as one
// contiguous piece. A step is 64 columns of the head, 128 bytes a row; the 16-byte chunks of a row are swizzled by the row's number.
// A *unit* is two steps, 128 columns: lane l of 32 has the columns l, 32 + l, 64 + l, 96 + l of it side by side, as the order L32
// wants them.
#pragma once
#include "head.cuh"

constexpr uint32_t STEP_BYTES = 128; // of a row
constexpr uint32_t TILE_TOKENS = 128;
constexpr uint32_t TILE_BYTES = TILE_TOKENS * STEP_BYTES; // of a step

/// Token 16 i + 4 q + 2 p + e of a tile is the row 16 i + 8 p + 2 q + e: the tensor cores give all four tokens of a q to one thread.
__device__ __forceinline__ uint32_t rowOfToken(uint32_t token) {
  const uint32_t t = token % TILE_TOKENS;
  return t / 16 * 16 + t / 2 % 2 * 8 + t / 4 % 4 * 2 + t % 2;
}

/// Where a lane's four values of a unit lie in a piece of [steps, rows, 128 bytes].
__device__ __forceinline__ uint64_t placeInPiece(uint32_t rows, uint32_t row, uint32_t unit, uint32_t lane) {
  const uint32_t step = 2 * unit + lane / 16;
  const uint32_t chunk = (lane % 16 / 2) ^ (row % 8);
  return (uint64_t(step) * rows + row) * STEP_BYTES + chunk * 16 + lane % 2 * 8;
}

/// Where a lane's four weights of a token's unit lie in a head of [tiles, steps, TILE_TOKENS, 128 bytes].
__device__ __forceinline__ uint64_t placeInHead(uint32_t units, uint32_t token, uint32_t unit, uint32_t lane) {
  return uint64_t(token / TILE_TOKENS) * (2 * units) * TILE_BYTES + placeInPiece(TILE_TOKENS, rowOfToken(token), unit, lane);
}
