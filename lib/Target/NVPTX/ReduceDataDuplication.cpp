//===- ReduceDataDuplication.cpp - Operands of mma.sync through buffers ---===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: ttg with conversions of tiles to the layouts that mma.sync reads, in which warps hold copies. Out:
// those that would go through shared memory anyway become a buffer, swizzled so that ldmatrix reads it
// without conflicts, and loads from it. Several conversions of one tile share the buffer.
//
//===----------------------------------------------------------------------===//
#include "DotPasses.h"

#include "despina/Analysis/LayoutCluster.h"
#include "despina/Analysis/LayoutConversion.h"
#include "despina/Target/NVPTX/TTNG.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// Which operand of an mma a value becomes, directly or element by element. None if it is none.
std::optional<DotOperand> operandOfMma(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<ttng::MmaOp>(user)) {
      if (use.getOperandNumber() < 2)
        return use.getOperandNumber() == 0 ? DotOperand::A : DotOperand::B;
    } else if (user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1) {
      if (std::optional<DotOperand> found = operandOfMma(user->getResult(0)))
        return found;
    }
  }
  return std::nullopt;
}

/// The order of a buffer: as the tile has it, and the batch outside.
LayoutOrder bufferOrder(const LinearLayout &layout) {
  LayoutOrder order = axisOrderOf(layout);
  if (order.size() == 3) {
    llvm::erase(order, 0u);
    order.push_back(0);
  }
  return order;
}

class Reduction {
public:
  void run(tt::FuncOp function) {
    SmallVector<ttg::ConvertLayoutOp> conversions;
    function.walk([&](ttg::ConvertLayoutOp op) { conversions.push_back(op); });
    for (ttg::ConvertLayoutOp op : conversions)
      rewrite(op);
  }

private:
  void rewrite(ttg::ConvertLayoutOp op) {
    std::optional<DotOperand> operand = operandOfMma(op.getResult());
    auto tile = cast<RankedTensorType>(op.getSrc().getType());
    if (!operand || isa<tt::PointerType>(tile.getElementType()))
      return;
    ConversionOptions options;
    options.elementBits = ttg::memoryBits(tile.getElementType());
    std::optional<ConversionPlan> plan =
        planConversion(ttg::layoutOf(tile), ttg::layoutOf(op.getType()), options);
    if (!plan || plan->kind != ConversionKind::SharedMemory)
      return;
    std::optional<LinearLayout> layout = bufferLayout(op, *operand);
    if (!layout)
      return;
    OpBuilder b(op);
    Value load = ttg::LocalLoadOp::create(b, op.getLoc(), op.getType(), buffer(op, *layout));
    op.replaceAllUsesWith(load);
    op.erase();
  }

  static std::optional<LinearLayout> bufferLayout(ttg::ConvertLayoutOp op, DotOperand operand) {
    auto tile = cast<RankedTensorType>(op.getSrc().getType());
    unsigned rank = static_cast<unsigned>(tile.getRank());
    unsigned bits = ttg::memoryBits(tile.getElementType());
    std::optional<SwizzledParams> params =
        dotOperandSwizzle(tile.getShape(), bufferOrder(ttg::layoutOf(tile)),
                          operand == DotOperand::A ? rank - 1 : rank - 2, bits, std::max(1u, 32 / bits));
    if (!params)
      return std::nullopt;
    params->cluster = clusterSplitOf(ttg::layoutOf(op.getType()));
    return swizzledSharedLayout(tile.getShape(), *params);
  }

  Value buffer(ttg::ConvertLayoutOp op, const LinearLayout &layout) {
    auto attr = ttg::LayoutAttr::get(op.getContext(), layout);
    Value &known = buffers_[{op.getSrc(), attr}];
    if (known && known.getParentBlock() == op->getBlock())
      return known;
    OpBuilder b(op);
    auto tile = cast<RankedTensorType>(op.getSrc().getType());
    auto type = ttg::MemDescType::get(tile.getShape(), tile.getElementType(), attr, /*mutableMemory=*/false);
    known = ttg::LocalAllocOp::create(b, op.getLoc(), type, op.getSrc(), IntegerAttr());
    return known;
  }

  DenseMap<std::pair<Value, Attribute>, Value> buffers_;
};

struct ReduceDataDuplicationPass : PassWrapper<ReduceDataDuplicationPass, OperationPass<tt::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReduceDataDuplicationPass)
  StringRef getArgument() const final { return "nvptx-reduce-data-duplication"; }
  StringRef getDescription() const final { return "Operands of mma.sync through buffers"; }
  void runOnOperation() final { Reduction().run(getOperation()); }
};

} // namespace

std::unique_ptr<Pass> createReduceDataDuplicationPass() {
  return std::make_unique<ReduceDataDuplicationPass>();
}

void registerDotPasses() {
  registerPass([] { return createF32DotTCPass(); });
  registerPass([] { return createAccelerateMatmulPass(); });
  registerPass([] { return createOptimizeDotOperandsPass(); });
  registerPass([] { return createReduceDataDuplicationPass(); });
  registerPass([] { return createLocalizeBlocksPass(); });
}

} // namespace despina::nvptx
