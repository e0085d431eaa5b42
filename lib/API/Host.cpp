//===- Host.cpp - Compiling for a host language ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Errors.h"
#include "HostAdapter.h"
#include "HostArguments.h"

#include "despina/Lang/Builtins.h"

#include <chrono>

namespace despina::host {

namespace {

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
  Expected<std::vector<despina::KernelArgument>> arguments = convertArguments(adapter, args);
  if (!arguments)
    return arguments.error();
  request.arguments = std::move(*arguments);
  request.keep = options.keep;
  request.sanitizeOverflow = options.sanitizeOverflow;
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
