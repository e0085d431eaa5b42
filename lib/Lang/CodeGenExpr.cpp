//===- CodeGenExpr.cpp - Expressions -----------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 2.3, except calls (CodeGenCall.cpp) and the ternary (CodeGenBranch.cpp).
//
//===----------------------------------------------------------------------===//
#include "CodeGenImpl.h"
#include "Promotion.h"
#include "PyNumber.h"

using namespace despina;
using namespace despina::codegen;

Value CodeGenerator::visit(const ast::Expr *expr) {
  return exceedsLimits(expr) ? Value() : limited(expr, visitUnlimited(expr));
}

Value CodeGenerator::visitUnlimited(const ast::Expr *expr) {
  switch (expr->kind()) {
  case ast::NodeKind::Constant: return visitConstant(llvm::cast<ast::Constant>(expr));
  case ast::NodeKind::Name: return lookup(llvm::cast<ast::Name>(expr)->id, expr);
  case ast::NodeKind::BinOp: return visitBinOp(llvm::cast<ast::BinOp>(expr));
  case ast::NodeKind::UnaryOp: return visitUnaryOp(llvm::cast<ast::UnaryOp>(expr));
  case ast::NodeKind::BoolOp: return visitBoolOp(llvm::cast<ast::BoolOp>(expr));
  case ast::NodeKind::Compare: return visitCompare(llvm::cast<ast::Compare>(expr));
  case ast::NodeKind::IfExp: return visitIfExp(llvm::cast<ast::IfExp>(expr));
  case ast::NodeKind::Call: return visitCall(llvm::cast<ast::Call>(expr));
  case ast::NodeKind::Attribute: return visitAttribute(llvm::cast<ast::Attribute>(expr));
  case ast::NodeKind::Subscript: return visitSubscript(llvm::cast<ast::Subscript>(expr));
  case ast::NodeKind::Tuple: return visitSequenceLiteral(llvm::cast<ast::Tuple>(expr)->elts);
  case ast::NodeKind::List: return visitSequenceLiteral(llvm::cast<ast::List>(expr)->elts);
  case ast::NodeKind::ListComp: return visitListComp(llvm::cast<ast::ListComp>(expr));
  case ast::NodeKind::Slice: return visitSlice(llvm::cast<ast::Slice>(expr));
  case ast::NodeKind::JoinedStr: return visitJoinedStr(llvm::cast<ast::JoinedStr>(expr));
  case ast::NodeKind::NamedExpr: return visitNamedExpr(llvm::cast<ast::NamedExpr>(expr));
  case ast::NodeKind::Dict: return visitDict(llvm::cast<ast::Dict>(expr));
  case ast::NodeKind::Lambda:
    return unsupported(expr, "move it to module level as a function with @triton.jit");
  default: return unsupported(expr);
  }
}

Value CodeGenerator::visitConstant(const ast::Constant *expr) {
  using Type = ast::Constant::Type;
  switch (expr->type) {
  case Type::None: return Value::none().withRange(expr->range());
  case Type::Ellipsis: return Value::constant(Constant::ellipsis()).withRange(expr->range());
  case Type::Bool: return Value::constant(expr->boolean).withRange(expr->range());
  case Type::Int: return Value::constant(expr->integer).withRange(expr->range());
  case Type::Float: return Value::constant(expr->real).withRange(expr->range());
  case Type::Str: return Value::constant(expr->string.str()).withRange(expr->range());
  case Type::Complex:
    return error(expr, ErrorKind::UnsupportedConstruct, "complex numbers are not supported");
  case Type::Bytes: return error(expr, ErrorKind::UnsupportedConstruct, "bytes are not supported");
  }
  return unsupported(expr);
}

Value CodeGenerator::visitBinOp(const ast::BinOp *expr) {
  Value lhs = visit(expr->left);
  if (!lhs)
    return {};
  Value rhs = visit(expr->right);
  if (!rhs)
    return {};
  at(expr);
  return semantic_.binaryOperator(expr->op, lhs, rhs).withRange(expr->range());
}

Value CodeGenerator::visitUnaryOp(const ast::UnaryOp *expr) {
  Value operand = visit(expr->operand);
  if (!operand)
    return {};
  at(expr);
  return semantic_.unaryOperator(expr->op, operand).withRange(expr->range());
}

/// Python truth of a value known at compile time.
static bool truthy(const Value &value) {
  if (value.isConstant())
    return value.constant().truthy();
  return !value.isTuple() || !value.tuple().elements.empty();
}

