//===- Host.cpp - Compiling for a host language ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Errors.h"
#include "HostAdapter.h"
#include "Signature.h"

#include "despina/Lang/Builtins.h"

#include <chrono>

namespace despina::host {

namespace {

Expected<std::vector<despina::KernelArgument>> convertArguments(HostAdapter &adapter,
                                                                const std::vector<KernelArgument> &args,
                                                                const std::string &parameter);

/// One argument; `parameter` is the name of the parameter it belongs to.
Expected<despina::KernelArgument> convertArgument(HostAdapter &adapter, const KernelArgument &arg,
                                                  const std::string &parameter) {
  despina::KernelArgument argument;
  argument.name = arg.name;
  argument.divisibility = arg.divisibility;
  if (arg.isTuple) {
    argument.isTuple = true;
    argument.fields = arg.fields;
    argument.tupleTypeName = arg.tupleTypeName;
    Expected<std::vector<despina::KernelArgument>> elements =
        convertArguments(adapter, arg.elements, parameter);
    if (!elements)
      return elements.error();
    argument.elements = std::move(*elements);
  } else if (arg.type.empty()) {
    Resolution failure;
    argument.constant = adapter.fromHost(arg.constant, failure);
    if (!argument.constant)
      return plainError(errorKindName(failure.errorKind),
                        "parameter '" + parameter + "': " + failure.message);
  } else if (std::optional<DescriptorType> descriptor = parseDescriptorType(arg.type)) {
    return descriptorArgument(arg.name, descriptor->type, descriptor->padsNaN);
  } else if (std::optional<Type> type = Type::fromSignature(arg.type)) {
    argument.type = *type;
  } else {
    return plainError("TypeError",
                      "parameter '" + parameter + "' has the unsupported type '" + arg.type + "'");
  }
  return argument;
}

/// The front end's arguments; `parameter` is empty outside tuples.
Expected<std::vector<despina::KernelArgument>> convertArguments(HostAdapter &adapter,
                                                                const std::vector<KernelArgument> &args,
                                                                const std::string &parameter) {
  std::vector<despina::KernelArgument> converted;
  for (const KernelArgument &arg : args) {
    Expected<despina::KernelArgument> argument =
        convertArgument(adapter, arg, parameter.empty() ? arg.name : parameter);
    if (!argument)
      return argument.error();
    converted.push_back(std::move(*argument));
  }
  return converted;
}

void forwardWarning(Resolver &resolver, const Diagnostic &diagnostic) {
  std::string file;
  unsigned line = 0;
  if (diagnostic.range) {
    file = diagnostic.range.file->path();
    line = diagnostic.range.file->lineColumn(diagnostic.range.begin).line;
  }
  resolver.warn(diagnostic.message, file, line);
}

std::string parameterText(const ParamDef &param) {
  std::string text = param.variadic ? "*" : "";
  text += param.name;
  if (param.defaultText)
    text += std::string("=") + param.defaultText;
  return text;
}

std::string signatureText(const BuiltinDef &def) {
  std::string text = "(";
  bool keywordsMarked = false;
  for (const ParamDef &param : def.params) {
    if (text.size() > 1)
      text += ", ";
    if (param.keywordOnly && !keywordsMarked)
      text += "*, ";
    keywordsMarked |= param.keywordOnly || param.variadic;
    text += parameterText(param);
  }
  return text + ")";
}

} // namespace

Expected<Kernel> compile(const std::shared_ptr<const Function> &function, Resolver &resolver,
                         const std::vector<KernelArgument> &args, const Target &target,
                         const CompileOptions &options) {
  if (!function)
    return plainError("ValueError", "there is no function to compile");
  BackEndOr backEnd = makeBackEnd(target, options);
  if (!backEnd)
    return backEnd.error();
  auto start = std::chrono::steady_clock::now();
  HostAdapter adapter(resolver);
  Diagnostics diags;
  CompileRequest request;
  request.function = adapter.functionInfo(function, diags);
  if (!request.function)
    return errorFrom(diags);
  Expected<std::vector<despina::KernelArgument>> arguments = convertArguments(adapter, args, {});
  if (!arguments)
    return arguments.error();
  request.arguments = std::move(*arguments);
  request.keep = options.keep;
  request.staticPrint = [&](llvm::StringRef text) { resolver.staticPrint(text.str()); };
  request.warn = [&](const Diagnostic &diagnostic) { forwardWarning(resolver, diagnostic); };
  request.parseSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return compileKernel(request, *backEnd);
}

std::vector<BuiltinDoc> builtinDocs() {
  std::vector<BuiltinDoc> docs;
  for (const BuiltinDef &def : allBuiltins())
    docs.push_back({def.path, signatureText(def), def.doc, def.isMember, def.evaluate != nullptr});
  return docs;
}

} // namespace despina::host
