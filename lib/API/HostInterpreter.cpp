//===- HostInterpreter.cpp - Running kernels for a host language ----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Errors.h"
#include "HostAdapter.h"
#include "HostArguments.h"
#include "Signature.h"

#include "despina/Interpreter/CheckBuilder.h"
#include "despina/Interpreter/EagerBuilder.h"
#include "despina/Lang/Builtins.h"
#include "despina/Lang/CodeGen.h"
#include "despina/interpreter.h"

#include "BigStack.h"

#include <cmath>

namespace despina::host {

namespace {

using interpreter::EagerBuilder;
using interpreter::TileRef;

/// What `Item::owned` of a Cell points to: a value and the tiles it needs.
struct Cell {
  despina::Value value;
  llvm::SmallVector<TileRef, 1> tiles;
};

const Cell &cellOf(const Item &item) { return *static_cast<const Cell *>(item.owned.get()); }

LanguageTarget interpreterTarget() {
  LanguageTarget target;
  target.backend = "cpu";
  target.fp8Types = {ScalarKind::FP8E5, ScalarKind::FP8E5B16, ScalarKind::FP8E4NV, ScalarKind::FP8E4B8,
                     ScalarKind::FP8E4B15};
  target.minDotSize = [](unsigned) { return std::array<int, 3>{1, 1, 1}; };
  target.debug = true;
  return target;
}

ast::BinaryOperator binaryOperator(Operator op) {
  return static_cast<ast::BinaryOperator>(unsigned(op) - unsigned(Operator::Add));
}

std::optional<ast::CompareOperator> compareOperator(Operator op) {
  if (op < Operator::Equal || op > Operator::GreaterEqual)
    return std::nullopt;
  return static_cast<ast::CompareOperator>(unsigned(op) - unsigned(Operator::Equal));
}

Item item(Item::Kind kind) {
  Item result;
  result.kind = kind;
  return result;
}

} // namespace

Result check(const std::shared_ptr<const Function> &function, Resolver &resolver,
             const std::vector<KernelArgument> &args, std::vector<std::string> *namesUsed) {
  HostAdapter adapter(resolver);
  Diagnostics diags;
  std::shared_ptr<const FunctionInfo> info = adapter.functionInfo(function, diags);
  if (!info)
    return errorFrom(diags);
  Expected<std::vector<despina::KernelArgument>> arguments = convertArguments(adapter, args);
  if (!arguments)
    return arguments.error();
  CodeGenOptions options;
  options.allowDebugging = true;
  NamesUsed names;
  options.namesUsed = &names;
  options.staticPrint = [&](llvm::StringRef text) { resolver.staticPrint(text.str()); };
  LanguageTarget target = interpreterTarget();
  bool generated = false;
  runOnBigStack([&] {
    interpreter::CheckBuilder builder;
    generated = generateKernel(builder, diags, target, info, *arguments, options) && !diags.hasErrors();
  });
  forwardWarnings(resolver, diags);
  if (namesUsed)
    *namesUsed = namesAndTypes(names);
  return generated ? Result(Unit{}) : Result(errorFrom(diags));
}

//===----------------------------------------------------------------------===//
// The interpreter's state
//===----------------------------------------------------------------------===//

struct Interpreter::Impl : public CallHost {
  Impl(Resolver &resolver, FunctionCaller &caller)
      : caller(caller), adapter(resolver), target(interpreterTarget()),
        semantic(builder, diags, target, *this) {
    CodeGenOptions options;
    options.maxVisits = std::numeric_limits<uint64_t>::max();
    options.staticPrint = [](llvm::StringRef) {};
    options.callHostFunction = [this](const despina::Value &callee, llvm::ArrayRef<despina::Value> args,
                                      llvm::ArrayRef<std::pair<std::string, despina::Value>> keywords) {
      return callHostFunction(callee, args, keywords);
    };
    library = InlineCalls::create(builder, diags, target, std::move(options));
  }

  // CallHost.
  despina::Value callFunction(const despina::Value &callee, llvm::ArrayRef<despina::Value> args,
                              llvm::ArrayRef<std::pair<std::string, despina::Value>> keywords) override {
    bool outer = std::exchange(semantic.insideBuiltin, false);
    despina::Value result = callValue(callee, args, keywords);
    semantic.insideBuiltin = outer;
    return result;
  }
  /// Printed when the kernel was checked, as a compilation does.
  void staticPrint(llvm::StringRef) override {}

