//===- fuzz_compile.cpp - Any module through code generation --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The text is loaded as a module without Python, and every jit function of it is generated as a kernel with
// guessed argument types. It ends in a module that verifies, or in errors; an internal error counts as a
// crash.
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

/// The type that a parameter's name suggests: `x_ptr` points to floats, `h_ptr` to halves, `i_ptr` to
/// integers, `alpha` is a float, anything else an integer.
Type guessType(llvm::StringRef name) {
  if (name.contains("ptr"))
    return Type::pointer(name.starts_with("h_")   ? ScalarKind::FP16
                         : name.starts_with("i_") ? ScalarKind::Int32
                                                  : ScalarKind::FP32);
  if (name == "alpha" || name == "eps" || name == "scale")
    return ScalarKind::FP32;
  return ScalarKind::Int32;
}

KernelArgument guessArgument(const LoadedKernel::Param &param) {
  KernelArgument argument;
  argument.name = param.name;
  if (param.isConstexpr) {
    llvm::StringRef name = param.name;
    bool flag = name == "EVEN" || name.starts_with("IS");
    argument.constant = Value::constant(flag ? Constant(true) : param.defaultValue.value_or(Constant(16)));
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

/// Renders every error, which must not fail either.
void checkErrors(const Diagnostics &diags, const std::string &kernel) {
  for (const Diagnostic &diagnostic : diags.all()) {
    if (diagnostic.kind == ErrorKind::Internal)
      fail("internal error", kernel, render(diagnostic));
    if (render(diagnostic, /*color=*/true).empty() || pythonText(diagnostic).empty())
      fail("empty error", kernel, diagnostic.message);
  }
}

void compile(const LoadedKernel &loaded) {
  const std::shared_ptr<const FunctionInfo> &kernel = loaded.function;
  std::string messages;
  auto context = createContext([&](mlir::Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
  IRBuilder builder(context.get());
  std::vector<KernelArgument> args;
  for (const LoadedKernel::Param &param : loaded.params)
    args.push_back(guessArgument(param));
  CodeGenOptions options;
  options.staticPrint = [](llvm::StringRef) {};
  options.maxVisits = 100'000; // an expansion that ends later would look like a hang
  Diagnostics diags;
  bool ok = generateKernel(builder, diags, target(), kernel, args, options);
  if (std::getenv("DESPINA_FUZZ_SHOW"))
    for (const Diagnostic &diagnostic : diags.all())
      std::fputs(render(diagnostic).c_str(), stderr);
  if (ok == diags.hasErrors())
    fail("success and errors disagree", kernel->name, messages);
  checkErrors(diags, kernel->name);
  if (ok && mlir::failed(mlir::verify(builder.module())))
    fail("invalid module", kernel->name, messages);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // No such folder, so that an import finds no file of this machine.
  const char *path = "/no-such-folder/fuzz.py";
  ModuleLoader loader;
  Diagnostics diags;
  if (!loader.loadText(path, std::string(reinterpret_cast<const char *>(data), size), diags))
    return 0;
  for (const std::string &name : loader.kernels(path)) {
    std::optional<LoadedKernel> kernel = loader.kernel(path, name, diags);
    if (!kernel)
      fail("listed but not found", name, diags.hasErrors() ? diags.firstError()->message : "no error");
    compile(*kernel);
  }
  return 0;
}
