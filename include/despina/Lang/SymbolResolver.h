//===- SymbolResolver.h - Where a kernel's free names lead ------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Two implementations: ModuleLoader reads .py files without Python; PythonHost (python/bindings) asks the
// live interpreter.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LANG_SYMBOLRESOLVER_H
#define DESPINA_LANG_SYMBOLRESOLVER_H

#include "despina/Lang/Diagnostics.h"
#include "despina/Lang/Value.h"

namespace despina {

/// The answer to a global lookup.
struct Resolution {
  enum class Status : uint8_t {
    Found,      ///< `value` is set
    NotFound,   ///< no such name: the caller tries builtins, then reports NameError
    NotAllowed, ///< exists, but is not a constexpr (spec 2.1): the caller reports that text
    Failed,     ///< evaluating it failed; `message` says why (e.g. it needs Python)
  };
  Status status = Status::NotFound;
  Value value;
  std::string message;
  /// Failed: the exception class it stands for.
  ErrorKind errorKind = ErrorKind::Runtime;
};

class SymbolResolver {
public:
  virtual ~SymbolResolver() = default;

  /// A free name of `function`: closure cells first, then the globals of its module. While
  /// `evaluatingDefaults`, any host value is readable.
  virtual Resolution lookup(const FunctionInfo &function, llvm::StringRef name, bool evaluatingDefaults) = 0;
  /// `object.name` on a host module or object.
  virtual Resolution attribute(const Value &object, llvm::StringRef name) = 0;
  /// Calls a host callable at compile time (constexpr_function, dtype constructors, NamedTuple classes).
  /// Constants, dtypes and tuples go in and come out.
  virtual Resolution call(const Value &callee, llvm::ArrayRef<Value> args,
                          llvm::ArrayRef<std::pair<std::string, Value>> keywords) = 0;
  /// `object[index]` on a host object.
  virtual Resolution subscript(const Value &object, const Value &index) = 0;
  /// `a is b` for host objects.
  virtual bool same(const Value &lhs, const Value &rhs) = 0;
};

} // namespace despina

#endif // DESPINA_LANG_SYMBOLRESOLVER_H
