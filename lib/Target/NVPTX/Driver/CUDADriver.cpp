//===- CUDADriver.cpp - Opening the driver, devices, contexts, errors -----===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "CUDADriverImpl.h"

#include "despina/Target/NVPTX/ToolSearch.h"

#include <filesystem>
#include <system_error>

#include <dlfcn.h>
#include <unistd.h>

namespace despina::nvptx {
namespace {

constexpr const char *usualLibrary = "libcuda.so.1";
constexpr int oldestVersion = 11080; // cuLaunchKernelEx

CUDAError noDriver(std::string message) {
  CUDAError error;
  error.kind = CUDAError::Kind::NoDriver;
  error.message = std::move(message);
  return error;
}

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// The library that the environment names, else the usual one.
std::string chosenLibrary() {
  std::optional<TwinVariable> variable = twinVariable("LIBCUDA_PATH");
  if (!variable)
    return usualLibrary;
  std::error_code code;
  if (std::filesystem::is_directory(variable->value, code))
    return variable->value + "/" + usualLibrary;
  return variable->value;
}

/// Errors after which CUDA answers every call in the context with the same error.
bool losesContext(int code) {
  switch (code) {
  case abi::EccUncorrectable:
  case abi::Contained:
  case abi::IllegalAddress:
  case abi::LaunchTimeout:
  case abi::ContextIsDestroyed:
  case abi::AssertFailed:
  case abi::HardwareStackError:
  case abi::IllegalInstruction:
  case abi::MisalignedAddress:
  case abi::InvalidAddressSpace:
  case abi::InvalidPc:
  case abi::LaunchFailed:
  case abi::ExternalDevice: return true;
  default: return false;
  }
}

/// What the user can do about an error; empty if CUDA's text says it all.
std::string adviceFor(int code, const CUDADriver &driver) {
  std::string version = "is for CUDA " + versionText(driver.version());
  switch (code) {
  case abi::OutOfMemory: return "free memory of the GPU, or see with nvidia-smi who uses it";
  case abi::InvalidImage:
  case abi::NoBinaryForGPU:
    return "the code is damaged, or for another architecture, or needs a newer driver than the one here, "
           "which " +
           version;
  case abi::UnsupportedPtxVersion:
    return "update the NVIDIA driver or use an older PTX version: the driver here " + version;
  case abi::AssertFailed: return "a device_assert of a kernel failed; its text is on stderr";
  case abi::IllegalAddress:
  case abi::MisalignedAddress:
    return "a kernel launched before used an address that is not valid: check its masks and offsets, or run "
           "the program under compute-sanitizer";
  case abi::LaunchOutOfResources: return "the kernel needs more registers or threads than a block may have";
  case abi::CooperativeLaunchTooLarge:
    return "all blocks of a cooperative launch must fit on the GPU at once: use a smaller grid";
  case abi::InvalidClusterSize: return "use fewer blocks per cluster (num_ctas)";
  default: return "";
  }
}

/// Why cuInit failed, for people.
std::string startAdvice(int code) {
  switch (code) {
  case abi::NoDevice: return "no NVIDIA GPU is visible; check nvidia-smi and CUDA_VISIBLE_DEVICES";
  case abi::StubLibrary:
    return "this libcuda is the toolkit's stub for linking; take its folder out of LD_LIBRARY_PATH";
  case abi::SystemNotReady: return "the system is not ready: with several GPUs, start nvidia-fabricmanager";
  case abi::SystemDriverMismatch:
    return "libcuda and the kernel module differ in version; restart the machine";
  case abi::CompatNotSupported:
    return "this compatibility libcuda does not serve this GPU; use the driver's own";
  default: return "check that nvidia-smi works";
  }
}

/// Fills `to`; CUDA's first error, if any.
int queryDevice(const abi::Functions &call, int device, DeviceProperties &to) {
  int handle = 0, code = call.deviceGet(&handle, device);
  auto keepFirst = [&](int next) { code = code ? code : next; };
  auto get = [&](int attribute) {
    int value = 0;
    keepFirst(call.deviceAttribute(&value, attribute, handle));
    return value;
  };
  // Attributes that an older driver does not know count as absent.
  auto getNew = [&](int attribute) {
    int value = 0;
    return call.deviceAttribute(&value, attribute, handle) == abi::Success ? value : 0;
  };
  char name[256] = {};
  keepFirst(call.deviceName(name, sizeof(name) - 1, handle));
  to.name = name;
  keepFirst(call.deviceMemory(&to.totalMemory, handle));
  to.major = get(abi::CapabilityMajor);
  to.minor = get(abi::CapabilityMinor);
  to.multiprocessors = get(abi::MultiprocessorCount);
  to.warpSize = get(abi::WarpSize);
  to.maxThreadsPerBlock = get(abi::MaxThreadsPerBlock);
  to.maxThreadsPerMultiprocessor = get(abi::MaxThreadsPerMultiprocessor);
  to.registersPerBlock = get(abi::RegistersPerBlock);
  to.registersPerMultiprocessor = get(abi::RegistersPerMultiprocessor);
  to.sharedPerBlock = get(abi::SharedPerBlock);
  to.sharedPerBlockOptIn = get(abi::SharedPerBlockOptIn);
  to.sharedPerMultiprocessor = get(abi::SharedPerMultiprocessor);
  to.sharedReserved = getNew(abi::SharedReserved);
  to.l2Bytes = get(abi::L2CacheSize);
  to.clockKHz = get(abi::ClockRate);
  to.memoryClockKHz = get(abi::MemoryClockRate);
  to.memoryBusBits = get(abi::MemoryBusWidth);
  for (int i = 0; i < 3; ++i)
    to.maxGrid[i] = get(abi::MaxGridX + i);
  to.cooperativeLaunch = get(abi::CooperativeLaunch) != 0;
  to.clusterLaunch = getNew(abi::ClusterLaunch) != 0;
  to.tensorMaps = getNew(abi::TensorMapAccess) != 0;
  return code;
}

} // namespace

CUDADriver::CUDADriver(std::unique_ptr<State> state) : state_(std::move(state)) {}
CUDADriver::~CUDADriver() = default;

CUDADriver *CUDADriver::get(CUDAError &error) {
  // Kept to the end of the process: other threads may still launch while it exits.
  struct Opened {
    CUDAError error;
    std::unique_ptr<CUDADriver> driver;
    Opened() { driver = open(chosenLibrary(), error); }
  };
  static auto *opened = new Opened;
  if (!opened->driver)
    error = opened->error;
  return opened->driver.get();
}

std::unique_ptr<CUDADriver> CUDADriver::open(const std::string &library, CUDAError &error) {
  auto state = std::make_unique<State>();
  state->library = library;
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *text = dlerror();
    error =
        noDriver("no CUDA driver: cannot open " + library + " (" + (text ? text : "no reason given") +
                 "). Install the NVIDIA driver, or set DESPINA_LIBCUDA_PATH to the folder of libcuda.so.1; "
                 "without a GPU, kernels run on the CPU and in the interpreter");
    return nullptr;
  }
#define DESPINA_CUDA_BIND(member, name, parameters)                                                          \
  state->call.member = reinterpret_cast<int(*) parameters>(dlsym(handle, #name));                            \
  if (!state->call.member) {                                                                                 \
    error = noDriver("the NVIDIA driver is too old: " + library + " has no function " #name "; CUDA " +      \
                     versionText(oldestVersion) + " (driver 520) or newer is needed");                       \
    return nullptr;                                                                                          \
  }
  DESPINA_CUDA_FUNCTIONS(DESPINA_CUDA_BIND)
#undef DESPINA_CUDA_BIND
#define DESPINA_CUDA_BIND_OPTIONAL(member, name, parameters)                                                 \
  state->call.member = reinterpret_cast<int(*) parameters>(dlsym(handle, #name));
  DESPINA_CUDA_OPTIONAL_FUNCTIONS(DESPINA_CUDA_BIND_OPTIONAL)
#undef DESPINA_CUDA_BIND_OPTIONAL
  if (!start(*state, error))
    return nullptr;
  return std::unique_ptr<CUDADriver>(new CUDADriver(std::move(state)));
}

bool CUDADriver::start(State &state, CUDAError &error) {
  int code = state.call.init(0);
  if (code == abi::Success)
    code = state.call.deviceCount(&state.deviceCount);
  if (code == abi::Success)
    code = state.call.driverVersion(&state.version);
  if (code == abi::Success && state.deviceCount == 0)
    code = abi::NoDevice;
  if (code != abi::Success) {
    const char *name = nullptr, *text = nullptr;
    state.call.errorName(code, &name);
    state.call.errorText(code, &text);
    error = noDriver("CUDA cannot start: " + std::string(name ? name : "error " + std::to_string(code)) +
                     " (" + (text ? text : "no description") + "); " + startAdvice(code));
    error.code = code;
    error.name = name ? name : "";
    error.text = text ? text : "";
    return false;
  }
  if (state.version < oldestVersion) {
    error = noDriver("the NVIDIA driver is too old: it is for CUDA " + versionText(state.version) +
                     ", and CUDA " + versionText(oldestVersion) + " (driver 520) or newer is needed");
    return false;
  }
  state.process = getpid();
  state.devices = std::make_unique<State::Device[]>(static_cast<size_t>(state.deviceCount));
  return true;
}

int CUDADriver::deviceCount() const { return state_->deviceCount; }
int CUDADriver::version() const { return state_->version; }

CUDAError CUDADriver::describe(int code, const std::string &doing) const {
  CUDAError error;
  const char *name = nullptr, *text = nullptr;
  state_->call.errorName(code, &name);
  state_->call.errorText(code, &text);
  error.code = code;
  error.name = name ? name : "CUDA error " + std::to_string(code);
  error.text = text ? text : "no description";
  error.contextLost = losesContext(code);
  error.message = doing + ": " + error.name + " (" + error.text + ")";
  std::string advice = adviceFor(code, *this);
  if (code == abi::NotInitialized && getpid() != state_->process)
    advice =
        "this process was forked from one that used CUDA, which CUDA does not support: start processes by "
        "spawn instead of fork";
  if (!advice.empty())
    error.message += "; " + advice;
  if (error.contextLost)
    error.message += ". The GPU cannot be used by this process any more: start a new one";
  return error;
}

bool CUDADriver::checkDevice(int device, CUDAError &error) const {
  if (device >= 0 && device < state_->deviceCount)
    return true;
  error = CUDAError();
  error.kind = CUDAError::Kind::BadArgument;
  error.message = "there is no CUDA device " + std::to_string(device) + ": devices are 0 to " +
                  std::to_string(state_->deviceCount - 1);
  return false;
}

std::optional<DeviceProperties> CUDADriver::properties(int device, CUDAError &error) {
  const DeviceProperties *known = knownProperties(device, error);
  return known ? std::optional<DeviceProperties>(*known) : std::nullopt;
}

const DeviceProperties *CUDADriver::knownProperties(int device, CUDAError &error) {
  if (!checkDevice(device, error))
    return nullptr;
  State::Device &entry = state_->devices[device];
  std::call_once(entry.propertiesOnce,
                 [&] { entry.propertiesCode = queryDevice(state_->call, device, entry.properties); });
  if (entry.propertiesCode == abi::Success)
    return &entry.properties;
  error = describe(entry.propertiesCode, "cannot query CUDA device " + std::to_string(device));
  return nullptr;
}

int CUDADriver::currentDevice() const {
  ContextHandle context = nullptr;
  int device = 0;
  if (state_->call.contextCurrent(&context) != abi::Success || !context ||
      state_->call.contextDevice(&device) != abi::Success)
    return 0;
  return device;
}

bool CUDADriver::setCurrentDevice(int device, CUDAError &error) {
  std::optional<ContextHandle> context = primaryContext(device, error);
  if (!context)
    return false;
  int code = state_->call.contextSet(*context);
  if (code != abi::Success)
    error = describe(code, "cannot make CUDA device " + std::to_string(device) + " current");
  return code == abi::Success;
}

std::optional<ContextHandle> CUDADriver::primaryContext(int device, CUDAError &error) {
  if (!checkDevice(device, error))
    return std::nullopt;
  State::Device &entry = state_->devices[device];
  std::call_once(entry.contextOnce, [&] {
    int handle = 0;
    entry.contextCode = state_->call.deviceGet(&handle, device);
    if (entry.contextCode == abi::Success)
      entry.contextCode = state_->call.primaryRetain(&entry.context, handle);
  });
  if (entry.contextCode != abi::Success) {
    error = describe(entry.contextCode, "cannot use CUDA device " + std::to_string(device));
    return std::nullopt;
  }
  return entry.context;
}

CUDADriver::InContext::InContext(CUDADriver &driver, int device, CUDAError &error) : driver_(driver) {
  std::optional<ContextHandle> wanted = driver.primaryContext(device, error);
  if (!wanted)
    return;
  const abi::Functions &call = driver.state_->call;
  ContextHandle current = nullptr;
  int code = call.contextCurrent(&current);
  if (code == abi::Success && current != *wanted) {
    code = call.contextPush(*wanted);
    pushed_ = code == abi::Success;
  }
  entered_ = code == abi::Success;
  if (!entered_)
    error = driver.describe(code,
                            "cannot make the context of CUDA device " + std::to_string(device) + " current");
}

CUDADriver::InContext::~InContext() {
  ContextHandle ignored = nullptr;
  if (pushed_)
    driver_.state_->call.contextPop(&ignored);
}

} // namespace despina::nvptx
