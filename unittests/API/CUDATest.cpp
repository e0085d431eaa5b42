//===- CUDATest.cpp - Kernels for NVIDIA GPUs from C++ --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The driver is a stand-in that records its calls; nothing runs.
//
//===----------------------------------------------------------------------===//

#include "despina/device.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <thread>

#include <dlfcn.h>

using namespace despina;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

// The stand-in runs no code, so there is none.
const std::string copySource = R"(
import triton
import triton.language as tl

@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK > 0)
)";

#define ASSERT_GOOD(result) ASSERT_TRUE(result) << (result).error().rendered

class CUDA : public testing::Test {
protected:
  static void SetUpTestSuite() { setenv("DESPINA_LIBCUDA_PATH", STUB_CUDA, 1); }
  CUDA() : library_(dlopen(STUB_CUDA, RTLD_NOW)) { call<void()>("stubReset")(); }

  template <typename F> F *call(const char *name) { return reinterpret_cast<F *>(dlsym(library_, name)); }
  void fail(const char *function, int code) { call<void(const char *, int)>("stubFail")(function, code); }
  void expectParameters(std::vector<size_t> sizes) {
    call<void(const size_t *, size_t)>("stubParameters")(sizes.data(), sizes.size());
  }
  std::string calls() { return call<const char *()>("stubCalls")(); }
  size_t count(const std::string &name) {
    size_t found = 0;
    std::string all = calls();
    for (size_t at = all.find(name); at != std::string::npos; at = all.find(name, at + 1))
      ++found;
    return found;
  }

  static Expected<Kernel> compile(const std::string &arch = "", const CompileOptions &options = {}) {
    Target target;
    target.backend = "cuda";
    target.arch = arch;
    return compileText(copySource, "copy.py", "copy", {{"x_ptr", "*fp32"}, {"y_ptr", "*fp32"}, {"n", "i32"}},
                       {{"BLOCK", 128}}, target, options);
  }

private:
  void *library_;
};

std::string hexadecimal(uint64_t value, size_t bytes) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i, value >>= 8) {
    text += "0123456789abcdef"[(value >> 4) & 15];
    text += "0123456789abcdef"[value & 15];
  }
  return text;
}

TEST_F(CUDA, CompilesForNamedArchitectures) {
  for (const auto &[arch, name] : std::map<std::string, std::string>{
           {"80", "sm_80"}, {"90", "sm_90a"}, {"sm_90", "sm_90"}, {"sm_75", "sm_75"}, {"", "sm_90a"}}) {
    Expected<Kernel> kernel = compile(arch);
    ASSERT_GOOD(kernel);
    EXPECT_EQ(kernel->target().arch, name);
    EXPECT_EQ(kernel->target().warpSize, 32);
    Expected<std::string> ptx = kernel->text("ptx"), cubin = kernel->text("cubin");
    ASSERT_GOOD(ptx);
    ASSERT_GOOD(cubin);
    EXPECT_THAT(*ptx, HasSubstr(".target " + name));
    EXPECT_THAT(*cubin, StartsWith("\x7f"
                                   "ELF"));
    EXPECT_GT(kernel->resources().registers, 0);
    EXPECT_EQ(kernel->resources().spills, 0);
    EXPECT_EQ(kernel->resources().numWarps, 4);
  }
}

TEST_F(CUDA, MakesTheTextOfEachStage) {
  Expected<Kernel> kernel = compile("sm_80");
  ASSERT_GOOD(kernel);
  for (const auto &[stage, part] : std::map<std::string, std::string>{
           {"tt", "tt.func"}, {"ttg", "tt.func"}, {"llvm", "define"}, {"ptx", ".visible .entry copy"}}) {
    Expected<std::string> text = kernel->text(stage);
    ASSERT_GOOD(text);
    EXPECT_THAT(*text, HasSubstr(part)) << stage;
  }
  Expected<std::string> unknown = kernel->text("obj");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "there is no stage 'obj'; stages are tt, ttg, llvm, ptx, cubin and sass");
}

