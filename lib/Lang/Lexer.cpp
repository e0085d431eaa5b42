//===- Lexer.cpp - From text to tokens ------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Layout (indentation, joined lines) and f-strings share one stack of open things: an open bracket, an
// f-string whose literal text is read, a replacement field whose expression is read, or its format
// specification. The top of the stack says how the next character is to be understood.
//
//===----------------------------------------------------------------------===//
#include "Lexer.h"

#include "despina/Lang/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Unicode.h"

using llvm::StringRef;

namespace despina::syntax {
namespace {

bool isAsciiStart(char c) { return llvm::isAlpha(c) || c == '_'; }
bool isAsciiContinue(char c) { return llvm::isAlnum(c) || c == '_'; }
bool isHighByte(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool isLineEnd(char c) { return c == '\n' || c == '\r'; }

Tok keywordKind(StringRef text) {
  return llvm::StringSwitch<Tok>(text)
      .Case("False", Tok::KwFalse)
      .Case("None", Tok::KwNone)
      .Case("True", Tok::KwTrue)
      .Case("and", Tok::KwAnd)
      .Case("as", Tok::KwAs)
      .Case("assert", Tok::KwAssert)
      .Case("async", Tok::KwAsync)
      .Case("await", Tok::KwAwait)
      .Case("break", Tok::KwBreak)
      .Case("class", Tok::KwClass)
      .Case("continue", Tok::KwContinue)
      .Case("def", Tok::KwDef)
      .Case("del", Tok::KwDel)
      .Case("elif", Tok::KwElif)
      .Case("else", Tok::KwElse)
      .Case("except", Tok::KwExcept)
      .Case("finally", Tok::KwFinally)
      .Case("for", Tok::KwFor)
      .Case("from", Tok::KwFrom)
      .Case("global", Tok::KwGlobal)
      .Case("if", Tok::KwIf)
      .Case("import", Tok::KwImport)
      .Case("in", Tok::KwIn)
      .Case("is", Tok::KwIs)
      .Case("lambda", Tok::KwLambda)
      .Case("nonlocal", Tok::KwNonlocal)
      .Case("not", Tok::KwNot)
      .Case("or", Tok::KwOr)
      .Case("pass", Tok::KwPass)
      .Case("raise", Tok::KwRaise)
      .Case("return", Tok::KwReturn)
      .Case("try", Tok::KwTry)
      .Case("while", Tok::KwWhile)
      .Case("with", Tok::KwWith)
      .Case("yield", Tok::KwYield)
      .Default(Tok::Name);
}

/// An operator and how many characters it has; End when there is none.
struct Operator {
  Tok kind;
  unsigned length;
};

/// `plain`, or `withEqual` when an equals sign follows.
Operator maybeEqual(char next, Tok plain, Tok withEqual) {
  return next == '=' ? Operator{withEqual, 2} : Operator{plain, 1};
}

/// The operators that a doubled character makes: `*`, `*=`, `**`, `**=`.
Operator maybeDouble(StringRef text, Tok plain, Tok plainEqual, Tok twice, Tok twiceEqual) {
  if (text.size() > 1 && text[1] == text[0])
    return text.size() > 2 && text[2] == '=' ? Operator{twiceEqual, 3} : Operator{twice, 2};
  return maybeEqual(text.size() > 1 ? text[1] : '\0', plain, plainEqual);
}

Operator operatorAt(StringRef text) {
  char next = text.size() > 1 ? text[1] : '\0';
  switch (text[0]) {
  case '(': return {Tok::LParen, 1};
  case ')': return {Tok::RParen, 1};
  case '[': return {Tok::LBracket, 1};
  case ']': return {Tok::RBracket, 1};
  case '{': return {Tok::LBrace, 1};
  case '}': return {Tok::RBrace, 1};
  case ',': return {Tok::Comma, 1};
  case ';': return {Tok::Semicolon, 1};
  case '~': return {Tok::Tilde, 1};
  case ':': return maybeEqual(next, Tok::Colon, Tok::ColonEqual);
  case '.': return text.starts_with("...") ? Operator{Tok::Ellipsis, 3} : Operator{Tok::Dot, 1};
  case '=': return maybeEqual(next, Tok::Equal, Tok::EqualEqual);
  case '+': return maybeEqual(next, Tok::Plus, Tok::PlusEqual);
  case '-': return next == '>' ? Operator{Tok::Arrow, 2} : maybeEqual(next, Tok::Minus, Tok::MinusEqual);
  case '%': return maybeEqual(next, Tok::Percent, Tok::PercentEqual);
  case '@': return maybeEqual(next, Tok::At, Tok::AtEqual);
  case '&': return maybeEqual(next, Tok::Amp, Tok::AmpEqual);
  case '|': return maybeEqual(next, Tok::Pipe, Tok::PipeEqual);
  case '^': return maybeEqual(next, Tok::Caret, Tok::CaretEqual);
  case '!': return next == '=' ? Operator{Tok::NotEqual, 2} : Operator{Tok::End, 0};
  case '*': return maybeDouble(text, Tok::Star, Tok::StarEqual, Tok::DoubleStar, Tok::DoubleStarEqual);
  case '/': return maybeDouble(text, Tok::Slash, Tok::SlashEqual, Tok::DoubleSlash, Tok::DoubleSlashEqual);
  case '<': return maybeDouble(text, Tok::Less, Tok::LessEqual, Tok::LShift, Tok::LShiftEqual);
  case '>': return maybeDouble(text, Tok::Greater, Tok::GreaterEqual, Tok::RShift, Tok::RShiftEqual);
  default: return {Tok::End, 0};
  }
}

/// Length of the valid UTF-8 sequence at the start of `text`, or 0; `codePoint` is its value.
unsigned decodeUtf8(StringRef text, uint32_t &codePoint) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80) {
    codePoint = lead;
    return 1;
  }
  unsigned length = lead >= 0xC2 && lead < 0xE0   ? 2
                    : (lead & 0xF0) == 0xE0       ? 3
                    : lead >= 0xF0 && lead < 0xF5 ? 4
                                                  : 0;
  if (length == 0 || text.size() < length)
    return 0;
  codePoint = lead & (0xFF >> (length + 1));
  for (unsigned i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80)
      return 0;
    codePoint = codePoint << 6 | (byte(i) & 0x3F);
  }
  static constexpr uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool surrogate = codePoint >= 0xD800 && codePoint < 0xE000;
  return codePoint < smallest[length] || codePoint > 0x10FFFF || surrogate ? 0 : length;
}

