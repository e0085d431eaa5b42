//===- Module.cpp - The extension module despina._native -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Dispatcher.h"
#include "Interpreter.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace despina::python {

namespace {

[[noreturn]] void raise(Ref exception) {
  if (exception)
    setException(exception.get());
  throw nb::python_error();
}

FunctionHandle makeFunction(bool isJit, std::string name, std::string qualifiedName, std::string source,
                            std::string path, unsigned firstLine, unsigned indent, bool noinlined,
                            std::optional<std::string> mustUse, std::string key, nb::handle scope) {
  auto function = std::make_shared<host::Function>();
  function->kind = isJit ? host::Function::Kind::Jit : host::Function::Kind::ConstexprFunction;
  function->name = std::move(name);
  function->qualifiedName = std::move(qualifiedName);
  function->source = std::move(source);
  function->path = std::move(path);
  function->firstLine = firstLine;
  function->indent = indent;
  function->noinline = noinlined;
  function->mustUseResult = std::move(mustUse);
  function->key = std::move(key);
  function->scope = scope.ptr();
  return {std::move(function)};
}

/// Reads (name, type or None, constant, divisibility, elements or None).
host::KernelArgument readArgument(nb::handle entry) {
  auto fields = nb::cast<nb::tuple>(entry);
  host::KernelArgument argument;
  if (!fields[0].is_none())
    argument.name = nb::cast<std::string>(fields[0]);
  argument.divisibility = nb::cast<int64_t>(fields[3]);
  if (!fields[4].is_none()) {
    argument.isTuple = true;
    for (nb::handle element : fields[4])
      argument.elements.push_back(readArgument(element));
    host::Value whole = toValue(nb::object(fields[2]).ptr());
    argument.fields = whole.fields;
    argument.tupleTypeName = whole.text;
  } else if (!fields[1].is_none()) {
    argument.type = nb::cast<std::string>(fields[1]);
  } else {
    argument.constant = toValue(nb::object(fields[2]).ptr());
  }
  return argument;
}

CompileOptions readOptions(nb::dict options, std::vector<std::string> keep) {
  CompileOptions result;
  result.numWarps = nb::cast<int>(options["num_warps"]);
  result.numStages = nb::cast<int>(options["num_stages"]);
  result.numCtas = nb::cast<int>(options["num_ctas"]);
  result.enableFPFusion = nb::cast<bool>(options["enable_fp_fusion"]);
  result.debug = nb::cast<bool>(options["debug"]);
  result.sanitizeOverflow = nb::cast<bool>(options["sanitize_overflow"]);
  if (nb::object limit = options["maxnreg"]; !limit.is_none())
    result.maxRegisters = nb::cast<int>(limit);
  result.cooperativeLaunch = nb::cast<bool>(options["launch_cooperative_grid"]);
  result.programmaticDependentLaunch = nb::cast<bool>(options["launch_pdl"]);
  result.sitePackages = nb::cast<std::vector<std::string>>(options["site_packages"]);
  result.keep = std::move(keep);
  return result;
}

/// The slots' types. A kernel with a type that Python cannot pack is launched through the dispatcher only.
std::vector<TypeCode> slotTypes(const Kernel &kernel) {
  std::vector<TypeCode> types;
  for (const std::string &text : kernel.parameterTypes())
    types.push_back(typeFromSignature(text).value_or(code::U64));
  return types;
}

KernelHandle compileKernel(const FunctionHandle &function, nb::list arguments, nb::dict options,
                           std::tuple<std::string, std::string, int> target, std::vector<std::string> keep) {
  std::vector<host::KernelArgument> args;
  for (nb::handle entry : arguments)
    args.push_back(readArgument(entry));
  CompileOptions compileOptions = readOptions(options, std::move(keep));
  Target compileTarget;
  std::tie(compileTarget.backend, compileTarget.arch, compileTarget.warpSize) = target;
  PythonHost host;
  std::optional<Expected<Kernel>> kernel;
  {
    GILRelease release;
    kernel.emplace(host::compile(function.function, host, args, compileTarget, compileOptions));
  }
  if (host.rawException())
    raise(Ref::borrow(host.rawException()));
  if (!*kernel)
    raise(exceptionFor(kernel->error(), host.lastException()));
  KernelHandle handle{**kernel, host.usedGlobals(), slotTypes(**kernel)};
  return handle;
}

/// Raises the errors that compiling for these arguments would give. Gives the constants it read; names of the
/// language go to `names`.
nb::list checkKernel(const FunctionHandle &function, nb::list arguments, std::optional<nb::list> names) {
  std::vector<host::KernelArgument> args;
  for (nb::handle entry : arguments)
    args.push_back(readArgument(entry));
  PythonHost host;
  std::optional<Result> checked;
  std::vector<std::string> namesUsed;
  {
    GILRelease release;
    checked.emplace(host::check(function.function, host, args, &namesUsed));
  }
  if (host.rawException())
    raise(Ref::borrow(host.rawException()));
  if (!*checked)
    raise(exceptionFor(checked->error(), host.lastException()));
  for (const std::string &name : namesUsed)
    if (names)
      names->append(name);
  nb::list used;
  for (const UsedGlobal &global : host.usedGlobals())
    used.append(nb::make_tuple(nb::handle(global.container.get()), nb::handle(global.name.get()),
                               nb::handle(global.value.get())));
  return used;
}

nb::object stageText(const KernelHandle &handle, const std::string &stage) {
  std::optional<Expected<std::string>> text;
  {
    GILRelease release;
    text.emplace(handle.kernel.text(stage));
  }
  if (!*text)
    raise(exceptionFor(text->error()));
  const std::string &content = **text;
  if (stage == "obj" || stage == "cubin")
    return nb::bytes(content.data(), content.size());
  return nb::steal(makeStr(content).release());
}

/// Where a compiled kernel is launched: on the CPU, or on `device`, -1 standing for where its arguments lie.
/// Throws where they do not suit.
int placeOf(const KernelHandle &handle, const ArgumentReader &reader, int device) {
  int place = cpuPlace;
  if (handle.kernel.target().backend == "cpu") {
    if (!resolvePlace(reader, place))
      throw nb::python_error();
    if (place != cpuPlace && !reader.pointers().empty())
      throw nb::value_error(
          "Pointer argument cannot be accessed from the CPU target (a tensor of another device?)");
    return cpuPlace;
  }
  place = device >= 0 ? device : firstDevice(reader);
  if (place < 0)
    place = valueOrThrow(DeviceRuntime::get("cuda"))->current();
  if (!checkPlaces(reader, place))
    throw nb::python_error();
  return place;
}

/// `device` -1: the current one. No stream: the current one of the library that the tensors are from.
void launchKernel(const KernelHandle &handle, nb::handle grid, nb::tuple args, int device,
                  std::optional<uintptr_t> stream) {
  Grid extents;
  if (!readGrid(grid.ptr(), extents))
    throw nb::python_error();
  if (args.size() != handle.types.size()) {
    PyErr_Format(PyExc_TypeError, "%s takes %zu runtime argument%s but %zu %s given",
                 handle.kernel.name().c_str(), handle.types.size(), handle.types.size() == 1 ? "" : "s",
                 args.size(), args.size() == 1 ? "was" : "were");
    throw nb::python_error();
  }
  ArgumentReader reader;
  std::vector<uint64_t> slots(args.size());
  for (size_t i = 0; i != args.size(); ++i)
    if (!reader.readAs(handle.types[i], nb::object(args[i]).ptr(), slots[i]))
      throw nb::python_error();
  int place = placeOf(handle, reader, device);
  void *queue = reinterpret_cast<void *>(stream.value_or(0));
  if (place != cpuPlace && stream)
    valueOrThrow(valueOrThrow(DeviceRuntime::get("cuda"))->checkStream(place, queue));
  else if (place != cpuPlace && !currentStream(reader, place, queue))
    throw nb::python_error();
  if (extents.x && extents.y && extents.z && !runKernel(handle.kernel, extents, slots.data(), place, queue))
    throw nb::python_error();
}

nb::dict resourcesOf(const KernelHandle &handle) {
  const KernelResources &resources = handle.kernel.resources();
  nb::dict result;
  result["num_warps"] = resources.numWarps;
  result["num_ctas"] = resources.numCtas;
  result["shared"] = resources.sharedBytes;
  result["global_scratch_size"] = resources.globalScratchBytes;
  result["global_scratch_align"] = resources.globalScratchAlignment;
  result["n_regs"] = resources.registers;
  result["n_spills"] = resources.spills;
  return result;
}

/// (module, function, registers, spills, threads of a block) on a device, loaded if need be.
nb::tuple loadKernel(const KernelHandle &handle, int device) {
  std::optional<Expected<DeviceKernel>> loaded;
  {
    GILRelease release;
    loaded.emplace(handle.kernel.load(device));
  }
  DeviceKernel kernel = valueOrThrow(std::move(*loaded));
  return nb::make_tuple(reinterpret_cast<uintptr_t>(kernel.module),
                        reinterpret_cast<uintptr_t>(kernel.function), kernel.registers, kernel.spills,
                        kernel.maxThreads);
}

nb::tuple targetOf(const KernelHandle &handle) {
  const Target &target = handle.kernel.target();
  return nb::make_tuple(target.backend, target.arch, target.warpSize);
}

std::vector<std::pair<std::string, double>> stageTimes(const KernelHandle &handle) {
  std::vector<std::pair<std::string, double>> times;
  for (const StageTime &time : handle.kernel.stageTimes())
    times.emplace_back(time.stage, time.seconds);
  return times;
}

nb::list usedGlobals(const KernelHandle &handle) {
  nb::list result;
  for (const UsedGlobal &used : handle.usedGlobals)
    result.append(nb::make_tuple(nb::handle(used.name.get()), nb::handle(used.value.get())));
  return result;
}

nb::list builtinDocs() {
  nb::list result;
  for (const host::BuiltinDoc &doc : host::builtinDocs())
    result.append(nb::make_tuple(doc.path, doc.signature, doc.doc, doc.isMember, doc.supported));
  return result;
}

/// Keeps a reference for the life of the process.
void setOnce(PyObject *&slot, nb::dict values, const char *name) {
  slot = nb::object(values[name]).release().ptr();
}

void registerPackage(nb::dict values) {
  Registry &r = registry();
  setOnce(r.constexprClass, values, "constexpr");
  setOnce(r.dtypeClass, values, "dtype");
  setOnce(r.descriptorClass, values, "tensor_descriptor");
  setOnce(r.jitCallableClass, values, "jit_callable");
  setOnce(r.dtypeFromSignature, values, "dtype_from_signature");
  setOnce(r.makeError, values, "make_error");
  setOnce(r.readBuiltin, values, "read_builtin");
  setOnce(r.allowGlobals, values, "allow_globals");
  setOnce(r.enterHooks, values, "enter_hooks");
  setOnce(r.exitHooks, values, "exit_hooks");
  setOnce(r.activeDevice, values, "active_device");
  setOnce(r.allocateScratch, values, "allocate_scratch");
}

void setMainThread(unsigned long identifier) { registry().mainThread = identifier; }

std::string describeArgument(nb::handle object) {
  ArgumentReader reader;
  Classified classified;
  if (!reader.read(Parameter(), object.ptr(), classified))
    throw nb::python_error();
  if (classified.kind == Classified::Kind::Descriptor)
    return descriptorSignature(classified);
  return classified.kind == Classified::Kind::Runtime ? signatureOf(classified.type) : "constexpr";
}

//===----------------------------------------------------------------------===//
// Interpreted launches
//===----------------------------------------------------------------------===//

/// Operations belong to this session from now on.
void beginSession(Session &session) { Session::running().push_back(&session); }

void endSession(Session &session) { std::erase(Session::running(), &session); }

void setProgram(Session &session, std::tuple<uint32_t, uint32_t, uint32_t> program,
                std::tuple<uint32_t, uint32_t, uint32_t> grid) {
  auto [x, y, z] = program;
  auto [gridX, gridY, gridZ] = grid;
  session.interpreter.setProgram({x, y, z}, {gridX, gridY, gridZ});
}

nb::object makeScalar(Session &session, const std::string &type, uint64_t bits) {
  return nb::steal(session.fromItem(session.interpreter.scalar(type, bits)).release());
}

nb::object makeSessionDescriptor(Session &session, const std::string &type,
                                 const std::vector<uint64_t> &leaves) {
  Ref made = session.finish(session.interpreter.descriptor(type, leaves));
  if (!made)
    throw nb::python_error();
  return nb::steal(made.release());
}

void addSession(nb::module_ &m) {
  nb::class_<Session>(m, "Session", "The state of an interpreted launch.")
      .def(
          "__init__",
          [](Session *self, nb::handle callFunction, nb::handle report) {
            new (self) Session(Ref::borrow(callFunction.ptr()), Ref::borrow(report.ptr()));
          },
          "call_function"_a, "report"_a.none())
      .def("begin", &beginSession)
      .def("end", &endSession)
      .def("set_program", &setProgram, "program"_a, "grid"_a)
      .def(
          "add_memory",
          [](Session &self, uint64_t begin, uint64_t end, const std::string &name, uint64_t neverWritten) {
            self.interpreter.addMemory(begin, end, name, neverWritten);
          },
          "begin"_a, "end"_a, "name"_a, "never_written"_a)
      .def("commit", [](Session &self) { self.interpreter.commit(); })
      .def("roll_back", [](Session &self) { self.interpreter.rollBack(); })
      .def("scalar", &makeScalar, "type"_a, "bits"_a)
      .def("descriptor", &makeSessionDescriptor, "type"_a, "leaves"_a);
}

} // namespace

} // namespace despina::python

