//===- InlinePTX.cpp - Instructions that NVVM lacks -----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "InlinePTX.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

constexpr unsigned sharedSpace = 3;

/// Collects the operands of one instruction while its text is written. Results come first.
class Instruction {
public:
  Instruction(ThreadEmitter &e) : e(e) {}

  std::string result(Type type) {
    resultTypes.push_back(type);
    addConstraint("=" + registerOf(type));
    return "$" + std::to_string(count++);
  }
  std::string operand(Value value) {
    operands.push_back(value);
    addConstraint(registerOf(value.getType()));
    return "$" + std::to_string(count++);
  }
  /// What result `index` is before the instruction.
  void initial(unsigned index, Value value) {
    operands.push_back(value);
    addConstraint(std::to_string(index));
    ++count;
  }
  /// "@$3 " or nothing.
  std::string guard(Value predicate) { return predicate ? "@" + operand(predicate) + " " : std::string(); }
  std::string address(const GlobalPlace &place) {
    std::string text = "[" + operand(place.pointer);
    if (place.bytes)
      text += "+" + std::to_string(place.bytes);
    return text + "]";
  }

  Registers write(const std::string &text, bool accessesMemory) {
    if (accessesMemory)
      addConstraint("~{memory}");
    Type type;
    if (resultTypes.size() == 1)
      type = resultTypes.front();
    else if (!resultTypes.empty())
      type = LLVM::LLVMStructType::getLiteral(e.b.getContext(), resultTypes);
    Value value = e.inlinePTX(text, constraints, type, operands, /*hasSideEffects=*/accessesMemory);
    Registers results;
    if (resultTypes.size() == 1)
      results.push_back(value);
    else
      for (unsigned i = 0; i < resultTypes.size(); ++i)
        results.push_back(e.make<LLVM::ExtractValueOp>(value, i));
    return results;
  }

private:
  static std::string registerOf(Type type) {
    if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type))
      return pointer.getAddressSpace() == sharedSpace ? "r" : "l";
    switch (type.getIntOrFloatBitWidth()) {
    case 1: return "b";
    case 16: return "h";
    case 32: return "r";
    default: return "l";
    }
  }
  void addConstraint(const std::string &text) { constraints += (constraints.empty() ? "" : ",") + text; }

  ThreadEmitter &e;
  std::string constraints;
  SmallVector<Type> resultTypes;
  SmallVector<Value> operands;
  unsigned count = 0;
};

/// "$0", or "{$0, $1}" for several.
std::string group(ArrayRef<std::string> names) {
  return names.size() == 1 ? names.front() : "{" + llvm::join(names, ", ") + "}";
}

std::string vectorSuffix(size_t count) { return count == 1 ? "" : ".v" + std::to_string(count); }

/// Registers have at least 16 bits.
Type registerType(ThreadEmitter &e, Type type) { return type.isInteger(8) ? e.b.getI16Type() : type; }
Value widen(ThreadEmitter &e, Value word) {
  Type type = registerType(e, word.getType());
  return type == word.getType() ? word : e.make<LLVM::ZExtOp>(type, word).getResult();
}
Value narrow(ThreadEmitter &e, Value word, Type type) {
  return type.isInteger(8) ? e.make<LLVM::TruncOp>(type, word).getResult() : word;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

const char *evictionName(tt::EvictionPolicy policy) {
  return policy == tt::EvictionPolicy::EVICT_FIRST ? "evict_first" : "evict_last";
}

/// Eviction hints need PTX 7.4, those of the L2 cache an architecture of their own too.
bool hasEviction(ThreadEmitter &e) { return e.options().ptxVersion == 0 || e.options().ptxVersion >= 74; }

/// The L2 policy of an access; null where there is none to state.
Value cachePolicy(ThreadEmitter &e, const CacheHints &hints) {
  constexpr unsigned firstWithPolicies = 80;
  if (hints.evict == tt::EvictionPolicy::NORMAL || hints.isVolatile || !hasEviction(e) ||
      e.capability() < firstWithPolicies)
    return {};
  std::string name = evictionName(hints.evict);
  return e.once("policy." + name, [&] {
    Instruction instruction(e);
    std::string policy = instruction.result(e.b.getI64Type());
    return instruction
        .write("createpolicy.fractional.L2::" + name + ".b64 " + policy + ", 1.0;", /*accessesMemory=*/false)
        .front();
  });
}

/// ".volatile.global", ".global.cg", ".global.L1::evict_last.L2::cache_hint"
std::string hintSuffix(ThreadEmitter &e, const CacheHints &hints, bool hasPolicy) {
  if (hints.isVolatile)
    return ".volatile.global";
  std::string text = ".global";
  if (hints.cache != tt::CacheModifier::NONE)
    text += "." + tt::stringifyCacheModifier(hints.cache).str();
  else if (hints.evict != tt::EvictionPolicy::NORMAL && hasEviction(e))
    text += std::string(".L1::") + evictionName(hints.evict);
  return hasPolicy ? text + ".L2::cache_hint" : text;
}

} // namespace

