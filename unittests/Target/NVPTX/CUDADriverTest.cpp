//===- CUDADriverTest.cpp - The driver against a stand-in -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/NVPTX/CUDADriver.h"

#include "TestSupport.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>
#include <thread>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace despina::nvptx;
using testing::HasSubstr;
using testing::Not;
using Kind = CUDAError::Kind;

namespace {

/// The stand-in's own functions.
class StubControl {
public:
  StubControl() : library_(dlopen(STUB_CUDA, RTLD_NOW)) {}
  void reset() { call<void()>("stubReset")(); }
  void fail(const char *function, int code) { call<void(const char *, int)>("stubFail")(function, code); }
  void devices(int count) { call<void(int)>("stubDevices")(count); }
  void version(int version) { call<void(int)>("stubVersion")(version); }
  std::string calls() { return call<const char *()>("stubCalls")(); }
  int contextDepth() { return call<int()>("stubContextDepth")(); }

  template <typename F> F *call(const char *name) { return reinterpret_cast<F *>(dlsym(library_, name)); }

private:
  void *library_;
};

class Driver : public testing::Test {
protected:
  Driver() {
    stub.reset();
    driver = CUDADriver::open(STUB_CUDA, error);
  }
  void SetUp() override { ASSERT_TRUE(driver) << error.message; }
  /// No call may leave another context current.
  void TearDown() override { EXPECT_EQ(stub.contextDepth(), 0); }

  DeviceFunction function(size_t shared = 0, unsigned cluster = 1) {
    module = driver->load(0,
                          "\x7f"
                          "ELF image",
                          error);
    std::optional<DeviceFunction> found;
    if (module)
      found = module->function("kernel", shared, cluster, error);
    EXPECT_TRUE(found) << error.message;
    return found.value_or(DeviceFunction());
  }

  StubControl stub;
  CUDAError error;
  std::unique_ptr<CUDADriver> driver;
  std::optional<DeviceModule> module;
};

TEST(NoDriver, IsAnErrorThatSaysWhatToDo) {
  CUDAError error;
  EXPECT_FALSE(CUDADriver::open("/no/such/libcuda.so.1", error));
  EXPECT_EQ(error.kind, Kind::NoDriver);
  EXPECT_THAT(error.message, HasSubstr("no CUDA driver: cannot open /no/such/libcuda.so.1"));
  EXPECT_THAT(error.message, HasSubstr("Install the NVIDIA driver"));
  EXPECT_FALSE(CUDADriver::open(STUB_OLD_CUDA, error));
  EXPECT_EQ(error.kind, Kind::NoDriver);
  EXPECT_THAT(error.message, HasSubstr("too old"));
  EXPECT_THAT(error.message, HasSubstr("cuLaunchKernelEx"));
  EXPECT_THAT(error.message, HasSubstr("CUDA 11.8"));
}

TEST(NoDriver, ADriverThatCannotStart) {
  StubControl stub;
  CUDAError error;
  stub.reset();
  stub.fail("cuInit", 100);
  EXPECT_FALSE(CUDADriver::open(STUB_CUDA, error));
  EXPECT_EQ(error.kind, Kind::NoDriver);
  EXPECT_EQ(error.name, "CUDA_ERROR_NO_DEVICE");
  EXPECT_THAT(error.message, HasSubstr("CUDA_VISIBLE_DEVICES"));
  stub.reset();
  stub.devices(0);
  EXPECT_FALSE(CUDADriver::open(STUB_CUDA, error));
  EXPECT_EQ(error.code, 100);
  stub.reset();
  stub.version(11040);
  EXPECT_FALSE(CUDADriver::open(STUB_CUDA, error));
  EXPECT_THAT(error.message, HasSubstr("it is for CUDA 11.4"));
  stub.reset();
}

TEST(TheDriver, IsOpenedOnceFromTheVariable) {
  StubControl stub;
  stub.reset();
  test::Variables variables;
  variables.clearAll();
  variables.set("TRITON_LIBCUDA_PATH", std::filesystem::path(STUB_CUDA).parent_path().string());
  CUDAError error;
  std::vector<CUDADriver *> seen(4);
  std::vector<std::thread> threads;
  for (CUDADriver *&slot : seen)
    threads.emplace_back([&slot] {
      CUDAError mine;
      slot = CUDADriver::get(mine);
    });
  for (std::thread &thread : threads)
    thread.join();
  ASSERT_TRUE(seen[0]);
  EXPECT_THAT(seen, testing::Each(seen[0]));
  EXPECT_EQ(stub.calls(), "cuInit\ncuDeviceGetCount\ncuDriverGetVersion\n");
}

TEST_F(Driver, DescribesDevices) {
  EXPECT_EQ(driver->deviceCount(), 2);
  EXPECT_EQ(driver->version(), 13000);
  std::optional<DeviceProperties> device = driver->properties(0, error);
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name, "Stub Zero");
  EXPECT_EQ(device->major, 9);
  EXPECT_EQ(device->multiprocessors, 132);
  EXPECT_EQ(device->sharedPerBlock, 49152);
  EXPECT_EQ(device->sharedPerBlockOptIn, 232448);
  EXPECT_EQ(device->clockKHz, 1980000);
  EXPECT_EQ(device->maxGrid[2], 65535);
  EXPECT_TRUE(device->clusterLaunch);
  device = driver->properties(1, error);
  ASSERT_TRUE(device);
  EXPECT_FALSE(device->clusterLaunch) << "an attribute that the driver does not know counts as absent";
  for (int bad : {-1, 2, 99}) {
    EXPECT_FALSE(driver->properties(bad, error));
    EXPECT_EQ(error.kind, Kind::BadArgument);
    EXPECT_THAT(error.message, HasSubstr("devices are 0 to 1"));
    EXPECT_FALSE(driver->load(bad, "x", error));
    EXPECT_FALSE(driver->allocate(bad, 4, error));
  }
}