  despina::Value callValue(const despina::Value &callee, llvm::ArrayRef<despina::Value> args,
                           llvm::ArrayRef<std::pair<std::string, despina::Value>> keywords) {
    if (callee.kind() == despina::Value::Kind::Builtin)
      return semantic.callBuiltin(*callee.builtin(), args, keywords);
    if (callee.kind() == despina::Value::Kind::Function && callee.function()->scope)
      return callHostFunction(callee, args, keywords);
    return library->call(callee, args, keywords);
  }

  despina::Value callHostFunction(const despina::Value &callee, llvm::ArrayRef<despina::Value> args,
                                  llvm::ArrayRef<std::pair<std::string, despina::Value>> keywords) {
    Resolution failure;
    std::optional<host::Value> function = adapter.toHost(callee, failure);
    if (!function || !function->function)
      return semantic.error(ErrorKind::Internal,
                            "the host does not know the function '" + callee.str() + "'");
    std::vector<Item> positional;
    for (const despina::Value &value : args)
      positional.push_back(toItem(value));
    NamedItems named;
    for (const auto &[name, value] : keywords)
      named.emplace_back(name, toItem(value));
    std::optional<Item> result = caller.call(*function->function, positional, named);
    if (!result) {
      callbackFailed = true;
      return {};
    }
    return kept(*result);
  }

  /// The value with its tiles kept by the operation that goes on, not only by the item.
  despina::Value kept(const Item &value) {
    despina::Value result = fromItem(value);
    llvm::SmallVector<TensorValue, 4> leaves;
    flatten(result, leaves);
    for (const TensorValue &leaf : leaves)
      builder.keep(TileRef(interpreter::tileOf(leaf.handle)));
    return result;
  }

  /// Null after reporting.
  despina::Value fromItem(const Item &value);

  struct CallArguments {
    llvm::SmallVector<despina::Value, 8> values;
    llvm::SmallVector<std::pair<std::string, despina::Value>, 4> named;
  };
  /// None where one of them has no value here.
  std::optional<CallArguments> argumentsOf(const std::vector<Item> &args, const NamedItems &keywords);
  Item toItem(const despina::Value &value);

  /// Runs one operation: its temporaries live as long as it does.
  template <typename F> Answer operation(F work) {
    size_t mark = builder.mark();
    despina::Value value = work();
    Answer answer;
    if (value && !builder.hasFailed() && !builder.hasDiverged())
      answer = toItem(value);
    builder.release(mark);
    return answer;
  }

