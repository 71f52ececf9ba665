// Compares mma.sync.m16n8k16 and wgmma m64nNk16 of a GPU of compute capability 9.0 with docs/spec.md, section 9, every bit:
//   nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o build/h200/tensor-core bench/h200/tensor-core.cu
//   build/h200/tensor-core FOLDER          special cases, then many sums by chance; FOLDER gets bf16.bin and f16.bin
//   build/h200/tensor-core --twin FOLDER   no GPU: the same two files with the twin's sums in place of the GPU's
// `node bench/h200/tensor-core.mjs FOLDER/*.bin` sums the files' operands again, by src/spec/tensor-core.ts.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include "../../gpu/cuda/hopper.cuh"
#include "tensor-core.cuh"
#include "tensor-core-cases.h"

constexpr int ROWS = 64;                 // of w in a tile
constexpr int THREADS = 128;             // a warpgroup
constexpr uint32_t TILES = 98304;        // of each N
constexpr uint32_t DUMPED_TILES = 240;   // five for each regime and number of steps
constexpr int DUMPED_N = 8;
constexpr int MOST_COLUMNS = MOST_STEPS * COLUMNS;
constexpr int BLOCK_COLUMNS = 64;        // columns side by side in shared memory: 128 bytes
constexpr int INSTRUCTIONS = 2;
constexpr const char* INSTRUCTION_NAMES[INSTRUCTIONS] = {"mma.sync", "wgmma"};

template <class Format>
struct Wgmma;
template <>
struct Wgmma<Bf16> {
  using Operand = Bf16Operand;
};
template <>
struct Wgmma<F16> {
  using Operand = F16Operand;
};