TEST_F(CUDA, LaunchesWithRawPointersAndAStream) {
  Expected<DeviceRuntime *> runtime = DeviceRuntime::get("cuda");
  ASSERT_GOOD(runtime);
  Expected<DeviceMemory> x = (*runtime)->allocate(1, 4000), y = (*runtime)->allocate(1, 4000);
  ASSERT_GOOD(x);
  ASSERT_GOOD(y);
  Expected<void *> stream = (*runtime)->createStream(1);
  ASSERT_GOOD(stream);
  Expected<Kernel> kernel = compile();
  ASSERT_GOOD(kernel);
  LaunchOptions options;
  options.device = 1;
  options.stream = *stream;
  expectParameters({8, 8, 4, 8});
  Result done = kernel->launch({8}, {x->address(), y->address(), 1000}, options);
  ASSERT_GOOD(done);
  auto address = [](const Expected<DeviceMemory> &memory) {
    return hexadecimal(reinterpret_cast<uintptr_t>(memory->address()), 8);
  };
  EXPECT_THAT(calls(), HasSubstr("cuLaunchKernelEx grid 8,1,1 block 128,1,1 shared 0 stream " +
                                 std::to_string(reinterpret_cast<uintptr_t>(*stream)) + " context 1 p0=" +
                                 address(x) + " p1=" + address(y) + " p2=e8030000 p3=0000000000000000"));
  Result gone = (*runtime)->destroyStream(1, *stream);
  ASSERT_GOOD(gone);
}

TEST_F(CUDA, TakesScratchMemoryInTheOrderOfTheStream) {
  const std::string source = R"(
import triton
import triton.language as tl

@triton.jit
def rows(x_ptr, first, n, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr + first, [n], [1], [BLOCK])
    for i in range(0, n, BLOCK):
        x.store([i], x.load([i]) + 1)
)";
  Target target;
  target.backend = "cuda";
  Expected<Kernel> kernel =
      compileText(source, "rows.py", "rows", {{"x_ptr", "*fp32"}, {"first", "i32"}, {"n", "i32"}},
                  {{"BLOCK", 64}}, target);
  ASSERT_GOOD(kernel);
  EXPECT_EQ(kernel->resources().globalScratchBytes, 128u);
  EXPECT_EQ(kernel->resources().globalScratchAlignment, 128u);
  Expected<DeviceRuntime *> runtime = DeviceRuntime::get("cuda");
  ASSERT_GOOD(runtime);
  Expected<DeviceMemory> x = (*runtime)->allocate(0, 4000);
  ASSERT_GOOD(x);
  expectParameters({8, 4, 4, 8});
  ASSERT_GOOD(kernel->launch({2, 3}, {x->address(), 4, 100}));
  std::string record = calls();
  size_t taken = record.find("cuMemAllocAsync 768 stream 0"),
         launched = record.find("cuLaunchKernelEx grid 2,3,1"), given = record.find("p3=0070000000000000"),
         released = record.find("cuMemFreeAsync 28672 stream 0");
  ASSERT_NE(released, std::string::npos) << record;
  EXPECT_TRUE(taken < launched && launched < given && given < released) << record;
  // The caller's own.
  LaunchOptions options;
  options.globalScratch = 0x9000;
  ASSERT_GOOD(kernel->launch({2, 3}, {x->address(), 4, 100}, options));
  EXPECT_THAT(calls(), HasSubstr("p3=0090000000000000"));
  EXPECT_EQ(count("cuMemAllocAsync"), 1u);
  // None to be had.
  fail("cuMemAllocAsync", 2);
  Result failed = kernel->launch({2, 3}, {x->address(), 4, 100});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("scratch memory of kernel rows"));
  EXPECT_EQ(count("cuLaunchKernelEx"), 2u);
}

TEST_F(CUDA, ChecksWhatALaunchIsGiven) {
  Expected<DeviceRuntime *> runtime = DeviceRuntime::get("cuda");
  ASSERT_GOOD(runtime);
  Expected<DeviceMemory> x = (*runtime)->allocate(0, 64), far = (*runtime)->allocate(1, 64);
  ASSERT_GOOD(x);
  ASSERT_GOOD(far);
  Expected<Kernel> kernel = compile();
  ASSERT_GOOD(kernel);
  float host[4] = {};
  Result done = kernel->launch({1}, {x->address(), host, 4});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, "ValueError");
  EXPECT_EQ(done.error().message, "Pointer argument cannot be accessed from Triton (cpu tensor?) (argument "
                                  "'y_ptr' of kernel copy)");
  done = kernel->launch({1}, {far->address(), x->address(), 4});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("the pointer lies on CUDA device 1"));
  Expected<void *> stream = (*runtime)->createStream(1);
  ASSERT_GOOD(stream);
  LaunchOptions options;
  options.device = 0;
  options.stream = *stream;
  done = kernel->launch({1}, {x->address(), x->address(), 4}, options);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("the stream belongs to CUDA device 1"));
  options.device = 2;
  done = kernel->launch({1}, {nullptr, nullptr, 4}, options);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("there is no CUDA device 2"));
  EXPECT_EQ(count("cuLaunchKernelEx"), 0u);
}

