//===- Dispatcher.cpp - The hot path of a launch --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Dispatcher.h"

#include <nanobind/nanobind.h>
#include <structmember.h>

#include <cstring>

namespace despina::python {

namespace {

/// A compiled specialisation.
struct Entry {
  Ref kernelObject; ///< the CompiledKernel that a launch returns
  Ref handleObject; ///< keeps `handle` alive
  const KernelHandle *handle = nullptr;
};

struct Launch;

struct DispatcherState {
  std::vector<Parameter> parameters;
  std::string functionName;
  Ref owner;       ///< the JITFunction
  Ref preRunHooks; ///< its list of hooks
  Ref constants;   ///< dict (type, object) -> index, for constants that have no encoding of their own
  std::unordered_map<std::string, Entry> entries;
  bool hasVariadic = false;
  bool interprets = false; ///< the owner runs its launches itself
  /// Of the launch before, for its memory; null while a launch uses it.
  std::unique_ptr<Launch> spare;
  DispatcherState();
  ~DispatcherState();
};

struct Dispatcher {
  PyObject_HEAD DispatcherState *state;
};

struct BoundKernel {
  PyObject_HEAD vectorcallfunc vectorcall;
  Dispatcher *dispatcher;
  PyObject *grid;
};

PyTypeObject *dispatcherType = nullptr, *boundKernelType = nullptr;

/// Launch keywords that are no parameters. What does not matter on a target is accepted and ignored.
struct Options {
  int numWarps = 4, numStages = 3, numCtas = 1, maxRegisters = 0;
  bool enableFPFusion = true, sanitizeOverflow = false, cooperative = false, programmaticDependent = false;
  signed char debug = -1; ///< -1: not given
};

/// The arguments of one launch, bound to the parameters. Kept for the next one, so that it allocates nothing.
struct Launch {
  Options options;
  std::vector<PyObject *> values; ///< borrowed, in the order of the parameters
  std::vector<Classified> classified;
  std::vector<uint64_t> slots;
  std::vector<std::pair<PyObject *, PyObject *>> optionValues; ///< as given, for the compile hooks
  std::string key;
  ArgumentReader reader;
  int device = cpuPlace;  ///< or a CUDA device
  int capability = 0;     ///< of the CUDA device
  void *stream = nullptr; ///< of the CUDA device

