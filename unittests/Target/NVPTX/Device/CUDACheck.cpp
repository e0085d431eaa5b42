//===- CUDACheck.cpp - Assembler and driver on a real GPU -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Assembles one kernel in every way, launches it in every way, checks all numbers and prints a table.
// Arguments: folders of site-packages that may hold NVIDIA's tools.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/NVPTX/Assembler.h"
#include "despina/Target/NVPTX/CUDADriver.h"

#include <chrono>
#include <cstdio>
#include <random>

using namespace despina::nvptx;

namespace {

/// y[i] = 3 * x[i] + rank of the block in its cluster + dynamic shared bytes; needs 1-D blocks.
const char *const kernelText = R"(.version 7.8
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry check(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .b64 %rd<7>;
  .reg .b32 %r<10>;
  .reg .pred %p;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra DONE;
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r6, [%rd4];
  mov.u32 %r7, %cluster_ctarank;
  mad.lo.u32 %r8, %r6, 3, %r7;
  mov.u32 %r9, %dynamic_smem_size;
  add.u32 %r8, %r8, %r9;
  st.global.u32 [%rd5], %r8;
DONE:
  ret;
}
)";

/// Writes to address 16.
const char *const badText = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry bad()
{
  .reg .b64 %rd<2>;
  mov.u64 %rd1, 16;
  st.global.u32 [%rd1], 1;
  ret;
}
)";

unsigned failures = 0;

void row(const char *what, bool good, const std::string &details) {
  std::printf("%-34s %-4s %s\n", what, good ? "ok" : "FAIL", details.c_str());
  failures += !good;
}

double milliseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count() * 1e3;
}

struct Case {
  const char *name;
  unsigned cluster;
  unsigned shared;
  bool cooperative, dependent;
};

/// One launch over random data; poisoned output.
bool runCase(CUDADriver &driver, const DeviceFunction &kernel, const Case &test, std::string &details) {
  constexpr unsigned n = 128 * 48 - 5;
  std::mt19937 random(test.shared + test.cluster);
  std::vector<unsigned> x(n), y(n);
  for (unsigned &value : x)
    value = random();
  CUDAError error;
  std::optional<DeviceBuffer> in = driver.allocate(0, n * 4, error), out = driver.allocate(0, n * 4, error);
  std::optional<StreamHandle> stream = driver.createStream(0, error);
  if (!in || !out || !stream || !driver.copyToDevice(*in, x.data(), n * 4, error) ||
      !driver.fill(*out, 0xa5, error) || !driver.synchronize(0, nullptr, error)) {
    details = error.message;
    return false;
  }
  DevicePointer inAddress = in->address(), outAddress = out->address();
  unsigned count = n;
  void *parameters[] = {&inAddress, &outAddress, &count};
  LaunchConfig config;
  config.grid[0] = 48;
  config.block[0] = 128;
  config.cluster[0] = test.cluster;
  config.sharedBytes = test.shared;
  config.cooperative = test.cooperative;
  config.programmaticDependent = test.dependent;
  config.stream = *stream;
  if (!driver.checkPointer(0, inAddress, error) || !driver.checkStream(0, *stream, error) ||
      !driver.launch(kernel, config, parameters, error) || !driver.synchronize(0, *stream, error) ||
      !driver.copyToHost(y.data(), *out, n * 4, error) || !driver.destroyStream(0, *stream, error)) {
    details = error.message;
    return false;
  }
  for (unsigned i = 0; i < n; ++i)
    if (unsigned expected = 3 * x[i] + i / 128 % test.cluster + test.shared; y[i] != expected) {
      details = "element " + std::to_string(i) + " is " + std::to_string(y[i]) + ", not " +
                std::to_string(expected);
      return false;
    }
  return true;
}

void runCases(CUDADriver &driver, const std::string &how, std::string_view image) {
  CUDAError error;
  auto begin = std::chrono::steady_clock::now();
  std::optional<DeviceModule> module = driver.load(0, image, error);
  row((how + ": load").c_str(), module.has_value(),
      module ? std::to_string(milliseconds(begin)) + " ms" : error.message);
  if (!module)
    return;
  for (const Case &test :
       {Case{"plain", 1, 0, false, false}, Case{"100 KB shared", 1, 100 * 1024, false, false},
        Case{"227 KB shared", 1, 227 * 1024, false, false}, Case{"cluster of 2", 2, 0, false, false},
        Case{"cluster of 8", 8, 64, false, false}, Case{"cluster of 16", 16, 0, false, false},
        Case{"cooperative", 1, 0, true, false}, Case{"dependent", 1, 0, false, true},
        Case{"all at once", 4, 50000, true, true}}) {
    std::string details;
    std::optional<DeviceFunction> kernel = module->function("check", test.shared, test.cluster, error);
    bool good = kernel && runCase(driver, *kernel, test, details);
    row((how + ": " + test.name).c_str(), good,
        kernel ? std::to_string(kernel->registers) + " registers " + details : error.message);
  }
  row((how + ": too much shared").c_str(), !module->function("check", 228 * 1024, 1, error), error.message);
  row((how + ": no such kernel").c_str(), !module->function("nothing", 0, 1, error), error.message);
}

