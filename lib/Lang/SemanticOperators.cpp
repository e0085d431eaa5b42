//===- SemanticOperators.cpp - Operators of the language ------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Promotion.h"
#include "despina/Lang/Semantic.h"
#include "despina/Lang/SymbolResolver.h"

#include "llvm/ADT/STLExtras.h"

namespace despina {

using ast::BinaryOperator;
using ast::CompareOperator;
using ast::UnaryOperator;

namespace {

bool isNumber(const Value &value) { return value.isConstant() && value.constant().isNumber(); }

std::string incompatible(const Type &lhs, const Type &rhs) {
  return "invalid operands of type " + typeRepr(lhs) + " and " + typeRepr(rhs);
}

/// Python's special method of an operator, as AttributeErrors name it.
const char *specialMethod(BinaryOperator op) {
  static const char *const names[] = {"__add__", "__sub__", "__mul__",    "__truediv__", "__floordiv__",
                                      "__mod__", "__pow__", "__lshift__", "__rshift__",  "__and__",
                                      "__or__",  "__xor__", "__matmul__"};
  return names[static_cast<size_t>(op)];
}

/// The operator's word in the overflow message.
const char *operationName(BinaryOperator op) {
  return op == BinaryOperator::Add ? "add" : op == BinaryOperator::Sub ? "sub" : "mul";
}

BinaryKind arithmeticKind(BinaryOperator op, bool isFloat) {
  switch (op) {
  case BinaryOperator::Add: return isFloat ? BinaryKind::AddF : BinaryKind::AddI;
  case BinaryOperator::Sub: return isFloat ? BinaryKind::SubF : BinaryKind::SubI;
  default: return isFloat ? BinaryKind::MulF : BinaryKind::MulI;
  }
}

CompareKind compareKind(CompareOperator op, const Type &type) {
  using enum CompareKind;
  static constexpr CompareKind floats[] = {OEQ, UNE, OLT, OLE, OGT, OGE};
  static constexpr CompareKind signeds[] = {EQ, NE, SLT, SLE, SGT, SGE};
  static constexpr CompareKind unsigneds[] = {EQ, NE, ULT, ULE, UGT, UGE};
  auto index = static_cast<size_t>(op);
  return type.isFloating() ? floats[index] : type.isSigned() ? signeds[index] : unsigneds[index];
}

/// `==` of values that are not numbers; none when the language gives it no meaning.
std::optional<bool> sameValue(const Value &lhs, const Value &rhs) {
  if (lhs.kind() == Value::Kind::Host && lhs.host().resolver)
    return lhs.host().resolver->same(lhs, rhs);
  if (rhs.kind() == Value::Kind::Host && rhs.host().resolver)
    return rhs.host().resolver->same(rhs, lhs);
  if (lhs.isConstant() && rhs.isConstant()) {
    PyResult result = pyCompare(CompareOperator::Eq, lhs.constant(), rhs.constant());
    const auto *constant = std::get_if<Constant>(&result);
    return constant && constant->truthy();
  }
  if (!lhs.isTuple() || !rhs.isTuple())
    return lhs.isTensor() || rhs.isTensor() ? std::nullopt : std::optional(lhs.identical(rhs));
  const auto &a = lhs.tuple().elements, &b = rhs.tuple().elements;
  if (a.size() != b.size())
    return false;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    std::optional<bool> same = sameValue(x, y);
    if (!same || !*same)
      return same;
  }
  return true;
}

} // namespace

//===----------------------------------------------------------------------===//
// Promotion
//===----------------------------------------------------------------------===//

bool Semantic::checkPointers(const Type &lhs, const Type &rhs, bool allowPointer) {
  if (!lhs.isPointer())
    return true;
  if (allowPointer && !(rhs.isPointer() && rhs != lhs) && !rhs.isFloating())
    return true;
  error(ErrorKind::Type, incompatible(lhs, rhs),
        rhs.isFloating()  ? "the offset of a pointer is an integer: convert it with .to(tl.int64)"
        : rhs.isPointer() ? "to compute with addresses, convert the pointers with .to(tl.int64)"
                          : "");
  return false;
}