  void reset(size_t parameters) {
    options = {};
    values.assign(parameters, nullptr);
    slots.clear();
    optionValues.clear();
    key.clear();
    reader.reset();
  }
};

DispatcherState::DispatcherState() = default;
DispatcherState::~DispatcherState() = default;

/// Takes a dispatcher's spare launch for a scope; nested launches make one of their own.
class LaunchScope {
public:
  explicit LaunchScope(DispatcherState &state) : state_(state), launch_(std::move(state.spare)) {
    if (!launch_)
      launch_ = std::make_unique<Launch>();
    launch_->reset(state.parameters.size());
  }
  ~LaunchScope() {
    launch_->reader.reset();
    state_.spare = std::move(launch_);
  }
  LaunchScope(const LaunchScope &) = delete;
  LaunchScope &operator=(const LaunchScope &) = delete;
  Launch &launch() { return *launch_; }

private:
  DispatcherState &state_;
  std::unique_ptr<Launch> launch_;
};

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

constexpr const char *ignoredOptions[] = {"ptx_version",
                                          "ptx_options",
                                          "ir_override",
                                          "enable_reflect_ftz",
                                          "supported_fp8_dtypes",
                                          "deprecated_fp8_dot_operand_dtypes",
                                          "default_dot_input_precision",
                                          "allowed_dot_input_precisions",
                                          "max_num_imprecise_acc_default",
                                          "extern_libs",
                                          "arch",
                                          "instrumentation_mode",
                                          "warp_size",
                                          "backend_name",
                                          "waves_per_eu",
                                          "matrix_instr_nonkdim",
                                          "kpack",
                                          "schedule_hint",
                                          "allow_flush_denorm",
                                          "num_cpu_threads",
                                          "enable_fast_math",
                                          "vec_lib",
                                          "ukernels",
                                          "assume_in_bounds",
                                          "num_consumer_groups",
                                          "num_buffers_warp_spec",
                                          "reg_dec_producer",
                                          "reg_inc_consumer"};

bool readIntOption(std::string_view name, PyObject *value, int &out) {
  Ref index = Ref::steal(PyNumber_Index(value));
  long number = index ? PyLong_AsLong(index.get()) : -1;
  if (number == -1 && PyErr_Occurred())
    return false;
  bool powerOfTwo = number > 0 && (number & (number - 1)) == 0;
  if ((name == "num_warps" && !powerOfTwo) || number < 0 || number > 1 << 20) {
    PyErr_Format(PyExc_ValueError, "%s must be %s, got %ld", std::string(name).c_str(),
                 name == "num_warps" ? "a power of 2" : "a small positive number", number);
    return false;
  }
  out = int(number);
  return true;
}

bool readBoolOption(PyObject *value, bool &out) {
  int truth = PyObject_IsTrue(value);
  out = truth > 0;
  return truth >= 0;
}

bool readOption(Launch &launch, PyObject *name, PyObject *value) {
  std::string_view text = textOf(name);
  Options &options = launch.options;
  launch.optionValues.emplace_back(name, value);
  if (text == "num_warps")
    return readIntOption(text, value, options.numWarps);
  if (text == "num_stages")
    return readIntOption(text, value, options.numStages);
  if (text == "num_ctas")
    return readIntOption(text, value, options.numCtas);
  if (text == "maxnreg")
    return value == Py_None || readIntOption(text, value, options.maxRegisters);
  if (text == "enable_fp_fusion")
    return readBoolOption(value, options.enableFPFusion);
  if (text == "sanitize_overflow")
    return readBoolOption(value, options.sanitizeOverflow);
  if (text == "launch_cooperative_grid")
    return readBoolOption(value, options.cooperative);
  if (text == "launch_pdl")
    return readBoolOption(value, options.programmaticDependent);
  if (text == "debug") {
    bool debug = false;
    bool read = readBoolOption(value, debug);
    options.debug = debug;
    return read;
  }
  if (text == "device_type" || text == "device" || text == "stream") {
    PyErr_Format(PyExc_AssertionError, "%U option is deprecated; current %s will be used", name,
                 text == "stream" ? "stream" : "device");
    return false;
  }
  for (const char *ignored : ignoredOptions)
    if (text == ignored)
      return true;
  PyErr_Format(PyExc_KeyError, "Keyword argument %U was specified but unrecognised", name);
  return false;
}

/// Index of the parameter with this name, or -1.
Py_ssize_t findParameter(const DispatcherState &state, PyObject *name) {
  size_t count = state.parameters.size();
  for (size_t i = 0; i != count; ++i)
    if (state.parameters[i].name.get() == name)
      return Py_ssize_t(i);
  for (size_t i = 0; i != count; ++i)
    if (PyUnicode_Compare(state.parameters[i].name.get(), name) == 0)
      return Py_ssize_t(i);
  return -1;
}

bool tooManyArguments(const DispatcherState &state, Py_ssize_t given) {
  PyErr_Format(PyExc_TypeError, "%s() takes %zu positional argument%s but %zd %s given",
               state.functionName.c_str(), state.parameters.size(), state.parameters.size() == 1 ? "" : "s",
               given, given == 1 ? "was" : "were");
  return false;
}

bool missingArguments(const DispatcherState &state, const Launch &launch) {
  std::string names;
  size_t count = 0;
  for (size_t i = 0; i != launch.values.size(); ++i)
    if (!launch.values[i]) {
      names += (count++ ? ", '" : "'") + std::string(textOf(state.parameters[i].name.get())) + "'";
    }
  PyErr_Format(PyExc_TypeError, "%s() missing %zu required argument%s: %s", state.functionName.c_str(), count,
               count == 1 ? "" : "s", names.c_str());
  return false;
}

/// Binds positional arguments; the rest of them goes to a `*args` parameter, if there is one.
bool bindPositional(const DispatcherState &state, Launch &launch, PyObject *const *args, Py_ssize_t count) {
  const std::vector<Parameter> &parameters = state.parameters;
  Py_ssize_t size = Py_ssize_t(parameters.size());
  if (!state.hasVariadic) {
    if (count > size)
      return tooManyArguments(state, count);
    std::copy(args, args + count, launch.values.begin());
    return true;
  }
  for (Py_ssize_t i = 0; i != size; ++i) {
    if (parameters[size_t(i)].isVariadic) {
      Ref rest = Ref::steal(PyTuple_New(std::max<Py_ssize_t>(count - i, 0)));
      if (!rest)
        return false;
      for (Py_ssize_t j = i; j < count; ++j)
        PyTuple_SET_ITEM(rest.get(), j - i, Py_NewRef(args[j]));
      launch.values[size_t(i)] = rest.get();
      launch.reader.keep(std::move(rest));
      return true;
    }
    if (i < count)
      launch.values[size_t(i)] = args[i];
  }
  return true;
}

bool bindKeyword(const DispatcherState &state, Launch &launch, PyObject *name, PyObject *value) {
  Py_ssize_t index = findParameter(state, name);
  if (index < 0)
    return readOption(launch, name, value);
  if (launch.values[size_t(index)]) {
    PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", state.functionName.c_str(),
                 name);
    return false;
  }
  launch.values[size_t(index)] = value;
  return true;
}

bool bindDefaults(const DispatcherState &state, Launch &launch) {
  bool complete = true;
  for (size_t i = 0; i != launch.values.size(); ++i)
    if (!launch.values[i]) {
      launch.values[i] = state.parameters[i].defaultValue.get();
      complete &= launch.values[i] != nullptr;
    }
  return complete || missingArguments(state, launch);
}

//===----------------------------------------------------------------------===//
// Specialisation key
//===----------------------------------------------------------------------===//

template <typename T> void appendBytes(std::string &key, T value) {
  key.append(reinterpret_cast<const char *>(&value), sizeof value);
}

/// Encodes a constant that has no plain encoding by its place in the dispatcher's table of constants.
bool encodeByTable(DispatcherState &state, PyObject *object, std::string &key) {
  Ref entry = Ref::steal(PyTuple_Pack(2, reinterpret_cast<PyObject *>(Py_TYPE(object)), object));
  if (!entry)
    return false;
  PyObject *known = PyDict_GetItemWithError(state.constants.get(), entry.get());
  if (!known && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError))
      return false;
    // Not hashable: its text stands for it.
    PyErr_Clear();
    Ref text = Ref::steal(PyObject_Repr(object));
    if (!text)
      return false;
    std::string_view view = textOf(text.get());
    key += 'r';
    appendBytes(key, view.size());
    key += view;
    return true;
  }
  Ref index = known ? Ref::borrow(known) : Ref::steal(PyLong_FromSsize_t(PyDict_Size(state.constants.get())));
  if (!index || (!known && PyDict_SetItem(state.constants.get(), entry.get(), index.get()) < 0))
    return false;
  key += 'o';
  appendBytes(key, PyLong_AsSsize_t(index.get()));
  return true;
}

