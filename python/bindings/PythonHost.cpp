//===- PythonHost.cpp - Live Python answers the front end -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "PythonHost.h"

#include <nanobind/nanobind.h>

namespace despina::python {

namespace {

using host::Answer;
using host::Value;

bool isInstance(PyObject *object, PyObject *type) {
  if (!type)
    return false;
  int result = PyObject_IsInstance(object, type);
  if (result < 0)
    PyErr_Clear();
  return result > 0;
}

/// "despina.language.math" is "triton.language.math" to the compiler; empty for modules that are not ours.
std::string languageModule(PyObject *module) {
  Ref nameObject = optionalAttr(module, registry().name);
  std::string name(textOf(nameObject.get()));
  constexpr std::string_view own = "despina";
  if (name == own)
    return "triton";
  if (name == "despina.language" || name.rfind("despina.language.", 0) == 0)
    return "triton" + name.substr(own.size());
  return {};
}

/// The language's own functions, classes and constants carry their path.
std::string languagePath(PyObject *object) {
  Ref path;
  if (PyType_Check(object)) {
    // Not inherited: a user's subclass is the user's.
    if (PyObject *dict = reinterpret_cast<PyTypeObject *>(object)->tp_dict)
      path = Ref::borrow(PyDict_GetItemWithError(dict, registry().path));
    PyErr_Clear();
  } else if (!PyModule_Check(object)) {
    path = optionalAttr(object, registry().path);
  }
  return std::string(textOf(path.get()));
}

/// The fields of a named tuple instance or class; null otherwise.
Ref namedTupleFields(PyObject *object) {
  Ref fields = optionalAttr(object, registry().fields);
  if (!fields || !PyTuple_Check(fields.get()))
    return {};
  return fields;
}

bool isNamedTupleClass(PyObject *object) {
  return PyType_Check(object) && PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(object), &PyTuple_Type) &&
         namedTupleFields(object);
}

bool isAggregateClass(PyObject *object) {
  return PyType_Check(object) && optionalAttr(object, registry().aggregate);
}

/// A function that its user marked as one of the language (`@tl.core.builtin`).
bool isUserBuiltin(PyObject *object) {
  return PyFunction_Check(object) && optionalAttr(object, registry().builtinMark) &&
         languagePath(object).empty();
}

Value opaque(PyObject *object) {
  Value value;
  value.kind = Value::Kind::Object;
  Py_INCREF(object);
  value.object = std::shared_ptr<void>(object, [](void *handle) {
    if (!Py_IsInitialized())
      return;
    GILGuard guard;
    Py_DECREF(static_cast<PyObject *>(handle));
  });
  value.typeName = Py_TYPE(object)->tp_name;
  if (auto dot = value.typeName.rfind('.'); dot != std::string::npos)
    value.typeName = value.typeName.substr(dot + 1);
  value.callable = PyCallable_Check(object);
  return value;
}

Value sequence(PyObject *object) {
  Value value;
  value.kind = Value::Kind::Tuple;
  Ref items = Ref::steal(PySequence_Fast(object, "expected a sequence"));
  if (!items) {
    PyErr_Clear();
    return opaque(object);
  }
  // A list may hold itself, and nesting has no end in Python: what is too deep stays opaque.
  thread_local unsigned depth = 0;
  if (depth == maxNesting)
    return opaque(object);
  ++depth;
  for (Py_ssize_t i = 0, e = PySequence_Fast_GET_SIZE(items.get()); i != e; ++i)
    value.elements.push_back(toValue(PySequence_Fast_GET_ITEM(items.get(), i)));
  --depth;
  if (Ref fields = namedTupleFields(object)) {
    for (Py_ssize_t i = 0, e = PyTuple_GET_SIZE(fields.get()); i != e; ++i)
      value.fields.emplace_back(textOf(PyTuple_GET_ITEM(fields.get(), i)));
    value.text = Py_TYPE(object)->tp_name;
  }
  return value;
}

Value namedTupleClass(PyObject *object) {
  Value value = opaque(object);
  value.text = reinterpret_cast<PyTypeObject *>(object)->tp_name;
  Ref fields = namedTupleFields(object);
  for (Py_ssize_t i = 0, e = PyTuple_GET_SIZE(fields.get()); i != e; ++i)
    value.fields.emplace_back(textOf(PyTuple_GET_ITEM(fields.get(), i)));
  return value;
}

Value textValue(Value::Kind kind, std::string text) {
  Value value;
  value.kind = kind;
  value.text = std::move(text);
  return value;
}

Value integer(PyObject *object) {
  Ref exact = Ref::steal(PyNumber_Index(object));
  if (!exact) {
    PyErr_Clear();
    return opaque(object);
  }
  // Python refuses to write more digits than sys.get_int_max_str_digits(): such a number stays opaque.
  int overflow = 0;
  long long small = PyLong_AsLongLongAndOverflow(exact.get(), &overflow);
  if (!overflow)
    return textValue(Value::Kind::Int, std::to_string(small));
  Ref text = Ref::steal(PyObject_Str(exact.get()));
  if (!text) {
    PyErr_Clear();
    return opaque(object);
  }
  return textValue(Value::Kind::Int, std::string(textOf(text.get())));
}

/// Numbers of other libraries (NumPy's scalars) are read as the Python number they stand for.
bool isForeignNumber(PyObject *object) {
  Ref module =
      Ref::steal(PyObject_GetAttrString(reinterpret_cast<PyObject *>(Py_TYPE(object)), "__module__"));
  if (!module)
    PyErr_Clear();
  std::string_view name = textOf(module.get());
  return (name == "numpy" || name == "ml_dtypes") && !PyType_Check(object);
}

std::optional<Value> simpleConstant(PyObject *object) {
  Value value;
  if (object == Py_None)
    return value;
  if (object == Py_Ellipsis) {
    value.kind = Value::Kind::Ellipsis;
    return value;
  }
  if (PyBool_Check(object)) {
    value.kind = Value::Kind::Bool;
    value.boolean = object == Py_True;
    return value;
  }
  // Members of IntEnum, IntFlag and StrEnum are the numbers and strings they derive from.
  if (PyLong_Check(object))
    return integer(object);
  if (PyFloat_Check(object)) {
    value.kind = Value::Kind::Float;
    value.real = PyFloat_AS_DOUBLE(object);
    return value;
  }
  if (PyUnicode_Check(object))
    return textValue(Value::Kind::String, std::string(textOf(object)));
  return std::nullopt;
}

/// The function object behind a jit function or constexpr_function; null for anything else.
std::shared_ptr<const host::Function> functionOf(PyObject *object) {
  Ref handle = optionalAttr(object, registry().handle);
  FunctionHandle *function = nullptr;
  if (!handle || !nanobind::try_cast(nanobind::handle(handle.get()), function) || !function)
    return nullptr;
  return function->function;
}

Answer found(Value value) {
  Answer answer;
  answer.status = Answer::Status::Found;
  answer.value = std::move(value);
  return answer;
}

/// A Python or C function: neither a class nor an object that happens to have `__call__`.
bool isPlainFunction(PyObject *object) {
  return PyFunction_Check(object) || PyCFunction_Check(object) || PyMethod_Check(object);
}

/// Spec 2.1: what a kernel may read from its globals.
bool isReadable(PyObject *object) {
  const Registry &r = registry();
  if (object == Py_None || PyModule_Check(object))
    return true;
  if (isInstance(object, r.constexprClass) || isInstance(object, r.dtypeClass) ||
      isInstance(object, r.jitCallableClass))
    return true;
  if (isNamedTupleClass(object) || !languagePath(object).empty() || isAggregateClass(object) ||
      isUserBuiltin(object))
    return true;
  // Python's own functions under another name (`import builtins`, `from builtins import range`).
  return PyType_Check(object) && !(reinterpret_cast<PyTypeObject *>(object)->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

bool globalsAreAllowed() {
  Ref answer = Ref::steal(PyObject_CallNoArgs(registry().allowGlobals));
  if (!answer)
    PyErr_Clear();
  return answer.get() == Py_True;
}

/// Where a free name of a function lives: a closure cell or the globals; null when nowhere.
PyObject *findContainer(PyObject *function, PyObject *name, Ref &keep, Ref &value) {
  const Registry &r = registry();
  Ref code = optionalAttr(function, r.code), closure = optionalAttr(function, r.closure);
  Ref freevars = code ? optionalAttr(code.get(), r.freevars) : Ref();
  if (closure && PyTuple_Check(closure.get()) && freevars && PyTuple_Check(freevars.get())) {
    Py_ssize_t count = std::min(PyTuple_GET_SIZE(closure.get()), PyTuple_GET_SIZE(freevars.get()));
    for (Py_ssize_t i = 0; i != count; ++i) {
      if (PyUnicode_Compare(PyTuple_GET_ITEM(freevars.get(), i), name) != 0)
        continue;
      PyObject *cell = PyTuple_GET_ITEM(closure.get(), i);
      value = Ref::steal(PyCell_Get(cell));
      if (value)
        return (keep = Ref::borrow(cell)).get();
      break;
    }
    PyErr_Clear();
  }
  Ref globals = optionalAttr(function, r.globals);
  if (!globals || !PyDict_Check(globals.get()))
    return nullptr;
  value = Ref::borrow(PyDict_GetItemWithError(globals.get(), name));
  PyErr_Clear();
  return value ? (keep = globals).get() : nullptr;
}

} // namespace

Ref UsedGlobal::current() const {
  if (PyCell_Check(container.get()))
    return Ref::steal(PyCell_Get(container.get()));
  PyObject *value = PyDict_GetItemWithError(container.get(), name.get());
  if (!value)
    PyErr_Clear();
  return Ref::borrow(value);
}

Value toValue(PyObject *object) {
  const Registry &r = registry();
  if (std::optional<Value> constant = simpleConstant(object))
    return *constant;
  if (isInstance(object, r.constexprClass)) {
    Ref inner = optionalAttr(object, r.value);
    return inner ? toValue(inner.get()) : opaque(object);
  }
  if (isInstance(object, r.dtypeClass)) {
    Ref signature = optionalAttr(object, r.signature);
    if (signature && PyUnicode_Check(signature.get()))
      return textValue(Value::Kind::DType, std::string(textOf(signature.get())));
    return opaque(object);
  }
  if (PyModule_Check(object)) {
    if (std::string name = languageModule(object); !name.empty())
      return textValue(Value::Kind::LanguageModule, std::move(name));
    return opaque(object);
  }
  if (std::string path = languagePath(object); !path.empty())
    return textValue(Value::Kind::LanguageName, std::move(path));
  if (isUserBuiltin(object)) {
    Ref readable = Ref::steal(PyObject_CallOneArg(r.readBuiltin, object));
    if (readable)
      return toValue(readable.get());
    PyErr_Clear(); // It has no source text.
    return opaque(object);
  }
  if (isInstance(object, r.jitCallableClass)) {
    Value value = opaque(object);
    // A constexpr_function is arbitrary Python: only Python runs it.
    if (auto function = functionOf(object); function && function->kind == host::Function::Kind::Jit) {
      value.kind = Value::Kind::Function;
      value.function = std::move(function);
    }
    return value;
  }
  if (PyTuple_Check(object) || PyList_Check(object))
    return sequence(object);
  if (isNamedTupleClass(object))
    return namedTupleClass(object);
  if (isForeignNumber(object)) {
    Ref item = Ref::steal(PyObject_CallMethodNoArgs(object, r.item));
    if (item)
      if (std::optional<Value> constant = simpleConstant(item.get()))
        return *constant;
    PyErr_Clear();
  }
  return opaque(object);
}

static Ref tupleToPython(const Value &value) {
  Ref tuple = Ref::steal(PyTuple_New(Py_ssize_t(value.elements.size())));
  for (size_t i = 0; tuple && i != value.elements.size(); ++i) {
    Ref element = toPython(value.elements[i]);
    if (!element)
      return {};
    PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), element.release());
  }
  if (!tuple || value.fields.empty())
    return tuple;
  Ref collections = Ref::steal(PyImport_ImportModule("collections"));
  Ref names = Ref::steal(PyList_New(0));
  for (const std::string &field : value.fields)
    if (Ref text = makeStr(field); !names || !text || PyList_Append(names.get(), text.get()) < 0)
      return {};
  if (!collections)
    return {};
  Ref type = Ref::steal(PyObject_CallMethod(collections.get(), "namedtuple", "sO",
                                            value.text.empty() ? "tuple" : value.text.c_str(), names.get()));
  return type ? Ref::steal(PyObject_CallObject(type.get(), tuple.get())) : Ref();
}

