//===- PTXOptimize.cpp - LLVM's optimiser for kernels ---------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The code generator adds its own passes on addresses (splitting off constant offsets, strength reduction,
// inference of address spaces) and the assembler does the rest. What must happen here is what those two
// cannot do: inlining, clean-up of the lowering's seams, and moving code out of loops.
//
//===----------------------------------------------------------------------===//
#include "PTXOptimize.h"

#include "despina/Target/LLVMPipeline.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace despina::nvptx {

namespace {

/// Inline assembly with side effects may be a barrier or an instruction of the whole warp: no pass may make
/// it depend on more, or fewer, conditions. LLVM knows that of its intrinsics, not of text.
void markConvergent(llvm::Function &function) {
  function.setConvergent();
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      if (auto *text = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
        if (text->hasSideEffects())
          call->setConvergent();
}

llvm::FunctionPassManager makeFunctionPasses() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass(/*EnableHeaderDuplication=*/true));
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

} // namespace

void prepareModule(llvm::Module &module) {
  llvm::internalizeModule(module, [](const llvm::GlobalValue &value) {
    const auto *function = llvm::dyn_cast<llvm::Function>(&value);
    return function && function->getCallingConv() == llvm::CallingConv::PTX_Kernel;
  });
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.setDoesNotThrow();
    markConvergent(function);
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel &&
        !function.hasFnAttribute(llvm::Attribute::NoInline))
      function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  LLVMAnalyses analyses(builder);

  llvm::ModulePassManager passes;
  // The target's own: what libdevice asks of the architecture (__nvvm_reflect) gets its answers.
  builder.invokePipelineStartEPCallbacks(passes, llvm::OptimizationLevel::O3);
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(makeFunctionPasses()));
  passes.run(module, analyses.modules);
}

} // namespace despina::nvptx
