//===- StubCUDA.cpp - A libcuda that records calls ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Two devices. "Device memory" is host memory with a known owner; nothing runs. The structures are declared
// apart from the library's, so that a wrong offset there shows.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Stub {
  std::mutex mutex;
  std::string calls;
  std::map<std::string, int> failures;
  std::map<uint64_t, std::pair<size_t, int>> owners; ///< of allocations: address -> bytes, device
  std::vector<size_t> parameterSizes;                ///< of the next launches, for the record
  int devices = 2, version = 13000, retained = 0;
};

Stub &stub() {
  static auto *instance = new Stub;
  return *instance;
}

thread_local std::vector<void *> contexts;

/// Contexts are 0x1000 and 0x1001, streams 0x2000 and 0x2001: the last digit is the device.
int deviceOf(void *handle) { return static_cast<int>(reinterpret_cast<uintptr_t>(handle) & 0xf); }

int record(const std::string &name, const std::string &details = "") {
  std::lock_guard<std::mutex> lock(stub().mutex);
  stub().calls += name + details + "\n";
  auto it = stub().failures.find(name);
  return it == stub().failures.end() ? 0 : it->second;
}

/// The device of the allocation that holds an address; -1 for none.
int ownerOf(uint64_t address) {
  auto it = stub().owners.upper_bound(address);
  if (it == stub().owners.begin())
    return -1;
  --it;
  return address < it->first + it->second.first ? it->second.second : -1;
}

std::string hexadecimal(const void *data, size_t bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    unsigned char byte = static_cast<const unsigned char *>(data)[i];
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

struct Attribute {
  int id;
  int pad;
  int value[16];
};

struct Launch {
  unsigned gx, gy, gz, bx, by, bz, shared;
  void *stream;
  Attribute *attributes;
  unsigned count;
};

constexpr int invalidValue = 1, invalidContext = 201;

} // namespace

