//===- Promotion.h - Which type an operation computes in --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.3, on types alone.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_PROMOTION_H
#define DESPINA_LIB_LANG_PROMOTION_H

#include "PyNumber.h"

namespace despina {

/// The type of a literal on its own; none for an integer that no type holds. Numbers only.
std::optional<ScalarKind> literalKind(const Constant &literal);

/// C's rules for two integers.
ScalarKind promoteIntegerKinds(ScalarKind lhs, ScalarKind rhs);

/// One operand: its scalar type, and whether it is a Python number (then the type is the literal's own).
struct PromotionOperand {
  ScalarKind kind;
  bool weak = false;
};
std::variant<ScalarKind, PyError> promoteKinds(PromotionOperand lhs, PromotionOperand rhs, bool divOrMod);

/// Smallest and largest value of an integer type.
llvm::DynamicAPInt minInteger(ScalarKind kind);
llvm::DynamicAPInt maxInteger(ScalarKind kind);

/// `repr` of a type in the language: "triton.language.float32", "pointer<fp32>".
std::string typeRepr(const Type &type);

} // namespace despina

#endif // DESPINA_LIB_LANG_PROMOTION_H
