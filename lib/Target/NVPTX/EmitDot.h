//===- EmitDot.h - What the emitters of matrix products share ---*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_EMITDOT_H
#define DESPINA_LIB_TARGET_NVPTX_EMITDOT_H

#include "MatrixUnits.h"
#include "ThreadEmitter.h"

namespace despina::nvptx {

/// Multiply-adds by each thread (EmitDotFMA.cpp).
mlir::LogicalResult emitDot(ThreadEmitter &e, tt::DotOp op);
/// Bytes of scratch memory of `emitDot` in each block.
uint64_t dotScratchBytes(tt::DotOp op);

/// mma.sync (EmitMma.cpp).
mlir::LogicalResult emitMma(ThreadEmitter &e, ttng::MmaOp op);

/// wgmma (EmitWgmma.cpp).
mlir::LogicalResult emitWarpGroupDot(ThreadEmitter &e, ttng::WarpGroupDotOp op);
mlir::LogicalResult emitWarpGroupDotWait(ThreadEmitter &e, ttng::WarpGroupDotWaitOp op);

/// Finds registers by what their index alone says of the element: the coordinates in thread 0. Two layouts
/// that a thread's place moves alike have what belongs together at the same ones.
class RegisterMap {
public:
  explicit RegisterMap(const LinearLayout &layout);
  /// The lowest register with these coordinates.
  std::optional<unsigned> at(llvm::ArrayRef<int64_t> coordinates) const;
  /// The lowest register with the coordinates of this one.
  unsigned first(unsigned index) const { return found_.lookup(registers_.applyFlat(index)); }
  /// The coordinates along an axis that registers reach, ascending.
  llvm::SmallVector<int64_t> along(unsigned axis) const;

private:
  LinearLayout registers_;
  llvm::DenseMap<uint64_t, unsigned> found_;
};

/// Accumulators of fp8 products. The units add those with fewer bits than f32 has; every `limit` elements of
/// K (0: never) what they have is added to the real sums by the threads.
class PartialSums {
public:
  PartialSums(ThreadEmitter &e, int64_t limit, const MatrixTypes &types, llvm::ArrayRef<mlir::Value> sums);
  /// What the next product is added to.
  llvm::ArrayRef<mlir::Value> get() const { return partial_; }
  /// What came out of it, over `depth` elements of K.
  void set(Registers values, int64_t depth);
  Registers finish();

private:
  void promote();

  ThreadEmitter &e_;
  int64_t limit_, count_ = 0;
  Registers sums_, partial_;
};

/// Values in registers of 32 bits, narrow ones packed, as PTX wants the factors of matrix units.
Registers packFactors(ThreadEmitter &e, llvm::ArrayRef<mlir::Value> values);
/// The registers of accumulators: pairs of f16 in one, the rest as they are.
Registers packAccumulators(ThreadEmitter &e, llvm::ArrayRef<mlir::Value> values);
/// The f16 values in words that have two each.
Registers unpackHalves(ThreadEmitter &e, llvm::ArrayRef<mlir::Value> words);
/// "r", "f" or "d": how inline PTX names a register of this type.
char constraintOf(mlir::Type type);

/// Inline PTX in the making: numbers operands as they come.
class PTXText {
public:
  explicit PTXText(ThreadEmitter &e) : e_(e) {}

  /// Registers that are written. All results come before all other operands.
  std::string out(size_t count, mlir::Type type);
  /// Registers that are read and written: the list of their names.
  std::string inOut(llvm::ArrayRef<mlir::Value> values);
  /// What is only read.
  std::string in(mlir::Value value);
  std::string in(llvm::ArrayRef<mlir::Value> values);

  /// The values of the results. All threads of a warp run it together. `touchesMemory`: no access to memory
  /// is moved across it.
  Registers emit(llvm::StringRef text, bool touchesMemory);

private:
  ThreadEmitter &e_;
  llvm::SmallVector<mlir::Type> results_;
  Registers inputs_, tied_;
};

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_EMITDOT_H