extern "C" {

void stubReset() {
  std::lock_guard<std::mutex> lock(stub().mutex);
  stub().calls.clear();
  stub().failures.clear();
  stub().parameterSizes.clear();
  stub().devices = 2;
  stub().version = 13000;
}
void stubFail(const char *function, int code) { stub().failures[function] = code; }
/// The sizes of the parameters of the next launches: they are recorded as hexadecimal bytes.
void stubParameters(const size_t *sizes, size_t count) {
  std::lock_guard<std::mutex> lock(stub().mutex);
  stub().parameterSizes.assign(sizes, sizes + count);
}
void stubDevices(int count) { stub().devices = count; }
void stubVersion(int version) { stub().version = version; }
const char *stubCalls() { return stub().calls.c_str(); }
int stubContextDepth() { return static_cast<int>(contexts.size()); }

int cuInit(unsigned) { return record("cuInit"); }
int cuDriverGetVersion(int *version) {
  *version = stub().version;
  return record("cuDriverGetVersion");
}
int cuGetErrorName(int code, const char **name) {
  *name = code == 700   ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == 3   ? "CUDA_ERROR_NOT_INITIALIZED"
          : code == 100 ? "CUDA_ERROR_NO_DEVICE"
          : code == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
                        : nullptr;
  return *name ? 0 : invalidValue;
}
int cuGetErrorString(int code, const char **text) {
  *text = code == 700 ? "an illegal memory access was encountered" : nullptr;
  return *text ? 0 : invalidValue;
}
int cuDeviceGetCount(int *count) {
  *count = stub().devices;
  return record("cuDeviceGetCount");
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return record("cuDeviceGet");
}
int cuDeviceGetName(char *name, int length, int device) {
  std::strncpy(name, device ? "Stub One" : "Stub Zero", static_cast<size_t>(length));
  return record("cuDeviceGetName");
}
int cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = size_t(80) << 30;
  return record("cuDeviceTotalMem_v2");
}
/// Device 0 is like an H200; device 1 has no clusters.
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  static const std::map<int, int> values = {
      {1, 1024},    {5, 2147483647}, {6, 65535}, {7, 65535},    {8, 49152},  {10, 32},
      {12, 65536},  {13, 1980000},   {16, 132},  {36, 3201000}, {37, 6144},  {38, 62914560},
      {39, 2048},   {75, 9},         {76, 0},    {81, 233472},  {82, 65536}, {95, 1},
      {97, 232448}, {111, 1024},     {120, 1},   {127, 1}};
  auto it = values.find(attribute);
  if (it == values.end() || (device == 1 && attribute >= 120))
    return invalidValue;
  *value = it->second;
  return record("cuDeviceGetAttribute");
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  ++stub().retained;
  *context = reinterpret_cast<void *>(uintptr_t(0x1000) + static_cast<unsigned>(device));
  return record("cuDevicePrimaryCtxRetain");
}
int cuCtxPushCurrent_v2(void *context) {
  contexts.push_back(context);
  return record("cuCtxPushCurrent_v2");
}
int cuCtxPopCurrent_v2(void **context) {
  if (contexts.empty())
    return invalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return record("cuCtxPopCurrent_v2");
}
int cuCtxGetCurrent(void **context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return 0;
}
int cuCtxGetDevice(int *device) {
  if (contexts.empty())
    return invalidContext;
  *device = deviceOf(contexts.back());
  return 0;
}
int cuCtxSetCurrent(void *context) {
  contexts.assign(1, context);
  return record("cuCtxSetCurrent", " " + std::to_string(deviceOf(context)));
}
int cuCtxSynchronize() { return record("cuCtxSynchronize"); }
int cuEventCreate(void **event, unsigned flags) {
  *event = reinterpret_cast<void *>(uintptr_t(0x5000));
  return record("cuEventCreate", " " + std::to_string(flags));
}
int cuEventDestroy_v2(void *) { return record("cuEventDestroy_v2"); }
int cuEventRecord(void *, void *) { return record("cuEventRecord"); }
int cuEventSynchronize(void *) { return record("cuEventSynchronize"); }
int cuEventElapsedTime(float *milliseconds, void *, void *) {
  *milliseconds = 0.5f;
  return record("cuEventElapsedTime");
}
int cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values) {
  *module = reinterpret_cast<void *>(uintptr_t(0x3000));
  int code = record("cuModuleLoadDataEx", " " + std::string(static_cast<const char *>(image)));
  if (code && count == 2 && options[0] == 5 && options[1] == 6)
    std::strncpy(static_cast<char *>(values[0]), "ptxas line 3: no such thing",
                 reinterpret_cast<size_t>(values[1]));
  return code;
}
int cuModuleUnload(void *) { return record("cuModuleUnload"); }
int cuModuleGetFunction(void **function, void *, const char *name) {
  *function = reinterpret_cast<void *>(uintptr_t(0x4000));
  return record("cuModuleGetFunction", std::string(" ") + name);
}
int cuFuncGetAttribute(int *value, int attribute, void *) {
  *value = attribute == 0 ? 512 : attribute == 1 ? 1000 : attribute == 3 ? 16 : attribute == 4 ? 42 : -1;
  return record("cuFuncGetAttribute");
}
int cuFuncSetAttribute(void *, int attribute, int value) {
  return record("cuFuncSetAttribute", " " + std::to_string(attribute) + "=" + std::to_string(value));
}
int cuFuncSetCacheConfig(void *, int config) {
  return record("cuFuncSetCacheConfig", " " + std::to_string(config));
}
#ifndef STUB_WITHOUT_LAUNCH
int cuLaunchKernelEx(const Launch *launch, void *, void **parameters, void **) {
  std::string text = " grid " + std::to_string(launch->gx) + "," + std::to_string(launch->gy) + "," +
                     std::to_string(launch->gz) + " block " + std::to_string(launch->bx) + "," +
                     std::to_string(launch->by) + "," + std::to_string(launch->bz) + " shared " +
                     std::to_string(launch->shared) + " stream " +
                     std::to_string(reinterpret_cast<uintptr_t>(launch->stream)) + " context " +
                     std::to_string(contexts.empty() ? -1 : deviceOf(contexts.back()));
  if (parameters && stub().parameterSizes.empty())
    text += " first " + std::to_string(*static_cast<int *>(parameters[0]));
  for (size_t i = 0; i < stub().parameterSizes.size(); ++i)
    text += " p" + std::to_string(i) + "=" + hexadecimal(parameters[i], stub().parameterSizes[i]);
  for (unsigned i = 0; i < launch->count; ++i) {
    const Attribute &attribute = launch->attributes[i];
    text += " [" + std::to_string(attribute.id) + ":" + std::to_string(attribute.value[0]) + "," +
            std::to_string(attribute.value[1]) + "," + std::to_string(attribute.value[2]) + "]";
  }
  return record("cuLaunchKernelEx", text);
}
#endif
int cuPointerGetAttribute(void *data, int attribute, uint64_t pointer) {
  int owner = ownerOf(pointer);
  if (owner < 0)
    return invalidValue;
  if (attribute == 3) {
    if (contexts.empty() || deviceOf(contexts.back()) != owner)
      return invalidValue;
    *static_cast<uint64_t *>(data) = pointer;
  } else if (attribute == 2) {
    *static_cast<unsigned *>(data) = 2;
  } else if (attribute == 9) {
    *static_cast<int *>(data) = owner;
  } else {
    return invalidValue;
  }
  return record("cuPointerGetAttribute");
}
int cuStreamGetCtx(void *stream, void **context) {
  *context = reinterpret_cast<void *>(uintptr_t(0x1000) + static_cast<unsigned>(deviceOf(stream)));
  return record("cuStreamGetCtx");
}
int cuStreamCreate(void **stream, unsigned flags) {
  *stream = reinterpret_cast<void *>(uintptr_t(0x2000) + static_cast<unsigned>(deviceOf(contexts.back())));
  return record("cuStreamCreate", " " + std::to_string(flags));
}
int cuStreamDestroy_v2(void *) { return record("cuStreamDestroy_v2"); }
int cuStreamSynchronize(void *) { return record("cuStreamSynchronize"); }
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes) {
  if (int code = record("cuMemAlloc_v2", " " + std::to_string(bytes)))
    return code;
  *pointer = reinterpret_cast<uintptr_t>(std::malloc(bytes));
  std::lock_guard<std::mutex> lock(stub().mutex);
  stub().owners[*pointer] = {bytes, deviceOf(contexts.back())};
  return 0;
}
int cuMemAllocAsync(uint64_t *pointer, size_t bytes, void *stream) {
  if (int code = record("cuMemAllocAsync", " " + std::to_string(bytes) + " stream " +
                                               std::to_string(reinterpret_cast<uintptr_t>(stream))))
    return code;
  *pointer = 0x7000;
  return 0;
}
int cuMemFreeAsync(uint64_t pointer, void *stream) {
  return record("cuMemFreeAsync", " " + std::to_string(pointer) + " stream " +
                                      std::to_string(reinterpret_cast<uintptr_t>(stream)));
}
/// The map is the arguments, for a test to read: type, rank, address, then extents.
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, uint64_t address, const uint64_t *extents,
                           const uint64_t *strides, const uint32_t *box, const uint32_t *, int, int swizzle,
                           int, int fill) {
  std::string text = " type " + std::to_string(type) + " rank " + std::to_string(rank) + " address " +
                     std::to_string(address) + " swizzle " + std::to_string(swizzle) + " fill " +
                     std::to_string(fill);
  uint64_t words[16] = {uint64_t(type), rank, address};
  for (unsigned i = 0; i < rank; ++i) {
    words[3 + i] = extents[i];
    text += " " + std::to_string(extents[i]) + "/" + std::to_string(box[i]);
    if (i > 0)
      text += "@" + std::to_string(strides[i - 1]);
  }
  std::memcpy(map, words, sizeof words);
  return record("cuTensorMapEncodeTiled", text);
}
int cuMemFree_v2(uint64_t pointer) {
  {
    std::lock_guard<std::mutex> lock(stub().mutex);
    stub().owners.erase(pointer);
  }
  std::free(reinterpret_cast<void *>(pointer));
  return record("cuMemFree_v2");
}
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return record("cuMemcpyHtoD_v2");
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return record("cuMemcpyDtoH_v2");
}
/// Clearing what is as large as a cache takes long, and nobody looks at it.
int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *) {
  constexpr size_t small = 1 << 20;
  std::memset(reinterpret_cast<void *>(to), value, bytes < small ? bytes : small);
  return record("cuMemsetD8Async");
}
int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes) {
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return record("cuMemsetD8_v2");
}

} // extern "C"
