//===- AxisInfoRules.cpp - What each operation does to runs and divisors --===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Analysis/AxisInfo.h"
#include "despina/IR/TTG.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace despina;

namespace {

using Operands = ArrayRef<const AxisInfo *>;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

int64_t multiplyDivisors(int64_t lhs, int64_t rhs) {
  return llvm::Log2_64(lhs) + llvm::Log2_64(rhs) >= 62 ? AxisInfo::maxDivisor : lhs * rhs;
}

unsigned bitsOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

/// The value that `value` has in the integer type.
int64_t wrap(Type type, int64_t value) {
  unsigned bits = bitsOf(type);
  return bits > 1 && bits < 64 ? llvm::SignExtend64(static_cast<uint64_t>(value), bits) : value;
}

/// An exact power of two that a shift amount stands for, if it is one for every element.
std::optional<int64_t> shiftFactor(const AxisInfo &amount, Type type) {
  if (!amount.constant || *amount.constant < 0 || *amount.constant >= std::min(bitsOf(type), 62u))
    return std::nullopt;
  return int64_t(1) << *amount.constant;
}

/// Equal operands give equal results, whatever a pure element-wise operation does.
AxisInfo repeatedWhereOperandsAre(Type type, Operands operands) {
  AxisInfo info = AxisInfo::unknown(type);
  if (operands.empty())
    return info;
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    std::optional<int64_t> run;
    for (const AxisInfo *operand : operands)
      if (operand->rank() == info.rank())
        run = run ? std::min(*run, operand->constancy[axis]) : operand->constancy[axis];
    info.constancy[axis] = run.value_or(1);
  }
  return info;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Sums, differences and addptr; `scale` is what the right side is multiplied with.
AxisInfo sum(Type type, const AxisInfo &lhs, const AxisInfo &rhs, bool subtract, int64_t scale) {
  if (lhs.constant && rhs.constant && scale == 1) {
    uint64_t x = *lhs.constant, y = *rhs.constant;
    return AxisInfo::ofConstant(type, wrap(type, static_cast<int64_t>(subtract ? x - y : x + y)));
  }
  AxisInfo info = repeatedWhereOperandsAre(type, {&lhs, &rhs});
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    int64_t run = std::min(lhs.contiguity[axis], rhs.constancy[axis]);
    if (!subtract)
      run = std::max(run, std::min(lhs.constancy[axis], rhs.contiguity[axis]));
    info.contiguity[axis] = run;
    info.divisibility[axis] =
        std::min(lhs.divisorAt(axis, run), multiplyDivisors(rhs.divisorAt(axis, run), scale));
  }
  info.nonNegative = !subtract && lhs.nonNegative && rhs.nonNegative;
  return info;
}

AxisInfo product(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  if (lhs.constant && rhs.constant)
    return AxisInfo::ofConstant(
        type, wrap(type, static_cast<int64_t>(uint64_t(*lhs.constant) * uint64_t(*rhs.constant))));
  if (lhs.constant == 1 || rhs.constant == 1)
    return lhs.constant == 1 ? rhs : lhs;
  AxisInfo info = repeatedWhereOperandsAre(type, {&lhs, &rhs});
  for (unsigned axis = 0; axis < info.rank(); ++axis)
    info.divisibility[axis] = multiplyDivisors(lhs.divisorAt(axis, 1), rhs.divisorAt(axis, 1));
  info.nonNegative = lhs.nonNegative && rhs.nonNegative;
  return info;
}

/// The longest aligned blocks in which `lhs` counts up from a multiple of the block's length, while `rhs` is
/// one multiple of it.
int64_t alignedBlock(const AxisInfo &lhs, const AxisInfo &rhs, unsigned axis) {
  return std::min(
      {lhs.contiguity[axis], lhs.divisibility[axis], rhs.constancy[axis], rhs.divisorAt(axis, 1)});
}

