//===- HostEval.cpp - Python expressions on constants -----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "HostEval.h"
#include "HostObjects.h"
#include "PyNumber.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace despina;

HostEvaluator::HostEvaluator(SymbolResolver &resolver, NameLookup names, uint64_t &steps)
    : resolver_(resolver), names_(std::move(names)), steps_(steps),
      semantic_(builder_, diags_, target_, *this) {}

bool despina::hostTruth(const Value &value) {
  if (value.isConstant())
    return value.constant().truthy();
  return !value.isTuple() || !value.tuple().elements.empty();
}

Resolution HostEvaluator::finish(Value value) {
  llvm::SmallVector<TensorValue, 1> leaves;
  if (value)
    flatten(value, leaves);
  if (value && leaves.empty() && !diags_.hasErrors())
    return {Resolution::Status::Found, std::move(value), {}};
  Resolution failed;
  failed.status = Resolution::Status::Failed;
  const Diagnostic *first = diags_.firstError();
  failed.message = first ? first->message : "the expression makes a run-time value outside a kernel";
  failed.errorKind = first ? first->kind : ErrorKind::Runtime;
  return failed;
}

Resolution HostEvaluator::evaluate(const ast::Expr *expr) { return finish(visit(expr)); }

Value HostEvaluator::fail(const ast::Node *node, ErrorKind kind, std::string message) {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.message = std::move(message);
  diagnostic.range = node->range();
  diags_.report(std::move(diagnostic));
  return {};
}

/// The text of an expression for an error: one line, not too long.
static std::string quote(const ast::Node *node) {
  const SourceRange range = node->range();
  if (!range)
    return "this expression";
  llvm::StringRef text(range.file->text());
  text = text.slice(range.begin, range.end);
  const llvm::StringRef line = text.take_until([](char c) { return c == '\n'; }).take_front(80);
  return ("`" + line + (line.size() < text.size() ? "..." : "") + "`").str();
}

Value HostEvaluator::needsPython(const ast::Node *node, llvm::StringRef reason) {
  const SourceRange range = node->range();
  std::string place;
  if (range)
    place = " (" + range.file->path() + ":" + std::to_string(range.file->lineColumn(range.begin).line) + ")";
  return fail(node, ErrorKind::Runtime, quote(node) + place + " needs Python: " + reason.str());
}

Value HostEvaluator::take(const ast::Node *node, Resolution resolution, llvm::StringRef otherwise,
                          ErrorKind otherwiseKind) {
  if (resolution.status == Resolution::Status::Found)
    return resolution.value;
  if (resolution.status == Resolution::Status::Failed)
    return fail(node, resolution.errorKind, resolution.message);
  return fail(node, otherwiseKind, otherwise.str());
}

Value HostEvaluator::callFunction(const Value &callee, llvm::ArrayRef<Value>,
                                  llvm::ArrayRef<std::pair<std::string, Value>>) {
  return semantic_.error(ErrorKind::Runtime, "Cannot call @triton.jit'd outside of the scope of a kernel: " +
                                                 (callee.kind() == Value::Kind::Function
                                                      ? callee.function()->name
                                                      : std::string("a function of the language")));
}

