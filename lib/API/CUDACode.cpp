//===- CUDACode.cpp - Loading and launching on NVIDIA GPUs ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "CUDACode.h"

#include "Errors.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstring>

namespace despina {

namespace {

constexpr int64_t mostBlocks = 0x7fffffff;

bool sameRequest(const nvptx::TensorMapRequest &a, const nvptx::TensorMapRequest &b) {
  return a.rank == b.rank && a.base == b.base && std::memcmp(a.extents, b.extents, sizeof a.extents) == 0 &&
         std::memcmp(a.strides, b.strides, sizeof a.strides) == 0;
}

uint64_t valueOf(const nvptx::LaunchValue &value, const uint64_t *slots) {
  return value.argument ? slots[*value.argument] : static_cast<uint64_t>(value.constant);
}

/// A tensor with an extent below 1 has no elements. No map says that, and kernels see to it that nothing of
/// such a tensor is accessed; what the map describes is of no account, but CUDA must take it.
bool isEmpty(const nvptx::TensorMapRecipe &recipe, const uint64_t *slots) {
  return std::any_of(recipe.extents.begin(), recipe.extents.end(), [&](const nvptx::LaunchValue &extent) {
    return static_cast<int32_t>(valueOf(extent, slots)) < 1;
  });
}

nvptx::TensorMapRequest requestOf(const nvptx::TensorMapRecipe &recipe, const uint64_t *slots) {
  constexpr uint64_t alignment = 16, anyAddress = 1 << 21;
  nvptx::TensorMapRequest request;
  request.rank = static_cast<unsigned>(std::min<size_t>(recipe.box.size(), nvptx::TensorMapRequest::maxRank));
  request.dataType = recipe.dataType;
  request.elementBytes = recipe.elementBytes;
  request.base = valueOf(recipe.base, slots);
  bool empty = isEmpty(recipe, slots);
  if (empty && (request.base == 0 || request.base % alignment != 0))
    request.base = anyAddress;
  for (unsigned i = 0; i < request.rank; ++i) {
    request.extents[i] = empty ? 1 : valueOf(recipe.extents[i], slots);
    request.strides[i] = !empty ? valueOf(recipe.strides[i], slots) : i == 0 ? 1 : alignment;
    request.box[i] = recipe.box[i];
  }
  request.swizzleBytes = recipe.swizzleBytes;
  request.nanFill = recipe.nanFill;
  return request;
}

} // namespace

Error errorFrom(const nvptx::CUDAError &error, const std::string &subject) {
  using Kind = nvptx::CUDAError::Kind;
  std::string about = subject.empty() ? "" : " (" + subject + ")";
  switch (error.kind) {
  case Kind::NoDriver: return plainError("RuntimeError", error.message);
  case Kind::BadArgument: return plainError("ValueError", error.message + about);
  case Kind::OutOfResources: {
    Error result = plainError("OutOfResources", error.message);
    result.resource = error.resource;
    result.required = error.required;
    result.limit = error.limit;
    return result;
  }
  case Kind::Driver: break;
  }
  return plainError("RuntimeError", "Triton Error [CUDA]: " + error.text + "\n" + error.message + about);
}

nvptx::CUDADriver *cudaDriver(Error &error) {
  nvptx::CUDAError failure;
  nvptx::CUDADriver *driver = nvptx::CUDADriver::get(failure);
  if (!driver)
    error = errorFrom(failure);
  return driver;
}

std::optional<Error> TensorMapCache::find(nvptx::CUDADriver &driver, int device,
                                          const nvptx::TensorMapRequest &request, nvptx::TensorMap &map) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Entry &entry : entries_)
    if (sameRequest(entry.request, request)) {
      map = entry.map;
      return std::nullopt;
    }
  nvptx::CUDAError failure;
  if (!driver.encodeTensorMap(device, request, map, failure))
    return errorFrom(failure);
  entries_[next_] = {request, map};
  next_ = (next_ + 1) % entries_.size();
  return std::nullopt;
}

