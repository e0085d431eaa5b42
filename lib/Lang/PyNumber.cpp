//===- PyNumber.cpp - Python's arithmetic on constants --------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "PyNumber.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>

namespace despina {

using ast::BinaryOperator;
using ast::CompareOperator;
using ast::UnaryOperator;
using llvm::APInt;
using llvm::DynamicAPInt;

namespace {

/// No constant of a kernel is larger; without a limit a short expression could fill the memory.
constexpr unsigned maxBits = 65536;

PyError tooLarge() {
  return {ErrorKind::Overflow, "integer is too large: constants of a kernel have at most 65536 bits"};
}

PyError unsupported(const std::string &symbol, const Constant &lhs, const Constant &rhs) {
  return {ErrorKind::Type, "unsupported operand type(s) for " + symbol + ": '" + lhs.typeName() + "' and '" +
                               rhs.typeName() + "'"};
}

unsigned bitLength(const DynamicAPInt &value) {
  APInt bits = toAPInt(value);
  return bits.isNegative() ? (-bits).getActiveBits() : bits.getActiveBits();
}

PyResult floorDivide(const DynamicAPInt &lhs, const DynamicAPInt &rhs, bool wantRemainder) {
  if (rhs == 0)
    return PyError{ErrorKind::ZeroDivision,
                   wantRemainder ? "integer modulo by zero" : "integer division or modulo by zero"};
  DynamicAPInt quotient = lhs / rhs, remainder = lhs % rhs;
  if (remainder != 0 && (remainder < 0) != (rhs < 0)) {
    quotient -= 1;
    remainder += rhs;
  }
  return Constant(wantRemainder ? remainder : quotient);
}

/// int / int, correctly rounded: the quotient gets at least 64 significant bits and a sticky bit.
PyResult trueDivide(const DynamicAPInt &lhs, const DynamicAPInt &rhs) {
  if (rhs == 0)
    return PyError{ErrorKind::ZeroDivision, "division by zero"};
  if (lhs == 0)
    return Constant(rhs < 0 ? -0.0 : 0.0);
  bool negative = (lhs < 0) != (rhs < 0);
  APInt a = toAPInt(lhs).abs(), b = toAPInt(rhs).abs();
  int shift = 66 - (static_cast<int>(a.getActiveBits()) - static_cast<int>(b.getActiveBits()));
  unsigned width =
      std::max(a.getActiveBits(), b.getActiveBits()) + static_cast<unsigned>(std::abs(shift)) + 2;
  a = a.zextOrTrunc(width);
  b = b.zextOrTrunc(width);
  if (shift > 0)
    a <<= static_cast<unsigned>(shift);
  else
    b <<= static_cast<unsigned>(-shift);
  APInt quotient, remainder;
  APInt::udivrem(a, b, quotient, remainder);
  if (!remainder.isZero())
    quotient.setBit(0);
  llvm::APFloat scaled(llvm::APFloat::IEEEdouble());
  scaled.convertFromAPInt(quotient, /*IsSigned=*/false, llvm::APFloat::rmNearestTiesToEven);
  double result = std::ldexp(scaled.convertToDouble(), -shift);
  if (std::isinf(result))
    return PyError{ErrorKind::Overflow, "integer division result too large for a float"};
  return Constant(negative ? -result : result);
}

PyResult shift(BinaryOperator op, const DynamicAPInt &lhs, const DynamicAPInt &rhs) {
  if (rhs < 0)
    return PyError{ErrorKind::Value, "negative shift count"};
  if (op == BinaryOperator::RShift) {
    if (rhs >= static_cast<int64_t>(maxBits))
      return Constant(lhs < 0 ? -1 : 0);
    APInt bits = toAPInt(lhs);
    auto count = static_cast<unsigned>(static_cast<int64_t>(rhs));
    return Constant(DynamicAPInt(bits.ashr(std::min(count, bits.getBitWidth() - 1))));
  }
  if (lhs == 0)
    return Constant(0);
  if (rhs > static_cast<int64_t>(maxBits) || bitLength(lhs) + static_cast<int64_t>(rhs) > maxBits)
    return tooLarge();
  auto count = static_cast<unsigned>(static_cast<int64_t>(rhs));
  APInt bits = toAPInt(lhs);
  return Constant(DynamicAPInt(bits.sext(bits.getBitWidth() + count) << count));
}

PyResult integerPower(const DynamicAPInt &base, const DynamicAPInt &exponent) {
  if (exponent < 0) {
    if (base == 0)
      return PyError{ErrorKind::ZeroDivision, "0.0 cannot be raised to a negative power"};
    double x = roundToDouble(base), y = roundToDouble(exponent);
    if (std::isinf(x) || std::isinf(y))
      return PyError{ErrorKind::Overflow, "int too large to convert to float"};
    return Constant(std::pow(x, y));
  }
  if (exponent == 0)
    return Constant(1);
  if (base == 0 || base == 1)
    return Constant(base);
  if (base == -1)
    return Constant(exponent % 2 == 0 ? 1 : -1);
  if (exponent > static_cast<int64_t>(maxBits) ||
      (bitLength(base) - 1) * static_cast<uint64_t>(static_cast<int64_t>(exponent)) > maxBits)
    return tooLarge();
  DynamicAPInt result(1), square = base;
  for (int64_t rest = static_cast<int64_t>(exponent); rest; rest >>= 1) {
    if (rest & 1)
      result *= square;
    if (rest > 1)
      square *= square;
  }
  return Constant(result);
}

PyResult bitwise(BinaryOperator op, const DynamicAPInt &lhs, const DynamicAPInt &rhs) {
  APInt a = toAPInt(lhs), b = toAPInt(rhs);
  unsigned width = std::max(a.getBitWidth(), b.getBitWidth());
  a = a.sext(width);
  b = b.sext(width);
  switch (op) {
  case BinaryOperator::BitAnd: return Constant(DynamicAPInt(a & b));
  case BinaryOperator::BitOr: return Constant(DynamicAPInt(a | b));
  default: return Constant(DynamicAPInt(a ^ b));
  }
}

PyResult integerBinary(BinaryOperator op, const Constant &left, const Constant &right) {
  DynamicAPInt lhs = left.integer(), rhs = right.integer();
  switch (op) {
  case BinaryOperator::Add: return Constant(lhs + rhs);
  case BinaryOperator::Sub: return Constant(lhs - rhs);
  case BinaryOperator::Mult:
    if (bitLength(lhs) + bitLength(rhs) > maxBits)
      return tooLarge();
    return Constant(lhs * rhs);
  case BinaryOperator::Div: return trueDivide(lhs, rhs);
  case BinaryOperator::FloorDiv: return floorDivide(lhs, rhs, /*wantRemainder=*/false);
  case BinaryOperator::Mod: return floorDivide(lhs, rhs, /*wantRemainder=*/true);
  case BinaryOperator::Pow: return integerPower(lhs, rhs);
  case BinaryOperator::LShift:
  case BinaryOperator::RShift: return shift(op, lhs, rhs);
  case BinaryOperator::BitAnd:
  case BinaryOperator::BitOr:
  case BinaryOperator::BitXor:
    if (left.isBool() && right.isBool()) {
      bool a = left.boolean(), b = right.boolean();
      return Constant(op == BinaryOperator::BitAnd ? a && b : op == BinaryOperator::BitOr ? a || b : a != b);
    }
    return bitwise(op, lhs, rhs);
  case BinaryOperator::MatMult: break;
  }
  return unsupported("@", left, right);
}

/// CPython's float divmod, which keeps quotient and remainder consistent.
void floatDivMod(double x, double y, double &quotient, double &remainder) {
  remainder = std::fmod(x, y);
  double div = (x - remainder) / y;
  if (remainder != 0) {
    if ((y < 0) != (remainder < 0)) {
      remainder += y;
      div -= 1.0;
    }
  } else {
    remainder = std::copysign(0.0, y);
  }
  if (div == 0) {
    quotient = std::copysign(0.0, x / y);
    return;
  }
  quotient = std::floor(div);
  if (div - quotient > 0.5)
    quotient += 1.0;
}

PyResult floatPower(double x, double y) {
  if (x == 0 && y < 0)
    return PyError{ErrorKind::ZeroDivision, "0.0 cannot be raised to a negative power"};
  if (x < 0 && std::isfinite(x) && std::isfinite(y) && y != std::floor(y))
    return PyError{ErrorKind::Type,
                   "a negative number to a fractional power is complex, which kernels do not support"};
  double result = std::pow(x, y);
  if (std::isinf(result) && std::isfinite(x) && std::isfinite(y))
    return PyError{ErrorKind::Overflow, "(34, 'Numerical result out of range')"};
  return Constant(result);
}

PyResult floatBinary(BinaryOperator op, const Constant &left, const Constant &right) {
  double x = left.asDouble(), y = right.asDouble();
  if ((left.isIntLike() && std::isinf(x)) || (right.isIntLike() && std::isinf(y)))
    return PyError{ErrorKind::Overflow, "int too large to convert to float"};
  double quotient, remainder;
  switch (op) {
  case BinaryOperator::Add: return Constant(x + y);
  case BinaryOperator::Sub: return Constant(x - y);
  case BinaryOperator::Mult: return Constant(x * y);
  case BinaryOperator::Div:
    if (y == 0)
      return PyError{ErrorKind::ZeroDivision, "float division by zero"};
    return Constant(x / y);
  case BinaryOperator::FloorDiv:
    if (y == 0)
      return PyError{ErrorKind::ZeroDivision, "float floor division by zero"};
    floatDivMod(x, y, quotient, remainder);
    return Constant(quotient);
  case BinaryOperator::Mod:
    if (y == 0)
      return PyError{ErrorKind::ZeroDivision, "float modulo"};
    floatDivMod(x, y, quotient, remainder);
    return Constant(remainder);
  case BinaryOperator::Pow: return floatPower(x, y);
  default: return unsupported(binarySymbol(op), left, right);
  }
}

PyResult repeatString(const Constant &text, const Constant &count) {
  if (!count.isIntLike())
    return PyError{ErrorKind::Type,
                   std::string("can't multiply sequence by non-int of type '") + count.typeName() + "'"};
  DynamicAPInt times = count.integer();
  if (!count.asInt64())
    return PyError{ErrorKind::Overflow, "cannot fit 'int' into an index-sized integer"};
  if (times <= 0 || text.string().empty())
    return Constant(std::string());
  if (times > static_cast<int64_t>(maxStringBytes / text.string().size()))
    return PyError{ErrorKind::Overflow, "repeated string is too long"};
  std::string result;
  for (int64_t i = 0, n = static_cast<int64_t>(times); i < n; ++i)
    result += text.string();
  return Constant(result);
}

PyResult stringBinary(BinaryOperator op, const Constant &lhs, const Constant &rhs) {
  if (op == BinaryOperator::Add && lhs.isString()) {
    if (!rhs.isString())
      return PyError{ErrorKind::Type,
                     std::string("can only concatenate str (not \"") + rhs.typeName() + "\") to str"};
    if (lhs.string().size() + rhs.string().size() > maxStringBytes)
      return PyError{ErrorKind::Overflow, "concatenated string is too long"};
    return Constant(lhs.string() + rhs.string());
  }
  if (op == BinaryOperator::Mult)
    return lhs.isString() ? repeatString(lhs, rhs) : repeatString(rhs, lhs);
  if (op == BinaryOperator::Mod && lhs.isString())
    return PyError{ErrorKind::NotImplemented,
                   "string formatting with % is not supported in kernels; use an f-string"};
  return unsupported(op == BinaryOperator::Pow ? "** or pow()" : binarySymbol(op), lhs, rhs);
}

/// -1, 0, 1, or 2 when unordered.
int orderOf(double a, double b) { return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2; }

/// Python compares an int with a float exactly.
int orderOf(const DynamicAPInt &lhs, double rhs) {
  if (std::isnan(rhs))
    return 2;
  if (std::isinf(rhs))
    return rhs > 0 ? -1 : 1;
  double whole = std::trunc(rhs);
  llvm::APSInt integer(1100, /*isUnsigned=*/false);
  bool exact;
  llvm::APFloat(whole).convertToInteger(integer, llvm::APFloat::rmTowardZero, &exact);
  DynamicAPInt truncated{static_cast<const APInt &>(integer)};
  if (lhs != truncated)
    return lhs < truncated ? -1 : 1;
  return orderOf(0.0, rhs - whole);
}

int orderOf(const Constant &lhs, const Constant &rhs) {
  if (lhs.isString())
    return lhs.string() < rhs.string() ? -1 : lhs.string() == rhs.string() ? 0 : 1;
  if (lhs.isFloat() && rhs.isFloat())
    return orderOf(lhs.real(), rhs.real());
  if (rhs.isFloat())
    return orderOf(lhs.integer(), rhs.real());
  if (lhs.isFloat()) {
    int order = orderOf(rhs.integer(), lhs.real());
    return order == 2 ? 2 : -order;
  }
  DynamicAPInt a = lhs.integer(), b = rhs.integer();
  return a < b ? -1 : a == b ? 0 : 1;
}

} // namespace

const char *binarySymbol(BinaryOperator op) {
  static const char *const symbols[] = {"+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@"};
  return symbols[static_cast<size_t>(op)];
}

const char *compareSymbol(CompareOperator op) {
  static const char *const symbols[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
  return symbols[static_cast<size_t>(op)];
}

PyResult pyBinary(BinaryOperator op, const Constant &lhs, const Constant &rhs) {
  if (lhs.isString() || rhs.isString())
    return stringBinary(op, lhs, rhs);
  if (!lhs.isNumber() || !rhs.isNumber())
    return unsupported(op == BinaryOperator::Pow ? "** or pow()" : binarySymbol(op), lhs, rhs);
  return lhs.isFloat() || rhs.isFloat() ? floatBinary(op, lhs, rhs) : integerBinary(op, lhs, rhs);
}

PyResult pyUnary(UnaryOperator op, const Constant &operand) {
  static const char *const symbols[] = {"+", "-", "not", "~"};
  if (op == UnaryOperator::Not)
    return Constant(!operand.truthy());
  if (!operand.isNumber() || (op == UnaryOperator::Invert && operand.isFloat()))
    return PyError{ErrorKind::Type, std::string("bad operand type for unary ") +
                                        symbols[static_cast<size_t>(op)] + ": '" + operand.typeName() + "'"};
  if (operand.isFloat())
    return Constant(op == UnaryOperator::USub ? -operand.real() : operand.real());
  DynamicAPInt value = operand.integer();
  switch (op) {
  case UnaryOperator::USub: return Constant(-value);
  case UnaryOperator::Invert: return Constant(-value - DynamicAPInt(1));
  default: return Constant(value);
  }
}

PyResult pyCompare(CompareOperator op, const Constant &lhs, const Constant &rhs) {
  bool comparable = (lhs.isNumber() && rhs.isNumber()) || (lhs.isString() && rhs.isString());
  if (!comparable) {
    bool same = (lhs.isNone() && rhs.isNone()) || (lhs.isEllipsis() && rhs.isEllipsis());
    if (op == CompareOperator::Eq)
      return Constant(same);
    if (op == CompareOperator::NotEq)
      return Constant(!same);
    return PyError{ErrorKind::Type, std::string("'") + compareSymbol(op) +
                                        "' not supported between instances of '" + lhs.typeName() +
                                        "' and '" + rhs.typeName() + "'"};
  }
  int order = orderOf(lhs, rhs);
  bool ordered = order != 2;
  switch (op) {
  case CompareOperator::Eq: return Constant(order == 0);
  case CompareOperator::NotEq: return Constant(order != 0);
  case CompareOperator::Lt: return Constant(order == -1);
  case CompareOperator::LtE: return Constant(ordered && order <= 0);
  case CompareOperator::Gt: return Constant(order == 1);
  case CompareOperator::GtE: return Constant(ordered && order >= 0);
  default:
    return PyError{ErrorKind::Type,
                   std::string("'") + compareSymbol(op) + "' is not a comparison of constants"};
  }
}

PyResult pyToInt(const Constant &value) {
  if (value.isIntLike())
    return Constant(value.integer());
  if (value.isFloat()) {
    if (std::isnan(value.real()))
      return PyError{ErrorKind::Value, "cannot convert float NaN to integer"};
    if (std::isinf(value.real()))
      return PyError{ErrorKind::Overflow, "cannot convert float infinity to integer"};
    llvm::APSInt integer(1100, /*isUnsigned=*/false);
    bool exact;
    llvm::APFloat(value.real()).convertToInteger(integer, llvm::APFloat::rmTowardZero, &exact);
    return Constant(DynamicAPInt(static_cast<const APInt &>(integer)));
  }
  if (value.isString()) {
    int64_t parsed;
    if (!llvm::StringRef(value.string()).trim().getAsInteger(10, parsed))
      return Constant(parsed);
    return PyError{ErrorKind::Value, "invalid literal for int() with base 10: " + value.repr()};
  }
  return PyError{ErrorKind::Type,
                 std::string("int() argument must be a string, a bytes-like object or a real "
                             "number, not '") +
                     value.typeName() + "'"};
}

PyResult pyToFloat(const Constant &value) {
  if (value.isNumber()) {
    double result = value.asDouble();
    if (value.isIntLike() && std::isinf(result))
      return PyError{ErrorKind::Overflow, "int too large to convert to float"};
    return Constant(result);
  }
  if (!value.isString())
    return PyError{ErrorKind::Type, std::string("float() argument must be a string or a real number, not '") +
                                        value.typeName() + "'"};
  std::string text = llvm::StringRef(value.string()).trim().lower();
  llvm::StringRef digits(text);
  bool negative = digits.consume_front("-");
  if (!negative)
    digits.consume_front("+");
  double magnitude;
  if (digits == "inf" || digits == "infinity") {
    magnitude = HUGE_VAL;
  } else if (digits == "nan") {
    magnitude = std::nan("");
  } else {
    auto [end, status] = std::from_chars(digits.begin(), digits.end(), magnitude);
    bool startsRight = !digits.empty() && (llvm::isDigit(digits[0]) || digits[0] == '.');
    if (!startsRight || end != digits.end() || status == std::errc::invalid_argument)
      return PyError{ErrorKind::Value, "could not convert string to float: " + value.repr()};
    if (status == std::errc::result_out_of_range && digits.getAsDouble(magnitude))
      magnitude = HUGE_VAL;
  }
  return Constant(negative ? -magnitude : magnitude);
}

} // namespace despina
