// How a screening block is divided: its warps, its shared memory, and the ring of slots through which operands come.
#pragma once
#include "hopper.cuh"
#include "screen-state.cuh"

constexpr uint32_t SHARED_BYTES = 227 << 10;
constexpr uint32_t MULTIPLYING_WARPS = 8; // two warpgroups
constexpr uint32_t MULTIPLYING_THREADS = MULTIPLYING_WARPS * 32;
constexpr uint32_t LOOKING_WARPS = 3; // and one that copies
constexpr uint32_t SCREEN_THREADS = MULTIPLYING_THREADS + (LOOKING_WARPS + 1) * 32;
constexpr int MULTIPLYING_REGISTERS = 208, OTHER_REGISTERS = 88; // of a thread; 168 before they are shared out anew
static_assert(2 * MULTIPLYING_REGISTERS + OTHER_REGISTERS <= 3 * 168, "a block only has what it was launched with");
constexpr uint32_t PART_COLUMNS = 64; // that a warpgroup multiplies at once, 16 for each of its warps
constexpr uint32_t WARP_COLUMNS = 16;
constexpr uint32_t MOST_SLOTS = 12;
constexpr uint32_t QUEUE_ROOM = 128;

/// A cell is a group of four tokens in a column: what a thread looks at.
struct Cell {
  float z[4]; // fast logits, clamped
  float norm; // no token's is larger
  uint32_t place; // column of the block * 64 + group of the tile
};

/// Cells of a multiplying warp that have to be looked at closely.
struct Queue {
  uint32_t count;
  uint32_t firstGroup; // of the tile
  uint32_t seeds; // so many groups of the tile have raised thresholds before
  uint32_t unused;
  Cell cells[QUEUE_ROOM];
};

/// Up to 128 columns the warpgroups are *teams* that take turns: each multiplies all columns with a tile of its own, so that weights keep
/// coming while one looks at what it has. Pairs of blocks share their hidden rows.
/// With more columns, two blocks share tiles twice as large, and each of their four warpgroups has its own columns.
template <int N>
struct Shape {
  static constexpr uint32_t CLUSTER = N < 64 ? 1 : 2;
  static constexpr bool SHARES_TILES = N > 128;
  static constexpr uint32_t TEAMS = SHARES_TILES ? 1 : 2;
  static constexpr uint32_t BLOCK_COLUMNS = SHARES_TILES ? N / CLUSTER : N;
  static constexpr bool AWAITS_SEEDS = N >= 64; // with fewer columns the wait costs more than it saves
  static constexpr uint32_t PARTS = N == 128 ? 2 : 1; // of PART_COLUMNS, that a warpgroup has
  static constexpr uint32_t TILES = SHARES_TILES ? CLUSTER : 1; // of the head, that make up one here
  static constexpr uint32_t TOKENS = TILES * TILE_TOKENS;
  static constexpr uint32_t GROUPS = TOKENS / 16; // of a thread's column
  static constexpr uint32_t CELLS = PARTS * 2 * GROUPS; // of a thread
  static constexpr uint32_t WEIGHT_BYTES = TILES * TILE_BYTES; // of a slot
  static constexpr uint32_t OTHER_BYTES = BLOCK_COLUMNS * (sizeof(Column) + 8) + MULTIPLYING_WARPS * (sizeof(Queue) + 16) + MOST_SLOTS * 16;
  static constexpr uint32_t SLOT_BYTES = (SHARED_BYTES - 1024 - OTHER_BYTES) / 1024 * 1024; // of all slots
  static_assert(CELLS <= 32, "marks are bits of a word");
};

/// A block's shared memory.
template <int N>
struct Shared {
  /// All slots' weights, then all slots' hidden rows. A warpgroup multiplies whole parts, also with what lies behind a slot's own rows:
  /// no row's sums depend on another row.
  uint8_t slots[Shape<N>::SLOT_BYTES];
  uint64_t filled[MOST_SLOTS];
  uint64_t emptied[MOST_SLOTS];
  Column columns[Shape<N>::BLOCK_COLUMNS];
  uint32_t orders[Shape<N>::BLOCK_COLUMNS]; // what scores below cannot be among the two best
  uint32_t leaders[Shape<N>::BLOCK_COLUMNS]; // of the tokens that other blocks do not know of
  Queue queues[MULTIPLYING_WARPS];
  uint64_t queued[MULTIPLYING_WARPS]; // barriers: a warp has filled its queue, and it may fill it again
  uint64_t considered[MULTIPLYING_WARPS];
};

