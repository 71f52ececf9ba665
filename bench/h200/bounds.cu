// Whether the bounds of gpu/cuda/bounds.cuh hold for every noise word: all 2^32 upper words, with the least and the largest lower one.
//   nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a -I build/cuda -o build/h200/bounds bench/h200/bounds.cu
// (build/cuda is made by `npm run build:cuda`.) Exit code 1 when a bound is passed.
#include <cstdio>
#include "../../gpu/cuda/bounds.cuh"

struct Result {
  unsigned long long passed;
  int slackAbove, slackBelow; // bits of floats that are not negative
};

__global__ void checkBounds(NoiseScale scale, Result* result) {
  float above = 1e9f, below = 1e9f;
  unsigned long long passed = 0;
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < 1ull << 32; i += uint64_t(gridDim.x) * blockDim.x) {
    const uint32_t high = uint32_t(i);
    const double most = gamma26(high, 0) * 0x1p-26, least = gamma26(high, ~0u) * 0x1p-26;
    const float atMost = noiseAtMost(scale, distanceOf(high)), atLeast = noiseAtLeast(scale, distanceOf(high));
    passed += !(atMost >= most && atMost >= least && atLeast <= least && atLeast <= most);
    above = fminf(above, float(atMost - fmax(most, least)));
    if (atLeast > 0) below = fminf(below, float(fmin(most, least) - atLeast));
  }
  if (passed > 0) atomicAdd(&result->passed, passed);
  atomicMin(&result->slackAbove, __float_as_int(fmaxf(above, 0.0f)));
  atomicMin(&result->slackBelow, __float_as_int(fmaxf(below, 0.0f)));
}

int main() {
  Result* device;
  Result host = {0, 0x7f000000, 0x7f000000};
  if (cudaMalloc(&device, sizeof host) != cudaSuccess) return 2;
  cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice);
  checkBounds<<<4096, 256>>>({LN2_F, NOISE_TOP + NOISE_SLACK + SCORE_SLACK}, device);
  if (cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
    return 2;
  }
  float above, below;
  memcpy(&above, &host.slackAbove, 4);
  memcpy(&below, &host.slackBelow, 4);
  printf("noise bounds at T = 1: %llu of 2^32 words pass them, least slack %g above, %g below\n", host.passed, above, below);
  return host.passed == 0 ? 0 : 1;
}