class Lexer {
public:
  explicit Lexer(const SourceFile &file) : file_(file), text_(file.text()) {}
  TokenStream run();

private:
  enum class Mode : uint8_t { Bracket, FString, FieldExpr, FieldSpec };
  struct Open {
    Mode mode;
    char bracket; ///< the character that opened it
    char quote;   ///< of the f-string it belongs to
    bool triple, raw;
    uint32_t offset;
  };
  struct Indentation {
    uint32_t column;    ///< with tabs of eight
    uint32_t altColumn; ///< with tabs of one: both must agree, or the file reads differently elsewhere
  };

  char peek(size_t ahead = 0) const { return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0'; }
  bool atEnd() const { return pos_ >= text_.size(); }
  StringRef rest() const { return text_.substr(pos_); }
  void emit(Tok kind, uint32_t begin) { out_.tokens.push_back({kind, begin, pos_}); }
  void error(uint32_t begin, uint32_t end, std::string message, std::string help = {});
  unsigned lineOf(uint32_t offset) const { return file_.lineColumn(offset).line; }
  /// The line of the last character read.
  unsigned lastLine() const { return lineOf(pos_ == 0 ? 0 : pos_ - 1); }
  void skipLineEnd();
  bool inside(Mode mode) const { return !open_.empty() && open_.back().mode == mode; }

  bool checkText();
  bool checkUtf8(size_t from);
  void step();
  void lexIndentation();
  void applyIndentation(Indentation now);
  void lexBackslash();
  void lexToken();
  void lexNumber();
  bool digits(bool (*isDigit)(char), const char *what);
  void lexRadixNumber();
  bool checkNumberEnd(uint32_t begin, const char *what);
  void lexName();
  void lexString(uint32_t begin, unsigned prefix);
  void startFString(uint32_t begin, unsigned prefix);
  void unterminatedString(uint32_t begin, uint32_t quoteAt, bool triple);
  void lexFStringText();
  /// Moves over one character of f-string text; false when it ends the text (or after an error).
  bool skipFStringChar(const Open &top);
  void endFStringText(uint32_t begin);
  void lexOperator();
  bool openBracket(Open entry);
  void closeBracket(char closing);
  void badCharacter();
  void finish();

  const SourceFile &file_;
  StringRef text_;
  uint32_t pos_ = 0;
  bool atLineStart_ = true;
  bool failed_ = false;
  TokenStream out_;
  std::vector<Open> open_;
  std::vector<Indentation> indents_{{0, 0}};
};

void Lexer::error(uint32_t begin, uint32_t end, std::string message, std::string help) {
  failed_ = true;
  out_.errorMessage = std::move(message);
  out_.errorHelp = std::move(help);
  out_.tokens.push_back({Tok::Error, begin, std::max(begin, end)});
}

TokenStream Lexer::run() {
  if (checkText()) {
    out_.tokens.reserve(text_.size() / 5 + 8);
    while (!failed_ && !atEnd())
      step();
    if (!failed_)
      finish();
  }
  return std::move(out_);
}

bool Lexer::checkText() {
  if (text_.size() > ParserLimits::maxFileBytes) {
    error(0, 0,
          "source file is too large (more than " + std::to_string(ParserLimits::maxFileBytes >> 20) +
              " MiB)");
    return false;
  }
  for (size_t i = 0; i < text_.size(); ++i) {
    if (isHighByte(text_[i]))
      return checkUtf8(i);
    if (text_[i] == '\0') {
      error(i, i + 1, "source code cannot contain null bytes");
      return false;
    }
  }
  return true;
}

/// Checks the text from the first byte beyond ASCII.
bool Lexer::checkUtf8(size_t from) {
  for (size_t i = from; i < text_.size();) {
    if (text_[i] == '\0') {
      error(i, i + 1, "source code cannot contain null bytes");
      return false;
    }
    uint32_t codePoint;
    unsigned length = decodeUtf8(text_.substr(i, 4), codePoint);
    if (length == 0) {
      auto byte = static_cast<unsigned char>(text_[i]);
      bool start = byte >= 0xC2 && byte <= 0xF4;
      error(i, i + 1,
            "(unicode error) 'utf-8' codec can't decode byte 0x" + llvm::utohexstr(byte, /*LowerCase=*/true) +
                " in position " + std::to_string(i) + ": invalid " + (start ? "continuation" : "start") +
                " byte",
            "save the file as UTF-8");
      return false;
    }
    i += length;
  }
  return true;
}

void Lexer::skipLineEnd() {
  if (peek() == '\r' && peek(1) == '\n')
    ++pos_;
  ++pos_;
}

void Lexer::step() {
  if (inside(Mode::FString) || inside(Mode::FieldSpec))
    return lexFStringText();
  if (atLineStart_ && open_.empty())
    return lexIndentation();
  switch (peek()) {
  case ' ':
  case '\t':
  case '\f': ++pos_; return;
  case '#':
    while (!atEnd() && !isLineEnd(peek()))
      ++pos_;
    return;
  case '\\': return lexBackslash();
  case '\n':
  case '\r':
    if (open_.empty()) {
      uint32_t begin = pos_;
      skipLineEnd();
      emit(Tok::Newline, begin);
      atLineStart_ = true;
    } else {
      skipLineEnd();
    }
    return;
  default: return lexToken();
  }
}

/// Reads the blanks before the first token of a line. Lines without a token leave no trace.
void Lexer::lexIndentation() {
  Indentation now{0, 0};
  for (;; ++pos_) {
    char c = peek();
    if (c == ' ') {
      ++now.column, ++now.altColumn;
    } else if (c == '\t') {
      now.column = (now.column / 8 + 1) * 8, ++now.altColumn;
    } else if (c == '\f') {
      now = {0, 0};
    } else {
      break;
    }
  }
  if (peek() == '\\') {
    // A joined line is indented as its first part.
    uint32_t before = pos_;
    lexBackslash();
    if (failed_)
      return;
    while (peek() == ' ' || peek() == '\t' || peek() == '\f')
      ++pos_;
    if (peek() == '\\' && pos_ > before)
      return; // The next call goes on from here with no indentation, as for any line of blanks only.
  }
  if (peek() == '#')
    while (!atEnd() && !isLineEnd(peek()))
      ++pos_;
  if (atEnd())
    return;
  if (isLineEnd(peek()))
    return skipLineEnd();
  atLineStart_ = false;
  applyIndentation(now);
}

void Lexer::applyIndentation(Indentation now) {
  auto tabError = [&] {
    error(pos_, pos_, "inconsistent use of tabs and spaces in indentation", "indent with blanks only");
  };
  if (now.column > indents_.back().column) {
    if (now.altColumn <= indents_.back().altColumn)
      return tabError();
    if (indents_.size() > ParserLimits::maxIndents)
      return error(pos_, pos_, "too many levels of indentation");
    indents_.push_back(now);
    return emit(Tok::Indent, pos_);
  }
  while (now.column < indents_.back().column) {
    indents_.pop_back();
    if (now.column > indents_.back().column)
      return error(pos_, pos_, "unindent does not match any outer indentation level");
    emit(Tok::Dedent, pos_);
  }
  if (now.altColumn != indents_.back().altColumn)
    tabError();
}

void Lexer::lexBackslash() {
  uint32_t begin = pos_++;
  if (atEnd())
    return error(begin, pos_, "unexpected EOF while parsing");
  if (!isLineEnd(peek()))
    return error(pos_, pos_ + 1, "unexpected character after line continuation character");
  skipLineEnd();
  if (atEnd())
    error(begin, begin + 1, "unexpected EOF while parsing");
}

void Lexer::lexToken() {
  char c = peek();
  if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(peek(1))))
    return lexNumber();
  if (isAsciiStart(c) || isHighByte(c))
    return lexName();
  if (c == '"' || c == '\'')
    return lexString(pos_, 0);
  lexOperator();
}

