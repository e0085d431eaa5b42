//===- ParserLiteral.cpp - Numbers, strings and f-strings -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ParserImpl.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"

#include <charconv>
#include <limits>

namespace despina::syntax {
namespace {

/// Longest decimal integer literal, as in CPython; longer ones take quadratic time to convert.
constexpr size_t maxDecimalDigits = 4300;
/// Longest integer literal of the other bases, in bits.
constexpr size_t maxLiteralBits = 1 << 16;

std::string withoutUnderscores(llvm::StringRef text) {
  std::string result;
  result.reserve(text.size());
  for (char c : text)
    if (c != '_')
      result.push_back(c);
  return result;
}

/// The value of a decimal float literal: correctly rounded, infinite or zero where out of range.
double parseDouble(llvm::StringRef digits) {
  double value = 0;
  auto result = std::from_chars(digits.begin(), digits.end(), value);
  if (result.ec != std::errc::result_out_of_range)
    return value;
  // Too large or too small: the place of the first digit that is not zero, with the exponent, tells which.
  size_t exponentAt = digits.find_first_of("eE");
  llvm::StringRef mantissa = digits.take_front(exponentAt);
  bool negativeExponent =
      exponentAt != llvm::StringRef::npos && digits.substr(exponentAt + 1).starts_with("-");
  size_t point = std::min(mantissa.find('.'), mantissa.size());
  size_t first = mantissa.find_first_of("123456789");
  long long exponent = 0;
  if (exponentAt != llvm::StringRef::npos &&
      digits.substr(exponentAt + 1).ltrim("+-").ltrim('0').getAsInteger(10, exponent))
    exponent = digits.substr(exponentAt + 1).ltrim("+-0").empty() ? 0 : std::numeric_limits<int>::max();
  long long magnitude = static_cast<long long>(point) - static_cast<long long>(first) +
                        (negativeExponent ? -exponent : exponent);
  return magnitude > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

void appendUtf8(uint32_t codePoint, std::string &out) {
  // Lone surrogates, which Python strings may hold, are encoded like any other code point.
  auto trail = [&](unsigned shift) { out.push_back(static_cast<char>(0x80 | (codePoint >> shift & 0x3F))); };
  if (codePoint < 0x80) {
    out.push_back(static_cast<char>(codePoint));
  } else if (codePoint < 0x800) {
    out.push_back(static_cast<char>(0xC0 | codePoint >> 6));
    trail(0);
  } else if (codePoint < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | codePoint >> 12));
    trail(6), trail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | codePoint >> 18));
    trail(12), trail(6), trail(0);
  }
}

} // namespace

//===- Numbers ------------------------------------------------------------===//

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseNumber() {
  std::string digits = withoutUnderscores(text(cur()));
  llvm::StringRef body = digits;
  auto *node = make<ast::Constant>(cur().begin, cur().end, 1);
  unsigned radix = body.starts_with_insensitive("0x")   ? 16
                   : body.starts_with_insensitive("0o") ? 8
                   : body.starts_with_insensitive("0b") ? 2
                                                        : 10;
  if (radix == 10 && body.find_first_of(".eEjJ") != llvm::StringRef::npos) {
    bool imaginary = body.consume_back_insensitive("j");
    node->type = imaginary ? ast::Constant::Type::Complex : ast::Constant::Type::Float;
    node->real = parseDouble(body);
    advance();
    return node;
  }
  if (radix != 10)
    body = body.drop_front(2);
  body = body.ltrim('0');
  node->type = ast::Constant::Type::Int;
  uint64_t small = 0;
  if (body.empty() || (!body.getAsInteger(radix, small) && small <= uint64_t(INT64_MAX))) {
    node->integer = llvm::DynamicAPInt(static_cast<int64_t>(small));
    advance();
    return node;
  }
  if (radix == 10 && body.size() > maxDecimalDigits)
    return fail(node,
                "Exceeds the limit (" + llvm::Twine(maxDecimalDigits) +
                    " digits) for integer string conversion: value has " + llvm::Twine(body.size()) +
                    " digits",
                "write huge integers in hexadecimal");
  unsigned bitsPerDigit = radix == 16 ? 4 : radix == 8 ? 3 : radix == 2 ? 1 : 4;
  size_t bits = body.size() * bitsPerDigit + 2; // one for the sign
  if (bits > maxLiteralBits)
    return fail(node, "integer literal is too large (more than " + llvm::Twine(maxLiteralBits) + " bits)");
  node->integer = llvm::DynamicAPInt(llvm::APInt(static_cast<unsigned>(bits), body, radix));
  advance();
  return node;
}