bool Semantic::promote(Value &lhs, Value &rhs, PromoteOptions options) {
  struct Operand {
    Type type;
    const Constant *literal = nullptr;
  };
  auto describe = [&](Value &value) -> std::optional<Operand> {
    if (!options.weakLiterals || !isNumber(value))
      value = toTensor(value);
    if (!value)
      return std::nullopt;
    if (value.isTensor())
      return Operand{value.type().scalar()};
    if (std::optional<ScalarKind> kind = literalKind(value.constant()))
      return Operand{*kind, &value.constant()};
    error(ErrorKind::Value, "Nonrepresentable integer " + value.constant().str() + ".");
    return std::nullopt;
  };
  const Value originalLhs = lhs, originalRhs = rhs; // keeps the literals alive
  std::optional<Operand> a = describe(lhs);
  std::optional<Operand> b = a ? describe(rhs) : std::nullopt;
  if (!b || !checkPointers(a->type, b->type, options.allowLhsPointer) ||
      !checkPointers(b->type, a->type, options.allowRhsPointer))
    return false;
  if (a->type.isPointer() || b->type.isPointer()) {
    lhs = toTensor(lhs);
    rhs = lhs ? toTensor(rhs) : Value();
    return rhs && broadcastPair(lhs, rhs);
  }
  std::variant<ScalarKind, PyError> result =
      promoteKinds({a->type.scalarKind(), a->literal != nullptr},
                   {b->type.scalarKind(), b->literal != nullptr}, options.divOrMod);
  if (const auto *failure = std::get_if<PyError>(&result)) {
    const bool hasFP8 = a->type.isFP8() || b->type.isFP8();
    error(failure->kind, failure->message, hasFP8 ? "convert the operands to tl.float32 first" : "");
    return false;
  }
  Type common(std::get<ScalarKind>(result));
  auto convert = [&](const Value &value, const Operand &operand, const Value &partner) -> Value {
    if (!operand.literal)
      return cast(value, common);
    if (common.isInt() && operand.literal->isIntLike()) {
      llvm::DynamicAPInt number = operand.literal->integer();
      if (common.isUnsigned() && number < 0)
        return error(ErrorKind::Value,
                     "Cannot perform a binary operation between an unsigned tensor and a negative "
                     "scalar. Perform a explicit cast on one of them.");
      if (number < minInteger(common.scalarKind()) || number > maxInteger(common.scalarKind()))
        return error(ErrorKind::Value,
                     "Scalar " + operand.literal->str() + " is out of range for type " + common.str());
    }
    // A literal beside a block becomes a block at once: one operation instead of two.
    return typedConstant(*operand.literal, partner.isTensor() ? partner.type().withScalar(common) : common);
  };
  Value left = convert(lhs, *a, rhs);
  Value right = left ? convert(rhs, *b, lhs) : Value();
  lhs = left;
  rhs = right;
  return rhs && broadcastPair(lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value Semantic::pointerArithmetic(BinaryOperator op, Value lhs, Value rhs) {
  bool subtract = op == BinaryOperator::Sub;
  if (!subtract && lhs.type().scalar().isPointer() && rhs.type().scalar().isPointer())
    return error(ErrorKind::Type, "cannot add pointers together", "add an offset in elements to one pointer");
  if (!promote(lhs, rhs, {.allowLhsPointer = true, .allowRhsPointer = !subtract}))
    return Value();
  if (!lhs.type().scalar().isPointer())
    std::swap(lhs, rhs);
  // The addition sign-extends its offset, so a narrower unsigned one is widened first.
  if (rhs.type().isUnsigned() && rhs.type().bits() < 64)
    rhs = cast(rhs, ScalarKind::Int64);
  if (subtract) {
    Handle zero = builder_.constantInt(rhs.type(), 0);
    rhs = Value::tensor(rhs.type(), builder_.binary(BinaryKind::SubI, zero, rhs.handle()));
  }
  return Value::tensor(lhs.type(), builder_.addPointer(lhs.handle(), rhs.handle()));
}

Value Semantic::checkedInteger(BinaryOperator op, const Value &lhs, const Value &rhs) {
  const Type &type = lhs.type();
  Value a = cast(lhs, ScalarKind::Int64), b = cast(rhs, ScalarKind::Int64);
  if (!a || !b)
    return Value();
  Value wide = Value::tensor(a.type(), builder_.binary(arithmeticKind(op, false), a.handle(), b.handle()));
  auto bound = [&](const llvm::DynamicAPInt &limit) { return typedConstant(limit, wide.type()); };
  Value low = compare(CompareKind::SGE, wide, bound(minInteger(type.scalarKind())));
  Value high = compare(CompareKind::SLE, wide, bound(maxInteger(type.scalarKind())));
  Handle fits = builder_.binary(BinaryKind::AndI, low.handle(), high.handle());
  builder_.deviceAssert(fits, type.scalar().str() + " overflow detected for operation " + operationName(op));
  return Value::tensor(type, builder_.binary(arithmeticKind(op, false), lhs.handle(), rhs.handle()));
}

Value Semantic::arithmetic(BinaryOperator op, Value lhs, Value rhs, bool sanitizeOverflow) {
  auto isPointer = [](const Value &value) { return value.isTensor() && value.type().scalar().isPointer(); };
  if (op != BinaryOperator::Mult && (isPointer(lhs) || isPointer(rhs))) {
    lhs = toTensor(lhs);
    rhs = lhs ? toTensor(rhs) : Value();
    return rhs ? pointerArithmetic(op, lhs, rhs) : Value();
  }
  if (!promote(lhs, rhs, {}))
    return Value();
  const Type &type = lhs.type();
  if (sanitizeOverflow && type.isInt() && type.bits() < 64 && !type.isInt1())
    return checkedInteger(op, lhs, rhs);
  return Value::tensor(type,
                       builder_.binary(arithmeticKind(op, type.isFloating()), lhs.handle(), rhs.handle()));
}

Value Semantic::divide(Value lhs, Value rhs) {
  if (!promote(lhs, rhs, {.divOrMod = true}))
    return Value();
  if (lhs.type().isInt()) {
    lhs = cast(lhs, ScalarKind::FP32);
    rhs = lhs ? cast(rhs, ScalarKind::FP32) : Value();
    if (!rhs)
      return Value();
  }
  return Value::tensor(lhs.type(), builder_.binary(BinaryKind::DivF, lhs.handle(), rhs.handle()));
}

Value Semantic::integerDivision(BinaryOperator op, Value lhs, Value rhs) {
  bool isModulo = op == BinaryOperator::Mod;
  if (!promote(lhs, rhs, {.divOrMod = true}))
    return Value();
  const Type &type = lhs.type();
  if (type.isFloating() && !isModulo)
    return error(ErrorKind::Type, "unexpected type " + type.scalar().str(),
                 "`//` is for integers; use tl.floor(a / b) for floats");
  BinaryKind kind = type.isFloating() ? BinaryKind::RemF
                    : type.isSigned() ? (isModulo ? BinaryKind::RemSI : BinaryKind::DivSI)
                                      : (isModulo ? BinaryKind::RemUI : BinaryKind::DivUI);
  return Value::tensor(type, builder_.binary(kind, lhs.handle(), rhs.handle()));
}

Value Semantic::bitwise(BinaryOperator op, Value lhs, Value rhs) {
  // The sign of a right shift is the left operand's own, not that of the common type.
  bool arithmeticShift = lhs.isTensor() ? lhs.type().isSigned() : isNumber(lhs) && !lhs.constant().isBool();
  auto scalarOf = [](const Value &value) -> std::optional<Type> {
    if (value.isTensor())
      return value.type().scalar();
    if (isNumber(value))
      if (std::optional<ScalarKind> kind = literalKind(value.constant()))
        return Type(*kind);
    return std::nullopt;
  };
  std::optional<Type> a = scalarOf(lhs), b = scalarOf(rhs);
  if (a && b && (!a->isInt() || !b->isInt()))
    return error(ErrorKind::Type, incompatible(*a, *b));
  if ((op == BinaryOperator::LShift || op == BinaryOperator::RShift) && a && isNumber(rhs) &&
      rhs.constant().integer() >= static_cast<int64_t>(a->bits()))
    warn("Value " + rhs.constant().str() + " exceeds the maximum bitwidth (" + std::to_string(a->bits()) +
         ") for type '" + a->str() + "'. This may result in undefined behavior.");
  if (!promote(lhs, rhs, {}))
    return Value();
  static constexpr BinaryKind kinds[] = {BinaryKind::ShlI, BinaryKind::ShrUI, BinaryKind::AndI,
                                         BinaryKind::OrI, BinaryKind::XorI};
  BinaryKind kind = kinds[static_cast<size_t>(op) - static_cast<size_t>(BinaryOperator::LShift)];
  if (op == BinaryOperator::RShift && arithmeticShift)
    kind = BinaryKind::ShrSI;
  return Value::tensor(lhs.type(), builder_.binary(kind, lhs.handle(), rhs.handle()));
}

Value Semantic::tensorBinary(BinaryOperator op, const Value &lhs, const Value &rhs) {
  switch (op) {
  case BinaryOperator::Add:
  case BinaryOperator::Sub:
  case BinaryOperator::Mult: return arithmetic(op, lhs, rhs, target_.sanitizeOverflow && target_.debug);
  case BinaryOperator::Div: return divide(lhs, rhs);
  case BinaryOperator::FloorDiv:
  case BinaryOperator::Mod: return integerDivision(op, lhs, rhs);
  case BinaryOperator::LShift:
  case BinaryOperator::RShift:
  case BinaryOperator::BitAnd:
  case BinaryOperator::BitOr:
  case BinaryOperator::BitXor: return bitwise(op, lhs, rhs);
  case BinaryOperator::Pow:
    return error(ErrorKind::Attribute,
                 std::string("'tensor' object has no attribute '") + specialMethod(op) + "'",
                 "tensors have no power operator: multiply, or use tl.exp2(y * tl.log2(x))");
  case BinaryOperator::MatMult: break;
  }
  return error(ErrorKind::UnsupportedConstruct,
               "AST binary operator 'MatMult' is not (currently) implemented.", "use tl.dot");
}

Value Semantic::tupleBinary(BinaryOperator op, const Value &lhs, const Value &rhs) {
  if (op == BinaryOperator::Add && lhs.isTuple() && rhs.isTuple()) {
    std::vector<Value> elements = lhs.tuple().elements;
    llvm::append_range(elements, rhs.tuple().elements);
    return Value::tuple(std::move(elements));
  }
  const Value &sequence = lhs.isTuple() ? lhs : rhs, &count = lhs.isTuple() ? rhs : lhs;
  if (op == BinaryOperator::Mult && count.isConstant() && count.constant().isIntLike()) {
    constexpr size_t maxElements = 65536;
    llvm::DynamicAPInt times = count.constant().integer();
    size_t size = sequence.tuple().elements.size();
    if (times > 0 && size && times > static_cast<int64_t>(maxElements / size))
      return error(ErrorKind::Overflow, "repeated tuple is too long");
    std::vector<Value> elements;
    for (int64_t i = 0, n = times > 0 && size ? static_cast<int64_t>(times) : 0; i < n; ++i)
      llvm::append_range(elements, sequence.tuple().elements);
    return Value::tuple(std::move(elements));
  }
  return error(ErrorKind::Type, std::string("unsupported operand type(s) for ") + binarySymbol(op) + ": '" +
                                    lhs.typeName() + "' and '" + rhs.typeName() + "'");
}

Value Semantic::binaryOperator(BinaryOperator op, const Value &lhs, const Value &rhs) {
  if (lhs.isConstant() && rhs.isConstant() && op != BinaryOperator::MatMult) {
    PyResult result = pyBinary(op, lhs.constant(), rhs.constant());
    if (const auto *failure = std::get_if<PyError>(&result))
      return error(failure->kind, failure->message);
    return Value::constant(std::get<Constant>(std::move(result)));
  }
  if (lhs.isTensor() || rhs.isTensor() || op == BinaryOperator::MatMult)
    return tensorBinary(op, lhs, rhs);
  return tupleBinary(op, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Unary operators
//===----------------------------------------------------------------------===//

Value Semantic::unaryOperator(UnaryOperator op, const Value &operand) {
  if (op == UnaryOperator::Not)
    return logicalNot(operand);
  if (operand.isConstant()) {
    PyResult result = pyUnary(op, operand.constant());
    if (const auto *failure = std::get_if<PyError>(&result))
      return error(failure->kind, failure->message);
    return Value::constant(std::get<Constant>(std::move(result)));
  }
  static const char *const methods[] = {"__pos__", "__neg__", "__not__", "__invert__"};
  if (!operand.isTensor())
    return error(ErrorKind::UnsupportedConstruct,
                 std::string("AST unary operator '") + methods[static_cast<size_t>(op)] +
                     "' is not (currently) implemented on type " + operand.typeName());
  const Type &type = operand.type();
  static const char *const words[] = {"plus", "minus", "not", "invert"};
  if (type.scalar().isPointer() || (op == UnaryOperator::Invert && type.isFloating()))
    return error(ErrorKind::Value, std::string("wrong type argument to unary ") +
                                       words[static_cast<size_t>(op)] + " (" + typeRepr(type.scalar()) + ")");
  if (op == UnaryOperator::UAdd)
    return operand;
  if (op == UnaryOperator::USub && type.isFloating())
    return unary(UnaryKind::NegF, operand);
  bool negate = op == UnaryOperator::USub;
  Handle constant = builder_.constantInt(
      type, negate || type.bits() == 64 ? (negate ? 0 : ~uint64_t(0)) : (uint64_t(1) << type.bits()) - 1);
  Handle result = negate ? builder_.binary(BinaryKind::SubI, constant, operand.handle())
                         : builder_.binary(BinaryKind::XorI, operand.handle(), constant);
  return Value::tensor(type, result);
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

Value Semantic::tensorCompare(CompareOperator op, Value lhs, Value rhs) {
  if (!promote(lhs, rhs, {.weakLiterals = false}))
    return Value();
  return compare(compareKind(op, lhs.type()), lhs, rhs);
}

Value Semantic::compareOperator(CompareOperator op, const Value &lhs, const Value &rhs) {
  if (op > CompareOperator::GtE)
    return error(ErrorKind::UnsupportedConstruct, std::string("AST comparison operator '") +
                                                      (op == CompareOperator::In      ? "In"
                                                       : op == CompareOperator::NotIn ? "NotIn"
                                                                                      : "Is") +
                                                      "' is not (currently) implemented.");
  if (lhs.isTensor() || rhs.isTensor())
    return tensorCompare(op, lhs, rhs);
  if (lhs.isConstant() && rhs.isConstant()) {
    PyResult result = pyCompare(op, lhs.constant(), rhs.constant());
    if (const auto *failure = std::get_if<PyError>(&result))
      return error(failure->kind, failure->message);
    return Value::constant(std::get<Constant>(std::move(result)));
  }
  bool isEquality = op == CompareOperator::Eq || op == CompareOperator::NotEq;
  if (std::optional<bool> same = isEquality ? sameValue(lhs, rhs) : std::nullopt)
    return Value::constant(*same == (op == CompareOperator::Eq));
  if (isEquality)
    return error(ErrorKind::Type, "cannot compare tuples of run-time values at compile time");
  return error(ErrorKind::Type, std::string("'") + compareSymbol(op) +
                                    "' not supported between instances of '" + lhs.typeName() + "' and '" +
                                    rhs.typeName() + "'");
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

Value Semantic::logicalAnd(const Value &lhs, const Value &rhs) { return logical(BinaryKind::AndI, lhs, rhs); }
Value Semantic::logicalOr(const Value &lhs, const Value &rhs) { return logical(BinaryKind::OrI, lhs, rhs); }

/// An operand of `and`, `or` and `not`: int1, or a type of as many bits.
Value Semantic::truthValue(const Value &x) {
  const Type scalar = x.type().scalar();
  if (scalar.isInt1())
    return x;
  if (scalar.isPointer())
    return cast(x, ScalarKind::Int1);
  return error(ErrorKind::Value,
               "Cannot bitcast data-type of size " + std::to_string(scalar.bits()) +
                   " to data-type of size 1",
               "`and`, `or` and `not` take truth values: compare first, as in x != 0");
}

Value Semantic::logical(BinaryKind kind, const Value &lhs, const Value &rhs) {
  Value a = toTensor(lhs);
  Value b = a ? toTensor(rhs) : Value();
  if (!b)
    return Value();
  if (a.type().isBlock() || b.type().isBlock())
    warn("Logical operators 'and' and 'or' are deprecated for non-scalar tensors; please use '&' or '|' "
         "instead");
  for (Value *operand : {&a, &b}) {
    *operand = truthValue(*operand);
    if (!*operand)
      return Value();
  }
  if (!broadcastPair(a, b))
    return Value();
  return Value::tensor(a.type(), builder_.binary(kind, a.handle(), b.handle()));
}

Value Semantic::logicalNot(const Value &operand) {
  if (operand.isConstant())
    return Value::constant(!operand.constant().truthy());
  if (operand.isTuple())
    return Value::constant(operand.tuple().elements.empty());
  if (!operand.isTensor())
    return Value::constant(false);
  Value x = truthValue(operand);
  if (!x)
    return Value();
  return Value::tensor(x.type(),
                       builder_.binary(BinaryKind::XorI, x.handle(), builder_.constantInt(x.type(), 1)));
}

} // namespace despina
