//===- AccelerateMatmul.cpp - Gives matrix products to matrix units -------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: ttg with tt.dot. Out: ttng.warp_group_dot where the chip has wgmma and it fits, else ttng.mma where
// mma.sync has the types; conversions and buffers bring operands where these units read them. What is left
// is computed by multiply-adds.
//
//===----------------------------------------------------------------------===//
#include "ArchitecturePass.h"
#include "DotPasses.h"
#include "MatrixUnits.h"

#include "despina/Analysis/LayoutCluster.h"
#include "despina/Analysis/LayoutWgmma.h"
#include "despina/Target/NVPTX/TTNG.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// The value before conversions of layouts.
Value withoutConversions(Value value) {
  while (auto convert = value.getDefiningOp<ttg::ConvertLayoutOp>())
    value = convert.getSrc();
  return value;
}

//===----------------------------------------------------------------------===//
// Where operands come from
//===----------------------------------------------------------------------===//

/// The axis along which neighbours of a tile lie in a thread or in neighbouring lanes.
unsigned fastestAxis(const LinearLayout &layout) {
  for (uint64_t column : layout.matrix())
    for (LinearLayout::DimBits out : layout.outs())
      if (column == uint64_t(1) << layout.outShift(out.dim) && out.bits)
        return tensorAxis(out.dim);
  return tensorAxis(layout.outs().front().dim);
}

/// The axis along which an operand was read from memory, as well as its way can be seen.
unsigned fastestAxis(Value value) {
  value = withoutConversions(value);
  Operation *op = value.getDefiningOp();
  if (auto trans = dyn_cast_or_null<tt::TransOp>(op)) {
    unsigned source = fastestAxis(trans.getSrc());
    return static_cast<unsigned>(llvm::find(trans.getOrder(), static_cast<int32_t>(source)) -
                                 trans.getOrder().begin());
  }
  if (op && op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() == 1)
    return fastestAxis(op->getOperand(0));
  return fastestAxis(ttg::layoutOf(value));
}

/// Whether an operand has been computed in registers. Not so if it was only moved since it was loaded, or if
/// a transpose of 2-byte elements can be left to the reader of a buffer.
bool isComputed(Value value) {
  bool is16Bit = getElementTypeOrSelf(value).getIntOrFloatBitWidth() == 16;
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tt::TransOp>(op) && is16Bit)
      return false;
    if (!isa<ttg::ConvertLayoutOp, tt::TransOp, tt::ReshapeOp>(op))
      return !isa<tt::LoadOp, tt::DescriptorLoadOp, tt::DescriptorGatherOp, ttng::TMALoadOp,
                  ttg::LocalLoadOp>(op);
    value = op->getOperand(0);
  }
  return false;
}

bool isFloat8(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; }

bool isProduct(Operation *op) { return isa_and_nonnull<tt::DotOp, ttng::MmaOp, ttng::WarpGroupDotOp>(op); }

/// Whether `start` reaches, inside its block, a factor of another product.
bool feedsProduct(Operation *start) {
  SmallVector<Operation *> work = {start};
  SmallPtrSet<Operation *, 32> seen;
  while (!work.empty())
    for (OpOperand &use : work.pop_back_val()->getUses()) {
      Operation *user = use.getOwner();
      if (user->getBlock() != start->getBlock())
        continue;
      if (isProduct(user)) {
        if (use.getOperandNumber() < 2)
          return true;
      } else if (seen.insert(user).second) {
        work.push_back(user);
      }
    }
  return false;
}

/// Whether a factor is computed, inside its block, from another product.
bool comesFromProduct(tt::DotOp dot) {
  SmallVector<Value> work = {dot.getA(), dot.getB()};
  SmallPtrSet<Operation *, 32> seen;
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != dot->getBlock() || !seen.insert(op).second)
      continue;
    if (isProduct(op))
      return true;
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Warps and blocks
//===----------------------------------------------------------------------===//

struct Problem {
  explicit Problem(tt::DotOp dot)
      : op(dot), a(cast<RankedTensorType>(dot.getA().getType())),
        b(cast<RankedTensorType>(dot.getB().getType())), c(cast<RankedTensorType>(dot.getC().getType())),
        rank(static_cast<unsigned>(c.getRank())), k(a.getShape()[rank - 1]), numWarps(ttg::numWarps(dot)),
        blocks(c.getShape(), ttg::numCTAs(dot)), result(extentsPerBlock(c.getShape(), blocks.c)),
        m(result[rank - 2]), n(result[rank - 1]) {}

  unsigned elementBits() const { return a.getElementType().getIntOrFloatBitWidth(); }

  tt::DotOp op;
  RankedTensorType a, b, c;
  unsigned rank;
  int64_t k, numWarps;
  ProductSplits blocks;
  /// What one block makes, and its rows and columns.
  LayoutExtents result;
  int64_t m, n;
  bool isChained = false;
};

