// Questions to rule.cuh, for tests on the host: a line each, its kind and hexadecimal words; the answer is a line of words.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include "rule.cuh"

int main() {
  char kind[32];
  while (scanf("%31s", kind) == 1) {
    uint64_t words[6] = {};
    int count = 0;
    scanf("%d", &count);
    for (int i = 0; i < count; i++) {
      if (scanf("%" SCNx64, &words[i]) != 1) return 2;
    }
    const auto is = [&](const char* name) { return strcmp(kind, name) == 0; };
    if (is("philox")) {
      const Words4 out = philox4x32({uint32_t(words[0]), uint32_t(words[1]), uint32_t(words[2]), uint32_t(words[3])}, uint32_t(words[4]), uint32_t(words[5]));
      printf("%08x %08x %08x %08x\n", out.x, out.y, out.z, out.w);
    } else if (is("gamma")) {
      printf("%08x %08x\n", gamma26(uint32_t(words[0]), uint32_t(words[1])), gammaAtMost(uint32_t(words[0])));
    } else if (is("q32")) {
      printf("%08x\n", q32(uint32_t(words[0])));
    } else if (is("fix")) {
      printf("%016" PRIx64 "\n", uint64_t(fix(uint32_t(words[0]))));
    } else if (is("score")) {
      const uint64_t score = orderedScore(int64_t(words[0]), uint32_t(words[1]), uint32_t(words[2]));
      printf("%016" PRIx64 " %08x\n", score ^ SIGN_BIT, rankOf(score));
    } else if (is("scaled")) {
      printf("%016" PRIx64 "\n", uint64_t(scaledSum(uint32_t(words[0]), uint32_t(words[1]))));
    } else if (is("add")) {
      printf("%016" PRIx64 "\n", uint64_t(addClamped(int64_t(words[0]), int64_t(words[1]))));
    } else {
      return 2;
    }
  }
}
