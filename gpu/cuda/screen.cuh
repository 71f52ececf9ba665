// The screened kernel, for compute capability 9.0: fast logits on the tensor cores, bounds of noise, and for each column the
// groups of tokens that may be among its two best.
//
// Blocks are persistent: each takes tiles of tokens times its columns. One warp copies operands into a ring of slots; eight multiply, bound
// the scores of what they have in registers, and queue the few cells that may matter; three look closely at these. What the eight do beside
// products is in the products' way: the tensor cores and the CUDA cores share the registers' ports.
#pragma once
#include "screen-cells.cuh"

/// How often a warp looks whether half of the blocks have left their first thresholds, at most.
constexpr uint32_t SEED_LOOKS = 8;

/// The copying warp, one lane of it.
template <int N>
__device__ __forceinline__ void copyOperands(const Screen& screen, Shared<N>& shared) {
  constexpr uint32_t CLUSTER = Shape<N>::CLUSTER;
  constexpr uint16_t CLUSTER_BLOCKS = (1u << CLUSTER) - 1;
  const Tiles<N> tiles(screen);
  const Slots<N> slots(screen, shared);
  const uint32_t steps = 2 * screen.units, block = blockIdx.x % CLUSTER;
  const uint32_t firstColumn = firstColumnOfBlock<N>();
  const uint32_t hiddenBytes = (min(screen.columnRoom, firstColumn + Shape<N>::BLOCK_COLUMNS) - firstColumn) * STEP_BYTES;
  const uint64_t once = evictFirst(), often = evictLast();
  const auto copyWeights = [&](uint32_t slot, uint32_t tile, uint32_t step) {
    const uint32_t filled = sharedAddress(&shared.filled[slot]);
    expectBytes(filled, Shape<N>::WEIGHT_BYTES + hiddenBytes);
    const uint32_t tileOfHead = Shape<N>::SHARES_TILES ? tile * CLUSTER + block : tile + tiles.offset;
    const uint8_t* source = screen.weights + (uint64_t(min(tileOfHead, screen.tiles - 1)) * steps + step) * TILE_BYTES; // the last may not be there
    if constexpr (Shape<N>::SHARES_TILES) copyBulkToCluster(slots.weights(slot) + block * TILE_BYTES, source, TILE_BYTES, filled, once, CLUSTER_BLOCKS);
    else copyBulk(slots.weights(slot), source, TILE_BYTES, filled, once);
  };
  const auto copyHidden = [&](uint32_t slot, uint32_t step) {
    const uint32_t filled = sharedAddress(&shared.filled[slot]);
    const uint8_t* source = screen.operands + (step * screen.columnRoom + firstColumn) * STEP_BYTES;
    if constexpr (CLUSTER > 1 && !Shape<N>::SHARES_TILES) {
      const uint32_t share = hiddenBytes / CLUSTER;
      copyBulkToCluster(slots.hiddenRows(slot) + block * share, source + block * share, share, filled, often, CLUSTER_BLOCKS);
    } else {
      copyBulk(slots.hiddenRows(slot), source, hiddenBytes, filled, often);
    }
  };
  Ring ring{slots.count};
  uint32_t ahead = 0; // weights do not depend on the kernel before this one: the first slots get them at once
  if (tiles.first < tiles.end) {
    for (; ahead < slots.count && ahead < steps; ahead++) copyWeights(ahead, tiles.first, ahead);
  }
  waitForKernelsBefore();
  uint32_t done = 0;
  for (uint32_t tile = tiles.first; tile < tiles.end; tile += tiles.step) {
    for (uint32_t step = 0; step < steps; step++, done++, ring.next()) {
      if (done >= ahead) {
        waitBarrier(sharedAddress(&shared.emptied[ring.slot]), ring.parity ^ 1);
        copyWeights(ring.slot, tile, step);
      }
      copyHidden(ring.slot, step);
    }
  }
}