/// Warps of each axis of the result for products that warps make by themselves.
LayoutExtents warpsForMma(const Problem &dot) {
  LayoutExtents warps(dot.rank, 1);
  int64_t left = dot.numWarps;
  if (dot.rank == 3) {
    warps[0] = std::min(left, dot.result[0]);
    left /= warps[0];
  }
  int64_t &rows = warps[dot.rank - 2], &columns = warps[dot.rank - 1];
  // Reductions along rows, as between two products of attention, then stay in a warp.
  if (dot.isChained) {
    rows = std::clamp<int64_t>(dot.m / 16, 1, left);
    columns = left / rows;
    return warps;
  }
  // Tiles of 16 x 16: two instructions, which use all of what ldmatrix has read.
  for (; left > 1; left /= 2) {
    int64_t tilesDown = dot.m / (16 * rows), tilesAcross = dot.n / (16 * columns);
    bool down = tilesDown > 1 && (tilesDown >= tilesAcross || tilesAcross <= 1);
    (down ? rows : columns) *= 2;
  }
  return warps;
}

/// The same for products that four warps make together.
LayoutExtents warpsForGroups(const Problem &dot) {
  int64_t rows = 4, columns = 1;
  for (int64_t left = dot.numWarps / 4; left > 1; left /= 2)
    (dot.m > 16 * rows ? rows : columns) *= 2;
  return {rows, columns};
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

class Acceleration {
public:
  explicit Acceleration(const Architecture &arch) : arch_(arch) {}

  void run(tt::FuncOp function) {
    SmallVector<Problem, 0> dots;
    function.walk([&](tt::DotOp op) {
      dots.emplace_back(op);
      dots.back().isChained = feedsProduct(op) || comesFromProduct(op);
    });
    for (Problem &dot : dots)
      rewrite(dot);
  }

private:
  void rewrite(const Problem &dot) {
    MatrixTypes types(dot.op);
    if (arch_.number == 90 && arch_.variant == 'a' && toWarpGroup(dot, types))
      return;
    if (unsigned depth = mmaDepth(types, arch_.number); depth && toMma(dot, depth))
      return;
    if (isFloat8(dot.a.getElementType())) {
      widen(dot.op);
      return rewrite(Problem(dot.op));
    }
  }

  /// fp8 becomes f16, which has all of its values.
  static void widen(tt::DotOp op) {
    OpBuilder b(op);
    for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()}) {
      auto type = cast<RankedTensorType>(operand->get().getType());
      operand->set(tt::FpToFpOp::create(b, op.getLoc(), type.clone(b.getF16Type()), operand->get(),
                                        tt::RoundingModeAttr()));
    }
  }

  Value converted(OpBuilder &b, Value value, const LinearLayout &layout) {
    auto type = ttg::withLayout(cast<RankedTensorType>(value.getType()), layout);
    value = withoutConversions(value);
    if (value.getType() == type)
      return value;
    return ttg::ConvertLayoutOp::create(b, value.getLoc(), type, value);
  }

  static void replace(OpBuilder &b, tt::DotOp op, Value result) {
    if (result.getType() != op.getType())
      result = ttg::ConvertLayoutOp::create(b, op.getLoc(), op.getType(), result);
    op.replaceAllUsesWith(result);
    op.erase();
  }

  bool toMma(const Problem &dot, unsigned depth) {
    if (dot.k < depth)
      return false;
    LayoutExtents warps = warpsForMma(dot);
    unsigned kWidth = std::max(1u, 32 / dot.elementBits());
    auto a = mmaOperandLayout(dot.a.getShape(), DotOperand::A, kWidth, warps, dot.blocks.a);
    auto b = mmaOperandLayout(dot.b.getShape(), DotOperand::B, kWidth, warps, dot.blocks.b);
    auto c = mmaAccumulatorLayout(dot.c.getShape(), warps, dot.blocks.c);
    if (!a || !b || !c)
      return false;
    tt::DotOp op = dot.op;
    OpBuilder builder(op);
    Value accumulator = converted(builder, op.getC(), *c);
    int32_t shape[] = {16, 8, static_cast<int32_t>(depth)};
    Value result = ttng::MmaOp::create(builder, op.getLoc(), accumulator.getType(),
                                       converted(builder, op.getA(), *a), converted(builder, op.getB(), *b),
                                       accumulator, builder.getDenseI32ArrayAttr(shape),
                                       op.getInputPrecision(), op.getMaxNumImpreciseAcc());
    replace(builder, op, result);
    return true;
  }

  bool toWarpGroup(const Problem &dot, const MatrixTypes &types) {
    unsigned depth = wgmmaDepth(types);
    if (!depth || dot.rank != 2 || dot.numWarps % 4 || dot.m % 64 || dot.n % 8 || dot.k < depth)
      return false;
    LayoutExtents warps = warpsForGroups(dot);
    int64_t instructionN = std::clamp<int64_t>(dot.n / warps[1], 8, 256);
    tt::DotOp op = dot.op;
    auto c =
        wgmmaAccumulatorLayout(dot.c.getShape(), static_cast<unsigned>(instructionN), warps, dot.blocks.c);
    ttg::LayoutAttr bufferB = bufferLayout(op.getB(), 0, dot.blocks.b);
    bool aInRegisters = isComputed(op.getA());
    auto registersA = wgmmaOperandLayout(dot.a.getShape(), dot.elementBits(), warps, dot.blocks.a);
    ttg::LayoutAttr bufferA = bufferLayout(op.getA(), 1, dot.blocks.a);
    if (!c || !bufferB || !(aInRegisters ? registersA.has_value() : bool(bufferA)))
      return false;

    OpBuilder builder(op);
    Value accumulator = converted(builder, op.getC(), *c);
    Value a = aInRegisters ? converted(builder, op.getA(), *registersA) : buffer(op.getA(), bufferA);
    Value b = buffer(op.getB(), bufferB);
    Value useC;
    if (matchPattern(op.getC(), m_AnyZeroFloat()) || matchPattern(op.getC(), m_Zero()))
      useC = arith::ConstantOp::create(builder, op.getLoc(), builder.getBoolAttr(false));
    int32_t shape[] = {64, static_cast<int32_t>(instructionN), static_cast<int32_t>(depth)};
    Value result =
        ttng::WarpGroupDotOp::create(builder, op.getLoc(), accumulator.getType(), a, b, accumulator, useC,
                                     builder.getDenseI32ArrayAttr(shape), op.getInputPrecision(),
                                     op.getMaxNumImpreciseAcc(), /*isAsync=*/false);
    replace(builder, op, result);
    return true;
  }

  /// Of the buffer for an operand of wgmma; null if none can be described to it.
  static ttg::LayoutAttr bufferLayout(Value operand, unsigned kAxis, const ClusterSplit &cluster) {
    auto tile = cast<RankedTensorType>(operand.getType());
    unsigned bits = tile.getElementType().getIntOrFloatBitWidth();
    // Only 2-byte elements may be contiguous along the axis that is not summed over.
    unsigned contiguous = bits == 16 ? fastestAxis(operand) : kAxis;
    LayoutExtents perBlock = extentsPerBlock(tile.getShape(), cluster);
    NvmmaSharedParams params;
    params.swizzleBytes = nvmmaSwizzleBytes(perBlock[contiguous], perBlock[1 - contiguous], bits);
    params.elementBits = bits;
    params.transposed = contiguous == 0;
    params.cluster = cluster;
    std::optional<LinearLayout> layout = nvmmaSharedLayout(tile.getShape(), params);
    if (!layout || !matchWgmmaOperand(*layout, bits, kAxis))
      return {};
    return ttg::LayoutAttr::get(operand.getContext(), *layout);
  }

  /// A buffer with the operand, made where the operand is: if that is outside a loop, it is made once.
  Value buffer(Value operand, ttg::LayoutAttr layout) {
    operand = withoutConversions(operand);
    Value &known = buffers_[{operand, layout}];
    if (known)
      return known;
    OpBuilder b(operand.getContext());
    b.setInsertionPointAfterValue(operand);
    auto tile = cast<RankedTensorType>(operand.getType());
    auto type =
        ttg::MemDescType::get(tile.getShape(), tile.getElementType(), layout, /*mutableMemory=*/false);
    std::optional<WgmmaSharedOperand> match =
        matchWgmmaOperand(layout.getLayout(), tile.getElementType().getIntOrFloatBitWidth(), /*kAxis=*/0);
    unsigned alignment = nvmmaAlignment(match ? match->swizzleBytes : 128);
    known = ttg::LocalAllocOp::create(b, operand.getLoc(), type, operand, b.getI32IntegerAttr(alignment));
    return known;
  }

  Architecture arch_;
  DenseMap<std::pair<Value, Attribute>, Value> buffers_;
};

class AccelerateMatmulPass : public ArchitecturePass<AccelerateMatmulPass> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AccelerateMatmulPass)
  using ArchitecturePass::ArchitecturePass;
  StringRef getArgument() const final { return "nvptx-accelerate-matmul"; }
  StringRef getDescription() const final { return "Gives matrix products to matrix units"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, ttng::TTNGDialect>();
  }

  LogicalResult run(tt::FuncOp function, const Architecture &arch) {
    Acceleration(arch).run(function);
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createAccelerateMatmulPass(const Architecture &arch) {
  return std::make_unique<AccelerateMatmulPass>(arch);
}

} // namespace despina::nvptx
