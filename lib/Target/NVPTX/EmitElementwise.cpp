//===- EmitElementwise.cpp - The driver of element-wise operations --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "EmitElementwise.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// Operands of a register; few operations have more than three.
using OperandKey = std::tuple<Value, Value, Value>;
constexpr unsigned keyedOperands = 3;

OperandKey keyOf(ArrayRef<Value> operands) {
  OperandKey key;
  if (operands.size() > 0)
    std::get<0>(key) = operands[0];
  if (operands.size() > 1)
    std::get<1>(key) = operands[1];
  if (operands.size() > 2)
    std::get<2>(key) = operands[2];
  return key;
}

} // namespace

static bool isKnownElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return llvm::is_contained({1U, 8U, 16U, 32U, 64U}, integer.getWidth());
  return isa<tt::PointerType, IndexType, Float16Type, BFloat16Type, Float32Type, Float64Type,
             Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType, Float8E5M2FNUZType, Float8E4M3B11FNUZType>(
      type);
}

LogicalResult checkElementTypes(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (Type element = getElementTypeOrSelf(type); !isKnownElement(element))
        return op->emitOpError("on ") << element << " is not supported on CUDA";
  return success();
}

SmallVector<unsigned, 8> copySources(Type type) {
  unsigned count = ThreadEmitter::numRegisters(type);
  SmallVector<unsigned, 8> sources(count, 0);
  unsigned copyMask = 0;
  if (auto tile = dyn_cast<RankedTensorType>(type))
    for (auto [bit, column] : llvm::enumerate(ttg::layoutOf(tile).columnsOf(LayoutDim::Register)))
      if (column == 0)
        copyMask |= 1U << bit;
  for (unsigned index = 0; index != count; ++index)
    sources[index] = index & ~copyMask;
  return sources;
}

namespace {

/// The operands of the registers of a result, where copies and operands that are the same count once.
struct DifferentOperands {
  SmallVector<SmallVector<Value, 4>, 8> lists;
  /// For each register, which of them.
  SmallVector<unsigned, 8> places;
};

std::optional<DifferentOperands> differentOperands(ThreadEmitter &e, Operation *op, bool pure) {
  if (failed(checkElementTypes(op)))
    return std::nullopt;
  SmallVector<unsigned, 8> sources = copySources(op->getResult(0).getType());
  SmallVector<ArrayRef<Value>, 4> inputs;
  for (Value operand : op->getOperands()) {
    inputs.push_back(e.get(operand));
    if (inputs.back().size() != 1 && inputs.back().size() != sources.size())
      return op->emitOpError("has operands and results of different layouts"), std::nullopt;
  }
  DifferentOperands result;
  result.places.resize(sources.size());
  llvm::SmallDenseMap<OperandKey, unsigned, 16> known;
  for (auto [index, source] : llvm::enumerate(sources)) {
    if (source != index) {
      result.places[index] = result.places[source];
      continue;
    }
    SmallVector<Value, 4> operands;
    for (ArrayRef<Value> input : inputs)
      operands.push_back(input.size() == 1 ? input.front() : input[index]);
    unsigned place = result.lists.size();
    if (pure && operands.size() <= keyedOperands)
      place = known.try_emplace(keyOf(operands), place).first->second;
    result.places[index] = place;
    if (place == result.lists.size())
      result.lists.push_back(std::move(operands));
  }
  return result;
}

/// Gives a result what was computed for each of the lists; fails where that is nothing.
LogicalResult setResult(ThreadEmitter &e, Value result, const DifferentOperands &different,
                        ArrayRef<Value> values) {
  if (values.size() != different.lists.size() || llvm::is_contained(values, Value()))
    return failure();
  e.set(result, llvm::map_to_vector<4>(different.places, [&](unsigned place) { return values[place]; }));
  return success();
}

} // namespace

LogicalResult mapElements(ThreadEmitter &e, Operation *op, ElementsFunction function, bool pure) {
  std::optional<DifferentOperands> different = differentOperands(e, op, pure);
  if (!different)
    return failure();
  SmallVector<Registers, 2> results(op->getNumResults());
  for (ArrayRef<Value> operands : different->lists) {
    Registers values = function(operands);
    if (values.size() != results.size())
      return failure();
    for (auto [result, value] : llvm::zip(results, values))
      result.push_back(value);
  }
  for (auto [result, values] : llvm::zip(op->getResults(), results))
    if (failed(setResult(e, result, *different, values)))
      return failure();
  return success();
}

LogicalResult mapList(ThreadEmitter &e, Operation *op, ListFunction function) {
  std::optional<DifferentOperands> different = differentOperands(e, op, /*pure=*/true);
  if (!different)
    return failure();
  Registers operands =
      llvm::map_to_vector<4>(different->lists, [](ArrayRef<Value> list) { return list.front(); });
  return setResult(e, op->getResult(0), *different, function(operands));
}

/// Two values of one type as a vector.
static Value makePair(ThreadEmitter &e, Value first, Value second) {
  Value pair = e.make<LLVM::PoisonOp>(VectorType::get(2, first.getType()));
  pair = e.make<LLVM::InsertElementOp>(pair, first, e.i32(0));
  return e.make<LLVM::InsertElementOp>(pair, second, e.i32(1));
}

LogicalResult mapPairs(ThreadEmitter &e, Operation *op, PairsFunction function) {
  std::optional<DifferentOperands> different = differentOperands(e, op, /*pure=*/true);
  if (!different)
    return failure();
  Registers values;
  ArrayRef<SmallVector<Value, 4>> rest = different->lists;
  for (; rest.size() > 1; rest = rest.drop_front(2)) {
    SmallVector<Value, 4> pairs;
    for (auto [first, second] : llvm::zip(rest[0], rest[1]))
      pairs.push_back(makePair(e, first, second));
    Value both = function(pairs);
    for (unsigned i : {0u, 1u})
      values.push_back(e.make<LLVM::ExtractElementOp>(both, e.i32(i)));
  }
  if (!rest.empty())
    values.push_back(function(rest.front()));
  return setResult(e, op->getResult(0), *different, values);
}

Value callIntrinsic(ThreadEmitter &e, StringRef name, Type result, ValueRange operands) {
  return e.make<LLVM::CallIntrinsicOp>(result, e.b.getStringAttr(name), operands).getResult(0);
}

Value computeInFloat32(ThreadEmitter &e, Type element, ArrayRef<Value> operands,
                       function_ref<Value(ArrayRef<Value>)> function) {
  Type f32 = e.b.getF32Type();
  Registers wide = convertFloats(e, operands, element, f32);
  return convertFloat(e, function(wide), f32, element);
}

std::optional<APInt> knownInteger(Value value) {
  if (auto constant = value.getDefiningOp<LLVM::ConstantOp>())
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      return integer.getValue();
  return std::nullopt;
}

void addElementwiseEmitters(EmitterTable &table) {
  addConstantEmitters(table);
  addIntegerEmitters(table);
  addFloatEmitters(table);
  addMathEmitters(table);
  addCastEmitters(table);
  addForeignEmitters(table);
}

} // namespace despina::nvptx