Registers loadGlobal(ThreadEmitter &e, const GlobalPlace &place, ArrayRef<Value> otherwise,
                     const CacheHints &hints) {
  Type type = otherwise.front().getType();
  Value policy = cachePolicy(e, hints);
  Instruction instruction(e);
  SmallVector<std::string> results;
  for (size_t i = 0; i < otherwise.size(); ++i)
    results.push_back(instruction.result(registerType(e, type)));
  std::string text = instruction.guard(place.predicate) + "ld" + hintSuffix(e, hints, bool(policy)) +
                     vectorSuffix(otherwise.size()) + ".b" + std::to_string(type.getIntOrFloatBitWidth()) +
                     " " + group(results) + ", " + instruction.address(place);
  if (policy)
    text += ", " + instruction.operand(policy);
  if (place.predicate)
    for (auto [i, value] : llvm::enumerate(otherwise))
      instruction.initial(i, widen(e, value));
  Registers words = instruction.write(text + ";", /*accessesMemory=*/true);
  for (Value &word : words)
    word = narrow(e, word, type);
  return words;
}

void storeGlobal(ThreadEmitter &e, const GlobalPlace &place, ArrayRef<Value> words, const CacheHints &hints) {
  Type type = words.front().getType();
  Value policy = cachePolicy(e, hints);
  Instruction instruction(e);
  std::string text = instruction.guard(place.predicate) + "st" + hintSuffix(e, hints, bool(policy)) +
                     vectorSuffix(words.size()) + ".b" + std::to_string(type.getIntOrFloatBitWidth()) + " " +
                     instruction.address(place);
  SmallVector<std::string> operands;
  for (Value word : words)
    operands.push_back(instruction.operand(widen(e, word)));
  text += ", " + group(operands);
  if (policy)
    text += ", " + instruction.operand(policy);
  instruction.write(text + ";", /*accessesMemory=*/true);
}

void copyAsync(ThreadEmitter &e, Value shared, const GlobalPlace &place, unsigned bytes, Value isRead,
               const CacheHints &hints) {
  constexpr unsigned widest = 16;
  Value policy = cachePolicy(e, hints);
  // Past the first cache go whole lines only.
  bool isCachedGlobally = bytes == widest && hints.cache != tt::CacheModifier::CA;
  Instruction instruction(e);
  std::string text = instruction.guard(place.predicate) + "cp.async." + (isCachedGlobally ? "cg" : "ca") +
                     ".shared.global" + (policy ? ".L2::cache_hint" : "") + " [" +
                     instruction.operand(shared) + "], " + instruction.address(place) + ", " +
                     std::to_string(bytes);
  if (isRead)
    text += ", " + instruction.operand(e.select(isRead, e.i32(bytes), e.i32(0)));
  if (policy)
    text += ", " + instruction.operand(policy);
  instruction.write(text + ";", /*accessesMemory=*/true);
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

Registers atomicGlobal(ThreadEmitter &e, const GlobalPlace &place, const AtomicForm &form,
                       ArrayRef<Value> words, bool wantsResult) {
  bool isSwap = form.operation == "cas";
  Instruction instruction(e);
  SmallVector<std::string> results;
  if (wantsResult)
    for (Value word : words.take_front(isSwap ? 1 : words.size()))
      results.push_back(instruction.result(word.getType()));
  std::string text = instruction.guard(place.predicate) + (wantsResult ? "atom" : "red") + "." +
                     tt::stringifyMemSemantic(form.order).str() + "." +
                     tt::stringifyMemSyncScope(form.scope).str() + ".global." + form.operation + form.vector +
                     "." + form.type + " ";
  if (wantsResult)
    text += group(results) + ", ";
  text += instruction.address(place);
  SmallVector<std::string> operands;
  for (Value word : words)
    operands.push_back(instruction.operand(word));
  text += ", " + (isSwap ? llvm::join(operands, ", ") : group(operands));
  if (place.predicate)
    for (unsigned i = 0; i < results.size(); ++i)
      instruction.initial(i, e.zero(words[i].getType()));
  return instruction.write(text + ";", /*accessesMemory=*/true);
}

void fence(ThreadEmitter &e, tt::MemSyncScope scope, Value predicate) {
  Instruction instruction(e);
  std::string text = instruction.guard(predicate) + "fence.acq_rel." + tt::stringifyMemSyncScope(scope).str();
  instruction.write(text + ";", /*accessesMemory=*/true);
}

} // namespace despina::nvptx
