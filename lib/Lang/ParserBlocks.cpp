//===- ParserBlocks.cpp - Statements with a block -------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ParserImpl.h"

namespace despina::syntax {

/// The test of `if` and `while`. `if x = 1:` is a common slip with a message of its own.
ast::Expr *Parser::parseCondition() {
  uint32_t begin = cur().begin;
  Expr *test = parseNamed();
  if (!test || !is(Tok::Equal))
    return test;
  if (llvm::isa<ast::Name>(test))
    return fail(begin, cur().end, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
  return fail(begin, lastEnd_,
              llvm::Twine("cannot assign to ") + expressionName(test) +
                  " here. Maybe you meant '==' instead of '='?");
}

/// `always`: whatever stands in place of the colon, the colon is what is missed.
bool Parser::expectColon(bool always) {
  return expect(Tok::Colon, always || is(Tok::Newline) ? "expected ':'" : nullptr);
}

/// Reads what follows a colon: statements on the same line, or an indented block. `owner` names the statement
/// in errors.
bool Parser::parseBlock(ast::StmtList &body, const char *owner, uint32_t ownerOffset) {
  size_t mark = stmts_.size();
  if (!accept(Tok::Newline)) {
    if (!parseSimpleLine())
      return false;
    body = take(stmts_, mark);
    return true;
  }
  if (is(Tok::Error))
    return invalidSyntax();
  if (!is(Tok::Indent))
    return fail(cur().begin, cur().end,
                llvm::Twine("expected an indented block after ") + owner + " on line " +
                    llvm::Twine(lineOf(ownerOffset)));
  advance();
  while (!is(Tok::Dedent) && !is(Tok::End))
    if (!parseStatement())
      return false;
  accept(Tok::Dedent);
  body = take(stmts_, mark);
  return true;
}

bool Parser::parseElse(ast::StmtList &orelse) {
  uint32_t begin = cur().begin;
  if (!accept(Tok::KwElse))
    return true;
  return expectColon(/*always=*/true) && parseBlock(orelse, "'else' statement", begin);
}

//===- if, while, for -----------------------------------------------------===//

/// `elif` clauses are read in a loop and nested afterwards: each is a level of the tree.
ast::Stmt *Parser::parseIf() {
  size_t mark = ifs_.size();
  do {
    uint32_t begin = cur().begin;
    bool elif = is(Tok::KwElif);
    if (ifs_.size() - mark >= ParserLimits::maxTreeDepth)
      return tooDeep(begin, cur().end);
    advance();
    auto *node = module_.make<ast::If>(rangeOf(begin, begin));
    node->test = parseCondition();
    if (!node->test || !expectColon(/*always=*/false) ||
        !parseBlock(node->body, elif ? "'elif' statement" : "'if' statement", begin))
      return nullptr;
    ifs_.push_back(node);
  } while (is(Tok::KwElif));
  ast::StmtList orelse;
  if (!parseElse(orelse))
    return nullptr;
  return buildElifChain(mark, orelse);
}

ast::Stmt *Parser::buildElifChain(size_t mark, ast::StmtList orelse) {
  Stmt *inner = nullptr;
  while (ifs_.size() > mark) {
    ast::If *node = ifs_.back();
    ifs_.pop_back();
    node->orelse = orelse;
    node->setEnd(lastEnd_);
    inner = finish(node, std::max({node->test->height(), tallest(node->body), tallest(orelse)}) + 1);
    if (!inner)
      return nullptr;
    orelse = module_.copy(llvm::ArrayRef<Stmt *>(inner));
  }
  return inner;
}

ast::Stmt *Parser::parseWhile() {
  uint32_t begin = cur().begin;
  advance();
  auto *node = module_.make<ast::While>(rangeOf(begin, begin));
  node->test = parseCondition();
  if (!node->test || !expectColon(/*always=*/false))
    return nullptr;
  ++loops_;
  bool ok = parseBlock(node->body, "'while' statement", begin);
  --loops_;
  if (!ok || !parseElse(node->orelse))
    return nullptr;
  node->setEnd(lastEnd_);
  return finish(node, std::max({node->test->height(), tallest(node->body), tallest(node->orelse)}) + 1);
}

ast::Stmt *Parser::parseFor(uint32_t begin, bool isAsync) {
  uint32_t forOffset = cur().begin;
  advance();
  auto *node = module_.make<ast::For>(rangeOf(begin, begin), isAsync);
  node->target = parseTargetList(TargetUse::For);
  if (!node->target || !expect(Tok::KwIn, nullptr))
    return nullptr;
  node->iter = parseExpressionList();
  if (!node->iter || !expectColon(/*always=*/false))
    return nullptr;
  ++loops_;
  bool ok = parseBlock(node->body, "'for' statement", forOffset);
  --loops_;
  if (!ok || !parseElse(node->orelse))
    return nullptr;
  node->setEnd(lastEnd_);
  unsigned height =
      std::max({node->target->height(), node->iter->height(), tallest(node->body), tallest(node->orelse)});
  return finish(node, height + 1);
}

//===- try ----------------------------------------------------------------===//

ast::Stmt *Parser::parseTry() {
  uint32_t begin = cur().begin;
  advance();
  auto *node = module_.make<ast::Try>(rangeOf(begin, begin));
  if (!expectColon(/*always=*/true) || !parseBlock(node->body, "'try' statement", begin))
    return nullptr;
  unsigned height = tallest(node->body);
  size_t mark = handlers_.size();
  bool isStar = false;
  while (is(Tok::KwExcept))
    if (!parseHandler(handlers_.size() == mark, isStar, height))
      return nullptr;
  node->handlers = take(handlers_, mark);
  if (!node->handlers.empty() && !parseElse(node->orelse))
    return nullptr;
  uint32_t finallyBegin = cur().begin;
  bool hasFinally = accept(Tok::KwFinally);
  if (hasFinally &&
      (!expectColon(/*always=*/true) || !parseBlock(node->finalbody, "'finally' statement", finallyBegin)))
    return nullptr;
  if (!hasFinally && node->handlers.empty()) {
    if (is(Tok::Error))
      return invalidSyntax();
    return fail(cur().begin, cur().end, "expected 'except' or 'finally' block");
  }
  node->setEnd(lastEnd_);
  return finish(node, std::max({height, tallest(node->orelse), tallest(node->finalbody)}) + 1);
}

/// `except A as x:` or `except* A:`; `isStar` tells what the one before it was.
bool Parser::parseHandler(bool first, bool &isStar, unsigned &height) {
  uint32_t begin = cur().begin;
  advance();
  bool star = accept(Tok::Star);
  if (star != isStar && !first)
    return fail(begin, lastEnd_, "cannot have both 'except' and 'except*' on the same 'try'");
  isStar = star;
  ast::ExceptHandler handler;
  if (!is(Tok::Colon)) {
    // Since Python 3.14 several classes need no parentheses unless `as` follows.
    handler.type = parseExpressionList();
    if (!handler.type)
      return false;
    if (accept(Tok::KwAs)) {
      handler.name = text(cur());
      if (!expect(Tok::Name, nullptr))
        return false;
    }
  } else if (star) {
    return fail(cur().begin, cur().end, "expected one or more exception types");
  }
  if (!expectColon(/*always=*/false) ||
      !parseBlock(handler.body, star ? "'except*' statement" : "'except' statement", begin))
    return false;
  height = std::max({height, heightOf(handler.type), tallest(handler.body)});
  handlers_.push_back(handler);
  return true;
}

//===- with ---------------------------------------------------------------===//

/// Whether the parenthesis after `with` holds the items, and is not the start of an expression.
bool Parser::withItemsInParentheses() const {
  if (!is(Tok::LParen) || kindAt(1) == Tok::RParen)
    return false;
  size_t close = matchingBracket(pos_);
  if (close + 1 >= tokens_.size() || tokens_[close + 1].kind != Tok::Colon)
    return false;
  unsigned depth = 0;
  for (size_t i = pos_; i < close; ++i) {
    switch (tokens_[i].kind) {
    case Tok::LParen:
    case Tok::LBracket:
    case Tok::LBrace: ++depth; break;
    case Tok::RParen:
    case Tok::RBracket:
    case Tok::RBrace: --depth; break;
    case Tok::KwYield:
    case Tok::ColonEqual:
    case Tok::KwFor:
      if (depth == 1)
        return false;
      break;
    case Tok::Star:
      if (depth == 1 && (tokens_[i - 1].kind == Tok::LParen || tokens_[i - 1].kind == Tok::Comma))
        return false;
      break;
    default: break;
    }
  }
  return true;
}

bool Parser::parseWithItem(unsigned &height) {
  ast::WithItem item;
  item.context = parseExpression();
  if (!item.context)
    return false;
  if (accept(Tok::KwAs)) {
    item.target = is(Tok::Star) ? parseStarred() : parseExpression(Level::BitOr);
    if (!item.target || !checkTarget(item.target, TargetUse::With))
      return false;
  }
  height = std::max({height, item.context->height(), heightOf(item.target)});
  withItems_.push_back(item);
  return true;
}

ast::Stmt *Parser::parseWith(uint32_t begin, bool isAsync) {
  uint32_t withOffset = cur().begin;
  advance();
  auto *node = module_.make<ast::With>(rangeOf(begin, begin), isAsync);
  size_t mark = withItems_.size();
  unsigned height = 0;
  bool parenthesized = withItemsInParentheses();
  if (parenthesized)
    advance();
  do {
    if (parenthesized && is(Tok::RParen))
      break;
    if (!parseWithItem(height))
      return nullptr;
  } while (accept(Tok::Comma));
  if (parenthesized && !expect(Tok::RParen, nullptr))
    return nullptr;
  node->items = take(withItems_, mark);
  if (!expectColon(/*always=*/false) || !parseBlock(node->body, "'with' statement", withOffset))
    return nullptr;
  node->setEnd(lastEnd_);
  return finish(node, std::max(height, tallest(node->body)) + 1);
}

//===- match --------------------------------------------------------------===//

/// `match` is a name unless the line ends with a colon and a block that begins with `case` follows.
bool Parser::startsMatch() const {
  if (!isWord("match") ||
      (!startsExpression(tokens_[std::min(pos_ + 1, tokens_.size() - 1)]) && kindAt(1) != Tok::Star))
    return false;
  size_t i = pos_;
  while (tokens_[i].kind != Tok::Newline && i + 1 < tokens_.size())
    ++i;
  return tokens_[i - 1].kind == Tok::Colon && i + 2 < tokens_.size() && tokens_[i + 1].kind == Tok::Indent &&
         tokens_[i + 2].kind == Tok::Name && text(tokens_[i + 2]) == "case";
}

ast::Stmt *Parser::parseMatch() {
  uint32_t begin = cur().begin;
  advance();
  auto *node = module_.make<ast::Match>(rangeOf(begin, begin));
  uint32_t subjectBegin = cur().begin;
  node->subject = parseStarOrNamed();
  if (node->subject && is(Tok::Comma)) {
    size_t mark = exprs_.size();
    exprs_.push_back(node->subject);
    while (accept(Tok::Comma) && !is(Tok::Colon)) {
      exprs_.push_back(parseStarOrNamed());
      if (!exprs_.back())
        return nullptr;
    }
    ast::ExprList elts = take(exprs_, mark);
    auto *tuple = make<ast::Tuple>(subjectBegin, lastEnd_, tallest(elts) + 1);
    if (tuple)
      tuple->elts = elts;
    node->subject = tuple;
  }
  if (!node->subject || !expectColon(/*always=*/false) || !expect(Tok::Newline, nullptr) ||
      !expect(Tok::Indent, nullptr))
    return nullptr;
  size_t mark = bodies_.size();
  while (!is(Tok::Dedent) && !is(Tok::End))
    if (!parseCase())
      return nullptr;
  accept(Tok::Dedent);
  node->bodies = take(bodies_, mark);
  node->setEnd(lastEnd_);
  unsigned height = node->subject->height();
  for (ast::StmtList body : node->bodies)
    height = std::max(height, tallest(body));
  return finish(node, height + 1);
}

/// The pattern and its guard are skipped up to the colon outside brackets.
bool Parser::parseCase() {
  uint32_t begin = cur().begin;
  if (!isWord("case") || kindAt(1) == Tok::Colon)
    return invalidSyntax();
  advance();
  unsigned lambdas = 0;
  while (!is(Tok::Colon) || lambdas > 0) {
    switch (kind()) {
    case Tok::LParen:
    case Tok::LBracket:
    case Tok::LBrace: {
      size_t close = matchingBracket(pos_);
      while (pos_ < close)
        advance();
      break;
    }
    case Tok::Newline:
    case Tok::Error:
    case Tok::End: return expectColon(/*always=*/true);
    case Tok::KwLambda: ++lambdas; break;
    case Tok::Colon: --lambdas; break;
    default: break;
    }
    if (is(Tok::Error))
      return invalidSyntax();
    advance();
  }
  advance();
  ast::StmtList body;
  if (!parseBlock(body, "'case' statement", begin))
    return false;
  bodies_.push_back(body);
  return true;
}

} // namespace despina::syntax
