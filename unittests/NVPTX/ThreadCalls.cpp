//===- ThreadCalls.cpp - Writes calls of thread operations ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands and results go through memory, as words of 32 bits: wider values take several, narrower ones one.
//
//===----------------------------------------------------------------------===//
#include "ThreadCalls.h"

#include "llvm/IR/Module.h"

namespace despina::test {

namespace {

using llvm::Type;
using llvm::Value;

class CallWriter {
public:
  explicit CallWriter(llvm::IRBuilder<> &b) : b(b), module(*b.GetInsertBlock()->getModule()) {}

  Value *write(unsigned operation, llvm::ArrayRef<Value *> operands, Type *type) {
    unsigned count = 0, results = words(type);
    for (Value *operand : operands)
      count += words(operand->getType());
    Value *in = slots(count), *out = slots(results);
    unsigned next = 0;
    for (Value *operand : operands) {
      unsigned size = words(operand->getType());
      b.CreateAlignedStore(widen(operand), slot(in, next), llvm::Align(4));
      next += size;
    }
    Type *pointer = b.getPtrTy(), *word = b.getInt32Ty();
    llvm::FunctionCallee target =
        module.getOrInsertFunction(threadCallName, b.getVoidTy(), word, pointer, word, pointer, word);
    Value *call =
        b.CreateCall(target, {b.getInt32(operation), in, b.getInt32(count), out, b.getInt32(results)});
    return results ? load(type, out) : call;
  }

private:
  unsigned words(Type *type) {
    if (type->isVoidTy())
      return 0;
    auto *record = llvm::dyn_cast<llvm::StructType>(type);
    if (!record)
      return (module.getDataLayout().getTypeSizeInBits(type).getFixedValue() + 31) / 32;
    unsigned sum = 0;
    for (Type *element : record->elements())
      sum += words(element);
    return sum;
  }

  Value *widen(Value *value) {
    Type *type = value->getType();
    bool isNarrow = type->isIntegerTy() && type->getIntegerBitWidth() < 32;
    return isNarrow ? b.CreateZExt(value, b.getInt32Ty()) : value;
  }

  Value *slots(unsigned count) {
    llvm::BasicBlock &first = b.GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> entry(&first, first.begin());
    return entry.CreateAlloca(llvm::ArrayType::get(b.getInt32Ty(), std::max(1u, count)));
  }

  Value *slot(Value *base, unsigned index) {
    return b.CreateConstInBoundsGEP1_32(b.getInt32Ty(), base, index);
  }

  Value *load(Type *type, Value *from) {
    auto *record = llvm::dyn_cast<llvm::StructType>(type);
    if (!record)
      return b.CreateAlignedLoad(type, from, llvm::Align(4));
    Value *result = llvm::PoisonValue::get(type);
    unsigned next = 0;
    for (unsigned i = 0; i < record->getNumElements(); ++i) {
      Type *element = record->getElementType(i);
      result = b.CreateInsertValue(result, b.CreateAlignedLoad(element, slot(from, next), llvm::Align(4)), i);
      next += words(element);
    }
    return result;
  }

  llvm::IRBuilder<> &b;
  llvm::Module &module;
};

} // namespace

Value *callThreads(llvm::IRBuilder<> &b, unsigned operation, llvm::ArrayRef<Value *> operands, Type *type) {
  return CallWriter(b).write(operation, operands, type);
}

} // namespace despina::test
