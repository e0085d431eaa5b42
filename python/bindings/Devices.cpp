//===- Devices.cpp - Which device a launch goes to ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Devices.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace despina::python {

namespace {

/// The CUDA devices. Null after setting a Python error.
DeviceRuntime *cudaRuntime() {
  // Not kept when it fails: the error is the library's to remember.
  static DeviceRuntime *runtime = nullptr;
  if (runtime)
    return runtime;
  Expected<DeviceRuntime *> found = DeviceRuntime::get("cuda");
  if (found)
    return runtime = *found;
  setException(exceptionFor(found.error()).get());
  return nullptr;
}

DeviceRuntime &runtimeOrThrow() {
  DeviceRuntime *runtime = cudaRuntime();
  if (!runtime)
    throw nb::python_error();
  return *runtime;
}

/// "argument 'x'", or "an argument" inside tuples.
std::string argumentText(const PointerPlace &pointer) {
  return pointer.parameter ? "argument '" + std::string(textOf(pointer.parameter)) + "'" : "an argument";
}

std::string placeText(int device) {
  return device == PointerPlace::host ? "in host memory" : "on CUDA device " + std::to_string(device);
}

/// Asks the driver about a pointer whose object does not tell. Without a driver it can only be the host's.
void askDriver(PointerPlace &pointer) {
  if (pointer.device != PointerPlace::unknown || pointer.address == 0)
    return;
  Expected<DeviceRuntime *> runtime = DeviceRuntime::get("cuda");
  std::optional<int> device;
  if (runtime)
    device = (*runtime)->deviceOf(reinterpret_cast<const void *>(pointer.address));
  pointer.device = device.value_or(PointerPlace::host);
}

bool activeDevice(int &device) {
  if (!registry().activeDevice) {
    device = cpuPlace;
    return true;
  }
  Ref answer = Ref::steal(PyObject_CallNoArgs(registry().activeDevice));
  long number = answer ? PyLong_AsLong(answer.get()) : -1;
  if (PyErr_Occurred())
    return false;
  device = int(number);
  return true;
}

/// Pointers of different places: the host's pinned memory and that of peers can go with a GPU's.
bool checkMixed(const ArgumentReader &reader, int device) {
  DeviceRuntime *runtime = cudaRuntime();
  if (!runtime)
    return false;
  for (const PointerPlace &pointer : reader.pointers()) {
    if (pointer.device == device || pointer.address == 0)
      continue;
    Result allowed = runtime->checkPointer(device, reinterpret_cast<const void *>(pointer.address));
    if (allowed)
      continue;
    std::string where = pointer.device == PointerPlace::unknown ? "" : " lies " + placeText(pointer.device);
    std::string message = allowed.error().message + ": " + argumentText(pointer) + where +
                          ", and the kernel runs " + placeText(device);
    bool isArgument = allowed.error().kind == "ValueError";
    PyErr_SetString(isArgument ? PyExc_ValueError : PyExc_RuntimeError, message.c_str());
    return false;
  }
  return true;
}

} // namespace

bool resolvePlace(const ArgumentReader &reader, int &device) {
  device = PointerPlace::unknown;
  bool mixed = false;
  for (PointerPlace pointer : reader.pointers()) {
    askDriver(pointer);
    if (pointer.device == PointerPlace::unknown || pointer.device == device)
      continue;
    mixed |= device != PointerPlace::unknown;
    if (device < 0)
      device = pointer.device;
  }
  if (mixed)
    return checkMixed(reader, device);
  return device != PointerPlace::unknown || activeDevice(device);
}

int firstDevice(const ArgumentReader &reader) {
  for (PointerPlace pointer : reader.pointers()) {
    askDriver(pointer);
    if (pointer.device >= 0)
      return pointer.device;
  }
  return -1;
}

bool checkPlaces(const ArgumentReader &reader, int device) {
  for (const PointerPlace &pointer : reader.pointers())
    if (pointer.device != device)
      return checkMixed(reader, device);
  return true;
}

