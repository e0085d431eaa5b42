//===- InterpreterOps.cpp - What rewritten kernels call -------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Functions of C's calling convention: a kernel calls one for each of its operations.
//
//===----------------------------------------------------------------------===//
#include "Interpreter.h"

#include <new>

namespace despina::python {

using host::Item;
using host::Operator;

namespace {

struct Cell {
  PyObject_HEAD Item item;
};
PyTypeObject *cellType = nullptr, *rangeType = nullptr;

Item &itemIn(PyObject *cell) { return reinterpret_cast<Cell *>(cell)->item; }

PyObject *give(Ref object) { return object.release(); }

/// Text of the operands, for the error that says what failed.
void noteOperands(std::initializer_list<const Item *> operands) {
  std::string text;
  for (const Item *operand : operands)
    text += (text.empty() ? "" : ", ") + host::Interpreter::typeText(*operand);
  Ref exception = takeException();
  if (!exception)
    return;
  Ref note = makeStr(text);
  if (PyObject_HasAttrString(exception.get(), "_operands") ||
      PyObject_SetAttrString(exception.get(), "_operands", note.get()) < 0)
    PyErr_Clear();
  setException(exception.get());
}

PyObject *finish(Session &session, const host::Interpreter::Answer &answer,
                 std::initializer_list<const Item *> operands) {
  Ref result = session.finish(answer);
  if (!result)
    noteOperands(operands);
  return result.release();
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

PyObject *binary(Operator op, PyObject *lhs, PyObject *rhs) {
  Session *session = Session::current();
  Item x, y;
  if (!session || !session->toItem(lhs, x) || !session->toItem(rhs, y))
    return nullptr;
  return finish(*session, session->interpreter.binary(op, x, y), {&x, &y});
}

PyObject *unary(Operator op, PyObject *operand) {
  Session *session = Session::current();
  Item x;
  if (!session || !session->toItem(operand, x))
    return nullptr;
  return finish(*session, session->interpreter.unary(op, x), {&x});
}

bool checkCount(Py_ssize_t count, Py_ssize_t expected) {
  if (count == expected)
    return true;
  PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", expected, count);
  return false;
}

template <Operator Op> PyObject *binaryFunction(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return checkCount(count, 2) ? binary(Op, args[0], args[1]) : nullptr;
}
template <Operator Op> PyObject *unaryFunction(PyObject *, PyObject *operand) { return unary(Op, operand); }

// The same as Python's own operators, for code that is not rewritten: arguments of print, a debugger.
template <Operator Op> PyObject *binarySlot(PyObject *lhs, PyObject *rhs) { return binary(Op, lhs, rhs); }
template <Operator Op> PyObject *unarySlot(PyObject *operand) { return unary(Op, operand); }
PyObject *powerSlot(PyObject *lhs, PyObject *rhs, PyObject *) { return binary(Operator::Pow, lhs, rhs); }

PyObject *compareSlot(PyObject *lhs, PyObject *rhs, int op) {
  constexpr Operator operators[] = {Operator::Less,     Operator::LessEqual, Operator::Equal,
                                    Operator::NotEqual, Operator::Greater,   Operator::GreaterEqual};
  return binary(operators[op], lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Attributes, subscripts, calls
//===----------------------------------------------------------------------===//

PyObject *attributeOf(Session &session, const Item &object, PyObject *name) {
  return finish(session, session.interpreter.attribute(object, std::string(textOf(name))), {&object});
}

/// Python's own values that the language gives attributes.
bool isLanguageConstant(PyObject *object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object) || object == Py_None;
}

PyObject *attribute(PyObject *object, PyObject *name) {
  if (!itemOf(object) && !isLanguageConstant(object))
    return PyObject_GetAttr(object, name);
  Session *session = Session::current();
  Item item;
  if (!session || !session->toItem(object, item))
    return nullptr;
  return attributeOf(*session, item, name);
}

PyObject *attributeFunction(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return checkCount(count, 2) ? attribute(args[0], args[1]) : nullptr;
}

PyObject *subscript(PyObject *object, PyObject *index) {
  if (!itemOf(object) && (PyTuple_Check(object) || PyUnicode_Check(object)) &&
      (PyLong_Check(index) || PySlice_Check(index)))
    return PyObject_GetItem(object, index);
  Session *session = Session::current();
  Item x, y;
  if (!session || !session->toItem(object, x) || !session->toItem(index, y))
    return nullptr;
  if (x.kind == Item::Kind::Other)
    return PyObject_GetItem(object, index);
  return finish(*session, session->interpreter.subscript(x, y), {&x});
}

PyObject *subscriptFunction(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return checkCount(count, 2) ? subscript(args[0], args[1]) : nullptr;
}

/// Arguments of a call: positional ones and those with names.
struct Arguments {
  std::vector<Item> positional;
  host::NamedItems named;

  bool read(Session &session, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    positional.reserve(size_t(count) + 1);
    for (Py_ssize_t i = 0; i != count; ++i)
      if (!session.toItem(args[i], positional.emplace_back()))
        return false;
    for (Py_ssize_t i = 0; names && i != PyTuple_GET_SIZE(names); ++i) {
      auto &[name, item] = named.emplace_back();
      name = textOf(PyTuple_GET_ITEM(names, i));
      if (!session.toItem(args[count + i], item))
        return false;
    }
    return true;
  }
  void note() const {
    std::string text;
    for (const Item &item : positional)
      text += (text.empty() ? "" : ", ") + host::Interpreter::typeText(item);
    for (const auto &[name, item] : named)
      text += (text.empty() ? "" : ", ") + name + "=" + host::Interpreter::typeText(item);
    Ref exception = takeException();
    Ref value = makeStr(text);
    if (exception && !PyObject_HasAttrString(exception.get(), "_operands"))
      PyObject_SetAttrString(exception.get(), "_operands", value.get());
    PyErr_Clear();
    if (exception)
      setException(exception.get());
  }
};

PyObject *callBuiltin(Session &session, const void *builtin, const Arguments &arguments) {
  Ref result =
      session.finish(session.interpreter.callBuiltin(builtin, arguments.positional, arguments.named));
  if (!result)
    arguments.note();
  return result.release();
}

PyObject *callJit(Session &session, PyObject *function, PyObject *const *args, Py_ssize_t count,
                  PyObject *names) {
  Ref positional = Ref::steal(PyTuple_New(count)), named = Ref::steal(PyDict_New());
  if (!positional || !named)
    return nullptr;
  for (Py_ssize_t i = 0; i != count; ++i)
    PyTuple_SET_ITEM(positional.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; names && i != PyTuple_GET_SIZE(names); ++i)
    if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(names, i), args[count + i]) < 0)
      return nullptr;
  return PyObject_CallFunctionObjArgs(session.callFunction(), function, positional.get(), named.get(),
                                      nullptr);
}

PyObject *callObject(Session &session, PyObject *callee, PyObject *const *args, Py_ssize_t count,
                     PyObject *names) {
  if (const Item *item = itemOf(callee)) {
    Arguments arguments;
    if (!arguments.read(session, args, count, names))
      return nullptr;
    Ref result = session.finish(session.interpreter.call(*item, arguments.positional, arguments.named));
    if (!result)
      arguments.note();
    return result.release();
  }
  Session::Callee what = session.calleeOf(callee);
  switch (what.kind) {
  case Session::Callee::Kind::Jit: return callJit(session, callee, args, count, names);
  case Session::Callee::Kind::Native: return PyObject_Vectorcall(callee, args, size_t(count), names);
  case Session::Callee::Kind::Builtin: break;
  }
  Arguments arguments;
  return arguments.read(session, args, count, names) ? callBuiltin(session, what.builtin, arguments)
                                                     : nullptr;
}

/// call(callee, *args, **kwargs)
PyObject *callFunction(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  Session *session = Session::current();
  if (!session || count < 1)
    return nullptr;
  return callObject(*session, args[0], args + 1, count - 1, names);
}

/// method(object, name, *args, **kwargs): `object.name(...)`.
PyObject *methodFunction(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  Session *session = Session::current();
  if (!session || count < 2)
    return nullptr;
  if (const Item *item = itemOf(args[0]); item && host::Interpreter::isTensor(*item))
    if (const void *member = session->memberOf(args[1])) {
      Arguments arguments;
      arguments.positional.push_back(*item);
      return arguments.read(*session, args + 2, count - 2, names) ? callBuiltin(*session, member, arguments)
                                                                  : nullptr;
    }
  Ref callee = Ref::steal(attribute(args[0], args[1]));
  return callee ? callObject(*session, callee.get(), args + 2, count - 2, names) : nullptr;
}

//===----------------------------------------------------------------------===//
// Assignments and conditions
//===----------------------------------------------------------------------===//

PyObject *assignFunction(PyObject *, PyObject *value) {
  if (itemOf(value) || value == Py_None || PyTuple_Check(value))
    return Py_NewRef(value);
  Session *session = Session::current();
  Item item;
  if (!session || !session->toItem(value, item))
    return nullptr;
  if (item.kind == Item::Kind::Cell)
    return give(session->fromItem(item));
  if (item.kind == Item::Kind::Other && !PyUnicode_Check(value) && !PyLong_Check(value))
    return Py_NewRef(value); // a type, a function: assigned as it is
  return finish(*session, session->interpreter.assigned(item), {&item});
}

PyObject *promoteFunction(PyObject *, PyObject *value) {
  Session *session = Session::current();
  Item item;
  if (!session || !session->toItem(value, item))
    return nullptr;
  return finish(*session, session->interpreter.promoted(item), {&item});
}

PyObject *tensorFunction(PyObject *, PyObject *value) {
  Session *session = Session::current();
  Item item;
  if (!session || !session->toItem(value, item))
    return nullptr;
  return finish(*session, session->interpreter.tensor(item), {&item});
}

/// -1 with a Python error.
int truthOf(PyObject *value) {
  if (PyBool_Check(value))
    return value == Py_True;
  if (value == Py_None)
    return 0;
  if (PyLong_CheckExact(value))
    return PyObject_IsTrue(value);
  Session *session = Session::current();
  Item item;
  if (!session || !session->toItem(value, item))
    return -1;
  std::optional<bool> truth = session->interpreter.condition(item);
  if (truth)
    return *truth;
  session->raise();
  noteOperands({&item});
  return -1;
}

PyObject *truthFunction(PyObject *, PyObject *value) {
  int truth = truthOf(value);
  return truth < 0 ? nullptr : Py_NewRef(truth ? Py_True : Py_False);
}

PyObject *isRuntimeFunction(PyObject *, PyObject *value) {
  const Item *item = itemOf(value);
  return Py_NewRef(item && host::Interpreter::isRuntime(*item) ? Py_True : Py_False);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Gives the scalars of a loop one after the other.
struct RangeIterator {
  PyObject_HEAD __int128 next, end, step;
  const char *type; ///< signature form, static
};

const char *staticName(const std::string &type) {
  for (const char *name : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "u1"})
    if (type == name)
      return name;
  return "i32";
}

PyObject *rangeNext(PyObject *object) {
  auto *self = reinterpret_cast<RangeIterator *>(object);
  if (self->step > 0 ? self->next >= self->end : self->next <= self->end)
    return nullptr;
  Session *session = Session::current();
  if (!session)
    return nullptr;
  Item item = session->interpreter.scalar(self->type, uint64_t(self->next));
  self->next += self->step;
  return give(session->fromItem(item));
}

void rangeDealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

/// range(lower, upper, step): an iterator over run-time scalars.
PyObject *rangeFunction(PyObject *, PyObject *const *args, Py_ssize_t count) {
  Session *session = Session::current();
  std::vector<Item> bounds(3);
  if (!session || !checkCount(count, 3))
    return nullptr;
  for (Py_ssize_t i = 0; i != 3; ++i)
    if (!session->toItem(args[i], bounds[size_t(i)]))
      return nullptr;
  std::optional<host::Interpreter::Range> range = session->interpreter.range(bounds);
  if (!range) {
    session->raise();
    return nullptr;
  }
  if (range->step == 0) {
    PyErr_SetString(PyExc_ValueError, "range() arg 3 must not be zero: the loop never ends");
    return nullptr;
  }
  auto *iterator = reinterpret_cast<RangeIterator *>(rangeType->tp_alloc(rangeType, 0));
  if (!iterator)
    return nullptr;
  auto wide = [&](int64_t number) {
    return range->isUnsigned ? __int128(uint64_t(number)) : __int128(number);
  };
  iterator->next = wide(range->lower);
  iterator->end = wide(range->upper);
  iterator->step = wide(range->step);
  iterator->type = staticName(range->type);
  return reinterpret_cast<PyObject *>(iterator);
}

//===----------------------------------------------------------------------===//
// Values as Python objects
//===----------------------------------------------------------------------===//

void cellDealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  reinterpret_cast<Cell *>(object)->item.~Item();
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject *cellGetAttribute(PyObject *object, PyObject *name) {
  std::string_view text = textOf(name);
  if (text.substr(0, 2) == "__" || text == "_describe" || text == "_elements" || text == "_parts")
    return PyObject_GenericGetAttr(object, name);
  return attribute(object, name);
}

/// _describe(): (kind, type, scalar, shape, text)
PyObject *cellDescribe(PyObject *object, PyObject *) {
  host::CellInfo info = host::Interpreter::describe(itemIn(object));
  Ref shape = Ref::steal(PyTuple_New(Py_ssize_t(info.shape.size())));
  for (size_t i = 0; shape && i != info.shape.size(); ++i)
    PyTuple_SET_ITEM(shape.get(), Py_ssize_t(i), PyLong_FromLongLong(info.shape[i]));
  constexpr const char *kinds[] = {"tensor", "descriptor", "tuple", "other"};
  return Py_BuildValue("(sNNON)", kinds[size_t(info.kind)], makeStr(info.type).release(),
                       makeStr(info.scalar).release(), shape.get(), makeStr(info.text).release());
}

PyObject *cellElements(PyObject *object, PyObject *) {
  std::vector<char> bytes = host::Interpreter::elements(itemIn(object));
  return PyBytes_FromStringAndSize(bytes.data(), Py_ssize_t(bytes.size()));
}

/// _parts(): the elements of a tuple, as a tuple of Python's.
PyObject *cellParts(PyObject *object, PyObject *) {
  std::optional<std::vector<Item>> parts = host::Interpreter::parts(itemIn(object));
  Session *session = parts ? Session::current() : nullptr;
  if (!parts) {
    std::string type = host::Interpreter::typeText(itemIn(object));
    PyErr_Format(PyExc_TypeError, "cannot iterate over a value of type %s", type.c_str());
  }
  if (!session)
    return nullptr;
  auto tuple = std::make_shared<host::TupleItem>();
  tuple->elements = std::move(*parts);
  Item item;
  item.kind = Item::Kind::Tuple;
  item.owned = std::move(tuple);
  return give(session->fromItem(item));
}

PyObject *cellIter(PyObject *object) {
  Ref parts = Ref::steal(cellParts(object, nullptr));
  return parts ? PyObject_GetIter(parts.get()) : nullptr;
}

/// `str` and `repr`, by the package's function.
PyObject *cellText(PyObject *object) {
  static PyObject *format = nullptr;
  if (!format) {
    Ref module = Ref::steal(PyImport_ImportModule("despina.runtime._interpreter_text"));
    format = module ? PyObject_GetAttrString(module.get(), "text") : nullptr;
  }
  return format ? PyObject_CallOneArg(format, object) : nullptr;
}

Py_hash_t cellHash(PyObject *object) { return Py_hash_t(reinterpret_cast<uintptr_t>(object) >> 4); }

PyMethodDef cellMethods[] = {{"_describe", cellDescribe, METH_NOARGS, "(kind, type, scalar, shape, text)"},
                             {"_elements", cellElements, METH_NOARGS, "The elements as bytes."},
                             {"_parts", cellParts, METH_NOARGS, "The elements of a tuple."},
                             {nullptr, nullptr, 0, nullptr}};

template <typename F> void *slot(F *function) { return reinterpret_cast<void *>(function); }

PyType_Slot cellSlots[] = {{Py_tp_dealloc, slot(cellDealloc)},
                           {Py_tp_getattro, slot(cellGetAttribute)},
                           {Py_tp_methods, cellMethods},
                           {Py_tp_repr, slot(cellText)},
                           {Py_tp_hash, slot(cellHash)},
                           {Py_tp_iter, slot(cellIter)},
                           {Py_tp_richcompare, slot(compareSlot)},
                           {Py_mp_subscript, slot(subscript)},
                           {Py_nb_bool, slot(truthOf)},
                           {Py_nb_add, slot(binarySlot<Operator::Add>)},
                           {Py_nb_subtract, slot(binarySlot<Operator::Sub>)},
                           {Py_nb_multiply, slot(binarySlot<Operator::Mult>)},
                           {Py_nb_true_divide, slot(binarySlot<Operator::Div>)},
                           {Py_nb_floor_divide, slot(binarySlot<Operator::FloorDiv>)},
                           {Py_nb_remainder, slot(binarySlot<Operator::Mod>)},
                           {Py_nb_power, slot(powerSlot)},
                           {Py_nb_lshift, slot(binarySlot<Operator::LShift>)},
                           {Py_nb_rshift, slot(binarySlot<Operator::RShift>)},
                           {Py_nb_and, slot(binarySlot<Operator::BitAnd>)},
                           {Py_nb_or, slot(binarySlot<Operator::BitOr>)},
                           {Py_nb_xor, slot(binarySlot<Operator::BitXor>)},
                           {Py_nb_negative, slot(unarySlot<Operator::Negative>)},
                           {Py_nb_positive, slot(unarySlot<Operator::Positive>)},
                           {Py_nb_invert, slot(unarySlot<Operator::Invert>)},
                           {0, nullptr}};
PyType_Spec cellSpec = {"despina._native.tensor", sizeof(Cell), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, cellSlots};

PyType_Slot rangeSlots[] = {{Py_tp_dealloc, slot(rangeDealloc)},
                            {Py_tp_iter, slot(PyObject_SelfIter)},
                            {Py_tp_iternext, slot(rangeNext)},
                            {0, nullptr}};
PyType_Spec rangeSpec = {"despina._native.range_iterator", sizeof(RangeIterator), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, rangeSlots};

using Fast = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t);

PyMethodDef binaryEntry(const char *name, Fast function) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL,
          nullptr};
}
PyMethodDef keywordEntry(const char *name,
                         PyObject *(*function)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *)) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_FASTCALL | METH_KEYWORDS, nullptr};
}

