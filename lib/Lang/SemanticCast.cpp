//===- SemanticCast.cpp - Conversions between types -----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.4.
//
//===----------------------------------------------------------------------===//
#include "Promotion.h"
#include "despina/Lang/Semantic.h"

namespace despina {

namespace {

std::string cannotCast(const Value &x, const Type &to) {
  return "cannot cast " + x.str() + " to " + to.str();
}

} // namespace

Value Semantic::bitcast(const Value &x, const Type &to) {
  Type from = x.type().scalar();
  if (from.isPointer() || to.isPointer())
    return castPointer(x, to);
  if (from.bits() != to.bits())
    return error(ErrorKind::Value, "Cannot bitcast data-type of size " + std::to_string(from.bits()) +
                                       " to data-type of size " + std::to_string(to.bits()));
  Type result = x.type().withScalar(to);
  // Integers of one width have one representation: only the front end tells them apart.
  if (from.isInt() && to.isInt())
    return Value::tensor(result, x.handle());
  return Value::tensor(result, builder_.cast(CastKind::Bitcast, x.handle(), result));
}

Value Semantic::castPointer(const Value &x, const Type &to) {
  Type from = x.type().scalar(), result = x.type().withScalar(to);
  if (from.isPointer() && to.isPointer())
    return Value::tensor(result, builder_.cast(CastKind::Bitcast, x.handle(), result));
  if (from.isPointer()) {
    if (!to.isInt() || (to.bits() != 64 && !to.isInt1()))
      return error(ErrorKind::Assertion, cannotCast(x, result), "cast the pointer to tl.int64 first");
    Type address = x.type().withScalar(to.isInt1() ? Type(ScalarKind::Int64) : to);
    Value bits = Value::tensor(address, builder_.cast(CastKind::PtrToInt, x.handle(), address));
    return to.isInt1() ? notZero(bits) : bits;
  }
  if (!from.isInt())
    return error(ErrorKind::Assertion, cannotCast(x, result));
  Value address = castInteger(x, ScalarKind::Int64);
  return Value::tensor(result, builder_.cast(CastKind::IntToPtr, address.handle(), result));
}

Value Semantic::castFloat(const Value &x, const Type &to, RoundingKind rounding) {
  Type from = x.type().scalar(), result = x.type().withScalar(to);
  if (from.isFP8() || to.isFP8()) {
    if (!to.isFloating())
      return error(ErrorKind::Assertion, cannotCast(x, result), "cast through tl.float32");
    return Value::tensor(result, builder_.cast(CastKind::FPToFP, x.handle(), result, rounding));
  }
  bool narrows = to.isFloating() && to.bits() < from.bits();
  if (narrows && rounding == RoundingKind::RTZ)
    return Value::tensor(result, builder_.cast(CastKind::FPToFP, x.handle(), result, rounding));
  if (from.bits() == 16 && to != Type(ScalarKind::FP32)) {
    Value wide = castFloat(x, ScalarKind::FP32, RoundingKind::Default);
    return castFloat(wide, to, RoundingKind::Default);
  }
  if (to.isFloating())
    return Value::tensor(result,
                         builder_.cast(narrows ? CastKind::TruncF : CastKind::ExtF, x.handle(), result));
  if (to.isInt1())
    return notZero(x);
  return Value::tensor(
      result, builder_.cast(to.isSigned() ? CastKind::FPToSI : CastKind::FPToUI, x.handle(), result));
}

Value Semantic::castInteger(const Value &x, const Type &to) {
  Type from = x.type().scalar(), result = x.type().withScalar(to);
  if (to.isFP8())
    return error(ErrorKind::Assertion, cannotCast(x, result), "cast through tl.float32");
  if (to.isFloating())
    return Value::tensor(
        result, builder_.cast(from.isSigned() ? CastKind::SIToFP : CastKind::UIToFP, x.handle(), result));
  if (to.isInt1())
    return notZero(x);
  if (from.bits() == to.bits())
    return Value::tensor(result, x.handle());
  CastKind kind = from.bits() > to.bits() ? CastKind::TruncI
                  : from.isSigned()       ? CastKind::ExtSI
                                          : CastKind::ExtUI;
  return Value::tensor(result, builder_.cast(kind, x.handle(), result));
}

Value Semantic::cast(const Value &value, const Type &to, std::optional<llvm::StringRef> rounding,
                     bool asBits) {
  Value x = toTensor(value);
  if (!x)
    return Value();
  Type from = x.type().scalar(), target = to.scalar();
  RoundingKind kind = RoundingKind::Default;
  if (rounding) {
    if (*rounding != "rtne" && *rounding != "rtz")
      return error(ErrorKind::Value, "Invalid rounding mode: " + rounding->str() +
                                         ". Supported rounding modes are 'rtne' and 'rtz'.");
    kind = *rounding == "rtz" ? RoundingKind::RTZ : RoundingKind::RTNE;
  }
  if (target.isTuple() || target.isVoid())
    return error(ErrorKind::Assertion, cannotCast(x, target));
  if (!checkFP8(target))
    return Value();
  if (from == target)
    return x;
  if (asBits)
    return bitcast(x, target).withRange(value.range());
  bool narrows = from.isFloating() && target.isFloating() && target.bits() < from.bits();
  if (rounding && !narrows)
    return error(
        ErrorKind::Value,
        "fp_downcast_rounding should be set only for truncating fp conversions. Source scalar type is " +
            from.str() + " and destination type is " + target.str());
  // The default of a narrowing conversion is round to nearest, ties to even.
  if (narrows && kind == RoundingKind::Default && (from.isFP8() || target.isFP8()))
    kind = RoundingKind::RTNE;
  Value result = from.isPointer() || target.isPointer() ? castPointer(x, target)
                 : from.isFloating()                    ? castFloat(x, target, kind)
                                                        : castInteger(x, target);
  return result.withRange(value.range());
}

} // namespace despina
