//===- Lexer.h - From text to tokens ----------------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The whole file becomes one vector of tokens: lookahead costs nothing then, and an open bracket is known to
// be never closed when the parser stumbles over what follows it.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_LANG_LEXER_H
#define DESPINA_LIB_LANG_LEXER_H

#include "despina/Lang/Source.h"

#include <optional>
#include <string>
#include <vector>

namespace despina::syntax {

enum class Tok : uint8_t {
  End,
  Error,
  Newline,
  Indent,
  Dedent,
  Name,
  Number,
  String,
  /// `f"`, the literal text between replacement fields, and the closing quote.
  FStringStart,
  FStringMiddle,
  FStringEnd,
  LParen,
  RParen,
  LBracket,
  RBracket,
  LBrace,
  RBrace,
  Comma,
  Colon,
  Semicolon,
  Dot,
  Ellipsis,
  Arrow,
  At,
  Equal,
  ColonEqual,
  Exclaim, ///< before the conversion of a replacement field
  Plus,
  Minus,
  Star,
  DoubleStar,
  Slash,
  DoubleSlash,
  Percent,
  Amp,
  Pipe,
  Caret,
  Tilde,
  LShift,
  RShift,
  Less,
  Greater,
  LessEqual,
  GreaterEqual,
  EqualEqual,
  NotEqual,
  PlusEqual,
  MinusEqual,
  StarEqual,
  SlashEqual,
  DoubleSlashEqual,
  PercentEqual,
  AtEqual,
  AmpEqual,
  PipeEqual,
  CaretEqual,
  LShiftEqual,
  RShiftEqual,
  DoubleStarEqual,
  KwFalse,
  KwNone,
  KwTrue,
  KwAnd,
  KwAs,
  KwAssert,
  KwAsync,
  KwAwait,
  KwBreak,
  KwClass,
  KwContinue,
  KwDef,
  KwDel,
  KwElif,
  KwElse,
  KwExcept,
  KwFinally,
  KwFor,
  KwFrom,
  KwGlobal,
  KwIf,
  KwImport,
  KwIn,
  KwIs,
  KwLambda,
  KwNonlocal,
  KwNot,
  KwOr,
  KwPass,
  KwRaise,
  KwReturn,
  KwTry,
  KwWhile,
  KwWith,
  KwYield,
};

struct Token {
  Tok kind = Tok::End;
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// All tokens of a file. The last one is End or, where the text cannot be read on, Error.
struct TokenStream {
  std::vector<Token> tokens;
  std::string errorMessage; ///< of the Error token
  std::string errorHelp;
  /// The innermost bracket still open at the end of the file.
  std::optional<uint32_t> unclosed;
};

TokenStream tokenize(const SourceFile &file);

/// Whether a code point may start (continue) a Python identifier; for those beyond ASCII.
bool isIdentifierStart(uint32_t codePoint);
bool isIdentifierContinue(uint32_t codePoint);

} // namespace despina::syntax

#endif // DESPINA_LIB_LANG_LEXER_H
