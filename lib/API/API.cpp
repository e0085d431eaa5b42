//===- API.cpp - Compiling kernels from C++ -------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Errors.h"
#include "Signature.h"

#include "despina/Lang/ModuleLoader.h"

#include <chrono>

namespace despina {

namespace {

/// Where the source comes from.
struct Source {
  const std::string &path;
  const std::string *text = nullptr; ///< null: the file's
};

bool load(ModuleLoader &loader, const Source &source, Diagnostics &diags) {
  return source.text ? loader.loadText(source.path, *source.text, diags)
                     : loader.loadFile(source.path, diags);
}

Expected<Kernel> compile(const Source &source, const std::string &kernelName,
                         const std::vector<NamedType> &signature, const std::vector<NamedConstant> &constants,
                         const Target &target, const CompileOptions &options) {
  BackEndOr backEnd = makeBackEnd(target, options);
  if (!backEnd)
    return backEnd.error();
  auto start = std::chrono::steady_clock::now();
  Diagnostics diags;
  ModuleLoader loader;
  if (!load(loader, source, diags))
    return errorFrom(diags);
  std::optional<LoadedKernel> kernel = loader.kernel(source.path, kernelName, diags);
  if (!kernel)
    return errorFrom(diags);
  Expected<std::vector<KernelArgument>> arguments = bindSignature(*kernel, signature, constants);
  if (!arguments)
    return arguments.error();
  CompileRequest request;
  request.function = kernel->function;
  request.arguments = std::move(*arguments);
  request.keep = options.keep;
  request.sanitizeOverflow = options.sanitizeOverflow;
  request.parseSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return compileKernel(request, *backEnd);
}

} // namespace

const char *version() { return DESPINA_VERSION; }

Expected<Kernel> compileFile(const std::string &path, const std::string &kernel,
                             const std::vector<NamedType> &signature,
                             const std::vector<NamedConstant> &constants, const Target &target,
                             const CompileOptions &options) {
  return compile({path}, kernel, signature, constants, target, options);
}

Expected<Kernel> compileText(const std::string &text, const std::string &path, const std::string &kernel,
                             const std::vector<NamedType> &signature,
                             const std::vector<NamedConstant> &constants, const Target &target,
                             const CompileOptions &options) {
  return compile({path, &text}, kernel, signature, constants, target, options);
}

Expected<std::vector<std::string>> listKernels(const std::string &path) {
  Diagnostics diags;
  ModuleLoader loader;
  if (!loader.loadFile(path, diags))
    return errorFrom(diags);
  return loader.kernels(path);
}

} // namespace despina
