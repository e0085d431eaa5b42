//===- EmitDot.cpp - What the emitters of matrix products share -----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "EmitDot.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace despina::nvptx {

RegisterMap::RegisterMap(const LinearLayout &layout)
    : registers_(layout.sublayout({LayoutDim::Register}, layout.outNames())) {
  for (uint64_t index = registers_.inSize(LayoutDim::Register); index-- > 0;)
    found_[registers_.applyFlat(index)] = static_cast<unsigned>(index);
}

std::optional<unsigned> RegisterMap::at(ArrayRef<int64_t> coordinates) const {
  uint64_t flat = 0;
  for (auto [axis, coordinate] : llvm::enumerate(coordinates))
    flat |= static_cast<uint64_t>(coordinate) << registers_.outShift(tensorDim(axis));
  auto found = found_.find(flat);
  return found == found_.end() ? std::nullopt : std::optional(found->second);
}

SmallVector<int64_t> RegisterMap::along(unsigned axis) const {
  SmallVector<int64_t> result;
  LinearLayout only = registers_.sublayout({LayoutDim::Register}, {tensorDim(axis)});
  for (uint64_t index = 0; index < only.inSize(LayoutDim::Register); ++index)
    result.push_back(static_cast<int64_t>(only.applyFlat(index)));
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

PartialSums::PartialSums(ThreadEmitter &e, int64_t limit, const MatrixTypes &types, ArrayRef<Value> sums)
    : e_(e), limit_(types.c.isF32() && types.a.getIntOrFloatBitWidth() == 8 ? limit : 0),
      sums_(sums.begin(), sums.end()), partial_(sums_) {
  if (limit_ > 0)
    partial_.assign(sums_.size(), e.zero(types.c));
}

void PartialSums::set(Registers values, int64_t depth) {
  partial_ = std::move(values);
  count_ += depth;
  if (limit_ > 0 && count_ >= limit_)
    promote();
}

void PartialSums::promote() {
  if (count_ == 0)
    return;
  for (auto [sum, partial] : llvm::zip(sums_, partial_))
    sum = e_.make<LLVM::FAddOp>(sum, partial);
  partial_.assign(sums_.size(), e_.zero(sums_.front().getType()));
  count_ = 0;
}

Registers PartialSums::finish() {
  if (limit_ <= 0)
    return partial_;
  promote();
  return sums_;
}

Registers packFactors(ThreadEmitter &e, ArrayRef<Value> values) {
  Type type = values.front().getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 64)
    return Registers(values.begin(), values.end());
  Registers words;
  unsigned perWord = 32 / bits;
  for (size_t first = 0; first < values.size(); first += perWord) {
    if (perWord == 1) {
      words.push_back(e.bitcast(values[first], e.b.getI32Type()));
      continue;
    }
    Value vector = e.make<LLVM::PoisonOp>(VectorType::get(perWord, type));
    for (unsigned i = 0; i < perWord; ++i)
      vector = e.make<LLVM::InsertElementOp>(vector, values[first + i], e.i32(i));
    words.push_back(e.bitcast(vector, e.b.getI32Type()));
  }
  return words;
}

Registers packAccumulators(ThreadEmitter &e, ArrayRef<Value> values) {
  if (values.front().getType().isF16())
    return packFactors(e, values);
  return Registers(values.begin(), values.end());
}

Registers unpackHalves(ThreadEmitter &e, ArrayRef<Value> words) {
  Registers values;
  for (Value word : words) {
    Value pair = e.bitcast(word, VectorType::get(2, e.b.getF16Type()));
    for (int64_t half : {0, 1})
      values.push_back(e.make<LLVM::ExtractElementOp>(pair, e.i32(half)));
  }
  return values;
}

char constraintOf(Type type) {
  if (type.isF64())
    return 'd';
  if (type.isInteger(64))
    return 'l';
  return type.isF32() ? 'f' : 'r';
}

//===----------------------------------------------------------------------===//
// PTXText
//===----------------------------------------------------------------------===//

/// "{$3,$4,$5}"
static std::string operandList(size_t first, size_t count) {
  std::string text = "{";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ",$" : "$") + std::to_string(first + i);
  return text + "}";
}

std::string PTXText::out(size_t count, Type type) {
  results_.append(count, type);
  return operandList(results_.size() - count, count);
}

std::string PTXText::inOut(ArrayRef<Value> values) {
  for (Value value : values)
    results_.push_back(value.getType());
  tied_.assign(values.begin(), values.end());
  return operandList(0, values.size());
}

std::string PTXText::in(Value value) {
  inputs_.push_back(value);
  return "$" + std::to_string(results_.size() + inputs_.size() - 1);
}

std::string PTXText::in(ArrayRef<Value> values) {
  size_t first = results_.size() + inputs_.size();
  llvm::append_range(inputs_, values);
  return operandList(first, values.size());
}

Registers PTXText::emit(StringRef text, bool touchesMemory) {
  SmallVector<std::string> constraints;
  for (Type type : results_)
    constraints.push_back(std::string("=") + constraintOf(type));
  for (Value value : inputs_)
    constraints.emplace_back(1, constraintOf(value.getType()));
  for (size_t i = 0; i < tied_.size(); ++i)
    constraints.push_back(std::to_string(i));
  if (touchesMemory)
    constraints.emplace_back("~{memory}");
  Registers operands = inputs_;
  llvm::append_range(operands, tied_);
  Type type;
  if (results_.size() == 1)
    type = results_.front();
  else if (!results_.empty())
    type = LLVM::LLVMStructType::getLiteral(e_.b.getContext(), results_);
  Value value = e_.inlinePTX(text, llvm::join(constraints, ","), type, operands, /*hasSideEffects=*/true);
  if (results_.size() <= 1)
    return value ? Registers{value} : Registers();
  Registers values;
  for (size_t i = 0; i < results_.size(); ++i)
    values.push_back(e_.make<LLVM::ExtractValueOp>(value, static_cast<int64_t>(i)));
  return values;
}

void addDotEmitters(EmitterTable &table) {
  table.add<tt::DotOp, emitDot>();
  table.add<ttng::MmaOp, emitMma>();
  table.add<ttng::WarpGroupDotOp, emitWarpGroupDot>();
  table.add<ttng::WarpGroupDotWaitOp, emitWarpGroupDotWait>();
}

} // namespace despina::nvptx
