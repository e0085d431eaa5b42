//===- MoveTile.h - Executes conversion plans -------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the code of a ConversionPlan. Operations with several conversions (reductions, scans) run them one
// after the other in the same scratch memory, of which they use two halves in turn: the barrier inside one
// conversion tells that nobody reads what the one before it has left, in the other half.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_MOVETILE_H
#define DESPINA_LIB_TARGET_NVPTX_MOVETILE_H

#include "ThreadEmitter.h"

namespace despina::nvptx {

/// Conversions that run side by side, with scratch memory each: one for each operand of an operation.
using ConversionGroup = llvm::SmallVector<const ConversionPlan *, 2>;

/// The scratch memory of groups that run one after the other.
struct ScratchHalves {
  uint64_t bytes[2] = {0, 0};

  explicit ScratchHalves(llvm::ArrayRef<ConversionGroup> groups);
  uint64_t total() const { return bytes[0] + bytes[1]; }
};

class TileMover {
public:
  /// For an operation; `groups` are those that `move` will be called with, in this order.
  TileMover(ThreadEmitter &e, mlir::Operation *op, llvm::ArrayRef<ConversionGroup> groups);

  /// The registers of each tile in its new layout. Empty after an error.
  llvm::SmallVector<Registers, 2> move(const ConversionGroup &group,
                                       llvm::ArrayRef<llvm::ArrayRef<mlir::Value>> sources);

private:
  void moveThroughShared(const ConversionGroup &group, llvm::ArrayRef<llvm::ArrayRef<mlir::Value>> sources,
                         llvm::MutableArrayRef<Registers> results);

  ThreadEmitter &e;
  mlir::Operation *op;
  ScratchHalves halves;
  bool isAlone;
  unsigned turn = 0;
};

/// Brings the registers of a tile in `from` into the order of `to`, a layout of the same tile. None when a
/// thread lacks elements that it has there.
std::optional<Registers> reorderRegisters(llvm::ArrayRef<mlir::Value> registers, const LinearLayout &from,
                                          const LinearLayout &to);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_MOVETILE_H