/// Division of a signed dividend rounds towards zero, so blocks below zero are not aligned like those above.
AxisInfo quotient(Type type, const AxisInfo &lhs, const AxisInfo &rhs, bool isSigned) {
  if (rhs.constant == 1)
    return lhs;
  if (lhs.constant && rhs.constant && *lhs.constant >= 0 && *rhs.constant > 0)
    return AxisInfo::ofConstant(type, *lhs.constant / *rhs.constant);
  AxisInfo info = repeatedWhereOperandsAre(type, {&lhs, &rhs});
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    if (!isSigned || lhs.nonNegative)
      info.constancy[axis] = std::max(info.constancy[axis], alignedBlock(lhs, rhs, axis));
    int64_t divisor = lhs.divisorAt(axis, 1);
    if (rhs.constant && *rhs.constant > 0 && llvm::isPowerOf2_64(*rhs.constant) && divisor >= *rhs.constant)
      info.divisibility[axis] = divisor / *rhs.constant;
  }
  info.nonNegative = lhs.nonNegative;
  return info;
}

AxisInfo remainder(Type type, const AxisInfo &lhs, const AxisInfo &rhs, bool isSigned) {
  if (lhs.constant && rhs.constant && *lhs.constant >= 0 && *rhs.constant > 0)
    return AxisInfo::ofConstant(type, *lhs.constant % *rhs.constant);
  AxisInfo info = repeatedWhereOperandsAre(type, {&lhs, &rhs});
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    int64_t run = !isSigned || lhs.nonNegative ? alignedBlock(lhs, rhs, axis) : 1;
    info.contiguity[axis] = run;
    info.divisibility[axis] = std::min(lhs.divisorAt(axis, run), rhs.divisorAt(axis, 1));
  }
  info.nonNegative = lhs.nonNegative;
  return info;
}

/// Shifts to the left multiply; those to the right divide and round down, whatever the sign.
AxisInfo shiftLeft(Type type, const AxisInfo &lhs, const AxisInfo &amount) {
  if (auto factor = shiftFactor(amount, type))
    return product(type, lhs, AxisInfo::ofConstant(type, *factor));
  AxisInfo info = repeatedWhereOperandsAre(type, {&lhs, &amount});
  for (unsigned axis = 0; axis < info.rank(); ++axis)
    info.divisibility[axis] = lhs.divisorAt(axis, 1);
  return info;
}

AxisInfo shiftRight(Type type, const AxisInfo &lhs, const AxisInfo &amount) {
  if (auto factor = shiftFactor(amount, type)) {
    AxisInfo info = quotient(type, lhs, AxisInfo::ofConstant(type, *factor), /*isSigned=*/false);
    info.nonNegative = lhs.nonNegative;
    return info;
  }
  AxisInfo info = repeatedWhereOperandsAre(type, {&lhs, &amount});
  info.nonNegative = lhs.nonNegative;
  return info;
}

AxisInfo bitAnd(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  if (lhs.constant && !rhs.constant)
    return bitAnd(type, rhs, lhs);
  AxisInfo info = repeatedWhereOperandsAre(type, {&lhs, &rhs});
  std::optional<int64_t> mask = rhs.constant;
  bool keepsLowBits = mask && *mask > 0 && llvm::isMask_64(*mask);
  bool clearsLowBits = mask && *mask < 0 && *mask > -AxisInfo::maxDivisor && llvm::isPowerOf2_64(-*mask);
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    int64_t run = 1;
    if (keepsLowBits)
      run = std::min({lhs.contiguity[axis], lhs.divisibility[axis], *mask + 1});
    if (clearsLowBits)
      info.constancy[axis] =
          std::max(info.constancy[axis], std::min({lhs.contiguity[axis], lhs.divisibility[axis], -*mask}));
    info.contiguity[axis] = run;
    info.divisibility[axis] = std::max(lhs.divisorAt(axis, run), run == 1 ? rhs.divisorAt(axis, 1) : 1);
  }
  info.nonNegative = lhs.nonNegative || rhs.nonNegative;
  return info;
}