//===- Strings ------------------------------------------------------------===//

/// Reads adjacent string literals, which join into one: a constant, or a JoinedStr when one is an f-string.
LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseStrings() {
  uint32_t begin = cur().begin;
  uint32_t textBegin = begin;
  std::string text;
  bool isBytes = false, sawFormat = false, first = true;
  size_t mark = exprs_.size();
  while (is(Tok::String) || is(Tok::FStringStart)) {
    bool bytes = false;
    if (!parseStringPiece(text, textBegin, bytes, sawFormat))
      return nullptr;
    if (!first && bytes != isBytes)
      return fail(begin, lastEnd_, "cannot mix bytes and nonbytes literals");
    isBytes = bytes;
    first = false;
  }
  if (!sawFormat) {
    auto *node = make<ast::Constant>(begin, lastEnd_, 1);
    node->type = isBytes ? ast::Constant::Type::Bytes : ast::Constant::Type::Str;
    node->string = module_.copy(llvm::StringRef(text));
    return node;
  }
  flushText(text, textBegin, lastEnd_);
  ast::ExprList values = take(exprs_, mark);
  auto *node = make<ast::JoinedStr>(begin, lastEnd_, tallest(values) + 1);
  if (node)
    node->values = values;
  return node;
}

bool Parser::parseStringPiece(std::string &text, uint32_t &textBegin, bool &isBytes, bool &sawFormat) {
  if (is(Tok::FStringStart)) {
    sawFormat = true;
    return parseFString(text, textBegin);
  }
  llvm::StringRef literal = this->text(cur());
  size_t prefix = literal.find_first_of("\"'");
  bool raw = literal.take_front(prefix).contains_insensitive('r');
  isBytes = literal.take_front(prefix).contains_insensitive('b');
  char quote = literal[prefix];
  bool triple = literal.size() >= prefix + 6 && literal[prefix + 1] == quote && literal[prefix + 2] == quote;
  uint32_t quotes = triple ? 3 : 1;
  if (!decodeText(cur().begin + static_cast<uint32_t>(prefix) + quotes, cur().end - quotes, raw, isBytes,
                  /*braces=*/false, text))
    return false;
  advance();
  return true;
}

/// Pushes the literal text gathered so far, if any, as an element of an f-string.
void Parser::flushText(std::string &text, uint32_t begin, uint32_t end) {
  if (text.empty())
    return;
  auto *node = make<ast::Constant>(begin, end, 1);
  node->type = ast::Constant::Type::Str;
  node->string = module_.copy(llvm::StringRef(text));
  exprs_.push_back(node);
  text.clear();
}

bool Parser::parseFString(std::string &text, uint32_t &textBegin) {
  bool raw =
      this->text(cur()).take_until([](char c) { return c == '"' || c == '\''; }).contains_insensitive('r');
  advance();
  while (!accept(Tok::FStringEnd)) {
    if (text.empty())
      textBegin = cur().begin;
    if (is(Tok::FStringMiddle)) {
      if (!decodeText(cur().begin, cur().end, raw, /*bytes=*/false, /*braces=*/true, text))
        return false;
      advance();
    } else if (is(Tok::LBrace)) {
      if (!parseField(text, textBegin, raw))
        return false;
    } else {
      return invalidSyntax();
    }
  }
  return true;
}

