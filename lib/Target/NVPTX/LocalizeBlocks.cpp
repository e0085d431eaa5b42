//===- LocalizeBlocks.cpp - Each block of a cluster fills its own memory --===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: ttg of several blocks per program, whose passes need not ask which block has what. Out: the same in
// which a block writes to its buffers, and reads from them, what its own threads hold. A tile that other
// blocks have parts of is converted first, which goes through the memory of them all. So it is for products
// by multiply-adds, which need their factors in the block that makes the sums. Barriers of the program become
// barriers of the cluster.
//
//===----------------------------------------------------------------------===//
#include "DotPasses.h"

#include "despina/Analysis/LayoutBuffer.h"
#include "despina/Analysis/LayoutCluster.h"
#include "despina/Target/NVPTX/TTNG.h"

#include "mlir/IR/Builders.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

constexpr unsigned maxAccessBits = 128;

class Localization {
public:
  explicit Localization(tt::FuncOp function)
      : function(function), lanes(ttg::threadsPerWarp(function)), warps(ttg::numWarps(function)) {}

  void run() {
    SmallVector<Operation *> all;
    function.walk([&](Operation *op) { all.push_back(op); });
    for (Operation *op : all)
      visit(op);
  }

private:
  void visit(Operation *op) {
    if (auto alloc = dyn_cast<ttg::LocalAllocOp>(op); alloc && alloc.getSrc())
      fill(op->getOpOperand(0), alloc.getType());
    else if (auto store = dyn_cast<ttg::LocalStoreOp>(op))
      fill(store.getSrcMutable(), store.getDst().getType());
    else if (auto load = dyn_cast<ttg::LocalLoadOp>(op))
      read(load);
    else if (auto dot = dyn_cast<tt::DotOp>(op))
      bringFactors(dot);
    else if (isa<tt::BarrierOp>(op))
      replaceBarrier(op);
  }

  /// The tile in a simple layout in which blocks have these columns.
  ttg::LayoutAttr layoutFor(RankedTensorType tile, ArrayRef<uint64_t> blocks) const {
    const LinearLayout &layout = ttg::layoutOf(tile);
    unsigned perAccess = llvm::Log2_32(maxAccessBits / ttg::memoryBits(tile.getElementType()));
    unsigned threadBits = llvm::Log2_32(lanes) + llvm::Log2_32(warps) + f2::rank(blocks);
    unsigned perThread = layout.totalOutBits() - std::min(layout.totalOutBits(), threadBits);
    std::optional<LinearLayout> result =
        layoutWithBlocks(layout.outs(), blocks, axisOrderOf(layout), std::min(perAccess, perThread),
                         llvm::Log2_32(lanes), llvm::Log2_32(warps));
    return result ? ttg::LayoutAttr::get(tile.getContext(), *result) : ttg::LayoutAttr();
  }

  /// The same for what a block has of a buffer. Null for windows, which may lie anywhere.
  ttg::LayoutAttr layoutFor(RankedTensorType tile, ttg::MemDescType buffer) const {
    std::optional<LinearLayout> memory = ttg::layoutOf(buffer).transposeOuts(ttg::layoutOf(tile).outNames());
    if (!memory || memory->outs() != ttg::layoutOf(tile).outs())
      return {};
    return layoutFor(tile, memory->columnsOf(LayoutDim::Block));
  }

  static bool meet(RankedTensorType tile, ttg::MemDescType buffer) {
    return planBufferAccess(ttg::layoutOf(buffer), ttg::layoutOf(tile),
                            ttg::memoryBits(tile.getElementType()))
        .has_value();
  }

  /// Whether each block's threads hold all that its buffer has.
  static bool fills(RankedTensorType tile, ttg::MemDescType buffer) {
    const LinearLayout &layout = ttg::layoutOf(tile), &memory = ttg::layoutOf(buffer);
    f2::Vectors own;
    for (LayoutDim dim : {LayoutDim::Register, LayoutDim::Lane, LayoutDim::Warp})
      llvm::append_range(own, layout.columnsOf(dim));
    return meet(tile, buffer) && f2::rank(own) == f2::rank(memory.columnsOf(LayoutDim::Offset));
  }

  static Value converted(Value value, ttg::LayoutAttr layout, Operation *before) {
    OpBuilder b(before);
    auto type = cast<RankedTensorType>(value.getType()).cloneWithEncoding(layout);
    return ttg::ConvertLayoutOp::create(b, before->getLoc(), type, value);
  }

  void fill(OpOperand &operand, ttg::MemDescType buffer) {
    auto tile = cast<RankedTensorType>(operand.get().getType());
    if (fills(tile, buffer))
      return;
    if (ttg::LayoutAttr layout = layoutFor(tile, buffer))
      operand.set(converted(operand.get(), layout, operand.getOwner()));
  }

  void read(ttg::LocalLoadOp load) {
    auto tile = cast<RankedTensorType>(load.getType());
    ttg::MemDescType buffer = load.getSrc().getType();
    ttg::LayoutAttr layout = meet(tile, buffer) ? ttg::LayoutAttr() : layoutFor(tile, buffer);
    if (!layout)
      return;
    load.getResult().setType(tile.cloneWithEncoding(layout));
    Value result =
        converted(load.getResult(), cast<ttg::LayoutAttr>(tile.getEncoding()), load->getNextNode());
    load.getResult().replaceAllUsesExcept(result, result.getDefiningOp());
  }

  /// Along the axis that is summed over, a factor is whole in each block.
  void bringFactors(tt::DotOp dot) {
    const LinearLayout &result = ttg::layoutOf(dot.getType());
    unsigned rank = static_cast<unsigned>(result.outs().size());
    for (auto [operand, kAxis] : {std::pair(&dot.getAMutable(), rank - 1), {&dot.getBMutable(), rank - 2}}) {
      auto tile = cast<RankedTensorType>(operand->get().getType());
      const LinearLayout &layout = ttg::layoutOf(tile);
      f2::Vectors blocks;
      for (unsigned bit = 0; bit < result.inBits(LayoutDim::Block); ++bit) {
        uint64_t &column = blocks.emplace_back(0);
        for (unsigned axis = 0; axis < rank; ++axis)
          if (axis != kAxis)
            column |= result.basis(LayoutDim::Block, bit, tensorDim(axis))
                      << layout.outShift(tensorDim(axis));
      }
      if (layout.columnsOf(LayoutDim::Block) == ArrayRef<uint64_t>(blocks))
        continue;
      if (ttg::LayoutAttr wanted = layoutFor(tile, blocks))
        operand->set(converted(operand->get(), wanted, dot));
    }
  }

  static void replaceBarrier(Operation *op) {
    OpBuilder b(op);
    ttng::ClusterBarrierOp::create(b, op->getLoc());
    op->erase();
  }

  tt::FuncOp function;
  unsigned lanes, warps;
};

struct LocalizeBlocksPass : PassWrapper<LocalizeBlocksPass, OperationPass<tt::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LocalizeBlocksPass)
  StringRef getArgument() const final { return "nvptx-localize-blocks"; }
  StringRef getDescription() const final { return "Each block of a cluster fills its own memory"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<ttng::TTNGDialect>(); }
  void runOnOperation() final {
    if (ttg::numCTAs(getOperation()) > 1)
      Localization(getOperation()).run();
  }
};

} // namespace

std::unique_ptr<Pass> createLocalizeBlocksPass() { return std::make_unique<LocalizeBlocksPass>(); }

} // namespace despina::nvptx
