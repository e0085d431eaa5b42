//===- Plans.h - How operations move tiles ----------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The plans of operations that move data between threads. They are made twice, when scratch memory is
// allocated and when code is emitted, always here.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_PLANS_H
#define DESPINA_LIB_TARGET_NVPTX_PLANS_H

#include "MoveTile.h"

#include "despina/Analysis/LayoutShapes.h"

namespace despina::nvptx {

// None for layouts between (along) which there is no plan.
std::optional<ConversionPlan> planOf(ttg::ConvertLayoutOp op);
/// One for each operand; they differ where elements have other widths.
std::optional<llvm::SmallVector<ReducePlan, 2>> planOf(tt::ReduceOp op);
std::optional<llvm::SmallVector<ScanPlan, 2>> planOf(tt::ScanOp op);

/// The conversions, in the order in which they run.
llvm::SmallVector<ConversionGroup> conversionsOf(llvm::ArrayRef<ReducePlan> plans);
llvm::SmallVector<ConversionGroup> conversionsOf(llvm::ArrayRef<ScanPlan> plans);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_PLANS_H
