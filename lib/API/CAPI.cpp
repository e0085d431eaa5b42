//===- CAPI.cpp - The C API over the C++ one ------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "despina/c.h"

#include "Errors.h"

#include "despina/despina.h"

#include <algorithm>
#include <cstring>

struct despina_error {
  despina::Error error;
};
struct despina_kernel {
  despina::Kernel kernel;
};
struct despina_strings {
  std::vector<std::string> strings;
};

namespace {

using namespace despina;

int fail(despina_error **out, Error error) {
  if (out)
    *out = new despina_error{std::move(error)};
  return 1;
}

int failValue(despina_error **out, std::string message) {
  return fail(out, plainError("ValueError", std::move(message)));
}

/// Copies a caller's structure: members that it does not know are 0. False when its size cannot be right.
template <typename T> bool readStruct(const T *given, T &copy) {
  constexpr size_t smallest = sizeof(size_t) + sizeof(void *);
  std::memset(static_cast<void *>(&copy), 0, sizeof copy);
  if (!given)
    return false;
  size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < smallest || size > size_t(1) << 16)
    return false;
  std::memcpy(static_cast<void *>(&copy), given, std::min(size, sizeof copy));
  return true;
}

std::string text(const char *string) { return string ? string : ""; }

/// None when the kind is unknown.
std::optional<ConstantValue> constantOf(const despina_parameter &parameter) {
  switch (parameter.constant_kind) {
  case DESPINA_NONE: return ConstantValue();
  case DESPINA_BOOL: return ConstantValue(parameter.integer != 0);
  case DESPINA_INT: return ConstantValue(parameter.integer);
  case DESPINA_FLOAT: return ConstantValue(parameter.real);
  case DESPINA_STRING: return ConstantValue(text(parameter.string));
  case DESPINA_DTYPE: return ConstantValue(DType{text(parameter.string)});
  default: return std::nullopt;
  }
}

/// Sorts the parameters into types and constants; what is wrong with them, or nothing.
std::string readParameters(const despina_compile_request &request, std::vector<NamedType> &signature,
                           std::vector<NamedConstant> &constants) {
  if (request.num_parameters == 0)
    return "";
  despina_parameter parameter;
  if (!readStruct(request.parameters, parameter))
    return "the parameters are missing, or their struct_size is not set";
  size_t stride = parameter.struct_size;
  const char *next = reinterpret_cast<const char *>(request.parameters);
  for (size_t i = 0; i < request.num_parameters; ++i, next += stride) {
    if (!readStruct(reinterpret_cast<const despina_parameter *>(next), parameter) ||
        parameter.struct_size != stride)
      return "parameter " + std::to_string(i) + " has another struct_size than the first";
    if (parameter.type) {
      signature.push_back({text(parameter.name), parameter.type});
      continue;
    }
    std::optional<ConstantValue> value = constantOf(parameter);
    if (!parameter.name || !value)
      return "parameter " + std::to_string(i) + " is a constant without a name or of an unknown kind";
    constants.emplace_back(parameter.name, std::move(*value));
  }
  return "";
}

CompileOptions optionsOf(const despina_compile_request &request) {
  CompileOptions options;
  if (request.num_warps)
    options.numWarps = request.num_warps;
  if (request.num_stages)
    options.numStages = request.num_stages;
  if (request.num_ctas)
    options.numCtas = request.num_ctas;
  options.enableFPFusion = !request.disable_fp_fusion;
  options.debug = request.debug != 0;
  options.maxRegisters = request.max_registers;
  options.cooperativeLaunch = request.cooperative_launch != 0;
  options.programmaticDependentLaunch = request.programmatic_dependent_launch != 0;
  return options;
}

/// False when the kind is unknown.
bool readArgument(const despina_argument &argument, std::vector<Argument> &arguments) {
  switch (argument.kind) {
  case DESPINA_ARGUMENT_POINTER: arguments.emplace_back(argument.value.pointer); return true;
  case DESPINA_ARGUMENT_INT: arguments.emplace_back(argument.value.integer); return true;
  case DESPINA_ARGUMENT_UINT: arguments.emplace_back(argument.value.unsigned_integer); return true;
  case DESPINA_ARGUMENT_FLOAT: arguments.emplace_back(argument.value.real); return true;
  default: return false;
  }
}

/// Turns the caller's C callback into one that answers a bool.
struct StopRequest {
  int (*callback)(void *);
  void *context;
  static bool ask(void *self) {
    auto *request = static_cast<StopRequest *>(self);
    return request->callback(request->context) != 0;
  }
};

} // namespace

const char *despina_version(void) { return despina::version(); }

