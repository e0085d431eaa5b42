//===- CUDADriver.h - CUDA's driver, opened at run time ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Everything works, as errors, on a machine without a driver. All functions may be called from many threads
// at once. No function changes which context is current for its caller.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_CUDADRIVER_H
#define DESPINA_TARGET_NVPTX_CUDADRIVER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace despina::nvptx {

using DevicePointer = uint64_t;
using ContextHandle = void *;
using ModuleHandle = void *;
using FunctionHandle = void *;
/// Null is the default stream of the device that a call names.
using StreamHandle = void *;
using EventHandle = void *;

struct CUDAError {
  enum class Kind {
    NoDriver,       ///< none installed, too old, or no GPU
    OutOfResources, ///< `resource`, `required` and `limit` say of what
    BadArgument,    ///< found before CUDA was asked
    Driver,         ///< CUDA's own: `code`, `name`
  };
  Kind kind = Kind::Driver;
  int code = 0;        ///< CUresult
  std::string name;    ///< "CUDA_ERROR_ILLEGAL_ADDRESS"
  std::string text;    ///< CUDA's description: "an illegal memory access was encountered"
  std::string message; ///< the whole, for people: what was done, name, text, what to do
  std::string resource;
  size_t required = 0, limit = 0;
  /// Every later call in this process's context of the device fails too; only a new process helps.
  bool contextLost = false;
};

/// The error for a kernel that needs more of a resource than there is.
CUDAError outOfResources(const std::string &resource, size_t required, size_t limit);

struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  size_t totalMemory = 0;
  int multiprocessors = 0, warpSize = 0;
  int maxThreadsPerBlock = 0, maxThreadsPerMultiprocessor = 0;
  int registersPerBlock = 0, registersPerMultiprocessor = 0;
  int sharedPerBlock = 0, sharedPerBlockOptIn = 0, sharedPerMultiprocessor = 0, sharedReserved = 0;
  int l2Bytes = 0;
  int clockKHz = 0, memoryClockKHz = 0, memoryBusBits = 0;
  int maxGrid[3] = {0, 0, 0};
  bool cooperativeLaunch = false, clusterLaunch = false, tensorMaps = false;
};

/// A kernel of a loaded module.
struct DeviceFunction {
  FunctionHandle handle = nullptr;
  int device = 0;
  int registers = 0;        ///< per thread
  size_t localBytes = 0;    ///< per thread: stack and spills
  size_t staticShared = 0;  ///< per block
  int maxThreads = 0;       ///< per block, as the kernel was compiled
  size_t dynamicShared = 0; ///< the most that a launch may ask for
};

struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {32, 1, 1};
  unsigned cluster[3] = {1, 1, 1}; ///< in blocks; the grid must be a multiple
  unsigned sharedBytes = 0;        ///< dynamic
  bool cooperative = false;
  bool programmaticDependent = false; ///< may overlap with the kernel before it in the stream
  StreamHandle stream = nullptr;
};

class CUDADriver;

/// Code on one device; unloaded with this object.
class DeviceModule {
public:
  DeviceModule(DeviceModule &&other) noexcept;
  DeviceModule &operator=(DeviceModule &&other) noexcept;
  ~DeviceModule();

  int device() const { return device_; }
  ModuleHandle handle() const { return handle_; }
  /// Looks a kernel up and readies it for `dynamicShared` bytes and for clusters of `clusterBlocks` blocks.
  /// None after setting `error`.
  std::optional<DeviceFunction> function(const std::string &name, size_t dynamicShared,
                                         unsigned clusterBlocks, CUDAError &error) const;

private:
  friend class CUDADriver;
  DeviceModule(CUDADriver &driver, int device, ModuleHandle handle)
      : driver_(&driver), device_(device), handle_(handle) {}
  CUDADriver *driver_;
  int device_;
  ModuleHandle handle_;
};

/// A tensor map as CUDA makes it (CUtensorMap).
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

/// What cuTensorMapEncodeTiled is told; lists go from the innermost dimension outwards.
struct TensorMapRequest {
  static constexpr unsigned maxRank = 5;
  unsigned rank = 0, dataType = 0, elementBytes = 0;
  DevicePointer base = 0;
  uint64_t extents[maxRank] = {};
  uint64_t strides[maxRank] = {}; ///< in elements; the first is 1
  unsigned box[maxRank] = {};
  unsigned swizzleBytes = 0;
  bool nanFill = false;
};

/// Memory of one device, for tests and tools; freed with this object.
class DeviceBuffer {
public:
  DeviceBuffer(DeviceBuffer &&other) noexcept;
  DeviceBuffer &operator=(DeviceBuffer &&other) noexcept;
  ~DeviceBuffer();
  DevicePointer address() const { return address_; }
  size_t bytes() const { return bytes_; }

private:
  friend class CUDADriver;
  DeviceBuffer(CUDADriver &driver, int device, DevicePointer address, size_t bytes)
      : driver_(&driver), device_(device), address_(address), bytes_(bytes) {}
  CUDADriver *driver_;
  int device_;
  DevicePointer address_;
  size_t bytes_;
};

