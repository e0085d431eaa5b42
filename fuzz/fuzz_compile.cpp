//===- fuzz_compile.cpp - Any module through code generation --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Every kernel of the text is generated with guessed argument types. It ends in a module that verifies, or in
// errors; an internal error counts as a crash.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/Context.h"
#include "despina/IR/IRBuilder.h"
#include "despina/Lang/CodeGen.h"
#include "despina/Lang/ModuleLoader.h"

#include "mlir/IR/Verifier.h"

#include <cstdio>
#include <cstdlib>

using namespace despina;

namespace {

std::array<int, 3> minDotSize(unsigned) { return {1, 1, 1}; }

LanguageTarget target() {
  LanguageTarget target;
  target.backend = "cpu";
  target.fp8Types = {ScalarKind::FP8E5, ScalarKind::FP8E5B16, ScalarKind::FP8E4NV};
  target.minDotSize = minDotSize;
  target.debug = true;
  return target;
}

/// The type that a parameter's name suggests: `x_ptr` is a pointer, `alpha` a float, anything else an
/// integer.
Type guessType(llvm::StringRef name) {
  if (name.contains("ptr") || name.ends_with("_p"))
    return Type::pointer(name.starts_with("h")   ? ScalarKind::FP16
                         : name.starts_with("i") ? ScalarKind::Int32
                                                 : ScalarKind::FP32);
  if (name == "alpha" || name == "eps" || name == "scale")
    return ScalarKind::FP32;
  return ScalarKind::Int32;
}

KernelArgument guessArgument(const LoadedKernel::Param &param) {
  KernelArgument argument;
  argument.name = param.name;
  if (param.isConstexpr) {
    Constant fallback = param.name == "EVEN" || param.name.starts_with("IS") ? Constant(true) : Constant(16);
    argument.constant = Value::constant(param.defaultValue.value_or(fallback));
    return argument;
  }
  std::optional<Type> annotated = param.annotation ? Type::fromSignature(*param.annotation) : std::nullopt;
  argument.type = annotated.value_or(guessType(param.name));
  argument.divisibility = argument.type.isPointer() ? 16 : 0;
  return argument;
}

void fail(const char *what, const std::string &kernel, const std::string &text) {
  std::fprintf(stderr, "%s in kernel '%s': %s\n", what, kernel.c_str(), text.c_str());
  std::abort();
}

void showErrors(const Diagnostics &diags, const std::string &kernel) {
  for (const Diagnostic &diagnostic : diags.all()) {
    if (diagnostic.kind == ErrorKind::Internal)
      fail("internal error", kernel, render(diagnostic));
    if (render(diagnostic, /*color=*/true).empty() || pythonText(diagnostic).empty())
      fail("empty error", kernel, diagnostic.message);
  }
}

void compile(const LoadedKernel &kernel, const std::string &name) {
  std::string messages;
  auto context = createContext([&](mlir::Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
  IRBuilder builder(context.get());
  std::vector<KernelArgument> args;
  for (const LoadedKernel::Param &param : kernel.params)
    args.push_back(guessArgument(param));
  CodeGenOptions options;
  options.staticPrint = [](llvm::StringRef) {};
  Diagnostics diags;
  bool ok = generateKernel(builder, diags, target(), kernel.function, args, options);
  if (ok == diags.hasErrors())
    fail("success and errors disagree", name, messages);
  showErrors(diags, name);
  if (ok && mlir::failed(mlir::verify(builder.module())))
    fail("invalid module", name, messages);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ModuleLoader loader;
  Diagnostics diags;
  const char *path = "fuzz.py";
  if (!loader.loadText(path, std::string(reinterpret_cast<const char *>(data), size), diags)) {
    showErrors(diags, path);
    return 0;
  }
  for (const std::string &name : loader.kernels(path)) {
    Diagnostics kernelDiags;
    if (std::optional<LoadedKernel> kernel = loader.kernel(path, name, kernelDiags))
      compile(*kernel, name);
    showErrors(kernelDiags, name);
  }
  return 0;
}