int capabilityOf(int device) {
  static std::vector<int> known;
  if (device >= 0 && size_t(device) < known.size() && known[size_t(device)])
    return known[size_t(device)];
  DeviceRuntime *runtime = cudaRuntime();
  if (!runtime)
    return -1;
  Expected<DeviceProperties> properties = runtime->properties(device);
  if (!properties) {
    setException(exceptionFor(properties.error()).get());
    return -1;
  }
  if (known.size() <= size_t(device))
    known.resize(size_t(device) + 1);
  return known[size_t(device)] = properties->major * 10 + properties->minor;
}

/// A function of a library, looked up once the library is imported; null while it is not.
static PyObject *libraryFunction(PyObject *&slot, const char *module, const char *name) {
  if (slot)
    return slot;
  PyObject *modules = PyImport_GetModuleDict();
  PyObject *library = modules ? PyDict_GetItemString(modules, module) : nullptr;
  slot = library ? PyObject_GetAttrString(library, name) : nullptr;
  PyErr_Clear();
  return slot;
}

static bool readStream(PyObject *number, void *&stream) {
  stream = number ? PyLong_AsVoidPtr(number) : nullptr;
  return !PyErr_Occurred();
}

bool currentStream(const ArgumentReader &reader, int device, void *&stream) {
  static PyObject *torchStream = nullptr, *cupyStream = nullptr;
  stream = nullptr;
  if (reader.sawCuPy() && !reader.sawTorch()) {
    PyObject *function = libraryFunction(cupyStream, "cupy.cuda", "get_current_stream");
    Ref current = function ? Ref::steal(PyObject_CallNoArgs(function)) : Ref();
    Ref number = current ? Ref::steal(PyObject_GetAttrString(current.get(), "ptr")) : Ref();
    return readStream(number.get(), stream);
  }
  PyObject *function = libraryFunction(torchStream, "torch._C", "_cuda_getCurrentRawStream");
  // A program that has torch but launches with other tensors only may not have CUDA in its torch.
  if (!function)
    return true;
  Ref index = Ref::steal(PyLong_FromLong(device));
  Ref number = index ? Ref::steal(PyObject_CallOneArg(function, index.get())) : Ref();
  if (!number && !reader.sawTorch()) {
    PyErr_Clear();
    return true;
  }
  return readStream(number.get(), stream);
}

//===----------------------------------------------------------------------===//
// What Python sees
//===----------------------------------------------------------------------===//

namespace {

nb::dict propertiesDict(int device) {
  DeviceProperties found = valueOrThrow(runtimeOrThrow().properties(device));
  nb::dict result;
  result["name"] = found.name;
  result["arch"] = found.arch;
  result["capability"] = nb::make_tuple(found.major, found.minor);
  result["total_memory"] = found.totalMemory;
  result["multiprocessor_count"] = found.multiprocessors;
  result["warp_size"] = found.warpSize;
  result["max_threads_per_block"] = found.maxThreadsPerBlock;
  result["max_num_regs"] = found.registersPerBlock;
  result["max_shared_mem"] = found.sharedPerBlock;
  result["l2_bytes"] = found.l2Bytes;
  result["sm_clock_rate"] = found.clockKHz;
  result["mem_clock_rate"] = found.memoryClockKHz;
  result["mem_bus_width"] = found.memoryBusBits;
  return result;
}

void *handleOf(uintptr_t number) { return reinterpret_cast<void *>(number); }

/// A contiguous buffer of the host.
class HostBuffer {
public:
  HostBuffer(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) < 0)
      throw nb::python_error();
  }
  ~HostBuffer() { PyBuffer_Release(&view_); }
  HostBuffer(const HostBuffer &) = delete;
  HostBuffer &operator=(const HostBuffer &) = delete;
  void *data() const { return view_.buf; }
  size_t bytes() const { return size_t(view_.len); }

private:
  Py_buffer view_;
};