class CUDADriver {
public:
  /// The process's driver: the library in DESPINA_LIBCUDA_PATH or TRITON_LIBCUDA_PATH (file or folder), else
  /// libcuda.so.1. Opened on the first call and never closed. Null after setting `error`; asked again, the
  /// same answer.
  static CUDADriver *get(CUDAError &error);
  /// One more, from a given library; for tests. The library stays open.
  static std::unique_ptr<CUDADriver> open(const std::string &library, CUDAError &error);
  ~CUDADriver();

  int deviceCount() const;
  /// CUDA's version times 1000: 13000.
  int version() const;
  std::optional<DeviceProperties> properties(int device, CUDAError &error);
  /// The device of the caller's current context, or 0 if there is none.
  int currentDevice() const;
  /// Makes the device's primary context current for the calling thread.
  bool setCurrentDevice(int device, CUDAError &error);
  /// Retained on first use, until the process ends: frameworks share it.
  std::optional<ContextHandle> primaryContext(int device, CUDAError &error);

  /// A cubin, or PTX for the driver's own assembler. The driver's log is part of the error.
  std::optional<DeviceModule> load(int device, std::string_view image, CUDAError &error);
  /// `parameters` points to one address per kernel parameter. Returns at once; the kernel runs on.
  bool launch(const DeviceFunction &function, const LaunchConfig &config, void **parameters,
              CUDAError &error);

  /// Whether kernels on `device` can follow the pointer. Null can be passed.
  bool checkPointer(int device, DevicePointer address, CUDAError &error);
  /// The device on whose memory the pointer points; none for memory of the host.
  std::optional<int> deviceOf(DevicePointer address);
  /// Whether the stream is one of `device`.
  bool checkStream(int device, StreamHandle stream, CUDAError &error);
  std::optional<StreamHandle> createStream(int device, CUDAError &error);
  bool destroyStream(int device, StreamHandle stream, CUDAError &error);
  /// Waits; errors of kernels that ran show here.
  bool synchronize(int device, StreamHandle stream, CUDAError &error);
  /// Waits for everything on the device.
  bool synchronizeDevice(int device, CUDAError &error);

  /// Events that measure time.
  std::optional<EventHandle> createEvent(int device, CUDAError &error);
  bool destroyEvent(int device, EventHandle event, CUDAError &error);
  bool recordEvent(int device, EventHandle event, StreamHandle stream, CUDAError &error);
  /// Milliseconds between two recorded events, after waiting for the second.
  std::optional<float> elapsedTime(int device, EventHandle begin, EventHandle end, CUDAError &error);

  /// Memory in the order of a stream: it is there for what follows in the stream, up to its release.
  std::optional<DevicePointer> allocateAsync(int device, size_t bytes, StreamHandle stream, CUDAError &error);
  bool releaseAsync(int device, DevicePointer address, StreamHandle stream, CUDAError &error);

  /// For memory of `device`. False after setting `error`, which names the rule of CUDA that the request
  /// breaks.
  bool encodeTensorMap(int device, const TensorMapRequest &request, TensorMap &map, CUDAError &error);

  std::optional<DeviceBuffer> allocate(int device, size_t bytes, CUDAError &error);
  /// Copies and fills wait until all earlier work in the default stream is done.
  bool copyToDevice(const DeviceBuffer &to, const void *from, size_t bytes, CUDAError &error);
  bool copyToHost(void *to, const DeviceBuffer &from, size_t bytes, CUDAError &error);
  bool fill(const DeviceBuffer &buffer, unsigned char value, CUDAError &error);
  /// Fills in the order of a stream.
  bool fillAsync(const DeviceBuffer &buffer, unsigned char value, StreamHandle stream, CUDAError &error);

private:
  friend class DeviceModule;
  friend class DeviceBuffer;
  struct State;
  class InContext;
  explicit CUDADriver(std::unique_ptr<State> state);
  /// Fills the opened state; false after setting `error`.
  static bool start(State &state, CUDAError &error);
  CUDAError describe(int code, const std::string &doing) const;
  bool checkDevice(int device, CUDAError &error) const;
  /// As `properties`, without a copy.
  const DeviceProperties *knownProperties(int device, CUDAError &error);
  /// Makes a call of CUDA in the device's context; `doing` tells of its failure.
  template <typename Call>
  bool inContext(int device, const std::string &doing, CUDAError &error, const Call &make);
  std::unique_ptr<State> state_;
};

} // namespace despina::nvptx

#endif // DESPINA_TARGET_NVPTX_CUDADRIVER_H
