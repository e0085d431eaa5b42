//===- Device.cpp - GPUs, their memory and streams ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/device.h"

#include "CUDACode.h"
#include "Errors.h"

#include "despina/Target/NVPTX/Assembler.h"

namespace despina {

struct DeviceMemory::Impl {
  nvptx::CUDADriver &driver;
  nvptx::DeviceBuffer buffer;
};

namespace {

/// The answer of a call of the driver, which sets `error` when it fails.
Result resultOf(bool done, const nvptx::CUDAError &error) {
  if (!done)
    return errorFrom(error);
  return Unit{};
}

template <typename To, typename From>
Expected<To> valueOf(std::optional<From> value, const nvptx::CUDAError &error) {
  if (!value)
    return errorFrom(error);
  return To(*value);
}

nvptx::DevicePointer addressOf(const void *pointer) {
  return static_cast<nvptx::DevicePointer>(reinterpret_cast<uintptr_t>(pointer));
}

class CUDARuntime : public DeviceRuntime {
public:
  explicit CUDARuntime(nvptx::CUDADriver &driver) : driver_(driver) {}

  int count() const override { return driver_.deviceCount(); }
  int current() const override { return driver_.currentDevice(); }
  Result setCurrent(int device) override {
    nvptx::CUDAError error;
    return resultOf(driver_.setCurrentDevice(device, error), error);
  }

  Expected<DeviceProperties> properties(int device) override {
    nvptx::CUDAError error;
    std::optional<nvptx::DeviceProperties> found = driver_.properties(device, error);
    if (!found)
      return errorFrom(error);
    DeviceProperties result;
    result.name = found->name;
    result.arch = nvptx::Architecture::ofDevice(found->major, found->minor).name();
    result.major = found->major;
    result.minor = found->minor;
    result.totalMemory = found->totalMemory;
    result.multiprocessors = found->multiprocessors;
    result.warpSize = found->warpSize;
    result.maxThreadsPerBlock = found->maxThreadsPerBlock;
    result.registersPerBlock = found->registersPerBlock;
    result.sharedPerBlock = found->sharedPerBlockOptIn;
    result.l2Bytes = found->l2Bytes;
    result.clockKHz = found->clockKHz;
    result.memoryClockKHz = found->memoryClockKHz;
    result.memoryBusBits = found->memoryBusBits;
    return result;
  }

  std::optional<int> deviceOf(const void *pointer) override { return driver_.deviceOf(addressOf(pointer)); }
  Result checkPointer(int device, const void *pointer) override {
    nvptx::CUDAError error;
    return resultOf(driver_.checkPointer(device, addressOf(pointer), error), error);
  }
  Expected<DeviceMemory> allocate(int device, size_t bytes) override {
    nvptx::CUDAError error;
    std::optional<nvptx::DeviceBuffer> buffer = driver_.allocate(device, bytes, error);
    if (!buffer)
      return errorFrom(error);
    return DeviceMemory(
        std::make_shared<DeviceMemory::Impl>(DeviceMemory::Impl{driver_, std::move(*buffer)}));
  }

  Expected<void *> createStream(int device) override {
    nvptx::CUDAError error;
    auto stream = driver_.createStream(device, error);
    return valueOf<void *>(stream, error);
  }
  Result destroyStream(int device, void *stream) override {
    nvptx::CUDAError error;
    return resultOf(driver_.destroyStream(device, stream, error), error);
  }
  Result checkStream(int device, void *stream) override {
    nvptx::CUDAError error;
    return resultOf(driver_.checkStream(device, stream, error), error);
  }
  Result synchronize(int device, void *stream) override {
    nvptx::CUDAError error;
    return resultOf(driver_.synchronize(device, stream, error), error);
  }
  Result synchronizeDevice(int device) override {
    nvptx::CUDAError error;
    return resultOf(driver_.synchronizeDevice(device, error), error);
  }

  Expected<void *> createEvent(int device) override {
    nvptx::CUDAError error;
    auto event = driver_.createEvent(device, error);
    return valueOf<void *>(event, error);
  }
  Result destroyEvent(int device, void *event) override {
    nvptx::CUDAError error;
    return resultOf(driver_.destroyEvent(device, event, error), error);
  }
  Result recordEvent(int device, void *event, void *stream) override {
    nvptx::CUDAError error;
    return resultOf(driver_.recordEvent(device, event, stream, error), error);
  }
  Expected<double> elapsed(int device, void *begin, void *end) override {
    nvptx::CUDAError error;
    auto milliseconds = driver_.elapsedTime(device, begin, end, error);
    return valueOf<double>(milliseconds, error);
  }

private:
  nvptx::CUDADriver &driver_;
};

} // namespace

DeviceMemory::DeviceMemory(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeviceMemory::~DeviceMemory() = default;

const void *DeviceMemory::address() const {
  return reinterpret_cast<const void *>(static_cast<uintptr_t>(impl_->buffer.address()));
}
size_t DeviceMemory::bytes() const { return impl_->buffer.bytes(); }

Result DeviceMemory::copyFrom(const void *host, size_t bytes) const {
  nvptx::CUDAError error;
  return resultOf(impl_->driver.copyToDevice(impl_->buffer, host, bytes, error), error);
}
Result DeviceMemory::copyTo(void *host, size_t bytes) const {
  nvptx::CUDAError error;
  return resultOf(impl_->driver.copyToHost(host, impl_->buffer, bytes, error), error);
}
Result DeviceMemory::fill(unsigned char value) const {
  nvptx::CUDAError error;
  return resultOf(impl_->driver.fill(impl_->buffer, value, error), error);
}
Result DeviceMemory::fillAsync(unsigned char value, void *stream) const {
  nvptx::CUDAError error;
  return resultOf(impl_->driver.fillAsync(impl_->buffer, value, stream, error), error);
}

DeviceRuntime::~DeviceRuntime() = default;

Expected<DeviceRuntime *> DeviceRuntime::get(const std::string &backend) {
  if (backend != "cuda")
    return plainError("ValueError", "there are no devices of the target '" + backend + "'; try 'cuda'");
  Error error;
  nvptx::CUDADriver *driver = cudaDriver(error);
  if (!driver)
    return error;
  static auto *runtime = new CUDARuntime(*driver);
  return static_cast<DeviceRuntime *>(runtime);
}

} // namespace despina
