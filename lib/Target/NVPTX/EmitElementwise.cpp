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

LogicalResult mapElements(ThreadEmitter &e, Operation *op, ElementsFunction function, bool pure) {
  if (failed(checkElementTypes(op)))
    return failure();
  SmallVector<unsigned, 8> sources = copySources(op->getResult(0).getType());
  SmallVector<ArrayRef<Value>, 4> inputs;
  for (Value operand : op->getOperands()) {
    inputs.push_back(e.get(operand));
    if (inputs.back().size() != 1 && inputs.back().size() != sources.size())
      return op->emitOpError("has operands and results of different layouts");
  }
  SmallVector<Registers, 2> results(op->getNumResults(), Registers(sources.size()));
  llvm::SmallDenseMap<OperandKey, unsigned, 16> computed;
  for (auto [index, source] : llvm::enumerate(sources)) {
    unsigned same = source;
    if (source == index) {
      SmallVector<Value, 4> operands;
      for (ArrayRef<Value> input : inputs)
        operands.push_back(input.size() == 1 ? input.front() : input[index]);
      if (pure && operands.size() <= keyedOperands)
        same = computed.try_emplace(keyOf(operands), index).first->second;
      if (same == index) {
        Registers values = function(operands);
        for (auto [result, value] : llvm::zip(results, values)) {
          if (!value)
            return failure();
          result[index] = value;
        }
        continue;
      }
    }
    for (Registers &result : results)
      result[index] = result[same];
  }
  for (auto [result, registers] : llvm::zip(op->getResults(), results))
    e.set(result, std::move(registers));
  return success();
}

LogicalResult mapList(ThreadEmitter &e, Operation *op, ListFunction function) {
  if (failed(checkElementTypes(op)))
    return failure();
  SmallVector<unsigned, 8> sources = copySources(op->getResult(0).getType());
  ArrayRef<Value> inputs = e.get(op->getOperand(0));
  if (inputs.size() != sources.size())
    return op->emitOpError("has an operand and a result of different layouts");
  SmallVector<Value> different;
  SmallVector<unsigned> places(sources.size());
  llvm::SmallDenseMap<Value, unsigned, 16> known;
  for (auto [index, source] : llvm::enumerate(sources)) {
    auto [entry, isNew] = known.try_emplace(inputs[source], different.size());
    if (isNew)
      different.push_back(inputs[source]);
    places[index] = entry->second;
  }
  Registers values = function(different), results;
  if (values.size() != different.size())
    return failure();
  for (unsigned place : places)
    results.push_back(values[place]);
  e.set(op->getResult(0), std::move(results));
  return success();
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