void addMemory(nb::module_ &m) {
  nb::class_<DeviceMemory>(m, "DeviceMemory", "Memory of a CUDA device; freed with the object.")
      .def_prop_ro("address",
                   [](const DeviceMemory &self) { return reinterpret_cast<uintptr_t>(self.address()); })
      .def_prop_ro("bytes", &DeviceMemory::bytes)
      .def(
          "copy_from",
          [](const DeviceMemory &self, nb::handle buffer) {
            HostBuffer host(buffer, PyBUF_SIMPLE);
            valueOrThrow(self.copyFrom(host.data(), host.bytes()));
          },
          "buffer"_a, "Copies a contiguous buffer of the host to the device.")
      .def(
          "copy_to",
          [](const DeviceMemory &self, nb::handle buffer) {
            HostBuffer host(buffer, PyBUF_WRITABLE);
            valueOrThrow(self.copyTo(host.data(), host.bytes()));
          },
          "buffer"_a, "Copies to a contiguous writable buffer of the host.")
      .def(
          "fill", [](const DeviceMemory &self, uint8_t value) { valueOrThrow(self.fill(value)); }, "value"_a)
      .def(
          "fill_async",
          [](const DeviceMemory &self, uint8_t value, uintptr_t stream) {
            valueOrThrow(self.fillAsync(value, handleOf(stream)));
          },
          "value"_a, "stream"_a);
  m.def(
      "cuda_allocate",
      [](int device, size_t bytes) { return valueOrThrow(runtimeOrThrow().allocate(device, bytes)); },
      "device"_a, "bytes"_a);
}

void addStreams(nb::module_ &m) {
  auto number = [](void *handle) { return reinterpret_cast<uintptr_t>(handle); };
  m.def("cuda_create_stream",
        [number](int device) { return number(valueOrThrow(runtimeOrThrow().createStream(device))); });
  m.def("cuda_destroy_stream", [](int device, uintptr_t stream) {
    valueOrThrow(runtimeOrThrow().destroyStream(device, handleOf(stream)));
  });
  m.def(
      "cuda_synchronize",
      [](int device, std::optional<uintptr_t> stream) {
        DeviceRuntime &runtime = runtimeOrThrow();
        Result done = Unit{};
        {
          GILRelease release;
          done = stream ? runtime.synchronize(device, handleOf(*stream)) : runtime.synchronizeDevice(device);
        }
        valueOrThrow(std::move(done));
      },
      "device"_a, "stream"_a.none() = nb::none(), "Waits for a stream, or for everything on the device.");
  m.def("cuda_create_event",
        [number](int device) { return number(valueOrThrow(runtimeOrThrow().createEvent(device))); });
  m.def("cuda_destroy_event", [](int device, uintptr_t event) {
    valueOrThrow(runtimeOrThrow().destroyEvent(device, handleOf(event)));
  });
  m.def("cuda_record_event", [](int device, uintptr_t event, uintptr_t stream) {
    valueOrThrow(runtimeOrThrow().recordEvent(device, handleOf(event), handleOf(stream)));
  });
  m.def("cuda_elapsed", [](int device, uintptr_t begin, uintptr_t end) {
    return valueOrThrow(runtimeOrThrow().elapsed(device, handleOf(begin), handleOf(end)));
  });
}

} // namespace

void addDevices(nb::module_ &m) {
  m.def(
      "cuda_device_count", [] { return runtimeOrThrow().count(); },
      "Number of CUDA devices; raises RuntimeError where there is no driver.");
  m.def("cuda_properties", &propertiesDict, "device"_a);
  m.def("cuda_current_device", [] { return runtimeOrThrow().current(); });
  m.def(
      "cuda_set_current_device", [](int device) { valueOrThrow(runtimeOrThrow().setCurrent(device)); },
      "device"_a);
  m.def(
      "cuda_current_stream",
      [](int device) {
        void *stream = nullptr;
        if (!currentStream(ArgumentReader(), device, stream))
          throw nb::python_error();
        return reinterpret_cast<uintptr_t>(stream);
      },
      "device"_a, "The current stream of torch on the device; 0 without torch.");
  addMemory(m);
  addStreams(m);
}

} // namespace despina::python