PyMethodDef functions[] = {binaryEntry("op_Add", binaryFunction<Operator::Add>),
                           binaryEntry("op_Sub", binaryFunction<Operator::Sub>),
                           binaryEntry("op_Mult", binaryFunction<Operator::Mult>),
                           binaryEntry("op_Div", binaryFunction<Operator::Div>),
                           binaryEntry("op_FloorDiv", binaryFunction<Operator::FloorDiv>),
                           binaryEntry("op_Mod", binaryFunction<Operator::Mod>),
                           binaryEntry("op_Pow", binaryFunction<Operator::Pow>),
                           binaryEntry("op_LShift", binaryFunction<Operator::LShift>),
                           binaryEntry("op_RShift", binaryFunction<Operator::RShift>),
                           binaryEntry("op_BitAnd", binaryFunction<Operator::BitAnd>),
                           binaryEntry("op_BitOr", binaryFunction<Operator::BitOr>),
                           binaryEntry("op_BitXor", binaryFunction<Operator::BitXor>),
                           binaryEntry("op_Eq", binaryFunction<Operator::Equal>),
                           binaryEntry("op_NotEq", binaryFunction<Operator::NotEqual>),
                           binaryEntry("op_Lt", binaryFunction<Operator::Less>),
                           binaryEntry("op_LtE", binaryFunction<Operator::LessEqual>),
                           binaryEntry("op_Gt", binaryFunction<Operator::Greater>),
                           binaryEntry("op_GtE", binaryFunction<Operator::GreaterEqual>),
                           binaryEntry("op_And", binaryFunction<Operator::And>),
                           binaryEntry("op_Or", binaryFunction<Operator::Or>),
                           {"op_UAdd", unaryFunction<Operator::Positive>, METH_O, nullptr},
                           {"op_USub", unaryFunction<Operator::Negative>, METH_O, nullptr},
                           {"op_Not", unaryFunction<Operator::Not>, METH_O, nullptr},
                           {"op_Invert", unaryFunction<Operator::Invert>, METH_O, nullptr},
                           binaryEntry("attribute", attributeFunction),
                           binaryEntry("subscript", subscriptFunction),
                           keywordEntry("call", callFunction),
                           keywordEntry("method", methodFunction),
                           {"assign", assignFunction, METH_O, nullptr},
                           {"promote", promoteFunction, METH_O, nullptr},
                           {"tensor", tensorFunction, METH_O, nullptr},
                           {"truth", truthFunction, METH_O, nullptr},
                           {"is_runtime", isRuntimeFunction, METH_O, nullptr},
                           binaryEntry("range", rangeFunction),
                           {nullptr, nullptr, 0, nullptr}};

