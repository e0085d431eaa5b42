//===- Support.cpp - Small helpers over the CPython API -------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Support.h"

namespace despina::python {

std::string_view textOf(PyObject *object) {
  if (!object || !PyUnicode_Check(object))
    return {};
  Py_ssize_t size = 0;
  const char *data = PyUnicode_AsUTF8AndSize(object, &size);
  if (!data) {
    PyErr_Clear();
    return {};
  }
  return {data, size_t(size)};
}

std::string strOf(PyObject *object) {
  if (!object)
    return "?";
  Ref text = Ref::steal(PyObject_Str(object));
  if (!text) {
    PyErr_Clear();
    return std::string("<unprintable ") + Py_TYPE(object)->tp_name + ">";
  }
  return std::string(textOf(text.get()));
}

Ref optionalAttr(PyObject *object, PyObject *name) {
  PyObject *result = PyObject_GetAttr(object, name);
  if (!result)
    PyErr_Clear();
  return Ref::steal(result);
}

Ref takeException() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value && traceback)
    PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return Ref::steal(value);
}

void setException(PyObject *exception) {
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception)), exception);
}

Registry &registry() {
  static Registry instance;
  return instance;
}

bool initialiseRegistry() {
  Registry &r = registry();
  const std::pair<PyObject **, const char *> names[] = {
      {&r.value, "value"},
      {&r.dataPtr, "data_ptr"},
      {&r.dtype, "dtype"},
      {&r.handle, "_handle"},
      {&r.signature, "_signature"},
      {&r.path, "__despina_path__"},
      {&r.globals, "__globals__"},
      {&r.closure, "__closure__"},
      {&r.code, "__code__"},
      {&r.freevars, "co_freevars"},
      {&r.fn, "fn"},
      {&r.fields, "_fields"},
      {&r.item, "item"},
      {&r.isCpu, "is_cpu"},
      {&r.isCuda, "is_cuda"},
      {&r.getDevice, "get_device"},
      {&r.cudaArrayInterface, "__cuda_array_interface__"},
      {&r.arrayInterface, "__array_interface__"},
      {&r.dlpack, "__dlpack__"},
      {&r.dlpackDevice, "__dlpack_device__"},
      {&r.cellContents, "cell_contents"},
      {&r.dict, "__dict__"},
      {&r.name, "__name__"},
      {&r.isConst, "is_const"},
      {&r.aggregate, "__triton_aggregate__"},
      {&r.builtinMark, "__triton_builtin__"},
  };
  for (auto [slot, text] : names)
    if (!(*slot = PyUnicode_InternFromString(text)))
      return false;
  return true;
}

static Ref notesOf(const Error &error) {
  Ref notes = Ref::steal(PyList_New(0));
  for (const Error::Note &note : error.notes) {
    Ref entry =
        Ref::steal(Py_BuildValue("(NNIIN)", makeStr(note.message).release(), makeStr(note.file).release(),
                                 note.line, note.column, makeStr(note.pythonText).release()));
    if (!entry || PyList_Append(notes.get(), entry.get()) < 0)
      return {};
  }
  return notes;
}

Ref exceptionFor(const Error &error, PyObject *cause) {
  if (!registry().makeError) {
    PyErr_SetString(PyExc_RuntimeError, error.message.c_str());
    return takeException();
  }
  Ref notes = notesOf(error);
  Ref fields;
  if (notes)
    fields = Ref::steal(Py_BuildValue(
        "(NNNIINNNOOO(NKK))", makeStr(error.kind).release(), makeStr(error.message).release(),
        makeStr(error.file).release(), error.line, error.column, makeStr(error.rendered).release(),
        makeStr(error.pythonText).release(), makeStr(error.causeKind).release(),
        error.hasCause ? Py_True : Py_False, notes.get(), cause ? cause : Py_None,
        makeStr(error.resource).release(), static_cast<unsigned long long>(error.required),
        static_cast<unsigned long long>(error.limit)));
  Ref exception;
  if (fields)
    exception = Ref::steal(PyObject_CallObject(registry().makeError, fields.get()));
  return exception ? exception : takeException();
}

} // namespace despina::python
