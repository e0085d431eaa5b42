//===- Compile.cpp - From a function to a kernel --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"

#include "BigStack.h"
#include "Errors.h"

#include "despina/IR/Context.h"
#include "despina/IR/IRBuilder.h"
#include "despina/Target/CPU/CPUPipeline.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <chrono>

namespace despina {

namespace {

/// The first error that MLIR reports, with its place.
class MLIRErrors {
public:
  void handle(mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error || !message_.empty())
      return;
    message_ = diagnostic.str();
    diagnostic.getLocation()->walk([&](mlir::Location location) {
      auto position = llvm::dyn_cast<mlir::FileLineColLoc>(location);
      if (!position)
        return mlir::WalkResult::advance();
      file_ = position.getFilename().str();
      line_ = position.getLine();
      column_ = position.getColumn();
      return mlir::WalkResult::interrupt();
    });
  }

  /// What a user sees when a target cannot do what a kernel asks.
  Error asError(const char *fallback) const {
    Error error = plainError("CompilationError", message_.empty() ? fallback : message_);
    error.causeKind = "NotImplementedError";
    error.file = file_;
    error.line = line_;
    error.column = column_;
    if (!file_.empty())
      error.rendered =
          file_ + ":" + std::to_string(line_) + ":" + std::to_string(column_) + ": " + error.rendered;
    return error;
  }
  const std::string &message() const { return message_; }

private:
  std::string message_, file_;
  unsigned line_ = 0, column_ = 0;
};

/// Measures stages one after another.
class StageClock {
public:
  explicit StageClock(std::vector<StageTime> &times) : times_(times) {}
  void finish(const char *stage) {
    auto now = std::chrono::steady_clock::now();
    times_.push_back({stage, std::chrono::duration<double>(now - start_).count()});
    start_ = now;
  }

private:
  std::vector<StageTime> &times_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::unique_ptr<mlir::MLIRContext> makeContext(MLIRErrors &errors) {
  auto context = createContext([&errors](mlir::Diagnostic &diagnostic) { errors.handle(diagnostic); });
  mlir::DialectRegistry registry;
  cpu::registerLoweringDialects(registry);
  cpu::registerTranslations(registry);
  context->appendDialectRegistry(registry);
  return context;
}

std::optional<RuntimeParameter> runtimeParameter(const std::string &name, const Type &type) {
  using Form = RuntimeParameter::Form;
  RuntimeParameter parameter{name, type.signature(), Form::Pointer, 64};
  if (type.isPointer())
    return parameter;
  if (type.kind() != Type::Kind::Scalar)
    return std::nullopt;
  parameter.bits = type.bits();
  switch (type.scalarKind()) {
  case ScalarKind::FP16: parameter.form = Form::Half; return parameter;
  case ScalarKind::BF16: parameter.form = Form::BFloat; return parameter;
  case ScalarKind::FP32: parameter.form = Form::Single; return parameter;
  case ScalarKind::FP64: parameter.form = Form::Double; return parameter;
  default: break;
  }
  if (!type.isInt())
    return std::nullopt;
  parameter.form = type.isSigned() ? Form::Signed : Form::Unsigned;
  return parameter;
}

/// Appends the runtime leaves of an argument. False for a type that cannot be passed.
bool addParameters(const KernelArgument &argument, const std::string &name, KernelImpl &kernel) {
  if (argument.constant)
    return true;
  if (argument.isTuple) {
    for (size_t i = 0; i < argument.elements.size(); ++i)
      if (!addParameters(argument.elements[i], name + "[" + std::to_string(i) + "]", kernel))
        return false;
    return true;
  }
  std::optional<RuntimeParameter> parameter = runtimeParameter(name, argument.type);
  if (!parameter)
    return false;
  kernel.parameterTypes.push_back(parameter->type);
  kernel.parameters.push_back(std::move(*parameter));
  return true;
}

std::string moduleText(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  out << "\n";
  return text;
}

/// One compilation, on the stack it is run on.
class Compilation {
public:
  Compilation(const CompileRequest &request, const cpu::CPUOptions &options)
      : request_(request), kernel_(std::make_shared<KernelImpl>()), clock_(kernel_->times) {
    kernel_->options = options;
  }

  Expected<Kernel> run() {
    if (request_.parseSeconds != 0)
      kernel_->times.push_back({"parse", request_.parseSeconds});
    for (const KernelArgument &argument : request_.arguments)
      if (!addParameters(argument, argument.name, *kernel_))
        return plainError("TypeError",
                          "parameter '" + argument.name + "' has a type that cannot be passed to a kernel");
    std::unique_ptr<mlir::MLIRContext> context = makeContext(errors_);
    clock_.finish("context");
    mlir::OwningOpRef<mlir::ModuleOp> module;
    if (std::optional<Error> error = generate(context.get(), module))
      return std::move(*error);
    if (std::optional<Error> error = emit(*module))
      return std::move(*error);
    return Kernel(std::move(kernel_));
  }

private:
  std::optional<Error> generate(mlir::MLIRContext *context, mlir::OwningOpRef<mlir::ModuleOp> &module) {
    IRBuilder builder(context);
    Diagnostics diags;
    CodeGenOptions options;
    options.staticPrint = request_.staticPrint;
    LanguageTarget target = cpu::languageTarget(kernel_->options);
    bool generated = generateKernel(builder, diags, target, request_.function, request_.arguments, options) &&
                     !diags.hasErrors();
    if (request_.warn)
      for (const Diagnostic &diagnostic : diags.all())
        if (diagnostic.severity == Severity::Warning)
          request_.warn(diagnostic);
    if (!generated)
      return errorFrom(diags);
    module = builder.takeModule();
    clock_.finish("front end");
    if (mlir::failed(mlir::verify(*module)))
      return internalError("the front end made invalid tile IR: " + errors_.message());
    kernel_->name = request_.function->name;
    kernel_->texts["tt"] = moduleText(*module);
    clock_.finish("verify");
    return std::nullopt;
  }