//===- Numbers ------------------------------------------------------------===//

/// Reads digits with single underscores between them.
bool Lexer::digits(bool (*isDigit)(char), const char *what) {
  while (true) {
    while (isDigit(peek()))
      ++pos_;
    if (peek() != '_')
      return true;
    ++pos_;
    if (!isDigit(peek())) {
      error(pos_ - 1, pos_, std::string("invalid ") + what + " literal");
      return false;
    }
  }
}

bool isDecimalDigit(char c) { return llvm::isDigit(c); }

/// A number may touch a keyword (`1if x else y`), but no other name.
bool Lexer::checkNumberEnd(uint32_t begin, const char *what) {
  if (!isAsciiContinue(peek()) && !isHighByte(peek()))
    return true;
  StringRef word = rest().take_while(isAsciiContinue);
  for (const char *keyword : {"and", "else", "for", "if", "in", "is", "not", "or"})
    if (word.starts_with(keyword))
      return true;
  error(begin, pos_, std::string("invalid ") + what + " literal");
  return false;
}

void Lexer::lexRadixNumber() {
  uint32_t begin = pos_;
  char letter = llvm::toLower(peek(1));
  const char *what = letter == 'x' ? "hexadecimal" : letter == 'o' ? "octal" : "binary";
  bool (*isDigit)(char) = letter == 'x'   ? +[](char c) { return llvm::isHexDigit(c); }
                          : letter == 'o' ? +[](char c) { return c >= '0' && c <= '7'; }
                                          : +[](char c) { return c == '0' || c == '1'; };
  pos_ += 2;
  if (peek() == '_')
    ++pos_;
  if (isDigit(peek()) && !digits(isDigit, what))
    return;
  if (llvm::isDigit(peek()))
    return error(pos_, pos_ + 1, std::string("invalid digit '") + peek() + "' in " + what + " literal");
  if (pos_ == begin + 2 || text_[pos_ - 1] == '_')
    return error(begin, pos_, std::string("invalid ") + what + " literal");
  if (checkNumberEnd(begin, what))
    emit(Tok::Number, begin);
}