/// "triton.language.math.exp" -> the object of the package.
static Ref languageObject(const std::string &path) {
  std::string rest = path.rfind("triton", 0) == 0 ? path.substr(6) : "." + path;
  Ref object = Ref::steal(PyImport_ImportModule("despina"));
  for (size_t begin = 1; object && begin < rest.size();) {
    size_t end = std::min(rest.find('.', begin), rest.size());
    object = Ref::steal(PyObject_GetAttrString(object.get(), rest.substr(begin, end - begin).c_str()));
    begin = end + 1;
  }
  return object;
}

Ref toPython(const Value &value) {
  switch (value.kind) {
  case Value::Kind::None: return Ref::borrow(Py_None);
  case Value::Kind::Ellipsis: return Ref::borrow(Py_Ellipsis);
  case Value::Kind::Bool: return Ref::borrow(value.boolean ? Py_True : Py_False);
  case Value::Kind::Int: return Ref::steal(PyLong_FromString(value.text.c_str(), nullptr, 10));
  case Value::Kind::Float: return Ref::steal(PyFloat_FromDouble(value.real));
  case Value::Kind::String: return makeStr(value.text);
  case Value::Kind::Tuple: return tupleToPython(value);
  case Value::Kind::DType: {
    Ref text = makeStr(value.text);
    return text ? Ref::steal(PyObject_CallOneArg(registry().dtypeFromSignature, text.get())) : Ref();
  }
  case Value::Kind::Function:
    if (value.function && value.function->scope)
      return Ref::borrow(static_cast<PyObject *>(value.function->scope));
    break;
  case Value::Kind::LanguageModule:
  case Value::Kind::LanguageName: return languageObject(value.text);
  case Value::Kind::Object:
    if (value.object)
      return Ref::borrow(static_cast<PyObject *>(value.object.get()));
    break;
  }
  PyErr_SetString(PyExc_RuntimeError, "a value of the compiler has no Python object behind it");
  return {};
}

