// Whether the bounds of gpu/cuda/bounds.cuh hold for every noise word: all 2^32 upper words, with the least and the largest lower one.
//   nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=sm_90a -I build/cuda -o build/h200/bounds bench/h200/bounds.cu
// (build/cuda is made by `npm run build:cuda`.) Exit code 1 when a bound is passed.
#include <cstdio>
#include <cstring>
#include "../../gpu/cuda/bounds.cuh"

struct Result {
  unsigned long long passed;
  int slackAbove, slackBelow; // bits of floats that are not negative
};

__global__ void checkBounds(NoiseScale scale, double temperature, Result* result) {
  float above = 1e30f, below = 1e30f;
  unsigned long long passed = 0;
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < 1ull << 32; i += uint64_t(gridDim.x) * blockDim.x) {
    const uint32_t high = uint32_t(i);
    const double first = temperature * gamma26(high, 0) * 0x1p-26, second = temperature * gamma26(high, ~0u) * 0x1p-26;
    const double most = fmax(first, second), least = fmin(first, second);
    const float log2 = log2Distance(min(int(high), FAR_WORD));
    const float atMost = noiseAtMost(scale, log2), atLeast = noiseAtLeast(scale, distanceOf(high));
    passed += !(atMost >= most && atLeast <= least);
    // A logit that just reaches a threshold must not be passed over.
    for (const float threshold : {0.0f, -3.1f, 14.7f, 9000.0f}) {
      for (const float error : {0.0f, 0.02f}) {
        passed += !(leastZ(scale, leastZAtOne(scale, threshold, error), log2) <= double(threshold) - error - most);
      }
    }
    above = fminf(above, float(atMost - most));
    if (atLeast > 0) below = fminf(below, float(least - atLeast));
  }
  if (passed > 0) atomicAdd(&result->passed, passed);
  atomicMin(&result->slackAbove, __float_as_int(fmaxf(above, 0.0f)));
  atomicMin(&result->slackBelow, __float_as_int(fmaxf(below, 0.0f)));
}

/// As prepare.cuh makes it.
__global__ void makeScale(uint32_t tau, NoiseScale* scale) {
  *scale = noiseScaleOf(tau);
}

#define CHECKED(call)                                                    \
  if (const cudaError_t error = (call); error != cudaSuccess) {          \
    fprintf(stderr, "%s\n", cudaGetErrorString(error));                  \
    return 2;                                                            \
  }

int main() {
  Result* result;
  NoiseScale* scale;
  CHECKED(cudaMalloc(&result, sizeof *result));
  CHECKED(cudaMalloc(&scale, sizeof *scale));
  unsigned long long passed = 0;
  for (const uint32_t tau : {0u, 1u, 1u << 20, 11744051u, 1u << 24, 0xffffffffu}) {
    Result found = {0, 0x7f000000, 0x7f000000};
    NoiseScale of;
    CHECKED(cudaMemcpy(result, &found, sizeof found, cudaMemcpyHostToDevice));
    makeScale<<<1, 1>>>(tau, scale);
    CHECKED(cudaMemcpy(&of, scale, sizeof of, cudaMemcpyDeviceToHost));
    checkBounds<<<4096, 256>>>(of, tau * 0x1p-24, result);
    CHECKED(cudaMemcpy(&found, result, sizeof found, cudaMemcpyDeviceToHost));
    float above, below;
    memcpy(&above, &found.slackAbove, 4);
    memcpy(&below, &found.slackBelow, 4);
    printf("noise bounds at T = %g: %llu of 2^32 words pass them, least slack %g above, %g below\n", tau * 0x1p-24, found.passed, above, below);
    passed += found.passed;
  }
  return passed == 0 ? 0 : 1;
}