  FunctionCaller &caller;
  HostAdapter adapter;
  LanguageTarget target;
  EagerBuilder builder;
  Diagnostics diags;
  Semantic semantic;
  std::unique_ptr<InlineCalls> library;
  bool callbackFailed = false;
};

std::optional<Interpreter::Impl::CallArguments> Interpreter::Impl::argumentsOf(const std::vector<Item> &args,
                                                                               const NamedItems &keywords) {
  CallArguments result;
  for (const Item &arg : args)
    if (!result.values.emplace_back(fromItem(arg)))
      return std::nullopt;
  for (const auto &[name, arg] : keywords)
    if (!result.named.emplace_back(name, fromItem(arg)).second)
      return std::nullopt;
  return result;
}

despina::Value Interpreter::Impl::fromItem(const Item &value) {
  switch (value.kind) {
  case Item::Kind::None: return despina::Value::none();
  case Item::Kind::Bool: return despina::Value::constant(value.boolean);
  case Item::Kind::Int: return despina::Value::constant(value.integer);
  case Item::Kind::Float: return despina::Value::constant(value.real);
  case Item::Kind::Cell: return cellOf(value).value;
  case Item::Kind::Tuple: {
    const auto &tuple = *static_cast<const TupleItem *>(value.owned.get());
    std::vector<despina::Value> elements;
    for (const Item &element : tuple.elements) {
      elements.push_back(fromItem(element));
      if (!elements.back())
        return {};
    }
    return despina::Value::tuple(std::move(elements), tuple.fields, tuple.typeName);
  }
  case Item::Kind::Other: {
    Resolution failure;
    if (std::optional<despina::Value> converted =
            adapter.fromHost(*static_cast<const host::Value *>(value.owned.get()), failure))
      return *converted;
    return semantic.error(failure.errorKind, failure.message);
  }
  }
  return {};
}

static std::optional<Item> constantItem(const Constant &constant) {
  Item result;
  if (constant.isNone())
    return result;
  if (constant.isBool()) {
    result.kind = Item::Kind::Bool;
    result.boolean = constant.boolean();
    return result;
  }
  if (constant.isFloat()) {
    result.kind = Item::Kind::Float;
    result.real = constant.real();
    return result;
  }
  std::optional<int64_t> integer = constant.isInt() ? constant.asInt64() : std::nullopt;
  if (!integer)
    return std::nullopt;
  result.kind = Item::Kind::Int;
  result.integer = *integer;
  return result;
}

Item Interpreter::Impl::toItem(const despina::Value &value) {
  using Kind = despina::Value::Kind;
  if (value.isConstant())
    if (std::optional<Item> constant = constantItem(value.constant()))
      return *constant;
  if (value.isTuple() && value.tuple().fields.empty() && value.tuple().typeName.empty()) {
    auto tuple = std::make_shared<TupleItem>();
    for (const despina::Value &element : value.tuple().elements)
      tuple->elements.push_back(toItem(element));
    Item result = item(Item::Kind::Tuple);
    result.owned = std::move(tuple);
    return result;
  }
  const Kind kind = value.kind();
  // A type of blocks has no signature: only scalars and pointers leave.
  bool isPlainType = kind == Kind::DType && Type::fromSignature(value.dtype().signature()) == value.dtype();
  if (kind == Kind::Constant || isPlainType || kind == Kind::Function || kind == Kind::Builtin ||
      kind == Kind::Module || kind == Kind::Host) {
    Resolution failure;
    if (std::optional<host::Value> converted = adapter.toHost(value, failure)) {
      Item result = item(Item::Kind::Other);
      result.owned = std::make_shared<host::Value>(std::move(*converted));
      return result;
    }
  }
  auto cell = std::make_shared<Cell>();
  cell->value = value;
  llvm::SmallVector<TensorValue, 4> leaves;
  flatten(kind == Kind::BoundMethod ? value.boundMethod().self : value, leaves);
  for (const TensorValue &leaf : leaves)
    cell->tiles.emplace_back(interpreter::tileOf(leaf.handle));
  Item result = item(Item::Kind::Cell);
  result.owned = std::move(cell);
  return result;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Interpreter::Interpreter(Resolver &resolver, FunctionCaller &caller)
    : impl_(std::make_unique<Impl>(resolver, caller)) {}
Interpreter::~Interpreter() = default;

void Interpreter::setProgram(const uint32_t (&program)[3], const uint32_t (&grid)[3]) {
  impl_->builder.setProgram(program, grid);
  if (interpreter::Sanitizer *sanitizer = impl_->builder.sanitizer())
    sanitizer->setProgram((program[0] * grid[1] + program[1]) * grid[2] + program[2] + 1);
}
void Interpreter::addMemory(uint64_t begin, uint64_t end, const std::string &name, uint64_t neverWritten) {
  impl_->builder.memory().addRegion(begin, end, name);
  if (interpreter::Sanitizer *sanitizer = impl_->builder.sanitizer())
    sanitizer->addRegion(begin, end, name, neverWritten);
}
void Interpreter::sanitize() {
  impl_->builder.sanitize();
  impl_->target.sanitizeOverflow = true;
}
std::vector<Finding> Interpreter::takeFindings() {
  std::vector<Finding> findings;
  if (interpreter::Sanitizer *sanitizer = impl_->builder.sanitizer())
    for (interpreter::Finding &finding : sanitizer->takeFindings())
      findings.push_back({std::move(finding.kind), std::move(finding.text)});
  return findings;
}
bool Interpreter::hasFindings() const {
  interpreter::Sanitizer *sanitizer = impl_->builder.sanitizer();
  return sanitizer && sanitizer->hasFindings();
}
void Interpreter::commit() { impl_->builder.memory().commit(); }
void Interpreter::rollBack() { impl_->builder.memory().rollBack(); }

Item Interpreter::scalar(const std::string &type, uint64_t bits) {
  std::optional<Type> parsed = Type::fromSignature(type);
  Item result;
  if (!parsed)
    return result;
  if (Answer made = impl_->operation(
          [&] { return despina::Value::tensor(*parsed, impl_->builder.constantInt(*parsed, bits)); }))
    result = *made;
  return result;
}

Interpreter::Answer Interpreter::descriptor(const std::string &text, const std::vector<uint64_t> &leaves) {
  std::optional<DescriptorType> type = parseDescriptorType(text);
  if (!type)
    return std::nullopt;
  return impl_->operation([&] {
    despina::KernelArgument argument = descriptorArgument("", type->type, type->padsNaN);
    Handles handles;
    for (auto [element, bits] : llvm::zip(argument.elements, leaves))
      handles.push_back(impl_->builder.constantInt(element.type, bits));
    return argumentValue(impl_->semantic, argument, handles);
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Interpreter::Answer Interpreter::binary(Operator op, const Item &lhs, const Item &rhs) {
  return impl_->operation([&]() -> despina::Value {
    despina::Value x = impl_->fromItem(lhs), y = x ? impl_->fromItem(rhs) : despina::Value();
    if (!y)
      return {};
    if (op == Operator::And)
      return impl_->semantic.logicalAnd(x, y);
    if (op == Operator::Or)
      return impl_->semantic.logicalOr(x, y);
    if (std::optional<ast::CompareOperator> compare = compareOperator(op))
      return impl_->semantic.compareOperator(*compare, x, y);
    return impl_->semantic.binaryOperator(binaryOperator(op), x, y);
  });
}

Interpreter::Answer Interpreter::unary(Operator op, const Item &operand) {
  return impl_->operation([&]() -> despina::Value {
    despina::Value x = impl_->fromItem(operand);
    auto kind = static_cast<ast::UnaryOperator>(unsigned(op) - unsigned(Operator::Positive));
    return x ? impl_->semantic.unaryOperator(kind, x) : despina::Value();
  });
}

Interpreter::Answer Interpreter::attribute(const Item &object, const std::string &name) {
  return impl_->operation([&]() -> despina::Value {
    despina::Value x = impl_->fromItem(object);
    return x ? impl_->semantic.attribute(x, name) : despina::Value();
  });
}

Interpreter::Answer Interpreter::subscript(const Item &object, const Item &index) {
  return impl_->operation([&]() -> despina::Value {
    despina::Value x = impl_->fromItem(object), y = x ? impl_->fromItem(index) : despina::Value();
    return y ? impl_->semantic.subscript(x, y) : despina::Value();
  });
}

Interpreter::Answer Interpreter::slice(const Item &lower, const Item &upper, const Item &step) {
  return impl_->operation([&]() -> despina::Value {
    despina::Value bounds[3] = {impl_->fromItem(lower), impl_->fromItem(upper), impl_->fromItem(step)};
    return bounds[0] && bounds[1] && bounds[2] ? despina::Value::slice(bounds[0], bounds[1], bounds[2])
                                               : despina::Value();
  });
}

const void *Interpreter::findBuiltin(const std::string &path) const { return despina::findBuiltin(path); }

const void *Interpreter::findMember(const std::string &name) const {
  // What a tensor has beside its methods comes first.
  static constexpr const char *attributes[] = {"T", "dtype", "handle", "numel", "shape", "type"};
  return llvm::is_contained(attributes, llvm::StringRef(name)) ? nullptr : findTensorMember(name);
}

bool Interpreter::hasDiverged() const { return impl_->builder.hasDiverged(); }

Interpreter::Answer Interpreter::callBuiltin(const void *builtin, const std::vector<Item> &args,
                                             const NamedItems &keywords) {
  const auto *def = static_cast<const BuiltinDef *>(builtin);
  return impl_->operation([&]() -> despina::Value {
    std::optional<Impl::CallArguments> given = impl_->argumentsOf(args, keywords);
    return given ? impl_->semantic.callBuiltin(*def, given->values, given->named) : despina::Value();
  });
}

Interpreter::Answer Interpreter::call(const Item &callee, const std::vector<Item> &args,
                                      const NamedItems &keywords) {
  return impl_->operation([&]() -> despina::Value {
    despina::Value function = impl_->fromItem(callee);
    if (!function)
      return {};
    std::optional<Impl::CallArguments> given = impl_->argumentsOf(args, keywords);
    if (!given)
      return {};
    while (function.kind() == despina::Value::Kind::BoundMethod) {
      given->values.insert(given->values.begin(), function.boundMethod().self);
      function = despina::Value(function.boundMethod().callee);
    }
    return impl_->callValue(function, given->values, given->named);
  });
}

Interpreter::Answer Interpreter::assigned(const Item &value) {
  if (value.kind == Item::Kind::None || value.kind == Item::Kind::Cell || value.kind == Item::Kind::Tuple)
    return value;
  return impl_->operation([&]() -> despina::Value {
    despina::Value x = impl_->fromItem(value);
    return x && x.isConstant() ? impl_->semantic.toTensor(x) : x;
  });
}

Interpreter::Answer Interpreter::promoted(const Item &value) {
  switch (value.kind) {
  case Item::Kind::Bool:
  case Item::Kind::Int:
  case Item::Kind::Float:
    return impl_->operation([&] { return impl_->semantic.toTensor(impl_->fromItem(value)); });
  case Item::Kind::Tuple: {
    auto tuple = std::make_shared<TupleItem>(*static_cast<const TupleItem *>(value.owned.get()));
    if (!tuple->typeName.empty())
      return value;
    for (Item &element : tuple->elements) {
      Answer answer = promoted(element);
      if (!answer)
        return std::nullopt;
      element = std::move(*answer);
    }
    Item result = item(Item::Kind::Tuple);
    result.owned = std::move(tuple);
    return result;
  }
  default: return value;
  }
}

Interpreter::Answer Interpreter::tensor(const Item &value) {
  return impl_->operation([&]() -> despina::Value {
    despina::Value x = impl_->fromItem(value);
    return x ? impl_->semantic.toTensor(x) : x;
  });
}

/// C's promotion of the types of a loop's bounds.
static Type promoteBounds(const Type &a, const Type &b) {
  if (a.isUnsigned() == b.isUnsigned())
    return a.bits() >= b.bits() ? a : b;
  const Type &unsignedType = a.isUnsigned() ? a : b, &signedType = a.isUnsigned() ? b : a;
  return unsignedType.bits() >= signedType.bits() ? unsignedType : signedType;
}

std::optional<Interpreter::Range> Interpreter::range(const std::vector<Item> &bounds) {
  Range range;
  std::optional<Type> type;
  int64_t *numbers[3] = {&range.lower, &range.upper, &range.step};
  Impl &impl = *impl_;
  Answer done = impl.operation([&]() -> despina::Value {
    llvm::SmallVector<despina::Value, 3> values;
    for (const Item &bound : bounds) {
      despina::Value value = impl.fromItem(bound);
      value = value ? impl.semantic.toTensor(value) : value;
      if (!value)
        return {};
      if (value.type().isBlock() || value.type().isPointer() || !value.type().isInt())
        return impl.semantic.error(ErrorKind::Type, "For loop bounds and step must all be ints");
      values.push_back(value);
      type = type ? promoteBounds(*type, value.type()) : value.type();
    }
    for (auto [value, number] : llvm::zip_equal(values, numbers)) {
      despina::Value narrowed = impl.semantic.cast(value, *type);
      if (!narrowed || !impl.builder.isOneNumber(narrowed.handle()))
        return {};
      const interpreter::Tile &tile = *interpreter::tileOf(narrowed.handle());
      *number = type->isUnsigned() ? int64_t(bitsAt(tile, 0)) : integerAt(tile, 0);
    }
    return despina::Value::none();
  });
  if (!done)
    return std::nullopt;
  range.isUnsigned = type->isUnsigned();
  range.type = type->signature();
  return range;
}

std::optional<bool> Interpreter::condition(const Item &value) {
  if (value.kind == Item::Kind::Bool)
    return value.boolean;
  if (value.kind == Item::Kind::None)
    return false;
  Impl &impl = *impl_;
  size_t mark = impl.builder.mark();
  std::optional<bool> answer;
  if (despina::Value x = impl.fromItem(value)) {
    if (x.isTensor())
      x = impl.semantic.toCondition(x);
    if (x && x.isTensor())
      answer = impl.builder.truth(x.handle());
    else if (x && x.isConstant())
      answer = x.constant().truthy();
    else if (x)
      answer = !x.isTuple() || !x.tuple().elements.empty();
  }
  impl.builder.release(mark);
  return impl.builder.hasFailed() ? std::nullopt : answer;
}

//===----------------------------------------------------------------------===//
// Looking at values
//===----------------------------------------------------------------------===//

bool Interpreter::isTensor(const Item &value) {
  return value.kind == Item::Kind::Cell && cellOf(value).value.isTensor();
}
bool Interpreter::isRuntime(const Item &value) {
  return value.kind == Item::Kind::Cell &&
         (cellOf(value).value.isTensor() || cellOf(value).value.isDescriptor());
}

CellInfo Interpreter::describe(const Item &cell) {
  CellInfo info;
  const despina::Value &value = cellOf(cell).value;
  info.text = value.str();
  if (value.isDescriptor())
    info.kind = CellInfo::Kind::Descriptor;
  if (value.isTuple())
    info.kind = CellInfo::Kind::Tuple;
  if (!value.isTensor())
    return info;
  info.kind = CellInfo::Kind::Tensor;
  info.type = value.type().str();
  info.scalar = value.type().scalar().signature();
  const interpreter::Tile &tile = *cellOf(cell).tiles.front();
  info.shape.assign(tile.shape.begin(), tile.shape.end());
  // Inside a combine function, the pairs that it works on.
  if (tile.shape.empty() && tile.size > 1)
    info.shape.push_back(tile.size);
  return info;
}

std::vector<char> Interpreter::elements(const Item &cell) {
  if (!isTensor(cell))
    return {};
  TileRef tile = cellOf(cell).tiles.front()->dense();
  return {tile->bytes(), tile->bytes() + size_t(tile->size) * interpreter::bytesOf(tile->storage)};
}

std::optional<std::vector<Item>> Interpreter::parts(const Item &cell) {
  if (cell.kind != Item::Kind::Cell || !cellOf(cell).value.isTuple())
    return std::nullopt;
  std::vector<Item> items;
  for (const despina::Value &element : cellOf(cell).value.tuple().elements) {
    if (element.isConstant())
      if (std::optional<Item> constant = constantItem(element.constant())) {
        items.push_back(*constant);
        continue;
      }
    auto part = std::make_shared<Cell>();
    part->value = element;
    llvm::SmallVector<TensorValue, 4> leaves;
    flatten(element, leaves);
    for (const TensorValue &leaf : leaves)
      part->tiles.emplace_back(interpreter::tileOf(leaf.handle));
    items.push_back(item(Item::Kind::Cell));
    items.back().owned = std::move(part);
  }
  return items;
}

std::string Interpreter::typeText(const Item &value) {
  switch (value.kind) {
  case Item::Kind::None: return "None";
  case Item::Kind::Bool: return value.boolean ? "True" : "False";
  case Item::Kind::Int: return std::to_string(value.integer);
  case Item::Kind::Float: return Constant(value.real).repr();
  case Item::Kind::Cell: return cellOf(value).value.str();
  case Item::Kind::Other: return static_cast<const host::Value *>(value.owned.get())->text;
  case Item::Kind::Tuple: break;
  }
  std::string text;
  for (const Item &element : static_cast<const TupleItem *>(value.owned.get())->elements)
    text += (text.empty() ? "" : ", ") + typeText(element);
  return "(" + text + ")";
}

std::optional<Error> Interpreter::takeError() {
  Impl &impl = *impl_;
  std::optional<Error> error;
  if (impl.builder.hasDiverged())
    error = plainError("Diverged", "a combine function asks for the value of one element");
  if (std::optional<interpreter::Failure> failure = impl.builder.takeFailure())
    error = plainError(failure->kind, failure->message);
  if (!error && impl.diags.hasErrors())
    error = errorFrom(impl.diags);
  impl.diags.clear();
  if (std::exchange(impl.callbackFailed, false) && !error)
    return std::nullopt;
  return error;
}

} // namespace despina::host
