//===- Promotion.cpp - Which type an operation computes in ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Promotion.h"

#include <cfloat>
#include <cmath>

namespace despina {

using llvm::DynamicAPInt;

namespace {

/// Order of kinds for weak operands: BOOLEAN < INTEGRAL < FLOATING.
int kindRank(const Type &type) { return type.isFloating() ? 2 : type.isInt1() ? 0 : 1; }

bool isHalf(ScalarKind kind) { return kind == ScalarKind::FP16 || kind == ScalarKind::BF16; }

DynamicAPInt powerOfTwo(unsigned exponent) {
  return DynamicAPInt(llvm::APInt::getOneBitSet(exponent + 2, exponent));
}

} // namespace

DynamicAPInt minInteger(ScalarKind kind) {
  Type type(kind);
  return type.isSigned() ? -powerOfTwo(type.bits() - 1) : DynamicAPInt(0);
}

DynamicAPInt maxInteger(ScalarKind kind) {
  Type type(kind);
  return powerOfTwo(type.isSigned() ? type.bits() - 1 : type.bits()) - DynamicAPInt(1);
}

std::string typeRepr(const Type &type) {
  return type.kind() == Type::Kind::Scalar
             ? std::string("triton.language.") + scalarInfo(type.scalarKind()).publicName
             : type.str();
}

std::optional<ScalarKind> literalKind(const Constant &literal) {
  if (literal.isBool())
    return ScalarKind::Int1;
  if (literal.isInt()) {
    DynamicAPInt value = literal.integer();
    for (ScalarKind kind : {ScalarKind::Int32, ScalarKind::UInt32, ScalarKind::Int64, ScalarKind::UInt64})
      if (minInteger(kind) <= value && value <= maxInteger(kind))
        return kind;
    return std::nullopt;
  }
  if (!literal.isFloat())
    return std::nullopt;
  double magnitude = std::fabs(literal.real());
  bool isSpecial = magnitude == 0 || std::isinf(magnitude) || std::isnan(magnitude);
  return isSpecial || (magnitude >= FLT_MIN && magnitude <= FLT_MAX) ? ScalarKind::FP32 : ScalarKind::FP64;
}

ScalarKind promoteIntegerKinds(ScalarKind lhs, ScalarKind rhs) {
  Type a(lhs), b(rhs);
  if (a.isSigned() == b.isSigned())
    return a.bits() > b.bits() ? lhs : rhs;
  ScalarKind signedKind = a.isSigned() ? lhs : rhs, unsignedKind = a.isSigned() ? rhs : lhs;
  return Type(unsignedKind).bits() >= Type(signedKind).bits() ? unsignedKind : signedKind;
}

std::variant<ScalarKind, PyError> promoteKinds(PromotionOperand lhs, PromotionOperand rhs, bool divOrMod) {
  Type a(lhs.kind), b(rhs.kind);
  if (lhs.weak != rhs.weak) {
    ScalarKind strong = lhs.weak ? rhs.kind : lhs.kind;
    int weakRank = kindRank(lhs.weak ? a : b), strongRank = kindRank(lhs.weak ? b : a);
    if (weakRank <= strongRank)
      return divOrMod && isHalf(strong) ? ScalarKind::FP32 : strong;
  }
  auto either = [&](ScalarKind kind) { return lhs.kind == kind || rhs.kind == kind; };
  if (either(ScalarKind::FP64))
    return ScalarKind::FP64;
  if (either(ScalarKind::FP32))
    return ScalarKind::FP32;
  if (either(ScalarKind::FP16))
    return divOrMod ? ScalarKind::FP32 : ScalarKind::FP16;
  if (either(ScalarKind::BF16))
    return lhs.kind == rhs.kind && !divOrMod ? ScalarKind::BF16 : ScalarKind::FP32;
  if (a.isFP8() && b.isFP8())
    return lhs.kind == rhs.kind ? lhs.kind : ScalarKind::FP16;
  if (!a.isInt() || !b.isInt())
    return PyError{ErrorKind::Type, "unexpected type " + a.str() + " and " + b.str()};
  if (divOrMod && a.isSigned() != b.isSigned())
    return PyError{ErrorKind::Type,
                   "Cannot use /, #, or % with " + a.str() + " and " + b.str() +
                       " because they have different signedness;this is unlikely to result in a "
                       "useful answer. Cast them to the same signedness."};
  return promoteIntegerKinds(lhs.kind, rhs.kind);
}

} // namespace despina
