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

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

namespace despina {

namespace {

std::unique_ptr<mlir::MLIRContext> makeContext(const BackEnd &backEnd, MLIRErrors &errors) {
  auto context = createContext([&errors](mlir::Diagnostic &diagnostic) { errors.handle(diagnostic); });
  mlir::DialectRegistry registry;
  backEnd.registerDialects(registry);
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
  if (argument.isTuple || argument.type.isDescriptor()) {
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

/// One compilation, on the stack it is run on.
class Compilation {
public:
  Compilation(const CompileRequest &request, const std::shared_ptr<const BackEnd> &backEnd)
      : request_(request), kernel_(std::make_shared<KernelImpl>()), clock_(kernel_->times) {
    kernel_->backEnd = backEnd;
  }

  Expected<Kernel> run() {
    if (request_.parseSeconds != 0)
      kernel_->times.push_back({"parse", request_.parseSeconds});
    for (const KernelArgument &argument : request_.arguments)
      if (!addParameters(argument, argument.name, *kernel_))
        return plainError("TypeError",
                          "parameter '" + argument.name + "' has a type that cannot be passed to a kernel");
    std::unique_ptr<mlir::MLIRContext> context = makeContext(*kernel_->backEnd, errors_);
    clock_.finish("context");
    mlir::OwningOpRef<mlir::ModuleOp> module;
    if (std::optional<Error> error = generate(context.get(), module))
      return std::move(*error);
    if (std::optional<Error> error = kernel_->backEnd->emit(*module, request_.keep, errors_, *kernel_))
      return std::move(*error);
    return Kernel(std::move(kernel_));
  }

private:
  std::optional<Error> generate(mlir::MLIRContext *context, mlir::OwningOpRef<mlir::ModuleOp> &module) {
    IRBuilder builder(context);
    Diagnostics diags;
    CodeGenOptions options;
    options.staticPrint = request_.staticPrint;
    NamesUsed names;
    options.namesUsed = &names;
    LanguageTarget target = kernel_->backEnd->languageTarget();
    target.sanitizeOverflow = request_.sanitizeOverflow;
    bool generated = generateKernel(builder, diags, target, request_.function, request_.arguments, options) &&
                     !diags.hasErrors();
    if (request_.warn)
      for (const Diagnostic &diagnostic : diags.all())
        if (diagnostic.severity == Severity::Warning)
          request_.warn(diagnostic);
    if (!generated)
      return errorFrom(diags);
    kernel_->namesUsed = namesAndTypes(names);
    module = builder.takeModule();
    clock_.finish("front end");
    if (mlir::failed(mlir::verify(*module)))
      return internalError("the front end made invalid tile IR: " + errors_.message());
    kernel_->name = request_.function->name;
    kernel_->texts["tt"] = moduleText(*module);
    clock_.finish("verify");
    return std::nullopt;
  }

  const CompileRequest &request_;
  std::shared_ptr<KernelImpl> kernel_;
  StageClock clock_;
  MLIRErrors errors_;
};

Expected<std::string> remakeStage(const KernelImpl &kernel, const std::string &stage) {
  MLIRErrors errors;
  std::unique_ptr<mlir::MLIRContext> context = makeContext(*kernel.backEnd, errors);
  auto text = kernel.texts.find("tt");
  if (text == kernel.texts.end())
    return internalError("the kernel's tile IR was not kept");
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text->second, context.get());
  if (!module)
    return internalError("the kernel's tile IR cannot be read again: " + errors.message());
  KernelImpl again;
  again.name = kernel.name;
  if (std::optional<Error> error = kernel.backEnd->emit(*module, stage, errors, again))
    return std::move(*error);
  auto made = again.texts.find(stage);
  if (made == again.texts.end())
    return internalError("the kernel was compiled again without its stage " + stage);
  return std::move(made->second);
}

/// "tt, llvm and asm".
std::string stageNames(const BackEnd &backEnd) {
  llvm::ArrayRef<const char *> stages = backEnd.stages();
  std::string names = "tt";
  for (const char *stage : stages)
    names += (stage == stages.back() ? " and " : ", ") + std::string(stage);
  return names;
}

/// None when the back end has the stage.
std::optional<Error> checkStage(const BackEnd &backEnd, std::string_view stage) {
  if (stage == "tt" || llvm::is_contained(backEnd.stages(), stage))
    return std::nullopt;
  return plainError("ValueError",
                    "there is no stage '" + std::string(stage) + "'; stages are " + stageNames(backEnd));
}

BackEndOr makeUnchecked(const Target &target, const CompileOptions &options) {
  if (target.backend == "cpu")
    return makeCPUBackEnd(target, options);
  if (target.backend == "cuda")
    return makeCUDABackEnd(target, options);
  if (target.backend == "hip")
    return plainError("NotImplementedError",
                      "target 'hip' is not supported yet: this build compiles for 'cpu' and 'cuda'");
  return plainError("ValueError",
                    "there is no target '" + target.backend + "'; this build knows 'cpu' and 'cuda'");
}

} // namespace

std::vector<std::string> namesAndTypes(const NamesUsed &used) {
  std::vector<std::string> texts;
  for (const auto &entry : used)
    for (const ScalarInfo &info : allScalars())
      if (entry.second & (uint32_t(1) << static_cast<unsigned>(info.kind)))
        texts.push_back(entry.first().str() +
                        (info.kind == ScalarKind::Void ? "" : ":" + std::string(info.publicName)));
  llvm::sort(texts);
  return texts;
}

std::string moduleText(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  out << "\n";
  return text;
}

BackEndOr makeBackEnd(const Target &target, const CompileOptions &options) {
  BackEndOr backEnd = makeUnchecked(target, options);
  if (!backEnd)
    return backEnd;
  if (options.numWarps < 1 || (options.numWarps & (options.numWarps - 1)) != 0)
    return plainError("ValueError",
                      "num_warps must be a power of 2, not " + std::to_string(options.numWarps));
  for (const std::string &stage : options.keep)
    if (std::optional<Error> error = checkStage(**backEnd, stage))
      return std::move(*error);
  return backEnd;
}

Expected<Kernel> compileKernel(const CompileRequest &request, const std::shared_ptr<const BackEnd> &backEnd) {
  std::optional<Expected<Kernel>> result;
  runOnBigStack([&] { result.emplace(Compilation(request, backEnd).run()); });
  return std::move(*result);
}

Expected<std::string> makeStageText(const KernelImpl &kernel, std::string_view stage) {
  if (std::optional<Error> error = checkStage(*kernel.backEnd, stage))
    return std::move(*error);
  std::optional<Expected<std::string>> result;
  runOnBigStack([&] { result.emplace(remakeStage(kernel, std::string(stage))); });
  return std::move(*result);
}

} // namespace despina
