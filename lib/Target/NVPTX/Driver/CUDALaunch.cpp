//===- CUDALaunch.cpp - Modules and launches ------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "CUDADriverImpl.h"

#include <algorithm>
#include <utility>

namespace despina::nvptx {
namespace {

/// What a block may have without asking.
constexpr size_t sharedWithoutOptIn = 48 * 1024;
/// Clusters of more blocks are a matter of the chip.
constexpr unsigned portableCluster = 8;

std::string threeNumbers(const unsigned (&numbers)[3]) {
  return "(" + std::to_string(numbers[0]) + ", " + std::to_string(numbers[1]) + ", " +
         std::to_string(numbers[2]) + ")";
}

/// Not more than the largest number there is.
uint64_t product(const unsigned (&numbers)[3]) {
  uint64_t result = uint64_t(numbers[0]) * numbers[1];
  return __builtin_mul_overflow(result, numbers[2], &result) ? UINT64_MAX : result;
}

bool isElf(std::string_view image) { return image.size() > 4 && image.substr(1, 3) == "ELF"; }

/// What CUDA would answer with a bare "invalid value".
bool checkLaunch(const DeviceFunction &function, const LaunchConfig &config, const DeviceProperties &device,
                 CUDAError &error) {
  uint64_t threads = product(config.block), blocks = product(config.cluster);
  if (threads > uint64_t(function.maxThreads)) {
    error = outOfResources("threads", threads, static_cast<size_t>(function.maxThreads));
    return false;
  }
  size_t free = sharedWithoutOptIn - std::min(function.staticShared, sharedWithoutOptIn);
  if (config.sharedBytes > std::max(function.dynamicShared, free)) {
    error = badArgument("the launch asks for " + std::to_string(config.sharedBytes) +
                        " bytes of shared memory, but the kernel was readied for " +
                        std::to_string(function.dynamicShared));
    return false;
  }
  if (threads == 0 || blocks == 0 || product(config.grid) == 0) {
    error =
        badArgument("a launch needs at least one block and one thread: grid " + threeNumbers(config.grid) +
                    ", block " + threeNumbers(config.block) + ", cluster " + threeNumbers(config.cluster));
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    if (config.grid[i] > static_cast<unsigned>(device.maxGrid[i])) {
      error = badArgument("dimension " + std::to_string(i) + " of the grid " + threeNumbers(config.grid) +
                          " is larger than the " + std::to_string(device.maxGrid[i]) + " that the GPU takes");
      return false;
    }
    if (config.grid[i] % config.cluster[i] != 0) {
      error = badArgument("the grid " + threeNumbers(config.grid) + " is no multiple of the cluster " +
                          threeNumbers(config.cluster));
      return false;
    }
  }
  if (blocks > 1 && !device.clusterLaunch) {
    error = badArgument("clusters (num_ctas > 1) need compute capability 9.0, and " + device.name + " has " +
                        std::to_string(device.major) + "." + std::to_string(device.minor));
    return false;
  }
  if (config.cooperative && !device.cooperativeLaunch) {
    error = badArgument(device.name + " has no cooperative launches");
    return false;
  }
  return true;
}

/// The attributes of a launch; returns how many.
unsigned launchAttributes(const LaunchConfig &config, abi::LaunchAttribute (&attributes)[4]) {
  unsigned count = 0;
  auto flag = [&](int id, int value) {
    attributes[count].id = id;
    attributes[count++].value.flag = value;
  };
  if (config.programmaticDependent)
    flag(abi::LaunchProgrammaticSerialization, 1);
  if (config.cooperative)
    flag(abi::LaunchCooperative, 1);
  if (product(config.cluster) > 1) {
    attributes[count].id = abi::LaunchClusterDimension;
    std::copy(std::begin(config.cluster), std::end(config.cluster), attributes[count].value.dimensions);
    ++count;
    flag(abi::LaunchClusterPolicy, abi::clusterPolicySpread);
  }
  return count;
}

} // namespace

CUDAError outOfResources(const std::string &resource, size_t required, size_t limit) {
  CUDAError error;
  error.kind = CUDAError::Kind::OutOfResources;
  error.resource = resource;
  error.required = required;
  error.limit = limit;
  error.message = "out of resource: " + resource + ", Required: " + std::to_string(required) +
                  ", Hardware limit: " + std::to_string(limit) +
                  ". Reducing block sizes or `num_stages` may help.";
  return error;
}

DeviceModule::DeviceModule(DeviceModule &&other) noexcept
    : driver_(other.driver_), device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}

DeviceModule &DeviceModule::operator=(DeviceModule &&other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}

DeviceModule::~DeviceModule() {
  if (!handle_)
    return;
  // Nobody is there to be told of an error, and a lost context frees its modules itself.
  CUDAError ignored;
  if (CUDADriver::InContext context(*driver_, device_, ignored); context)
    driver_->state_->call.moduleUnload(handle_);
}

