//===- matmul.cpp - Matrix multiplication from C++ ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles matmul_kernel of examples/kernels/matmul.py for this machine, multiplies two matrices of odd sizes
// with a bias and an activation, and checks the result against double precision.
//
//===----------------------------------------------------------------------===//

#include <despina/despina.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

namespace {

using Matrix = std::vector<float>;

Matrix randomMatrix(size_t size, std::mt19937 &random) {
  std::uniform_real_distribution<float> number(-1.0f, 1.0f);
  Matrix matrix(size);
  for (float &element : matrix)
    element = number(random);
  return matrix;
}

/// The largest difference between `c` and leaky_relu(a b + bias) computed in double precision.
double largestError(const Matrix &a, const Matrix &b, const Matrix &bias, const Matrix &c, int m, int n,
                    int k) {
  double largest = 0;
  std::vector<double> row(n);
  for (int i = 0; i < m; ++i) {
    row.assign(bias.begin(), bias.end());
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j)
        row[j] += double(a[size_t(i) * k + l]) * b[size_t(l) * n + j];
    for (int j = 0; j < n; ++j) {
      double want = row[j] >= 0 ? row[j] : 0.01 * row[j];
      double error = std::abs(want - c[size_t(i) * n + j]);
      // Written so that a NaN counts as infinitely wrong.
      if (!(error <= largest))
        largest = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
  }
  return largest;
}

} // namespace

int main() {
  const int m = 515, n = 389, k = 771, block = 64;
  auto kernel = despina::compileFile(EXAMPLE_KERNELS "/matmul.py", "matmul_kernel",
                                     {{"a_ptr", "*fp32"},
                                      {"b_ptr", "*fp32"},
                                      {"bias_ptr", "*fp32"},
                                      {"c_ptr", "*fp32"},
                                      {"M", "i32"},
                                      {"N", "i32"},
                                      {"K", "i32"},
                                      {"stride_am", "i32"},
                                      {"stride_ak", "i32:1"},
                                      {"stride_bk", "i32"},
                                      {"stride_bn", "i32:1"},
                                      {"stride_cm", "i32"},
                                      {"stride_cn", "i32:1"}},
                                     {{"BLOCK_M", block},
                                      {"BLOCK_N", block},
                                      {"BLOCK_K", 64},
                                      {"GROUP_M", 8},
                                      {"ACTIVATION", "leaky_relu"}});
  if (!kernel) {
    std::cerr << kernel.error().rendered;
    return 1;
  }

  std::mt19937 random(std::random_device{}());
  Matrix a = randomMatrix(size_t(m) * k, random), b = randomMatrix(size_t(k) * n, random),
         bias = randomMatrix(n, random);
  Matrix c(size_t(m) * n, std::numeric_limits<float>::quiet_NaN());

  // The strides that are always 1 are constants of the kernel, not arguments.
  const int64_t programs = int64_t((m + block - 1) / block) * ((n + block - 1) / block);
  auto start = std::chrono::steady_clock::now();
  auto done = kernel->launch({programs}, {a.data(), b.data(), bias.data(), c.data(), m, n, k, k, n, n});
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!done) {
    std::cerr << done.error().rendered;
    return 1;
  }
  double error = largestError(a, b, bias, c, m, n, k);
  // Each of the k products and sums rounds once, to a relative error of at most 2^-24.
  double bound = k * std::ldexp(1.0, -24) * std::sqrt(double(k));
  if (!(error <= bound)) {
    std::fprintf(stderr, "the largest error is %g, more than %g\n", error, bound);
    return 1;
  }
  std::printf("multiplied %dx%d by %dx%d in %.2f ms; largest error %.2g\n", m, k, k, n, seconds * 1e3, error);
  return 0;
}
