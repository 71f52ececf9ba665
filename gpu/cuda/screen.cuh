// The screened kernel, for compute capability 9.0: fast logits on the tensor cores, bounds of noise, and for each column the
// groups of tokens that may be among its two best.
//
// A block of the grid is persistent: it takes tiles of TILE_TOKENS tokens times all columns. One warp copies operands into a ring
// of slots; the others multiply, and then look at what they have in registers.
#pragma once
#include "screen-cells.cuh"

/// How often a block looks whether all others have left their first thresholds, at most.
constexpr uint32_t SEED_LOOKS = 6;

/// The copying warp, one lane of it.
template <int N>
__device__ __forceinline__ void copyOperands(const Screen& screen, Shared<N>& shared, uint32_t block, uint32_t clusters, uint32_t cluster) {
  constexpr uint32_t SLOTS = Shape<N>::SLOTS, CLUSTER = Shape<N>::CLUSTER;
  const uint32_t steps = 2 * screen.units;
  const uint64_t once = evictFirst(), often = evictLast();
  const auto copyWeights = [&](uint32_t slot, uint32_t tile, uint32_t step) {
    const uint32_t filled = sharedAddress(&shared.filled[slot]);
    expectBytes(filled, Shape<N>::SLOT_BYTES);
    const uint64_t piece = uint64_t(min(tile, screen.tiles - 1)) * steps + step; // a cluster's last tile may not be there
    copyBulk(sharedAddress(shared.slots[slot]), screen.weights + piece * TILE_BYTES, TILE_BYTES, filled, once);
  };
  const auto copyHidden = [&](uint32_t slot, uint32_t step) {
    constexpr uint32_t bytes = N * STEP_BYTES / CLUSTER; // each block's share
    const uint32_t target = sharedAddress(shared.slots[slot] + TILE_BYTES + block * bytes);
    const uint8_t* source = screen.operands + step * (N * STEP_BYTES) + block * bytes;
    const uint32_t filled = sharedAddress(&shared.filled[slot]);
    if constexpr (CLUSTER == 1) copyBulk(target, source, bytes, filled, often);
    else copyBulkToCluster(target, source, bytes, filled, often, (1u << CLUSTER) - 1);
  };
  Ring<SLOTS> ring;
  uint32_t ahead = 0; // weights do not depend on the kernel before this one: the first slots get them at once
  const uint32_t first = cluster * CLUSTER + block;
  if (cluster * CLUSTER < screen.tiles) {
    for (; ahead < SLOTS && ahead < steps; ahead++) copyWeights(ahead, first, ahead);
  }
  waitForKernelsBefore();
  uint32_t done = 0;
  for (uint32_t pair = cluster * CLUSTER; pair < screen.tiles; pair += clusters * CLUSTER) {
    for (uint32_t step = 0; step < steps; step++, done++, ring.next()) {
      if (done >= ahead) {
        waitBarrier(sharedAddress(&shared.emptied[ring.slot]), ring.parity ^ 1);
        copyWeights(ring.slot, pair + block, step);
      }
      copyHidden(ring.slot, step);
    }
  }
}

/// A warpgroup's share of the products of a slot.
template <class Kind, int N>
__device__ __forceinline__ void multiplySlot(Sums<N>& sums, const uint8_t* slot) {
  constexpr uint32_t halfBytes = HALF_TILE * STEP_BYTES;
  const uint64_t weights = describeOperand(sharedAddress(slot + teamThread<N>() / 128 * halfBytes));
  const uint64_t hidden = describeOperand(sharedAddress(slot + TILE_BYTES));
#pragma unroll
  for (uint32_t k = 0; k < 4; k++) { // 16 columns of the head are 32 bytes
#pragma unroll
    for (uint32_t half = 0; half < Shape<N>::HALVES; half++) {
      Products<Kind, N>::add(sums[half], weights + half * (halfBytes / 16) + 2 * k, hidden + 2 * k);
    }
  }
}

template <int COUNT>
__device__ __forceinline__ void clear(float (&values)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; i++) values[i] = 0;
}

/// What the blocks tell each other of a column, by one thread of each team.
template <int N>
struct ColumnOwner {
  const Screen& screen;
  Shared<N>& shared;
  const uint32_t column = teamThread<N>();
  const bool isColumn = column < columnsOf(screen);

  /// What all blocks know.
  __device__ uint32_t known() const {
    return isColumn ? *reinterpret_cast<volatile uint32_t*>(&screen.states[column].threshold) : 0;
  }

  __device__ void learn(uint32_t order) const {
    if (isColumn) shared.thresholds[teamOfThread<N>()][column] = floatOf(max(order, atomicMax(&shared.orders[column], order)));
  }

  /// Tells what this block has found since it last did, and forgets it: no token may count as two.
  __device__ void publish() const {
    if (!isColumn) return;
    const uint32_t leader = atomicExch(&shared.leaders[column], 0);
    if (leader == NO_ORDER) return;
    const uint32_t other = atomicMax(&screen.states[column].leader, leader);
    atomicMax(&screen.states[column].threshold, max(atomicMax(&shared.orders[column], 0), min(leader, other)));
  }
};

/// Leaves first thresholds to the other blocks and waits a little for theirs, so that a block's first tile has few tokens that
/// matter. Nothing but speed depends on how many have come.
template <int N>
__device__ __forceinline__ void exchangeSeeds(const Screen& screen, const ColumnOwner<N>& owner) {
  syncTeam<N>();
  owner.publish();
  __threadfence();
  syncTeam<N>();
  if (threadIdx.x == 0) {
    atomicAdd(screen.seeded, 1u);
    for (uint32_t look = 0; look < SEED_LOOKS && *const_cast<volatile uint32_t*>(screen.seeded) < gridDim.x; look++) __nanosleep(200);
  }
  syncTeam<N>();
  owner.learn(owner.known());
}