/// An object that counts by identity: hashing a jit function's source belongs to no launch. The table keeps
/// it alive.
bool encodeIdentity(DispatcherState &state, PyObject *object, std::string &key) {
  Ref address = Ref::steal(PyLong_FromVoidPtr(object));
  if (!address || PyDict_SetItem(state.constants.get(), address.get(), object) < 0)
    return false;
  key += 'p';
  appendBytes(key, reinterpret_cast<uintptr_t>(object));
  return true;
}

bool encodeConstant(DispatcherState &state, PyObject *object, std::string &key, unsigned depth = 0);

/// Element by element: to Python's comparison (1,) and (True,) are equal. The table keeps the class alive.
bool encodeTuple(DispatcherState &state, PyObject *tuple, std::string &key, unsigned depth) {
  if (depth == maxNesting) {
    PyErr_Format(PyExc_RecursionError, "a tuple argument is nested over %u levels deep", maxNesting);
    return false;
  }
  key += '(';
  if (!PyTuple_CheckExact(tuple) && !encodeIdentity(state, reinterpret_cast<PyObject *>(Py_TYPE(tuple)), key))
    return false;
  appendBytes(key, PyTuple_GET_SIZE(tuple));
  for (Py_ssize_t i = 0; i != PyTuple_GET_SIZE(tuple); ++i)
    if (!encodeConstant(state, PyTuple_GET_ITEM(tuple, i), key, depth + 1))
      return false;
  return true;
}

bool encodeConstant(DispatcherState &state, PyObject *object, std::string &key, unsigned depth) {
  if (object == Py_None) {
    key += 'N';
    return true;
  }
  if (PyBool_Check(object)) {
    key += object == Py_True ? 'T' : 'F';
    return true;
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow)
      return encodeByTable(state, object, key);
    key += 'i';
    appendBytes(key, value);
    return true;
  }
  if (PyFloat_CheckExact(object)) {
    key += 'f';
    appendBytes(key, PyFloat_AS_DOUBLE(object));
    return true;
  }
  if (PyUnicode_CheckExact(object)) {
    std::string_view text = textOf(object);
    key += 's';
    appendBytes(key, text.size());
    key += text;
    return true;
  }
  if (PyTuple_Check(object))
    return encodeTuple(state, object, key, depth);
  auto *callable = reinterpret_cast<PyTypeObject *>(registry().jitCallableClass);
  if (callable && PyType_IsSubtype(Py_TYPE(object), callable))
    return encodeIdentity(state, object, key);
  return encodeByTable(state, object, key);
}

/// Adds one classified argument to the key and its runtime values to the slots.
bool encodeArgument(DispatcherState &state, Launch &launch, const Classified &argument) {
  switch (argument.kind) {
  case Classified::Kind::Runtime:
    launch.key += argument.divisible ? 'D' : 'R';
    launch.key += char(argument.type);
    launch.slots.push_back(argument.slot);
    return true;
  case Classified::Kind::Constant:
    launch.key += 'C';
    return encodeConstant(state, argument.object, launch.key);
  case Classified::Kind::Tuple:
    launch.key += 't';
    appendBytes(launch.key, reinterpret_cast<uintptr_t>(Py_TYPE(argument.object)));
    appendBytes(launch.key, argument.elements.size());
    for (const Classified &element : argument.elements)
      if (!encodeArgument(state, launch, element))
        return false;
    return true;
  case Classified::Kind::Descriptor:
    launch.key += argument.padsNaN ? 'n' : 'd';
    launch.key += char(argument.elements.front().type);
    appendBytes(launch.key, argument.block.size());
    for (int64_t extent : argument.block)
      appendBytes(launch.key, extent);
    for (const Classified &element : argument.elements)
      launch.slots.push_back(element.slot);
    return true;
  }
  return false;
}

/// Finds where the launch goes; a kernel serves all devices of one capability.
bool encodePlace(Launch &launch) {
  if (!resolvePlace(launch.reader, launch.device))
    return false;
  launch.capability = 0;
  launch.stream = nullptr;
  if (launch.device == cpuPlace)
    return true;
  launch.capability = capabilityOf(launch.device);
  if (launch.capability < 0 || !currentStream(launch.reader, launch.device, launch.stream))
    return false;
  appendBytes(launch.key, launch.capability);
  appendBytes(launch.key, launch.options.maxRegisters);
  launch.key += char(launch.options.cooperative);
  launch.key += char(launch.options.programmaticDependent);
  return true;
}