void Lexer::lexNumber() {
  uint32_t begin = pos_;
  char second = llvm::toLower(peek(1));
  if (peek() == '0' && (second == 'x' || second == 'o' || second == 'b'))
    return lexRadixNumber();
  if (peek() != '.' && !digits(isDecimalDigit, "decimal"))
    return;
  StringRef whole = text_.substr(begin, pos_ - begin);
  bool isInteger = true;
  const char *what = "decimal";
  if (peek() == '.') {
    isInteger = false;
    ++pos_;
    if (llvm::isDigit(peek()) && !digits(isDecimalDigit, "decimal"))
      return;
  }
  if (peek() == 'e' || peek() == 'E') {
    unsigned sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if (llvm::isDigit(peek(1 + sign))) {
      isInteger = false;
      pos_ += 1 + sign;
      if (!digits(isDecimalDigit, "decimal"))
        return;
    }
  }
  if (peek() == 'j' || peek() == 'J') {
    isInteger = false;
    what = "imaginary";
    ++pos_;
  }
  if (isInteger && whole[0] == '0' && whole.find_first_of("123456789") != StringRef::npos)
    return error(
        begin, pos_,
        "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers");
  if (checkNumberEnd(begin, what))
    emit(Tok::Number, begin);
}

//===- Names and strings --------------------------------------------------===//

