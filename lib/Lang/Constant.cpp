//===- Constant.cpp - Python constants ------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "PyNumber.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace despina {

namespace {

constexpr int64_t int64Min = std::numeric_limits<int64_t>::min();
constexpr int64_t int64Max = std::numeric_limits<int64_t>::max();

/// Significant digits of a positive double and its decimal exponent ("1.5e3" is digits "15", exponent 3).
void shortestDigits(double value, std::string &digits, int &exponent) {
  char buffer[64];
  auto [end, status] = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  llvm::StringRef text(buffer, end - buffer);
  auto [mantissa, power] = text.split('e');
  for (char c : mantissa)
    if (c != '.')
      digits.push_back(c);
  power.consume_front("+");
  if (power.getAsInteger(10, exponent))
    exponent = 0;
}

std::string stringRepr(const std::string &text) {
  bool useDouble = text.find('\'') != std::string::npos && text.find('"') == std::string::npos;
  char quote = useDouble ? '"' : '\'';
  std::string result(1, quote);
  static const char hex[] = "0123456789abcdef";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\')
      (result += '\\') += c;
    else if (c == '\n')
      result += "\\n";
    else if (c == '\r')
      result += "\\r";
    else if (c == '\t')
      result += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      ((result += "\\x") += hex[byte >> 4]) += hex[byte & 15];
    else
      result += c;
  }
  return result + quote;
}

} // namespace

std::string floatRepr(double value) {
  if (std::isnan(value))
    return "nan";
  std::string sign = std::signbit(value) ? "-" : "";
  value = std::fabs(value);
  if (std::isinf(value))
    return sign + "inf";
  if (value == 0)
    return sign + "0.0";
  std::string digits;
  int exponent = 0;
  shortestDigits(value, digits, exponent);
  auto count = static_cast<int>(digits.size());
  // CPython's `repr` switches to scientific notation outside of 1e-4 <= x < 1e16.
  if (exponent < -4 || exponent >= 16) {
    std::string text = sign + digits.substr(0, 1);
    if (count > 1)
      text += "." + digits.substr(1);
    std::string power = std::to_string(std::abs(exponent));
    return text + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
  }
  if (exponent < 0)
    return sign + "0." + std::string(-exponent - 1, '0') + digits;
  if (count <= exponent + 1)
    return sign + digits + std::string(exponent + 1 - count, '0') + ".0";
  return sign + digits.substr(0, exponent + 1) + "." + digits.substr(exponent + 1);
}

llvm::APInt toAPInt(const llvm::DynamicAPInt &value) {
  if (value >= int64Min && value <= int64Max)
    return llvm::APInt(64, static_cast<uint64_t>(static_cast<int64_t>(value)), /*isSigned=*/true);
  // DynamicAPInt does not show its words, so they are divided off one by one.
  constexpr unsigned limbBits = 62;
  const llvm::DynamicAPInt limb(int64_t(1) << limbBits);
  llvm::SmallVector<uint64_t, 16> limbs;
  for (llvm::DynamicAPInt rest = abs(value); rest != 0; rest /= limb)
    limbs.push_back(static_cast<uint64_t>(static_cast<int64_t>(rest % limb)));
  llvm::APInt result(static_cast<unsigned>(limbs.size()) * limbBits + 64, 0);
  for (size_t i = 0; i < limbs.size(); ++i)
    result.insertBits(limbs[i], static_cast<unsigned>(i) * limbBits, limbBits);
  if (value < 0)
    result.negate();
  return result;
}

double roundToDouble(const llvm::DynamicAPInt &value) {
  llvm::APFloat result(llvm::APFloat::IEEEdouble());
  result.convertFromAPInt(toAPInt(value), /*IsSigned=*/true, llvm::APFloat::rmNearestTiesToEven);
  return result.convertToDouble();
}

llvm::DynamicAPInt Constant::integer() const {
  if (isBool())
    return llvm::DynamicAPInt(boolean() ? 1 : 0);
  return isInt() ? std::get<llvm::DynamicAPInt>(storage_) : llvm::DynamicAPInt(0);
}

std::optional<int64_t> Constant::asInt64() const {
  if (!isIntLike())
    return std::nullopt;
  llvm::DynamicAPInt value = integer();
  if (value < int64Min || value > int64Max)
    return std::nullopt;
  return static_cast<int64_t>(value);
}

double Constant::asDouble() const {
  if (isFloat())
    return real();
  return isIntLike() ? roundToDouble(integer()) : 0.0;
}

bool Constant::truthy() const {
  if (isNone())
    return false;
  if (isBool())
    return boolean();
  if (isInt())
    return integer() != 0;
  if (isFloat())
    return real() != 0;
  return !isString() || !string().empty();
}

std::string Constant::repr() const { return isString() ? stringRepr(string()) : str(); }

std::string Constant::str() const {
  if (isNone())
    return "None";
  if (isEllipsis())
    return "Ellipsis";
  if (isBool())
    return boolean() ? "True" : "False";
  if (isFloat())
    return floatRepr(real());
  if (isString())
    return string();
  std::string text;
  llvm::raw_string_ostream(text) << integer();
  return text;
}

const char *Constant::typeName() const {
  if (isNone())
    return "NoneType";
  if (isEllipsis())
    return "ellipsis";
  if (isBool())
    return "bool";
  if (isInt())
    return "int";
  return isFloat() ? "float" : "str";
}

bool Constant::identical(const Constant &other) const {
  if (storage_.index() != other.storage_.index())
    return false;
  if (!isFloat())
    return storage_ == other.storage_;
  double a = real(), b = other.real();
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

} // namespace despina