TEST_F(Driver, LaunchesWithItsAttributes) {
  DeviceFunction kernel = function();
  EXPECT_EQ(kernel.registers, 42);
  EXPECT_EQ(kernel.localBytes, 16u);
  EXPECT_EQ(kernel.staticShared, 1000u);
  int first = 77;
  void *parameters[] = {&first};
  LaunchConfig config;
  config.grid[0] = 6;
  config.grid[1] = 2;
  config.block[0] = 128;
  config.sharedBytes = 256;
  config.stream = reinterpret_cast<void *>(uintptr_t(0x2000));
  stub.reset();
  ASSERT_TRUE(driver->launch(kernel, config, parameters, error)) << error.message;
  EXPECT_THAT(stub.calls(),
              HasSubstr("cuLaunchKernelEx grid 6,2,1 block 128,1,1 shared 256 stream 8192 context 0 "
                        "first 77\n"));
  config.cluster[0] = 3;
  config.cooperative = config.programmaticDependent = true;
  stub.reset();
  ASSERT_TRUE(driver->launch(kernel, config, parameters, error)) << error.message;
  EXPECT_THAT(stub.calls(), HasSubstr("first 77 [6:1,0,0] [2:1,0,0] [4:3,1,1] [5:1,0,0]\n"));
}

TEST_F(Driver, KeepsTheCallersContext) {
  DeviceFunction kernel = function();
  stub.call<int(void *)>("cuCtxPushCurrent_v2")(reinterpret_cast<void *>(uintptr_t(0x1001)));
  EXPECT_EQ(driver->currentDevice(), 1);
  stub.reset();
  ASSERT_TRUE(driver->launch(kernel, {}, nullptr, error));
  EXPECT_THAT(stub.calls(), HasSubstr("context 0"));
  EXPECT_EQ(driver->currentDevice(), 1);
  void *ignored = nullptr;
  stub.call<int(void **)>("cuCtxPopCurrent_v2")(&ignored);
  stub.call<int(void *)>("cuCtxPushCurrent_v2")(reinterpret_cast<void *>(uintptr_t(0x1000)));
  stub.reset();
  ASSERT_TRUE(driver->launch(kernel, {}, nullptr, error));
  EXPECT_THAT(stub.calls(), Not(HasSubstr("cuCtxPushCurrent"))) << "it is current already";
  stub.call<int(void **)>("cuCtxPopCurrent_v2")(&ignored);
}

