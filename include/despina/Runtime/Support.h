//===- Support.h - Functions that compiled kernels call ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Generated code may call these, the functions of the C math library, and memcpy, memmove, memset and memcmp;
// the JIT knows them by name (lib/Runtime/Support.cpp has the table).
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_RUNTIME_SUPPORT_H
#define DESPINA_RUNTIME_SUPPORT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace despina {

/// What stands before a value that device_print prints: ` prefix: `; without operands, ` prefix` alone.
inline std::string printLabel(std::string_view prefix, bool hasOperands) {
  std::string text(prefix);
  if (!text.starts_with(' '))
    text.insert(text.begin(), ' ');
  if (hasOperands && !text.ends_with(": "))
    text += text.ends_with(':') ? " " : ": ";
  return text;
}

} // namespace despina

namespace despina::cpu {

/// How despina_rt_print reads an element. The width is given beside it; an element takes ceil(bits / 8)
/// bytes.
enum class PrintKind : int32_t { Signed, Unsigned, Float, BFloat, Pointer };

} // namespace despina::cpu

extern "C" {
/// Prints one operand of device_print of the program (x, y, z): one line per element,
/// `pid (x, y, z) idx (i, j)<prefix>value`. `data` holds the elements densely in row-major order, `shape` has
/// `rank` extents (0: a scalar, shown without idx). `operand` numbers the operand when `numOperands` > 1;
/// numOperands 0 prints the prefix alone. `prefix` ends with a zero byte.
void despina_rt_print(uint32_t x, uint32_t y, uint32_t z, const char *prefix, int32_t hex, int32_t operand,
                      int32_t numOperands, int32_t kind, int32_t bits, int32_t rank, const int64_t *shape,
                      const void *data);

/// Records a failed device_assert of the program (x, y, z) and returns; the launch then fails with `message`
/// (zero-terminated) and starts no further programs. The caller should end its program.
void despina_rt_assert(uint32_t x, uint32_t y, uint32_t z, const char *message);
}

namespace despina::cpu {

struct RuntimeSymbol {
  const char *name;
  void *address;
};
/// Everything generated code may call, by symbol name.
const RuntimeSymbol *runtimeSymbols(size_t &count);

} // namespace despina::cpu

#endif // DESPINA_RUNTIME_SUPPORT_H