std::optional<DeviceFunction> DeviceModule::function(const std::string &name, size_t dynamicShared,
                                                     unsigned clusterBlocks, CUDAError &error) const {
  const DeviceProperties *device = driver_->knownProperties(device_, error);
  CUDADriver::InContext context(*driver_, device_, error);
  if (!device || !context)
    return std::nullopt;
  const abi::Functions &call = driver_->state_->call;
  DeviceFunction found;
  found.device = device_;
  int code = call.moduleFunction(&found.handle, handle_, name.c_str());
  if (code != abi::Success) {
    error = driver_->describe(code, "the module has no kernel '" + name + "'");
    return std::nullopt;
  }
  auto attempt = [&](int next) { code = code ? code : next; };
  auto get = [&](int attribute) {
    int value = 0;
    attempt(call.functionGet(&value, attribute, found.handle));
    return value;
  };
  found.registers = get(abi::FunctionRegisters);
  found.localBytes = static_cast<size_t>(get(abi::FunctionLocal));
  found.staticShared = static_cast<size_t>(get(abi::FunctionShared));
  found.maxThreads = get(abi::FunctionMaxThreads);
  found.dynamicShared = dynamicShared;
  size_t shared = found.staticShared + dynamicShared;
  if (code == abi::Success && shared > static_cast<size_t>(device->sharedPerBlockOptIn)) {
    error = outOfResources("shared memory", shared, static_cast<size_t>(device->sharedPerBlockOptIn));
    return std::nullopt;
  }
  if (shared > sharedWithoutOptIn) {
    attempt(call.functionCache(found.handle, abi::preferShared));
    attempt(call.functionSet(found.handle, abi::FunctionMaxDynamicShared, static_cast<int>(dynamicShared)));
  }
  if (clusterBlocks > portableCluster)
    attempt(call.functionSet(found.handle, abi::FunctionNonPortableCluster, 1));
  if (code != abi::Success) {
    error = driver_->describe(code, "cannot ready the kernel '" + name + "'");
    return std::nullopt;
  }
  return found;
}

std::optional<DeviceModule> CUDADriver::load(int device, std::string_view image, CUDAError &error) {
  InContext context(*this, device, error);
  if (!context)
    return std::nullopt;
  // PTX must end with a zero, and a cubin does not mind one.
  std::string copy(image);
  std::string log(8192, '\0');
  int options[] = {abi::JitErrorLog, abi::JitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  ModuleHandle handle = nullptr;
  int code = state_->call.moduleLoad(&handle, copy.data(), 2, options, values);
  if (code == abi::Success)
    return DeviceModule(*this, device, handle);
  error = describe(code, isElf(image) ? "cannot load the cubin" : "the driver does not accept the PTX");
  log.resize(std::min(log.find('\0'), log.size()));
  if (!log.empty())
    error.message += ":\n" + log;
  return std::nullopt;
}

bool CUDADriver::launch(const DeviceFunction &function, const LaunchConfig &config, void **parameters,
                        CUDAError &error) {
  if (!checkDevice(function.device, error))
    return false;
  InContext context(*this, function.device, error);
  if (!context)
    return false;
  const DeviceProperties *device = knownProperties(function.device, error);
  if (!device || !checkLaunch(function, config, *device, error))
    return false;
  abi::LaunchAttribute attributes[4] = {};
  abi::LaunchConfiguration launch = {};
  std::copy(std::begin(config.grid), std::end(config.grid), launch.grid);
  std::copy(std::begin(config.block), std::end(config.block), launch.block);
  launch.sharedBytes = config.sharedBytes;
  launch.stream = config.stream;
  launch.attributes = attributes;
  launch.attributeCount = launchAttributes(config, attributes);
  int code = state_->call.launch(&launch, function.handle, parameters, nullptr);
  if (code == abi::Success)
    return true;
  error = describe(code, "cannot launch the kernel");
  return false;
}

bool CUDADriver::checkPointer(int device, DevicePointer address, CUDAError &error) {
  if (address == 0)
    return true;
  InContext context(*this, device, error);
  if (!context)
    return false;
  // CUDA answers for the current context, so that another device's memory passes where peers are enabled.
  DevicePointer seen = 0;
  int code = state_->call.pointerAttribute(&seen, abi::PointerDevice, address);
  if (code == abi::Success)
    return true;
  if (code != abi::InvalidValue) {
    error = describe(code, "cannot check a pointer");
    return false;
  }
  if (std::optional<int> owner = deviceOf(address))
    error = badArgument("the pointer lies on CUDA device " + std::to_string(*owner) +
                        ", but the kernel runs on device " + std::to_string(device) +
                        ", which has no access to it");
  else
    error = badArgument("Pointer argument cannot be accessed from Triton (cpu tensor?)");
  return false;
}

std::optional<int> CUDADriver::deviceOf(DevicePointer address) {
  unsigned type = 0;
  int ordinal = -1;
  if (address == 0 || state_->call.pointerAttribute(&type, abi::PointerMemoryType, address) != abi::Success ||
      type != abi::MemoryDevice ||
      state_->call.pointerAttribute(&ordinal, abi::PointerOrdinal, address) != abi::Success)
    return std::nullopt;
  return ordinal;
}

bool CUDADriver::checkStream(int device, StreamHandle stream, CUDAError &error) {
  // Default streams belong to whatever context is current.
  if (reinterpret_cast<uintptr_t>(stream) <= abi::lastSpecialStream)
    return checkDevice(device, error);
  InContext context(*this, device, error);
  if (!context)
    return false;
  ContextHandle owner = nullptr;
  int actual = 0;
  int code = state_->call.streamContext(stream, &owner);
  if (code == abi::Success)
    code = state_->call.contextPush(owner);
  if (code == abi::Success) {
    code = state_->call.contextDevice(&actual);
    state_->call.contextPop(&owner);
  }
  if (code != abi::Success)
    error = describe(code, "this is no CUDA stream that can be used");
  else if (actual != device)
    error = badArgument("the stream belongs to CUDA device " + std::to_string(actual) +
                        ", but the kernel runs on device " + std::to_string(device));
  else
    return true;
  return false;
}

} // namespace despina::nvptx