CUDACode::CUDACode(CUDAImage image)
    : image_(std::move(image)),
      tensorMaps_(std::make_unique<TensorMapCache[]>(image_.kernel.tensorMaps.size())) {}

CUDACode::~CUDACode() {
  for (std::atomic<const Loaded *> &entry : loaded_)
    delete entry.load();
}

const CUDACode::Loaded *CUDACode::find(int device, Error &error) const {
  if (device >= 0 && device < maxDevices)
    if (const Loaded *loaded = loaded_[static_cast<size_t>(device)].load(std::memory_order_acquire))
      return loaded;
  nvptx::CUDADriver *driver = cudaDriver(error);
  if (!driver)
    return nullptr;
  if (device < 0 || device >= maxDevices || device >= driver->deviceCount()) {
    error = plainError("ValueError", "there is no CUDA device " + std::to_string(device) + ": there are " +
                                         std::to_string(driver->deviceCount()));
    return nullptr;
  }
  std::lock_guard<std::mutex> lock(loading_);
  if (const Loaded *loaded = loaded_[static_cast<size_t>(device)].load(std::memory_order_acquire))
    return loaded;
  return loadNow(*driver, device, error);
}

const CUDACode::Loaded *CUDACode::loadNow(nvptx::CUDADriver &driver, int device, Error &error) const {
  nvptx::CUDAError failure;
  auto failed = [&]() -> const Loaded * {
    error = errorFrom(failure, "kernel " + image_.name);
    if (!image_.noCubin.empty() && failure.kind == nvptx::CUDAError::Kind::Driver)
      error = plainError(error.kind,
                         error.message + "\nThe driver got PTX, for want of an assembler: " + image_.noCubin);
    return nullptr;
  };
  std::optional<nvptx::DeviceModule> module = driver.load(device, image_.image, failure);
  if (!module)
    return failed();
  std::optional<nvptx::DeviceFunction> function =
      module->function(image_.kernel.entry, image_.kernel.sharedBytes, image_.kernel.numCTAs, failure);
  if (!function)
    return failed();
  const auto *loaded = new Loaded{std::move(*module), *function};
  loaded_[static_cast<size_t>(device)].store(loaded, std::memory_order_release);
  return loaded;
}

Expected<DeviceKernel> CUDACode::load(int device) const {
  Error error;
  nvptx::CUDADriver *driver = cudaDriver(error);
  if (!driver)
    return error;
  const Loaded *loaded = find(device < 0 ? driver->currentDevice() : device, error);
  if (!loaded)
    return error;
  DeviceKernel kernel;
  kernel.device = loaded->function.device;
  kernel.module = loaded->module.handle();
  kernel.function = loaded->function.handle;
  kernel.registers = loaded->function.registers;
  kernel.spills = static_cast<int>(loaded->function.localBytes / sizeof(uint32_t));
  kernel.maxThreads = loaded->function.maxThreads;
  return kernel;
}

std::optional<Error> CUDACode::check(const std::vector<RuntimeParameter> &parameters, const uint64_t *slots,
                                     const LaunchOptions &options) const {
  Error error;
  nvptx::CUDADriver *driver = cudaDriver(error);
  if (!driver)
    return error;
  int device = options.device < 0 ? driver->currentDevice() : options.device;
  nvptx::CUDAError failure;
  if (!driver->checkStream(device, options.stream, failure))
    return errorFrom(failure);
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].form == RuntimeParameter::Form::Pointer &&
        !driver->checkPointer(device, slots[i], failure))
      return errorFrom(failure, "argument '" + parameters[i].name + "' of kernel " + image_.name);
  return std::nullopt;
}

std::optional<Error> CUDACode::makeTensorMaps(nvptx::CUDADriver &driver, int device, const uint64_t *slots,
                                              nvptx::TensorMap *maps) const {
  const std::vector<nvptx::TensorMapRecipe> &recipes = image_.kernel.tensorMaps;
  for (size_t i = 0; i < recipes.size(); ++i)
    if (std::optional<Error> error =
            tensorMaps_[i].find(driver, device, requestOf(recipes[i], slots), maps[i]))
      return error;
  return std::nullopt;
}