bool specialise(DispatcherState &state, Launch &launch) {
  launch.classified.resize(launch.values.size());
  for (size_t i = 0; i != launch.values.size(); ++i)
    if (!launch.reader.read(state.parameters[i], launch.values[i], launch.classified[i]) ||
        !encodeArgument(state, launch, launch.classified[i]))
      return false;
  appendBytes(launch.key, launch.options.numWarps);
  appendBytes(launch.key, launch.options.numStages);
  appendBytes(launch.key, launch.options.numCtas);
  launch.key += char(launch.options.debug);
  launch.key += char(launch.options.enableFPFusion);
  launch.key += char(launch.options.sanitizeOverflow);
  return encodePlace(launch);
}

//===----------------------------------------------------------------------===//
// Compiling and launching
//===----------------------------------------------------------------------===//

/// (name, type or None, constant, divisibility, elements or None) for the JITFunction's compile method.
Ref describe(PyObject *name, const Classified &argument) {
  Ref type = Ref::borrow(Py_None), constant = Ref::borrow(Py_None), elements = Ref::borrow(Py_None);
  if (argument.kind == Classified::Kind::Runtime)
    type = makeStr(signatureOf(argument.type));
  else if (argument.kind == Classified::Kind::Descriptor)
    type = makeStr(descriptorSignature(argument));
  else
    constant = Ref::borrow(argument.object);
  if (argument.kind == Classified::Kind::Tuple) {
    elements = Ref::steal(PyList_New(0));
    for (const Classified &element : argument.elements)
      if (Ref item = describe(Py_None, element); !item || PyList_Append(elements.get(), item.get()) < 0)
        return {};
  }
  int divisibility = argument.kind == Classified::Kind::Runtime && argument.divisible ? 16 : 0;
  return Ref::steal(Py_BuildValue("(OOOiO)", name, type.get(), constant.get(), divisibility, elements.get()));
}

Ref optionsDict(const Launch &launch) {
  const Options &options = launch.options;
  Ref dict = Ref::steal(PyDict_New());
  if (!dict)
    return {};
  for (auto [name, value] : launch.optionValues)
    if (PyDict_SetItem(dict.get(), name, value) < 0)
      return {};
  auto truth = [](bool value) { return value ? Py_True : Py_False; };
  Ref values = Ref::steal(
      Py_BuildValue("{sisisisOsOsOsO}", "num_warps", options.numWarps, "num_stages", options.numStages,
                    "num_ctas", options.numCtas, "enable_fp_fusion", truth(options.enableFPFusion), "debug",
                    options.debug < 0 ? Py_None : truth(options.debug), "launch_cooperative_grid",
                    truth(options.cooperative), "launch_pdl", truth(options.programmaticDependent)));
  if (!values || PyDict_Update(dict.get(), values.get()) < 0)
    return {};
  return dict;
}

Ref boundDict(const DispatcherState &state, const Launch &launch) {
  Ref dict = Ref::steal(PyDict_New());
  for (size_t i = 0; dict && i != launch.values.size(); ++i)
    if (PyDict_SetItem(dict.get(), state.parameters[i].name.get(), launch.values[i]) < 0)
      return {};
  return dict;
}

/// A compilation error is shown with the launch and the kernel's line, without the package's own frames.
void trimTraceback() {
  Ref exception = takeException();
  if (!exception)
    return;
  Ref trimmed = Ref::steal(PyObject_GetAttrString(exception.get(), "_user_traceback"));
  if (!trimmed)
    PyErr_Clear();
  else if (trimmed.get() != Py_None && PyException_SetTraceback(exception.get(), trimmed.get()) < 0)
    PyErr_Clear();
  setException(exception.get());
}

/// The arguments as the JITFunction's methods take them.
Ref describeAll(const DispatcherState &state, const Launch &launch) {
  Ref arguments = Ref::steal(PyList_New(0));
  for (size_t i = 0; i != launch.classified.size(); ++i) {
    Ref item = describe(state.parameters[i].name.get(), launch.classified[i]);
    if (!arguments || !item || PyList_Append(arguments.get(), item.get()) < 0)
      return {};
  }
  return arguments;
}

/// Compiles what the table lacks. Null with an error set, or null without one when a hook vetoed.
const Entry *compileEntry(DispatcherState &state, Launch &launch, bool warmup) {
  Ref arguments = describeAll(state, launch), options = optionsDict(launch);
  Ref keyObject = Ref::steal(PyBytes_FromStringAndSize(launch.key.data(), Py_ssize_t(launch.key.size())));
  if (!arguments || !options || !keyObject || !state.owner)
    return nullptr;
  Ref kernel = Ref::steal(PyObject_CallMethod(state.owner.get(), "_compile_specialization", "OOOOii",
                                              keyObject.get(), arguments.get(), options.get(),
                                              warmup ? Py_True : Py_False, launch.device, launch.capability));
  if (!kernel) {
    trimTraceback();
    return nullptr;
  }
  if (kernel.get() == Py_None)
    return nullptr;
  Ref handleObject = Ref::steal(PyObject_GetAttrString(kernel.get(), "_kernel"));
  KernelHandle *handle = nullptr;
  if (!handleObject || !nanobind::try_cast(nanobind::handle(handleObject.get()), handle) || !handle) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_TypeError, "the compiled kernel has no handle");
    return nullptr;
  }
  // The callback may have compiled this very key for another thread meanwhile: either will do.
  return &(state.entries[launch.key] = Entry{std::move(kernel), std::move(handleObject), handle});
}

