//===- coexist.cpp - Despina beside another LLVM --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// coexist [LIBRARY]: loads LIBRARY with global symbols after libdespina, then compiles and runs a kernel. The
// other order is had by preloading the library. Frameworks bring their own LLVM: if symbols of the two got
// mixed, this program would abort at start or crash in the middle.
//
//===----------------------------------------------------------------------===//

#include <despina/despina.h>

#include <cstdio>
#include <dlfcn.h>

static const char source[] = R"(
import triton
import triton.language as tl

@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
)";

static bool otherLLVMIsLoaded() { return dlsym(RTLD_DEFAULT, "LLVMContextCreate") != nullptr; }

int main(int argc, char **argv) {
  if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  if (!otherLLVMIsLoaded()) {
    std::fprintf(stderr, "there is no other LLVM in this process: name one, or preload it\n");
    return 1;
  }
  auto kernel = despina::compileText(
      source, "add.py", "add", {{"x_ptr", "*fp32"}, {"y_ptr", "*fp32"}, {"out_ptr", "*fp32"}, {"n", "i32"}},
      {{"BLOCK", 128}});
  if (!kernel) {
    std::fprintf(stderr, "%s\n", kernel.error().rendered.c_str());
    return 1;
  }
  const int n = 777;
  std::vector<float> x(n), y(n), out(n, -1.0f);
  for (int i = 0; i < n; ++i) {
    x[i] = 0.5f * i;
    y[i] = 1000.0f - i;
  }
  auto done = kernel->launch({(n + 127) / 128}, {x.data(), y.data(), out.data(), n});
  if (!done) {
    std::fprintf(stderr, "%s\n", done.error().rendered.c_str());
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    if (out[i] != x[i] + y[i]) {
      std::fprintf(stderr, "element %d is %f instead of %f\n", i, out[i], x[i] + y[i]);
      return 1;
    }
  }
  std::puts("compiled and ran beside another LLVM");
  return 0;
}
