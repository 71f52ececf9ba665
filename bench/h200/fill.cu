// Weights made on the device, by number of the value: row-major, and in the layout of the plain kernels. bf16 values are those of
// weightBits() in bench/webgpu/gpu.mjs.
#include <cstdint>

enum Mode : uint32_t {
  PLAIN = 0,
  OUTLIERS = 1, // every 97th column 64 times as large
  TWINS = 2, // rows in pairs that differ in one bit of one weight, if at all
  ONE_ROW = 3, // all rows the same
};

__device__ uint32_t mixed(uint32_t x) {
  x *= 0x9e3779b1u;
  x = (x ^ (x >> 15)) * 0x85ebca77u;
  x = (x ^ (x >> 13)) * 0xc2b2ae3du;
  return x ^ (x >> 16);
}

/// Magnitudes from 2^-7 (f16: 2^-6) to 2^-3.
__device__ uint16_t weightAt(uint32_t row, uint32_t column, uint32_t columns, uint32_t isF16, uint32_t mode) {
  const uint32_t from = mode == TWINS ? row & ~1u : mode == ONE_ROW ? 0 : row;
  const uint32_t x = mixed(from * columns + column);
  uint32_t bits = isF16 ? ((x >> 16) & 0x8000) | (0x2400 + ((x >> 8) & 0x0bff)) : ((x >> 16) & 0x8000) | 0x3c00 | ((x >> 8) & 0x1ff);
  if (mode == OUTLIERS && column % 97 == 0) bits += 6 << (isF16 ? 10 : 7);
  if (mode == TWINS && row % 4 == 3 && column == row % columns) bits ^= 1;
  return uint16_t(bits);
}

extern "C" __global__ void fill_rows(uint16_t* target, uint32_t rows, uint32_t columns, uint32_t isF16, uint32_t mode) {
  const uint64_t count = uint64_t(rows) * columns;
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < count; i += uint64_t(gridDim.x) * blockDim.x) {
    target[i] = weightAt(uint32_t(i / columns), uint32_t(i % columns), columns, isF16, mode);
  }
}

/// The same as gpu/layout.ts arranges it, in memory that was zero.
extern "C" __global__ void fill_units(uint16_t* target, uint32_t rows, uint32_t columns, uint32_t isF16, uint32_t mode) {
  const uint64_t count = uint64_t(rows) * columns;
  const uint32_t units = (columns + 127) / 128;
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < count; i += uint64_t(gridDim.x) * blockDim.x) {
    const uint32_t row = uint32_t(i / columns), column = uint32_t(i % columns);
    target[uint64_t(row) * units * 128 + column / 128 * 128 + column % 32 * 4 + column % 128 / 32] = weightAt(row, column, columns, isF16, mode);
  }
}