/// A warpgroup's share of the products of a slot.
template <class Kind, int N>
__device__ __forceinline__ void multiplySlot(Sums<N>& sums, const Slots<N>& slots, uint32_t slot, bool isFirst) {
  const uint64_t weights = describeOperand(slots.weights(slot));
  const uint64_t hidden = describeOperand(slots.hiddenRows(slot) + firstColumnOfWarpgroup<N>(threadIdx.x / 128) * STEP_BYTES);
#pragma unroll
  for (uint32_t k = 0; k < 4; k++) { // 16 columns of the head are 32 bytes
#pragma unroll
    for (uint32_t part = 0; part < Shape<N>::PARTS; part++) {
      Products<Kind, Shape<N>::TOKENS>::add(sums[part], hidden + part * (PART_COLUMNS * STEP_BYTES / 16) + 2 * k, weights + 2 * k, k > 0 || !isFirst);
    }
  }
}

/// What the blocks tell each other of a multiplying warp's columns, a column a lane.
template <int N>
struct ColumnOwner {
  const Screen& screen;
  Shared<N>& shared;
  const uint32_t column; // of the block
  const uint32_t columnOfSweep;
  const bool isColumn;

  __device__ ColumnOwner(const Screen& screen, Shared<N>& shared, uint32_t warp)
      : screen(screen), shared(shared), column(firstColumnOfWarp<N>(warp, threadIdx.x % 32 / WARP_COLUMNS) + threadIdx.x % WARP_COLUMNS),
        columnOfSweep(firstColumnOfBlock<N>() + column),
        isColumn(threadIdx.x % 32 / WARP_COLUMNS < Shape<N>::PARTS && column < Shape<N>::BLOCK_COLUMNS && needsLogits(shared.columns[column])) {}

  /// What all blocks know.
  __device__ uint32_t known() const {
    if (!isColumn) return NO_ORDER;
    return *reinterpret_cast<volatile uint32_t*>(&screen.states[columnOfSweep].threshold);
  }

  /// What this block knows then.
  __device__ uint32_t learn(uint32_t order) const {
    return isColumn ? max(order, atomicMax(&shared.orders[column], order)) : NO_ORDER;
  }

  /// Tells what this block has found since it last did, and forgets it: no token may count as two.
  __device__ void publish() const {
    if (!isColumn) return;
    const uint32_t leader = atomicExch(&shared.leaders[column], NO_ORDER);
    if (leader == NO_ORDER) return;
    const uint32_t other = atomicMax(&screen.states[columnOfSweep].leader, leader);
    atomicMax(&screen.states[columnOfSweep].threshold, max(atomicMax(&shared.orders[column], NO_ORDER), min(leader, other)));
  }
};

/// Leaves a warp's first thresholds to the other blocks and waits a little for those of half of them, so that a block's first tiles have few
/// tokens that matter. Nothing but speed depends on how many have come.
template <int N>
__device__ __forceinline__ void exchangeSeeds(const Screen& screen, const ColumnOwner<N>& owner) {
  owner.publish();
  if constexpr (!Shape<N>::AWAITS_SEEDS) return;
  uint32_t* seeded = &screen.seeded[owner.columnOfSweep / SEEDED_COLUMNS];
  if (threadIdx.x % 32 == seededPart<N>() * WARP_COLUMNS) atomicAdd(seeded, 1u);
  const uint32_t half = Tiles<N>(screen).step / Shape<N>::PARTS / 2;
#pragma unroll 1
  for (uint32_t look = 0; look < SEED_LOOKS && __any_sync(~0u, owner.isColumn && *const_cast<volatile uint32_t*>(seeded) < half); look++) __nanosleep(100);
}

