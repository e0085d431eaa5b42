//===- BuiltinsAtomic.cpp - Atomic operations -----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Spec triton_language 1.9.
//
//===----------------------------------------------------------------------===//
#include "BuiltinsImpl.h"
#include "Promotion.h"

#include "llvm/ADT/StringSwitch.h"

namespace despina {

namespace {

enum class Operation { Add, Max, Min, And, Or, Xor, Exchange };

const char *operationName(Operation operation) {
  static const char *const names[] = {"atomic_add", "atomic_max", "atomic_min", "atomic_and",
                                      "atomic_or",  "atomic_xor", "atomic_xchg"};
  return names[static_cast<size_t>(operation)];
}

std::optional<MemorySemantic> memorySemantic(Semantic &semantic, const Value &value) {
  std::optional<std::string> text = constantString(semantic, value, "sem");
  if (!text)
    return std::nullopt;
  auto parsed = llvm::StringSwitch<std::optional<MemorySemantic>>(*text)
                    .Cases({"", "acq_rel"}, MemorySemantic::AcquireRelease)
                    .Case("relaxed", MemorySemantic::Relaxed)
                    .Case("acquire", MemorySemantic::Acquire)
                    .Case("release", MemorySemantic::Release)
                    .Default(std::nullopt);
  if (!parsed)
    semantic.error(ErrorKind::Value, "Memory semantic " + *text + " not supported");
  return parsed;
}

std::optional<MemoryScope> memoryScope(Semantic &semantic, const Value &value) {
  std::optional<std::string> text = constantString(semantic, value, "scope");
  if (!text)
    return std::nullopt;
  auto parsed = llvm::StringSwitch<std::optional<MemoryScope>>(*text)
                    .Cases({"", "gpu"}, MemoryScope::GPU)
                    .Case("cta", MemoryScope::CTA)
                    .Case("sys", MemoryScope::System)
                    .Default(std::nullopt);
  if (!parsed)
    semantic.error(ErrorKind::Value, "Memory semantic " + *text + " not supported");
  return parsed;
}

/// True when `value` is a pointer (scalar or block) that may be written.
bool checkPointer(Semantic &semantic, const char *name, const Value &pointer) {
  if (!pointer.isTensor() || !pointer.type().scalar().isPointer()) {
    semantic.error(ErrorKind::Value,
                   std::string("Pointer argument of ") + name + " is " +
                       (pointer.isTensor() ? typeRepr(pointer.type()) : pointer.typeName()) +
                       ", not a pointer");
    return false;
  }
  if (pointer.type().pointeeIsConst()) {
    semantic.error(ErrorKind::Value, "Cannot store to a constant pointer");
    return false;
  }
  return true;
}

bool checkElement(Semantic &semantic, Operation operation, const Type &element) {
  bool isBitwise = operation == Operation::And || operation == Operation::Or || operation == Operation::Xor;
  bool supported =
      element.isFloating()
          ? element.bits() >= 32 ? !isBitwise : element.bits() == 16 && operation == Operation::Add
          : element.isInt() && element.bits() >= 32;
  if (!supported)
    semantic.error(ErrorKind::Value,
                   std::string(operationName(operation)) + " does not support " + element.str());
  return supported;
}

/// Brings `operand` to the pointer's shape, which must be final already.
bool fitToPointer(Semantic &semantic, const Value &pointer, Value &operand) {
  Value target = pointer;
  if (!pointer.type().isBlock() && operand.type().isBlock()) {
    semantic.error(ErrorKind::Value,
                   "Value argument cannot be block type if pointer argument is not a block");
    return false;
  }
  if (!semantic.broadcastPair(target, operand))
    return false;
  if (target.type().shape() == pointer.type().shape())
    return true;
  semantic.error(ErrorKind::Value, "Expected pointer argument to have shape " +
                                       shapeText(target.type().shape()) + " but got " +
                                       shapeText(pointer.type().shape()));
  return false;
}

AtomicKind atomicKind(Operation operation, const Type &element) {
  switch (operation) {
  case Operation::Add: return element.isFloating() ? AtomicKind::FAdd : AtomicKind::Add;
  case Operation::Max: return element.isSigned() ? AtomicKind::Max : AtomicKind::UMax;
  case Operation::Min: return element.isSigned() ? AtomicKind::Min : AtomicKind::UMin;
  case Operation::And: return AtomicKind::And;
  case Operation::Or: return AtomicKind::Or;
  case Operation::Xor: return AtomicKind::Xor;
  case Operation::Exchange: break;
  }
  return AtomicKind::Exchange;
}

/// Floats order like sign-and-magnitude integers: non-negative values as signed integers, negative ones as
/// unsigned integers the other way round.
Value floatMinMax(Semantic &semantic, bool isMax, const Value &pointer, const Value &value, const Value &mask,
                  MemorySemantic sem, MemoryScope scope) {
  Builder &builder = semantic.builder();
  ScalarKind signedKind = value.type().bits() == 32 ? ScalarKind::Int32 : ScalarKind::Int64;
  Value bits = semantic.cast(value, signedKind, {}, /*bitcast=*/true);
  Value address = semantic.cast(pointer, Type::pointer(signedKind, false, pointer.type().addressSpace()));
  if (!bits || !address)
    return Value();
  Value zero = Value::tensor(bits.type(), builder.constantInt(bits.type(), 0));
  Value positive = semantic.compare(CompareKind::SGE, bits, zero);
  Value negative = semantic.compare(CompareKind::SLT, bits, zero);
  auto masked = [&](const Value &condition) {
    return mask ? builder.binary(BinaryKind::AndI, mask.handle(), condition.handle()) : condition.handle();
  };
  Handle whenPositive = builder.atomicRMW(isMax ? AtomicKind::Max : AtomicKind::Min, address.handle(),
                                          bits.handle(), masked(positive), sem, scope);
  Handle whenNegative = builder.atomicRMW(isMax ? AtomicKind::UMin : AtomicKind::UMax, address.handle(),
                                          bits.handle(), masked(negative), sem, scope);
  Value old = Value::tensor(bits.type(), builder.select(positive.handle(), whenPositive, whenNegative));
  return semantic.cast(old, value.type().scalar(), {}, /*bitcast=*/true);
}

template <Operation Op> Value atomicRMW(Semantic &semantic, const BuiltinArgs &args) {
  const Value &pointer = args[0];
  std::optional<MemorySemantic> sem = memorySemantic(semantic, args[3]);
  std::optional<MemoryScope> scope = sem ? memoryScope(semantic, args[4]) : std::nullopt;
  if (!scope || !checkPointer(semantic, operationName(Op), pointer))
    return Value();
  Type element = pointer.type().pointee();
  Value value = checkElement(semantic, Op, element) ? semantic.cast(args[1], element) : Value();
  if (!value || !fitToPointer(semantic, pointer, value))
    return Value();
  Value mask;
  if (!args[2].isNone()) {
    mask = semantic.toTensor(args[2]);
    if (!mask || !checkMask(semantic, mask))
      return Value();
    if (!fitToPointer(semantic, pointer, mask))
      return Value();
  }
  if (element.isFloating() && (Op == Operation::Max || Op == Operation::Min))
    return floatMinMax(semantic, Op == Operation::Max, pointer, value, mask, *sem, *scope);
  return Value::tensor(value.type(),
                       semantic.builder().atomicRMW(atomicKind(Op, element), pointer.handle(), value.handle(),
                                                    mask ? mask.handle() : Handle(), *sem, *scope));
}

Value atomicCAS(Semantic &semantic, const BuiltinArgs &args) {
  const Value &pointer = args[0];
  std::optional<MemorySemantic> sem = memorySemantic(semantic, args[3]);
  std::optional<MemoryScope> scope = sem ? memoryScope(semantic, args[4]) : std::nullopt;
  if (!scope || !checkPointer(semantic, "atomic_cas", pointer))
    return Value();
  Type element = pointer.type().pointee();
  if (element.bits() != 16 && element.bits() != 32 && element.bits() != 64)
    return semantic.error(ErrorKind::Value, "atomic_cas only supports elements with width {16, 32, 64}");
  Value expected = semantic.toTensor(args[1]);
  Value value = expected ? semantic.toTensor(args[2]) : Value();
  if (!value)
    return Value();
  for (const Value *operand : {&expected, &value}) {
    if (operand->type().scalar() != element)
      return semantic.error(ErrorKind::Value,
                            "atomic_cas does not convert: `cmp` and `val` must have the pointer's "
                            "element type " +
                                element.str() + ", got " + operand->type().scalar().str(),
                            "cast the operand, or use tl.full((), value, dtype)");
    if (operand->type().shape() != pointer.type().shape())
      return semantic.error(ErrorKind::Value,
                            "atomic_cas does not broadcast: `cmp` and `val` must have the pointer's "
                            "shape " +
                                shapeText(pointer.type().shape()) + ", got " +
                                shapeText(operand->type().shape()));
  }
  return Value::tensor(value.type(), semantic.builder().atomicCAS(pointer.handle(), expected.handle(),
                                                                  value.handle(), *sem, *scope));
}

constexpr ParamDef rmwParams[] = {{"pointer"}, {"val"}, {"mask", "None"}, {"sem", "None"}, {"scope", "None"}};
constexpr ParamDef casParams[] = {{"pointer"}, {"cmp"}, {"val"}, {"sem", "None"}, {"scope", "None"}};

const BuiltinDef table[] = {
    {"language.atomic_add", rmwParams, "Adds to memory; gives the old value.", atomicRMW<Operation::Add>,
     true},
    {"language.atomic_max", rmwParams, "Maximum with memory; gives the old value.", atomicRMW<Operation::Max>,
     true},
    {"language.atomic_min", rmwParams, "Minimum with memory; gives the old value.", atomicRMW<Operation::Min>,
     true},
    {"language.atomic_and", rmwParams, "Bitwise and with memory; gives the old value.",
     atomicRMW<Operation::And>, true},
    {"language.atomic_or", rmwParams, "Bitwise or with memory; gives the old value.",
     atomicRMW<Operation::Or>, true},
    {"language.atomic_xor", rmwParams, "Bitwise xor with memory; gives the old value.",
     atomicRMW<Operation::Xor>, true},
    {"language.atomic_xchg", rmwParams, "Exchanges with memory; gives the old value.",
     atomicRMW<Operation::Exchange>, true},
    {"language.atomic_cas", casParams, "Stores `val` where memory equals `cmp`; gives the old value.",
     atomicCAS, true},
};

} // namespace

llvm::ArrayRef<BuiltinDef> atomicBuiltins() { return table; }

} // namespace despina