TEST_F(CUDA, NamesWhatThereIsNotEnoughOf) {
  CompileOptions options;
  options.numWarps = 32;
  Expected<Kernel> kernel = compile("", options);
  ASSERT_GOOD(kernel);
  // The stand-in gives a kernel 512 threads.
  Result done = kernel->launch({1}, {nullptr, nullptr, 4});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, "OutOfResources");
  EXPECT_EQ(done.error().resource, "threads");
  EXPECT_EQ(done.error().required, 1024u);
  EXPECT_EQ(done.error().limit, 512u);
}

TEST_F(CUDA, LoadsOnceFromManyThreads) {
  Expected<Kernel> kernel = compile();
  ASSERT_GOOD(kernel);
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { good += static_cast<bool>(kernel->launch({1}, {nullptr, nullptr, 4})); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 4);
  EXPECT_EQ(count("cuModuleLoadDataEx"), 1u);
  Expected<DeviceKernel> loaded = kernel->load(0);
  ASSERT_GOOD(loaded);
  EXPECT_EQ(loaded->maxThreads, 512);
  EXPECT_EQ(loaded->registers, 42);
  EXPECT_EQ(loaded->spills, 4);
}

TEST_F(CUDA, SaysWhatTheDriverSays) {
  Expected<Kernel> kernel = compile();
  ASSERT_GOOD(kernel);
  fail("cuLaunchKernelEx", 700);
  Result done = kernel->launch({1}, {nullptr, nullptr, 4});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, "RuntimeError");
  EXPECT_THAT(done.error().message,
              StartsWith("Triton Error [CUDA]: an illegal memory access was encountered\n"));
  fail("cuLaunchKernelEx", 0);
  done = kernel->launch({1}, {nullptr, nullptr, 4});
  ASSERT_GOOD(done);
}

TEST_F(CUDA, RefusesOptionsThatMakeNoSense) {
  CompileOptions options;
  options.numCtas = 2;
  Expected<Kernel> kernel = compile("sm_80", options);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message,
            "num_ctas > 1 needs clusters, which sm_90 brought: set num_ctas=1 for sm_80");
  options = {};
  options.maxRegisters = -1;
  kernel = compile("sm_80", options);
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("maxnreg must be between 1 and 255"));
  kernel = compile("sm_9000000000000");
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().kind, "ValueError");
  options = {};
  options.keep = {"asm"};
  kernel = compile("sm_80", options);
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error().message, HasSubstr("there is no stage 'asm'"));
}

TEST_F(CUDA, CopiesAndFillsMemory) {
  Expected<DeviceRuntime *> runtime = DeviceRuntime::get("cuda");
  ASSERT_GOOD(runtime);
  EXPECT_EQ((*runtime)->count(), 2);
  Expected<DeviceProperties> properties = (*runtime)->properties(0);
  ASSERT_GOOD(properties);
  EXPECT_EQ(properties->arch, "sm_90a");
  EXPECT_FALSE((*runtime)->properties(2));
  Expected<DeviceMemory> memory = (*runtime)->allocate(0, 8);
  ASSERT_GOOD(memory);
  EXPECT_EQ((*runtime)->deviceOf(memory->address()), 0);
  int from[2] = {3, 4}, to[2] = {};
  EXPECT_EQ((*runtime)->deviceOf(from), std::nullopt);
  EXPECT_TRUE(memory->copyFrom(from, 8));
  EXPECT_TRUE(memory->copyTo(to, 8));
  EXPECT_EQ(to[1], 4);
  EXPECT_FALSE(memory->copyTo(to, 9));
  EXPECT_TRUE(memory->fill(1));
  EXPECT_TRUE(memory->copyTo(to, 8));
  EXPECT_EQ(to[0], 0x01010101);
  EXPECT_FALSE(DeviceRuntime::get("abacus"));
}

} // namespace
