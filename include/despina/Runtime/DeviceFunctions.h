//===- DeviceFunctions.h - A device's math library on the CPU ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The functions behind `tl.extra.libdevice` under the symbols of NVIDIA's library ("__nv_tanhf"), each a C
// function. Compiled kernels call them lane by lane. How exact they are: docs/numerics.md.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_RUNTIME_DEVICEFUNCTIONS_H
#define DESPINA_RUNTIME_DEVICEFUNCTIONS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace despina::cpu {

struct DeviceFunction {
  std::string symbol;
  /// A letter for each argument, ':' and one for the result: i int32, u uint32, l int64, L uint64, f float,
  /// d double.
  std::string types;
  void *address = nullptr;
  /// Calls the function at an address on operands as bits, the lower ones of each number.
  uint64_t (*caller)(void *address, const uint64_t *operands) = nullptr;

  uint64_t call(const uint64_t *operands) const { return caller(address, operands); }
};

/// Null for what the library does not have. The first call makes the table.
const DeviceFunction *findDeviceFunction(std::string_view symbol);
const std::vector<DeviceFunction> &allDeviceFunctions();

} // namespace despina::cpu

#endif // DESPINA_RUNTIME_DEVICEFUNCTIONS_H