/// Length of the string prefix at the start of `text` (`rb` in `rb"..."`); npos when no string starts there.
size_t stringPrefix(StringRef text) {
  size_t length = text.find_first_of("\"'");
  if (length > 2)
    return StringRef::npos;
  std::string prefix = text.take_front(length).lower();
  for (const char *valid : {"", "r", "u", "b", "f", "br", "rb", "fr", "rf"})
    if (prefix == valid)
      return length;
  return StringRef::npos;
}

void Lexer::lexName() {
  uint32_t begin = pos_;
  size_t prefix = stringPrefix(rest().take_front(3));
  if (prefix != StringRef::npos)
    return lexString(begin, static_cast<unsigned>(prefix));
  while (!atEnd()) {
    if (isAsciiContinue(peek())) {
      ++pos_;
      continue;
    }
    if (!isHighByte(peek()))
      break;
    uint32_t codePoint;
    unsigned length = decodeUtf8(rest().take_front(4), codePoint);
    if (!(pos_ == begin ? isIdentifierStart(codePoint) : isIdentifierContinue(codePoint)))
      return badCharacter();
    pos_ += length;
  }
  StringRef name = text_.substr(begin, pos_ - begin);
  emit(name.size() > 8 ? Tok::Name : keywordKind(name), begin);
}

void Lexer::badCharacter() {
  uint32_t codePoint;
  unsigned length = decodeUtf8(rest().take_front(4), codePoint);
  std::string code = llvm::utohexstr(codePoint);
  code.insert(0, code.size() < 4 ? 4 - code.size() : 0, '0');
  if (llvm::sys::unicode::isPrintable(static_cast<int>(codePoint)) && codePoint != 0xA0)
    error(pos_, pos_ + length,
          "invalid character '" + rest().take_front(length).str() + "' (U+" + code + ")");
  else
    error(pos_, pos_ + length, "invalid non-printable character U+" + code);
}