Value CodeGenerator::visitBoolOp(const ast::BoolOp *expr) {
  const bool isAnd = expr->op == ast::BoolOperator::And;
  Value runtime, last;
  for (const ast::Expr *operand : expr->values) {
    Value value = visit(operand);
    if (!value)
      return {};
    if (!value.isTensor()) {
      // Constants decide at once or drop out: what follows a deciding one may not even compile.
      if (truthy(value) != isAnd)
        return value;
      last = value;
      continue;
    }
    if (runtime) {
      at(expr);
      value = isAnd ? semantic_.logicalAnd(runtime, value) : semantic_.logicalOr(runtime, value);
      if (!value)
        return {};
    }
    runtime = value;
  }
  return runtime ? runtime : last;
}

bool CodeGenerator::isSame(const Value &lhs, const Value &rhs) {
  if (lhs.kind() == Value::Kind::Host && rhs.kind() == Value::Kind::Host && lhs.host().resolver)
    return lhs.host().resolver->same(lhs, rhs);
  return lhs.identical(rhs);
}

Value CodeGenerator::visitCompare(const ast::Compare *expr) {
  if (expr->ops.size() != 1 || expr->comparators.size() != 1)
    return error(expr, ErrorKind::UnsupportedConstruct, "simultaneous multiple comparison is not supported",
                 "write (a < b) & (b < c)");
  Value lhs = visit(expr->left);
  if (!lhs)
    return {};
  Value rhs = visit(expr->comparators.front());
  if (!rhs)
    return {};
  at(expr);
  switch (expr->ops.front()) {
  case ast::CompareOperator::Is: return Value::constant(isSame(lhs, rhs));
  case ast::CompareOperator::IsNot: return Value::constant(!isSame(lhs, rhs));
  case ast::CompareOperator::In:
    return error(expr, ErrorKind::UnsupportedConstruct,
                 "AST comparison operator 'In' is not (currently) implemented.",
                 "compare with each value, and join the results with |");
  case ast::CompareOperator::NotIn:
    return error(expr, ErrorKind::UnsupportedConstruct,
                 "AST comparison operator 'NotIn' is not (currently) implemented.");
  default: return semantic_.compareOperator(expr->ops.front(), lhs, rhs).withRange(expr->range());
  }
}

/// The resolver that answers attributes of a value, or null for values of our own.
static SymbolResolver *resolverOf(const Value &value) {
  if (value.kind() == Value::Kind::Host)
    return value.host().resolver;
  if (value.kind() == Value::Kind::Module && value.module().host)
    return value.module().resolver;
  return nullptr;
}

Value CodeGenerator::visitAttribute(const ast::Attribute *expr) {
  if (Value field = fieldInConstructor(expr))
    return field;
  Value object = visit(expr->value);
  if (!object)
    return {};
  if (object.isTuple() && object.tuple().aggregate)
    if (Value method = methodOf(object, expr->attr))
      return method;
  if (SymbolResolver *resolver = resolverOf(object)) {
    Resolution resolution = resolver->attribute(object, expr->attr);
    switch (resolution.status) {
    case Resolution::Status::Found: return resolution.value;
    case Resolution::Status::Failed: return resolutionError(expr, resolution);
    default: break;
    }
    const bool isModule = object.kind() == Value::Kind::Module;
    return error(expr, ErrorKind::Attribute,
                 (isModule ? "module '" + object.module().name + "' has no attribute '"
                           : "'" + className(object) + "' object has no attribute '") +
                     expr->attr.str() + "'");
  }
  at(expr);
  return semantic_.attribute(object, expr->attr);
}

Value CodeGenerator::visitSubscript(const ast::Subscript *expr) {
  Value object = visit(expr->value);
  if (!object)
    return {};
  Value index = visit(expr->index);
  if (!index)
    return {};
  at(expr);
  if (SymbolResolver *resolver = resolverOf(object)) {
    Resolution resolution = resolver->subscript(object, index);
    if (resolution.status == Resolution::Status::Found)
      return resolution.value;
    if (resolution.status == Resolution::Status::Failed)
      return resolutionError(expr, resolution);
    return error(expr, ErrorKind::Type, "'" + className(object) + "' object is not subscriptable");
  }
  return semantic_.subscript(object, index);
}

