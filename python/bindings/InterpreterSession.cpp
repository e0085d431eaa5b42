//===- InterpreterSession.cpp - Values between Python and the interpreter -===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Interpreter.h"

namespace despina::python {

using host::Item;

std::vector<Session *> &Session::running() {
  thread_local std::vector<Session *> sessions;
  return sessions;
}

Session *Session::current() {
  if (!running().empty())
    return running().back();
  PyErr_SetString(PyExc_RuntimeError, "the value belongs to a launch of a kernel that has ended");
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Python to items
//===----------------------------------------------------------------------===//

static Item otherItem(host::Value value) {
  Item item;
  item.kind = Item::Kind::Other;
  item.owned = std::make_shared<host::Value>(std::move(value));
  return item;
}

/// A border value as an item: plain numbers have kinds of their own.
static Item itemFromValue(host::Value value) {
  Item item;
  switch (value.kind) {
  case host::Value::Kind::None: return item;
  case host::Value::Kind::Bool:
    item.kind = Item::Kind::Bool;
    item.boolean = value.boolean;
    return item;
  case host::Value::Kind::Float:
    item.kind = Item::Kind::Float;
    item.real = value.real;
    return item;
  default: return otherItem(std::move(value));
  }
}

bool Session::otherToItem(PyObject *object, Item &item) {
  if (auto found = items_.find(object); found != items_.end()) {
    item = found->second;
    return true;
  }
  if (PySlice_Check(object)) {
    auto *slice = reinterpret_cast<PySliceObject *>(object);
    Item lower, upper, step;
    if (!toItem(slice->start, lower) || !toItem(slice->stop, upper) || !toItem(slice->step, step))
      return false;
    std::optional<Item> made = interpreter.slice(lower, upper, step);
    if (!made) {
      raise();
      return false;
    }
    item = *made;
    return true;
  }
  if (registry().constexprClass && PyObject_IsInstance(object, registry().constexprClass) == 1) {
    Ref inner = optionalAttr(object, registry().value);
    return inner ? toItem(inner.get(), item) : false;
  }
  item = itemFromValue(toValue(object));
  // What cannot change its meaning is looked at once.
  if (item.kind == Item::Kind::Other && !PyUnicode_Check(object) && !PyLong_Check(object)) {
    kept_.push_back(Ref::borrow(object));
    items_[object] = item;
  }
  return true;
}

bool Session::toItem(PyObject *object, Item &item) {
  if (const Item *cell = itemOf(object)) {
    item = *cell;
    return true;
  }
  if (object == Py_None) {
    item = Item();
    return true;
  }
  if (PyBool_Check(object)) {
    item.kind = Item::Kind::Bool;
    item.boolean = object == Py_True;
    return true;
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow)
      return otherToItem(object, item);
    item.kind = Item::Kind::Int;
    item.integer = number;
    return true;
  }
  if (PyFloat_CheckExact(object)) {
    item.kind = Item::Kind::Float;
    item.real = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (!PyTuple_Check(object) && !PyList_CheckExact(object))
    return otherToItem(object, item);
  auto tuple = std::make_shared<host::TupleItem>();
  Ref items = Ref::steal(PySequence_Fast(object, "a sequence"));
  if (!items)
    return false;
  for (Py_ssize_t i = 0; i != PySequence_Fast_GET_SIZE(items.get()); ++i)
    if (!toItem(PySequence_Fast_GET_ITEM(items.get(), i), tuple->elements.emplace_back()))
      return false;
  Ref fields =
      PyTuple_CheckExact(object) || PyList_Check(object) ? Ref() : optionalAttr(object, registry().fields);
  if (fields && PyTuple_Check(fields.get())) {
    for (Py_ssize_t i = 0; i != PyTuple_GET_SIZE(fields.get()); ++i)
      tuple->fields.emplace_back(textOf(PyTuple_GET_ITEM(fields.get(), i)));
    tuple->typeName = Py_TYPE(object)->tp_name;
  }
  item.kind = Item::Kind::Tuple;
  item.owned = std::move(tuple);
  return true;
}

//===----------------------------------------------------------------------===//
// Items to Python
//===----------------------------------------------------------------------===//

Ref Session::fromItem(const Item &item) {
  switch (item.kind) {
  case Item::Kind::None: return Ref::borrow(Py_None);
  case Item::Kind::Bool: return Ref::borrow(item.boolean ? Py_True : Py_False);
  case Item::Kind::Int: return Ref::steal(PyLong_FromLongLong(item.integer));
  case Item::Kind::Float: return Ref::steal(PyFloat_FromDouble(item.real));
  case Item::Kind::Cell: return makeCell(item);
  case Item::Kind::Other: return toPython(*static_cast<const host::Value *>(item.owned.get()));
  case Item::Kind::Tuple: break;
  }
  const auto &tuple = *static_cast<const host::TupleItem *>(item.owned.get());
  Ref result = Ref::steal(PyTuple_New(Py_ssize_t(tuple.elements.size())));
  for (size_t i = 0; result && i != tuple.elements.size(); ++i) {
    Ref element = fromItem(tuple.elements[i]);
    if (!element)
      return {};
    PyTuple_SET_ITEM(result.get(), Py_ssize_t(i), element.release());
  }
  return result;
}

void Session::raise() {
  std::optional<Error> error = interpreter.takeError();
  if (PyErr_Occurred())
    return;
  if (!error) {
    PyErr_SetString(PyExc_RuntimeError, "an operation failed without saying why");
    return;
  }
  setException(exceptionFor(*error, host.lastException()).get());
}

bool Session::reportFindings() {
  for (const host::Finding &finding : interpreter.takeFindings()) {
    Ref kind = makeStr(finding.kind), text = makeStr(finding.text);
    if (!kind || !text ||
        !Ref::steal(PyObject_CallFunctionObjArgs(report_.get(), kind.get(), text.get(), nullptr)))
      return false;
  }
  return true;
}

Ref Session::finish(const host::Interpreter::Answer &answer) {
  if (interpreter.hasFindings() && !PyErr_Occurred() && !reportFindings())
    return {};
  if (answer && !PyErr_Occurred())
    return fromItem(*answer);
  raise();
  return {};
}

//===----------------------------------------------------------------------===//
// Callables
//===----------------------------------------------------------------------===//

/// "builtins.len" for Python's own functions that kernels know.
static std::string pythonBuiltinPath(PyObject *object) {
  if (!PyCFunction_Check(object) && !PyType_Check(object))
    return {};
  Ref module = Ref::steal(PyObject_GetAttrString(object, "__module__"));
  Ref name = optionalAttr(object, registry().name);
  PyErr_Clear();
  if (!module || textOf(module.get()) != "builtins" || !name)
    return {};
  return "builtins." + std::string(textOf(name.get()));
}

Session::Callee Session::calleeOf(PyObject *object) {
  if (auto found = callees_.find(object); found != callees_.end())
    return found->second;
  Callee callee;
  Ref path = PyModule_Check(object) ? Ref() : optionalAttr(object, registry().path);
  std::string_view text = textOf(path.get());
  constexpr std::string_view prefix = "triton.";
  if (PyObject_IsInstance(object, registry().jitCallableClass) == 1 &&
      PyObject_HasAttrString(object, "params"))
    callee.kind = Callee::Kind::Jit;
  else if (text.substr(0, prefix.size()) == prefix)
    callee.builtin = interpreter.findBuiltin(std::string(text.substr(prefix.size())));
  else if (std::string builtin = pythonBuiltinPath(object); !builtin.empty() && builtin != "builtins.print")
    callee.builtin = interpreter.findBuiltin(builtin);
  if (callee.builtin)
    callee.kind = Callee::Kind::Builtin;
  // The registry holds types too; calling one is Python's affair.
  if (PyType_Check(object) && text.substr(0, prefix.size()) == prefix)
    callee = {};
  kept_.push_back(Ref::borrow(object));
  callees_[object] = callee;
  return callee;
}

const void *Session::memberOf(PyObject *name) {
  if (auto found = members_.find(name); found != members_.end())
    return found->second;
  const void *member = interpreter.findMember(std::string(textOf(name)));
  kept_.push_back(Ref::borrow(name));
  members_[name] = member;
  return member;
}

std::optional<Item> Session::call(const host::Function &function, const std::vector<Item> &args,
                                  const host::NamedItems &keywords) {
  Ref positional = Ref::steal(PyTuple_New(Py_ssize_t(args.size()))), named = Ref::steal(PyDict_New());
  if (!positional || !named || !function.scope)
    return std::nullopt;
  for (size_t i = 0; i != args.size(); ++i) {
    Ref value = fromItem(args[i]);
    if (!value)
      return std::nullopt;
    PyTuple_SET_ITEM(positional.get(), Py_ssize_t(i), value.release());
  }
  for (const auto &[name, argument] : keywords) {
    Ref value = fromItem(argument);
    if (!value || PyDict_SetItemString(named.get(), name.c_str(), value.get()) < 0)
      return std::nullopt;
  }
  Ref result = Ref::steal(PyObject_CallFunctionObjArgs(
      callFunction_.get(), static_cast<PyObject *>(function.scope), positional.get(), named.get(), nullptr));
  Item item;
  if (result && toItem(result.get(), item))
    return item;
  // The pairs are combined one by one then: the exception has done its work.
  if (interpreter.hasDiverged())
    PyErr_Clear();
  return std::nullopt;
}

} // namespace despina::python
