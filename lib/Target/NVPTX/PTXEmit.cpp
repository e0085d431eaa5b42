//===- PTXEmit.cpp - LLVM dialect to PTX ----------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: a module of the LLVM and NVVM dialects. Out: PTX. The module arrives as straight-line code per thread
// with few loops, and the assembler optimises once more, so LLVM's pipeline is short: that keeps a cold
// compile short.
//
//===----------------------------------------------------------------------===//

#include "despina/Target/NVPTX/PTXEmit.h"

#include "DeviceLibrary.h"
#include "Legality.h"
#include "LineInfo.h"
#include "PTXOptimize.h"
#include "PTXVersion.h"

#include "despina/Target/LLVMGuard.h"
#include "despina/Target/LLVMPipeline.h"

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <chrono>
#include <mutex>

namespace despina::nvptx {

namespace {

/// Registers LLVM's NVPTX target and sets its options, once for the process.
void initializeLLVM() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Addresses of shared memory have 32 bits: one register instead of two.
    auto &known = llvm::cl::getRegisteredOptions();
    if (auto option = known.find("nvptx-short-ptr"); option != known.end())
      option->second->addOccurrence(0, "nvptx-short-ptr", "true");
  });
}

std::unique_ptr<llvm::TargetMachine> makeTargetMachine(const NVPTXOptions &options, unsigned ptxVersion,
                                                       std::string &error) {
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = options.enableFPFusion ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, options.arch.name(), "+ptx" + std::to_string(ptxVersion), targetOptions, llvm::Reloc::PIC_,
      std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    error = "LLVM has no code generator for " + triple.str();
  return machine;
}

/// Operations of the NVVM dialect that LLVM has no intrinsic for become inline assembly.
bool writeOutInlineAssembly(mlir::ModuleOp module) {
  bool hasSome = false;
  module.walk([&](mlir::NVVM::BasicPtxBuilderInterface op) { hasSome |= !op.hasIntrinsic(); });
  if (!hasSome)
    return true;
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(mlir::createConvertNVVMToLLVMPass());
  return succeeded(passes.run(module));
}

/// The translation asks the data layout for alignments, so it must be there before.
void setTarget(mlir::ModuleOp module, llvm::TargetMachine &machine) {
  mlir::OpBuilder b(module.getContext());
  module->setAttr(mlir::LLVM::LLVMDialect::getTargetTripleAttrName(),
                  b.getStringAttr(machine.getTargetTriple().str()));
  module->setAttr(mlir::LLVM::LLVMDialect::getDataLayoutAttrName(),
                  b.getStringAttr(machine.createDataLayout().getStringRepresentation()));
}

bool runCodeGenerator(llvm::Module &module, llvm::TargetMachine &machine, std::string &ptx,
                      std::string &error) {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile)) {
    error = "LLVM cannot emit code for this target";
    return false;
  }
  passes.run(module);
  ptx = text.str();
  return error.empty();
}

std::optional<EmittedPTX> emitUnguarded(mlir::ModuleOp module, const NVPTXOptions &options,
                                        unsigned ptxVersion, bool keepLLVM, std::string &error) {
  EmittedPTX result;
  auto start = std::chrono::steady_clock::now();
  llvm::LLVMContext context;
  collectErrors(context, error);
  std::unique_ptr<llvm::TargetMachine> machine = makeTargetMachine(options, ptxVersion, error);
  if (!machine)
    return std::nullopt;
  setTarget(module, *machine);
  if (!writeOutInlineAssembly(module)) {
    error = "the operations of the nvvm dialect cannot be written as PTX";
    return std::nullopt;
  }
  if (options.lineInfo)
    addLineInfo(module);
  std::unique_ptr<llvm::Module> llvmModule =
      mlir::translateModuleToLLVMIR(module, context, "kernel", /*disableVerification=*/true);
  if (!llvmModule) {
    if (error.empty())
      error = "the module cannot be translated to LLVM IR";
    return std::nullopt;
  }
  if (!linkDeviceFunctions(*llvmModule, options, error))
    return std::nullopt;
  llvm::raw_string_ostream verifierText(error);
  if (llvm::verifyModule(*llvmModule, &verifierText))
    return std::nullopt;
  result.translateSeconds = secondsSince(start);

  start = std::chrono::steady_clock::now();
  prepareModule(*llvmModule);
  optimizeModule(*llvmModule, *machine);
  result.optimizeSeconds = secondsSince(start);
  if (!error.empty())
    return std::nullopt;
  if (keepLLVM)
    llvm::raw_string_ostream(result.llvm) << *llvmModule;

  start = std::chrono::steady_clock::now();
  if (!runCodeGenerator(*llvmModule, *machine, result.ptx, error))
    return std::nullopt;
  result.codegenSeconds = secondsSince(start);
  return result;
}

} // namespace

void registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
}

std::optional<EmittedPTX> emitPTX(mlir::ModuleOp module, const NVPTXOptions &options, bool keepLLVM,
                                  std::string &error) {
  std::optional<unsigned> ptxVersion = choosePTXVersion(options, 0, error);
  if (!ptxVersion)
    return std::nullopt;
  initializeLLVM();
  mlir::FailureOr<unsigned> needed =
      checkLegality(module, options.arch, options.ptxVersion == 0 ? 0 : *ptxVersion);
  if (failed(needed)) {
    error = "the module cannot be compiled for " + options.arch.name();
    return std::nullopt;
  }
  ptxVersion = choosePTXVersion(options, *needed, error);
  if (!ptxVersion)
    return std::nullopt;
  std::optional<EmittedPTX> result;
  std::string reason;
  if (!runGuarded([&] { result = emitUnguarded(module, options, *ptxVersion, keepLLVM, error); }, reason)) {
    error += (error.empty() ? "" : "\n") + ("LLVM gave up: " + reason);
    return std::nullopt;
  }
  return result;
}

} // namespace despina::nvptx