/// Results that are one of the operands, or whose low bits are zero where those of both operands are.
AxisInfo commonDivisor(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  AxisInfo info = repeatedWhereOperandsAre(type, {&lhs, &rhs});
  for (unsigned axis = 0; axis < info.rank(); ++axis)
    info.divisibility[axis] = std::min(lhs.divisorAt(axis, 1), rhs.divisorAt(axis, 1));
  info.nonNegative = lhs.nonNegative && rhs.nonNegative;
  return info;
}

AxisInfo signedMaximum(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  AxisInfo info = commonDivisor(type, lhs, rhs);
  info.nonNegative = lhs.nonNegative || rhs.nonNegative;
  return info;
}

/// x < n and x >= n change only where a multiple of the block's length is; the other comparisons one later.
AxisInfo comparison(arith::CmpIOp op, const AxisInfo &lhs, const AxisInfo &rhs) {
  using arith::CmpIPredicate;
  AxisInfo info = repeatedWhereOperandsAre(op.getType(), {&lhs, &rhs});
  CmpIPredicate predicate = op.getPredicate();
  auto isOneOf = [&](auto... candidates) { return ((predicate == candidates) || ...); };
  bool left = isOneOf(CmpIPredicate::slt, CmpIPredicate::ult, CmpIPredicate::sge, CmpIPredicate::uge);
  bool right = isOneOf(CmpIPredicate::sgt, CmpIPredicate::ugt, CmpIPredicate::sle, CmpIPredicate::ule);
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    if (left)
      info.constancy[axis] = std::max(info.constancy[axis], alignedBlock(lhs, rhs, axis));
    if (right)
      info.constancy[axis] = std::max(info.constancy[axis], alignedBlock(rhs, lhs, axis));
  }
  return info;
}

AxisInfo selection(arith::SelectOp op, Operands operands) {
  const AxisInfo &condition = *operands[0], &lhs = *operands[1], &rhs = *operands[2];
  AxisInfo info = repeatedWhereOperandsAre(op.getType(), operands);
  // One condition decides for all elements.
  bool uniform = !isa<RankedTensorType>(op.getCondition().getType());
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    int64_t run = std::min(lhs.contiguity[axis], rhs.contiguity[axis]);
    int64_t repeats = std::min(lhs.constancy[axis], rhs.constancy[axis]);
    if (!uniform)
      run = std::min(run, condition.constancy[axis]);
    info.contiguity[axis] = run;
    info.constancy[axis] = uniform ? repeats : std::min(repeats, condition.constancy[axis]);
    info.divisibility[axis] = std::min(lhs.divisorAt(axis, run), rhs.divisorAt(axis, run));
  }
  if (lhs.constant && lhs.constant == rhs.constant)
    info.constant = lhs.constant;
  info.nonNegative = lhs.nonNegative && rhs.nonNegative;
  return info;
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

AxisInfo extension(Type from, Type type, const AxisInfo &src, bool isSigned) {
  bool fromBool = bitsOf(from) == 1; // a signed `true` is -1
  if (src.constant && (isSigned ? !fromBool : *src.constant >= 0))
    return AxisInfo::ofConstant(type, *src.constant);
  AxisInfo info = src;
  info.constant = std::nullopt;
  info.nonNegative = !isSigned || (src.nonNegative && !fromBool);
  return info;
}

AxisInfo truncation(Type type, const AxisInfo &src) {
  if (src.constant && bitsOf(type) > 1)
    return AxisInfo::ofConstant(type, wrap(type, *src.constant));
  AxisInfo info = src;
  info.constant = std::nullopt;
  info.nonNegative = false;
  // Narrow types wrap around often: only runs that start at their own multiples are safe.
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    int64_t run =
        std::min({src.contiguity[axis], src.divisibility[axis], int64_t(1) << std::min(62u, bitsOf(type))});
    if (bitsOf(type) < 32) {
      info.divisibility[axis] = src.divisorAt(axis, run);
      info.contiguity[axis] = run;
    }
  }
  return info;
}

