//===- main.cpp - A program that uses the installed package ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include <despina/c.h>
#include <despina/despina.h>
#include <despina/host.h>

#include <cstdio>
#include <numeric>

static const char source[] = R"(
import triton
import triton.language as tl

@triton.jit
def scale(x_ptr, out_ptr, n, factor: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)
)";

int main() {
  auto kernel = despina::compileText(source, "scale.py", "scale",
                                     {{"x_ptr", "*i32"}, {"out_ptr", "*i32"}, {"n", "i32"}},
                                     {{"factor", 3}, {"BLOCK", 64}});
  if (!kernel) {
    std::fprintf(stderr, "%s\n", kernel.error().rendered.c_str());
    return 1;
  }
  const int n = 1000;
  std::vector<int32_t> x(n), out(n + 1, -7);
  std::iota(x.begin(), x.end(), -500);
  auto done = kernel->launch({(n + 63) / 64}, {x.data(), out.data(), n});
  if (!done) {
    std::fprintf(stderr, "%s\n", done.error().rendered.c_str());
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    if (out[i] != 3 * x[i]) {
      std::fprintf(stderr, "element %d is %d instead of %d\n", i, out[i], 3 * x[i]);
      return 1;
    }
  }
  if (out[n] != -7) {
    std::fprintf(stderr, "wrote past the end\n");
    return 1;
  }
  std::printf("Despina %s from an installed package: %d elements right\n", despina::version(), n);
  return 0;
}