const char *despina_error_kind(const despina_error *error) { return error ? error->error.kind.c_str() : ""; }
const char *despina_error_message(const despina_error *error) {
  return error ? error->error.message.c_str() : "";
}
const char *despina_error_rendered(const despina_error *error) {
  return error ? error->error.rendered.c_str() : "";
}
const char *despina_error_file(const despina_error *error) { return error ? error->error.file.c_str() : ""; }
uint32_t despina_error_line(const despina_error *error) { return error ? error->error.line : 0; }
uint32_t despina_error_column(const despina_error *error) { return error ? error->error.column : 0; }
void despina_error_free(despina_error *error) { delete error; }

int despina_compile(const despina_compile_request *request, despina_kernel **kernel, despina_error **error) {
  despina_compile_request given;
  if (!readStruct(request, given))
    return failValue(error, "the compile request is missing, or its struct_size is not set");
  if (!kernel || !given.path || !given.kernel)
    return failValue(error, "a compile request needs a path, the kernel's name and a place for the result");
  std::vector<NamedType> signature;
  std::vector<NamedConstant> constants;
  if (std::string wrong = readParameters(given, signature, constants); !wrong.empty())
    return failValue(error, wrong);
  Target target;
  if (given.backend)
    target.backend = given.backend;
  if (given.arch)
    target.arch = given.arch;
  CompileOptions options = optionsOf(given);
  Expected<Kernel> compiled =
      given.text ? compileText(std::string(given.text, given.text_size), given.path, given.kernel, signature,
                               constants, target, options)
                 : compileFile(given.path, given.kernel, signature, constants, target, options);
  if (!compiled)
    return fail(error, compiled.error());
  *kernel = new despina_kernel{*compiled};
  return 0;
}

void despina_kernel_free(despina_kernel *kernel) { delete kernel; }

const char *despina_kernel_name(const despina_kernel *kernel) {
  return kernel ? kernel->kernel.name().c_str() : "";
}
size_t despina_kernel_num_parameters(const despina_kernel *kernel) {
  return kernel ? kernel->kernel.parameterTypes().size() : 0;
}
const char *despina_kernel_parameter_type(const despina_kernel *kernel, size_t index) {
  if (!kernel)
    return nullptr;
  const std::vector<std::string> &types = kernel->kernel.parameterTypes();
  return index < types.size() ? types[index].c_str() : nullptr;
}
size_t despina_kernel_scratch_bytes(const despina_kernel *kernel) {
  return kernel ? kernel->kernel.scratchBytes() : 0;
}

int despina_kernel_text(const despina_kernel *kernel, const char *stage, despina_strings **text,
                        despina_error **error) {
  if (!kernel || !stage || !text)
    return failValue(error, "a kernel, the name of a stage and a place for the result are needed");
  Expected<std::string> found = kernel->kernel.text(stage);
  if (!found)
    return fail(error, found.error());
  *text = new despina_strings{{std::move(*found)}};
  return 0;
}

int despina_list_kernels(const char *path, despina_strings **names, despina_error **error) {
  if (!path || !names)
    return failValue(error, "a path and a place for the result are needed");
  Expected<std::vector<std::string>> found = listKernels(path);
  if (!found)
    return fail(error, found.error());
  *names = new despina_strings{std::move(*found)};
  return 0;
}

size_t despina_strings_count(const despina_strings *strings) { return strings ? strings->strings.size() : 0; }
const char *despina_strings_get(const despina_strings *strings, size_t index) {
  return strings && index < strings->strings.size() ? strings->strings[index].c_str() : nullptr;
}
size_t despina_strings_size(const despina_strings *strings, size_t index) {
  return strings && index < strings->strings.size() ? strings->strings[index].size() : 0;
}
void despina_strings_free(despina_strings *strings) { delete strings; }

int despina_launch(const despina_kernel *kernel, const despina_launch_request *request,
                   despina_error **error) {
  despina_launch_request given;
  if (!readStruct(request, given))
    return failValue(error, "the launch request is missing, or its struct_size is not set");
  if (!kernel || (given.num_arguments && !given.arguments))
    return failValue(error, "a kernel and its arguments are needed");
  std::vector<Argument> arguments;
  for (size_t i = 0; i < given.num_arguments; ++i)
    if (!readArgument(given.arguments[i], arguments))
      return failValue(error, "argument " + std::to_string(i) + " is of an unknown kind");
  StopRequest stop{given.should_stop, given.context};
  LaunchOptions options;
  options.device = given.device_from_1 - 1;
  options.stream = given.stream;
  options.shouldStop = stop.callback ? StopRequest::ask : nullptr;
  options.context = &stop;
  Result done = kernel->kernel.launch({given.grid[0], given.grid[1], given.grid[2]}, arguments.data(),
                                      arguments.size(), options);
  if (!done)
    return fail(error, done.error());
  return 0;
}