/// Casts that keep the bits but may change how far apart the values of a run are.
AxisInfo reinterpretation(Type type, const AxisInfo &src) {
  AxisInfo info = AxisInfo::unknown(type);
  info.constancy = src.constancy;
  for (unsigned axis = 0; axis < info.rank(); ++axis) {
    int64_t run = info.unit == src.unit ? src.contiguity[axis] : 1;
    info.contiguity[axis] = run;
    info.divisibility[axis] = src.divisorAt(axis, run);
  }
  return info;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

AxisInfo range(tt::MakeRangeOp op) {
  AxisInfo info = AxisInfo::unknown(op.getType());
  int64_t start = static_cast<int32_t>(op.getStart());
  info.contiguity[0] = cast<RankedTensorType>(op.getType()).getDimSize(0);
  info.divisibility = AxisInfo::ofConstant(op.getType(), start).divisibility;
  info.nonNegative = start >= 0;
  return info;
}

AxisInfo splat(Type type, const AxisInfo &src) {
  AxisInfo info = AxisInfo::ofConstant(type, src.constant.value_or(1));
  info.divisibility.assign(info.rank(), src.divisibility[0]);
  info.constant = src.constant;
  info.nonNegative = src.nonNegative;
  return info;
}

AxisInfo expansion(tt::ExpandDimsOp op, const AxisInfo &src) {
  AxisInfo info = src;
  unsigned axis = op.getAxis();
  info.contiguity.insert(info.contiguity.begin() + axis, 1);
  info.constancy.insert(info.constancy.begin() + axis, 1);
  info.divisibility.insert(info.divisibility.begin() + axis, src.divisorOfAll());
  return info;
}

AxisInfo broadcast(tt::BroadcastOp op, const AxisInfo &src) {
  AxisInfo info = src;
  auto from = cast<RankedTensorType>(op.getSrc().getType()).getShape();
  auto to = cast<RankedTensorType>(op.getType()).getShape();
  for (unsigned axis = 0; axis < info.rank(); ++axis)
    if (from[axis] != to[axis])
      info.constancy[axis] = to[axis];
  return info;
}

AxisInfo transposition(tt::TransOp op, const AxisInfo &src) {
  AxisInfo info = src;
  for (auto [axis, from] : llvm::enumerate(op.getOrder())) {
    info.contiguity[axis] = src.contiguity[from];
    info.divisibility[axis] = src.divisibility[from];
    info.constancy[axis] = src.constancy[from];
  }
  return info;
}

/// How many elements, counted in row-major order over the last axes, are equal.
int64_t flatConstancy(ArrayRef<int64_t> shape, const AxisInfo &src) {
  int64_t run = 1;
  for (unsigned axis = shape.size(); axis-- > 0;) {
    run *= src.constancy[axis];
    if (src.constancy[axis] != shape[axis])
      break;
  }
  return run;
}

/// The last axis with more than one element, or the last.
unsigned fastestAxis(ArrayRef<int64_t> shape) {
  for (unsigned axis = shape.size(); axis-- > 0;)
    if (shape[axis] != 1)
      return axis;
  return shape.size() - 1;
}

AxisInfo reshape(tt::ReshapeOp op, const AxisInfo &src) {
  auto from = cast<RankedTensorType>(op.getSrc().getType()).getShape();
  auto to = cast<RankedTensorType>(op.getType()).getShape();
  AxisInfo info = AxisInfo::unknown(op.getType());
  info.nonNegative = src.nonNegative;
  info.constant = src.constant;
  info.divisibility.assign(info.rank(), src.divisorOfAll());
  if (op.getAllowReorder() && !src.constant)
    return info;
  int64_t repeats = flatConstancy(from, src);
  for (unsigned axis = to.size(); axis-- > 0;) {
    info.constancy[axis] = std::min(repeats, to[axis]);
    repeats = std::max<int64_t>(1, repeats / to[axis]);
    if (info.constancy[axis] != to[axis])
      repeats = 1;
  }
  unsigned source = fastestAxis(from), target = fastestAxis(to);
  int64_t run = std::min(src.contiguity[source], to[target]);
  info.contiguity[target] = run;
  info.divisibility[target] = src.divisorAt(source, run);
  return info;
}

/// Concatenation and joining: along old axes both sides' facts hold, a new one has none.
AxisInfo both(Type type, const AxisInfo &lhs, const AxisInfo &rhs) {
  AxisInfo info = AxisInfo::join(lhs, rhs);
  info.constant = std::nullopt;
  if (static_cast<size_t>(cast<RankedTensorType>(type).getRank()) > info.rank()) {
    info.contiguity.push_back(1);
    info.constancy.push_back(1);
    info.divisibility.push_back(std::min(lhs.divisorOfAll(), rhs.divisorOfAll()));
  }
  return info;
}

AxisInfo splitHalf(const AxisInfo &src) {
  AxisInfo info = src;
  // What divides everything divides the halves, along any axis.
  int64_t divisor = src.divisorOfAll();
  info.contiguity.pop_back();
  info.constancy.pop_back();
  info.divisibility.pop_back();
  for (int64_t &figure : info.divisibility)
    figure = std::max(figure, divisor);
  return info;
}

AxisInfo unsplat(Type type, const AxisInfo &src) {
  AxisInfo info = AxisInfo::unknown(type);
  info.divisibility[0] = src.divisorOfAll();
  info.constant = src.constant;
  info.nonNegative = src.nonNegative;
  return info;
}

AxisInfo constant(arith::ConstantOp op) {
  Attribute value = op.getValue();
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (dense && dense.isSplat())
    value = dense.getSplatValue<Attribute>();
  if (auto integer = dyn_cast<IntegerAttr>(value); integer && integer.getValue().getBitWidth() <= 64) {
    // `true` is 1, not -1.
    bool isBool = integer.getValue().getBitWidth() == 1;
    return AxisInfo::ofConstant(op.getType(), isBool ? integer.getValue().getZExtValue()
                                                     : integer.getValue().getSExtValue());
  }
  AxisInfo info = AxisInfo::unknown(op.getType());
  if (dense && dense.isSplat())
    info.constancy = AxisInfo::ofConstant(op.getType(), 1).constancy;
  return info;
}

AxisInfo nonNegativeScalar(Type type) {
  AxisInfo info = AxisInfo::unknown(type);
  info.nonNegative = true;
  return info;
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

AxisInfo fromRules(OpResult result, Operands in) {
  Type type = result.getType();
  auto otherwise = [&](Operation *op) {
    bool elementwise = op->hasTrait<OpTrait::Elementwise>() && isPure(op);
    return elementwise ? repeatedWhereOperandsAre(type, in) : AxisInfo::unknown(type);
  };
  return llvm::TypeSwitch<Operation *, AxisInfo>(result.getOwner())
      .Case([&](arith::ConstantOp op) { return constant(op); })
      .Case([&](tt::MakeRangeOp op) { return range(op); })
      .Case<tt::GetProgramIdOp, tt::GetNumProgramsOp>([&](auto) { return nonNegativeScalar(type); })
      .Case([&](arith::AddIOp) { return sum(type, *in[0], *in[1], false, 1); })
      .Case([&](arith::SubIOp) { return sum(type, *in[0], *in[1], true, 1); })
      .Case([&](tt::AddPtrOp) { return sum(type, *in[0], *in[1], false, in[0]->unit); })
      .Case([&](arith::MulIOp) { return product(type, *in[0], *in[1]); })
      .Case([&](arith::DivSIOp) { return quotient(type, *in[0], *in[1], true); })
      .Case([&](arith::DivUIOp) { return quotient(type, *in[0], *in[1], false); })
      .Case([&](arith::RemSIOp) { return remainder(type, *in[0], *in[1], true); })
      .Case([&](arith::RemUIOp) { return remainder(type, *in[0], *in[1], false); })
      .Case([&](arith::ShLIOp) { return shiftLeft(type, *in[0], *in[1]); })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { return shiftRight(type, *in[0], *in[1]); })
      .Case([&](arith::AndIOp) { return bitAnd(type, *in[0], *in[1]); })
      .Case<arith::OrIOp, arith::XOrIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](auto) { return commonDivisor(type, *in[0], *in[1]); })
      .Case([&](arith::MaxSIOp) { return signedMaximum(type, *in[0], *in[1]); })
      .Case([&](arith::CmpIOp op) { return comparison(op, *in[0], *in[1]); })
      .Case([&](arith::SelectOp op) { return selection(op, in); })
      .Case([&](arith::ExtSIOp op) { return extension(op.getIn().getType(), type, *in[0], true); })
      .Case([&](arith::ExtUIOp op) { return extension(op.getIn().getType(), type, *in[0], false); })
      .Case([&](arith::TruncIOp) { return truncation(type, *in[0]); })
      .Case<tt::BitcastOp, tt::IntToPtrOp, tt::PtrToIntOp>(
          [&](auto) { return reinterpretation(type, *in[0]); })
      .Case([&](tt::SplatOp) { return splat(type, *in[0]); })
      .Case([&](tt::UnsplatOp) { return unsplat(type, *in[0]); })
      .Case([&](tt::ExpandDimsOp op) { return expansion(op, *in[0]); })
      .Case([&](tt::BroadcastOp op) { return broadcast(op, *in[0]); })
      .Case([&](tt::ReshapeOp op) { return reshape(op, *in[0]); })
      .Case([&](tt::TransOp op) { return transposition(op, *in[0]); })
      .Case<tt::CatOp, tt::JoinOp>([&](auto) { return both(type, *in[0], *in[1]); })
      .Case([&](tt::SplitOp) { return splitHalf(*in[0]); })
      .Case([&](ttg::ConvertLayoutOp) { return *in[0]; })
      .Default(otherwise);
}

