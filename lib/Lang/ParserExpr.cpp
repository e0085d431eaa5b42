//===- ParserExpr.cpp - Operators and primaries ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Operators wait on `ops_` until one that binds less tightly, or the end of the expression, completes their
// operands on `operands_`. Each call of parseExpression works above its own base on both stacks.
//
//===----------------------------------------------------------------------===//
#include "ParserImpl.h"

namespace despina::syntax {
namespace {

using ast::BinaryOperator;
using ast::BoolOperator;
using ast::CompareOperator;
using ast::UnaryOperator;

struct InfixInfo {
  OperatorClass kind;
  unsigned op;
  Level level;
  unsigned tokens = 1;
};

InfixInfo binary(BinaryOperator op, Level level) { return {OperatorClass::Binary, unsigned(op), level}; }
InfixInfo comparison(CompareOperator op, unsigned tokens = 1) {
  return {OperatorClass::Compare, unsigned(op), Level::Compare, tokens};
}

/// The infix operator that `token` (with `next`) is; none when it ends the expression.
std::optional<InfixInfo> infixOperator(Tok token, Tok next) {
  switch (token) {
  case Tok::Plus: return binary(BinaryOperator::Add, Level::Arith);
  case Tok::Minus: return binary(BinaryOperator::Sub, Level::Arith);
  case Tok::Star: return binary(BinaryOperator::Mult, Level::Term);
  case Tok::Slash: return binary(BinaryOperator::Div, Level::Term);
  case Tok::DoubleSlash: return binary(BinaryOperator::FloorDiv, Level::Term);
  case Tok::Percent: return binary(BinaryOperator::Mod, Level::Term);
  case Tok::At: return binary(BinaryOperator::MatMult, Level::Term);
  case Tok::DoubleStar: return binary(BinaryOperator::Pow, Level::Power);
  case Tok::LShift: return binary(BinaryOperator::LShift, Level::Shift);
  case Tok::RShift: return binary(BinaryOperator::RShift, Level::Shift);
  case Tok::Amp: return binary(BinaryOperator::BitAnd, Level::BitAnd);
  case Tok::Caret: return binary(BinaryOperator::BitXor, Level::BitXor);
  case Tok::Pipe: return binary(BinaryOperator::BitOr, Level::BitOr);
  case Tok::KwAnd: return InfixInfo{OperatorClass::Bool, unsigned(BoolOperator::And), Level::And};
  case Tok::KwOr: return InfixInfo{OperatorClass::Bool, unsigned(BoolOperator::Or), Level::Or};
  case Tok::EqualEqual: return comparison(CompareOperator::Eq);
  case Tok::NotEqual: return comparison(CompareOperator::NotEq);
  case Tok::Less: return comparison(CompareOperator::Lt);
  case Tok::LessEqual: return comparison(CompareOperator::LtE);
  case Tok::Greater: return comparison(CompareOperator::Gt);
  case Tok::GreaterEqual: return comparison(CompareOperator::GtE);
  case Tok::KwIn: return comparison(CompareOperator::In);
  case Tok::KwIs:
    return next == Tok::KwNot ? comparison(CompareOperator::IsNot, 2) : comparison(CompareOperator::Is);
  case Tok::KwNot:
    if (next == Tok::KwIn)
      return comparison(CompareOperator::NotIn, 2);
    return std::nullopt;
  default: return std::nullopt;
  }
}

/// Operators of these classes join into one flat node, so they do not group.
bool isChain(OperatorClass kind) { return kind == OperatorClass::Compare || kind == OperatorClass::Bool; }

/// What the right operand of a waiting operator may start with.
Level operandLevel(const PendingOperator &op) {
  return op.kind == OperatorClass::TernaryIf ? Level::Or : op.level;
}

} // namespace

ast::Expr *Parser::parseExpression(Level level) {
  // Brackets are limited by the lexer; only defaults of nested lambdas come here without one.
  constexpr unsigned maxNesting = ParserLimits::maxBrackets + 128;
  if (nesting_ > maxNesting)
    return tooDeep(cur().begin, cur().end);
  size_t base = ops_.size();
  size_t operandBase = operands_.size();
  ++nesting_;
  Expr *result = climb(level, base) ? operands_.back().expr : nullptr;
  --nesting_;
  ops_.resize(base);
  operands_.resize(operandBase);
  return result;
}

bool Parser::climb(Level level, size_t base) {
  bool more = true;
  while (more)
    if (!parsePrefixes(level, base) || !parseOperator(level, base, more))
      return false;
  while (ops_.size() > base)
    if (!reduceTop(base))
      return false;
  return true;
}

/// Reads `-`, `not`, `lambda ...:` and the like, then a primary.
bool Parser::parsePrefixes(Level level, size_t base) {
  while (true) {
    Level allowed = ops_.size() > base ? operandLevel(ops_.back()) : level;
    std::optional<UnaryOperator> op;
    switch (kind()) {
    case Tok::Plus: op = UnaryOperator::UAdd; break;
    case Tok::Minus: op = UnaryOperator::USub; break;
    case Tok::Tilde: op = UnaryOperator::Invert; break;
    case Tok::KwNot:
      if (allowed <= Level::Not)
        op = UnaryOperator::Not;
      break;
    case Tok::KwLambda:
      if (allowed == Level::Ternary) {
        if (!pushOperator(OperatorClass::Lambda, 0, Level::Ternary, base, 0))
          return false;
        size_t index = ops_.size() - 1;
        Expr *lambda = parseLambdaHead();
        if (!lambda)
          return false;
        ops_[index].lambda = llvm::cast<ast::Lambda>(lambda);
        continue;
      }
      break;
    default: break;
    }
    if (!op)
      break;
    if (!pushOperator(OperatorClass::Unary, unsigned(*op),
                      *op == UnaryOperator::Not ? Level::Not : Level::Unary, base, 1))
      return false;
  }
  uint32_t begin = cur().begin;
  Expr *primary = parsePrimary();
  if (!primary)
    return false;
  operands_.push_back({primary, begin, lastEnd_});
  return true;
}

bool Parser::pushOperator(OperatorClass kind, unsigned op, Level level, size_t base, unsigned tokens) {
  unsigned depth = 1;
  if (ops_.size() > base) {
    const PendingOperator &top = ops_.back();
    bool goesOn = isChain(kind) && top.kind == kind && top.level == level;
    depth = top.depth + (goesOn ? 0 : 1);
  }
  if (depth > ParserLimits::maxTreeDepth)
    return tooDeep(cur().begin, cur().end);
  uint32_t begin = cur().begin;
  uint32_t end = cur().end;
  for (unsigned i = 0; i < tokens; ++i) {
    end = cur().end;
    advance();
  }
  ops_.push_back({kind, static_cast<uint8_t>(op), level, static_cast<uint16_t>(depth), begin, end, nullptr});
  return true;
}

/// Reads the operator after an operand; `more` says whether another operand follows.
bool Parser::parseOperator(Level level, size_t base, bool &more) {
  more = false;
  if (level == Level::Ternary && is(Tok::KwIf)) {
    more = true;
    return reduceWhile(Level::Ternary, /*alsoEqual=*/false, base) && parseConditional(base);
  }
  if (is(Tok::KwElse)) {
    if (!reduceWhile(Level::Ternary, /*alsoEqual=*/true, base))
      return false;
    if (ops_.size() == base)
      return true;
    ops_.back().kind = OperatorClass::TernaryElse;
    advance();
    return more = true;
  }
  std::optional<InfixInfo> infix = infixOperator(kind(), kindAt(1));
  if (!infix || infix->level < level)
    return true;
  bool groupsLeft = infix->level != Level::Power && !isChain(infix->kind);
  more = true;
  return reduceWhile(infix->level, groupsLeft, base) &&
         pushOperator(infix->kind, infix->op, infix->level, base, infix->tokens);
}

/// At `if`: the operand so far is the body of a conditional expression.
bool Parser::parseConditional(size_t base) {
  if (ops_.size() > base && ops_.back().kind == OperatorClass::TernaryIf)
    return reduceTop(base); // reports the missing `else`
  return pushOperator(OperatorClass::TernaryIf, 0, Level::Ternary, base, 1);
}

/// Completes operators that bind more tightly than `above`. A conditional that waits for its `else` stops it.
bool Parser::reduceWhile(Level above, bool alsoEqual, size_t base) {
  while (ops_.size() > base) {
    const PendingOperator &top = ops_.back();
    if (top.kind == OperatorClass::TernaryIf || top.level < above || (top.level == above && !alsoEqual))
      return true;
    if (!reduceTop(base))
      return false;
  }
  return true;
}

/// How many operators at the top of the stack make one chain.
size_t Parser::chainLength(size_t base) const {
  const PendingOperator &top = ops_.back();
  size_t count = 1;
  while (count < ops_.size() - base) {
    const PendingOperator &below = ops_[ops_.size() - 1 - count];
    if (below.kind != top.kind || below.level != top.level)
      break;
    ++count;
  }
  return count;
}

bool Parser::reduceTop(size_t base) {
  PendingOperator op = ops_.back();
  size_t count = isChain(op.kind) ? chainLength(base) : 1;
  Expr *result = nullptr;
  uint32_t begin = op.begin;
  uint32_t end = operands_.back().end;
  switch (op.kind) {
  case OperatorClass::Unary:
    result = reduceUnary(op);
    operands_.pop_back();
    break;
  case OperatorClass::Binary:
    begin = operands_[operands_.size() - 2].begin;
    result = reduceBinary(op);
    operands_.resize(operands_.size() - 2);
    break;
  case OperatorClass::Compare:
  case OperatorClass::Bool:
    begin = operands_[operands_.size() - 1 - count].begin;
    result = reduceChain(op, count);
    operands_.resize(operands_.size() - 1 - count);
    break;
  case OperatorClass::TernaryIf:
    fail(operands_[operands_.size() - 2].begin, end, "expected 'else' after 'if' expression");
    return false;
  case OperatorClass::TernaryElse:
    begin = operands_[operands_.size() - 3].begin;
    result = reduceConditional();
    operands_.resize(operands_.size() - 3);
    break;
  case OperatorClass::Lambda:
    op.lambda->body = operands_.back().expr;
    op.lambda->setEnd(end);
    result = finish(op.lambda, std::max(op.lambda->height(), op.lambda->body->height() + 1));
    operands_.pop_back();
    break;
  }
  ops_.resize(ops_.size() - count);
  if (!result)
    return false;
  operands_.push_back({result, begin, end});
  return true;
}

ast::Expr *Parser::reduceUnary(const PendingOperator &op) {
  const Operand &operand = operands_.back();
  auto *node = make<ast::UnaryOp>(op.begin, operand.end, operand.expr->height() + 1);
  if (node) {
    node->op = static_cast<UnaryOperator>(op.op);
    node->operand = operand.expr;
  }
  return node;
}

ast::Expr *Parser::reduceBinary(const PendingOperator &op) {
  const Operand &right = operands_.back();
  const Operand &left = operands_[operands_.size() - 2];
  auto *node =
      make<ast::BinOp>(left.begin, right.end, std::max(left.expr->height(), right.expr->height()) + 1);
  if (node) {
    node->op = static_cast<BinaryOperator>(op.op);
    node->left = left.expr;
    node->right = right.expr;
    node->opRange = rangeOf(op.begin, op.end);
  }
  return node;
}

/// Builds `a < b < c` or `a and b and c` of `count` operators.
ast::Expr *Parser::reduceChain(const PendingOperator &op, size_t count) {
  llvm::ArrayRef<Operand> operands = llvm::ArrayRef<Operand>(operands_).take_back(count + 1);
  size_t mark = exprs_.size();
  for (const Operand &operand : operands)
    exprs_.push_back(operand.expr);
  ast::ExprList values = take(exprs_, mark);
  unsigned height = tallest(values) + 1;
  if (op.kind == OperatorClass::Bool) {
    auto *node = make<ast::BoolOp>(operands.front().begin, operands.back().end, height);
    if (node) {
      node->op = static_cast<BoolOperator>(op.op);
      node->values = values;
    }
    return node;
  }
  std::vector<CompareOperator> kinds;
  for (const PendingOperator &pending : llvm::ArrayRef<PendingOperator>(ops_).take_back(count))
    kinds.push_back(static_cast<CompareOperator>(pending.op));
  auto *node = make<ast::Compare>(operands.front().begin, operands.back().end, height);
  if (node) {
    node->left = values.front();
    node->comparators = values.drop_front();
    node->ops = module_.copy(llvm::ArrayRef<CompareOperator>(kinds));
  }
  return node;
}

ast::Expr *Parser::reduceConditional() {
  const Operand *operands = &operands_[operands_.size() - 3];
  unsigned height = 1;
  for (unsigned i = 0; i < 3; ++i)
    height = std::max(height, operands[i].expr->height() + 1);
  auto *node = make<ast::IfExp>(operands[0].begin, operands[2].end, height);
  if (node) {
    node->body = operands[0].expr;
    node->test = operands[1].expr;
    node->orelse = operands[2].expr;
  }
  return node;
}

/// Reads `lambda parameters:`; the body is the operand that follows.
LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseLambdaHead() {
  uint32_t begin = cur().begin;
  advance();
  auto *lambda = make<ast::Lambda>(begin, begin, 1);
  unsigned height = 0;
  if (!parseParameters(Tok::Colon, /*annotations=*/false, lambda->params, height) ||
      !expect(Tok::Colon, "expected ':'"))
    return nullptr;
  return finish(lambda, height + 1);
}

//===- Primaries ----------------------------------------------------------===//

bool Parser::startsExpression(const Token &token) const {
  switch (token.kind) {
  case Tok::Name:
  case Tok::Number:
  case Tok::String:
  case Tok::FStringStart:
  case Tok::LParen:
  case Tok::LBracket:
  case Tok::LBrace:
  case Tok::Ellipsis:
  case Tok::Plus:
  case Tok::Minus:
  case Tok::Tilde:
  case Tok::KwNone:
  case Tok::KwTrue:
  case Tok::KwFalse:
  case Tok::KwNot:
  case Tok::KwLambda:
  case Tok::KwAwait: return true;
  default: return false;
  }
}

ast::Expr *Parser::parsePrimary() {
  uint32_t begin = cur().begin;
  if (!is(Tok::KwAwait)) {
    Expr *atom = parseSimpleAtom();
    return atom ? parsePostfix(atom, begin) : nullptr;
  }
  advance();
  uint32_t operandBegin = cur().begin;
  Expr *atom = parseSimpleAtom();
  Expr *value = atom ? parsePostfix(atom, operandBegin) : nullptr;
  if (!value)
    return nullptr;
  auto *node = make<ast::Await>(begin, lastEnd_, value->height() + 1);
  if (node)
    node->value = value;
  return node;
}

ast::Expr *Parser::parsePostfix(Expr *value, uint32_t begin) {
  while (value) {
    switch (kind()) {
    case Tok::Dot: value = parseAttribute(value, begin); break;
    case Tok::LParen: value = parseCall(value, begin); break;
    case Tok::LBracket: value = parseSubscript(value, begin); break;
    default: return value;
    }
  }
  return nullptr;
}

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseAttribute(Expr *value, uint32_t begin) {
  advance();
  if (!is(Tok::Name))
    return invalidSyntax();
  auto *node = make<ast::Attribute>(begin, cur().end, value->height() + 1);
  if (!node)
    return nullptr;
  node->value = value;
  node->attr = text(cur());
  node->attrRange = rangeOf(cur().begin, cur().end);
  advance();
  return node;
}

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseName() {
  auto *node = make<ast::Name>(cur().begin, cur().end, 1);
  node->id = text(cur());
  advance();
  return node;
}

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseSimpleAtom() {
  switch (kind()) {
  case Tok::Name: return parseName();
  case Tok::Number: return parseNumber();
  case Tok::String:
  case Tok::FStringStart: return parseStrings();
  case Tok::LParen: return parseParenthesized();
  case Tok::LBracket: return parseList();
  case Tok::LBrace: return parseBraces();
  case Tok::KwNone:
  case Tok::KwTrue:
  case Tok::KwFalse:
  case Tok::Ellipsis: {
    auto *node = make<ast::Constant>(cur().begin, cur().end, 1);
    node->type = is(Tok::KwNone)     ? ast::Constant::Type::None
                 : is(Tok::Ellipsis) ? ast::Constant::Type::Ellipsis
                                     : ast::Constant::Type::Bool;
    node->boolean = is(Tok::KwTrue);
    advance();
    return node;
  }
  default: return invalidSyntax();
  }
}

} // namespace despina::syntax