Answer PythonHost::failed() {
  Answer answer;
  answer.status = Answer::Status::Failed;
  lastException_ = takeException();
  PyObject *exception = lastException_.get();
  if (!exception) {
    answer.errorKind = "RuntimeError";
    answer.message = "an evaluation in Python failed without an exception";
    return answer;
  }
  if (PyErr_GivenExceptionMatches(exception, PyExc_KeyboardInterrupt) ||
      PyErr_GivenExceptionMatches(exception, PyExc_SystemExit))
    rawException_ = lastException_;
  answer.errorKind = Py_TYPE(exception)->tp_name;
  answer.message = strOf(exception);
  return answer;
}

Answer PythonHost::refuseFunction(PyObject *function) {
  Ref text = Ref::steal(PyObject_Repr(function));
  if (!text)
    PyErr_Clear();
  PyErr_Format(PyExc_RuntimeError, "Unsupported function referenced: %S", text ? text.get() : Py_None);
  Answer answer = failed();
  rawException_ = lastException_;
  return answer;
}

void PythonHost::recordUse(PyObject *container, PyObject *name, PyObject *value) {
  for (const UsedGlobal &used : usedGlobals_)
    if (used.container.get() == container && PyUnicode_Compare(used.name.get(), name) == 0)
      return;
  usedGlobals_.push_back({Ref::borrow(container), Ref::borrow(name), Ref::borrow(value)});
}

