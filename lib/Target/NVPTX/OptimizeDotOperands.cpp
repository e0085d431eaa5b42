//===- OptimizeDotOperands.cpp - Transposes become views of buffers -------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: ttg with buffers for the matrix units. Out: buffers that are filled from a transposed tile are filled
// from the tile itself, and the transposed view of the buffer is read. So what was loaded reaches the buffer
// as it was loaded, and an asynchronous copy can take its place.
//
//===----------------------------------------------------------------------===//
#include "DotPasses.h"

#include "despina/Analysis/LayoutShapes.h"
#include "despina/IR/TTG.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// local_alloc(trans(x)) -> memdesc_trans(local_alloc(x)).
void foldTranspose(ttg::LocalAllocOp alloc) {
  Value source = alloc.getSrc();
  while (auto convert = source ? source.getDefiningOp<ttg::ConvertLayoutOp>() : ttg::ConvertLayoutOp())
    source = convert.getSrc();
  auto trans = source ? source.getDefiningOp<tt::TransOp>() : tt::TransOp();
  if (!trans || alloc.getType().getMutableMemory())
    return;
  SmallVector<unsigned> inverse(trans.getOrder().size());
  for (auto [to, from] : llvm::enumerate(trans.getOrder()))
    inverse[from] = static_cast<unsigned>(to);
  std::optional<LinearLayout> layout = transposeLayout(ttg::layoutOf(alloc.getType()), inverse);
  if (!layout)
    return;
  OpBuilder b(alloc);
  auto tile = cast<RankedTensorType>(trans.getSrc().getType());
  auto type = ttg::MemDescType::get(tile.getShape(), tile.getElementType(),
                                    ttg::LayoutAttr::get(b.getContext(), *layout), /*mutableMemory=*/false);
  auto direct = ttg::LocalAllocOp::create(b, alloc.getLoc(), type, trans.getSrc(), alloc.getAlignmentAttr());
  Value view = ttg::MemDescTransOp::create(b, alloc.getLoc(), direct, trans.getOrder());
  alloc.replaceAllUsesWith(view);
  alloc.erase();
}

struct OptimizeDotOperandsPass : PassWrapper<OptimizeDotOperandsPass, OperationPass<tt::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OptimizeDotOperandsPass)
  StringRef getArgument() const final { return "nvptx-optimize-dot-operands"; }
  StringRef getDescription() const final { return "Transposes become views of buffers"; }
  void runOnOperation() final {
    SmallVector<ttg::LocalAllocOp> allocs;
    getOperation().walk([&](ttg::LocalAllocOp op) { allocs.push_back(op); });
    for (ttg::LocalAllocOp alloc : allocs)
      foldTranspose(alloc);
  }
};

} // namespace

std::unique_ptr<Pass> createOptimizeDotOperandsPass() { return std::make_unique<OptimizeDotOperandsPass>(); }

} // namespace despina::nvptx
