//===- launch.cpp - What a launch costs from C++ --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Prints the microseconds that a launch of an empty compiled kernel with five arguments takes: the median of
// many batches.
//
//===----------------------------------------------------------------------===//
#include <despina/despina.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

int main() {
  const char *text = "import despina as triton\n"
                     "import despina.language as tl\n"
                     "\n"
                     "@triton.jit\n"
                     "def empty(a, b, c, n, m):\n"
                     "    pass\n";
  auto kernel =
      despina::compileText(text, "empty.py", "empty",
                           {{"a", "*fp32"}, {"b", "*fp32"}, {"c", "*fp32"}, {"n", "i32"}, {"m", "i32"}});
  if (!kernel) {
    std::fprintf(stderr, "%s\n", kernel.error().rendered.c_str());
    return 1;
  }
  std::vector<float> data(64);
  constexpr int batches = 201, launches = 2000;
  std::vector<double> times;
  for (int batch = 0; batch != batches; ++batch) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i != launches; ++i) {
      auto done = kernel->launch({1}, {data.data(), data.data(), data.data(), 7, i});
      if (!done) {
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
        return 1;
      }
    }
    std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begin;
    times.push_back(passed.count() / launches);
  }
  std::nth_element(times.begin(), times.begin() + batches / 2, times.end());
  std::printf("%.4f\n", times[batches / 2]);
  return 0;
}