Answer PythonHost::lookup(const host::Function &function, const std::string &name, bool evaluatingDefaults) {
  GILGuard guard;
  Answer answer;
  if (!function.scope)
    return answer;
  Ref python = optionalAttr(static_cast<PyObject *>(function.scope), registry().fn), key = makeStr(name);
  Ref keep, value;
  PyObject *container = python && key ? findContainer(python.get(), key.get(), keep, value) : nullptr;
  if (!container)
    return answer;
  PyObject *object = value.get();
  if (evaluatingDefaults || isReadable(object)) {
    if (object == Py_None || isInstance(object, registry().constexprClass))
      recordUse(container, key.get(), object);
    return found(toValue(object));
  }
  if (isPlainFunction(object))
    return refuseFunction(object);
  if (globalsAreAllowed()) {
    recordUse(container, key.get(), object);
    return found(toValue(object));
  }
  answer.status = Answer::Status::NotAllowed;
  return answer;
}

Answer PythonHost::attribute(const Value &object, const std::string &name) {
  GILGuard guard;
  Ref base = toPython(object), key = makeStr(name);
  Ref value = base && key ? Ref::steal(PyObject_GetAttr(base.get(), key.get())) : Ref();
  if (!value)
    return failed();
  if (PyModule_Check(base.get())) {
    if (isPlainFunction(value.get()) && languagePath(value.get()).empty() && !isUserBuiltin(value.get()))
      return refuseFunction(value.get());
    if (isInstance(value.get(), registry().constexprClass))
      if (Ref dict = optionalAttr(base.get(), registry().dict); dict && PyDict_Check(dict.get()))
        recordUse(dict.get(), key.get(), value.get());
  }
  return found(toValue(value.get()));
}

