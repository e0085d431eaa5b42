//===- BuiltinsMath.cpp - Element-wise functions --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "Promotion.h"

#include "llvm/ADT/STLExtras.h"

namespace despina {

using ast::BinaryOperator;

Value widenBF16(Semantic &semantic, const Value &x) {
  return x.type().scalarKind() == ScalarKind::BF16 ? semantic.cast(x, ScalarKind::FP32) : x;
}

Value minimumOrMaximum(Semantic &semantic, Value x, Value y, bool isMax, bool propagateNan) {
  x = semantic.toTensor(x);
  y = x ? semantic.toTensor(y) : Value();
  if (!y)
    return Value();
  x = widenBF16(semantic, x);
  y = widenBF16(semantic, y);
  if (!semantic.promote(x, y, {}))
    return Value();
  using enum BinaryKind;
  const Type &type = x.type();
  BinaryKind kind = type.isFloating()
                        ? (propagateNan ? (isMax ? MaximumF : MinimumF) : (isMax ? MaxNumF : MinNumF))
                    : type.isSigned() ? (isMax ? MaxSI : MinSI)
                                      : (isMax ? MaxUI : MinUI);
  return Value::tensor(type, semantic.builder().binary(kind, x.handle(), y.handle()));
}

namespace {

using Kinds = std::initializer_list<ScalarKind>;

/// `Expected dtype ['fp32', 'fp64'] but got fp16`.
bool checkDtype(Semantic &semantic, const Value &x, Kinds allowed) {
  Type scalar = x.type().scalar();
  if (!scalar.isPointer() && llvm::is_contained(allowed, scalar.scalarKind()))
    return true;
  std::string list;
  for (ScalarKind kind : allowed)
    list += (list.empty() ? "'" : ", '") + std::string(scalarInfo(kind).name) + "'";
  semantic.error(ErrorKind::Value, "Expected dtype [" + list + "] but got " + scalar.str(),
                 scalar.isFloating() ? "convert the operand first: x.to(tl.float32)" : "");
  return false;
}

template <UnaryKind Kind> Value floatUnary(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  bool supported =
      x && (Kind == UnaryKind::PreciseSqrt ? checkDtype(semantic, x, {ScalarKind::FP32})
                                           : checkDtype(semantic, x, {ScalarKind::FP32, ScalarKind::FP64}));
  return supported ? semantic.unary(Kind, x) : Value();
}

Value abs(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  if (!x)
    return Value();
  if (x.type().scalar().isPointer())
    return semantic.error(ErrorKind::Assertion, "Unexpected dtype " + x.type().scalar().str());
  if (x.type().isFloating())
    return semantic.unary(UnaryKind::AbsF, x);
  return x.type().isSigned() ? semantic.unary(UnaryKind::AbsI, x) : x;
}

template <BinaryOperator Op> Value arithmetic(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<bool> sanitize = constantBool(semantic, args[2], "sanitize_overflow");
  if (!sanitize)
    return Value();
  if (args[0].isConstant() && args[1].isConstant())
    return semantic.binaryOperator(Op, args[0], args[1]);
  const LanguageTarget &target = semantic.target();
  return semantic.arithmetic(Op, args[0], args[1], *sanitize && target.sanitizeOverflow && target.debug);
}

Value floatDivision(Semantic &semantic, Value x, Value y, BinaryKind kind) {
  return Value::tensor(x.type(), semantic.builder().binary(kind, x.handle(), y.handle()));
}

Value fdiv(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  Value y = x ? semantic.toTensor(args[1]) : Value();
  std::optional<bool> ieee = y ? constantBool(semantic, args[2], "ieee_rounding") : std::nullopt;
  if (!ieee)
    return Value();
  if (!x.type().isFloating() || !y.type().isFloating())
    return semantic.error(ErrorKind::Type, "both operands of fdiv must have floating scalar type");
  if (!semantic.promote(x, y, {.divOrMod = true}))
    return Value();
  return floatDivision(semantic, x, y, *ieee ? BinaryKind::PreciseDivF : BinaryKind::DivF);
}

Value divRn(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  Value y = x ? semantic.toTensor(args[1]) : Value();
  if (!y || !checkDtype(semantic, x, {ScalarKind::FP32}) || !checkDtype(semantic, y, {ScalarKind::FP32}) ||
      !semantic.promote(x, y, {}))
    return Value();
  return floatDivision(semantic, x, y, BinaryKind::PreciseDivF);
}

Value where(Semantic &semantic, const BuiltinArgs &args) {
  Value condition = semantic.toTensor(args[0]);
  if (!condition)
    return Value();
  if (!condition.type().isInt1()) {
    semantic.warn(
        "tl.where with a non-boolean condition is deprecated and will error out in a future triton release. "
        "Got " +
        condition.type().scalar().str());
    condition = semantic.cast(condition, ScalarKind::Int1);
  }
  Value x = args[1], y = args[2];
  if (!condition || !semantic.promote(x, y, {.allowLhsPointer = true, .allowRhsPointer = true}))
    return Value();
  if (x.type().scalar() != y.type().scalar())
    return semantic.error(ErrorKind::Type, "invalid operands of type " + typeRepr(x.type().scalar()) +
                                               " and " + typeRepr(y.type().scalar()));
  // A scalar condition selects whole tensors, so it is splat; block operands meet pairwise.
  if (!semantic.broadcastPair(condition, x) || !semantic.broadcastPair(condition, y) ||
      !semantic.broadcastPair(x, y))
    return Value();
  return Value::tensor(x.type(), semantic.builder().select(condition.handle(), x.handle(), y.handle()));
}

std::optional<bool> propagateNan(Semantic &semantic, const Value &value) {
  if (value.isTuple() && value.tuple().typeName == "PropagateNan")
    return value.tuple().elements.front().constant().string() == "ALL";
  semantic.error(ErrorKind::Value,
                 "propagate_nan must be tl.PropagateNan.NONE or tl.PropagateNan.ALL, got " + value.str());
  return std::nullopt;
}

template <bool IsMax> Value minMax(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<bool> propagate = propagateNan(semantic, args[2]);
  return propagate ? minimumOrMaximum(semantic, args[0], args[1], IsMax, *propagate) : Value();
}

Value clamp(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<bool> propagate = propagateNan(semantic, args[3]);
  if (!propagate)
    return Value();
  Value x[3];
  for (unsigned i = 0; i < 3; ++i) {
    x[i] = semantic.toTensor(args[i]);
    if (!x[i])
      return Value();
    x[i] = widenBF16(semantic, x[i]);
  }
  if (!semantic.promote(x[1], x[2], {}) || !semantic.promote(x[0], x[1], {}) ||
      !semantic.promote(x[0], x[2], {}) || !semantic.promote(x[0], x[1], {}))
    return Value();
  if (!x[0].type().isFloating())
    return semantic.error(ErrorKind::Type, "Unexpected dtype " + x[0].type().scalar().str() +
                                               ". Only floating point clamp is supported");
  return Value::tensor(x[0].type(),
                       semantic.builder().clamp(x[0].handle(), x[1].handle(), x[2].handle(), *propagate));
}

Value fma(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  Value y = x ? semantic.toTensor(args[1]) : Value();
  Value z = y ? semantic.toTensor(args[2]) : Value();
  if (!z || !semantic.promote(x, y, {}) || !semantic.promote(x, z, {}) || !semantic.promote(z, y, {}) ||
      !semantic.promote(x, y, {}))
    return Value();
  if (!x.type().isFloating())
    return semantic.error(ErrorKind::Type, "Unexpected dtype " + x.type().scalar().str() +
                                               ". Only floating point fma is supported");
  return Value::tensor(x.type(), semantic.builder().fma(x.handle(), y.handle(), z.handle()));
}

Value umulhi(Semantic &semantic, const BuiltinArgs &args) {
  Kinds allowed = {ScalarKind::Int32, ScalarKind::Int64, ScalarKind::UInt32, ScalarKind::UInt64};
  Value x = semantic.toTensor(args[0]);
  Value y = x ? semantic.toTensor(args[1]) : Value();
  if (!y || !checkDtype(semantic, x, allowed) || !checkDtype(semantic, y, allowed) ||
      !semantic.promote(x, y, {}))
    return Value();
  return Value::tensor(x.type(), semantic.builder().binary(BinaryKind::MulHiUI, x.handle(), y.handle()));
}

Value cdiv(Semantic &semantic, const BuiltinArgs &args) {
  // (x + (y - 1)) // y, in Python's arithmetic when both are constants.
  Value less = semantic.binaryOperator(BinaryOperator::Sub, args[1], Value::constant(1));
  Value sum = less ? semantic.binaryOperator(BinaryOperator::Add, args[0], less) : Value();
  return sum ? semantic.binaryOperator(BinaryOperator::FloorDiv, sum, args[1]) : Value();
}

Value nextPowerOfTwo(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<int64_t> n = constantInt(semantic, args[0], "n");
  if (!n)
    return Value();
  if (*n <= 0)
    return Value::constant(0);
  int64_t power = 1;
  while (power < *n && power < (int64_t(1) << 62))
    power *= 2;
  return power < *n ? semantic.error(ErrorKind::Overflow, "next_power_of_2 exceeds 63 bits")
                    : Value::constant(power);
}

constexpr ParamDef xParams[] = {{"x"}};
constexpr ParamDef xyParams[] = {{"x"}, {"y"}};
constexpr ParamDef nParams[] = {{"n"}};
constexpr ParamDef arithmeticParams[] = {{"x"}, {"y"}, {"sanitize_overflow", "True"}};
constexpr ParamDef fdivParams[] = {{"x"}, {"y"}, {"ieee_rounding", "False"}};
constexpr ParamDef whereParams[] = {{"condition"}, {"x"}, {"y"}};
constexpr ParamDef minMaxParams[] = {{"x"}, {"y"}, {"propagate_nan", "PropagateNan.NONE"}};
constexpr ParamDef clampParams[] = {{"x"}, {"min"}, {"max"}, {"propagate_nan", "PropagateNan.NONE"}};
constexpr ParamDef fmaParams[] = {{"x"}, {"y"}, {"z"}};

const BuiltinDef table[] = {
    {"language.abs", xParams, "Absolute value.", abs, true},
    {"language.add", arithmeticParams, "x + y.", arithmetic<BinaryOperator::Add>},
    {"language.sub", arithmeticParams, "x - y.", arithmetic<BinaryOperator::Sub>},
    {"language.mul", arithmeticParams, "x * y.", arithmetic<BinaryOperator::Mult>},
    {"language.fdiv", fdivParams, "x / y of floats; approximate unless `ieee_rounding`.", fdiv},
    {"language.div_rn", xyParams, "x / y of fp32, rounded to nearest even.", divRn},
    {"language.where", whereParams, "x where `condition` holds, y elsewhere; both are always evaluated.",
     where, false, false, /*subject=*/1},
    {"language.minimum", minMaxParams, "Element-wise minimum.", minMax<false>},
    {"language.maximum", minMaxParams, "Element-wise maximum.", minMax<true>},
    {"language.clamp", clampParams, "x limited to the range from `min` to `max`.", clamp},
    {"language.exp", xParams, "Exponential (fp32, fp64).", floatUnary<UnaryKind::Exp>, true},
    {"language.exp2", xParams, "Power of two (fp32, fp64).", floatUnary<UnaryKind::Exp2>, true},
    {"language.log", xParams, "Natural logarithm (fp32, fp64).", floatUnary<UnaryKind::Log>, true},
    {"language.log2", xParams, "Base-2 logarithm (fp32, fp64).", floatUnary<UnaryKind::Log2>, true},
    {"language.sin", xParams, "Sine (fp32, fp64).", floatUnary<UnaryKind::Sin>, true},
    {"language.cos", xParams, "Cosine (fp32, fp64).", floatUnary<UnaryKind::Cos>, true},
    {"language.sqrt", xParams, "Square root (fp32, fp64).", floatUnary<UnaryKind::Sqrt>, true},
    {"language.sqrt_rn", xParams, "Square root of fp32, rounded to nearest even.",
     floatUnary<UnaryKind::PreciseSqrt>, true},
    {"language.rsqrt", xParams, "Reciprocal square root (fp32, fp64).", floatUnary<UnaryKind::Rsqrt>, true},
    {"language.erf", xParams, "Error function (fp32, fp64).", floatUnary<UnaryKind::Erf>, true},
    {"language.floor", xParams, "Largest integer not above x (fp32, fp64).", floatUnary<UnaryKind::Floor>,
     true},
    {"language.ceil", xParams, "Smallest integer not below x (fp32, fp64).", floatUnary<UnaryKind::Ceil>,
     true},
    {"language.fma", fmaParams, "x * y + z with one rounding.", fma},
    {"language.umulhi", xyParams, "Upper half of the unsigned product.", umulhi},
    {"language.cdiv", xyParams, "x / y rounded up.", cdiv, true},
    {"cdiv", xyParams, "x / y rounded up.", cdiv},
    {"next_power_of_2", nParams, "The smallest power of two that is at least n.", nextPowerOfTwo},
};

} // namespace

llvm::ArrayRef<BuiltinDef> mathBuiltins() { return table; }

} // namespace despina