bool checkGlobals(const KernelHandle &handle) {
  for (const UsedGlobal &used : handle.usedGlobals) {
    Ref now = used.current();
    PyErr_Clear();
    if (now.get() == used.value.get())
      continue;
    int equal = now && Py_TYPE(now.get()) == Py_TYPE(used.value.get())
                    ? PyObject_RichCompareBool(now.get(), used.value.get(), Py_EQ)
                    : 0;
    if (equal > 0)
      continue;
    PyErr_Clear();
    PyErr_Format(PyExc_RuntimeError,
                 "Global variable %S has changed since we compiled this kernel, from %S to %S",
                 used.name.get(), used.value.get(), now ? now.get() : Py_None);
    return false;
  }
  return true;
}

bool listIsFilled(PyObject *list) { return list && PyList_Check(list) && PyList_GET_SIZE(list) > 0; }

/// Runs the launch between the enter and exit hooks, which see a dict made by the JITFunction.
bool runWithHooks(const DispatcherState &state, Launch &launch, const Entry &entry, const Grid &grid) {
  const Registry &r = registry();
  Ref bound = boundDict(state, launch);
  Ref metadata;
  if (bound)
    metadata = Ref::steal(
        PyObject_CallMethod(state.owner.get(), "_launch_metadata", "((LLL)OOK)", (long long)grid.x,
                            (long long)grid.y, (long long)grid.z, entry.kernelObject.get(), bound.get(),
                            static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(launch.stream))));
  Ref enter = metadata ? Ref::steal(PyObject_CallMethod(state.owner.get(), "_call_hooks", "OOO", r.enterHooks,
                                                        metadata.get(), Py_False))
                       : Ref();
  if (!enter || !runKernel(entry.handle->kernel, grid, launch.slots.data(), launch.device, launch.stream))
    return false;
  return bool(Ref::steal(
      PyObject_CallMethod(state.owner.get(), "_call_hooks", "OOO", r.exitHooks, metadata.get(), Py_True)));
}

bool computeGrid(const DispatcherState &state, Launch &launch, PyObject *gridObject, Grid &grid) {
  if (!PyCallable_Check(gridObject) || PyTuple_Check(gridObject))
    return readGrid(gridObject, grid);
  Ref bound = boundDict(state, launch);
  for (auto [name, value] : launch.optionValues)
    if (bound && PyDict_SetItem(bound.get(), name, value) < 0)
      return false;
  Ref extents = bound ? Ref::steal(PyObject_CallOneArg(gridObject, bound.get())) : Ref();
  return extents && readGrid(extents.get(), grid);
}

bool runPreHooks(DispatcherState &state, PyObject *const *args, size_t count, PyObject *keywordNames) {
  // A copy: a hook may change the list.
  Ref hooks =
      Ref::steal(PyList_GetSlice(state.preRunHooks.get(), 0, PyList_GET_SIZE(state.preRunHooks.get())));
  for (Py_ssize_t i = 0; hooks && i != PyList_GET_SIZE(hooks.get()); ++i)
    if (!Ref::steal(PyObject_Vectorcall(PyList_GET_ITEM(hooks.get(), i), args, count, keywordNames)))
      return false;
  return bool(hooks);
}

/// A launch that the owner runs: it gets the key, the arguments as in a compilation, the values of the
/// runtime ones, the grid (None for a warm-up), what was bound to the parameters, and the device.
PyObject *interpret(DispatcherState &state, Launch &launch, PyObject *gridObject) {
  Grid grid;
  if (gridObject && !computeGrid(state, launch, gridObject, grid))
    return nullptr;
  Ref arguments = describeAll(state, launch), bound = arguments ? boundDict(state, launch) : Ref();
  Ref slots = Ref::steal(PyList_New(0));
  if (!bound || !slots || !state.owner)
    return nullptr;
  for (uint64_t slot : launch.slots)
    if (Ref number = Ref::steal(PyLong_FromUnsignedLongLong(slot));
        !number || PyList_Append(slots.get(), number.get()) < 0)
      return nullptr;
  Ref extents =
      gridObject ? Ref::steal(Py_BuildValue("(LLL)", (long long)grid.x, (long long)grid.y, (long long)grid.z))
                 : Ref::borrow(Py_None);
  Ref keyObject = Ref::steal(PyBytes_FromStringAndSize(launch.key.data(), Py_ssize_t(launch.key.size())));
  if (!extents || !keyObject)
    return nullptr;
  PyObject *result =
      PyObject_CallMethod(state.owner.get(), "_interpret", "OOOOOi", keyObject.get(), arguments.get(),
                          slots.get(), extents.get(), bound.get(), launch.device);
  if (!result)
    trimTraceback();
  return result;
}

