//===- device.h - GPUs, their memory and streams ----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// What a program needs to run kernels on a GPU when it uses no other library for that. Handles are those of
// the vendor's driver, so that both may be mixed. Nothing here throws; all functions may be called from
// several threads at once. On a machine without GPUs everything is an error that says so.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_DEVICE_H
#define DESPINA_DEVICE_H

#include "despina/despina.h"

namespace despina {

struct DeviceProperties {
  std::string name;
  std::string arch; ///< as in `Target`: "sm_90a"
  int major = 0, minor = 0;
  size_t totalMemory = 0;
  int multiprocessors = 0, warpSize = 0;
  int maxThreadsPerBlock = 0;
  int registersPerBlock = 0;
  int sharedPerBlock = 0; ///< the most that a kernel may ask for
  int l2Bytes = 0;
  int clockKHz = 0, memoryClockKHz = 0, memoryBusBits = 0;
};

/// Memory of a device; copies share it, and it is released with the last one.
class DESPINA_API DeviceMemory {
public:
  struct Impl;
  explicit DeviceMemory(std::shared_ptr<Impl> impl);
  ~DeviceMemory();
  /// An address of the device: for `Argument`, not for the host.
  const void *address() const;
  size_t bytes() const;
  /// Copies and fills wait for earlier work in the default stream, and for their own end.
  Result copyFrom(const void *host, size_t bytes) const;
  Result copyTo(void *host, size_t bytes) const;
  Result fill(unsigned char value) const;
  /// In the order of a stream; returns at once.
  Result fillAsync(unsigned char value, void *stream) const;

private:
  std::shared_ptr<Impl> impl_;
};

/// The devices of one target ("cuda").
class DESPINA_API DeviceRuntime {
public:
  virtual ~DeviceRuntime();
  /// The runtime of a target, started on the first call; it lives until the process ends.
  static Expected<DeviceRuntime *> get(const std::string &backend);

  virtual int count() const = 0;
  virtual Expected<DeviceProperties> properties(int device) = 0;
  /// Of the calling thread.
  virtual int current() const = 0;
  virtual Result setCurrent(int device) = 0;
  /// On which device's memory a pointer points; none for memory of the host.
  virtual std::optional<int> deviceOf(const void *pointer) = 0;
  /// Whether kernels on the device can follow the pointer, and why not.
  virtual Result checkPointer(int device, const void *pointer) = 0;
  virtual Expected<DeviceMemory> allocate(int device, size_t bytes) = 0;

  virtual Expected<void *> createStream(int device) = 0;
  virtual Result destroyStream(int device, void *stream) = 0;
  /// Whether a stream is one of the device's, and why not.
  virtual Result checkStream(int device, void *stream) = 0;
  /// Waits for a stream; errors of kernels that ran in it show here.
  virtual Result synchronize(int device, void *stream) = 0;
  /// Waits for everything on the device.
  virtual Result synchronizeDevice(int device) = 0;

  virtual Expected<void *> createEvent(int device) = 0;
  virtual Result destroyEvent(int device, void *event) = 0;
  virtual Result recordEvent(int device, void *event, void *stream) = 0;
  /// Milliseconds between two events, after waiting for the second.
  virtual Expected<double> elapsed(int device, void *begin, void *end) = 0;
};

} // namespace despina

#endif // DESPINA_DEVICE_H