/// Values of a hint, one per axis; a value that is no power of two vouches for the largest one dividing it.
void applyHint(Operation *op, StringRef name, AxisInfo::Figures &figures) {
  auto raise = [&](unsigned axis, int64_t value) {
    if (value > 0)
      figures[axis] = std::max(figures[axis], int64_t(1) << llvm::countr_zero(static_cast<uint64_t>(value)));
  };
  Attribute hint = op->getDiscardableAttr(name);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(hint)) {
    raise(0, integer.getInt());
  } else if (auto values = dyn_cast_or_null<DenseIntElementsAttr>(hint)) {
    for (auto [axis, value] : llvm::enumerate(values.getValues<APInt>()))
      if (axis < figures.size())
        raise(axis, value.getSExtValue());
  }
}

} // namespace

AxisInfo despina::axisInfoOfResult(OpResult result, ArrayRef<const AxisInfo *> operands) {
  AxisInfo info = fromRules(result, operands);
  Operation *op = result.getOwner();
  if (op->getDiscardableAttrs().empty())
    return info;
  applyHint(op, "tt.contiguity", info.contiguity);
  applyHint(op, "tt.divisibility", info.divisibility);
  applyHint(op, "tt.constancy", info.constancy);
  // A run never leaves the tile, whatever a hint says.
  if (auto tile = dyn_cast<RankedTensorType>(result.getType()))
    for (unsigned axis = 0; axis < info.rank(); ++axis) {
      info.contiguity[axis] = std::min(info.contiguity[axis], tile.getDimSize(axis));
      info.constancy[axis] = std::min(info.constancy[axis], tile.getDimSize(axis));
    }
  else
    info.contiguity = info.constancy = {1};
  return info;
}
