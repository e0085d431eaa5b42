//===- HostArguments.cpp - A host's arguments and warnings ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "HostArguments.h"

#include "Errors.h"
#include "Signature.h"

namespace despina::host {

namespace {

Expected<std::vector<despina::KernelArgument>> convertList(HostAdapter &adapter,
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
    Expected<std::vector<despina::KernelArgument>> elements = convertList(adapter, arg.elements, parameter);
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
Expected<std::vector<despina::KernelArgument>> convertList(HostAdapter &adapter,
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

} // namespace

Expected<std::vector<despina::KernelArgument>> convertArguments(HostAdapter &adapter,
                                                                const std::vector<KernelArgument> &args) {
  return convertList(adapter, args, {});
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

void forwardWarnings(Resolver &resolver, const Diagnostics &diags) {
  for (const Diagnostic &diagnostic : diags.all())
    if (diagnostic.severity == Severity::Warning)
      forwardWarning(resolver, diagnostic);
}

} // namespace despina::host