void Lexer::unterminatedString(uint32_t begin, uint32_t quoteAt, bool triple) {
  // A quote that would have closed the f-string around it: what is missing is the brace.
  for (const Open &entry : open_)
    if (entry.mode == Mode::FieldExpr && entry.quote == text_[quoteAt] && !entry.triple && !triple)
      return error(begin, begin + 1, "f-string: expecting '}'");
  error(begin, quoteAt + (triple ? 3 : 1),
        std::string("unterminated ") + (triple ? "triple-quoted string" : "string") +
            " literal (detected at line " + std::to_string(lastLine()) + ")");
}

void Lexer::lexString(uint32_t begin, unsigned prefix) {
  if (text_.substr(begin, prefix).find_insensitive('f') != StringRef::npos)
    return startFString(begin, prefix);
  pos_ = begin + prefix;
  char quote = peek();
  bool triple = peek(1) == quote && peek(2) == quote;
  pos_ += triple ? 3 : 1;
  while (!atEnd()) {
    char c = peek();
    if (c == '\\') {
      ++pos_;
      if (!atEnd())
        skipLineEnd();
      continue;
    }
    if (c == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
      pos_ += triple ? 3 : 1;
      return emit(Tok::String, begin);
    }
    if (isLineEnd(c) && !triple)
      break;
    ++pos_;
  }
  unterminatedString(begin, begin + prefix, triple);
}

void Lexer::startFString(uint32_t begin, unsigned prefix) {
  pos_ = begin + prefix;
  char quote = peek();
  bool triple = peek(1) == quote && peek(2) == quote;
  bool raw = text_.substr(begin, prefix).find_insensitive('r') != StringRef::npos;
  pos_ += triple ? 3 : 1;
  if (openBracket({Mode::FString, quote, quote, triple, raw, begin}))
    emit(Tok::FStringStart, begin);
}

/// Reads literal text of an f-string, or of a format specification, up to a brace or the closing quote.
void Lexer::lexFStringText() {
  Open top = open_.back();
  uint32_t begin = pos_;
  while (!atEnd() && skipFStringChar(top))
    ;
  if (failed_ || atEnd())
    return;
  endFStringText(begin);
}

bool Lexer::skipFStringChar(const Open &top) {
  bool spec = top.mode == Mode::FieldSpec;
  char c = peek();
  char next = peek(1);
  if (c == top.quote && (!top.triple || (next == c && peek(2) == c)))
    return false;
  if (c == '\\') {
    bool named = !top.raw && next == 'N' && peek(2) == '{';
    size_t close = named ? rest().take_until([](char c) { return isLineEnd(c); }).find('}') : StringRef::npos;
    if (close != StringRef::npos) {
      pos_ += static_cast<uint32_t>(close) + 1;
      return true;
    }
    ++pos_;
    if (!atEnd() && next != '{' && next != '}')
      skipLineEnd();
    return true;
  }
  if (isLineEnd(c) && !top.triple) {
    if (spec)
      error(pos_, pos_,
            "f-string: newlines are not allowed in format specifiers for single quoted f-strings");
    else
      error(top.offset, pos_,
            "unterminated f-string literal (detected at line " + std::to_string(lineOf(pos_)) + ")");
    return false;
  }
  if (c == '{' || c == '}') {
    if (spec || next != c)
      return false;
    ++pos_;
  }
  ++pos_;
  return true;
}