__device__ void mmaSync(Bf16, float* d, const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void mmaSync(F16, float* d, const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// An operand in shared memory as describeOperand() tells of it, blocks of 64 columns one behind the other.
template <int R>
struct alignas(1024) Shared {
  uint16_t values[R * MOST_COLUMNS];
  __device__ uint16_t& at(int row, int k) {
    const int chunk = k % BLOCK_COLUMNS / 8 ^ row % 8;
    return values[k / BLOCK_COLUMNS * R * BLOCK_COLUMNS + row * BLOCK_COLUMNS + chunk * 8 + k % 8];
  }
  /// Two columns of a row.
  __device__ uint32_t pair(int row, int k) { return *reinterpret_cast<uint32_t*>(&at(row, k)); }
  __device__ uint64_t describe(int step) {
    return describeOperand(sharedAddress(values + step / 4 * R * BLOCK_COLUMNS + step % 4 * COLUMNS));
  }
};

/// Where a thread's sum number i lies: the same for both instructions.
__host__ __device__ inline int rowOf(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + (i % 4 / 2) * 8; }
__host__ __device__ inline int columnOf(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

template <class Format, int N>
__device__ void multiplyByMmaSync(Shared<ROWS>& w, Shared<N>& x, int steps, float (&d)[N / 2]) {
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, k = threadIdx.x % 4 * 2;
  for (int first = k; first < steps * COLUMNS; first += COLUMNS) {
    const uint32_t a[4] = {w.pair(row, first), w.pair(row + 8, first), w.pair(row, first + 8), w.pair(row + 8, first + 8)};
#pragma unroll
    for (int n = 0; n < N; n += 8) {
      const int column = n + threadIdx.x % 32 / 4;
      const uint32_t b[2] = {x.pair(column, first), x.pair(column, first + 8)};
      mmaSync(Format{}, d + n / 2, a, b);
    }
  }
}

template <class Format, int N>
__device__ void multiplyByWgmma(Shared<ROWS>& w, Shared<N>& x, int steps, float (&d)[N / 2]) {
  pinRegisters(d);
  fenceProducts();
  for (int step = 0; step < steps; step++) Products<typename Wgmma<Format>::Operand, N>::add(d, w.describe(step), x.describe(step));
  commitProducts();
  waitProducts<0>();
  pinRegisters(d);
}

/// Both instructions on what lies in shared memory, ordinary stores by all threads before.
template <class Format, int N>
__device__ void multiply(Shared<ROWS>& w, Shared<N>& x, int steps, const uint32_t (&c)[N / 2], uint32_t (&sums)[INSTRUCTIONS][N / 2]) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float d[INSTRUCTIONS][N / 2];
  for (int i = 0; i < N / 2; i++) d[0][i] = d[1][i] = __uint_as_float(c[i]);
  multiplyByMmaSync<Format, N>(w, x, steps, d[0]);
  multiplyByWgmma<Format, N>(w, x, steps, d[1]);
  for (int i = 0; i < N / 2; i++) {
    for (int instruction = 0; instruction < INSTRUCTIONS; instruction++) sums[instruction][i] = __float_as_uint(d[instruction][i]);
  }
  __syncthreads();
}

// Special cases.

/// Case number blockIdx.x in all rows: each sum of the tile should be the same.
template <class Format>
__global__ void __launch_bounds__(THREADS) runCases(const Case* cases, uint32_t* sums, uint32_t* unlike) {
  __shared__ Shared<ROWS> w;
  __shared__ Shared<DUMPED_N> x;
  const Case& given = cases[blockIdx.x];
  for (int i = threadIdx.x; i < ROWS * COLUMNS; i += THREADS) w.at(i / COLUMNS, i % COLUMNS) = given.w[i % COLUMNS];
  for (int i = threadIdx.x; i < DUMPED_N * COLUMNS; i += THREADS) x.at(i / COLUMNS, i % COLUMNS) = given.x[i % COLUMNS];
  const uint32_t c[DUMPED_N / 2] = {given.c, given.c, given.c, given.c};
  uint32_t got[INSTRUCTIONS][DUMPED_N / 2];
  multiply<Format, DUMPED_N>(w, x, 1, c, got);
  for (int instruction = 0; instruction < INSTRUCTIONS; instruction++) {
    uint32_t& sum = sums[blockIdx.x * INSTRUCTIONS + instruction];
    if (threadIdx.x == 0) sum = got[instruction][0];
    __syncthreads();
    for (uint32_t bits : got[instruction]) {
      if (bits != sum) atomicAdd(unlike, 1);
    }
  }
}

// Sums by chance.

struct Mismatch {
  uint32_t instruction, n, tile, row, column, expected, got;
};
constexpr uint32_t SHOWN_MISMATCHES = 8;

struct Outcome {
  unsigned long long mismatches[INSTRUCTIONS][REGIMES];
  uint32_t found;
  Mismatch first[SHOWN_MISMATCHES];
};

/// What a file holds of a tile, then w [64, K], x [8, K], c [64, 8] and the sums of both instructions, 32-bit words but for w and x.
struct TileHead {
  uint32_t tile, regime, steps;
};

struct DumpedTile {
  uint16_t w[ROWS * MOST_COLUMNS], x[DUMPED_N * MOST_COLUMNS];
  uint32_t c[ROWS * DUMPED_N], sums[INSTRUCTIONS][ROWS * DUMPED_N];
};

/// The twin's sum, from c on; at(k, w, x) gives the operands of a column.
#pragma nv_exec_check_disable
template <class Format, class At>
__host__ __device__ uint32_t twin(int steps, uint32_t c, const At& at) {
#pragma unroll 1
  for (int first = 0; first < steps * COLUMNS; first += COLUMNS) {
    uint16_t w[COLUMNS], x[COLUMNS];
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) at(first + i, w[i], x[i]);
    c = step<Format>(w, x, c);
  }
  return c;
}

template <class Format, int N>
__global__ void __launch_bounds__(THREADS) runTiles(Outcome* outcome, DumpedTile* dump) {
  __shared__ Shared<ROWS> w;
  __shared__ Shared<N> x;
  for (uint32_t tile = blockIdx.x; tile < TILES; tile += gridDim.x) {
    const int steps = stepsOf(tile), columns = steps * COLUMNS;
    for (int i = threadIdx.x; i < ROWS * columns; i += THREADS) w.at(i / columns, i % columns) = operand<Format>(tile, true, i / columns, i % columns);
    for (int i = threadIdx.x; i < N * columns; i += THREADS) x.at(i / columns, i % columns) = operand<Format>(tile, false, i / columns, i % columns);
    __syncthreads();
    const auto sumOf = [&](int i, int count, uint32_t c) {
      const int row = rowOf(threadIdx.x, i), column = columnOf(threadIdx.x, i);
      return twin<Format>(count, c, [&](int k, uint16_t& a, uint16_t& b) { a = w.at(row, k), b = x.at(column, k); });
    };
    uint32_t c[N / 2], got[INSTRUCTIONS][N / 2];
#pragma unroll 1
    for (int i = 0; i < N / 2; i++) c[i] = addend<Format>(tile, rowOf(threadIdx.x, i), columnOf(threadIdx.x, i), sumOf(i, 1, 0));
    multiply<Format, N>(w, x, steps, c, got);
#pragma unroll 1
    for (int i = 0; i < N / 2; i++) {
      const uint32_t expected = sumOf(i, steps, c[i]);
#pragma unroll 1
      for (uint32_t instruction = 0; instruction < INSTRUCTIONS; instruction++) {
        if (got[instruction][i] == expected) continue;
        atomicAdd(&outcome->mismatches[instruction][regimeOf(tile)], 1ull);
        const uint32_t place = atomicAdd(&outcome->found, 1);
        if (place < SHOWN_MISMATCHES) {
          outcome->first[place] = {instruction, N, tile, uint32_t(rowOf(threadIdx.x, i)), uint32_t(columnOf(threadIdx.x, i)), expected, got[instruction][i]};
        }
      }
    }
    if (dump != nullptr && tile < DUMPED_TILES) {
      DumpedTile& to = dump[tile];
      for (int i = threadIdx.x; i < ROWS * columns; i += THREADS) to.w[i] = w.at(i / columns, i % columns);
      for (int i = threadIdx.x; i < N * columns; i += THREADS) to.x[i] = x.at(i / columns, i % columns);
      for (int i = 0; i < N / 2; i++) {
        const int place = rowOf(threadIdx.x, i) * N + columnOf(threadIdx.x, i);
        to.c[place] = c[i];
        for (int instruction = 0; instruction < INSTRUCTIONS; instruction++) to.sums[instruction][place] = got[instruction][i];
      }
    }
    __syncthreads();
  }
}

// Host.

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "tensor-core: %s\n", cudaGetErrorString(error));
  exit(1);
}

