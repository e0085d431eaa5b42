//===- CodeGenAggregate.cpp - Objects of users' classes ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.13. An aggregate is a named tuple whose class the host knows: `__triton_aggregate__`
// of the class is (key, name, fields, constructor, static methods), each field a name, a class and, perhaps,
// a default. A constructor is visited in place; what it assigns to its first parameter's attributes becomes
// the fields.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "CodeGenImpl.h"

#include "llvm/ADT/STLExtras.h"

using namespace despina;
using namespace despina::codegen;

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// Text of a constant string; empty for anything else.
static std::string textOf(const Value &value) {
  return value.isConstant() && value.constant().isString() ? value.constant().string() : std::string();
}

std::shared_ptr<const AggregateClass> CodeGenerator::aggregateClass(const Value &value) {
  if (value.kind() != Value::Kind::Host || !value.host().callable || !value.host().resolver ||
      value.host().typeName != "type")
    return nullptr;
  Resolution resolution = value.host().resolver->attribute(value, "__triton_aggregate__");
  if (resolution.status != Resolution::Status::Found || !resolution.value.isTuple())
    return nullptr;
  const std::vector<Value> &parts = resolution.value.tuple().elements;
  if (parts.size() != 5 || !parts[2].isTuple() || !parts[4].isTuple())
    return nullptr;
  auto type = std::make_shared<AggregateClass>();
  type->key = textOf(parts[0]);
  type->name = textOf(parts[1]);
  type->type = value;
  type->init = parts[3];
  for (const Value &field : parts[2].tuple().elements) {
    if (!field.isTuple() || field.tuple().elements.size() < 2)
      return nullptr;
    const std::vector<Value> &about = field.tuple().elements;
    type->fields.push_back(textOf(about[0]));
    type->annotations.push_back(about[1]);
    type->defaults.push_back(about.size() > 2 ? about[2] : Value());
  }
  for (const Value &name : parts[4].tuple().elements)
    type->staticMethods.push_back(textOf(name));
  return type;
}

/// How error texts name a field's class.
static std::string annotationText(const Value &annotation) {
  if (annotation.kind() == Value::Kind::Builtin)
    return "<class 'triton.language.core." + annotation.builtin()->name().str() + "'>";
  return annotation.kind() == Value::Kind::Host ? annotation.host().description : annotation.str();
}

/// Whether a value may be kept in a field of this class; classes that kernels know nothing of take anything.
static bool fits(const Value &value, const Value &annotation, bool isAggregateClass) {
  if (isBuiltin(annotation, "language.constexpr")) {
    llvm::SmallVector<TensorValue, 2> leaves;
    flatten(value, leaves);
    return leaves.empty();
  }
  if (std::optional<bool> known = isInstance(value, annotation))
    return *known;
  if (annotation.kind() != Value::Kind::Host || !annotation.host().resolver)
    return true;
  if (!value.isTuple() || !value.tuple().aggregate)
    return !isAggregateClass;
  return annotation.host().resolver->same(value.tuple().aggregate->type, annotation);
}