/// The whole of a launch. `grid` is null for a warm-up.
PyObject *dispatch(Dispatcher *self, PyObject *gridObject, PyObject *const *args, size_t count,
                   PyObject *keywordNames) {
  DispatcherState &state = *self->state;
  if (listIsFilled(state.preRunHooks.get()) && gridObject && !runPreHooks(state, args, count, keywordNames))
    return nullptr;
  LaunchScope scope(state);
  Launch &launch = scope.launch();
  if (!bindPositional(state, launch, args, Py_ssize_t(count)))
    return nullptr;
  if (keywordNames)
    for (Py_ssize_t i = 0; i != PyTuple_GET_SIZE(keywordNames); ++i)
      if (!bindKeyword(state, launch, PyTuple_GET_ITEM(keywordNames, i), args[count + size_t(i)]))
        return nullptr;
  if (!bindDefaults(state, launch) || !specialise(state, launch))
    return nullptr;
  if (state.interprets)
    return interpret(state, launch, gridObject);
  auto found = state.entries.find(launch.key);
  const Entry *known =
      found != state.entries.end() ? &found->second : compileEntry(state, launch, !gridObject);
  if (!known) {
    if (PyErr_Occurred())
      return nullptr;
    Py_RETURN_NONE;
  }
  // A copy: a hook or the grid function may clear the table.
  Entry entry = *known;
  if (!gridObject)
    return entry.kernelObject.release();
  Grid grid;
  if (!checkGlobals(*entry.handle) || !computeGrid(state, launch, gridObject, grid))
    return nullptr;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return entry.kernelObject.release();
  const Registry &r = registry();
  bool hooks = listIsFilled(r.enterHooks) || listIsFilled(r.exitHooks);
  if (hooks ? !runWithHooks(state, launch, entry, grid)
            : !runKernel(entry.handle->kernel, grid, launch.slots.data(), launch.device, launch.stream))
    return nullptr;
  return entry.kernelObject.release();
}

//===----------------------------------------------------------------------===//
// BoundKernel: kernel[grid]
//===----------------------------------------------------------------------===//

PyObject *boundCall(PyObject *object, PyObject *const *args, size_t flags, PyObject *keywordNames) {
  auto *self = reinterpret_cast<BoundKernel *>(object);
  return dispatch(self->dispatcher, self->grid, args, size_t(PyVectorcall_NARGS(flags)), keywordNames);
}

int boundTraverse(PyObject *object, visitproc visit, void *arg) {
  auto *self = reinterpret_cast<BoundKernel *>(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(reinterpret_cast<PyObject *>(self->dispatcher));
  Py_VISIT(self->grid);
  return 0;
}

int boundClear(PyObject *object) {
  Py_CLEAR(reinterpret_cast<BoundKernel *>(object)->grid);
  return 0;
}

void boundDealloc(PyObject *object) {
  auto *self = reinterpret_cast<BoundKernel *>(object);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  Py_XDECREF(self->grid);
  Py_XDECREF(reinterpret_cast<PyObject *>(self->dispatcher));
  type->tp_free(object);
  Py_DECREF(type);
}

//===----------------------------------------------------------------------===//
// Dispatcher
//===----------------------------------------------------------------------===//

bool readParameter(PyObject *entry, Parameter &parameter) {
  PyObject *name = nullptr, *defaultValue = nullptr, *forced = nullptr;
  int hasDefault = 0, isConstexpr = 0, isConst = 0, isVariadic = 0, specialize = 1, specializeAlignment = 1;
  if (!PyArg_ParseTuple(entry, "OpOppppOp", &name, &hasDefault, &defaultValue, &isConstexpr, &isConst,
                        &specialize, &specializeAlignment, &forced, &isVariadic))
    return false;
  if (!PyUnicode_Check(name)) {
    PyErr_SetString(PyExc_TypeError, "a parameter's name must be a str");
    return false;
  }
  Py_INCREF(name);
  PyUnicode_InternInPlace(&name);
  parameter.name = Ref::steal(name);
  if (hasDefault)
    parameter.defaultValue = Ref::borrow(defaultValue);
  parameter.isConstexpr = isConstexpr;
  parameter.isConst = isConst;
  parameter.isVariadic = isVariadic;
  parameter.specialize = specialize;
  parameter.specializeAlignment = specializeAlignment;
  if (forced != Py_None)
    parameter.forcedType = typeFromSignature(textOf(forced));
  return true;
}

/// Dispatcher(owner, name, parameters, pre_run_hooks, interprets=False)
PyObject *dispatcherNew(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *owner = nullptr, *parameters = nullptr, *hooks = nullptr;
  const char *name = nullptr;
  int interprets = 0;
  if (!PyArg_ParseTuple(args, "OsO!O!|p", &owner, &name, &PyList_Type, &parameters, &PyList_Type, &hooks,
                        &interprets))
    return nullptr;
  auto state = std::make_unique<DispatcherState>();
  state->functionName = name;
  state->owner = Ref::borrow(owner);
  state->interprets = interprets;
  state->preRunHooks = Ref::borrow(hooks);
  state->constants = Ref::steal(PyDict_New());
  if (!state->constants)
    return nullptr;
  for (Py_ssize_t i = 0; i != PyList_GET_SIZE(parameters); ++i) {
    Parameter parameter;
    if (!readParameter(PyList_GET_ITEM(parameters, i), parameter))
      return nullptr;
    state->hasVariadic |= parameter.isVariadic;
    state->parameters.push_back(std::move(parameter));
  }
  PyObject *object = type->tp_alloc(type, 0);
  if (object)
    reinterpret_cast<Dispatcher *>(object)->state = state.release();
  return object;
}

int dispatcherTraverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  DispatcherState *state = reinterpret_cast<Dispatcher *>(object)->state;
  if (!state)
    return 0;
  Py_VISIT(state->owner.get());
  Py_VISIT(state->preRunHooks.get());
  Py_VISIT(state->constants.get());
  for (const Parameter &parameter : state->parameters)
    Py_VISIT(parameter.defaultValue.get());
  for (const auto &[key, entry] : state->entries)
    Py_VISIT(entry.kernelObject.get());
  return 0;
}

