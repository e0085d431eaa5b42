//===- PyNumber.h - Python's arithmetic on constants ------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants known at compile time follow CPython to the letter, the texts of its exceptions included.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_PYNUMBER_H
#define DESPINA_LIB_LANG_PYNUMBER_H

#include "despina/Lang/Diagnostics.h"
#include "despina/Lang/Value.h"

#include "llvm/ADT/APInt.h"

namespace despina {

/// No string of a kernel is longer; without a limit a short loop could fill the memory.
constexpr size_t maxStringBytes = size_t(1) << 20;

/// An exception that Python would raise.
struct PyError {
  ErrorKind kind = ErrorKind::Type;
  std::string message;
};
using PyResult = std::variant<Constant, PyError>;

PyResult pyBinary(ast::BinaryOperator op, const Constant &lhs, const Constant &rhs);
PyResult pyUnary(ast::UnaryOperator op, const Constant &operand);
/// `==` to `>=` (identity and membership are the caller's).
PyResult pyCompare(ast::CompareOperator op, const Constant &lhs, const Constant &rhs);
/// `int(x)` and `float(x)`, also of strings.
PyResult pyToInt(const Constant &value);
PyResult pyToFloat(const Constant &value);

/// "+" and so on, as in texts.
const char *binarySymbol(ast::BinaryOperator op);
const char *compareSymbol(ast::CompareOperator op);

/// Two's complement in as many bits as needed (at least 64).
llvm::APInt toAPInt(const llvm::DynamicAPInt &value);
/// Nearest double, ties to even; infinite when too large.
double roundToDouble(const llvm::DynamicAPInt &value);
/// Python's shortest text that reads back as the same double.
std::string floatRepr(double value);

} // namespace despina

#endif // DESPINA_LIB_LANG_PYNUMBER_H
