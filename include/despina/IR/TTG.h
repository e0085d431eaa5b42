//===- TTG.h - The dialect of tiles spread over threads ---------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_TTG_H
#define DESPINA_IR_TTG_H

#include "despina/Analysis/LinearLayout.h"
#include "despina/IR/TT.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace despina::ttg {

/// The memory of a block's buffers.
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "shared memory"; }
};

} // namespace despina::ttg

#include "despina/IR/TTG/TTGDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "despina/IR/TTG/TTGAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "despina/IR/TTG/TTGTypes.h.inc"
#define GET_OP_CLASSES
#include "despina/IR/TTG/TTGOps.h.inc"

namespace despina::ttg {

/// Names of the attributes of modules.
inline constexpr llvm::StringLiteral numWarpsName = "ttg.num-warps";
inline constexpr llvm::StringLiteral threadsPerWarpName = "ttg.threads-per-warp";
inline constexpr llvm::StringLiteral numCTAsName = "ttg.num-ctas";
inline constexpr llvm::StringLiteral targetName = "ttg.target";
inline constexpr llvm::StringLiteral sharedBytesName = "ttg.shared";
/// Where allocation has put the buffer or the scratch memory of an operation: i32, in bytes.
inline constexpr llvm::StringLiteral offsetName = "ttg.offset";

unsigned numWarps(mlir::Operation *op);
unsigned threadsPerWarp(mlir::Operation *op);
unsigned numCTAs(mlir::Operation *op);
/// The number in "cuda:90"; 0 where the module names no target.
unsigned computeCapability(mlir::Operation *op);

/// The layout of a tile or a buffer. The type has one.
const LinearLayout &layoutOf(mlir::Type type);
inline const LinearLayout &layoutOf(mlir::Value value) { return layoutOf(value.getType()); }
inline bool hasLayout(mlir::Type type) {
  auto tile = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tile && llvm::isa_and_nonnull<LayoutAttr>(tile.getEncoding());
}
/// The tile in this layout.
mlir::RankedTensorType withLayout(mlir::RankedTensorType tile, const LinearLayout &layout);

/// Bits of an element in shared memory: i1 takes a byte, pointers 8.
unsigned memoryBits(mlir::Type element);

} // namespace despina::ttg

#endif // DESPINA_IR_TTG_H
