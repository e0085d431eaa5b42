//===- EmitCombine.h - What reductions and scans share ----------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_EMITCOMBINE_H
#define DESPINA_LIB_TARGET_NVPTX_EMITCOMBINE_H

#include "Plans.h"

namespace despina::nvptx {

/// Tiles that are combined together: registers[i] belong to operand i.
using OperandTiles = llvm::SmallVector<Registers, 2>;
/// One value of each operand.
using Element = llvm::SmallVector<mlir::Value, 2>;

/// The region of a reduction or a scan.
class Combiner {
public:
  Combiner(ThreadEmitter &e, mlir::Region &region) : e(e), region(region) {}

  /// Empty after an error.
  Element combine(llvm::ArrayRef<mlir::Value> first, llvm::ArrayRef<mlir::Value> second);
  /// The only operation inside, applied to both arguments; null if it is more than that.
  mlir::Operation *onlyOperation() const;
  /// Whether exchanging the arguments gives the same bits.
  bool isCommutative() const;

private:
  ThreadEmitter &e;
  mlir::Region &region;
};

/// Value i of each operand.
Element elementAt(const OperandTiles &tiles, size_t index);
/// `ifTrue` or `ifFalse`, of each operand.
Element selectElement(ThreadEmitter &e, mlir::Value condition, llvm::ArrayRef<mlir::Value> ifTrue,
                      llvm::ArrayRef<mlir::Value> ifFalse);
/// Moves all operands.
std::optional<OperandTiles> moveTiles(TileMover &mover, const ConversionGroup &group,
                                      const OperandTiles &tiles);

mlir::LogicalResult emitScan(ThreadEmitter &e, tt::ScanOp op);           // EmitScan.cpp
mlir::LogicalResult emitGather(ThreadEmitter &e, tt::GatherOp op);       // EmitGather.cpp
mlir::LogicalResult emitHistogram(ThreadEmitter &e, tt::HistogramOp op); // EmitGather.cpp

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_EMITCOMBINE_H