bool CodeGenerator::checkField(const ast::Node *node, const AggregateClass &type, size_t field,
                               const Value &value) {
  if (fits(value, type.annotations[field], bool(aggregateClass(type.annotations[field]))))
    return true;
  error(node, ErrorKind::Type,
        "Expected " + annotationText(type.annotations[field]) + " for attribute '" + type.fields[field] +
            "', got " + classText(value));
  return false;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

std::optional<ValueList> CodeGenerator::bindFields(const ast::Node *node, const AggregateClass &type,
                                                   llvm::ArrayRef<Value> args, Keywords keywords) {
  auto refuse = [&](const std::string &why) {
    error(node, ErrorKind::Type, type.name + "() " + why);
    return std::nullopt;
  };
  ValueList values(args.begin(), args.end());
  if (values.size() > type.fields.size())
    return refuse("takes " + std::to_string(type.fields.size()) + " fields but " +
                  std::to_string(values.size()) + " were given");
  values.resize(type.fields.size());
  for (const auto &[name, value] : keywords) {
    const size_t field = llvm::find(type.fields, name) - type.fields.begin();
    if (field == type.fields.size())
      return refuse("got an unexpected keyword argument '" + name + "'");
    if (values[field])
      return refuse("got multiple values for argument '" + name + "'");
    values[field] = value;
  }
  for (auto [name, value, standard] : llvm::zip_equal(type.fields, values, type.defaults)) {
    if (!value)
      value = standard;
    if (!value)
      return refuse("missing a required argument: '" + name + "'");
  }
  return values;
}

/// Under which name a constructor's scope keeps a field: no identifier has a dot.
static std::string fieldKey(const Frame &frame, llvm::StringRef field) {
  return (frame.info->def->params.front().name + "." + field).str();
}

std::optional<ValueList> CodeGenerator::initialiseFields(const ast::Node *node,
                                                         const std::shared_ptr<const AggregateClass> &type,
                                                         llvm::ArrayRef<Value> args, Keywords keywords) {
  ValueList withSelf{type->type}, bound;
  llvm::append_range(withSelf, args);
  Frame frame;
  if (!openCall(node, type->init.function(), withSelf, keywords, bound, frame))
    return std::nullopt;
  frame.constructed = type;
  ++callDepth_;
  Value result = frame.info->def->params.empty() ? Value() : callInPlace(bound, frame);
  --callDepth_;
  if (!result)
    return std::nullopt;
  ValueList values;
  for (auto [field, standard] : llvm::zip_equal(type->fields, type->defaults)) {
    Value assigned = frame.scope.lookup(fieldKey(frame, field));
    values.push_back(assigned ? assigned : standard);
    if (values.back())
      continue;
    error(node, ErrorKind::Attribute,
          "constructor for " + type->name + " did not initialize attribute '" + field + "'");
    return std::nullopt;
  }
  return values;
}

Value CodeGenerator::construct(const ast::Node *node, const std::shared_ptr<const AggregateClass> &type,
                               llvm::ArrayRef<Value> args, Keywords keywords) {
  std::optional<ValueList> values = type->init.kind() == Value::Kind::Function
                                        ? initialiseFields(node, type, args, keywords)
                                        : bindFields(node, *type, args, keywords);
  if (!values)
    return {};
  at(node);
  for (auto [field, value] : llvm::enumerate(*values))
    if (!checkField(node, *type, field, value))
      return {};
  Value object = Value::aggregate(type, std::vector<Value>(values->begin(), values->end()));
  return limited(node, object.withRange(node->range()));
}

//===----------------------------------------------------------------------===//
// Fields and methods
//===----------------------------------------------------------------------===//

/// Whether an expression is the first parameter of the constructor that is visited.
static bool isSelf(const Frame &frame, const ast::Expr *expr) {
  const auto *name = llvm::dyn_cast<ast::Name>(expr);
  return frame.constructed && name && name->id == frame.info->def->params.front().name;
}

Value CodeGenerator::fieldInConstructor(const ast::Attribute *expr) {
  return isSelf(*frame_, expr->value) ? scope().lookup(fieldKey(*frame_, expr->attr)) : Value();
}

bool CodeGenerator::assignField(const ast::Attribute *target, const Value &value) {
  if (!isSelf(*frame_, target->value)) {
    Value object = visit(target->value);
    if (object && object.isTuple() && object.tuple().aggregate)
      error(target, ErrorKind::Attribute,
            "cannot assign to field '" + target->attr.str() + "' on immutable aggregate " +
                object.tuple().typeName + "; use aggregate_replace() to construct a modified copy");
    else if (object)
      error(target, ErrorKind::NotImplemented, "Attribute assignment is not supported in triton");
    return false;
  }
  const AggregateClass &type = *frame_->constructed;
  const size_t field = llvm::find(type.fields, target->attr) - type.fields.begin();
  if (field == type.fields.size()) {
    error(target, ErrorKind::Attribute, type.name + " has no attribute '" + target->attr.str() + "'",
          "fields of an aggregate are declared in the class: `" + target->attr.str() + ": tl.tensor`");
    return false;
  }
  if (frame_->runtimeLoops) {
    error(target, ErrorKind::UnsupportedConstruct, "a constructor cannot assign fields inside a loop");
    return false;
  }
  if (!checkField(target, type, field, value))
    return false;
  fieldKeys_.push_back(fieldKey(*frame_, target->attr));
  scope()[fieldKeys_.back()] = value;
  return true;
}

Value CodeGenerator::methodOf(const Value &object, llvm::StringRef name) {
  const AggregateClass &type = *object.tuple().aggregate;
  if (llvm::is_contained(type.fields, name) || type.type.kind() != Value::Kind::Host)
    return {};
  Resolution resolution = type.type.host().resolver->attribute(type.type, name);
  if (resolution.status != Resolution::Status::Found)
    return {};
  const bool isMethod = resolution.value.kind() == Value::Kind::Function ||
                        (resolution.value.kind() == Value::Kind::Host && resolution.value.host().callable &&
                         resolution.value.host().typeName != "type");
  return isMethod && !llvm::is_contained(type.staticMethods, name)
             ? Value::boundMethod(object, resolution.value)
             : resolution.value;
}

Value CodeGenerator::replaceFields(const ast::Node *node, llvm::ArrayRef<Value> args, Keywords keywords) {
  if (args.size() != 1 || !args.front().isTuple() || !args.front().tuple().aggregate)
    return error(node, ErrorKind::Type,
                 "aggregate_replace() takes one aggregate and the changes to it as keyword arguments");
  const TupleValue &object = args.front().tuple();
  const AggregateClass &type = *object.aggregate;
  std::vector<Value> values = object.elements;
  for (const auto &[name, value] : keywords) {
    const size_t field = llvm::find(type.fields, name) - type.fields.begin();
    if (field == type.fields.size())
      return error(node, ErrorKind::Attribute, type.name + " has no attribute '" + name + "'");
    if (!checkField(node, type, field, value))
      return {};
    values[field] = value;
  }
  return Value::aggregate(object.aggregate, std::move(values)).withRange(node->range());
}
