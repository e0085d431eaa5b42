//===- CUDADriverImpl.h - CUDA's functions, declared here -------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The few types and numbers of the driver's ABI that are needed, so that building needs no CUDA header.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_DRIVER_CUDADRIVERIMPL_H
#define DESPINA_LIB_TARGET_NVPTX_DRIVER_CUDADRIVERIMPL_H

#include "despina/Target/NVPTX/CUDADriver.h"

#include <mutex>
#include <utility>

#include <sys/types.h>

namespace despina::nvptx {
namespace abi {

enum Result : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  StubLibrary = 34,
  NoDevice = 100,
  InvalidImage = 200,
  NoBinaryForGPU = 209,
  EccUncorrectable = 214,
  UnsupportedPtxVersion = 222,
  Contained = 226,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  ContextIsDestroyed = 709,
  AssertFailed = 710,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  CooperativeLaunchTooLarge = 720,
  SystemNotReady = 802,
  SystemDriverMismatch = 803,
  CompatNotSupported = 804,
  ExternalDevice = 911,
  InvalidClusterSize = 912,
};

enum DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxGridX = 5,
  SharedPerBlock = 8,
  WarpSize = 10,
  RegistersPerBlock = 12,
  ClockRate = 13,
  MultiprocessorCount = 16,
  MemoryClockRate = 36,
  MemoryBusWidth = 37,
  L2CacheSize = 38,
  MaxThreadsPerMultiprocessor = 39,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  SharedPerMultiprocessor = 81,
  RegistersPerMultiprocessor = 82,
  CooperativeLaunch = 95,
  SharedPerBlockOptIn = 97,
  SharedReserved = 111,
  ClusterLaunch = 120,
  TensorMapAccess = 127,
};

enum FunctionAttribute : int {
  FunctionMaxThreads = 0,
  FunctionShared = 1,
  FunctionLocal = 3,
  FunctionRegisters = 4,
  FunctionMaxDynamicShared = 8,
  FunctionNonPortableCluster = 14,
};

enum PointerAttribute : int { PointerMemoryType = 2, PointerDevice = 3, PointerOrdinal = 9 };
enum MemoryType : unsigned { MemoryHost = 1, MemoryDevice = 2 };
enum JitOption : int { JitErrorLog = 5, JitErrorLogBytes = 6 };
constexpr int preferShared = 1;
constexpr unsigned streamNonBlocking = 1;
/// CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are these numbers, not addresses.
constexpr uintptr_t lastSpecialStream = 2;

enum LaunchAttributeId : int {
  LaunchCooperative = 2,
  LaunchClusterDimension = 4,
  LaunchClusterPolicy = 5,
  LaunchProgrammaticSerialization = 6,
};
constexpr int clusterPolicySpread = 1;

struct alignas(8) LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int flag;
    unsigned dimensions[3];
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72, "as CUlaunchAttribute");

struct LaunchConfiguration {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfiguration) == 56, "as CUlaunchConfig");