int dispatcherClear(PyObject *object) {
  DispatcherState *state = reinterpret_cast<Dispatcher *>(object)->state;
  if (!state)
    return 0;
  state->owner = {};
  auto entries = std::move(state->entries);
  state->entries.clear();
  return 0;
}

void dispatcherDealloc(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  delete reinterpret_cast<Dispatcher *>(object)->state;
  type->tp_free(object);
  Py_DECREF(type);
}

/// bind(grid) -> callable
PyObject *dispatcherBind(PyObject *object, PyObject *grid) {
  auto *bound = reinterpret_cast<BoundKernel *>(boundKernelType->tp_alloc(boundKernelType, 0));
  if (!bound)
    return nullptr;
  bound->vectorcall = boundCall;
  bound->dispatcher = reinterpret_cast<Dispatcher *>(Py_NewRef(object));
  bound->grid = Py_NewRef(grid);
  return reinterpret_cast<PyObject *>(bound);
}

/// run(grid, warmup, args, kwargs): the same from a tuple and a dict.
PyObject *dispatcherRun(PyObject *object, PyObject *arguments) {
  PyObject *grid = nullptr, *args = nullptr, *kwargs = nullptr;
  int warmup = 0;
  if (!PyArg_ParseTuple(arguments, "OpO!O!", &grid, &warmup, &PyTuple_Type, &args, &PyDict_Type, &kwargs))
    return nullptr;
  size_t count = size_t(PyTuple_GET_SIZE(args));
  std::vector<PyObject *> values;
  for (size_t i = 0; i != count; ++i)
    values.push_back(PyTuple_GET_ITEM(args, Py_ssize_t(i)));
  Ref names = Ref::steal(PyTuple_New(PyDict_GET_SIZE(kwargs)));
  if (!names)
    return nullptr;
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t position = 0, i = 0; PyDict_Next(kwargs, &position, &name, &value); ++i) {
    PyTuple_SET_ITEM(names.get(), i, Py_NewRef(name));
    values.push_back(value);
  }
  return dispatch(reinterpret_cast<Dispatcher *>(object), warmup ? nullptr : grid, values.data(), count,
                  PyDict_GET_SIZE(kwargs) ? names.get() : nullptr);
}

/// kernels() -> dict of the compiled kernels by key.
PyObject *dispatcherKernels(PyObject *object, PyObject *) {
  Ref dict = Ref::steal(PyDict_New());
  if (!dict)
    return nullptr;
  for (const auto &[key, entry] : reinterpret_cast<Dispatcher *>(object)->state->entries) {
    Ref name = Ref::steal(PyBytes_FromStringAndSize(key.data(), Py_ssize_t(key.size())));
    if (!name || PyDict_SetItem(dict.get(), name.get(), entry.kernelObject.get()) < 0)
      return nullptr;
  }
  return dict.release();
}

/// clear(): forgets the compiled kernels.
PyObject *dispatcherClearKernels(PyObject *object, PyObject *) {
  auto entries = std::move(reinterpret_cast<Dispatcher *>(object)->state->entries);
  reinterpret_cast<Dispatcher *>(object)->state->entries.clear();
  Py_RETURN_NONE;
}

