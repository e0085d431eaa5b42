//===- Passes.h - Passes on tile IR -----------------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TRANSFORMS_PASSES_H
#define DESPINA_TRANSFORMS_PASSES_H

#include "despina/IR/TTG.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace despina {

#define GEN_PASS_DECL
#include "despina/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "despina/Transforms/Passes.h.inc"

struct TTPipelineOptions : mlir::PassPipelineOptions<TTPipelineOptions> {
  Option<bool> rewriteDescriptors{*this, "rewrite-descriptors",
                                  llvm::cl::desc("Turn tensor descriptors into pointers and masks"),
                                  llvm::cl::init(false)};
  Option<bool> inlineCalls{*this, "inline-calls",
                           llvm::cl::desc("Move functions into their callers; off where that is done"),
                           llvm::cl::init(true)};
};

/// Whether tt-rewrite-descriptors has an atomic operation that combines in the same way.
bool hasAtomic(tt::DescriptorReduceKind kind, tt::TensorDescType type);

/// Adds the passes that every target starts with: inlining, simplification, loop clean-up.
/// Runs on a module.
void buildTTPipeline(mlir::OpPassManager &manager, const TTPipelineOptions &options = TTPipelineOptions());

/// Registers the pipeline for despina-opt as `tt-pipeline`.
void registerTTPipeline();

} // namespace despina

#endif // DESPINA_TRANSFORMS_PASSES_H
