//===- Parser.cpp - Entry, tokens and errors of the parser ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ParserImpl.h"

namespace despina {
namespace syntax {

Parser::Parser(ast::Module &module, Diagnostics &diags)
    : module_(module), diags_(diags), file_(module.file()), text_(file_.text()), stream_(tokenize(file_)),
      tokens_(stream_.tokens) {}

bool Parser::parse() {
  while (!is(Tok::End))
    if (!parseStatement())
      return false;
  module_.setBody(take(stmts_, 0));
  return true;
}

void Parser::advance() {
  const Token &token = cur();
  if (token.kind != Tok::Newline && token.kind != Tok::Indent && token.kind != Tok::Dedent)
    lastEnd_ = token.end;
  // The last token is End or Error, and the parser never moves past it.
  if (pos_ + 1 < tokens_.size())
    ++pos_;
}

bool Parser::accept(Tok kind) {
  if (!is(kind))
    return false;
  advance();
  return true;
}

bool Parser::expect(Tok kind, const char *what) {
  if (accept(kind))
    return true;
  if (is(Tok::Error) || !what)
    invalidSyntax();
  else
    fail(cur().begin, cur().end, what);
  return false;
}

/// Index of the token that closes the bracket at index `open`; the last token when there is none.
size_t Parser::matchingBracket(size_t open) const {
  unsigned depth = 0;
  for (size_t i = open; i < tokens_.size(); ++i) {
    switch (tokens_[i].kind) {
    case Tok::LParen:
    case Tok::LBracket:
    case Tok::LBrace: ++depth; break;
    case Tok::RParen:
    case Tok::RBracket:
    case Tok::RBrace:
      if (--depth == 0)
        return i;
      break;
    default: break;
    }
  }
  return tokens_.size() - 1;
}

Failure Parser::fail(uint32_t begin, uint32_t end, const llvm::Twine &message, const llvm::Twine &help) {
  if (failed_)
    return {};
  failed_ = true;
  // At the end of the file there is nothing to point at, so point behind the last token.
  if (begin == text_.size())
    begin = end = lastEnd_;
  Diagnostic diagnostic;
  diagnostic.kind = ErrorKind::Syntax;
  // A bracket that is never closed swallows the lines that follow it: it is the cause, not what follows.
  if (stream_.unclosed && *stream_.unclosed < cur().begin &&
      lineOf(*stream_.unclosed) < lineOf(cur().begin)) {
    const Token &last = tokens_.back();
    diagnostic.message = stream_.errorMessage;
    diagnostic.range = rangeOf(last.begin, last.end);
  } else {
    diagnostic.message = message.str();
    diagnostic.help = help.str();
    diagnostic.range = rangeOf(begin, end);
  }
  diags_.report(std::move(diagnostic));
  return {};
}

Failure Parser::invalidSyntax() {
  const Token &token = cur();
  switch (token.kind) {
  case Tok::Error: return fail(token.begin, token.end, stream_.errorMessage, stream_.errorHelp);
  case Tok::Indent: return fail(token.begin, token.end, "unexpected indent");
  default: return fail(token.begin, token.end, "invalid syntax");
  }
}

Failure Parser::tooDeep(uint32_t begin, uint32_t end) {
  return fail(begin, end,
              "the code is nested too deeply (more than " + llvm::Twine(ParserLimits::maxTreeDepth) +
                  " levels)",
              "split the expression or the chain of statements into smaller parts");
}

/// Inside brackets, `begin` is where the last element started and the current token neither goes on with it
/// nor separates it from the next one.
Failure Parser::missingDelimiter(uint32_t begin) {
  switch (kind()) {
  case Tok::Name:
  case Tok::Number:
  case Tok::String:
  case Tok::FStringStart:
  case Tok::KwNone:
  case Tok::KwTrue:
  case Tok::KwFalse: return fail(begin, cur().end, "invalid syntax. Perhaps you forgot a comma?");
  default: return invalidSyntax();
  }
}

} // namespace syntax

std::unique_ptr<ast::Module> parseModule(std::shared_ptr<const SourceFile> file, Diagnostics &diags) {
  auto module = std::make_unique<ast::Module>(std::move(file));
  if (!syntax::Parser(*module, diags).parse())
    return nullptr;
  return module;
}

} // namespace despina