/// The warps that multiply, mark, and queue.
template <class Kind, int N>
__device__ __forceinline__ void screenTiles(const Screen& screen, Shared<N>& shared) {
  constexpr uint32_t CLUSTER = Shape<N>::CLUSTER, TEAMS = Shape<N>::TEAMS;
  const Tiles<N> tiles(screen);
  const Slots<N> slots(screen, shared);
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, team = teamOf<N>(warp), steps = 2 * screen.units;
  const ColumnOwner<N> owner(screen, shared, warp);
  const Columns columns = __ballot_sync(~0u, owner.isColumn);
  Queue& queue = shared.queues[warp];
  const auto empty = [&](uint32_t slot) {
    if (lane < CLUSTER) arriveAt(sharedAddress(&shared.emptied[slot]), lane);
  };
  Sums<N> sums;
  Ring ring{slots.count};
  uint32_t number = 0; // of a tile in this block
#pragma unroll 1
  for (uint32_t tile = tiles.first; tile < tiles.end; tile += tiles.step, number++) {
    if (number % TEAMS != team) {
      ring.skip(steps);
      continue;
    }
    const uint32_t firstGroup = (tile + tiles.offset) * (Shape<N>::TOKENS / 4);
    uint32_t known = NO_ORDER;
    float norm = 0;
    if (TEAMS > 1 && number > 0) waitForTurn(team);
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++) {
      waitBarrier(sharedAddress(&shared.filled[ring.slot]), ring.parity);
      fenceProducts();
      multiplySlot<Kind, N>(sums, slots, ring.slot, step == 0);
      commitProducts();
      if (step == 0) norm = largestNorm<N>(screen, firstGroup); // while the tensor cores are at work
      if (step == steps - 1) known = owner.known();
      waitProducts<1>();
      if (step > 0) empty(ring.last());
      ring.next();
    }
    if (TEAMS > 1 && tile + tiles.step < tiles.end) giveTurn(team);
    waitProducts<0>();
#pragma unroll
    for (uint32_t part = 0; part < Shape<N>::PARTS; part++) pinRegisters(sums[part]);
    empty(ring.last());
    waitBarrier(sharedAddress(&shared.considered[warp]), number / TEAMS & 1 ^ 1);
    if (lane == 0) {
      queue.firstGroup = firstGroup;
      queue.seeds = 0;
      queue.count = 0;
    }
    if (columns != 0) {
      if (number == 0) {
        queueMarked<N>(screen, shared, queue, norm, sums, seedMarks<N>(columns), false);
        __syncwarp();
        considerCells<N>(screen, shared, queue, queue.count, false);
        exchangeSeeds<N>(screen, owner);
        if (lane == 0) queue.seeds = seedGroups<N>(columns);
      }
      if (number < TEAMS) known = owner.known(); // which is much more by now
      queueMarked<N>(screen, shared, queue, norm, sums, markCells<N>(shared, firstGroup, norm, columns, owner.learn(known), sums), true);
    }
    arriveBarrier(sharedAddress(&shared.queued[warp]));
  }
}

/// The warps that look closely at what the multiplying warps of a tile have queued, each at the queues of some of them.
template <int N>
__device__ __forceinline__ void considerQueues(const Screen& screen, Shared<N>& shared, uint32_t first) {
  constexpr uint32_t TEAMS = Shape<N>::TEAMS, WARPGROUPS = 2;
  const Tiles<N> tiles(screen);
  uint32_t number = 0;
#pragma unroll 1
  for (uint32_t tile = tiles.first; tile < tiles.end; tile += tiles.step, number++) {
#pragma unroll 1
    for (uint32_t warpgroup = number % TEAMS; warpgroup < WARPGROUPS; warpgroup += TEAMS) {
#pragma unroll 1
      for (uint32_t warp = warpgroup * 4 + first; warp < warpgroup * 4 + 4; warp += LOOKING_WARPS) {
        const Queue& queue = shared.queues[warp];
        waitBarrier(sharedAddress(&shared.queued[warp]), number / TEAMS & 1);
        if (queue.count > 0) {
          considerCells<N>(screen, shared, queue, queue.count, true);
          ColumnOwner<N>(screen, shared, warp).publish();
        }
        arriveBarrier(sharedAddress(&shared.considered[warp]));
      }
    }
  }
}