/// `{value=!conversion:spec}` of an f-string.
bool Parser::parseField(std::string &text, uint32_t &textBegin, bool raw) {
  uint32_t begin = cur().begin;
  advance();
  if (is(Tok::RBrace) || is(Tok::Exclaim) || is(Tok::Colon) || is(Tok::Equal))
    return fail(cur().begin, cur().end,
                "f-string: valid expression required before '" + this->text(cur()) + "'");
  if (is(Tok::KwLambda))
    return fail(cur().begin, cur().end, "f-string: lambda expressions are not allowed without parentheses");
  uint32_t valueBegin = cur().begin;
  Expr *value = parseYieldOrList();
  if (!value)
    return false;
  bool selfDocumenting = accept(Tok::Equal);
  if (selfDocumenting)
    text += text_.slice(begin + 1, cur().begin);
  flushText(text, textBegin, valueBegin);
  auto *field = make<ast::FormattedValue>(begin, begin, value->height() + 1);
  if (!field)
    return false;
  field->value = value;
  if (accept(Tok::Exclaim)) {
    llvm::StringRef name = is(Tok::Name) ? this->text(cur()) : "";
    if (name != "s" && name != "r" && name != "a")
      return fail(cur().begin, cur().end,
                  name.empty()
                      ? llvm::Twine("f-string: missing conversion character")
                      : "f-string: invalid conversion character '" + name + "': expected 's', 'r', or 'a'");
    field->conversion = name[0];
    advance();
  }
  unsigned height = value->height();
  if (accept(Tok::Colon)) {
    field->formatSpec = parseFormatSpec(raw);
    if (!field->formatSpec)
      return false;
    height = std::max(height, field->formatSpec->height());
  } else if (selfDocumenting && field->conversion == 0) {
    field->conversion = 'r';
  }
  if (!accept(Tok::RBrace)) {
    if (is(Tok::Error))
      return invalidSyntax();
    return fail(cur().begin, cur().end, "f-string: expecting '}'");
  }
  field->setEnd(lastEnd_);
  if (!finish(field, height + 1))
    return false;
  exprs_.push_back(field);
  textBegin = lastEnd_;
  return true;
}

ast::JoinedStr *Parser::parseFormatSpec(bool raw) {
  uint32_t begin = lastEnd_;
  uint32_t textBegin = begin;
  std::string text;
  size_t mark = exprs_.size();
  while (!is(Tok::RBrace)) {
    if (is(Tok::FStringMiddle)) {
      if (!decodeText(cur().begin, cur().end, raw, /*bytes=*/false, /*braces=*/false, text))
        return nullptr;
      advance();
    } else if (!is(Tok::LBrace)) {
      return invalidSyntax();
    } else if (!parseField(text, textBegin, raw)) {
      return nullptr;
    }
  }
  flushText(text, textBegin, lastEnd_);
  ast::ExprList values = take(exprs_, mark);
  auto *spec = make<ast::JoinedStr>(begin, lastEnd_, tallest(values) + 1);
  if (spec)
    spec->values = values;
  return spec;
}

//===- Escapes ------------------------------------------------------------===//

/// Appends the characters that literal text stands for. `braces`: doubled braces stand for one.
bool Parser::decodeText(uint32_t begin, uint32_t end, bool raw, bool bytes, bool braces, std::string &out) {
  for (uint32_t at = begin; at < end;) {
    char c = text_[at];
    if (bytes && static_cast<unsigned char>(c) >= 0x80)
      return fail(at, at + 1, "bytes can only contain ASCII literal characters");
    if (c == '\\' && !raw && at + 1 < end) {
      if (!decodeEscape(at, begin, end, bytes, out))
        return false;
      continue;
    }
    ++at;
    if (c == '\r') {
      // Every line end reads as one newline.
      if (at < end && text_[at] == '\n')
        ++at;
      c = '\n';
    }
    if (braces && (c == '{' || c == '}') && at < end && text_[at] == c)
      ++at;
    out.push_back(c);
  }
  return true;
}

