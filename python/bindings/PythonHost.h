//===- PythonHost.h - Live Python answers the front end ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_PYTHON_PYTHONHOST_H
#define DESPINA_PYTHON_PYTHONHOST_H

#include "Support.h"

#include <vector>

namespace despina::python {

/// A global or closure cell whose value a kernel was compiled with. `container` is a dict or a cell.
struct UsedGlobal {
  Ref container, name, value;
  /// The value it has now: null when it is gone (no Python error is left set).
  Ref current() const;
};

/// What a jit function or constexpr_function keeps as `_handle`.
struct FunctionHandle {
  std::shared_ptr<const host::Function> function;
};

/// Turns a Python object into a border value. Never fails: what has no meaning to the compiler is opaque.
host::Value toValue(PyObject *object);
/// Turns a border value into a Python object; null with a Python error set.
Ref toPython(const host::Value &value);

/// Answers from the live interpreter. Made and destroyed with the GIL held; its callbacks take it themselves.
class PythonHost : public host::Resolver {
public:
  host::Answer lookup(const host::Function &function, const std::string &name,
                      bool evaluatingDefaults) override;
  host::Answer attribute(const host::Value &object, const std::string &name) override;
  host::Answer call(const host::Value &callee, const std::vector<host::Value> &args,
                    const std::vector<std::pair<std::string, host::Value>> &keywords) override;
  host::Answer subscript(const host::Value &object, const host::Value &index) override;
  bool same(const host::Value &lhs, const host::Value &rhs) override;
  void staticPrint(const std::string &text) override;
  void warn(const std::string &message, const std::string &file, unsigned line) override;

  /// Constants the compilation read: a later launch checks that they have not changed.
  const std::vector<UsedGlobal> &usedGlobals() const { return usedGlobals_; }
  /// The last exception a callback turned into a failed answer, for `__cause__`. May be null.
  PyObject *lastException() const { return lastException_.get(); }
  /// An exception that must reach the user as it is (a plain function was referenced, a warning is an error,
  /// Ctrl-C). May be null.
  PyObject *rawException() const { return rawException_.get(); }

private:
  host::Answer failed();
  host::Answer refuseFunction(PyObject *function);
  void recordUse(PyObject *container, PyObject *name, PyObject *value);

  std::vector<UsedGlobal> usedGlobals_;
  Ref lastException_, rawException_;
};

} // namespace despina::python

#endif // DESPINA_PYTHON_PYTHONHOST_H