/// Emits the text read so far and what ended it: a field, the end of a format specification, or the quote.
void Lexer::endFStringText(uint32_t begin) {
  if (pos_ > begin)
    emit(Tok::FStringMiddle, begin);
  Open top = open_.back();
  uint32_t at = pos_;
  if (peek() == '{') {
    ++pos_;
    if (openBracket({Mode::FieldExpr, '{', top.quote, top.triple, top.raw, at}))
      emit(Tok::LBrace, at);
    return;
  }
  if (peek() == '}') {
    if (top.mode != Mode::FieldSpec)
      return error(at, at + 1, "f-string: single '}' is not allowed");
    ++pos_;
    open_.pop_back();
    return emit(Tok::RBrace, at);
  }
  if (top.mode == Mode::FieldSpec)
    return error(at, at + 1, "f-string: expecting '}'");
  pos_ += top.triple ? 3 : 1;
  open_.pop_back();
  emit(Tok::FStringEnd, at);
}

//===- Operators and brackets ---------------------------------------------===//

bool Lexer::openBracket(Open entry) {
  if (open_.size() >= ParserLimits::maxBrackets) {
    error(entry.offset, entry.offset + 1, "too many nested parentheses");
    return false;
  }
  open_.push_back(entry);
  return true;
}

void Lexer::closeBracket(char closing) {
  const char *prefix = "";
  for (const Open &entry : open_)
    if (entry.mode == Mode::FString)
      prefix = "f-string: ";
  if (open_.empty() || (inside(Mode::FieldExpr) && closing != '}'))
    return error(pos_, pos_ + 1, std::string(prefix) + "unmatched '" + closing + "'");
  Open top = open_.back();
  char expected = top.bracket == '(' ? ')' : top.bracket == '[' ? ']' : '}';
  if (closing == expected) {
    open_.pop_back();
    return;
  }
  std::string message = std::string(prefix) + "closing parenthesis '" + closing +
                        "' does not match opening parenthesis '" + top.bracket + "'";
  if (lineOf(top.offset) != lineOf(pos_))
    message += " on line " + std::to_string(lineOf(top.offset));
  error(pos_, pos_ + 1, message);
}

void Lexer::lexOperator() {
  uint32_t begin = pos_;
  if (inside(Mode::FieldExpr)) {
    if (peek() == ':' || (peek() == '!' && peek(1) != '=')) {
      bool colon = peek() == ':';
      ++pos_;
      if (colon)
        open_.back().mode = Mode::FieldSpec;
      return emit(colon ? Tok::Colon : Tok::Exclaim, begin);
    }
  }
  Operator op = operatorAt(rest().take_front(3));
  switch (op.kind) {
  case Tok::End:
    if (static_cast<unsigned char>(peek()) < 0x20 || peek() == 0x7F)
      return badCharacter();
    return error(pos_, pos_ + 1, "invalid syntax");
  case Tok::LParen:
  case Tok::LBracket:
  case Tok::LBrace:
    if (!openBracket({Mode::Bracket, peek(), '\0', false, false, pos_}))
      return;
    break;
  case Tok::RParen:
  case Tok::RBracket:
  case Tok::RBrace:
    closeBracket(peek());
    if (failed_)
      return;
    break;
  default: break;
  }
  pos_ += op.length;
  emit(op.kind, begin);
}

void Lexer::finish() {
  if (!open_.empty()) {
    const Open &top = open_.back();
    if (top.mode == Mode::FString || top.mode == Mode::FieldSpec)
      return error(top.offset, top.offset + 1,
                   std::string("unterminated ") + (top.triple ? "triple-quoted " : "") +
                       "f-string literal (detected at line " + std::to_string(lastLine()) + ")");
    if (top.mode == Mode::FieldExpr)
      return error(top.offset, top.offset + 1, "f-string: expecting '}'");
    out_.unclosed = top.offset;
    return error(top.offset, top.offset + 1, std::string("'") + top.bracket + "' was never closed");
  }
  if (!out_.tokens.empty() && !atLineStart_)
    emit(Tok::Newline, pos_);
  for (; indents_.size() > 1; indents_.pop_back())
    emit(Tok::Dedent, pos_);
  emit(Tok::End, pos_);
}

} // namespace

TokenStream tokenize(const SourceFile &file) { return Lexer(file).run(); }

} // namespace despina::syntax
