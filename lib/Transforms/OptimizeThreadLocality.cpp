//===- OptimizeThreadLocality.cpp - Reductions that wait for the end ------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// In: loops that add the reduction of a tile to what they carry, x = x + sum(tile), which moves values
// between threads in each iteration. Out: loops that carry a partial result for each thread; threads meet
// once, after the loop.
//
// The axis is cut in two by a reshape, a transposition and another reshape: the bits that lie in the
// registers of a thread, and the rest. Nothing moves, only names of registers change. The first part is
// reduced in each iteration, the second after the loop. The order of combination changes; that of a reduction
// is free.
//
//===----------------------------------------------------------------------===//
#include "despina/Transforms/Passes.h"

#include "LayoutRewrite.h"

#include "despina/Analysis/LayoutInference.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace despina;

namespace despina {
#define GEN_PASS_DEF_TTGOPTIMIZETHREADLOCALITY
#include "despina/Transforms/Passes.h.inc"
} // namespace despina

namespace {

/// Partial results that a thread may carry more than before.
constexpr unsigned maxPartials = 32;

/// What changes nothing under the operation; null if that is none of those known here.
TypedAttr neutralElement(Operation *op, Type element) {
  Builder b(op->getContext());
  auto floating = [&](bool isMax) -> TypedAttr {
    auto type = cast<FloatType>(element);
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    return APFloat::semanticsHasInf(semantics) ? FloatAttr::get(type, APFloat::getInf(semantics, isMax))
                                               : TypedAttr();
  };
  auto integer = [&](APInt value) -> TypedAttr { return b.getIntegerAttr(element, value); };
  unsigned bits = element.isInteger() ? element.getIntOrFloatBitWidth() : 1;
  return llvm::TypeSwitch<Operation *, TypedAttr>(op)
      .Case([&](arith::AddFOp) { return b.getFloatAttr(element, -0.0); })
      .Case<arith::MaxNumFOp, arith::MaximumFOp>([&](auto) { return floating(true); })
      .Case<arith::MinNumFOp, arith::MinimumFOp>([&](auto) { return floating(false); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return integer(APInt(bits, 0)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto) { return integer(APInt::getAllOnes(bits)); })
      .Case([&](arith::MaxSIOp) { return integer(APInt::getSignedMinValue(bits)); })
      .Case([&](arith::MinSIOp) { return integer(APInt::getSignedMaxValue(bits)); })
      .Default([](Operation *) { return TypedAttr(); });
}

/// x = combine(x, reduce(tile)) in a loop that carries x at `index`.
struct Accumulation {
  scf::ForOp loop;
  unsigned index;
  Operation *combine;
  tt::ReduceOp reduce;
};

/// The one operation that the region of a reduction consists of.
Operation *combinationOf(tt::ReduceOp reduce) {
  Block &body = reduce.getCombineOp().front();
  if (body.getOperations().size() != 2)
    return nullptr;
  Operation &op = body.front();
  bool combinesArguments = op.getNumOperands() == 2 && op.getNumResults() == 1 &&
                           llvm::is_contained(op.getOperands(), body.getArgument(0)) &&
                           llvm::is_contained(op.getOperands(), body.getArgument(1)) &&
                           body.getTerminator()->getOperand(0) == op.getResult(0);
  return combinesArguments ? &op : nullptr;
}

std::optional<Accumulation> matchAccumulation(scf::ForOp loop, unsigned index) {
  BlockArgument carried = loop.getRegionIterArg(index);
  if (!carried.hasOneUse())
    return std::nullopt;
  Operation *combine = *carried.getUsers().begin();
  Operation *yield = loop.getBody()->getTerminator();
  if (combine->getBlock() != loop.getBody() || combine->getNumOperands() != 2 ||
      combine->getNumResults() != 1 || !combine->hasOneUse() ||
      yield->getOperand(index) != combine->getResult(0))
    return std::nullopt;
  Value other = combine->getOperand(combine->getOperand(0) == carried ? 1 : 0);
  auto reduce = other.getDefiningOp<tt::ReduceOp>();
  if (!reduce || reduce->getNumResults() != 1 || !other.hasOneUse() || reduce->getBlock() != loop.getBody())
    return std::nullopt;
  Operation *combination = combinationOf(reduce);
  if (!combination || combination->getName() != combine->getName() ||
      !neutralElement(combine, getElementTypeOrSelf(carried)))
    return std::nullopt;
  return Accumulation{loop, index, combine, reduce};
}

/// The bits of an axis, the highest first, that are bits of the register number and nothing else.
SmallVector<bool> registerBits(const LinearLayout &layout, unsigned axis) {
  unsigned bits = layout.outBits(tensorDim(axis)), shift = layout.outShift(tensorDim(axis));
  SmallVector<bool> result;
  for (unsigned bit = bits; bit-- > 0;) {
    uint64_t mask = uint64_t(1) << (shift + bit);
    unsigned touching = llvm::count_if(layout.matrix(), [&](uint64_t column) { return column & mask; });
    result.push_back(touching == 1 && llvm::is_contained(layout.columnsOf(LayoutDim::Register), mask));
  }
  return result;
}

/// Gives the result the layout that follows from the first operand.
Value withInferredLayout(Operation *op) {
  Value result = op->getResult(0);
  ttg::LayoutAttr layout =
      inferResultLayout(op->getOpOperand(0), layoutAttrOf(op->getOperand(0)), op->getResult(0)).get();
  if (layout && isa<RankedTensorType>(result.getType()))
    result.setType(cast<RankedTensorType>(result.getType()).cloneWithEncoding(layout));
  return result;
}

class Rewriter {
public:
  explicit Rewriter(Accumulation found)
      : found(found), axis(found.reduce.getAxis()),
        tile(cast<RankedTensorType>(found.reduce.getSrcs()[0].getType())),
        carried(found.loop.getRegionIterArg(found.index)),
        isRegister(registerBits(ttg::layoutOf(tile), axis)) {}

  /// Whether threads meet in each iteration, and the partial results are not too many.
  bool isWorthwhile() const {
    unsigned inThread = llvm::count(isRegister, true);
    const LinearLayout &layout = ttg::layoutOf(tile);
    return inThread < isRegister.size() &&
           layout.inBits(LayoutDim::Register) <= llvm::Log2_32(maxPartials) + inThread;
  }

  void run() {
    OpBuilder b(found.reduce);
    Value partial = reduceInThread(b);
    b.setInsertionPoint(found.combine);
    Value next = combine(carried, partial, b);
    carried.setType(partial.getType());
    carried.getOwner()->getTerminator()->setOperand(found.index, next);
    carryPartials(cast<RankedTensorType>(partial.getType()));
    found.combine->erase();
    found.reduce.erase();
  }

private:
  /// The tile reduced over the bits of the axis that are in registers: the axis is shorter then.
  Value reduceInThread(OpBuilder &b) {
    Value source = found.reduce.getSrcs()[0];
    unsigned inThread = llvm::count(isRegister, true), bits = isRegister.size();
    if (!inThread)
      return source;
    Location loc = found.reduce.getLoc();
    ArrayRef<int64_t> shape = tile.getShape();
    // Each bit of the axis an axis of its own.
    SmallVector<int64_t> cut(shape.take_front(axis));
    cut.append(bits, 2);
    llvm::append_range(cut, shape.drop_front(axis + 1));
    // Those in registers last.
    SmallVector<int32_t> order, last;
    for (unsigned i = 0; i < cut.size(); ++i)
      (i >= axis && i < axis + bits && isRegister[i - axis] ? last : order).push_back(i);
    llvm::append_range(order, last);
    SmallVector<int64_t> turned = llvm::map_to_vector(order, [&](int32_t from) { return cut[from]; });
    SmallVector<int64_t> joined(shape);
    joined[axis] = int64_t(1) << (bits - inThread);
    joined.push_back(int64_t(1) << inThread);
    Value pieces = reshape(source, cut, loc, b);
    auto turnedType = RankedTensorType::get(turned, tile.getElementType());
    Value moved = withInferredLayout(tt::TransOp::create(b, loc, turnedType, pieces, order));
    return reduceAxis(reshape(moved, joined, loc, b), joined.size() - 1, b);
  }

  Value reshape(Value source, ArrayRef<int64_t> shape, Location loc, OpBuilder &b) {
    auto type = RankedTensorType::get(shape, tile.getElementType());
    return withInferredLayout(tt::ReshapeOp::create(b, loc, type, source, /*allow_reorder=*/false));
  }

  Value reduceAxis(Value source, unsigned along, OpBuilder &b) {
    SmallVector<int64_t> shape(cast<RankedTensorType>(source.getType()).getShape());
    shape.erase(shape.begin() + along);
    Type element = tile.getElementType();
    Type type = shape.empty() ? element : Type(RankedTensorType::get(shape, element));
    auto reduce = tt::ReduceOp::create(b, found.reduce.getLoc(), TypeRange(type), ValueRange(source), along);
    IRMapping mapping;
    found.reduce.getCombineOp().cloneInto(&reduce.getCombineOp(), mapping);
    return withInferredLayout(reduce);
  }

  Value combine(Value total, Value other, OpBuilder &b) {
    Operation *op = b.clone(*found.combine);
    bool isFirst = found.combine->getOperand(0) == carried;
    op->setOperands(isFirst ? ValueRange{total, other} : ValueRange{other, total});
    op->getResult(0).setType(other.getType());
    return op->getResult(0);
  }

  /// The loop with partial results in place of the total, which is made after it.
  void carryPartials(RankedTensorType type) {
    scf::ForOp loop = found.loop;
    Location loc = loop.getLoc();
    OpBuilder b(loop);
    TypedAttr neutral = neutralElement(found.combine, type.getElementType());
    SmallVector<Value> inits(loop.getInitArgs());
    Value start = inits[found.index];
    inits[found.index] = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(neutral)));
    auto changed = scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                      inits, nullptr, loop.getUnsignedCmp());
    changed->setAttrs(loop->getAttrDictionary());
    changed.getRegion().takeBody(loop.getRegion());
    Value rest = reduceAxis(changed.getResult(found.index), axis, b);
    if (ttg::LayoutAttr layout = layoutAttrOf(start))
      rest = convertedTo(rest, layout, b, loc);
    SmallVector<Value> results(changed.getResults());
    results[found.index] = combine(start, rest, b);
    loop.replaceAllUsesWith(results);
    loop.erase();
  }

  Accumulation found;
  unsigned axis;
  RankedTensorType tile;
  BlockArgument carried;
  SmallVector<bool> isRegister;
};

class TTGOptimizeThreadLocalityPass
    : public despina::impl::TTGOptimizeThreadLocalityBase<TTGOptimizeThreadLocalityPass> {
public:
  void runOnOperation() override {
    SmallVector<Block *> bodies;
    getOperation().walk([&](scf::ForOp loop) { bodies.push_back(loop.getBody()); });
    // Bodies stay when their loops are replaced.
    for (Block *body : bodies)
      for (unsigned index = 0;; ++index) {
        auto loop = cast<scf::ForOp>(body->getParentOp());
        if (index >= loop.getNumResults())
          break;
        std::optional<Accumulation> found = matchAccumulation(loop, index);
        if (found && Rewriter(*found).isWorthwhile())
          Rewriter(*found).run();
      }
  }
};

} // namespace
