//===- ParserStmt.cpp - Statements ----------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ParserImpl.h"

namespace despina::syntax {

using llvm::dyn_cast;
using llvm::isa;

/// Reads one line of simple statements, or a compound statement, onto `stmts_`.
bool Parser::parseStatement() {
  bool isCompound = true;
  Stmt *statement = parseCompound(isCompound);
  if (!isCompound)
    return parseSimpleLine();
  if (statement)
    stmts_.push_back(statement);
  return statement != nullptr;
}

ast::Stmt *Parser::parseCompound(bool &isCompound) {
  switch (kind()) {
  case Tok::KwIf: return parseIf();
  case Tok::KwWhile: return parseWhile();
  case Tok::KwFor: return parseFor(cur().begin, /*isAsync=*/false);
  case Tok::KwTry: return parseTry();
  case Tok::KwWith: return parseWith(cur().begin, /*isAsync=*/false);
  case Tok::KwDef: return parseDef(cur().begin, exprs_.size(), /*isAsync=*/false);
  case Tok::KwClass: return parseClass(cur().begin, exprs_.size());
  case Tok::At: return parseDecorated();
  case Tok::KwAsync: return parseAsync();
  case Tok::Name:
    if (startsMatch())
      return parseMatch();
    break;
  default: break;
  }
  isCompound = false;
  return nullptr;
}

ast::Stmt *Parser::parseAsync() {
  uint32_t begin = cur().begin;
  switch (kindAt(1)) {
  case Tok::KwDef: return parseDef(begin, exprs_.size(), /*isAsync=*/true);
  case Tok::KwFor: advance(); return parseFor(begin, /*isAsync=*/true);
  case Tok::KwWith: advance(); return parseWith(begin, /*isAsync=*/true);
  default: return invalidSyntax();
  }
}

//===- Simple statements --------------------------------------------------===//

bool Parser::parseSimpleLine() {
  do {
    Stmt *statement = parseSimple();
    if (!statement)
      return false;
    stmts_.push_back(statement);
    if (!endOfSimpleStatement())
      return false;
  } while (accept(Tok::Semicolon) && !is(Tok::Newline));
  return expect(Tok::Newline, nullptr);
}

bool Parser::endOfSimpleStatement() {
  if (is(Tok::Newline) || is(Tok::Semicolon))
    return true;
  // `print x`, from Python 2.
  if (auto *expr = dyn_cast<ast::ExprStmt>(stmts_.back()))
    if (auto *name = dyn_cast<ast::Name>(expr->value); name && (name->id == "print" || name->id == "exec"))
      if (startsExpression(cur()))
        return fail(name->range().begin, cur().end,
                    "Missing parentheses in call to '" + name->id + "'. Did you mean " + name->id + "(...)?");
  return invalidSyntax();
}

ast::Stmt *Parser::parseSimple() {
  uint32_t begin = cur().begin;
  switch (kind()) {
  case Tok::KwPass: advance(); return make<ast::Pass>(begin, lastEnd_, 1);
  case Tok::KwBreak:
  case Tok::KwContinue: return parseLoopExit();
  case Tok::KwReturn: return parseReturn();
  case Tok::KwRaise: return parseRaise();
  case Tok::KwGlobal: return parseNameList<ast::Global>();
  case Tok::KwNonlocal: return parseNameList<ast::Nonlocal>();
  case Tok::KwDel: return parseDelete();
  case Tok::KwAssert: return parseAssert();
  case Tok::KwImport: return parseImport();
  case Tok::KwFrom: return parseImportFrom();
  default: break;
  }
  if (isWord("type") && kindAt(1) == Tok::Name && (kindAt(2) == Tok::Equal || kindAt(2) == Tok::LBracket))
    return parseTypeAlias();
  return parseExpressionStatement();
}

ast::Stmt *Parser::parseLoopExit() {
  uint32_t begin = cur().begin;
  bool isBreak = is(Tok::KwBreak);
  advance();
  if (loops_ == 0)
    return fail(begin, lastEnd_, isBreak ? "'break' outside loop" : "'continue' not properly in loop");
  if (isBreak)
    return make<ast::Break>(begin, lastEnd_, 1);
  return make<ast::Continue>(begin, lastEnd_, 1);
}

ast::Stmt *Parser::parseReturn() {
  uint32_t begin = cur().begin;
  advance();
  if (functions_ == 0)
    return fail(begin, lastEnd_, "'return' outside function");
  Expr *value = nullptr;
  if (!is(Tok::Newline) && !is(Tok::Semicolon) && !(value = parseExpressionList()))
    return nullptr;
  auto *node = make<ast::Return>(begin, lastEnd_, heightOf(value) + 1);
  if (node)
    node->value = value;
  return node;
}

ast::Stmt *Parser::parseRaise() {
  uint32_t begin = cur().begin;
  advance();
  Expr *exc = nullptr, *cause = nullptr;
  if (!is(Tok::Newline) && !is(Tok::Semicolon) && !(exc = parseExpression()))
    return nullptr;
  if (exc && accept(Tok::KwFrom) && !(cause = parseExpression()))
    return nullptr;
  auto *node = make<ast::Raise>(begin, lastEnd_, std::max(heightOf(exc), heightOf(cause)) + 1);
  if (node) {
    node->exc = exc;
    node->cause = cause;
  }
  return node;
}

ast::Stmt *Parser::parseAssert() {
  uint32_t begin = cur().begin;
  advance();
  Expr *test = parseExpression();
  if (!test)
    return nullptr;
  Expr *message = nullptr;
  if (accept(Tok::Comma) && !(message = parseExpression()))
    return nullptr;
  auto *node = make<ast::Assert>(begin, lastEnd_, std::max(test->height(), heightOf(message)) + 1);
  if (node) {
    node->test = test;
    node->msg = message;
  }
  return node;
}

ast::Stmt *Parser::parseDelete() {
  uint32_t begin = cur().begin;
  advance();
  size_t mark = exprs_.size();
  do {
    if (exprs_.size() > mark && (is(Tok::Newline) || is(Tok::Semicolon)))
      break;
    Expr *target = parseExpression();
    if (!target || !checkTarget(target, TargetUse::Delete))
      return nullptr;
    exprs_.push_back(target);
  } while (accept(Tok::Comma));
  ast::ExprList targets = take(exprs_, mark);
  auto *node = make<ast::Delete>(begin, lastEnd_, tallest(targets) + 1);
  if (node)
    node->targets = targets;
  return node;
}

/// `global a, b` and `nonlocal a, b`.
template <typename T> ast::Stmt *Parser::parseNameList() {
  uint32_t begin = cur().begin;
  advance();
  std::vector<llvm::StringRef> names;
  do {
    names.push_back(text(cur()));
    if (!expect(Tok::Name, nullptr))
      return nullptr;
  } while (accept(Tok::Comma));
  auto *node = make<T>(begin, lastEnd_, 1);
  node->names = module_.copy(llvm::ArrayRef<llvm::StringRef>(names));
  return node;
}

//===- Imports ------------------------------------------------------------===//

/// `a.b.c`; blanks around the dots are dropped.
bool Parser::parseDottedName(llvm::StringRef &name) {
  uint32_t begin = cur().begin;
  if (!expect(Tok::Name, nullptr))
    return false;
  while (accept(Tok::Dot))
    if (!expect(Tok::Name, nullptr))
      return false;
  name = text_.slice(begin, lastEnd_);
  if (name.find_first_of(" \t\f\\\r\n#") == llvm::StringRef::npos)
    return true;
  std::string joined;
  for (size_t i = pos_; i-- > 0 && tokens_[i].begin >= begin;)
    joined.insert(0, text(tokens_[i]).str());
  name = module_.copy(llvm::StringRef(joined));
  return true;
}

bool Parser::parseAlias(bool dotted) {
  ast::Alias alias;
  uint32_t begin = cur().begin;
  if (dotted) {
    if (!parseDottedName(alias.name))
      return false;
  } else {
    alias.name = text(cur());
    if (!expect(Tok::Name, nullptr))
      return false;
  }
  if (accept(Tok::KwAs)) {
    alias.asName = text(cur());
    if (!expect(Tok::Name, nullptr))
      return false;
  }
  alias.range = rangeOf(begin, lastEnd_);
  aliases_.push_back(alias);
  return true;
}

ast::Stmt *Parser::parseImport() {
  uint32_t begin = cur().begin;
  advance();
  size_t mark = aliases_.size();
  do {
    if (!parseAlias(/*dotted=*/true))
      return nullptr;
  } while (accept(Tok::Comma));
  auto *node = make<ast::Import>(begin, lastEnd_, 1);
  node->names = take(aliases_, mark);
  return node;
}

ast::Stmt *Parser::parseImportFrom() {
  uint32_t begin = cur().begin;
  advance();
  unsigned level = 0;
  for (; is(Tok::Dot) || is(Tok::Ellipsis); advance())
    level += is(Tok::Dot) ? 1 : 3;
  llvm::StringRef module;
  if ((!is(Tok::KwImport) || level == 0) && !parseDottedName(module))
    return nullptr;
  if (!expect(Tok::KwImport, nullptr))
    return nullptr;
  size_t mark = aliases_.size();
  if (is(Tok::Star)) {
    ast::Alias alias;
    alias.name = text(cur());
    alias.range = rangeOf(cur().begin, cur().end);
    aliases_.push_back(alias);
    advance();
  } else {
    bool parenthesized = accept(Tok::LParen);
    do {
      if (parenthesized && aliases_.size() > mark && is(Tok::RParen))
        break;
      if (!parenthesized && aliases_.size() > mark && is(Tok::Newline))
        return fail(lastEnd_ - 1, lastEnd_, "trailing comma not allowed without surrounding parentheses");
      if (!parseAlias(/*dotted=*/false))
        return nullptr;
    } while (accept(Tok::Comma));
    if (parenthesized && !expect(Tok::RParen, nullptr))
      return nullptr;
  }
  auto *node = make<ast::ImportFrom>(begin, lastEnd_, 1);
  node->module = module;
  node->level = level;
  node->names = take(aliases_, mark);
  return node;
}

//===- Expressions and assignments ----------------------------------------===//

ast::Stmt *Parser::parseTypeAlias() {
  uint32_t begin = cur().begin;
  advance();
  llvm::StringRef name = text(cur());
  advance();
  if (!parseTypeParams() || !expect(Tok::Equal, nullptr))
    return nullptr;
  Expr *value = parseExpression();
  if (!value)
    return nullptr;
  auto *node = make<ast::TypeAlias>(begin, lastEnd_, value->height() + 1);
  if (node) {
    node->name = name;
    node->value = value;
  }
  return node;
}

ast::Stmt *Parser::parseExpressionStatement() {
  uint32_t begin = cur().begin;
  Expr *first = parseYieldOrList();
  if (!first)
    return nullptr;
  Tok next = kind();
  if (next == Tok::Equal)
    return parseAssign(first, begin);
  if (next == Tok::Colon)
    return parseAnnotated(first, begin);
  if (next >= Tok::PlusEqual && next <= Tok::DoubleStarEqual)
    return parseAugmented(first, begin);
  if (isa<ast::Starred>(first))
    return fail(first, "can't use starred expression here");
  auto *node = make<ast::ExprStmt>(begin, lastEnd_, first->height() + 1);
  if (node)
    node->value = first;
  return node;
}

ast::Stmt *Parser::parseAssign(Expr *first, uint32_t begin) {
  size_t mark = exprs_.size();
  Expr *value = first;
  while (is(Tok::Equal)) {
    if (isa<ast::Yield, ast::YieldFrom>(value))
      return fail(value, "assignment to yield expression not possible");
    if (!checkTarget(value, TargetUse::Assign))
      return nullptr;
    exprs_.push_back(value);
    advance();
    value = parseYieldOrList();
    if (!value)
      return nullptr;
  }
  if (isa<ast::Starred>(value))
    return fail(value, "can't use starred expression here");
  ast::ExprList targets = take(exprs_, mark);
  auto *node = make<ast::Assign>(begin, lastEnd_, std::max(tallest(targets), value->height()) + 1);
  if (node) {
    node->targets = targets;
    node->value = value;
  }
  return node;
}

ast::Stmt *Parser::parseAnnotated(Expr *target, uint32_t begin) {
  if (isa<ast::Tuple>(target))
    return fail(target, "only single target (not tuple) can be annotated");
  if (isa<ast::List>(target))
    return fail(target, "only single target (not list) can be annotated");
  if (!isa<ast::Name, ast::Attribute, ast::Subscript>(target))
    return fail(target, "illegal target for annotation");
  advance();
  Expr *annotation = parseExpression();
  if (!annotation)
    return nullptr;
  Expr *value = nullptr;
  if (accept(Tok::Equal) && !(value = parseYieldOrList()))
    return nullptr;
  unsigned height = std::max({target->height(), annotation->height(), heightOf(value)}) + 1;
  auto *node = make<ast::AnnAssign>(begin, lastEnd_, height);
  if (node) {
    node->target = target;
    node->annotation = annotation;
    node->value = value;
  }
  return node;
}

namespace {

ast::BinaryOperator augmentedOperator(Tok token) {
  using ast::BinaryOperator;
  switch (token) {
  case Tok::MinusEqual: return BinaryOperator::Sub;
  case Tok::StarEqual: return BinaryOperator::Mult;
  case Tok::SlashEqual: return BinaryOperator::Div;
  case Tok::DoubleSlashEqual: return BinaryOperator::FloorDiv;
  case Tok::PercentEqual: return BinaryOperator::Mod;
  case Tok::AtEqual: return BinaryOperator::MatMult;
  case Tok::AmpEqual: return BinaryOperator::BitAnd;
  case Tok::PipeEqual: return BinaryOperator::BitOr;
  case Tok::CaretEqual: return BinaryOperator::BitXor;
  case Tok::LShiftEqual: return BinaryOperator::LShift;
  case Tok::RShiftEqual: return BinaryOperator::RShift;
  case Tok::DoubleStarEqual: return BinaryOperator::Pow;
  default: return BinaryOperator::Add;
  }
}

} // namespace

ast::Stmt *Parser::parseAugmented(Expr *target, uint32_t begin) {
  if (!isa<ast::Name, ast::Attribute, ast::Subscript>(target))
    return fail(target, llvm::Twine("'") + expressionName(target) +
                            "' is an illegal expression for augmented assignment");
  ast::BinaryOperator op = augmentedOperator(kind());
  advance();
  Expr *value = parseYieldOrList();
  if (!value)
    return nullptr;
  auto *node = make<ast::AugAssign>(begin, lastEnd_, std::max(target->height(), value->height()) + 1);
  if (node) {
    node->target = target;
    node->op = op;
    node->value = value;
  }
  return node;
}

} // namespace despina::syntax