/// Zeroed memory of the device.
template <class T>
T* onDevice(size_t count) {
  T* pointer;
  check(cudaMalloc(&pointer, count * sizeof(T)));
  check(cudaMemset(pointer, 0, count * sizeof(T)));
  return pointer;
}

template <class T>
std::vector<T> fromDevice(const T* pointer, size_t count) {
  std::vector<T> values(count);
  check(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

void write(FILE* file, const void* data, size_t bytes) {
  if (fwrite(data, 1, bytes, file) == bytes) return;
  perror("tensor-core");
  exit(1);
}

void writeDump(const std::string& path, const std::vector<DumpedTile>& dump) {
  FILE* file = fopen(path.c_str(), "wb");
  if (file == nullptr) {
    perror(path.c_str());
    exit(1);
  }
  for (uint32_t tile = 0; tile < dump.size(); tile++) {
    const TileHead head{tile, uint32_t(regimeOf(tile)), uint32_t(stepsOf(tile))};
    const size_t columns = head.steps * COLUMNS;
    write(file, &head, sizeof head);
    write(file, dump[tile].w, ROWS * columns * 2);
    write(file, dump[tile].x, DUMPED_N * columns * 2);
    write(file, dump[tile].c, sizeof dump[tile].c);
    write(file, dump[tile].sums, sizeof dump[tile].sums);
  }
  fclose(file);
}

template <class Format>
std::vector<DumpedTile> twinDump() {
  std::vector<DumpedTile> dump(DUMPED_TILES);
  for (uint32_t tile = 0; tile < DUMPED_TILES; tile++) {
    DumpedTile& to = dump[tile];
    const int columns = stepsOf(tile) * COLUMNS;
    for (int i = 0; i < ROWS * columns; i++) to.w[i] = operand<Format>(tile, true, i / columns, i % columns);
    for (int i = 0; i < DUMPED_N * columns; i++) to.x[i] = operand<Format>(tile, false, i / columns, i % columns);
    for (int place = 0; place < ROWS * DUMPED_N; place++) {
      const int row = place / DUMPED_N, column = place % DUMPED_N;
      const auto at = [&](int k, uint16_t& a, uint16_t& b) { a = to.w[row * columns + k], b = to.x[column * columns + k]; };
      to.c[place] = addend<Format>(tile, row, column, twin<Format>(1, 0, at));
      to.sums[0][place] = to.sums[1][place] = twin<Format>(stepsOf(tile), to.c[place], at);
    }
  }
  return dump;
}

/// Prints the table.
template <class Format>
bool measureCases(const char* name) {
  const std::vector<Case> cases = specialCases(Format::BIAS == 15);
  Case* given = onDevice<Case>(cases.size());
  uint32_t* sums = onDevice<uint32_t>(cases.size() * INSTRUCTIONS);
  uint32_t* unlike = onDevice<uint32_t>(1);
  check(cudaMemcpy(given, cases.data(), cases.size() * sizeof(Case), cudaMemcpyHostToDevice));
  runCases<Format><<<unsigned(cases.size()), THREADS>>>(given, sums, unlike);
  check(cudaDeviceSynchronize());
  const std::vector<uint32_t> got = fromDevice(sums, cases.size() * INSTRUCTIONS);
  bool isRight = true;
  printf("\n%-52s %-8s  %-8s %-8s\n", (std::string(name) + ", one step").c_str(), "expected", INSTRUCTION_NAMES[0], INSTRUCTION_NAMES[1]);
  for (size_t i = 0; i < cases.size(); i++) {
    const uint32_t expected = step<Format>(cases[i].w, cases[i].x, cases[i].c);
    const uint32_t* bits = &got[i * INSTRUCTIONS];
    const bool isExpected = bits[0] == expected && bits[1] == expected;
    isRight = isRight && isExpected;
    printf("%-52s %08x  %08x %08x%s\n", cases[i].name, expected, bits[0], bits[1], isExpected ? "" : "  OTHER");
  }
  const uint32_t differing = fromDevice(unlike, 1)[0];
  printf("%u sums differ from others of the same case\n", differing);
  return isRight && differing == 0;
}

template <class Format, int N>
bool measureTiles(const char* name, DumpedTile* dump) {
  Outcome* onGpu = onDevice<Outcome>(1);
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  check(cudaEventRecord(begin));
  runTiles<Format, N><<<1056, THREADS>>>(onGpu, dump);
  check(cudaEventRecord(end));
  check(cudaDeviceSynchronize());
  float milliseconds;
  check(cudaEventElapsedTime(&milliseconds, begin, end));
  const Outcome outcome = fromDevice(onGpu, 1)[0];
  bool isRight = true;
  for (int instruction = 0; instruction < INSTRUCTIONS; instruction++) {
    unsigned long long all = 0;
    for (unsigned long long count : outcome.mismatches[instruction]) all += count;
    isRight = isRight && all == 0;
    printf("%s %s: %llu outputs, %llu mismatches (N = %d, %.0f ms)\n", INSTRUCTION_NAMES[instruction], name, (unsigned long long)TILES * ROWS * N, all, N, milliseconds);
    for (int regime = 0; regime < REGIMES; regime++) {
      if (outcome.mismatches[instruction][regime] != 0) printf("  %s: %llu\n", REGIME_NAMES[regime], outcome.mismatches[instruction][regime]);
    }
  }
  for (uint32_t i = 0; i < outcome.found && i < SHOWN_MISMATCHES; i++) {
    const Mismatch& at = outcome.first[i];
    printf("  %s N %u tile %u (%s, %d steps) row %u column %u: expected %08x, got %08x\n", INSTRUCTION_NAMES[at.instruction], at.n, at.tile,
           REGIME_NAMES[regimeOf(at.tile)], stepsOf(at.tile), at.row, at.column, at.expected, at.got);
  }
  return isRight;
}

template <class Format>
bool measure(const char* name, const std::string& folder) {
  const bool areCasesRight = measureCases<Format>(name);
  DumpedTile* dump = onDevice<DumpedTile>(DUMPED_TILES);
  const bool isRight = measureTiles<Format, DUMPED_N>(name, dump);
  const bool isWideRight = measureTiles<Format, 64>(name, nullptr);
  writeDump(folder + "/" + name + ".bin", fromDevice(dump, DUMPED_TILES));
  return areCasesRight && isRight && isWideRight;
}

int main(int count, char** arguments) {
  if (count == 3 && strcmp(arguments[1], "--twin") == 0) {
    const std::string folder = arguments[2];
    writeDump(folder + "/bf16.bin", twinDump<Bf16>());
    writeDump(folder + "/f16.bin", twinDump<F16>());
    return 0;
  }
  if (count != 2) {
    fprintf(stderr, "usage: tensor-core [--twin] FOLDER\n");
    return 2;
  }
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  printf("%s\n", properties.name);
  const bool isBf16Right = measure<Bf16>("bf16", arguments[1]);
  const bool isF16Right = measure<F16>("f16", arguments[1]);
  return isBf16Right && isF16Right ? 0 : 1;
}
