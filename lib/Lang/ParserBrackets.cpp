//===- ParserBrackets.cpp - Displays, calls, subscripts, targets ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ParserImpl.h"

#include "llvm/ADT/STLExtras.h"

namespace despina::syntax {

using llvm::dyn_cast;
using llvm::isa;

//===- Elements of lists --------------------------------------------------===//

/// An expression, or `name := value`.
ast::Expr *Parser::parseNamed() {
  Expr *expr = parseExpression();
  return expr && is(Tok::ColonEqual) ? parseNamedTail(expr) : expr;
}

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseNamedTail(Expr *target) {
  auto *name = dyn_cast<ast::Name>(target);
  if (!name)
    return cannotAssign(target, TargetUse::Assign, /*nested=*/true);
  advance();
  Expr *value = parseExpression();
  if (!value)
    return nullptr;
  auto *node = make<ast::NamedExpr>(name->range().begin, lastEnd_, value->height() + 1);
  if (node) {
    node->target = name;
    node->value = value;
  }
  return node;
}

ast::Expr *Parser::parseStarOrNamed() { return is(Tok::Star) ? parseStarred() : parseNamed(); }

ast::Expr *Parser::parseStarOrExpression() { return is(Tok::Star) ? parseStarred() : parseExpression(); }

ast::Expr *Parser::parseStarred() {
  uint32_t begin = cur().begin;
  advance();
  Expr *value = parseExpression(Level::BitOr);
  if (!value)
    return nullptr;
  auto *node = make<ast::Starred>(begin, lastEnd_, value->height() + 1);
  if (node)
    node->value = value;
  return node;
}

/// `a, *b, c`: a tuple when there is a comma.
ast::Expr *Parser::parseExpressionList() {
  uint32_t begin = cur().begin;
  Expr *first = parseStarOrExpression();
  if (!first || !is(Tok::Comma))
    return first;
  size_t mark = exprs_.size();
  exprs_.push_back(first);
  while (accept(Tok::Comma) && (startsExpression(cur()) || is(Tok::Star))) {
    Expr *item = parseStarOrExpression();
    if (!item)
      return nullptr;
    exprs_.push_back(item);
  }
  ast::ExprList elts = take(exprs_, mark);
  auto *tuple = make<ast::Tuple>(begin, lastEnd_, tallest(elts) + 1);
  if (tuple)
    tuple->elts = elts;
  return tuple;
}

/// The targets of `for`, read at a level where `in` is no operator.
ast::Expr *Parser::parseTargetList(TargetUse use) {
  uint32_t begin = cur().begin;
  size_t mark = exprs_.size();
  bool comma = false;
  do {
    if (comma && !startsExpression(cur()) && !is(Tok::Star))
      break;
    Expr *item = is(Tok::Star) ? parseStarred() : parseExpression(Level::BitOr);
    if (!item)
      return nullptr;
    exprs_.push_back(item);
    if (is(Tok::Comma))
      comma = true;
  } while (accept(Tok::Comma));
  ast::ExprList elts = take(exprs_, mark);
  Expr *target = elts.front();
  if (comma) {
    auto *tuple = make<ast::Tuple>(begin, lastEnd_, tallest(elts) + 1);
    if (!tuple)
      return nullptr;
    tuple->elts = elts;
    target = tuple;
  }
  return checkTarget(target, use) ? target : nullptr;
}

/// `yield`, `yield a, b`, `yield from x`.
LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseYield() {
  uint32_t begin = cur().begin;
  bool insideLambda = llvm::any_of(ops_, [](const auto &op) { return op.kind == OperatorClass::Lambda; });
  if (functions_ == 0 && !insideLambda)
    return fail(begin, cur().end, "'yield' outside function");
  advance();
  if (accept(Tok::KwFrom)) {
    Expr *value = parseExpression();
    auto *node = value ? make<ast::YieldFrom>(begin, lastEnd_, value->height() + 1) : nullptr;
    if (node)
      node->value = value;
    return node;
  }
  Expr *value = nullptr;
  if (startsExpression(cur()) || is(Tok::Star)) {
    value = parseExpressionList();
    if (!value)
      return nullptr;
  }
  auto *node = make<ast::Yield>(begin, lastEnd_, heightOf(value) + 1);
  if (node)
    node->value = value;
  return node;
}

ast::Expr *Parser::parseYieldOrList() { return is(Tok::KwYield) ? parseYield() : parseExpressionList(); }

//===- Displays -----------------------------------------------------------===//

/// After an element of a display: reads the others onto `exprs_` and the closing bracket.
bool Parser::parseItemsUntil(Tok close, uint32_t lastBegin) {
  while (!accept(close)) {
    if (!is(Tok::Comma))
      return missingDelimiter(lastBegin);
    advance();
    if (accept(close))
      return true;
    lastBegin = cur().begin;
    Expr *item = parseStarOrNamed();
    if (!item)
      return false;
    exprs_.push_back(item);
  }
  return true;
}

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseParenthesized() {
  uint32_t begin = cur().begin;
  advance();
  if (accept(Tok::RParen))
    return make<ast::Tuple>(begin, lastEnd_, 1);
  uint32_t firstBegin = cur().begin;
  Expr *first = is(Tok::KwYield) ? parseYield() : parseStarOrNamed();
  if (!first)
    return nullptr;
  if (startsComprehension())
    return parseComprehension<ast::GeneratorExp>(first, begin, Tok::RParen);
  if (is(Tok::RParen)) {
    if (isa<ast::Starred>(first))
      return fail(first, "cannot use starred expression here");
    advance();
    return first;
  }
  size_t mark = exprs_.size();
  exprs_.push_back(first);
  if (!parseItemsUntil(Tok::RParen, firstBegin))
    return nullptr;
  ast::ExprList elts = take(exprs_, mark);
  auto *tuple = make<ast::Tuple>(begin, lastEnd_, tallest(elts) + 1);
  if (tuple)
    tuple->elts = elts;
  return tuple;
}

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseList() {
  uint32_t begin = cur().begin;
  advance();
  size_t mark = exprs_.size();
  if (!accept(Tok::RBracket)) {
    uint32_t firstBegin = cur().begin;
    Expr *first = parseStarOrNamed();
    if (!first)
      return nullptr;
    if (startsComprehension())
      return parseComprehension<ast::ListComp>(first, begin, Tok::RBracket);
    exprs_.push_back(first);
    if (!parseItemsUntil(Tok::RBracket, firstBegin))
      return nullptr;
  }
  ast::ExprList elts = take(exprs_, mark);
  auto *list = make<ast::List>(begin, lastEnd_, tallest(elts) + 1);
  if (list)
    list->elts = elts;
  return list;
}

/// A dict or set display, or a comprehension of one.
LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseBraces() {
  uint32_t begin = cur().begin;
  advance();
  if (accept(Tok::RBrace))
    return make<ast::Dict>(begin, lastEnd_, 1);
  if (is(Tok::DoubleStar))
    return parseDictItems(begin);
  Expr *first = parseStarOrNamed();
  if (!first)
    return nullptr;
  if (startsComprehension())
    return parseComprehension<ast::SetComp>(first, begin, Tok::RBrace);
  if (!is(Tok::Colon) || isa<ast::Starred>(first))
    return parseSetItems(begin, first);
  exprs_.push_back(first);
  return parseDictItems(begin);
}

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseSetItems(uint32_t begin, Expr *first) {
  size_t mark = exprs_.size();
  exprs_.push_back(first);
  if (!parseItemsUntil(Tok::RBrace, first->range().begin))
    return nullptr;
  ast::ExprList elts = take(exprs_, mark);
  auto *set = make<ast::Set>(begin, lastEnd_, tallest(elts) + 1);
  if (set)
    set->elts = elts;
  return set;
}

/// Reads the value of a key on top of `exprs_` (or `**value` where no key was read), then further items. Keys
/// and values alternate on `exprs_`.
LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseDictItems(uint32_t begin) {
  bool haveKey = !is(Tok::DoubleStar);
  size_t mark = exprs_.size() - (haveKey ? 1 : 0);
  while (haveKey || !is(Tok::RBrace)) {
    uint32_t itemBegin = cur().begin;
    bool unpack = !haveKey && accept(Tok::DoubleStar);
    if (unpack) {
      exprs_.push_back(nullptr);
    } else if (!haveKey) {
      Expr *key = parseExpression();
      if (!key)
        return nullptr;
      exprs_.push_back(key);
    }
    if (!unpack) {
      if (!is(Tok::Colon))
        return is(Tok::Error) ? invalidSyntax()
                              : fail(itemBegin, lastEnd_, "':' expected after dictionary key");
      advance();
      if (is(Tok::RBrace) || is(Tok::Comma))
        return fail(lastEnd_ - 1, lastEnd_, "expression expected after dictionary key and ':'");
    }
    haveKey = false;
    Expr *value = parseExpression(unpack ? Level::BitOr : Level::Ternary);
    if (!value)
      return nullptr;
    if (startsComprehension() && !unpack && exprs_.size() == mark + 1) {
      Expr *key = exprs_.back();
      exprs_.pop_back();
      return parseDictComprehension(key, value, begin);
    }
    if (unpack && startsComprehension())
      return fail(itemBegin, lastEnd_, "dict unpacking cannot be used in dict comprehension");
    exprs_.push_back(value);
    if (!is(Tok::RBrace) && !accept(Tok::Comma))
      return missingDelimiter(itemBegin);
  }
  advance();
  std::vector<Expr *> keys, values;
  for (size_t i = mark; i < exprs_.size(); i += 2) {
    keys.push_back(exprs_[i]);
    values.push_back(exprs_[i + 1]);
  }
  exprs_.resize(mark);
  auto *dict = make<ast::Dict>(begin, lastEnd_, std::max(tallest(keys), tallest(values)) + 1);
  if (dict) {
    dict->keys = module_.copy(ast::ExprList(keys));
    dict->values = module_.copy(ast::ExprList(values));
  }
  return dict;
}

//===- Comprehensions -----------------------------------------------------===//

bool Parser::parseGenerator(ast::Comprehension &generator, unsigned &height) {
  generator.isAsync = accept(Tok::KwAsync);
  advance(); // `for`
  generator.target = parseTargetList(TargetUse::For);
  if (!generator.target || !expect(Tok::KwIn, nullptr))
    return false;
  generator.iter = parseExpression(Level::Or);
  if (!generator.iter)
    return false;
  size_t mark = exprs_.size();
  while (accept(Tok::KwIf)) {
    Expr *condition = parseExpression(Level::Or);
    if (!condition)
      return false;
    exprs_.push_back(condition);
  }
  generator.ifs = take(exprs_, mark);
  height = std::max({height, generator.target->height(), generator.iter->height(), tallest(generator.ifs)});
  return true;
}

LLVM_ATTRIBUTE_NOINLINE bool Parser::parseGenerators(llvm::ArrayRef<ast::Comprehension> &generators,
                                                     unsigned &height) {
  std::vector<ast::Comprehension> list;
  while (startsComprehension()) {
    list.emplace_back();
    if (!parseGenerator(list.back(), height))
      return false;
  }
  // A clause nests inside the one before it.
  height += list.size() - 1;
  if (height >= ParserLimits::maxTreeDepth)
    return tooDeep(list.front().target->range().begin, lastEnd_);
  generators = module_.copy(llvm::ArrayRef<ast::Comprehension>(list));
  return true;
}

template <typename T>
LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseComprehension(Expr *element, uint32_t begin, Tok close) {
  if (isa<ast::Starred>(element))
    return fail(element, "iterable unpacking cannot be used in comprehension");
  llvm::ArrayRef<ast::Comprehension> generators;
  unsigned height = element->height();
  if (!parseGenerators(generators, height))
    return nullptr;
  if (!accept(close))
    return missingDelimiter(element->range().begin);
  auto *node = make<T>(begin, lastEnd_, height + 1);
  if (node) {
    node->elt = element;
    node->generators = generators;
  }
  return node;
}

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseDictComprehension(Expr *key, Expr *value, uint32_t begin) {
  llvm::ArrayRef<ast::Comprehension> generators;
  unsigned height = std::max(key->height(), value->height());
  if (!parseGenerators(generators, height))
    return nullptr;
  if (!accept(Tok::RBrace))
    return missingDelimiter(key->range().begin);
  auto *node = make<ast::DictComp>(begin, lastEnd_, height + 1);
  if (node) {
    node->key = key;
    node->value = value;
    node->generators = generators;
  }
  return node;
}

//===- Calls --------------------------------------------------------------===//

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseCall(Expr *callee, uint32_t begin) {
  llvm::ArrayRef<Expr *> args;
  llvm::ArrayRef<ast::Keyword> keywords;
  unsigned height = callee->height();
  if (!parseArguments(args, keywords, height))
    return nullptr;
  auto *call = make<ast::Call>(begin, lastEnd_, height + 1);
  if (call) {
    call->func = callee;
    call->args = args;
    call->keywords = keywords;
  }
  return call;
}

/// Reads `(...)` of a call or a class definition.
bool Parser::parseArguments(llvm::ArrayRef<Expr *> &args, llvm::ArrayRef<ast::Keyword> &keywords,
                            unsigned &height) {
  size_t argMark = exprs_.size();
  size_t keywordMark = keywords_.size();
  uint32_t open = cur().begin;
  advance();
  while (!accept(Tok::RParen)) {
    uint32_t begin = cur().begin;
    if (!parseArgument(keywordMark, argMark, open))
      return false;
    if (!is(Tok::RParen) && !accept(Tok::Comma))
      return missingDelimiter(begin);
  }
  args = take(exprs_, argMark);
  keywords = take(keywords_, keywordMark);
  height = std::max(height, tallest(args));
  for (const ast::Keyword &keyword : keywords)
    height = std::max(height, keyword.value->height());
  return true;
}

bool Parser::parseArgument(size_t keywordMark, size_t argMark, uint32_t open) {
  if (is(Tok::DoubleStar) || (is(Tok::Name) && kindAt(1) == Tok::Equal))
    return parseKeyword(keywordMark);
  return parsePositional(keywordMark, argMark, open);
}

/// `name=value` or `**value`.
bool Parser::parseKeyword(size_t keywordMark) {
  ast::Keyword keyword;
  uint32_t begin = cur().begin;
  bool unpack = accept(Tok::DoubleStar);
  if (!unpack) {
    keyword.name = text(cur());
    for (size_t i = keywordMark; i < keywords_.size() && i < keywordMark + 256; ++i)
      if (keywords_[i].name == keyword.name)
        return fail(begin, cur().end, "keyword argument repeated: " + keyword.name);
    advance();
    advance();
    if (is(Tok::Comma) || is(Tok::RParen))
      return fail(begin, lastEnd_, "expected argument value expression");
  }
  keyword.value = parseExpression();
  if (!keyword.value)
    return false;
  keyword.range = rangeOf(begin, lastEnd_);
  if (!unpack && startsComprehension())
    return fail(begin, lastEnd_, "invalid syntax. Maybe you meant '==' or ':=' instead of '='?");
  keywords_.push_back(keyword);
  return true;
}

/// `f(x for x in y)`: the only argument may leave out its own parentheses; its range is then that of the
/// call's.
LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseGeneratorArgument(Expr *element, uint32_t open, bool alone) {
  uint32_t begin = element->range().begin;
  llvm::ArrayRef<ast::Comprehension> generators;
  unsigned height = element->height();
  if (!parseGenerators(generators, height))
    return nullptr;
  if (is(Tok::Comma) || (!alone && is(Tok::RParen)))
    return fail(begin, lastEnd_, "Generator expression must be parenthesized");
  if (!is(Tok::RParen))
    return missingDelimiter(begin);
  auto *node = make<ast::GeneratorExp>(open, cur().end, height + 1);
  if (node) {
    node->elt = element;
    node->generators = generators;
  }
  return node;
}

bool Parser::parsePositional(size_t keywordMark, size_t argMark, uint32_t open) {
  uint32_t begin = cur().begin;
  bool star = accept(Tok::Star);
  Expr *value = star ? parseExpression() : parseNamed();
  if (!value)
    return false;
  if (is(Tok::Equal)) {
    auto *constant = dyn_cast<ast::Constant>(value);
    if (constant && constant->type <= ast::Constant::Type::Bool)
      return fail(begin, lastEnd_, "cannot assign to " + text_.slice(begin, lastEnd_));
    return fail(begin, cur().end, "expression cannot contain assignment, perhaps you meant \"==\"?");
  }
  if (star) {
    auto *starred = make<ast::Starred>(begin, lastEnd_, value->height() + 1);
    if (!starred)
      return false;
    starred->value = value;
    value = starred;
  } else if (startsComprehension()) {
    value = parseGeneratorArgument(value, open, exprs_.size() == argMark && keywords_.size() == keywordMark);
    if (!value)
      return false;
  }
  bool afterUnpack = keywords_.size() > keywordMark && keywords_.back().name.empty();
  if (keywords_.size() > keywordMark && (afterUnpack || !star)) {
    const char *message = !afterUnpack ? "positional argument follows keyword argument"
                          : star       ? "iterable argument unpacking follows keyword argument unpacking"
                                       : "positional argument follows keyword argument unpacking";
    return fail(begin, lastEnd_, message);
  }
  exprs_.push_back(value);
  return true;
}

//===- Subscripts ---------------------------------------------------------===//

LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseSubscript(Expr *value, uint32_t begin) {
  advance();
  uint32_t indexBegin = cur().begin;
  Expr *index = parseSubscriptItem();
  if (!index)
    return nullptr;
  // `x[*a]` is a tuple too.
  if (is(Tok::Comma) || isa<ast::Starred>(index)) {
    size_t mark = exprs_.size();
    exprs_.push_back(index);
    while (accept(Tok::Comma) && !is(Tok::RBracket)) {
      Expr *item = parseSubscriptItem();
      if (!item)
        return nullptr;
      exprs_.push_back(item);
    }
    ast::ExprList elts = take(exprs_, mark);
    auto *tuple = make<ast::Tuple>(indexBegin, lastEnd_, tallest(elts) + 1);
    if (!tuple)
      return nullptr;
    tuple->elts = elts;
    index = tuple;
  }
  if (!accept(Tok::RBracket))
    return missingDelimiter(indexBegin);
  auto *node = make<ast::Subscript>(begin, lastEnd_, std::max(value->height(), index->height()) + 1);
  if (node) {
    node->value = value;
    node->index = index;
  }
  return node;
}

ast::Expr *Parser::parseSubscriptItem() {
  uint32_t begin = cur().begin;
  if (is(Tok::Colon))
    return parseSlice(nullptr, begin);
  Expr *item = parseStarOrNamed();
  return item && is(Tok::Colon) && !isa<ast::Starred>(item) ? parseSlice(item, begin) : item;
}

/// At the first colon of a slice.
LLVM_ATTRIBUTE_NOINLINE ast::Expr *Parser::parseSlice(Expr *lower, uint32_t begin) {
  auto *slice = make<ast::Slice>(begin, begin, 1);
  slice->lower = lower;
  advance();
  if (!is(Tok::Colon) && !is(Tok::Comma) && !is(Tok::RBracket) && !(slice->upper = parseExpression()))
    return nullptr;
  if (accept(Tok::Colon) && !is(Tok::Comma) && !is(Tok::RBracket) && !(slice->step = parseExpression()))
    return nullptr;
  slice->setEnd(lastEnd_);
  return finish(slice, std::max({heightOf(lower), heightOf(slice->upper), heightOf(slice->step)}) + 1);
}

//===- Targets ------------------------------------------------------------===//

const char *expressionName(const ast::Expr *expr) {
  using ast::NodeKind;
  switch (expr->kind()) {
  case NodeKind::Constant: {
    const auto *constant = llvm::cast<ast::Constant>(expr);
    switch (constant->type) {
    case ast::Constant::Type::None: return "None";
    case ast::Constant::Type::Bool: return constant->boolean ? "True" : "False";
    case ast::Constant::Type::Ellipsis: return "ellipsis";
    default: return "literal";
    }
  }
  case NodeKind::Name: return "name";
  case NodeKind::Attribute: return "attribute";
  case NodeKind::Subscript: return "subscript";
  case NodeKind::Starred: return "starred";
  case NodeKind::Tuple: return "tuple";
  case NodeKind::List: return "list";
  case NodeKind::Dict: return "dict literal";
  case NodeKind::Set: return "set display";
  case NodeKind::Call: return "function call";
  case NodeKind::Compare: return "comparison";
  case NodeKind::IfExp: return "conditional expression";
  case NodeKind::ListComp: return "list comprehension";
  case NodeKind::SetComp: return "set comprehension";
  case NodeKind::DictComp: return "dict comprehension";
  case NodeKind::GeneratorExp: return "generator expression";
  case NodeKind::JoinedStr:
  case NodeKind::FormattedValue: return "f-string expression";
  case NodeKind::Lambda: return "lambda";
  case NodeKind::NamedExpr: return "named expression";
  case NodeKind::Await: return "await expression";
  case NodeKind::Yield:
  case NodeKind::YieldFrom: return "yield expression";
  default: return "expression";
  }
}

namespace {

/// Whether `x = y` in place of `x == y` is a likely slip for this left side.
bool maybeMeantEqual(const ast::Expr *expr) {
  using ast::NodeKind;
  switch (expr->kind()) {
  case NodeKind::Constant: return llvm::cast<ast::Constant>(expr)->type > ast::Constant::Type::Bool;
  case NodeKind::BinOp:
  case NodeKind::UnaryOp:
  case NodeKind::Call:
  case NodeKind::JoinedStr:
  case NodeKind::Dict:
  case NodeKind::Set:
  case NodeKind::SetComp:
  case NodeKind::DictComp:
  case NodeKind::Await: return true;
  default: return false;
  }
}

} // namespace

Failure Parser::cannotAssign(const Expr *target, TargetUse use, bool nested) {
  llvm::StringRef what = expressionName(target);
  if (use == TargetUse::Delete)
    return fail(target, "cannot delete " + what);
  if (is(Tok::ColonEqual))
    return fail(target, "cannot use assignment expressions with " + what);
  if (!nested && use == TargetUse::Assign && maybeMeantEqual(target))
    return fail(target, "cannot assign to " + what + " here. Maybe you meant '==' instead of '='?");
  return fail(target, "cannot assign to " + what);
}

bool Parser::checkTarget(const Expr *target, TargetUse use, bool nested) {
  ast::ExprList elts;
  if (auto *tuple = dyn_cast<ast::Tuple>(target))
    elts = tuple->elts;
  else if (auto *list = dyn_cast<ast::List>(target))
    elts = list->elts;
  else if (auto *starred = dyn_cast<ast::Starred>(target)) {
    if (use == TargetUse::Delete)
      return cannotAssign(target, use, nested);
    if (!nested)
      return fail(target, "starred assignment target must be in a list or tuple");
    return checkTarget(starred->value, use, true);
  } else if (!isa<ast::Name, ast::Attribute, ast::Subscript>(target))
    return cannotAssign(target, use, nested);
  const Expr *star = nullptr;
  for (const Expr *element : elts) {
    if (!checkTarget(element, use, true))
      return false;
    if (isa<ast::Starred>(element)) {
      if (star)
        return fail(element, "multiple starred expressions in assignment");
      star = element;
    }
  }
  return true;
}

} // namespace despina::syntax