/// The driver's functions: member, exported name, parameters.
#define DESPINA_CUDA_FUNCTIONS(F)                                                                            \
  F(init, cuInit, (unsigned))                                                                                \
  F(driverVersion, cuDriverGetVersion, (int *))                                                              \
  F(errorName, cuGetErrorName, (int, const char **))                                                         \
  F(errorText, cuGetErrorString, (int, const char **))                                                       \
  F(deviceCount, cuDeviceGetCount, (int *))                                                                  \
  F(deviceGet, cuDeviceGet, (int *, int))                                                                    \
  F(deviceName, cuDeviceGetName, (char *, int, int))                                                         \
  F(deviceMemory, cuDeviceTotalMem_v2, (size_t *, int))                                                      \
  F(deviceAttribute, cuDeviceGetAttribute, (int *, int, int))                                                \
  F(primaryRetain, cuDevicePrimaryCtxRetain, (ContextHandle *, int))                                         \
  F(contextPush, cuCtxPushCurrent_v2, (ContextHandle))                                                       \
  F(contextPop, cuCtxPopCurrent_v2, (ContextHandle *))                                                       \
  F(contextCurrent, cuCtxGetCurrent, (ContextHandle *))                                                      \
  F(contextDevice, cuCtxGetDevice, (int *))                                                                  \
  F(contextSet, cuCtxSetCurrent, (ContextHandle))                                                            \
  F(contextSynchronize, cuCtxSynchronize, ())                                                                \
  F(moduleLoad, cuModuleLoadDataEx, (ModuleHandle *, const void *, unsigned, int *, void **))                \
  F(moduleUnload, cuModuleUnload, (ModuleHandle))                                                            \
  F(moduleFunction, cuModuleGetFunction, (FunctionHandle *, ModuleHandle, const char *))                     \
  F(functionGet, cuFuncGetAttribute, (int *, int, FunctionHandle))                                           \
  F(functionSet, cuFuncSetAttribute, (FunctionHandle, int, int))                                             \
  F(functionCache, cuFuncSetCacheConfig, (FunctionHandle, int))                                              \
  F(launch, cuLaunchKernelEx, (const abi::LaunchConfiguration *, FunctionHandle, void **, void **))          \
  F(pointerAttribute, cuPointerGetAttribute, (void *, int, DevicePointer))                                   \
  F(streamContext, cuStreamGetCtx, (StreamHandle, ContextHandle *))                                          \
  F(streamCreate, cuStreamCreate, (StreamHandle *, unsigned))                                                \
  F(streamDestroy, cuStreamDestroy_v2, (StreamHandle))                                                       \
  F(streamSynchronize, cuStreamSynchronize, (StreamHandle))                                                  \
  F(eventCreate, cuEventCreate, (EventHandle *, unsigned))                                                   \
  F(eventDestroy, cuEventDestroy_v2, (EventHandle))                                                          \
  F(eventRecord, cuEventRecord, (EventHandle, StreamHandle))                                                 \
  F(eventSynchronize, cuEventSynchronize, (EventHandle))                                                     \
  F(eventElapsed, cuEventElapsedTime, (float *, EventHandle, EventHandle))                                   \
  F(allocateAsync, cuMemAllocAsync, (DevicePointer *, size_t, StreamHandle))                                 \
  F(releaseAsync, cuMemFreeAsync, (DevicePointer, StreamHandle))                                             \
  F(allocate, cuMemAlloc_v2, (DevicePointer *, size_t))                                                      \
  F(release, cuMemFree_v2, (DevicePointer))                                                                  \
  F(copyIn, cuMemcpyHtoD_v2, (DevicePointer, const void *, size_t))                                          \
  F(copyOut, cuMemcpyDtoH_v2, (void *, DevicePointer, size_t))                                               \
  F(fillBytes, cuMemsetD8_v2, (DevicePointer, unsigned char, size_t))                                        \
  F(fillBytesAsync, cuMemsetD8Async, (DevicePointer, unsigned char, size_t, StreamHandle))

/// Those that older drivers lack; null there.
#define DESPINA_CUDA_OPTIONAL_FUNCTIONS(F)                                                                   \
  F(tensorMapEncode, cuTensorMapEncodeTiled,                                                                 \
    (TensorMap *, int, unsigned, DevicePointer, const uint64_t *, const uint64_t *, const uint32_t *,        \
     const uint32_t *, int, int, int, int))

struct Functions {
#define DESPINA_CUDA_MEMBER(member, name, parameters) int(*member) parameters = nullptr;
  DESPINA_CUDA_FUNCTIONS(DESPINA_CUDA_MEMBER)
  DESPINA_CUDA_OPTIONAL_FUNCTIONS(DESPINA_CUDA_MEMBER)
#undef DESPINA_CUDA_MEMBER
};

} // namespace abi

inline CUDAError badArgument(std::string message) {
  CUDAError error;
  error.kind = CUDAError::Kind::BadArgument;
  error.message = std::move(message);
  return error;
}

struct CUDADriver::State {
  std::string library;
  abi::Functions call;
  int version = 0;
  pid_t process = 0; ///< that initialised CUDA
  struct Device {
    std::once_flag contextOnce, propertiesOnce;
    ContextHandle context = nullptr;
    int contextCode = 0;
    DeviceProperties properties;
    int propertiesCode = 0;
  };
  /// Devices cannot move: once_flag.
  std::unique_ptr<Device[]> devices;
  int deviceCount = 0;
};

/// Makes a device's primary context current while it lives.
class CUDADriver::InContext {
public:
  InContext(CUDADriver &driver, int device, CUDAError &error);
  InContext(const InContext &) = delete;
  InContext &operator=(const InContext &) = delete;
  ~InContext();
  explicit operator bool() const { return entered_; }

private:
  CUDADriver &driver_;
  bool entered_ = false, pushed_ = false;
};

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_DRIVER_CUDADRIVERIMPL_H