template <int N>
__device__ __forceinline__ void beginColumns(const Screen& screen, Shared<N>& shared) {
  const uint32_t column = threadIdx.x;
  if (column < N) {
    const bool isColumn = column < columnsOf(screen);
    shared.columns[column] = isColumn ? screen.columns[column] : Column{};
    for (uint32_t team = 0; team < Shape<N>::TEAMS; team++) shared.thresholds[team][column] = isColumn ? -INFINITY : INFINITY;
    shared.orders[column] = NO_ORDER;
    shared.leaders[column] = NO_ORDER;
  }
  syncMultiplying();
}

/// The warps that multiply.
template <class Kind, int N>
__device__ __forceinline__ void screenTiles(const Screen& screen, Shared<N>& shared, uint32_t block, uint32_t clusters, uint32_t cluster) {
  constexpr uint32_t SLOTS = Shape<N>::SLOTS, CLUSTER = Shape<N>::CLUSTER, HALVES = Shape<N>::HALVES;
  const uint32_t lane = threadIdx.x % 32, steps = 2 * screen.units;
  const auto empty = [&](uint32_t slot) {
    if (lane < CLUSTER) arriveAt(sharedAddress(&shared.emptied[slot]), lane);
  };
  waitForKernelsBefore();
  beginColumns<N>(screen, shared);
  const ColumnOwner<N> owner{screen, shared};
  Sums<N> sums;
  Norms<N> norms;
  Ring<SLOTS> ring;
  uint32_t number = 0; // of a tile in this block
  for (uint32_t pair = cluster * CLUSTER; pair < screen.tiles; pair += clusters * CLUSTER, number++) {
    if (number % Shape<N>::TEAMS != teamOfThread<N>()) {
      ring.skip(steps);
      continue;
    }
    const uint32_t tile = pair + block;
    const bool isTile = tile < screen.tiles; // the cluster's last pair may have one tile
#pragma unroll
    for (uint32_t half = 0; half < HALVES; half++) {
      clear(sums[half]);
      norms[half] = isTile ? __ldg(screen.norms + tile * (TILE_TOKENS / 4) + groupOfThread<N>(half)) : 0;
    }
    uint32_t known = NO_ORDER;
    if (number > 0) waitForTurn<N>();
    for (uint32_t step = 0; step < steps; step++) {
      waitBarrier(sharedAddress(&shared.filled[ring.slot]), ring.parity);
      fenceProducts();
      multiplySlot<Kind, N>(sums, shared.slots[ring.slot]);
      commitProducts();
      if (step == steps - 1) known = owner.known(); // late, but not waited for
      waitProducts<1>();
      if (step > 0) empty(ring.last());
      ring.next();
    }
    if (pair + clusters * CLUSTER < screen.tiles) giveTurn<N>();
    waitProducts<0>();
#pragma unroll
    for (uint32_t half = 0; half < HALVES; half++) pinRegisters(sums[half]);
    empty(ring.last());
    const uint32_t seeds = number == 0 ? seedMarks<N>() : 0;
    if (number == 0) {
      if (isTile) considerCells<N>(screen, shared, tile, norms, sums, columnMarks<N>(screen) & seeds, 0, false);
      exchangeSeeds<N>(screen, owner);
    } else {
      owner.learn(known);
    }
    syncTeam<N>();
    if (isTile) considerCells<N>(screen, shared, tile, norms, sums, columnMarks<N>(screen) & markCells<N>(shared, tile, norms, sums), seeds, true);
    syncTeam<N>();
    owner.publish();
  }
}

template <class Kind, int N>
__device__ __forceinline__ void screenHead(const Screen& screen) {
  extern __shared__ uint8_t memory[];
  Shared<N>& shared = *reinterpret_cast<Shared<N>*>(memory + (-sharedAddress(memory) & 1023));
  constexpr uint32_t CLUSTER = Shape<N>::CLUSTER;
  const uint32_t block = blockIdx.x % CLUSTER, cluster = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER;
  if (threadIdx.x == 0) {
    for (uint32_t slot = 0; slot < Shape<N>::SLOTS; slot++) {
      initBarrier(sharedAddress(&shared.filled[slot]), 1);
      initBarrier(sharedAddress(&shared.emptied[slot]), Shape<N>::TEAM_WARPS * CLUSTER);
    }
    fenceBarrierInit();
  }
  if constexpr (CLUSTER > 1) syncCluster();
  else __syncthreads();
  letNextKernelStart();
  if (threadIdx.x >= MULTIPLYING_THREADS) {
    setRegisters<COPYING_REGISTERS, false>();
    if (threadIdx.x / 32 == MULTIPLYING_WARPS && electOne()) copyOperands<N>(screen, shared, block, clusters, cluster);
  } else {
    setRegisters<MULTIPLYING_REGISTERS, true>();
    screenTiles<Kind, N>(screen, shared, block, clusters, cluster);
  }
  if constexpr (CLUSTER > 1) {
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
#define SCREEN_ALL(NAME, KIND) SCREEN(NAME, KIND, 8) SCREEN(NAME, KIND, 16) SCREEN(NAME, KIND, 32) SCREEN(NAME, KIND, 64) SCREEN(NAME, KIND, 128) SCREEN(NAME, KIND, 256)
SCREEN_ALL(bf16, Bf16Operand)
SCREEN_ALL(f16, F16Operand)
