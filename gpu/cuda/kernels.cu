// All kernels, one translation unit: scripts/build-cuda.mjs compiles it for each architecture.
#include "decide.cuh"
#include "plain.cuh"
#include "pointers.cuh"
#include "prepare.cuh"
#include "screen.cuh"