/// What a launch costs on the host, without waiting for the GPU.
void timeLaunches(CUDADriver &driver, std::string_view image) {
  CUDAError error;
  std::optional<DeviceModule> module = driver.load(0, image, error);
  std::optional<DeviceFunction> kernel = module ? module->function("check", 0, 1, error) : std::nullopt;
  if (!kernel)
    return row("launch time", false, error.message);
  DevicePointer null = 0;
  unsigned none = 0;
  void *parameters[] = {&null, &null, &none};
  constexpr int rounds = 500;
  double best = 1e9;
  for (int repeat = 0; repeat < 5; ++repeat) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i)
      if (!driver.launch(*kernel, {}, parameters, error))
        return row("launch time", false, error.message);
    best = std::min(best, milliseconds(begin) / rounds);
    driver.synchronize(0, nullptr, error);
  }
  row("launch time", true, std::to_string(best * 1e3) + " us");
}

void badInput(CUDADriver &driver) {
  CUDAError error;
  int onHost = 0;
  row("pointer to the host", !driver.checkPointer(0, reinterpret_cast<DevicePointer>(&onHost), error),
      error.message);
  row("PTX that the driver refuses", !driver.load(0, ".version 7.8\n.target sm_90\nnonsense\n", error),
      error.message);
  row("cubin that is cut off",
      !driver.load(0,
                   std::string_view("\x7f"
                                    "ELF\2\1\1",
                                    7),
                   error),
      error.message);
  row("too much memory", !driver.allocate(0, size_t(1) << 50, error), error.message);
  // Last: the context is lost afterwards.
  std::optional<DeviceModule> module = driver.load(0, badText, error);
  std::optional<DeviceFunction> kernel = module ? module->function("bad", 0, 1, error) : std::nullopt;
  bool launched = kernel && driver.launch(*kernel, {}, nullptr, error);
  bool failed = launched && !driver.synchronize(0, nullptr, error);
  row("illegal address", failed && error.code == 700 && error.contextLost, error.message);
  row("a call after it", !driver.allocate(0, 4, error) && error.contextLost, error.message);
}

} // namespace

int main(int count, char **arguments) {
  CUDAError error;
  CUDADriver *driver = CUDADriver::get(error);
  if (!driver) {
    std::printf("%s\n", error.message.c_str());
    return 2;
  }
  std::optional<DeviceProperties> device = driver->properties(0, error);
  if (!device) {
    std::printf("%s\n", error.message.c_str());
    return 2;
  }
  std::printf("%s, sm_%d%d, %d multiprocessors, %d KHz, shared %d / %d / %d, CUDA %d\n", device->name.c_str(),
              device->major, device->minor, device->multiprocessors, device->clockKHz, device->sharedPerBlock,
              device->sharedPerBlockOptIn, device->sharedPerMultiprocessor, driver->version());
  ToolSearch tools(std::vector<std::string>(arguments + 1, arguments + count));
  std::string cubin;
  for (AssembleMethod method :
       {AssembleMethod::NvJitLink, AssembleMethod::NvJitLink, AssembleMethod::Ptxas}) {
    AssembleOptions options;
    options.arch = "sm_90a";
    options.method = method;
    AssembleError why;
    auto begin = std::chrono::steady_clock::now();
    std::optional<AssembledCode> code = assemble(kernelText, options, tools, why);
    std::string how = method == AssembleMethod::Ptxas ? "ptxas" : "nvJitLink";
    row((how + ": assemble").c_str(), code.has_value(),
        code ? std::to_string(milliseconds(begin)) + " ms, " + code->assembler : why.message);
    if (!code)
      continue;
    cubin = code->cubin;
    runCases(*driver, how, cubin);
  }
  runCases(*driver, "driver", kernelText);
  timeLaunches(*driver, cubin);
  badInput(*driver);
  std::printf("%u failures\n", failures);
  return failures ? 1 : 0;
}
