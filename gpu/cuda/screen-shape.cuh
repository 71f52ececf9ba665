// How a screening block is divided: its warps, its shared memory, and the ring of slots through which operands come.
#pragma once
#include "hopper.cuh"
#include "screen-state.cuh"

constexpr uint32_t SHARED_BYTES = 227 << 10;
constexpr uint32_t MULTIPLYING_WARPS = 8; // two warpgroups
constexpr uint32_t MULTIPLYING_THREADS = MULTIPLYING_WARPS * 32;
constexpr uint32_t SCREEN_THREADS = MULTIPLYING_THREADS + 128; // of the last four warps one copies
constexpr int MULTIPLYING_REGISTERS = 240, COPYING_REGISTERS = 24; // of a thread; 168 before they are shared out anew
static_assert(2 * MULTIPLYING_REGISTERS + COPYING_REGISTERS <= 3 * 168, "a block only has what it was launched with");
constexpr uint32_t QUEUE_ROOM = 96; // cells of a warp
constexpr uint32_t HALF_TILE = 64; // tokens that a warpgroup multiplies at once

/// A cell is a group of four tokens in a column: what a thread looks at.
struct Cell {
  float z[4]; // fast logits, clamped
  float norm; // of the tokens
  uint32_t place; // group of the tile, column * 32
};

/// A *team* is the warps that work on one tile. Up to 128 columns each warpgroup is a team, and while one looks at what it has the
/// other multiplies; with more, registers are short, and both make up one team.
template <int N>
struct Shape {
  static constexpr uint32_t TEAM_WARPS = N <= 128 ? 4 : 8;
  static constexpr uint32_t TEAM_THREADS = TEAM_WARPS * 32;
  static constexpr uint32_t TEAMS = MULTIPLYING_WARPS / TEAM_WARPS;
  static constexpr uint32_t HALVES = 8 / TEAM_WARPS; // of a tile, for each warpgroup
  static constexpr uint32_t EIGHTS = N / 8; // eight columns each
  static constexpr uint32_t CELLS = HALVES * EIGHTS; // of a thread, at most 32
  static constexpr uint32_t SEED_SHARE = EIGHTS < TEAM_WARPS ? EIGHTS : TEAM_WARPS; // a warp seeds one of so many columns
  static constexpr uint32_t CLUSTER = N >= 64 ? 2 : 1; // blocks that share their hidden rows
  static constexpr uint32_t SLOT_BYTES = TILE_BYTES + N * STEP_BYTES;
  static constexpr uint32_t OTHER_BYTES = N * (sizeof(Column) + (2 + TEAMS) * 4) + MULTIPLYING_WARPS * QUEUE_ROOM * sizeof(Cell) + 16 * 16;
  static constexpr uint32_t SLOTS_THAT_FIT = (SHARED_BYTES - 1024 - OTHER_BYTES) / SLOT_BYTES;
  static constexpr uint32_t SLOTS = SLOTS_THAT_FIT < 12 ? SLOTS_THAT_FIT : 12;
};

/// A block's shared memory.
template <int N>
struct Shared {
  static constexpr uint32_t SLOTS = Shape<N>::SLOTS;
  uint8_t slots[SLOTS][Shape<N>::SLOT_BYTES]; // weights, then hidden rows; each part at a multiple of 1024
  uint64_t filled[SLOTS];
  uint64_t emptied[SLOTS];
  Column columns[N];
  uint32_t orders[N]; // what scores below cannot be among the two best
  uint32_t leaders[N]; // of the tokens that other blocks do not know of
  float thresholds[Shape<N>::TEAMS][N]; // each team's copy of the orders, as numbers; for its tile
  Cell queues[MULTIPLYING_WARPS][QUEUE_ROOM];
};

/// A place in the ring, in the order in which slots are filled and emptied.
template <uint32_t SLOTS>
struct Ring {
  uint32_t slot = 0, parity = 0;

  __device__ __forceinline__ void next() {
    if (++slot == SLOTS) {
      slot = 0;
      parity ^= 1;
    }
  }

  __device__ __forceinline__ void skip(uint32_t steps) {
    parity ^= (slot + steps) / SLOTS & 1;
    slot = (slot + steps) % SLOTS;
  }

  __device__ __forceinline__ uint32_t last() const { return slot == 0 ? SLOTS - 1 : slot - 1; }
};

template <int N>
__device__ __forceinline__ uint32_t teamOfThread() {
  return threadIdx.x / Shape<N>::TEAM_THREADS;
}

/// A thread's number in its team.
template <int N>
__device__ __forceinline__ uint32_t teamThread() {
  return threadIdx.x % Shape<N>::TEAM_THREADS;
}

constexpr uint32_t ALL_BARRIER = 1, TEAM_BARRIER = 2, TURN_BARRIER = 4; // the last two for each team

__device__ __forceinline__ void syncMultiplying() {
  syncThreads(ALL_BARRIER, MULTIPLYING_THREADS);
}

template <int N>
__device__ __forceinline__ void syncTeam() {
  syncThreads(TEAM_BARRIER + teamOfThread<N>(), Shape<N>::TEAM_THREADS);
}

/// Waits until the other team has multiplied its tile: a slot's parity does not tell one round of the ring from the next but one.
template <int N>
__device__ __forceinline__ void waitForTurn() {
  if (Shape<N>::TEAMS > 1) syncThreads(TURN_BARRIER + teamOfThread<N>(), MULTIPLYING_THREADS);
}

template <int N>
__device__ __forceinline__ void giveTurn() {
  if (Shape<N>::TEAMS > 1) arriveThreads(TURN_BARRIER + 1 - teamOfThread<N>(), MULTIPLYING_THREADS);
}