Answer PythonHost::call(const Value &callee, const std::vector<Value> &args,
                        const std::vector<std::pair<std::string, Value>> &keywords) {
  GILGuard guard;
  Ref target = toPython(callee);
  if (!target)
    return failed();
  Ref positional = Ref::steal(PyTuple_New(Py_ssize_t(args.size()))), named = Ref::steal(PyDict_New());
  if (!positional || !named)
    return failed();
  for (size_t i = 0; i != args.size(); ++i) {
    Ref value = toPython(args[i]);
    if (!value)
      return failed();
    PyTuple_SET_ITEM(positional.get(), Py_ssize_t(i), value.release());
  }
  for (const auto &[name, argument] : keywords) {
    Ref value = toPython(argument);
    if (!value || PyDict_SetItemString(named.get(), name.c_str(), value.get()) < 0)
      return failed();
  }
  Ref result = Ref::steal(PyObject_Call(target.get(), positional.get(), named.get()));
  return result ? found(toValue(result.get())) : failed();
}

Answer PythonHost::subscript(const Value &object, const Value &index) {
  GILGuard guard;
  Ref base = toPython(object), key = toPython(index);
  Ref value = base && key ? Ref::steal(PyObject_GetItem(base.get(), key.get())) : Ref();
  return value ? found(toValue(value.get())) : failed();
}

bool PythonHost::same(const Value &lhs, const Value &rhs) {
  GILGuard guard;
  Ref a = toPython(lhs), b = toPython(rhs);
  PyErr_Clear();
  return a && a.get() == b.get();
}

void PythonHost::staticPrint(const std::string &text) {
  GILGuard guard;
  PyObject *out = PySys_GetObject("stdout");
  Ref line = makeStr(text);
  if (!out || out == Py_None || !line)
    return PyErr_Clear();
  if (PyFile_WriteObject(line.get(), out, Py_PRINT_RAW) < 0)
    PyErr_Clear();
}

void PythonHost::warn(const std::string &message, const std::string &file, unsigned line) {
  GILGuard guard;
  if (PyErr_WarnExplicit(PyExc_UserWarning, message.c_str(), file.empty() ? "<kernel>" : file.c_str(),
                         int(line), nullptr, nullptr) < 0)
    rawException_ = takeException();
}

} // namespace despina::python