/// What all warps need.
template <int N>
__device__ __forceinline__ void beginBlock(const Screen& screen, Shared<N>& shared) {
  if (threadIdx.x == 0) {
    for (uint32_t slot = 0; slot < MOST_SLOTS; slot++) {
      initBarrier(sharedAddress(&shared.filled[slot]), 1);
      initBarrier(sharedAddress(&shared.emptied[slot]), MULTIPLYING_WARPS / Shape<N>::TEAMS * Shape<N>::CLUSTER);
    }
    for (uint32_t warp = 0; warp < MULTIPLYING_WARPS; warp++) {
      initBarrier(sharedAddress(&shared.queued[warp]), 32); // racecheck does not follow one lane that arrives for all
      initBarrier(sharedAddress(&shared.considered[warp]), 32);
    }
    fenceBarrierInit();
  }
  if constexpr (Shape<N>::CLUSTER > 1) syncCluster();
  else __syncthreads();
  letNextKernelStart();
}

/// The sweep's columns, by all warps but the one that copies, when the kernels before this one are done.
template <int N>
__device__ __forceinline__ void beginColumns(const Screen& screen, Shared<N>& shared) {
  waitForKernelsBefore();
  const uint32_t column = threadIdx.x;
  if (column < Shape<N>::BLOCK_COLUMNS) {
    const uint32_t columnOfSweep = firstColumnOfBlock<N>() + column;
    shared.columns[column] = columnOfSweep < columnsOf(screen) ? screen.columns[columnOfSweep] : ABSENT_COLUMN;
    shared.orders[column] = NO_ORDER;
    shared.leaders[column] = NO_ORDER;
  }
  syncThreads(COLUMNS_BARRIER, SCREEN_THREADS - 32);
}

template <class Kind, int N>
__device__ __forceinline__ void screenHead(const Screen& screen) {
  extern __shared__ uint8_t memory[];
  Shared<N>& shared = *reinterpret_cast<Shared<N>*>(memory + (-sharedAddress(memory) & 1023));
  beginBlock<N>(screen, shared);
  const uint32_t warp = threadIdx.x / 32;
  const bool copies = warp == MULTIPLYING_WARPS + LOOKING_WARPS;
  if (!copies) beginColumns<N>(screen, shared);
  if (warp < MULTIPLYING_WARPS) {
    setRegisters<MULTIPLYING_REGISTERS, true>();
    screenTiles<Kind, N>(screen, shared);
  } else {
    setRegisters<OTHER_REGISTERS, false>();
    if (!copies) considerQueues<N>(screen, shared, warp - MULTIPLYING_WARPS);
    else if (electOne()) copyOperands<N>(screen, shared);
  }
  if constexpr (Shape<N>::CLUSTER > 1) {
    __syncwarp();
    syncCluster(); // the other block's copies and arrivals come here until it is done
  }
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define SCREEN_BODY(KIND, N) screenHead<KIND, N>(screen)
#define CLUSTER_OF(N) __cluster_dims__(Shape<N>::CLUSTER, 1, 1)
#else
#define SCREEN_BODY(KIND, N) // never launched: the instructions are Hopper's
#define CLUSTER_OF(N)
#endif
#define SCREEN(NAME, KIND, N) \
  extern "C" __global__ void __launch_bounds__(SCREEN_THREADS, 1) CLUSTER_OF(N) \
      screen_##NAME##_##N(const __grid_constant__ Screen screen) { \
    SCREEN_BODY(KIND, N); \
  }
#define SCREEN_ALL(NAME, KIND) SCREEN(NAME, KIND, 32) SCREEN(NAME, KIND, 64) SCREEN(NAME, KIND, 128) SCREEN(NAME, KIND, 256)
SCREEN_ALL(bf16, Bf16Operand)
SCREEN_ALL(f16, F16Operand)
