//===- add.cpp - Vector addition from C++ ---------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles add_kernel of examples/kernels/add.py for this machine, runs it, and checks the result.
//
//===----------------------------------------------------------------------===//

#include <despina/despina.h>

#include <cstdio>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

int main() {
  const int block = 1024;
  auto kernel = despina::compileFile(
      EXAMPLE_KERNELS "/add.py", "add_kernel",
      {{"x_ptr", "*fp32"}, {"y_ptr", "*fp32"}, {"out_ptr", "*fp32"}, {"n", "i32"}}, {{"BLOCK", block}});
  if (!kernel) {
    std::cerr << kernel.error().rendered;
    return 1;
  }

  const int n = 98432; // no multiple of the block
  std::mt19937 random(std::random_device{}());
  std::uniform_real_distribution<float> number(-1.0f, 1.0f);
  std::vector<float> x(n), y(n), out(n, std::numeric_limits<float>::quiet_NaN());
  for (int i = 0; i < n; ++i) {
    x[i] = number(random);
    y[i] = number(random);
  }

  auto done = kernel->launch({(n + block - 1) / block}, {x.data(), y.data(), out.data(), n});
  if (!done) {
    std::cerr << done.error().rendered;
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    if (out[i] != x[i] + y[i]) {
      std::fprintf(stderr, "element %d is %g instead of %g\n", i, out[i], x[i] + y[i]);
      return 1;
    }
  }
  std::printf("added %d numbers; all are right\n", n);
  return 0;
}