  std::optional<Error> emit(mlir::ModuleOp module) {
    std::optional<cpu::LoweredKernel> lowered = cpu::lowerToLLVMDialect(module, kernel_->options);
    if (!lowered)
      return errors_.asError("the kernel cannot be lowered for the CPU");
    kernel_->scratchBytes = lowered->scratchBytes;
    clock_.finish("lowering");

    auto wants = [&](const char *stage) { return llvm::is_contained(request_.options.keep, stage); };
    std::string failure;
    std::optional<cpu::EmittedCode> code =
        cpu::emitCode(module, kernel_->options, {wants("llvm"), wants("asm")}, failure);
    if (!code)
      return plainError("RuntimeError", "LLVM cannot compile the kernel: " + failure);
    if (wants("llvm"))
      kernel_->texts["llvm"] = std::move(code->llvm);
    if (wants("asm"))
      kernel_->texts["asm"] = std::move(code->assembly);
    if (wants("obj"))
      kernel_->texts["obj"] = std::string(code->object.begin(), code->object.end());
    kernel_->times.push_back({"LLVM translation", code->translateSeconds});
    kernel_->times.push_back({"LLVM optimiser", code->optimizeSeconds});
    kernel_->times.push_back({"LLVM code generator", code->codegenSeconds});

    auto start = std::chrono::steady_clock::now();
    kernel_->code =
        cpu::LoadedCode::load({code->object.data(), code->object.size()}, lowered->entry, failure);
    if (!kernel_->code)
      return internalError("the kernel's code cannot be loaded: " + failure);
    kernel_->times.push_back(
        {"link", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()});
    return std::nullopt;
  }

  const CompileRequest &request_;
  std::shared_ptr<KernelImpl> kernel_;
  StageClock clock_;
  MLIRErrors errors_;
};

Expected<std::string> remakeStage(const KernelImpl &kernel, std::string_view stage) {
  MLIRErrors errors;
  std::unique_ptr<mlir::MLIRContext> context = makeContext(errors);
  auto text = kernel.texts.find("tt");
  if (text == kernel.texts.end())
    return internalError("the kernel's tile IR was not kept");
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text->second, context.get());
  if (!module || !cpu::lowerToLLVMDialect(*module, kernel.options))
    return internalError("the kernel's tile IR cannot be compiled again: " + errors.message());
  std::string failure;
  std::optional<cpu::EmittedCode> code =
      cpu::emitCode(*module, kernel.options, {stage == "llvm", stage == "asm"}, failure);
  if (!code)
    return internalError("LLVM cannot compile the kernel again: " + failure);
  if (stage == "llvm")
    return std::move(code->llvm);
  if (stage == "asm")
    return std::move(code->assembly);
  return std::string(code->object.begin(), code->object.end());
}

} // namespace

Expected<cpu::CPUOptions> checkTarget(const Target &target, const CompileOptions &options) {
  if (target.backend == "cuda" || target.backend == "hip")
    return plainError("NotImplementedError",
                      "target '" + target.backend +
                          "' is not supported yet: this build compiles for 'cpu' only");
  if (target.backend != "cpu")
    return plainError("ValueError", "there is no target '" + target.backend + "'; this build knows 'cpu'");
  cpu::CPUOptions result;
  if (!target.arch.empty() && target.arch != result.features.name)
    return plainError("NotImplementedError", "cannot compile for the processor '" + target.arch +
                                                 "' yet: leave the name empty for this machine's, '" +
                                                 result.features.name + "'");
  if (options.numWarps < 1 || (options.numWarps & (options.numWarps - 1)) != 0)
    return plainError("ValueError",
                      "num_warps must be a power of 2, not " + std::to_string(options.numWarps));
  for (const std::string &stage : options.keep)
    if (!llvm::is_contained({"tt", "llvm", "asm", "obj"}, stage))
      return plainError("ValueError", "there is no stage '" + stage + "'; stages are tt, llvm, asm and obj");
  result.enableFPFusion = options.enableFPFusion;
  result.debug = options.debug;
  return result;
}

Expected<Kernel> compileKernel(const CompileRequest &request, const cpu::CPUOptions &options) {
  std::optional<Expected<Kernel>> result;
  runOnBigStack([&] { result.emplace(Compilation(request, options).run()); });
  return std::move(*result);
}

Expected<std::string> makeStageText(const KernelImpl &kernel, std::string_view stage) {
  if (stage != "llvm" && stage != "asm" && stage != "obj")
    return plainError("ValueError",
                      "there is no stage '" + std::string(stage) + "'; stages are tt, llvm, asm and obj");
  std::optional<Expected<std::string>> result;
  runOnBigStack([&] { result.emplace(remakeStage(kernel, stage)); });
  return std::move(*result);
}

} // namespace despina
