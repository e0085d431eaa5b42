//===- Devices.h - Which device a launch goes to ----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_PYTHON_DEVICES_H
#define DESPINA_PYTHON_DEVICES_H

#include "Arguments.h"

#include "despina/device.h"

#include <nanobind/nanobind.h>

namespace despina::python {

/// The number that stands for the CPU.
constexpr int cpuPlace = PointerPlace::host;

/// Where the pointers of a launch lie: a CUDA device or `cpuPlace`; where they say nothing, the active
/// driver's device. False after setting a Python error, as for pointers that do not go together.
bool resolvePlace(const ArgumentReader &reader, int &device);
/// The first CUDA device on which a pointer lies; -1 without one.
int firstDevice(const ArgumentReader &reader);
/// Checks that the pointers suit a kernel that runs on a CUDA device.
bool checkPlaces(const ArgumentReader &reader, int device);
/// Compute capability times 10 of a CUDA device. -1 after setting a Python error.
int capabilityOf(int device);
/// The current stream of the library whose tensors are launched with, on a CUDA device.
bool currentStream(const ArgumentReader &reader, int device, void *&stream);

/// The value, or a Python exception thrown.
template <typename T> T valueOrThrow(Expected<T> value) {
  if (value)
    return std::move(*value);
  setException(exceptionFor(value.error()).get());
  throw nanobind::python_error();
}

/// Adds the functions and classes that give Python the devices.
void addDevices(nanobind::module_ &m);

} // namespace despina::python

#endif // DESPINA_PYTHON_DEVICES_H
