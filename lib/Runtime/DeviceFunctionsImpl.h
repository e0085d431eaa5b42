//===- DeviceFunctionsImpl.h - How the table is made ------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_RUNTIME_DEVICEFUNCTIONSIMPL_H
#define DESPINA_LIB_RUNTIME_DEVICEFUNCTIONSIMPL_H

#include "despina/Runtime/DeviceFunctions.h"

#include <cstdint>
#include <cstring>
#include <utility>

namespace despina::cpu {

/// What the table is filled with; types are read off the functions.
class DeviceFunctionTable {
public:
  template <typename Result, typename... Args> void add(std::string name, Result (*function)(Args...)) {
    std::string types = (std::string() + ... + letter(Args())) + ":" + letter(Result());
    functions.push_back(
        {"__nv_" + name, std::move(types), reinterpret_cast<void *>(function), callBits<Result, Args...>});
  }
  /// NAMEf for float and NAME for double.
  template <typename Single, typename Double>
  void addBoth(const std::string &name, Single *single, Double *twice) {
    add(name + "f", single);
    add(name, twice);
  }

  std::vector<DeviceFunction> functions;

private:
  template <typename T> static T fromBits(uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  template <typename Result, typename... Args>
  static uint64_t callBits(void *address, const uint64_t *operands) {
    auto *function = reinterpret_cast<Result (*)(Args...)>(address);
    Result result = [&]<size_t... index>(std::index_sequence<index...>) {
      return function(fromBits<Args>(operands[index])...);
    }(std::index_sequence_for<Args...>());
    uint64_t bits = 0;
    std::memcpy(&bits, &result, sizeof result);
    return bits;
  }

  static char letter(int32_t) { return 'i'; }
  static char letter(uint32_t) { return 'u'; }
  static char letter(int64_t) { return 'l'; }
  static char letter(uint64_t) { return 'L'; }
  static char letter(float) { return 'f'; }
  static char letter(double) { return 'd'; }
};

void addElementaryFunctions(DeviceFunctionTable &table);
void addSpecialFunctions(DeviceFunctionTable &table);
void addRoundedFunctions(DeviceFunctionTable &table);
void addIntegerFunctions(DeviceFunctionTable &table);

} // namespace despina::cpu

#endif // DESPINA_LIB_RUNTIME_DEVICEFUNCTIONSIMPL_H
