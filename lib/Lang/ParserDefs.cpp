//===- ParserDefs.cpp - Parameters, functions and classes -----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ParserImpl.h"

#include "llvm/ADT/DenseSet.h"

namespace despina::syntax {

using Kind = ast::Parameter::Kind;

//===- Parameters ---------------------------------------------------------===//

/// Reads parameters up to `close`, which stays unread. Annotations only in `def`.
bool Parser::parseParameters(Tok close, bool annotations, llvm::ArrayRef<ast::Parameter> &params,
                             unsigned &height) {
  size_t mark = params_.size();
  ParameterState state;
  while (!is(close)) {
    uint32_t begin = cur().begin;
    if (!parseParameter(close, annotations, state, mark))
      return false;
    if (!is(close) && !accept(Tok::Comma)) {
      if (annotations)
        return missingDelimiter(begin);
      return invalidSyntax();
    }
  }
  if (state.bareStar)
    return fail(cur().begin, cur().end, "named parameters must follow bare *");
  params = take(params_, mark);
  llvm::DenseSet<llvm::StringRef> names;
  for (const ast::Parameter &param : params) {
    if (!names.insert(param.name).second)
      return fail(param.range.begin, param.range.begin + static_cast<uint32_t>(param.name.size()),
                  "duplicate parameter '" + param.name + "' in function definition");
    height = std::max({height, heightOf(param.annotation), heightOf(param.defaultValue)});
  }
  return true;
}

bool Parser::parseParameter(Tok close, bool annotations, ParameterState &state, size_t mark) {
  if (state.sawDoubleStar)
    return fail(cur().begin, cur().end, "parameters cannot follow var-keyword parameter");
  if (is(Tok::Slash))
    return parseSlashMarker(state, mark);
  if (accept(Tok::DoubleStar)) {
    state.sawDoubleStar = true;
    return parseNamedParameter(Kind::VarKeyword, annotations, state, mark);
  }
  if (!is(Tok::Star))
    return parseNamedParameter(state.sawStar ? Kind::KeywordOnly : Kind::Positional, annotations, state,
                               mark);
  if (state.sawStar)
    return fail(cur().begin, cur().end, "* may appear only once");
  advance();
  state.sawStar = true;
  if (!is(Tok::Comma) && !is(close))
    return parseNamedParameter(Kind::VarPositional, annotations, state, mark);
  state.bareStar = true;
  return true;
}

/// `/`: the parameters before it take no keyword.
bool Parser::parseSlashMarker(ParameterState &state, size_t mark) {
  const char *error = state.sawSlash           ? "/ may appear only once"
                      : state.sawStar          ? "/ must be ahead of *"
                      : params_.size() == mark ? "at least one parameter must precede /"
                                               : nullptr;
  if (error)
    return fail(cur().begin, cur().end, error);
  advance();
  state.sawSlash = true;
  for (size_t i = mark; i < params_.size(); ++i)
    params_[i].kind = Kind::PositionalOnly;
  return true;
}

bool Parser::parseNamedParameter(Kind kind, bool annotations, ParameterState &state, size_t mark) {
  if (!is(Tok::Name)) {
    if (is(Tok::LParen))
      return fail(cur().begin, cur().end,
                  annotations ? "Function parameters cannot be parenthesized"
                              : "Lambda expression parameters cannot be parenthesized");
    return invalidSyntax();
  }
  ast::Parameter param;
  param.kind = kind;
  param.name = text(cur());
  uint32_t begin = cur().begin;
  uint32_t nameEnd = cur().end;
  advance();
  if (annotations && accept(Tok::Colon)) {
    param.annotation = kind == Kind::VarPositional ? parseStarOrExpression() : parseExpression();
    if (!param.annotation)
      return false;
  }
  param.range = rangeOf(begin, lastEnd_);
  bool variadic = kind == Kind::VarPositional || kind == Kind::VarKeyword;
  if (is(Tok::Equal)) {
    if (variadic)
      return fail(cur().begin, cur().end,
                  kind == Kind::VarKeyword ? "var-keyword parameter cannot have default value"
                                           : "var-positional parameter cannot have default value");
    advance();
    if (is(Tok::Comma) || is(Tok::RParen) || is(Tok::Colon))
      return fail(lastEnd_ - 1, lastEnd_, "expected default value expression");
    param.defaultValue = parseExpression();
    if (!param.defaultValue)
      return false;
    state.sawDefault |= kind == Kind::Positional;
  } else if (kind == Kind::Positional && state.sawDefault) {
    return fail(begin, nameEnd, "parameter without a default follows parameter with a default");
  }
  if (kind != Kind::VarKeyword)
    state.bareStar = false;
  params_.push_back(param);
  return true;
}

/// `[T, U: bound = default, *Ts, **P]`: checked, but nothing in a kernel can refer to it, so it is not kept.
bool Parser::parseTypeParams() {
  if (!accept(Tok::LBracket))
    return true;
  if (is(Tok::RBracket))
    return fail(cur().begin, cur().end, "Type parameter list cannot be empty");
  while (!accept(Tok::RBracket)) {
    uint32_t begin = cur().begin;
    bool star = accept(Tok::Star);
    bool plain = !star && !accept(Tok::DoubleStar);
    if (!expect(Tok::Name, nullptr))
      return false;
    if (plain && accept(Tok::Colon) && !parseExpression())
      return false;
    if (accept(Tok::Equal) && !(star ? parseStarOrExpression() : parseExpression()))
      return false;
    if (!is(Tok::RBracket) && !accept(Tok::Comma))
      return missingDelimiter(begin);
  }
  return true;
}

//===- Definitions --------------------------------------------------------===//

ast::Stmt *Parser::parseDecorated() {
  uint32_t begin = cur().begin;
  size_t mark = exprs_.size();
  while (accept(Tok::At)) {
    Expr *decorator = parseNamed();
    if (!decorator)
      return nullptr;
    exprs_.push_back(decorator);
    if (!expect(Tok::Newline, nullptr))
      return nullptr;
  }
  if (is(Tok::KwDef))
    return parseDef(begin, mark, /*isAsync=*/false);
  if (is(Tok::KwClass))
    return parseClass(begin, mark);
  if (is(Tok::KwAsync) && kindAt(1) == Tok::KwDef)
    return parseDef(begin, mark, /*isAsync=*/true);
  invalidSyntax();
  return nullptr;
}

/// `begin` is where the first decorator, or `async`, or `def` starts; decorators lie on `exprs_`.
ast::Stmt *Parser::parseDef(uint32_t begin, size_t decoratorMark, bool isAsync) {
  if (isAsync)
    advance();
  uint32_t defOffset = cur().begin;
  advance();
  auto *def = module_.make<ast::FunctionDef>(rangeOf(begin, begin), isAsync);
  def->defOffset = defOffset;
  def->decorators = take(exprs_, decoratorMark);
  def->name = text(cur());
  def->nameRange = rangeOf(cur().begin, cur().end);
  unsigned height = tallest(def->decorators);
  if (!expect(Tok::Name, nullptr) || !parseTypeParams() || !expect(Tok::LParen, "expected '('") ||
      !parseParameters(Tok::RParen, /*annotations=*/true, def->params, height))
    return nullptr;
  advance(); // `)`
  if (accept(Tok::Arrow) && !(def->returns = parseExpression()))
    return nullptr;
  if (!expectColon(/*always=*/true))
    return nullptr;
  unsigned loops = std::exchange(loops_, 0);
  ++functions_;
  bool ok = parseBlock(def->body, "function definition", defOffset);
  --functions_;
  loops_ = loops;
  if (!ok)
    return nullptr;
  def->setEnd(lastEnd_);
  return finish(def, std::max({height, heightOf(def->returns), tallest(def->body)}) + 1);
}

ast::Stmt *Parser::parseClass(uint32_t begin, size_t decoratorMark) {
  uint32_t classOffset = cur().begin;
  advance();
  auto *node = module_.make<ast::ClassDef>(rangeOf(begin, begin));
  node->decorators = take(exprs_, decoratorMark);
  node->name = text(cur());
  unsigned height = tallest(node->decorators);
  if (!expect(Tok::Name, nullptr) || !parseTypeParams())
    return nullptr;
  if (is(Tok::LParen) && !parseArguments(node->bases, node->keywords, height))
    return nullptr;
  if (!expectColon(/*always=*/false))
    return nullptr;
  unsigned loops = std::exchange(loops_, 0);
  unsigned functions = std::exchange(functions_, 0);
  bool ok = parseBlock(node->body, "class definition", classOffset);
  loops_ = loops;
  functions_ = functions;
  if (!ok)
    return nullptr;
  node->setEnd(lastEnd_);
  return finish(node, std::max(height, tallest(node->body)) + 1);
}

} // namespace despina::syntax
