//===- Semantic.cpp - Positions, calls of builtins, literals, shapes ------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Lang/Semantic.h"
#include "BuiltinsImpl.h"
#include "Promotion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MathExtras.h"

namespace despina {

namespace {

constexpr int64_t maxTensorNumel = 1048576;

/// The class of a value as `type(x)` prints it.
std::string classText(const Value &value) {
  if (value.isConstant())
    return std::string("<class '") + value.constant().typeName() + "'>";
  if (value.kind() == Value::Kind::Host)
    return "<class '" + value.host().typeName + "'>";
  return "<class 'triton.language.core." + value.typeName() + "'>";
}

/// The value that a default's Python text stands for.
Value defaultValue(llvm::StringRef text) {
  if (text == "None")
    return Value::none();
  if (text == "True" || text == "False")
    return Value::constant(text == "True");
  if (text == "()")
    return Value::tuple({});
  if (text == "PropagateNan.NONE")
    return propagateNanValue("NONE");
  if (text.consume_front("\""))
    return Value::constant(text.drop_back().str());
  int64_t number;
  if (!text.getAsInteger(10, number))
    return Value::constant(number);
  if (std::optional<ScalarKind> kind = scalarByPublicName(text))
    return Value::dtype(*kind);
  return Value();
}

std::string plural(size_t count, const char *noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

} // namespace

Semantic::Semantic(Builder &builder, Diagnostics &diags, const LanguageTarget &target, CallHost &host)
    : builder_(builder), diags_(diags), target_(target), host_(host) {}

void Semantic::setPosition(SourceRange range, SourceRange function,
                           std::vector<Diagnostic::CallSite> callStack) {
  position_ = range;
  function_ = function;
  callStack_ = std::move(callStack);
}

Value Semantic::error(ErrorKind kind, std::string message, std::string help) {
  if (quiet)
    return Value();
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.message = std::move(message);
  diagnostic.range = position_;
  diagnostic.fromBuiltin = insideBuiltin;
  diagnostic.help = std::move(help);
  diagnostic.callStack = callStack_;
  diagnostic.function = function_;
  diags_.report(std::move(diagnostic));
  return Value();
}

void Semantic::warn(std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::Warning;
  diagnostic.message = std::move(message);
  diagnostic.range = position_;
  diagnostic.callStack = callStack_;
  diagnostic.function = function_;
  diags_.report(std::move(diagnostic));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Value Semantic::callBuiltin(const BuiltinDef &def, llvm::ArrayRef<Value> args,
                            llvm::ArrayRef<std::pair<std::string, Value>> keywords) {
  bool outer = insideBuiltin;
  insideBuiltin = true;
  Value result;
  BuiltinArgs bound;
  bound.def = &def;
  llvm::StringRef path = def.path;
  if (!def.evaluate)
    error(ErrorKind::NotImplemented, "'" +
                                         (path.consume_front("language.") ? "tl." + path.str() : path.str()) +
                                         "' is not supported yet");
  else if (bindArguments(def, args, keywords, bound))
    result = def.evaluate(*this, bound);
  insideBuiltin = outer;
  if (result)
    noteCall(bound, result);
  return result;
}

bool Semantic::bindArguments(const BuiltinDef &def, llvm::ArrayRef<Value> args,
                             llvm::ArrayRef<std::pair<std::string, Value>> keywords, BuiltinArgs &bound) {
  const std::string name = def.name().str() + "()";
  bound.values.resize(def.params.size());
  size_t next = 0, positional = 0, required = 0;
  for (auto [param, slot] : llvm::zip_equal(def.params, bound.values)) {
    if (param.variadic) {
      slot = Value::tuple(std::vector<Value>(args.begin() + next, args.end()));
      next = args.size();
      continue;
    }
    if (param.keywordOnly)
      continue;
    ++positional;
    required += param.defaultText == nullptr;
    if (next < args.size())
      slot = args[next++];
  }
  if (next < args.size()) {
    std::string expected = required == positional ? plural(positional, "positional argument")
                                                  : "from " + std::to_string(required) + " to " +
                                                        plural(positional, "positional argument");
    error(ErrorKind::Type, name + " takes " + expected + " but " + std::to_string(args.size()) +
                               (args.size() == 1 ? " was given" : " were given"));
    return false;
  }
  for (const auto &[keyword, value] : keywords) {
    const auto *param =
        llvm::find_if(def.params, [&](const ParamDef &p) { return !p.variadic && keyword == p.name; });
    if (param == def.params.end()) {
      error(ErrorKind::Type, name + " got an unexpected keyword argument '" + keyword + "'");
      return false;
    }
    Value &slot = bound.values[param - def.params.begin()];
    if (slot) {
      error(ErrorKind::Type, name + " got multiple values for argument '" + keyword + "'");
      return false;
    }
    slot = value;
  }
  std::vector<std::string> missing;
  for (auto [param, slot] : llvm::zip_equal(def.params, bound.values)) {
    if (slot)
      continue;
    if (param.defaultText)
      slot = defaultValue(param.defaultText);
    else
      missing.push_back(std::string("'") + param.name + "'");
  }
  if (missing.empty())
    return true;
  std::string list = missing.front();
  for (size_t i = 1; i < missing.size(); ++i)
    list +=
        (missing.size() > 2 ? ", " : " ") + std::string(i + 1 == missing.size() ? "and " : "") + missing[i];
  error(ErrorKind::Type,
        name + " missing " + plural(missing.size(), "required positional argument") + ": " + list);
  return false;
}

//===----------------------------------------------------------------------===//
// Names in use
//===----------------------------------------------------------------------===//

/// The type of the elements of a value, behind pointers and descriptors; Void where there are none.
static ScalarKind elementKind(const Value &value) {
  if (value.isTuple() || value.isDescriptor()) {
    const std::vector<Value> &elements = value.tuple().elements;
    return elements.empty() ? ScalarKind::Void : elementKind(elements.front());
  }
  if (!value.isTensor() && value.kind() != Value::Kind::DType)
    return ScalarKind::Void;
  Type type = value.isTensor() ? value.type().scalar() : value.dtype().scalar();
  if (type.isDescriptor())
    type = type.describedBlock();
  return (type.isPointer() ? type.pointee() : type).scalarKind();
}

static uint32_t bitOf(ScalarKind kind) { return uint32_t(1) << static_cast<unsigned>(kind); }

void Semantic::noteName(llvm::StringRef path, ScalarKind kind) {
  if (!function_ || !isStandardLibrary(*function_.file))
    namesUsed_[path] |= bitOf(kind);
}

void Semantic::noteCall(const BuiltinArgs &args, const Value &result) {
  const int subject = args.def->subject;
  ScalarKind kind = ScalarKind::Void;
  if (subject >= 0 && static_cast<size_t>(subject) < args.values.size())
    kind = elementKind(args[subject]);
  noteName(args.def->path, kind == ScalarKind::Void ? elementKind(result) : kind);
  for (const Value &value : args.values)
    kindsUsed_ |= bitOf(elementKind(value));
  kindsUsed_ |= bitOf(elementKind(result));
}

NamesUsed Semantic::takeNamesUsed() {
  for (const ScalarInfo &info : allScalars())
    if (info.kind != ScalarKind::Void && (kindsUsed_ & bitOf(info.kind)))
      namesUsed_["language." + std::string(info.publicName)] |= bitOf(ScalarKind::Void);
  return std::exchange(namesUsed_, {});
}

//===----------------------------------------------------------------------===//
// Literals and conditions
//===----------------------------------------------------------------------===//

Value Semantic::toTensor(const Value &value, bool quiet) {
  if (value.isTensor() || !value)
    return value;
  if (value.isConstant() && value.constant().isNumber()) {
    if (std::optional<ScalarKind> kind = literalKind(value.constant()))
      return typedConstant(value.constant(), *kind).withRange(value.range());
    return quiet ? Value()
                 : error(ErrorKind::Value, "Nonrepresentable integer " + value.constant().str() + ".");
  }
  if (quiet)
    return Value();
  std::string text = value.isConstant() ? value.constant().str() : value.str();
  return error(ErrorKind::Type, "cannot convert " + text + " of type " + classText(value) + " to tensor",
               value.isConstant() && value.constant().isString()
                   ? "to give a string a name, annotate it: name: tl.constexpr = ..."
                   : "");
}

bool Semantic::checkFP8(const Type &type) {
  Type scalar = type.scalar().isPointer() ? type.pointee() : type.scalar();
  if (!scalar.isFP8() || llvm::is_contained(target_.fp8Types, scalar.scalarKind()))
    return true;
  std::string list;
  for (ScalarKind kind : target_.fp8Types)
    list += (list.empty() ? "'" : ", '") + std::string(scalarInfo(kind).name) + "'";
  if (target_.fp8Types.size() == 1)
    list += ",";
  error(ErrorKind::Value, "type " + scalar.str() +
                              " not supported in this architecture. The supported fp8 dtypes are (" + list +
                              ")");
  return false;
}

Value Semantic::typedConstant(const Constant &value, const Type &type) {
  Type scalar = type.scalar();
  if (!value.isNumber() || scalar.isPointer() || scalar.isTuple() || scalar.isVoid())
    return error(ErrorKind::Type, "cannot make a constant of type " + scalar.str() + " from " + value.repr());
  if (scalar.isFP8()) {
    if (!checkFP8(scalar))
      return Value();
    Value wide = typedConstant(value, type.withScalar(ScalarKind::FP32));
    return Value::tensor(type, builder_.cast(CastKind::FPToFP, wide.handle(), type, RoundingKind::RTNE));
  }
  if (scalar.isFloating())
    return Value::tensor(type, builder_.constantFloat(type, value.asDouble()));
  PyResult whole = pyToInt(value);
  const auto *number = std::get_if<Constant>(&whole);
  if (!number || (value.isFloat() && number->asDouble() != value.real()))
    return error(ErrorKind::Type,
                 "cannot make a constant of type " + scalar.str() + " from the float " + value.str());
  // Both the signed and the unsigned reading of a bit pattern are accepted: -1 is a common "all ones".
  llvm::DynamicAPInt integer = number->integer();
  llvm::DynamicAPInt limit(llvm::APInt::getOneBitSet(scalar.bits() + 2, scalar.bits()));
  if (integer >= limit || integer + integer < -limit)
    return error(ErrorKind::Value, "Scalar " + value.str() + " is out of range for type " + scalar.str());
  uint64_t bits = toAPInt(integer).sextOrTrunc(64).getZExtValue();
  if (scalar.bits() < 64)
    bits &= (uint64_t(1) << scalar.bits()) - 1;
  return Value::tensor(type, builder_.constantInt(type, bits));
}

Value Semantic::toCondition(const Value &value) {
  Value tensor = toTensor(value);
  if (!tensor)
    return Value();
  if (tensor.type().isBlock()) {
    if (tensor.type().numel() != 1)
      return error(ErrorKind::UnsupportedConstruct,
                   "Boolean value of Tensor with more than one value is ambiguous",
                   "choose element by element with tl.where, or reduce the block to one value first");
    warn("If conditional called with multidimensional Tensor instead of scalar; please use \"if "
         "(tensor.item())\" "
         "instead");
    tensor = Value::tensor(tensor.type().scalar(), builder_.unsplat(tensor.handle()));
  }
  return tensor.type().isInt1() ? tensor : cast(tensor, ScalarKind::Int1);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

std::optional<llvm::SmallVector<int64_t, 4>> Semantic::checkBlockShape(const Value &shape) {
  llvm::SmallVector<int64_t, 4> extents;
  llvm::ArrayRef<Value> elements =
      shape.isTuple() ? llvm::ArrayRef(shape.tuple().elements) : llvm::ArrayRef(shape);
  llvm::DynamicAPInt numel(1);
  for (auto [i, element] : llvm::enumerate(elements)) {
    const std::string which = "Shape element " + std::to_string(i) + " must ";
    if (!element.isConstant() || !element.constant().isInt()) {
      std::string got = element.isConstant() ? "constexpr[" + element.typeName() + "]"
                        : element.isTensor() ? element.type().str()
                                             : element.typeName();
      error(ErrorKind::Type, which + "have type `constexpr[int]`, got `" + got + "`");
      return std::nullopt;
    }
    std::optional<int64_t> extent = element.constant().asInt64();
    if (!extent || *extent <= 0 || !llvm::isPowerOf2_64(static_cast<uint64_t>(*extent))) {
      error(ErrorKind::Value, which + "be a power of 2",
            "take the next power of 2, and masks for loads and stores");
      return std::nullopt;
    }
    numel *= llvm::DynamicAPInt(*extent);
    extents.push_back(*extent);
  }
  if (numel > maxTensorNumel) {
    error(ErrorKind::Value, "numel (" + Constant(numel).str() + ") exceeds triton maximum tensor numel (" +
                                std::to_string(maxTensorNumel) + ")");
    return std::nullopt;
  }
  return extents;
}

Value Semantic::broadcastTo(const Value &x, llvm::ArrayRef<int64_t> shape) {
  const Type &type = x.type();
  if (type.shape() == shape)
    return x;
  Type to = type.withShape(shape);
  if (!type.isBlock())
    return Value::tensor(to, builder_.splat(x.handle(), to)).withRange(x.range());
  if (type.rank() != shape.size())
    return error(ErrorKind::Value,
                 "Cannot broadcast, rank mismatch: " + shapeText(type.shape()) + ", " + shapeText(shape));
  for (unsigned i = 0; i < type.rank(); ++i)
    if (type.shape()[i] != shape[i] && type.shape()[i] != 1)
      return error(ErrorKind::Value, "Cannot broadcast, the expanded size of the tensor (" +
                                         std::to_string(shape[i]) + ") must match the existing size (" +
                                         std::to_string(type.shape()[i]) + ") at non-singleton dimension " +
                                         std::to_string(i) + ": " + shapeText(type.shape()) + ", " +
                                         shapeText(shape));
  return Value::tensor(to, builder_.broadcast(x.handle(), to)).withRange(x.range());
}

bool Semantic::broadcastPair(Value &lhs, Value &rhs) {
  if (lhs.type().shape() == rhs.type().shape())
    return true;
  if (!lhs.type().isBlock() || !rhs.type().isBlock()) {
    Value &scalar = lhs.type().isBlock() ? rhs : lhs;
    scalar = broadcastTo(scalar, (lhs.type().isBlock() ? lhs : rhs).type().shape());
    return bool(scalar);
  }
  auto pad = [this](Value &x, unsigned rank) {
    while (x.type().rank() < rank) {
      llvm::SmallVector<int64_t, 4> shape{1};
      llvm::append_range(shape, x.type().shape());
      x = Value::tensor(x.type().withShape(shape), builder_.expandDims(x.handle(), 0)).withRange(x.range());
    }
  };
  pad(lhs, rhs.type().rank());
  pad(rhs, lhs.type().rank());
  llvm::SmallVector<int64_t, 4> shape;
  for (unsigned i = 0; i < lhs.type().rank(); ++i) {
    int64_t a = lhs.type().shape()[i], b = rhs.type().shape()[i];
    if (a != b && a != 1 && b != 1) {
      error(ErrorKind::Value, "Cannot make_shape_compatible: incompatible dimensions at index " +
                                  std::to_string(i) + ": " + std::to_string(a) + " and " + std::to_string(b));
      return false;
    }
    shape.push_back(std::max(a, b));
  }
  llvm::DynamicAPInt numel(1);
  for (int64_t extent : shape)
    numel *= llvm::DynamicAPInt(extent);
  if (numel > maxTensorNumel) {
    error(ErrorKind::Value, "numel (" + Constant(numel).str() + ") exceeds triton maximum tensor numel (" +
                                std::to_string(maxTensorNumel) + ")");
    return false;
  }
  lhs = broadcastTo(lhs, shape);
  rhs = lhs ? broadcastTo(rhs, shape) : Value();
  return bool(rhs);
}

//===----------------------------------------------------------------------===//
// Small element-wise helpers
//===----------------------------------------------------------------------===//

Value Semantic::unary(UnaryKind kind, const Value &x) {
  return Value::tensor(x.type(), builder_.unary(kind, x.handle()));
}

Value Semantic::compare(CompareKind kind, const Value &lhs, const Value &rhs) {
  return Value::tensor(lhs.type().withScalar(ScalarKind::Int1),
                       builder_.compare(kind, lhs.handle(), rhs.handle()));
}

Value Semantic::notZero(const Value &x) {
  bool isFloat = x.type().isFloating();
  Handle zero = isFloat ? builder_.constantFloat(x.type(), 0.0) : builder_.constantInt(x.type(), 0);
  return compare(isFloat ? CompareKind::UNE : CompareKind::NE, x, Value::tensor(x.type(), zero));
}

} // namespace despina
