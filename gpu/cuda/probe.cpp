// Questions to rule.cuh and hidden.cuh, for tests on the host: a line each, its kind and hexadecimal words; the answer is a line of words.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>
#include "hidden.cuh"

/// The report of a row, as the kernel makes it, and its rounded values.
void answerRow(const uint64_t* words, int count) {
  const uint32_t given = uint32_t(words[0]), operand = uint32_t(words[1]), exponentLimit = uint32_t(words[2]);
  const uint64_t* values = words + 3;
  std::vector<uint32_t> rounded;
  Findings findings = NO_FINDINGS;
  // Odd columns first: the device finds them in no order of its own.
  for (int i = 0; i < count - 3; i++) rounded.push_back(roundOperand(operand, widened(given, uint32_t(values[i]))));
  for (int start : {1, 0}) {
    for (size_t column = start; column < rounded.size(); column += 2) findings = combineFindings(findings, findingsOf(uint32_t(column), rounded[column]));
  }
  const Report report = reportOf(findings, exponentLimit);
  const uint32_t value = report.problem == NO_PROBLEM ? 0 : widened(given, uint32_t(values[report.column]));
  printf("%08x %08x %08x", report.problem, report.column, value);
  for (uint32_t bits : rounded) printf(" %08x", bits);
  printf("\n");
}

int main() {
  char kind[32];
  while (scanf("%31s", kind) == 1) {
    int count = 0;
    scanf("%d", &count);
    std::vector<uint64_t> words(count);
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
    } else if (is("row")) {
      answerRow(words.data(), count);
    } else {
      return 2;
    }
  }
}
