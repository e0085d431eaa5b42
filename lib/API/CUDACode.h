//===- CUDACode.h - A kernel's code for NVIDIA GPUs -------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_API_CUDACODE_H
#define DESPINA_API_CUDACODE_H

#include "KernelImpl.h"

#include "despina/Target/NVPTX/CUDADriver.h"
#include "despina/Target/NVPTX/LoweredKernel.h"

#include <array>
#include <atomic>
#include <mutex>

namespace despina {

/// `subject`, if any, says which kernel or argument the error is about.
Error errorFrom(const nvptx::CUDAError &error, const std::string &subject = {});

/// The tensor maps that the host makes for one recipe, the latest few kept.
class TensorMapCache {
public:
  /// An error, or none after writing the map.
  std::optional<Error> find(nvptx::CUDADriver &driver, int device, const nvptx::TensorMapRequest &request,
                            nvptx::TensorMap &map);

private:
  struct Entry {
    nvptx::TensorMapRequest request;
    nvptx::TensorMap map;
  };
  std::mutex mutex_;
  std::array<Entry, 4> entries_; ///< the rank of an empty one is 0
  size_t next_ = 0;
};

/// What is loaded, and how it is launched.
struct CUDAImage {
  std::string name; ///< of the kernel, for people
  nvptx::LoweredKernel kernel;
  /// A cubin, or PTX where there is no assembler but the driver's.
  std::string image;
  /// Why there is no cubin; empty if there is one.
  std::string noCubin;
  unsigned warpSize = 32;
  size_t numArguments = 0;
  bool cooperative = false, programmaticDependent = false;
};

class CUDACode : public KernelCode {
public:
  explicit CUDACode(CUDAImage image);
  ~CUDACode() override;

  Expected<bool> launch(const Grid &grid, const uint64_t *slots, const LaunchOptions &options) const override;
  std::optional<Error> check(const std::vector<RuntimeParameter> &parameters, const uint64_t *slots,
                             const LaunchOptions &options) const override;
  Expected<DeviceKernel> load(int device) const override;

private:
  static constexpr int maxDevices = 64;
  struct Loaded {
    nvptx::DeviceModule module;
    nvptx::DeviceFunction function;
  };

  /// The code on a device, loaded if need be. Null after setting `error`.
  const Loaded *find(int device, Error &error) const;
  const Loaded *loadNow(nvptx::CUDADriver &driver, int device, Error &error) const;
  std::optional<Error> makeTensorMaps(nvptx::CUDADriver &driver, int device, const uint64_t *slots,
                                      nvptx::TensorMap *maps) const;
  /// Queues the kernel, with `scratch` as its scratch memory.
  std::optional<Error> queue(nvptx::CUDADriver &driver, const Loaded &loaded,
                             const nvptx::LaunchConfig &config, const uint64_t *slots,
                             nvptx::DevicePointer scratch) const;
  std::optional<Error> queueWithScratch(nvptx::CUDADriver &driver, const Loaded &loaded,
                                        const nvptx::LaunchConfig &config, const uint64_t *slots) const;

  CUDAImage image_;
  std::unique_ptr<TensorMapCache[]> tensorMaps_;
  mutable std::array<std::atomic<const Loaded *>, maxDevices> loaded_ = {};
  mutable std::mutex loading_;
};

/// The driver, or none after setting `error`.
nvptx::CUDADriver *cudaDriver(Error &error);

} // namespace despina

#endif // DESPINA_API_CUDACODE_H
