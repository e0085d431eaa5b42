//===- Codegen.cpp - LLVM dialect to object -------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: a module of the LLVM dialect. Out: an ELF object for the host. The module arrives with loops of native
// vector width already, so LLVM's pipeline is its function simplification without its vectorisers and
// inliner: that keeps a cold compile short.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/CPU/JIT.h"
#include "despina/Target/LLVMGuard.h"
#include "despina/Target/LLVMPipeline.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <chrono>
#include <mutex>

namespace despina::cpu {

namespace {

/// Registers LLVM's X86 target, once for the process.
void initializeLLVM() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmParser();
    LLVMInitializeX86AsmPrinter();
  });
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const CPUOptions &options, std::string &error) {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions targetOptions;
  // Standard: operations fuse where the lowering has marked them `contract`.
  targetOptions.AllowFPOpFusion =
      options.enableFPFusion ? llvm::FPOpFusion::Standard : llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, options.features.name, llvm::join(options.features.llvm, ","), targetOptions, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  if (!machine)
    error = "LLVM has no code generator for " + triple.str();
  return machine;
}

void setFunctionAttributes(llvm::Module &module, const CPUOptions &options) {
  std::string width = std::to_string(options.features.vectorBytes * 8);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.addFnAttr("no-trapping-math", "true");
  }
}

/// Jump threading and unswitching take time that grows with the square of a function's blocks and worse with
/// the depth of its loops. Kernels of that size (thousands of branches written out, dozens of loops in each
/// other) do without them: nobody waits minutes for a compile.
llvm::OptimizationLevel optimizationLevel(llvm::Module &module) {
  constexpr size_t manyBlocks = 1000;
  constexpr unsigned manyLoops = 12;
  for (llvm::Function &function : module) {
    if (function.size() > manyBlocks)
      return llvm::OptimizationLevel::O1;
    if (function.isDeclaration())
      continue;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    for (const llvm::BasicBlock &block : function)
      if (loops.getLoopDepth(&block) > manyLoops)
        return llvm::OptimizationLevel::O1;
  }
  return llvm::OptimizationLevel::O3;
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  LLVMAnalyses analyses(builder);

  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(builder.buildFunctionSimplificationPipeline(
      optimizationLevel(module), llvm::ThinOrFullLTOPhase::None)));
  passes.run(module, analyses.modules);
}

template <typename Buffer>
bool runCodeGenerator(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                      Buffer &buffer, std::string &error) {
  llvm::raw_svector_ostream out(buffer);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, type)) {
    error = "LLVM cannot emit code for this target";
    return false;
  }
  passes.run(module);
  return true;
}

} // namespace

void registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

static std::optional<EmittedCode> emitUnguarded(mlir::ModuleOp module, const CPUOptions &options,
                                                const EmitRequest &request, std::string &error) {
  EmittedCode code;
  auto start = std::chrono::steady_clock::now();
  llvm::LLVMContext context;
  collectErrors(context, error);
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(options, error);
  if (!machine)
    return std::nullopt;
  std::unique_ptr<llvm::Module> llvmModule =
      mlir::translateModuleToLLVMIR(module, context, "kernel", /*disableVerification=*/true);
  if (!llvmModule) {
    if (error.empty())
      error = "the module cannot be translated to LLVM IR";
    return std::nullopt;
  }
  llvm::raw_string_ostream verifierText(error);
  if (llvm::verifyModule(*llvmModule, &verifierText))
    return std::nullopt;
  llvmModule->setTargetTriple(machine->getTargetTriple());
  llvmModule->setDataLayout(machine->createDataLayout());
  setFunctionAttributes(*llvmModule, options);
  code.translateSeconds = secondsSince(start);

  start = std::chrono::steady_clock::now();
  optimize(*llvmModule, *machine);
  code.optimizeSeconds = secondsSince(start);
  if (!error.empty())
    return std::nullopt;

  if (request.llvm)
    llvm::raw_string_ostream(code.llvm) << *llvmModule;
  if (request.assembly) {
    // The code generator changes the module, so it gets a copy.
    llvm::SmallString<0> text;
    if (!runCodeGenerator(*llvm::CloneModule(*llvmModule), *machine, llvm::CodeGenFileType::AssemblyFile,
                          text, error))
      return std::nullopt;
    code.assembly = text.str();
  }
  start = std::chrono::steady_clock::now();
  if (!runCodeGenerator(*llvmModule, *machine, llvm::CodeGenFileType::ObjectFile, code.object, error))
    return std::nullopt;
  code.codegenSeconds = secondsSince(start);
  if (!error.empty())
    return std::nullopt;
  return code;
}

std::optional<EmittedCode> emitCode(mlir::ModuleOp module, const CPUOptions &options,
                                    const EmitRequest &request, std::string &error) {
  initializeLLVM();
  std::optional<EmittedCode> code;
  std::string reason;
  if (!runGuarded([&] { code = emitUnguarded(module, options, request, error); }, reason)) {
    error += (error.empty() ? "" : "\n") + reason;
    return std::nullopt;
  }
  return code;
}

} // namespace despina::cpu
