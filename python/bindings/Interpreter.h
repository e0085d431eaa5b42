//===- Interpreter.h - Operations of interpreted kernels --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_PYTHON_INTERPRETER_H
#define DESPINA_PYTHON_INTERPRETER_H

#include "PythonHost.h"

#include "despina/interpreter.h"

#include <unordered_map>

namespace despina::python {

/// A launch that is interpreted. Operations belong to the launch that began last and has not ended.
class Session : public host::FunctionCaller {
public:
  /// `callFunction(jit_function, args, kwargs)` runs a jit function of the user's. With `report(kind, text)`,
  /// which may be None, faults are looked for, and it is called where one is.
  Session(Ref callFunction, Ref report)
      : interpreter(host, *this), callFunction_(std::move(callFunction)), report_(std::move(report)) {
    if (report_.get() != Py_None)
      interpreter.sanitize();
  }

  std::optional<host::Item> call(const host::Function &function, const std::vector<host::Item> &args,
                                 const host::NamedItems &keywords) override;

  /// The session of the operation being done; null, with a Python error, outside of launches.
  static Session *current();
  static std::vector<Session *> &running();

  /// False after setting a Python error.
  bool toItem(PyObject *object, host::Item &item);
  Ref fromItem(const host::Item &item);
  /// The Python object of an operation's result, or null with the error of its failure.
  Ref finish(const host::Interpreter::Answer &answer);
  /// Sets the Python error of the failure that just happened.
  void raise();

  /// What calling an object means.
  struct Callee {
    enum class Kind : uint8_t { Builtin, Jit, Native };
    Kind kind = Kind::Native;
    const void *builtin = nullptr;
  };
  Callee calleeOf(PyObject *object);
  /// The function of the language that is a method of tensors, or null.
  const void *memberOf(PyObject *name);
  PyObject *callFunction() const { return callFunction_.get(); }

  PythonHost host;
  host::Interpreter interpreter;

private:
  bool otherToItem(PyObject *object, host::Item &item);

  /// False after setting a Python error.
  bool reportFindings();

  Ref callFunction_, report_;
  std::unordered_map<PyObject *, host::Item> items_;
  std::unordered_map<PyObject *, Callee> callees_;
  std::unordered_map<PyObject *, const void *> members_;
  std::vector<Ref> kept_; ///< what the tables are keyed by
};

/// Adds the type of values, the session and the operations to the extension. False after a Python error.
bool addInterpreter(PyObject *module);
/// The item of a value object, or null.
const host::Item *itemOf(PyObject *object);
Ref makeCell(host::Item item);

} // namespace despina::python

#endif // DESPINA_PYTHON_INTERPRETER_H