TEST_F(Driver, AsksForMuchSharedMemory) {
  stub.reset();
  EXPECT_EQ(function(40000).dynamicShared, 40000u);
  EXPECT_THAT(stub.calls(), Not(HasSubstr("cuFuncSetAttribute")));
  function(100000, 16);
  EXPECT_THAT(stub.calls(), HasSubstr("cuFuncSetCacheConfig 1\ncuFuncSetAttribute 8=100000\n"
                                      "cuFuncSetAttribute 14=1\n"));
  EXPECT_FALSE(module->function("kernel", 232448, 1, error));
  EXPECT_EQ(error.kind, Kind::OutOfResources);
  EXPECT_EQ(error.required, 233448u);
  EXPECT_EQ(error.limit, 232448u);
  EXPECT_EQ(error.message,
            "out of resource: shared memory, Required: 233448, Hardware limit: 232448. Reducing "
            "block sizes or `num_stages` may help.");
}

TEST_F(Driver, ExplainsLaunchesThatCannotBe) {
  DeviceFunction kernel = function();
  auto refused = [&](auto change) {
    LaunchConfig config;
    change(config);
    error = CUDAError();
    EXPECT_FALSE(driver->launch(kernel, config, nullptr, error));
    return error.message;
  };
  stub.reset();
  EXPECT_THAT(refused([](auto &c) { c.block[0] = 513; }),
              HasSubstr("out of resource: threads, Required: 513, "
                        "Hardware limit: 512"));
  EXPECT_EQ(error.kind, Kind::OutOfResources);
  EXPECT_THAT(refused([](auto &c) { c.block[0] = c.block[1] = c.block[2] = 1u << 31; }),
              HasSubstr("out of resource: threads"));
  EXPECT_THAT(refused([](auto &c) { c.sharedBytes = 50000; }), HasSubstr("readied for 0"));
  EXPECT_THAT(refused([](auto &c) { c.grid[1] = 0; }), HasSubstr("at least one block"));
  EXPECT_THAT(refused([](auto &c) { c.grid[1] = 65536; }),
              HasSubstr("dimension 1 of the grid (1, 65536, 1)"));
  EXPECT_THAT(refused([](auto &c) { c.cluster[0] = 2; }), HasSubstr("no multiple of the cluster (2, 1, 1)"));
  EXPECT_THAT(stub.calls(), Not(HasSubstr("cuLaunchKernelEx"))) << "found before CUDA was asked";
  kernel.device = 1;
  EXPECT_THAT(refused([](auto &c) { c.grid[0] = c.cluster[0] = 2; }),
              HasSubstr("need compute capability 9.0"));
}

