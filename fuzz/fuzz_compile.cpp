//===- fuzz_compile.cpp - Any module through code generation --------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Every jit function of the text is generated as a kernel with guessed argument types. It ends in a module
// that verifies, or in errors; an internal error counts as a crash. Of the module around the functions only
// they and the imports `tl` and `triton` are visible.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/Context.h"
#include "despina/IR/IRBuilder.h"
#include "despina/Lang/CodeGen.h"
#include "despina/Lang/Parser.h"

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

bool isConstexpr(const ast::Parameter &param) {
  if (auto *attribute = llvm::dyn_cast_or_null<ast::Attribute>(param.annotation))
    return attribute->attr == "constexpr";
  return false;
}

/// The value of a literal default; 16 otherwise.
Constant literal(const ast::Expr *expr) {
  auto *constant = llvm::dyn_cast_or_null<ast::Constant>(expr);
  if (!constant)
    return Constant(16);
  switch (constant->type) {
  case ast::Constant::Type::None: return Constant();
  case ast::Constant::Type::Bool: return Constant(constant->boolean);
  case ast::Constant::Type::Int: return Constant(constant->integer);
  case ast::Constant::Type::Float: return Constant(constant->real);
  case ast::Constant::Type::Str: return Constant(constant->string.str());
  default: return Constant::ellipsis();
  }
}

KernelArgument guessArgument(const ast::Parameter &param) {
  KernelArgument argument;
  argument.name = param.name.str();
  if (isConstexpr(param)) {
    bool flag = param.name == "EVEN" || param.name.starts_with("IS");
    argument.constant = Value::constant(flag ? Constant(true) : literal(param.defaultValue));
    return argument;
  }
  auto *text = llvm::dyn_cast_or_null<ast::Constant>(param.annotation);
  std::optional<Type> annotated = text ? Type::fromSignature(text->string) : std::nullopt;
  argument.type = annotated.value_or(guessType(param.name));
  argument.divisibility = argument.type.isPointer() ? 16 : 0;
  return argument;
}

/// Answers for the functions of one text.
class TextResolver : public SymbolResolver {
public:
  explicit TextResolver(std::shared_ptr<ast::Module> module) {
    for (const ast::Stmt *statement : module->body()) {
      auto *def = llvm::dyn_cast<ast::FunctionDef>(statement);
      if (!def || def->kind() != ast::NodeKind::FunctionDef)
        continue;
      auto info = std::make_shared<FunctionInfo>();
      info->name = def->name.str();
      info->qualifiedName = "fuzz." + info->name;
      info->module = module;
      info->def = def;
      info->resolver = this;
      functions_.push_back(std::move(info));
    }
  }

  const std::vector<std::shared_ptr<const FunctionInfo>> &functions() const { return functions_; }

  Resolution lookup(const FunctionInfo &, llvm::StringRef name, bool) override {
    if (name == "tl")
      return found(Value::module({"triton.language", nullptr, nullptr}));
    if (name == "triton")
      return found(Value::module({"triton", nullptr, nullptr}));
    for (const auto &function : functions_)
      if (function->name == name)
        return found(Value::function(function));
    return {};
  }
  Resolution attribute(const Value &, llvm::StringRef) override { return {}; }
  Resolution call(const Value &, llvm::ArrayRef<Value>,
                  llvm::ArrayRef<std::pair<std::string, Value>>) override {
    return {};
  }
  Resolution subscript(const Value &, const Value &) override { return {}; }
  bool same(const Value &, const Value &) override { return false; }

private:
  static Resolution found(Value value) {
    Resolution resolution;
    resolution.status = Resolution::Status::Found;
    resolution.value = std::move(value);
    return resolution;
  }

  std::vector<std::shared_ptr<const FunctionInfo>> functions_;
};

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

void compile(const std::shared_ptr<const FunctionInfo> &kernel) {
  std::string messages;
  auto context = createContext([&](mlir::Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
  IRBuilder builder(context.get());
  std::vector<KernelArgument> args;
  for (const ast::Parameter &param : kernel->def->params)
    args.push_back(guessArgument(param));
  CodeGenOptions options;
  options.staticPrint = [](llvm::StringRef) {};
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
  auto file =
      std::make_shared<SourceFile>("fuzz.py", std::string(reinterpret_cast<const char *>(data), size));
  Diagnostics diags;
  std::shared_ptr<ast::Module> module = parseModule(file, diags);
  if (!module)
    return 0;
  TextResolver resolver(module);
  for (const auto &function : resolver.functions())
    compile(function);
  return 0;
}
