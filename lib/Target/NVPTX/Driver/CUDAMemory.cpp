//===- CUDAMemory.cpp - Streams, events, memory, tensor maps --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "CUDADriverImpl.h"

#include <algorithm>
#include <utility>

namespace despina::nvptx {

template <typename Call>
bool CUDADriver::inContext(int device, const std::string &doing, CUDAError &error, const Call &make) {
  InContext context(*this, device, error);
  if (!context)
    return false;
  int code = make(state_->call);
  if (code != abi::Success)
    error = describe(code, doing);
  return code == abi::Success;
}

std::optional<StreamHandle> CUDADriver::createStream(int device, CUDAError &error) {
  StreamHandle stream = nullptr;
  if (!inContext(device, "cannot make a stream", error, [&](const abi::Functions &call) {
        return call.streamCreate(&stream, abi::streamNonBlocking);
      }))
    return std::nullopt;
  return stream;
}

bool CUDADriver::destroyStream(int device, StreamHandle stream, CUDAError &error) {
  return inContext(device, "cannot destroy a stream", error,
                   [&](const abi::Functions &call) { return call.streamDestroy(stream); });
}

bool CUDADriver::synchronize(int device, StreamHandle stream, CUDAError &error) {
  return inContext(device, "a kernel or copy in the stream failed", error,
                   [&](const abi::Functions &call) { return call.streamSynchronize(stream); });
}

bool CUDADriver::synchronizeDevice(int device, CUDAError &error) {
  return inContext(device, "a kernel or copy on the device failed", error,
                   [&](const abi::Functions &call) { return call.contextSynchronize(); });
}

std::optional<EventHandle> CUDADriver::createEvent(int device, CUDAError &error) {
  EventHandle event = nullptr;
  if (!inContext(device, "cannot make an event", error,
                 [&](const abi::Functions &call) { return call.eventCreate(&event, 0); }))
    return std::nullopt;
  return event;
}

bool CUDADriver::destroyEvent(int device, EventHandle event, CUDAError &error) {
  return inContext(device, "cannot destroy an event", error,
                   [&](const abi::Functions &call) { return call.eventDestroy(event); });
}

bool CUDADriver::recordEvent(int device, EventHandle event, StreamHandle stream, CUDAError &error) {
  return inContext(device, "cannot record an event", error,
                   [&](const abi::Functions &call) { return call.eventRecord(event, stream); });
}

std::optional<float> CUDADriver::elapsedTime(int device, EventHandle begin, EventHandle end,
                                             CUDAError &error) {
  float milliseconds = 0;
  bool done =
      inContext(device, "cannot measure time between two events", error, [&](const abi::Functions &call) {
        int code = call.eventSynchronize(end);
        return code ? code : call.eventElapsed(&milliseconds, begin, end);
      });
  return done ? std::optional<float>(milliseconds) : std::nullopt;
}

std::optional<DevicePointer> CUDADriver::allocateAsync(int device, size_t bytes, StreamHandle stream,
                                                       CUDAError &error) {
  DevicePointer address = 0;
  if (!inContext(device, "cannot allocate " + std::to_string(bytes) + " bytes in a stream", error,
                 [&](const abi::Functions &call) { return call.allocateAsync(&address, bytes, stream); }))
    return std::nullopt;
  return address;
}

bool CUDADriver::releaseAsync(int device, DevicePointer address, StreamHandle stream, CUDAError &error) {
  return inContext(device, "cannot release memory in a stream", error,
                   [&](const abi::Functions &call) { return call.releaseAsync(address, stream); });
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept
    : driver_(other.driver_), device_(other.device_), address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer &DeviceBuffer::operator=(DeviceBuffer &&other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(device_, other.device_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  CUDAError ignored;
  if (!address_)
    return;
  if (CUDADriver::InContext context(*driver_, device_, ignored); context)
    driver_->state_->call.release(address_);
}

std::optional<DeviceBuffer> CUDADriver::allocate(int device, size_t bytes, CUDAError &error) {
  DevicePointer address = 0;
  std::string doing =
      "cannot allocate " + std::to_string(bytes) + " bytes on CUDA device " + std::to_string(device);
  if (!inContext(device, doing, error,
                 [&](const abi::Functions &call) { return call.allocate(&address, bytes); }))
    return std::nullopt;
  return DeviceBuffer(*this, device, address, bytes);
}

bool CUDADriver::copyToDevice(const DeviceBuffer &to, const void *from, size_t bytes, CUDAError &error) {
  if (bytes > to.bytes()) {
    error = badArgument("a copy of " + std::to_string(bytes) + " bytes into a buffer of " +
                        std::to_string(to.bytes()));
    return false;
  }
  return inContext(to.device_, "cannot copy to the GPU", error,
                   [&](const abi::Functions &call) { return call.copyIn(to.address(), from, bytes); });
}

bool CUDADriver::copyToHost(void *to, const DeviceBuffer &from, size_t bytes, CUDAError &error) {
  if (bytes > from.bytes()) {
    error = badArgument("a copy of " + std::to_string(bytes) + " bytes out of a buffer of " +
                        std::to_string(from.bytes()));
    return false;
  }
  return inContext(from.device_, "cannot copy from the GPU", error,
                   [&](const abi::Functions &call) { return call.copyOut(to, from.address(), bytes); });
}

bool CUDADriver::fill(const DeviceBuffer &buffer, unsigned char value, CUDAError &error) {
  return inContext(buffer.device_, "cannot fill memory of the GPU", error, [&](const abi::Functions &call) {
    return call.fillBytes(buffer.address(), value, buffer.bytes());
  });
}

bool CUDADriver::fillAsync(const DeviceBuffer &buffer, unsigned char value, StreamHandle stream,
                           CUDAError &error) {
  return inContext(buffer.device_, "cannot fill memory of the GPU", error, [&](const abi::Functions &call) {
    return call.fillBytesAsync(buffer.address(), value, buffer.bytes(), stream);
  });
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// The rule that a request breaks, or nothing. CUDA itself would answer "invalid argument" to all of them.
static std::string brokenRule(const TensorMapRequest &request) {
  constexpr uint64_t alignment = 16, mostExtent = uint64_t(1) << 32, mostStride = uint64_t(1) << 40;
  auto number = [](uint64_t value) { return std::to_string(value); };
  if (request.base % alignment != 0)
    return "the address must be a multiple of 16";
  for (unsigned i = 0; i < request.rank; ++i) {
    if (request.extents[i] == 0 || request.extents[i] > mostExtent)
      return "extents must be from 1 to 2^32, but one is " + number(request.extents[i]);
    uint64_t bytes = 0;
    bool overflow = __builtin_mul_overflow(request.strides[i], request.elementBytes, &bytes);
    if (i == 0 && request.strides[i] != 1)
      return "the last dimension must be contiguous, but its stride is " + number(request.strides[i]);
    if (i > 0 && (overflow || bytes % alignment != 0 || bytes >= mostStride))
      return "strides must be multiples of 16 bytes below 2^40, but one is " + number(request.strides[i]) +
             " elements of " + number(request.elementBytes) + " bytes";
  }
  return "";
}

/// CUtensorMapSwizzle of a number of bytes.
static int swizzleMode(unsigned bytes) { return bytes == 128 ? 3 : bytes == 64 ? 2 : bytes == 32 ? 1 : 0; }

bool CUDADriver::encodeTensorMap(int device, const TensorMapRequest &request, TensorMap &map,
                                 CUDAError &error) {
  if (!state_->call.tensorMapEncode) {
    error = badArgument("the driver is too old for tensor maps: CUDA 12.0 (driver 525) or newer is needed");
    return false;
  }
  if (std::string rule = brokenRule(request); !rule.empty()) {
    error = badArgument("no tensor map can describe the tensor: " + rule);
    return false;
  }
  uint64_t strides[TensorMapRequest::maxRank] = {};
  uint32_t box[TensorMapRequest::maxRank], steps[TensorMapRequest::maxRank];
  for (unsigned i = 0; i < request.rank; ++i) {
    box[i] = request.box[i];
    steps[i] = 1;
    if (i > 0)
      strides[i - 1] = request.strides[i] * request.elementBytes;
  }
  // Threads that have never called CUDA have no context, and the call wants one.
  InContext context(*this, device, error);
  if (!context)
    return false;
  constexpr int noInterleave = 0, promoteTo128Bytes = 2;
  int code = state_->call.tensorMapEncode(
      &map, static_cast<int>(request.dataType), request.rank, request.base, request.extents, strides, box,
      steps, noInterleave, swizzleMode(request.swizzleBytes), promoteTo128Bytes, request.nanFill ? 1 : 0);
  if (code != abi::Success)
    error = describe(code, "cannot make a tensor map");
  return code == abi::Success;
}

} // namespace despina::nvptx