Value CodeGenerator::visitSequenceLiteral(ast::ExprList elements) {
  std::vector<Value> values;
  values.reserve(elements.size());
  for (const ast::Expr *element : elements) {
    const auto *starred = llvm::dyn_cast<ast::Starred>(element);
    Value value = visit(starred ? starred->value : element);
    if (!value)
      return {};
    if (!starred)
      values.push_back(value);
    else if (!appendStarred(starred, value, values))
      return {};
  }
  return Value::tuple(std::move(values));
}

Value CodeGenerator::visitListComp(const ast::ListComp *expr) {
  if (expr->generators.size() != 1)
    return error(expr, ErrorKind::Value, "nested comprehensions are not supported");
  const ast::Comprehension &generator = expr->generators.front();
  if (generator.isAsync)
    return unsupported(expr);
  Value iterable = visit(generator.iter);
  if (!iterable)
    return {};
  if (!iterable.isTuple())
    return error(generator.iter, ErrorKind::NotImplemented, "only tuple comprehensions are supported");
  // The targets are local to the comprehension; elements stay what they are, so constants stay constants.
  Scope saved = scope();
  NameSet named; // by `:=`: names of the function
  collectAssigned(expr->elt, named);
  std::vector<Value> values;
  for (const Value &element : iterable.tuple().elements) {
    if (const auto *name = llvm::dyn_cast<ast::Name>(generator.target))
      scope()[name->id] = element;
    else if (!assignTarget(generator.target, element))
      return {};
    Value value = visit(expr->elt);
    if (!value)
      return {};
    values.push_back(value);
  }
  for (llvm::StringRef name : named)
    if (auto it = scope().find(name); it != scope().end())
      saved[name] = it->second;
  scope() = std::move(saved);
  return Value::tuple(std::move(values));
}

Value CodeGenerator::visitJoinedStr(const ast::JoinedStr *expr) {
  std::string text;
  for (const ast::Expr *piece : expr->values) {
    if (text.size() > maxStringBytes)
      return error(expr, ErrorKind::Overflow, "formatted string is too long");
    const auto *formatted = llvm::dyn_cast<ast::FormattedValue>(piece);
    Value value = visit(formatted ? formatted->value : piece);
    if (!value)
      return {};
    if (value.isConstant()) {
      const bool isRepr = formatted && (formatted->conversion == 'r' || formatted->conversion == 'a');
      text += isRepr ? value.constant().repr() : value.constant().str();
    } else if (value.kind() == Value::Kind::DType) {
      text += formatted && formatted->conversion == 'r' ? typeRepr(value.dtype()) : value.dtype().str();
    } else {
      return error(
          piece, ErrorKind::UnsupportedConstruct,
          "Cannot evaluate f-string containing non-constexpr conversion values, found conversion of type " +
              classText(value));
    }
  }
  return Value::constant(std::move(text)).withRange(expr->range());
}

/// Users' own builtins may hold dictionaries: `extern_elementwise` takes one. They are tuples of pairs here.
Value CodeGenerator::visitDict(const ast::Dict *expr) {
  const bool isUserBuiltin = llvm::any_of(frame_->info->def->params, [](const ast::Parameter &param) {
    return param.name == "_semantic" || param.name == "_builder";
  });
  if (!isUserBuiltin)
    return unsupported(expr);
  std::vector<Value> pairs;
  for (auto [key, value] : llvm::zip_equal(expr->keys, expr->values)) {
    if (!key)
      return unsupported(expr);
    Value first = visit(key);
    Value second = first ? visit(value) : Value();
    if (!second)
      return {};
    pairs.push_back(Value::tuple({first, second}));
  }
  return limited(expr, Value::tuple(std::move(pairs), {}, "dict"));
}

Value CodeGenerator::visitSlice(const ast::Slice *expr) {
  Value bounds[3];
  const ast::Expr *exprs[3] = {expr->lower, expr->upper, expr->step};
  for (size_t i = 0; i < 3; ++i) {
    bounds[i] = exprs[i] ? visit(exprs[i]) : Value::none();
    if (!bounds[i])
      return {};
  }
  return Value::slice(bounds[0], bounds[1], bounds[2]);
}

Value CodeGenerator::visitNamedExpr(const ast::NamedExpr *expr) {
  Value value = visit(expr->value);
  if (!value)
    return {};
  at(expr);
  if (!assignTarget(expr->target, value))
    return {};
  return lookup(expr->target->id, expr->target);
}