TEST_F(Driver, ReportsCUDAsErrors) {
  DeviceFunction kernel = function();
  stub.fail("cuStreamSynchronize", 700);
  EXPECT_FALSE(driver->synchronize(0, nullptr, error));
  EXPECT_EQ(error.kind, Kind::Driver);
  EXPECT_EQ(error.code, 700);
  EXPECT_EQ(error.name, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(error.text, "an illegal memory access was encountered");
  EXPECT_TRUE(error.contextLost);
  EXPECT_THAT(error.message, HasSubstr("compute-sanitizer"));
  stub.fail("cuLaunchKernelEx", 12345);
  EXPECT_FALSE(driver->launch(kernel, {}, nullptr, error));
  EXPECT_THAT(error.message, HasSubstr("CUDA error 12345"));
  EXPECT_FALSE(error.contextLost);
  stub.reset();
  EXPECT_TRUE(driver->launch(kernel, {}, nullptr, error)) << "an error does not stick on our side";
}

TEST_F(Driver, ShowsTheDriversLog) {
  stub.fail("cuModuleLoadDataEx", 222);
  EXPECT_FALSE(driver->load(0, ".version 99", error));
  EXPECT_THAT(error.message,
              HasSubstr("the driver does not accept the PTX: CUDA_ERROR_UNSUPPORTED_PTX_VERSION"));
  EXPECT_THAT(error.message, HasSubstr("for CUDA 13.0:\nptxas line 3: no such thing"));
  stub.reset();
  std::string unterminated = "PTX text and more";
  ASSERT_TRUE(driver->load(0, std::string_view(unterminated).substr(0, 8), error));
  EXPECT_THAT(stub.calls(), HasSubstr("cuModuleLoadDataEx PTX text\n"));
}

TEST_F(Driver, UnloadsModulesOnce) {
  stub.reset();
  {
    std::optional<DeviceModule> first = driver->load(1, "x", error), second = driver->load(0, "x", error);
    ASSERT_TRUE(first && second);
    *first = std::move(*second);
    DeviceModule third = std::move(*first);
    EXPECT_EQ(third.device(), 0);
  }
  std::string calls = stub.calls();
  size_t count = 0;
  for (size_t at = calls.find("cuModuleUnload"); at != std::string::npos;
       at = calls.find("cuModuleUnload", at + 1))
    ++count;
  EXPECT_EQ(count, 2u);
}

TEST_F(Driver, ChecksPointers) {
  std::optional<DeviceBuffer> buffer = driver->allocate(0, 64, error);
  ASSERT_TRUE(buffer);
  EXPECT_TRUE(driver->checkPointer(0, 0, error));
  EXPECT_TRUE(driver->checkPointer(0, buffer->address(), error));
  EXPECT_FALSE(driver->checkPointer(1, buffer->address(), error));
  EXPECT_THAT(error.message, HasSubstr("lies on CUDA device 0, but the kernel runs on device 1"));
  int onHost = 0;
  EXPECT_FALSE(driver->checkPointer(0, reinterpret_cast<DevicePointer>(&onHost), error));
  EXPECT_EQ(error.message, "Pointer argument cannot be accessed from Triton (cpu tensor?)");
}

TEST_F(Driver, ChecksStreams) {
  std::optional<StreamHandle> stream = driver->createStream(1, error);
  ASSERT_TRUE(stream);
  EXPECT_TRUE(driver->checkStream(1, *stream, error));
  EXPECT_FALSE(driver->checkStream(0, *stream, error));
  EXPECT_THAT(error.message,
              HasSubstr("the stream belongs to CUDA device 1, but the kernel runs on device 0"));
  for (uintptr_t special : {0, 1, 2})
    EXPECT_TRUE(driver->checkStream(0, reinterpret_cast<StreamHandle>(special), error));
  EXPECT_TRUE(driver->destroyStream(1, *stream, error));
}

TEST_F(Driver, CopiesMemory) {
  std::mt19937 random(7);
  std::vector<unsigned> data(1000), back(1000);
  for (unsigned &value : data)
    value = random();
  std::optional<DeviceBuffer> buffer = driver->allocate(0, 4000, error);
  ASSERT_TRUE(buffer);
  ASSERT_TRUE(driver->copyToDevice(*buffer, data.data(), 4000, error));
  ASSERT_TRUE(driver->copyToHost(back.data(), *buffer, 4000, error));
  EXPECT_EQ(back, data);
  ASSERT_TRUE(driver->fill(*buffer, 0x5a, error));
  ASSERT_TRUE(driver->copyToHost(back.data(), *buffer, 4000, error));
  EXPECT_THAT(back, testing::Each(0x5a5a5a5au));
  EXPECT_FALSE(driver->copyToDevice(*buffer, data.data(), 4001, error));
  EXPECT_FALSE(driver->copyToHost(back.data(), *buffer, 4001, error));
  stub.fail("cuMemAlloc_v2", 2);
  EXPECT_FALSE(driver->allocate(0, 1, error));
  EXPECT_THAT(error.message, HasSubstr("nvidia-smi"));
}

TEST_F(Driver, RetainsOneContextForAllThreads) {
  stub.reset();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([this] {
      CUDAError mine;
      EXPECT_TRUE(driver->primaryContext(0, mine));
      EXPECT_TRUE(driver->properties(0, mine));
    });
  for (std::thread &thread : threads)
    thread.join();
  std::string calls = stub.calls();
  EXPECT_EQ(calls.find("cuDevicePrimaryCtxRetain"), calls.rfind("cuDevicePrimaryCtxRetain"));
}

TEST_F(Driver, ExplainsAFork) {
  pid_t child = fork();
  if (child == 0) {
    stub.fail("cuMemAlloc_v2", 3);
    CUDAError mine;
    bool refused = !driver->allocate(0, 4, mine);
    _exit(refused && mine.message.find("spawn instead of fork") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

} // namespace
