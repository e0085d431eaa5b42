//===- Support.h - Small helpers over the CPython API -----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_PYTHON_SUPPORT_H
#define DESPINA_PYTHON_SUPPORT_H

#include <Python.h>

#include "despina/host.h"

#include <string>
#include <string_view>
#include <utility>

namespace despina::python {

/// An owned reference. Null means "failed, and the Python error is set" wherever a function returns one.
class Ref {
public:
  Ref() = default;
  /// Takes over a new reference.
  static Ref steal(PyObject *object) { return Ref(object); }
  /// Adds a reference to a borrowed one.
  static Ref borrow(PyObject *object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(const Ref &other) : object_(other.object_) { Py_XINCREF(object_); }
  Ref(Ref &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref &operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject *get() const { return object_; }
  PyObject *release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

private:
  explicit Ref(PyObject *object) : object_(object) {}
  PyObject *object_ = nullptr;
};

/// Holds the GIL for a scope, on any thread.
class GILGuard {
public:
  GILGuard() : state_(PyGILState_Ensure()) {}
  ~GILGuard() { PyGILState_Release(state_); }
  GILGuard(const GILGuard &) = delete;
  GILGuard &operator=(const GILGuard &) = delete;

private:
  PyGILState_STATE state_;
};

/// Gives the GIL up for a scope.
class GILRelease {
public:
  GILRelease() : state_(PyEval_SaveThread()) {}
  ~GILRelease() { PyEval_RestoreThread(state_); }
  GILRelease(const GILRelease &) = delete;
  GILRelease &operator=(const GILRelease &) = delete;

private:
  PyThreadState *state_;
};

/// Sets aside a pending Python error for a scope.
class ErrorStash {
public:
  ErrorStash() { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~ErrorStash() { PyErr_Restore(type_, value_, traceback_); }
  ErrorStash(const ErrorStash &) = delete;
  ErrorStash &operator=(const ErrorStash &) = delete;

private:
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

/// UTF-8 text of a `str`; empty when it is none (no error is left set).
std::string_view textOf(PyObject *object);

/// Tuples and lists may be nested this deep; beyond, the stack would be at the caller's mercy.
inline constexpr unsigned maxNesting = 100;
/// `str(object)`; a placeholder when that raises.
std::string strOf(PyObject *object);
inline Ref makeStr(std::string_view text) {
  return Ref::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"));
}
/// `getattr(object, name, None)` without an error: null when it is missing or raises AttributeError.
Ref optionalAttr(PyObject *object, PyObject *name);
/// Takes the pending Python error as a normalised exception object.
Ref takeException();
/// Sets `exception` (an exception object) as the pending error; its own traceback is kept.
void setException(PyObject *exception);

/// What the package registers at import: its classes and helpers, and names made once.
struct Registry {
  PyObject *constexprClass = nullptr;
  PyObject *dtypeClass = nullptr;
  PyObject *descriptorClass = nullptr; ///< TensorDescriptor
  PyObject *jitCallableClass = nullptr;
  PyObject *dtypeFromSignature = nullptr;               ///< str -> dtype
  PyObject *makeError = nullptr;                        ///< fields of Error -> exception object
  PyObject *allowGlobals = nullptr;                     ///< () -> bool: TRITON_ALLOW_NON_CONSTEXPR_GLOBALS
  PyObject *enterHooks = nullptr, *exitHooks = nullptr; ///< lists
  PyObject *activeDevice = nullptr;                     ///< () -> number of a CUDA device, or -1: the CPU
  PyObject *allocateScratch = nullptr;                  ///< (bytes, alignment, stream) -> (owner, address)
  PyObject *readBuiltin = nullptr; ///< a function that a user marked as a builtin -> what the compiler reads
  unsigned long mainThread = 0;
  // Interned names.
  PyObject *value, *dataPtr, *dtype, *handle, *signature, *path, *globals, *closure, *code, *freevars, *fn,
      *fields, *item, *isCpu, *isCuda, *getDevice, *arrayInterface, *cudaArrayInterface, *dlpack,
      *dlpackDevice, *cellContents, *dict, *name, *isConst, *aggregate, *builtinMark;
};
Registry &registry();
/// Makes the interned names. False after setting a Python error.
bool initialiseRegistry();

/// The exception object for a failure of the library. `cause` may be null.
Ref exceptionFor(const Error &error, PyObject *cause = nullptr);

} // namespace despina::python

#endif // DESPINA_PYTHON_SUPPORT_H
