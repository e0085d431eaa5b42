//===- ConvertToTTG.cpp - Spreads tiles over threads ----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: tile IR. Out: the same with a layout on every tile. The layout depends on the shape alone, so that
// whatever works element by element, and all control flow, needs no conversion. Operations that change the
// shape do: their ties decide. Later passes choose better layouts and remove what conversions they can.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "despina/Analysis/LayoutCluster.h"
#include "despina/Analysis/LayoutInference.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace despina;
using ttg::LayoutAttr;

namespace despina {
#define GEN_PASS_DEF_CONVERTTOTTG
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

/// Elements of a thread next to each other, where the tile has enough for all threads: 16 bytes of a 32-bit
/// type.
constexpr int64_t defaultSizePerThread = 4;

class Conversion {
public:
  Conversion(unsigned warps, unsigned lanes, unsigned blocks) : warps(warps), lanes(lanes), blocks(blocks) {}

  LogicalResult run(ModuleOp module) {
    WalkResult typed = module.walk([&](Operation *op) {
      return succeeded(giveLayouts(op)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (typed.wasInterrupted())
      return failure();
    SmallVector<Operation *> tied;
    module.walk([&](Operation *op) { tied.push_back(op); });
    for (Operation *op : tied)
      keepTies(op);
    return success();
  }

private:
  /// Null where there is none.
  LayoutAttr defaultLayout(RankedTensorType tile) {
    LayoutAttr &known =
        layouts[RankedTensorType::get(tile.getShape(), IntegerType::get(tile.getContext(), 1))];
    if (known)
      return known;
    int64_t threads = int64_t(warps) * lanes;
    int64_t perThread =
        std::clamp<int64_t>(tile.getNumElements() / (threads * blocks), 1, defaultSizePerThread);
    BlockedParams params = filledParams(tile.getShape(), perThread, rowMajorOrder(tile.getRank()), lanes,
                                        warps, spreadOverBlocks(tile.getShape(), blocks, threads));
    if (std::optional<LinearLayout> layout = blockedLayout(tile.getShape(), params))
      known = LayoutAttr::get(tile.getContext(), *layout);
    return known;
  }

  LogicalResult giveLayout(Operation *op, Value value) {
    auto tile = dyn_cast<RankedTensorType>(value.getType());
    if (!tile || tile.getEncoding())
      return success();
    LayoutAttr layout = tile.hasStaticShape() && tile.getRank() ? defaultLayout(tile) : LayoutAttr();
    if (!layout)
      return op->emitOpError() << "has a tile that cannot be spread over threads: " << tile
                               << "; extents must be powers of two";
    value.setType(tile.cloneWithEncoding(layout));
    return success();
  }

  LogicalResult giveLayouts(Operation *op) {
    for (Value result : op->getResults())
      if (failed(giveLayout(op, result)))
        return failure();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (failed(giveLayout(op, argument)))
            return failure();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return retypeConstant(constant);
    if (auto func = dyn_cast<tt::FuncOp>(op))
      return retypeFunction(func);
    return success();
  }

  static LogicalResult retypeConstant(arith::ConstantOp op) {
    auto tile = dyn_cast<RankedTensorType>(op.getType());
    if (!tile)
      return success();
    auto values = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!values)
      return op.emitOpError("has a tile that is not written as dense<...>");
    op.setValueAttr(values.reshape(tile));
    return success();
  }

  /// Functions that stay functions take and give tiles in the same layouts as everybody.
  LogicalResult retypeFunction(tt::FuncOp func) {
    auto retyped = [&](TypeRange types) {
      return llvm::map_to_vector(types, [&](Type type) -> Type {
        auto tile = dyn_cast<RankedTensorType>(type);
        LayoutAttr layout = tile && !tile.getEncoding() ? defaultLayout(tile) : LayoutAttr();
        return layout ? tile.cloneWithEncoding(layout) : type;
      });
    };
    func.setType(FunctionType::get(func.getContext(), retyped(func.getArgumentTypes()),
                                   retyped(func.getResultTypes())));
    return success();
  }

  /// Conversions around an operation whose operands or results cannot all have the layouts of their shapes.
  static void keepTies(Operation *op) {
    if (op->getNumResults() == 0 || op->getNumOperands() == 0)
      return;
    // Of these the operand is smaller, or only the result's layout has an answer.
    if (isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::SplitOp>(op))
      return convertOperand(op->getOpOperand(0), op->getResult(0));
    for (OpResult result : op->getResults())
      if (LayoutAttr layout = layoutAttrOf(op->getOperand(0)))
        convertResult(result, inferResultLayout(op->getOpOperand(0), layout, result).get());
  }

  static void convertOperand(OpOperand &operand, OpResult result) {
    LayoutAttr wanted = inferOperandLayout(result, layoutAttrOf(result), operand).get();
    if (!wanted || wanted == layoutAttrOf(operand.get()))
      return;
    OpBuilder builder(operand.getOwner());
    auto tile = cast<RankedTensorType>(operand.get().getType());
    operand.set(ttg::ConvertLayoutOp::create(builder, operand.getOwner()->getLoc(),
                                             tile.cloneWithEncoding(wanted), operand.get()));
  }

  static void convertResult(OpResult result, LayoutAttr given) {
    if (!given || given == layoutAttrOf(result))
      return;
    auto tile = cast<RankedTensorType>(result.getType());
    result.setType(tile.cloneWithEncoding(given));
    OpBuilder builder(result.getOwner()->getContext());
    builder.setInsertionPointAfter(result.getOwner());
    auto convert = ttg::ConvertLayoutOp::create(builder, result.getOwner()->getLoc(), tile, result);
    result.replaceAllUsesExcept(convert, convert);
  }

  int64_t warps, lanes, blocks;
  DenseMap<Type, LayoutAttr> layouts;
};

class ConvertToTTGPass : public despina::impl::ConvertToTTGBase<ConvertToTTGPass> {
public:
  using ConvertToTTGBase::ConvertToTTGBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const std::pair<StringRef, unsigned> numbers[] = {
        {"num-warps", numWarps}, {"threads-per-warp", threadsPerWarp}, {"num-ctas", numCTAs}};
    for (auto [name, number] : numbers)
      if (!llvm::isPowerOf2_64(number) || number > 1024) {
        module.emitError() << "option " << name << " is " << number
                           << ", but must be a power of two up to 1024";
        return signalPassFailure();
      }
    Builder builder(module.getContext());
    module->setAttr(ttg::numWarpsName, builder.getI32IntegerAttr(numWarps));
    module->setAttr(ttg::threadsPerWarpName, builder.getI32IntegerAttr(threadsPerWarp));
    module->setAttr(ttg::numCTAsName, builder.getI32IntegerAttr(numCTAs));
    module->setAttr(ttg::targetName, builder.getStringAttr(target));
    if (failed(Conversion(numWarps, threadsPerWarp, numCTAs).run(module)))
      signalPassFailure();
  }
};

} // namespace