PyModuleDef operationsModule = {PyModuleDef_HEAD_INIT,
                                "despina._native.interpreter",
                                "Operations of interpreted kernels.",
                                -1,
                                functions,
                                nullptr,
                                nullptr,
                                nullptr,
                                nullptr};

} // namespace

const Item *itemOf(PyObject *object) { return Py_TYPE(object) == cellType ? &itemIn(object) : nullptr; }

Ref makeCell(Item item) {
  auto *cell = reinterpret_cast<Cell *>(cellType->tp_alloc(cellType, 0));
  if (cell)
    new (&cell->item) Item(std::move(item));
  return Ref::steal(reinterpret_cast<PyObject *>(cell));
}

bool addInterpreter(PyObject *module) {
  Ref cell = Ref::steal(PyType_FromSpec(&cellSpec)), range = Ref::steal(PyType_FromSpec(&rangeSpec));
  Ref operations = Ref::steal(PyModule_Create(&operationsModule));
  if (!cell || !range || !operations)
    return false;
  cellType = reinterpret_cast<PyTypeObject *>(cell.get());
  rangeType = reinterpret_cast<PyTypeObject *>(range.release());
  return PyModule_AddObjectRef(operations.get(), "value", cell.release()) == 0 &&
         PyModule_AddObjectRef(module, "interpreter", operations.get()) == 0;
}

} // namespace despina::python