NB_MODULE(_native, m) {
  using namespace despina::python;
  m.doc() = "The native part of the package: compiler, launcher, argument handling.";
  // Kernels live as long as the functions that use them, which is often as long as the process.
  nb::set_leak_warnings(false);
  if (!initialiseRegistry() || !addDispatcher(m.ptr()) || !addInterpreter(m.ptr()))
    throw nb::python_error();
  nb::class_<FunctionHandle>(m, "Function", "A function with kernel-language source.");
  nb::class_<KernelHandle>(m, "Kernel", "A compiled kernel.")
      .def_prop_ro("name", [](const KernelHandle &self) { return self.kernel.name(); })
      .def_prop_ro("parameter_types", [](const KernelHandle &self) { return self.kernel.parameterTypes(); })
      .def_prop_ro("scratch_bytes", [](const KernelHandle &self) { return self.kernel.scratchBytes(); })
      .def_prop_ro("stage_times", &stageTimes)
      .def_prop_ro("names_used", [](const KernelHandle &self) { return self.kernel.namesUsed(); })
      .def_prop_ro("used_globals", &usedGlobals)
      .def_prop_ro("target", &targetOf)
      .def_prop_ro("resources", &resourcesOf)
      .def("load", &loadKernel, "device"_a = -1, "Readies the kernel for a CUDA device.")
      .def("text", &stageText, "stage"_a, "Text of a stage, or the bytes of obj and cubin.")
      .def("launch", &launchKernel, "grid"_a, "args"_a, "device"_a = -1, "stream"_a.none() = nb::none(),
           "Runs the grid with the runtime arguments in order.");
  addDevices(m);
  addSession(m);
  m.def("check", &checkKernel, "function"_a, "arguments"_a, "names"_a.none() = nb::none());
  m.def("make_function", &makeFunction, "is_jit"_a, "name"_a, "qualified_name"_a, "source"_a, "path"_a,
        "first_line"_a, "indent"_a, "noinline"_a, "must_use"_a.none(), "key"_a, "scope"_a);
  m.def("compile", &compileKernel, "function"_a, "arguments"_a, "options"_a, "target"_a, "keep"_a);
  m.def("builtin_docs", &builtinDocs);
  m.def("register_package", &registerPackage, "values"_a);
  m.def("set_main_thread", &setMainThread, "identifier"_a);
  m.def("describe_argument", &describeArgument, "object"_a.none(),
        "Signature form of what an argument is taken for.");
  m.def("version", [] { return despina::version(); });
}