/// Where the slots lie: the same in all blocks of a cluster.
template <int N>
struct Slots {
  uint32_t first; // an address in shared memory
  uint32_t rowBytes; // of a slot's hidden rows
  uint32_t count;

  __device__ __forceinline__ Slots(const Screen& screen, const Shared<N>& shared)
      : first(sharedAddress(shared.slots)), rowBytes(min(screen.columnRoom, Shape<N>::BLOCK_COLUMNS) * STEP_BYTES),
        count(min(MOST_SLOTS, Shape<N>::SLOT_BYTES / (Shape<N>::WEIGHT_BYTES + rowBytes))) {}

  __device__ __forceinline__ uint32_t weights(uint32_t slot) const { return first + slot * Shape<N>::WEIGHT_BYTES; }

  __device__ __forceinline__ uint32_t hiddenRows(uint32_t slot) const { return first + count * Shape<N>::WEIGHT_BYTES + slot * rowBytes; }
};

/// A place in the ring, in the order in which slots are filled and emptied.
struct Ring {
  const uint32_t count;
  uint32_t slot = 0, parity = 0;

  __device__ __forceinline__ void next() {
    if (++slot == count) {
      slot = 0;
      parity ^= 1;
    }
  }

  __device__ __forceinline__ void skip(uint32_t steps) {
    parity ^= (slot + steps) / count & 1;
    slot = (slot + steps) % count;
  }

  __device__ __forceinline__ uint32_t last() const { return slot == 0 ? count - 1 : slot - 1; }
};

/// The tiles of a block.
template <int N>
struct Tiles {
  uint32_t first, step, end; // of a cluster: its blocks share them, or theirs follow each other
  uint32_t offset; // the block's tile after that of its cluster

  __device__ __forceinline__ explicit Tiles(const Screen& screen)
      : first(blockIdx.x / Shape<N>::CLUSTER * (Shape<N>::SHARES_TILES ? 1 : Shape<N>::CLUSTER)),
        step(Shape<N>::SHARES_TILES ? gridDim.x / Shape<N>::CLUSTER : gridDim.x),
        end((screen.tiles + Shape<N>::TILES - 1) / Shape<N>::TILES), offset(Shape<N>::SHARES_TILES ? 0 : blockIdx.x % Shape<N>::CLUSTER) {}
};

/// The first of a block's columns in the sweep.
template <int N>
__device__ __forceinline__ uint32_t firstColumnOfBlock() {
  return Shape<N>::SHARES_TILES ? blockIdx.x % Shape<N>::CLUSTER * Shape<N>::BLOCK_COLUMNS : 0;
}

/// A multiplying warp's team.
template <int N>
__device__ __forceinline__ uint32_t teamOf(uint32_t warp) {
  return Shape<N>::TEAMS > 1 ? warp / 4 : 0;
}

/// The first of a warpgroup's columns in its block.
template <int N>
__device__ __forceinline__ uint32_t firstColumnOfWarpgroup(uint32_t warpgroup) {
  return Shape<N>::TEAMS > 1 ? 0 : warpgroup * PART_COLUMNS;
}

/// The first of a multiplying warp's columns of a part, in its block.
template <int N>
__device__ __forceinline__ uint32_t firstColumnOfWarp(uint32_t warp, uint32_t part) {
  return firstColumnOfWarpgroup<N>(warp / 4) + part * PART_COLUMNS + warp % 4 * WARP_COLUMNS;
}

constexpr uint32_t COLUMNS_BARRIER = 1, TURN_BARRIER = 2; // the second for each team

/// Waits until the other team has multiplied its tile: a slot's parity does not tell one round of the ring from the next but one.
__device__ __forceinline__ void waitForTurn(uint32_t team) {
  syncThreads(TURN_BARRIER + team, MULTIPLYING_THREADS);
}

__device__ __forceinline__ void giveTurn(uint32_t team) {
  arriveThreads(TURN_BARRIER + 1 - team, MULTIPLYING_THREADS);
}