void HostEvaluator::staticPrint(llvm::StringRef text) {
  llvm::outs() << text;
  llvm::outs().flush();
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Value HostEvaluator::visit(const ast::Expr *expr) {
  if (stack_.exhausted())
    return fail(expr, ErrorKind::Runtime, "expression too deeply nested");
  Value value = visitUnlimited(expr);
  if (value.isTooLarge())
    return fail(expr, ErrorKind::Overflow,
                value.depth() > TupleValue::maxDepth ? "values are nested too deeply"
                                                     : "the tuple is too large");
  return value;
}

Value HostEvaluator::visitUnlimited(const ast::Expr *expr) {
  semantic_.setPosition(expr->range(), expr->range(), {});
  switch (expr->kind()) {
  case ast::NodeKind::Constant: return visitConstant(llvm::cast<ast::Constant>(expr));
  case ast::NodeKind::Name: return visitName(llvm::cast<ast::Name>(expr));
  case ast::NodeKind::BinOp: {
    const auto *binary = llvm::cast<ast::BinOp>(expr);
    Value lhs = visit(binary->left);
    Value rhs = lhs ? visit(binary->right) : Value();
    semantic_.setPosition(expr->range(), expr->range(), {});
    return rhs ? semantic_.binaryOperator(binary->op, lhs, rhs) : Value();
  }
  case ast::NodeKind::UnaryOp: {
    const auto *unary = llvm::cast<ast::UnaryOp>(expr);
    Value operand = visit(unary->operand);
    if (operand && unary->op == ast::UnaryOperator::Not)
      return Value::constant(!hostTruth(operand));
    return operand ? semantic_.unaryOperator(unary->op, operand) : Value();
  }
  case ast::NodeKind::BoolOp: return visitBoolOp(llvm::cast<ast::BoolOp>(expr));
  case ast::NodeKind::Compare: return visitCompare(llvm::cast<ast::Compare>(expr));
  case ast::NodeKind::IfExp: {
    const auto *ternary = llvm::cast<ast::IfExp>(expr);
    Value test = visit(ternary->test);
    return test ? visit(hostTruth(test) ? ternary->body : ternary->orelse) : Value();
  }
  case ast::NodeKind::Attribute: return visitAttribute(llvm::cast<ast::Attribute>(expr));
  case ast::NodeKind::Subscript: return visitSubscript(llvm::cast<ast::Subscript>(expr));
  case ast::NodeKind::Tuple: return visitElements(llvm::cast<ast::Tuple>(expr)->elts);
  case ast::NodeKind::List: return visitElements(llvm::cast<ast::List>(expr)->elts);
  case ast::NodeKind::ListComp: {
    const auto *comp = llvm::cast<ast::ListComp>(expr);
    return visitComprehension(expr, comp->elt, comp->generators);
  }
  case ast::NodeKind::GeneratorExp: {
    const auto *comp = llvm::cast<ast::GeneratorExp>(expr);
    return visitComprehension(expr, comp->elt, comp->generators);
  }
  case ast::NodeKind::Dict: return visitDict(llvm::cast<ast::Dict>(expr));
  case ast::NodeKind::DictComp: return visitDictComp(llvm::cast<ast::DictComp>(expr));
  case ast::NodeKind::JoinedStr: return visitJoinedStr(llvm::cast<ast::JoinedStr>(expr));
  case ast::NodeKind::Call: return visitCall(llvm::cast<ast::Call>(expr));
  case ast::NodeKind::NamedExpr: {
    const auto *named = llvm::cast<ast::NamedExpr>(expr);
    Value value = visit(named->value);
    return value && assign(named->target, value) ? value : Value();
  }
  default:
    return needsPython(expr, std::string("a ") + ast::nodeKindName(expr->kind()) +
                                 " expression is not evaluated without it");
  }
}

Value HostEvaluator::visitConstant(const ast::Constant *expr) {
  switch (expr->type) {
  case ast::Constant::Type::None: return Value::none();
  case ast::Constant::Type::Ellipsis: return Value::constant(Constant::ellipsis());
  case ast::Constant::Type::Bool: return Value::constant(expr->boolean);
  case ast::Constant::Type::Int: return Value::constant(expr->integer);
  case ast::Constant::Type::Float: return Value::constant(expr->real);
  case ast::Constant::Type::Str: return Value::constant(expr->string.str());
  default: return needsPython(expr, "complex numbers and bytes are not values of the language");
  }
}

Value HostEvaluator::visitName(const ast::Name *expr) {
  auto local = locals_.find(expr->id);
  if (local != locals_.end())
    return local->second;
  Resolution resolution = names_(expr->id);
  if (resolution.status == Resolution::Status::NotFound)
    if (const BuiltinDef *def = findBuiltin(("builtins." + expr->id).str()))
      return Value::builtin(def);
  return take(expr, std::move(resolution), (expr->id + " is not defined").str());
}

Value HostEvaluator::visitBoolOp(const ast::BoolOp *expr) {
  Value value;
  for (const ast::Expr *operand : expr->values) {
    value = visit(operand);
    if (!value || hostTruth(value) != (expr->op == ast::BoolOperator::And))
      return value;
  }
  return value;
}

Value HostEvaluator::compare(const ast::Node *node, ast::CompareOperator op, const Value &lhs,
                             const Value &rhs) {
  using Op = ast::CompareOperator;
  semantic_.setPosition(node->range(), node->range(), {});
  if (op == Op::Is || op == Op::IsNot)
    return Value::constant(resolver_.same(lhs, rhs) == (op == Op::Is));
  if (op != Op::In && op != Op::NotIn)
    return semantic_.compareOperator(op, lhs, rhs);
  bool found = false;
  if (rhs.isTuple()) {
    for (const Value &element : rhs.tuple().elements) {
      const bool comparable = element.kind() == lhs.kind();
      Value equal = comparable ? semantic_.compareOperator(Op::Eq, element, lhs) : Value::constant(false);
      if (!equal)
        return {};
      found |= hostTruth(equal);
    }
  } else if (const HostItem *item = hostItem(rhs); item && item->keys()) {
    found = resolver_.subscript(rhs, lhs).status == Resolution::Status::Found;
  } else if (lhs.isConstant() && rhs.isConstant() && lhs.constant().isString() && rhs.constant().isString()) {
    found = rhs.constant().string().find(lhs.constant().string()) != std::string::npos;
  } else {
    return needsPython(node, "`in` is evaluated for tuples, lists and strings only");
  }
  return Value::constant(found == (op == Op::In));
}

Value HostEvaluator::visitCompare(const ast::Compare *expr) {
  Value lhs = visit(expr->left), result;
  for (auto [op, comparator] : llvm::zip(expr->ops, expr->comparators)) {
    Value rhs = lhs ? visit(comparator) : Value();
    result = rhs ? compare(expr, op, lhs, rhs) : Value();
    if (!result || !hostTruth(result))
      return result;
    lhs = rhs;
  }
  return result;
}

Value HostEvaluator::visitAttribute(const ast::Attribute *expr) {
  Value object = visit(expr->value);
  if (!object)
    return {};
  const bool isHost =
      object.kind() == Value::Kind::Host || (object.kind() == Value::Kind::Module && object.module().host);
  if (isHost)
    return take(expr, resolver_.attribute(object, expr->attr), ("no attribute '" + expr->attr + "'").str(),
                ErrorKind::Attribute);
  semantic_.setPosition(expr->range(), expr->range(), {});
  return semantic_.attribute(object, expr->attr);
}

Value HostEvaluator::visitSubscript(const ast::Subscript *expr) {
  Value object = visit(expr->value);
  if (!object)
    return {};
  Value index;
  if (const auto *slice = llvm::dyn_cast<ast::Slice>(expr->index)) {
    Value bounds[3];
    const ast::Expr *exprs[3] = {slice->lower, slice->upper, slice->step};
    for (size_t i = 0; i < 3; ++i) {
      bounds[i] = exprs[i] ? visit(exprs[i]) : Value::none();
      if (!bounds[i])
        return {};
    }
    index = Value::slice(bounds[0], bounds[1], bounds[2]);
  } else {
    index = visit(expr->index);
  }
  if (index && object.kind() == Value::Kind::Host)
    return take(expr, resolver_.subscript(object, index), "the object is not subscriptable", ErrorKind::Type);
  semantic_.setPosition(expr->range(), expr->range(), {});
  return index ? semantic_.subscript(object, index) : Value();
}

bool HostEvaluator::evaluateElements(ast::ExprList elements, std::vector<Value> &values) {
  for (const ast::Expr *element : elements) {
    const auto *starred = llvm::dyn_cast<ast::Starred>(element);
    Value value = visit(starred ? starred->value : element);
    if (!value)
      return false;
    if (!starred) {
      values.push_back(value);
    } else if (!value.isTuple()) {
      fail(starred, ErrorKind::Type, "Value after * must be an iterable");
      return false;
    } else if (values.size() + value.tuple().elements.size() > TupleValue::maxWeight) {
      fail(starred, ErrorKind::Overflow, "too many values");
      return false;
    } else {
      llvm::append_range(values, value.tuple().elements);
    }
  }
  return true;
}

Value HostEvaluator::visitElements(ast::ExprList elements) {
  std::vector<Value> values;
  return evaluateElements(elements, values) ? Value::tuple(std::move(values)) : Value();
}

bool HostEvaluator::comprehend(const ast::Expr *expr, llvm::ArrayRef<ast::Comprehension> generators,
                               llvm::function_ref<bool()> add) {
  if (generators.size() != 1 || generators.front().isAsync) {
    needsPython(expr, "nested comprehensions are not evaluated without it");
    return false;
  }
  const ast::Comprehension &generator = generators.front();
  std::optional<std::vector<Value>> items = iterate(generator.iter);
  if (!items)
    return false;
  const llvm::StringMap<Value> saved = locals_;
  for (const Value &item : *items) {
    if (!spendStep(expr) || !assign(generator.target, item))
      return false;
    bool keep = true;
    for (const ast::Expr *condition : generator.ifs) {
      Value test = visit(condition);
      if (!test)
        return false;
      keep &= hostTruth(test);
    }
    if (keep && !add())
      return false;
  }
  locals_ = saved;
  return true;
}

Value HostEvaluator::visitComprehension(const ast::Expr *expr, const ast::Expr *element,
                                        llvm::ArrayRef<ast::Comprehension> generators) {
  std::vector<Value> values;
  const bool succeeded = comprehend(expr, generators, [&] {
    values.push_back(visit(element));
    return bool(values.back());
  });
  return succeeded ? Value::tuple(std::move(values)) : Value();
}

Value HostEvaluator::visitDict(const ast::Dict *expr) {
  constexpr size_t maxEntries = 4096;
  if (expr->keys.size() > maxEntries)
    return needsPython(expr, "a dict has at most 4096 entries without it");
  std::vector<std::pair<Value, Value>> entries;
  for (auto [key, value] : llvm::zip(expr->keys, expr->values)) {
    if (!key)
      return needsPython(expr, "`**` is not evaluated without it");
    Value keyValue = visit(key);
    Value element = keyValue ? visit(value) : Value();
    if (!element)
      return {};
    entries.emplace_back(std::move(keyValue), std::move(element));
  }
  return hostDict(resolver_, entries);
}

Value HostEvaluator::visitDictComp(const ast::DictComp *expr) {
  std::vector<std::pair<Value, Value>> entries;
  constexpr size_t maxEntries = 4096; // keys are compared one by one
  const bool succeeded = comprehend(expr, expr->generators, [&] {
    if (entries.size() == maxEntries)
      return bool(needsPython(expr, "a dict has at most 4096 entries without it"));
    Value key = visit(expr->key);
    Value value = key ? visit(expr->value) : Value();
    entries.emplace_back(key, value);
    return bool(value);
  });
  return succeeded ? hostDict(resolver_, entries) : Value();
}

Value HostEvaluator::visitJoinedStr(const ast::JoinedStr *expr) {
  std::string text;
  for (const ast::Expr *piece : expr->values) {
    if (text.size() > maxStringBytes)
      return fail(expr, ErrorKind::Overflow, "formatted string is too long");
    const auto *formatted = llvm::dyn_cast<ast::FormattedValue>(piece);
    Value value = visit(formatted ? formatted->value : piece);
    if (!value)
      return {};
    if (formatted && formatted->formatSpec) {
      Value spec = visitJoinedStr(formatted->formatSpec);
      if (!spec)
        return {};
      std::optional<std::string> done;
      if (value.isConstant())
        done = formatConstant(formatted->conversion ? Constant(value.constant().repr()) : value.constant(),
                              spec.constant().string());
      if (!done)
        return needsPython(expr, "this format specification is not evaluated without it");
      text += *done;
      continue;
    }
    if (value.isConstant())
      text += formatted && formatted->conversion == 'r' ? value.constant().repr() : value.constant().str();
    else
      text += value.str();
  }
  return Value::constant(std::move(text));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Builtins of Python that only host code may use.
Value HostEvaluator::callPython(const ast::Call *expr, llvm::StringRef name, llvm::ArrayRef<Value> args) {
  if (args.size() == 1 && name == "bool")
    return Value::constant(hostTruth(args[0]));
  if (args.size() == 1 && name == "str")
    return Value::constant(args[0].isConstant() ? args[0].constant().str() : args[0].str());
  if (args.size() == 1 && (name == "tuple" || name == "list") && args[0].isTuple())
    return Value::tuple(args[0].tuple().elements);
  if (args.size() == 1 && name == "abs" && args[0].isConstant() && args[0].constant().isNumber()) {
    const Constant &number = args[0].constant();
    const bool isNegative = number.isFloat() ? number.real() < 0 : number.integer() < 0;
    return isNegative ? semantic_.unaryOperator(ast::UnaryOperator::USub, args[0])
                      : semantic_.unaryOperator(ast::UnaryOperator::UAdd, args[0]);
  }
  if (args.size() == 1 && args[0].isTuple() && (name == "any" || name == "all")) {
    const bool isAny = name == "any";
    return Value::constant(isAny ? llvm::any_of(args[0].tuple().elements, hostTruth)
                                 : llvm::all_of(args[0].tuple().elements, hostTruth));
  }
  if (!args.empty() && args.size() <= 2 && args[0].isTuple() && name == "sum") {
    Value total = args.size() == 2 ? args[1] : Value::constant(0);
    for (const Value &element : args[0].tuple().elements)
      if (total)
        total = semantic_.binaryOperator(ast::BinaryOperator::Add, total, element);
    return total;
  }
  if (args.size() == 2 && name == "pow")
    return semantic_.binaryOperator(ast::BinaryOperator::Pow, args[0], args[1]);
  if (args.size() == 1 && name == "round" && args[0].isConstant() && args[0].constant().isNumber()) {
    const Constant &number = args[0].constant();
    PyResult rounded = pyToInt(number.isFloat() ? Constant(std::nearbyint(number.real())) : number);
    if (const auto *error = std::get_if<PyError>(&rounded))
      return fail(expr, error->kind, error->message);
    return Value::constant(std::get<Constant>(std::move(rounded)));
  }
  return needsPython(expr, ("the function `" + name + "` is not known here").str());
}

Value HostEvaluator::visitCall(const ast::Call *expr) {
  std::vector<Value> args;
  Keywords keywords;
  if (!evaluateElements(expr->args, args))
    return {};
  for (const ast::Keyword &keyword : expr->keywords) {
    if (keyword.name.empty())
      return needsPython(expr, "`**` is not evaluated without it");
    Value value = visit(keyword.value);
    if (!value)
      return {};
    keywords.emplace_back(keyword.name.str(), value);
  }
  if (const auto *name = llvm::dyn_cast<ast::Name>(expr->func)) {
    const bool known = locals_.contains(name->id) || findBuiltin(("builtins." + name->id).str()) ||
                       names_(name->id).status != Resolution::Status::NotFound;
    if (!known)
      return callPython(expr, name->id, args);
  }
  Value callee = visit(expr->func);
  if (!callee)
    return {};
  semantic_.setPosition(expr->range(), expr->range(), {});
  switch (callee.kind()) {
  case Value::Kind::Builtin: {
    Value value = semantic_.callBuiltin(*callee.builtin(), args, keywords);
    llvm::SmallVector<TensorValue, 1> leaves;
    if (value)
      flatten(value, leaves);
    return leaves.empty() ? value : needsPython(expr, "it makes a run-time value outside a kernel");
  }
  case Value::Kind::BoundMethod: {
    std::vector<Value> all{callee.boundMethod().self};
    llvm::append_range(all, args);
    if (callee.boundMethod().callee.kind() == Value::Kind::Builtin)
      return semantic_.callBuiltin(*callee.boundMethod().callee.builtin(), all, keywords);
    break;
  }
  case Value::Kind::Function:
    if (callee.function()->kind == FunctionInfo::Kind::Jit)
      return fail(expr, ErrorKind::Runtime, "Cannot call @triton.jit'd outside of the scope of a kernel");
    return take(expr, resolver_.call(callee, args, keywords), "the function cannot be called");
  case Value::Kind::Host:
    return take(expr, resolver_.call(callee, args, keywords), "the object is not callable", ErrorKind::Type);
  default: break;
  }
  return needsPython(expr, "the callee is not a function that is known here");
}