bool Parser::decodeEscape(uint32_t &at, uint32_t begin, uint32_t end, bool bytes, std::string &out) {
  uint32_t escape = at;
  char c = text_[at + 1];
  at += 2;
  switch (c) {
  case '\n': return true;
  case '\r':
    if (at < end && text_[at] == '\n')
      ++at;
    return true;
  case '\\':
  case '\'':
  case '"': out.push_back(c); return true;
  case 'a': out.push_back('\a'); return true;
  case 'b': out.push_back('\b'); return true;
  case 'f': out.push_back('\f'); return true;
  case 'n': out.push_back('\n'); return true;
  case 'r': out.push_back('\r'); return true;
  case 't': out.push_back('\t'); return true;
  case 'v': out.push_back('\v'); return true;
  case '0':
  case '1':
  case '2':
  case '3':
  case '4':
  case '5':
  case '6':
  case '7': {
    unsigned value = static_cast<unsigned>(c - '0');
    for (unsigned i = 0; i < 2 && at < end && text_[at] >= '0' && text_[at] <= '7'; ++i)
      value = value * 8 + static_cast<unsigned>(text_[at++] - '0');
    if (bytes)
      out.push_back(static_cast<char>(value));
    else
      appendUtf8(value, out);
    return true;
  }
  case 'x': at = escape; return decodeHex(at, begin, end, 2, out, bytes);
  case 'u':
  case 'U':
    if (!bytes) {
      at = escape;
      return decodeHex(at, begin, end, c == 'u' ? 4 : 8, out, bytes);
    }
    break;
  case 'N':
    if (!bytes) {
      at = escape;
      return decodeNamed(at, begin, end, out);
    }
    break;
  default: break;
  }
  // Python keeps the backslash of an escape it does not know. The character after it may be part of a longer
  // sequence, a line end or a brace, so it is read again.
  at = escape + 1;
  out.push_back('\\');
  return true;
}

/// `\xXX`, `\uXXXX` or `\UXXXXXXXX`.
bool Parser::decodeHex(uint32_t &at, uint32_t begin, uint32_t end, unsigned digits, std::string &out,
                       bool bytes) {
  uint32_t escape = at;
  char letter = text_[at + 1];
  at += 2;
  uint32_t value = 0;
  unsigned count = 0;
  for (; count < digits && at < end && llvm::isHexDigit(text_[at]); ++count)
    value = value << 4 | llvm::hexDigitValue(text_[at++]);
  if (count < digits) {
    if (bytes)
      return fail(escape, at, "(value error) invalid \\x escape at position " + llvm::Twine(escape - begin));
    return fail(escape, at,
                "(unicode error) 'unicodeescape' codec can't decode bytes in position " +
                    llvm::Twine(escape - begin) + "-" + llvm::Twine(at - 1 - begin) + ": truncated \\" +
                    llvm::Twine(letter) + llvm::StringRef("XXXXXXXX").take_front(digits) + " escape");
  }
  if (value > 0x10FFFF)
    return fail(escape, at,
                "(unicode error) 'unicodeescape' codec can't decode bytes in position " +
                    llvm::Twine(escape - begin) + "-" + llvm::Twine(at - 1 - begin) +
                    ": illegal Unicode character");
  if (bytes)
    out.push_back(static_cast<char>(value));
  else
    appendUtf8(value, out);
  return true;
}

/// `\N{name}`.
bool Parser::decodeNamed(uint32_t &at, uint32_t begin, uint32_t end, std::string &out) {
  uint32_t escape = at;
  llvm::StringRef rest = text_.slice(at + 2, end);
  size_t close = rest.starts_with("{") ? rest.find('}') : llvm::StringRef::npos;
  if (close == llvm::StringRef::npos || close == 1)
    return fail(escape, escape + 2,
                "(unicode error) 'unicodeescape' codec can't decode bytes in position " +
                    llvm::Twine(escape - begin) + "-" + llvm::Twine(escape + 1 - begin) +
                    ": malformed \\N character escape");
  at += 2 + static_cast<uint32_t>(close) + 1;
  auto codePoint = llvm::sys::unicode::nameToCodepointStrict(rest.slice(1, close).upper());
  if (!codePoint)
    return fail(escape, at,
                "(unicode error) 'unicodeescape' codec can't decode bytes in position " +
                    llvm::Twine(escape - begin) + "-" + llvm::Twine(at - 1 - begin) +
                    ": unknown Unicode character name");
  appendUtf8(static_cast<uint32_t>(*codePoint), out);
  return true;
}

} // namespace despina::syntax