std::optional<Error> CUDACode::queue(nvptx::CUDADriver &driver, const Loaded &loaded,
                                     const nvptx::LaunchConfig &config, const uint64_t *slots,
                                     nvptx::DevicePointer scratch) const {
  llvm::SmallVector<nvptx::TensorMap, 2> maps(image_.kernel.tensorMaps.size());
  if (std::optional<Error> error = makeTensorMaps(driver, loaded.function.device, slots, maps.data()))
    return error;
  // The order of LoweredKernel.h. A slot's low bytes are the value of a narrower parameter.
  llvm::SmallVector<void *, 40> parameters;
  for (size_t i = 0; i < image_.numArguments; ++i)
    parameters.push_back(const_cast<uint64_t *>(&slots[i]));
  for (nvptx::TensorMap &map : maps)
    parameters.push_back(&map);
  parameters.push_back(&scratch);
  nvptx::CUDAError failure;
  if (!driver.launch(loaded.function, config, parameters.data(), failure))
    return errorFrom(failure, "kernel " + image_.name);
  return std::nullopt;
}

std::optional<Error> CUDACode::queueWithScratch(nvptx::CUDADriver &driver, const Loaded &loaded,
                                                const nvptx::LaunchConfig &config,
                                                const uint64_t *slots) const {
  size_t bytes = image_.kernel.globalScratchBytes * config.grid[0] * config.grid[1] * config.grid[2];
  int device = loaded.function.device;
  nvptx::CUDAError failure;
  std::optional<nvptx::DevicePointer> scratch = driver.allocateAsync(device, bytes, config.stream, failure);
  if (!scratch)
    return errorFrom(failure, "scratch memory of kernel " + image_.name);
  std::optional<Error> error = queue(driver, loaded, config, slots, *scratch);
  if (!driver.releaseAsync(device, *scratch, config.stream, failure) && !error)
    return errorFrom(failure, "scratch memory of kernel " + image_.name);
  return error;
}

Expected<bool> CUDACode::launch(const Grid &grid, const uint64_t *slots, const LaunchOptions &options) const {
  Error error;
  nvptx::CUDADriver *driver = cudaDriver(error);
  if (!driver)
    return error;
  const Loaded *loaded = find(options.device < 0 ? driver->currentDevice() : options.device, error);
  if (!loaded)
    return error;
  const nvptx::LoweredKernel &kernel = image_.kernel;
  if (grid.x > mostBlocks / int64_t(kernel.numCTAs))
    return plainError("ValueError", "a grid of " + std::to_string(grid.x) + " programs of " +
                                        std::to_string(kernel.numCTAs) +
                                        " blocks each (num_ctas) is over 2^31 - 1 blocks");
  nvptx::LaunchConfig config;
  config.grid[0] = static_cast<unsigned>(grid.x) * kernel.numCTAs;
  config.grid[1] = static_cast<unsigned>(grid.y);
  config.grid[2] = static_cast<unsigned>(grid.z);
  config.block[0] = kernel.numWarps * image_.warpSize;
  config.cluster[0] = kernel.numCTAs;
  config.sharedBytes = static_cast<unsigned>(kernel.sharedBytes);
  config.cooperative = image_.cooperative;
  // Scratch memory is written at once, and may still be in use by the kernel before.
  config.programmaticDependent = image_.programmaticDependent && kernel.globalScratchBytes == 0;
  config.stream = options.stream;
  std::optional<Error> failed = kernel.globalScratchBytes && !options.globalScratch
                                    ? queueWithScratch(*driver, *loaded, config, slots)
                                    : queue(*driver, *loaded, config, slots, options.globalScratch);
  if (failed)
    return std::move(*failed);
  return true;
}

} // namespace despina
