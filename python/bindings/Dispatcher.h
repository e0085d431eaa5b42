//===- Dispatcher.h - The hot path of a launch ------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// One Dispatcher per JITFunction: binds the arguments of a launch, specialises them, finds the compiled
// kernel in its table and runs it. What is not in the table is compiled by the JITFunction (Python). Plain
// CPython types with vectorcall, because a launch must cost a few microseconds.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_PYTHON_DISPATCHER_H
#define DESPINA_PYTHON_DISPATCHER_H

#include "Devices.h"
#include "PythonHost.h"

namespace despina::python {

/// What a compiled kernel is to Python: wrapped as `_native.Kernel`.
struct KernelHandle {
  Kernel kernel;
  std::vector<UsedGlobal> usedGlobals;
  std::vector<TypeCode> types; ///< of the launch slots
};

/// Three extents from a tuple or list of one to three integers. False after setting a Python error.
bool readGrid(PyObject *object, Grid &grid);
/// Runs a kernel without the GIL, on the CPU or a CUDA device with its stream; Ctrl-C stops one of the CPU.
/// False after setting a Python error.
bool runKernel(const Kernel &kernel, const Grid &grid, const uint64_t *slots, int device, void *stream);

/// Makes the types `Dispatcher` and `BoundKernel` and adds them to the module. False after a Python error.
bool addDispatcher(PyObject *module);

} // namespace despina::python

#endif // DESPINA_PYTHON_DISPATCHER_H
