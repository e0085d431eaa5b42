//===- BuiltinsReduce.cpp - Reductions and scans --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.10. The common reductions build their combine regions here; `reduce` and
// `associative_scan` call the user's function.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"

#include "llvm/ADT/STLExtras.h"

namespace despina {

namespace {

using Extents = llvm::SmallVector<int64_t, 4>;
using ValueList = llvm::SmallVector<Value, 2>;

/// Brings the inputs to one shape and, without an axis, to one dimension.
std::optional<unsigned> prepareReduction(Semantic &semantic, ValueList &inputs, const Value &axis) {
  for (Value &input : inputs) {
    if (axis.isNone())
      input = reshapeTo(semantic, input, {input.type().numel()}, /*allowReorder=*/true);
    if (!input)
      return std::nullopt;
    if (input.type().shape() != inputs.front().type().shape()) {
      semantic.error(ErrorKind::Value, "all inputs of a reduction or scan must have one shape, got " +
                                           shapeText(inputs.front().type().shape()) + " and " +
                                           shapeText(input.type().shape()));
      return std::nullopt;
    }
  }
  return axis.isNone() ? 0u : axisArgument(semantic, axis, inputs.front().type().rank());
}

/// Reduces `inputs`; null elements never occur, an empty list means an error was reported.
ValueList reduceAlong(Semantic &semantic, ValueList inputs, const Value &axisValue, bool keepDims,
                      Builder::Combine combine) {
  unsigned originalRank = inputs.front().type().rank();
  std::optional<unsigned> axis = prepareReduction(semantic, inputs, axisValue);
  if (!axis)
    return {};
  Handles handles;
  llvm::SmallVector<Type, 2> types;
  for (const Value &input : inputs) {
    Extents shape(input.type().shape());
    shape.erase(shape.begin() + *axis);
    types.push_back(input.type().withShape(shape));
    handles.push_back(input.handle());
  }
  std::optional<Handles> results = semantic.builder().reduce(handles, *axis, types, combine);
  if (!results)
    return {};
  ValueList values;
  for (auto [type, handle] : llvm::zip_equal(types, *results)) {
    Value value = Value::tensor(type, handle);
    if (keepDims && axisValue.isNone())
      value = originalRank ? semantic.broadcastTo(value, Extents(originalRank, 1)) : value;
    else if (keepDims)
      value = expandDims(semantic, value, *axis);
    values.push_back(value);
  }
  return values;
}

//===----------------------------------------------------------------------===//
// User combine functions
//===----------------------------------------------------------------------===//

/// A tensor or a tuple of tensors.
std::optional<ValueList> reductionInputs(Semantic &semantic, const Value &input) {
  llvm::ArrayRef<Value> elements =
      input.isTuple() ? llvm::ArrayRef(input.tuple().elements) : llvm::ArrayRef(input);
  ValueList inputs;
  for (const Value &element : elements) {
    Value tensor = semantic.toTensor(element);
    if (!tensor)
      return std::nullopt;
    inputs.push_back(tensor);
  }
  if (inputs.empty()) {
    semantic.error(ErrorKind::Value, "a reduction or scan needs at least one input");
    return std::nullopt;
  }
  return inputs;
}

/// Calls `function` on 2n scalars inside a combine region.
std::optional<Handles> callCombine(Semantic &semantic, const Value &function, llvm::ArrayRef<Type> types,
                                   llvm::ArrayRef<Handle> operands) {
  llvm::SmallVector<Value, 4> args;
  for (auto [i, operand] : llvm::enumerate(operands))
    args.push_back(Value::tensor(types[i % types.size()], operand));
  Value result = semantic.host().callFunction(function, args, {});
  if (!result)
    return std::nullopt;
  llvm::ArrayRef<Value> elements =
      result.isTuple() ? llvm::ArrayRef(result.tuple().elements) : llvm::ArrayRef(result);
  if (elements.size() != types.size()) {
    semantic.error(ErrorKind::Value, "the combine function must return " + std::to_string(types.size()) +
                                         " value(s), but returns " + std::to_string(elements.size()));
    return std::nullopt;
  }
  Handles handles;
  for (auto [element, type] : llvm::zip_equal(elements, types)) {
    Value value = semantic.toTensor(element);
    if (!value)
      return std::nullopt;
    // A literal takes the type it stands for; a tensor must have it.
    if (element.isConstant())
      value = semantic.cast(value, type);
    if (!value)
      return std::nullopt;
    if (value.type() != type) {
      semantic.error(ErrorKind::Type, "the combine function must keep the type " + type.str() +
                                          ", but returns " + value.type().str());
      return std::nullopt;
    }
    handles.push_back(value.handle());
  }
  return handles;
}

Value packResults(const Value &input, const ValueList &results) {
  if (results.empty())
    return Value();
  return input.isTuple() ? Value::tuple(std::vector<Value>(results.begin(), results.end())) : results.front();
}

llvm::SmallVector<Type, 2> scalarTypes(const ValueList &inputs) {
  llvm::SmallVector<Type, 2> types;
  for (const Value &input : inputs)
    types.push_back(input.type().scalar());
  return types;
}

Value reduce(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<ValueList> inputs = reductionInputs(semantic, args[0]);
  std::optional<bool> keepDims = inputs ? constantBool(semantic, args[3], "keep_dims") : std::nullopt;
  if (!keepDims)
    return Value();
  llvm::SmallVector<Type, 2> types = scalarTypes(*inputs);
  return packResults(args[0],
                     reduceAlong(semantic, *inputs, args[1], *keepDims, [&](llvm::ArrayRef<Handle> operands) {
                       return callCombine(semantic, args[2], types, operands);
                     }));
}

ValueList scanAlong(Semantic &semantic, ValueList inputs, const Value &axisValue, const Value &reverseValue,
                    Builder::Combine combine) {
  std::optional<bool> reverse = constantBool(semantic, reverseValue, "reverse");
  if (!reverse)
    return {};
  if (axisValue.isNone()) {
    semantic.error(ErrorKind::Value, "a scan needs an axis");
    return {};
  }
  std::optional<unsigned> axis = prepareReduction(semantic, inputs, axisValue);
  if (!axis)
    return {};
  Handles handles;
  for (const Value &input : inputs)
    handles.push_back(input.handle());
  std::optional<Handles> results = semantic.builder().scan(handles, *axis, *reverse, combine);
  if (!results)
    return {};
  ValueList values;
  for (auto [input, handle] : llvm::zip_equal(inputs, *results))
    values.push_back(Value::tensor(input.type(), handle));
  return values;
}

Value associativeScan(Semantic &semantic, const BuiltinArgs &args) {
  std::optional<ValueList> inputs = reductionInputs(semantic, args[0]);
  if (!inputs)
    return Value();
  llvm::SmallVector<Type, 2> types = scalarTypes(*inputs);
  return packResults(args[0],
                     scanAlong(semantic, *inputs, args[1], args[3], [&](llvm::ArrayRef<Handle> operands) {
                       return callCombine(semantic, args[2], types, operands);
                     }));
}

//===----------------------------------------------------------------------===//
// Ready-made reductions
//===----------------------------------------------------------------------===//

/// A reduction or scan by one binary operation.
auto combineBy(Semantic &semantic, BinaryKind kind) {
  return [&semantic, kind](llvm::ArrayRef<Handle> operands) -> std::optional<Handles> {
    return Handles{semantic.builder().binary(kind, operands[0], operands[1])};
  };
}

Value reduceBy(Semantic &semantic, const Value &x, const Value &axis, const Value &keepDimsValue,
               BinaryKind kind) {
  std::optional<bool> keepDims = constantBool(semantic, keepDimsValue, "keep_dims");
  if (!keepDims)
    return Value();
  auto combine = combineBy(semantic, kind);
  ValueList results = reduceAlong(semantic, {x}, axis, *keepDims, combine);
  return results.empty() ? Value() : results.front();
}

bool rejectPointers(Semantic &semantic, const char *name, const Value &x) {
  if (!x.type().scalar().isPointer())
    return false;
  semantic.error(ErrorKind::Type, std::string(name) + " does not support " + x.type().scalar().str());
  return true;
}

/// Sums of narrow integers are kept in 32 bits.
Value widenForSum(Semantic &semantic, const Value &x, const Value &dtype) {
  if (!dtype.isNone()) {
    std::optional<Type> type = typeArgument(semantic, dtype, "dtype");
    return type ? semantic.cast(x, *type) : Value();
  }
  if (!x.type().isInt() || x.type().bits() >= 32)
    return x;
  return semantic.cast(x, x.type().isSigned() ? ScalarKind::Int32 : ScalarKind::UInt32);
}

Value sum(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  if (!x || rejectPointers(semantic, "sum", x))
    return Value();
  x = widenForSum(semantic, x, args[3]);
  return x ? reduceBy(semantic, x, args[1], args[2],
                      x.type().isFloating() ? BinaryKind::AddF : BinaryKind::AddI)
           : Value();
}

template <BinaryKind Kind> Value integerReduction(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  if (!x)
    return Value();
  if (!x.type().isInt())
    return semantic.error(ErrorKind::CompileTimeAssertion,
                          std::string(Kind == BinaryKind::XorI ? "xor_sum" : "reduce_or") +
                              " only supported for integers");
  return reduceBy(semantic, x, args[1], args[2], Kind);
}

/// Keeps the better of two (value, index) pairs. A NaN loses against any number; among equals the smaller
/// index wins when `tieBreakLeft`.
std::optional<Handles> combineIndexed(Semantic &semantic, const Type &type, bool isMax, bool tieBreakLeft,
                                      llvm::ArrayRef<Handle> operands) {
  Builder &builder = semantic.builder();
  Handle value1 = operands[0], index1 = operands[1], value2 = operands[2], index2 = operands[3];
  using enum CompareKind;
  CompareKind better = type.isFloating() ? (isMax ? OGT : OLT)
                       : type.isSigned() ? (isMax ? SGT : SLT)
                                         : (isMax ? UGT : ULT);
  auto logic = [&](BinaryKind kind, Handle a, Handle b) { return builder.binary(kind, a, b); };
  Handle first = builder.compare(better, value1, value2);
  Handle tie = builder.compare(type.isFloating() ? OEQ : EQ, value1, value2);
  if (type.isFloating()) {
    Handle nan1 = builder.compare(UNE, value1, value1), nan2 = builder.compare(UNE, value2, value2);
    Handle number1 = builder.compare(OEQ, value1, value1);
    first = logic(BinaryKind::OrI, first, logic(BinaryKind::AndI, nan2, number1));
    tie = logic(BinaryKind::OrI, tie, logic(BinaryKind::AndI, nan1, nan2));
  }
  if (tieBreakLeft) {
    Handle left = builder.compare(SLT, index1, index2);
    first = logic(BinaryKind::OrI, first, logic(BinaryKind::AndI, tie, left));
  }
  return Handles{builder.select(first, value1, value2), builder.select(first, index1, index2)};
}

/// Value and int32 index of the extreme element; empty after an error.
ValueList indexedExtreme(Semantic &semantic, const char *name, const Value &input, const Value &axisValue,
                         bool isMax, bool tieBreakLeft, bool keepDims) {
  Value x = widenBF16(semantic, input);
  if (axisValue.isNone()) {
    semantic.error(ErrorKind::Value, std::string(name) + " with indices needs an axis");
    return {};
  }
  std::optional<unsigned> axis = axisArgument(semantic, axisValue, x.type().rank());
  if (!axis)
    return {};
  auto extent = x.type().shape()[*axis];
  Value index = Value::tensor(Type::block(ScalarKind::Int32, {extent}),
                              semantic.builder().makeRange(0, static_cast<int32_t>(extent)));
  for (unsigned i = 0; i < x.type().rank(); ++i)
    if (i != *axis)
      index = expandDims(semantic, index, i);
  index = semantic.broadcastTo(index, x.type().shape());
  Type type = x.type().scalar();
  return reduceAlong(semantic, {x, index}, axisValue, keepDims, [&](llvm::ArrayRef<Handle> operands) {
    return combineIndexed(semantic, type, isMax, tieBreakLeft, operands);
  });
}

template <bool IsMax> Value extreme(Semantic &semantic, const BuiltinArgs &args) {
  const char *name = IsMax ? "max" : "min";
  Value x = semantic.toTensor(args[0]);
  std::optional<bool> indices = x ? constantBool(semantic, args[2], "return_indices") : std::nullopt;
  std::optional<bool> left =
      indices ? constantBool(semantic, args[3], "return_indices_tie_break_left") : std::nullopt;
  std::optional<bool> keepDims = left ? constantBool(semantic, args[4], "keep_dims") : std::nullopt;
  if (!keepDims || rejectPointers(semantic, name, x))
    return Value();
  if (*indices) {
    ValueList results = indexedExtreme(semantic, name, x, args[1], IsMax, *left, *keepDims);
    return results.empty() ? Value() : Value::tuple({results[0], results[1]});
  }
  if (x.type().bits() < 32)
    x = semantic.cast(x, x.type().isFloating() ? ScalarKind::FP32 : ScalarKind::Int32);
  if (!x)
    return Value();
  using enum BinaryKind;
  BinaryKind kind = x.type().isFloating() ? (IsMax ? MaxNumF : MinNumF)
                    : x.type().isSigned() ? (IsMax ? MaxSI : MinSI)
                                          : (IsMax ? MaxUI : MinUI);
  return reduceBy(semantic, x, args[1], args[4], kind);
}

template <bool IsMax> Value argExtreme(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  std::optional<bool> left = x ? constantBool(semantic, args[2], "tie_break_left") : std::nullopt;
  std::optional<bool> keepDims = left ? constantBool(semantic, args[3], "keep_dims") : std::nullopt;
  const char *name = IsMax ? "argmax" : "argmin";
  if (!keepDims || rejectPointers(semantic, name, x))
    return Value();
  ValueList results = indexedExtreme(semantic, name, x, args[1], IsMax, *left, *keepDims);
  return results.empty() ? Value() : results[1];
}

template <bool IsSum> Value cumulative(Semantic &semantic, const BuiltinArgs &args) {
  Value x = semantic.toTensor(args[0]);
  if (!x || rejectPointers(semantic, IsSum ? "cumsum" : "cumprod", x))
    return Value();
  x = widenBF16(semantic, x);
  if constexpr (IsSum)
    x = widenForSum(semantic, x, args[3]);
  if (!x)
    return Value();
  bool isFloat = x.type().isFloating();
  auto combine = combineBy(semantic, IsSum ? (isFloat ? BinaryKind::AddF : BinaryKind::AddI)
                                           : (isFloat ? BinaryKind::MulF : BinaryKind::MulI));
  ValueList results = scanAlong(semantic, {x}, args[1], args[2], combine);
  return results.empty() ? Value() : results.front();
}

constexpr ParamDef reduceParams[] = {{"input"}, {"axis"}, {"combine_fn"}, {"keep_dims", "False"}};
constexpr ParamDef scanParams[] = {{"input"}, {"axis"}, {"combine_fn"}, {"reverse", "False"}};
constexpr ParamDef sumParams[] = {{"input"}, {"axis", "None"}, {"keep_dims", "False"}, {"dtype", "None"}};
constexpr ParamDef extremeParams[] = {{"input"},
                                      {"axis", "None"},
                                      {"return_indices", "False"},
                                      {"return_indices_tie_break_left", "True"},
                                      {"keep_dims", "False"}};
constexpr ParamDef argParams[] = {{"input"}, {"axis"}, {"tie_break_left", "True"}, {"keep_dims", "False"}};
constexpr ParamDef integerParams[] = {{"input"}, {"axis", "None"}, {"keep_dims", "False"}};
constexpr ParamDef orParams[] = {{"input"}, {"axis"}, {"keep_dims", "False"}};
constexpr ParamDef cumsumParams[] = {{"input"}, {"axis", "0"}, {"reverse", "False"}, {"dtype", "None"}};
constexpr ParamDef cumprodParams[] = {{"input"}, {"axis", "0"}, {"reverse", "False"}};

const BuiltinDef table[] = {
    {"language.reduce", reduceParams, "Reduces along `axis` (all axes if None) with a combine function.",
     reduce, true},
    {"language.associative_scan", scanParams, "Running combination along `axis`.", associativeScan, true},
    {"language.sum", sumParams, "Sum along `axis` (all axes if None).", sum, true},
    {"language.max", extremeParams, "Maximum along `axis` (all axes if None); NaN is ignored.", extreme<true>,
     true},
    {"language.min", extremeParams, "Minimum along `axis` (all axes if None); NaN is ignored.",
     extreme<false>, true},
    {"language.argmax", argParams, "int32 index of the maximum along `axis`.", argExtreme<true>, true},
    {"language.argmin", argParams, "int32 index of the minimum along `axis`.", argExtreme<false>, true},
    {"language.xor_sum", integerParams, "Bitwise xor along `axis` (all axes if None).",
     integerReduction<BinaryKind::XorI>, true},
    {"language.reduce_or", orParams, "Bitwise or along `axis`.", integerReduction<BinaryKind::OrI>, true},
    {"language.cumsum", cumsumParams, "Running sum along `axis`.", cumulative<true>, true},
    {"language.cumprod", cumprodParams, "Running product along `axis`.", cumulative<false>, true},
};

} // namespace

llvm::ArrayRef<BuiltinDef> reduceBuiltins() { return table; }

} // namespace despina