PyMethodDef dispatcherMethods[] = {
    {"bind", dispatcherBind, METH_O, "bind(grid): a callable that launches on the grid"},
    {"run", dispatcherRun, METH_VARARGS, "run(grid, warmup, args, kwargs): launches, or compiles only"},
    {"kernels", dispatcherKernels, METH_NOARGS, "kernels(): the compiled kernels by key"},
    {"clear", dispatcherClearKernels, METH_NOARGS, "clear(): forgets the compiled kernels"},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot dispatcherSlots[] = {{Py_tp_new, reinterpret_cast<void *>(dispatcherNew)},
                                 {Py_tp_dealloc, reinterpret_cast<void *>(dispatcherDealloc)},
                                 {Py_tp_traverse, reinterpret_cast<void *>(dispatcherTraverse)},
                                 {Py_tp_clear, reinterpret_cast<void *>(dispatcherClear)},
                                 {Py_tp_methods, dispatcherMethods},
                                 {0, nullptr}};
PyType_Spec dispatcherSpec = {"despina._native.Dispatcher", sizeof(Dispatcher), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, dispatcherSlots};

PyMemberDef boundMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundKernel, vectorcall), READONLY, nullptr},
    {"grid", T_OBJECT, offsetof(BoundKernel, grid), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot boundSlots[] = {{Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                            {Py_tp_dealloc, reinterpret_cast<void *>(boundDealloc)},
                            {Py_tp_traverse, reinterpret_cast<void *>(boundTraverse)},
                            {Py_tp_clear, reinterpret_cast<void *>(boundClear)},
                            {Py_tp_members, boundMembers},
                            {0, nullptr}};
PyType_Spec boundSpec = {"despina._native.BoundKernel", sizeof(BoundKernel), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, boundSlots};

bool readExtent(PyObject *object, int axis, int64_t &extent) {
  Ref index = Ref::steal(PyNumber_Index(object));
  if (!index)
    return false;
  int overflow = 0;
  extent = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  constexpr int64_t limit = 2147483647;
  if (overflow || extent < 0 || extent > limit) {
    PyErr_Format(PyExc_ValueError, "grid extent %d is %S; it must be between 0 and %lld", axis, index.get(),
                 (long long)limit);
    return false;
  }
  return true;
}

} // namespace

bool readGrid(PyObject *object, Grid &grid) {
  if (PyLong_Check(object)) {
    PyErr_SetString(PyExc_TypeError,
                    "the grid must be a tuple of one to three integers, such as (n,), or a function "
                    "that returns one; got an int");
    return false;
  }
  Ref items =
      Ref::steal(PySequence_Fast(object, "the grid must be a tuple of one to three integers, or a function "
                                         "that returns one"));
  if (!items)
    return false;
  Py_ssize_t size = PySequence_Fast_GET_SIZE(items.get());
  if (size < 1 || size > 3) {
    PyErr_Format(PyExc_ValueError, "the grid must have one to three extents, got %zd", size);
    return false;
  }
  int64_t *extents[] = {&grid.x, &grid.y, &grid.z};
  for (Py_ssize_t i = 0; i != size; ++i)
    if (!readExtent(PySequence_Fast_GET_ITEM(items.get(), i), int(i), *extents[i]))
      return false;
  constexpr int64_t limit = 2147483647;
  if (grid.x && grid.y && grid.z && (grid.y > limit / grid.x || grid.z > limit / (grid.x * grid.y))) {
    PyErr_Format(PyExc_ValueError, "a grid of %lld x %lld x %lld is over %lld programs", (long long)grid.x,
                 (long long)grid.y, (long long)grid.z, (long long)limit);
    return false;
  }
  return true;
}

/// The scratch memory of a launch, from the allocator that the program has set. Owned by the result, which
/// must live until the kernel is queued; null after setting a Python error.
static Ref allocateScratch(const Kernel &kernel, const Grid &grid, void *stream, uint64_t &address) {
  const KernelResources &resources = kernel.resources();
  uint64_t blocks = uint64_t(grid.x) * uint64_t(grid.y) * uint64_t(grid.z) * uint64_t(resources.numCtas);
  Ref answer = Ref::steal(
      PyObject_CallFunction(registry().allocateScratch, "KKK", resources.globalScratchBytes * blocks,
                            static_cast<unsigned long long>(resources.globalScratchAlignment),
                            static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(stream))));
  if (!answer)
    return {};
  address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(answer.get(), 1));
  return PyErr_Occurred() ? Ref() : answer;
}

bool runKernel(const Kernel &kernel, const Grid &grid, const uint64_t *slots, int device, void *stream) {
  auto poll = [](void *) {
    GILGuard guard;
    return PyErr_CheckSignals() < 0;
  };
  LaunchOptions options;
  Ref scratch;
  if (device == cpuPlace) {
    bool onMainThread = PyThread_get_thread_ident() == registry().mainThread;
    options.shouldStop = onMainThread ? +poll : nullptr;
  } else {
    options.device = device;
    options.stream = stream;
    if (kernel.resources().globalScratchBytes != 0 &&
        !(scratch = allocateScratch(kernel, grid, stream, options.globalScratch)))
      return false;
  }
  Expected<bool> done = true;
  {
    // Also for a GPU: with its queue full, the driver waits, and what it waits for may need the GIL.
    GILRelease release;
    done = kernel.launchPacked(grid, slots, options);
  }
  if (!done) {
    setException(exceptionFor(done.error()).get());
    return false;
  }
  if (*done)
    return true;
  if (!PyErr_Occurred())
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  return false;
}

bool addDispatcher(PyObject *module) {
  Ref dispatcher = Ref::steal(PyType_FromSpec(&dispatcherSpec)),
      bound = Ref::steal(PyType_FromSpec(&boundSpec));
  if (!dispatcher || !bound)
    return false;
  dispatcherType = reinterpret_cast<PyTypeObject *>(dispatcher.get());
  boundKernelType = reinterpret_cast<PyTypeObject *>(bound.get());
  return PyModule_AddObjectRef(module, "Dispatcher", dispatcher.release()) == 0 &&
         PyModule_AddObjectRef(module, "BoundKernel", bound.release()) == 0;
}

} // namespace despina::python
