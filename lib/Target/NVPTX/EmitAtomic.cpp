//===- EmitAtomic.cpp - Atomic operations ---------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Each element is done by one of the threads that hold it. The order that an operation asks for is that of
// the whole program: what any thread wrote before it is released, and what it acquired all threads see after
// it. So a barrier stands before a release and after an acquire. An operation of several instructions, or one
// without a result, has fences around relaxed instructions, which is the same and costs less.
//
//===----------------------------------------------------------------------===//
#include "EmitAtomic.h"

#include "AccessPlan.h"
#include "InlinePTX.h"
#include "ThreadData.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

bool releases(tt::MemSemantic order) {
  return order == tt::MemSemantic::RELEASE || order == tt::MemSemantic::ACQUIRE_RELEASE;
}
bool acquires(tt::MemSemantic order) {
  return order == tt::MemSemantic::ACQUIRE || order == tt::MemSemantic::ACQUIRE_RELEASE;
}

bool hasPTX(ThreadEmitter &e, unsigned version) {
  return e.options().ptxVersion == 0 || e.options().ptxVersion >= version;
}
/// Additions of up to 128 bits by one instruction.
bool hasVectorAdd(ThreadEmitter &e) { return e.capability() >= 90 && hasPTX(e, 81); }
bool hasBFloatAdd(ThreadEmitter &e) { return e.capability() >= 90 && hasPTX(e, 78); }

const char *integerOperation(tt::RMWOp kind) {
  switch (kind) {
  case tt::RMWOp::AND: return "and";
  case tt::RMWOp::OR: return "or";
  case tt::RMWOp::XOR: return "xor";
  case tt::RMWOp::ADD: return "add";
  case tt::RMWOp::MAX:
  case tt::RMWOp::UMAX: return "max";
  case tt::RMWOp::MIN:
  case tt::RMWOp::UMIN: return "min";
  case tt::RMWOp::FADD:
  case tt::RMWOp::XCHG: break;
  }
  return "exch";
}

/// The letter of the type that an operation on integers takes: b32, s32, u32.
char integerLetter(tt::RMWOp kind) {
  switch (kind) {
  case tt::RMWOp::MAX:
  case tt::RMWOp::MIN: return 's';
  case tt::RMWOp::ADD:
  case tt::RMWOp::UMAX:
  case tt::RMWOp::UMIN: return 'u';
  default: return 'b';
  }
}

/// An operation as instructions: how many elements one may take, and its form.
struct Instructions {
  unsigned maxElements = 1;
  AtomicForm form;
  bool isLoop = false; ///< no instruction: compare-and-swap until nobody was faster
  bool mayReduce = true;

  /// The form for `count` elements.
  AtomicForm formFor(Type element, unsigned count) const {
    AtomicForm result = form;
    if (element.getIntOrFloatBitWidth() == 16 && count > 1) {
      result.type += "x2";
      count /= 2;
    }
    if (count > 1)
      result.vector = ".v" + std::to_string(count);
    return result;
  }
};

/// None if there is no way.
std::optional<Instructions> findInstructions(ThreadEmitter &e, tt::RMWOp kind, Type element) {
  unsigned bits = element.getIntOrFloatBitWidth();
  Instructions result;
  result.mayReduce = kind != tt::RMWOp::XCHG;
  if (kind != tt::RMWOp::FADD) {
    if (bits != 32 && bits != 64)
      return std::nullopt;
    result.form.operation = integerOperation(kind);
    result.form.type = integerLetter(kind) + std::to_string(bits);
    return result;
  }
  if (element.isF16() || element.isBF16()) {
    result.form.operation = "add.noftz";
    result.form.type = element.isF16() ? "f16" : "bf16";
    result.isLoop = element.isBF16() && !hasBFloatAdd(e);
    result.maxElements = result.isLoop ? 1 : hasVectorAdd(e) ? 8 : 2;
    return result;
  }
  if (!element.isF32() && !element.isF64())
    return std::nullopt;
  result.form.operation = "add";
  result.form.type = element.isF32() ? "f32" : "f64";
  result.maxElements = element.isF32() && hasVectorAdd(e) ? 4 : 1;
  return result;
}

/// The part that all atomics have: who acts, in which order, and who gets to know.
class AtomicEmitter {
public:
  /// Does one access; gives the old values of its elements, none if they are not wanted.
  using Access = function_ref<Registers(const MemoryAccess &, const GlobalPlace &)>;

  AtomicEmitter(ThreadEmitter &e, Operation *op, Value pointers, Value mask, unsigned maxElements)
      : e(e), op(op), pointers(pointers), mask(mask), plan(planAccess(e, pointers, mask, maxElements)),
        acts(e.isCanonical(plan.copies.lane, plan.copies.warp, plan.copies.block)) {}

  bool wantsResult() const { return !op->getResult(0).use_empty(); }
  /// What the instructions state, given whether they can state an order at all.
  tt::MemSemantic instructionOrder(tt::MemSemantic order, bool canState) {
    isFenced = order != tt::MemSemantic::RELAXED && (!canState || plan.accesses.size() > 1);
    return isFenced ? tt::MemSemantic::RELAXED : order;
  }

  LogicalResult run(tt::MemSemantic order, tt::MemSyncScope scope, Access access) {
    if (releases(order)) {
      e.programBarrier();
      if (isFenced)
        fence(e, scope, acts);
    }
    Registers values(plan.copies.first.size());
    for (const MemoryAccess &piece : plan.accesses)
      for (auto [reg, value] : llvm::zip(piece.registers, access(piece, placeOf(piece))))
        values[reg] = value;
    if (acquires(order)) {
      if (isFenced)
        fence(e, scope, acts);
      e.programBarrier();
    }
    return wantsResult() ? shareAtomicResult(e, op, std::move(values), plan.copies) : success();
  }

private:
  GlobalPlace placeOf(const MemoryAccess &access) {
    auto pointee = cast<tt::PointerType>(getElementTypeOrSelf(pointers.getType())).getPointeeType();
    GlobalPlace place{e.get(pointers)[access.base], access.offset * (ttg::memoryBits(pointee) / 8), acts};
    if (mask) {
      Value bit = e.get(mask)[access.registers.front()];
      place.predicate = acts ? e.bitAnd(bit, acts) : bit;
    }
    return place;
  }

  ThreadEmitter &e;
  Operation *op;
  Value pointers, mask;
  AccessPlan plan;
  Value acts;
  bool isFenced = false;
};

LogicalResult checkPointer(Operation *op, Type pointers) {
  auto pointer = cast<tt::PointerType>(getElementTypeOrSelf(pointers));
  if (pointer.getAddressSpace() == 1)
    return success();
  return op->emitOpError() << "through pointers of address space " << pointer.getAddressSpace()
                           << " is not supported on CUDA; only global memory (1) is";
}

/// The elements of an access as the words of the instruction.
Registers wordsOf(ThreadEmitter &e, Value value, const MemoryAccess &access) {
  Registers words;
  for (unsigned reg : access.registers)
    words.push_back(toBits(e, e.get(value)[reg]));
  bool isPacked = words.size() > 1 && words.front().getType().isInteger(16);
  return isPacked ? packWords(e, words) : words;
}

Registers elementsOf(ThreadEmitter &e, Registers words, Type element, unsigned count) {
  if (count > 1 && element.getIntOrFloatBitWidth() == 16)
    words = unpackWords(e, words, 16, count);
  for (Value &word : words)
    word = fromBits(e, word, element);
  return words;
}

/// An addition that the architecture lacks, which LLVM makes of compare-and-swap.
Registers addByLoop(ThreadEmitter &e, const GlobalPlace &place, Value value) {
  auto add = [&]() -> Registers {
    Value pointer = e.elementPointer(place.pointer, e.b.getI8Type(), place.bytes);
    return {
        e.make<LLVM::AtomicRMWOp>(LLVM::AtomicBinOp::fadd, pointer, value, LLVM::AtomicOrdering::monotonic)};
  };
  return place.predicate ? e.ifThenElse(place.predicate, add, e.zero(value.getType())) : add();
}

LogicalResult emitRMW(ThreadEmitter &e, tt::AtomicRMWOp op) {
  Type element = getElementTypeOrSelf(op.getType());
  std::optional<Instructions> instructions = findInstructions(e, op.getAtomicRmwOp(), element);
  if (!instructions)
    return op.emitOpError() << "'" << tt::stringifyRMWOp(op.getAtomicRmwOp()) << "' of " << element
                            << " is not supported on CUDA";
  if (failed(checkPointer(op, op.getPtr().getType())))
    return failure();
  AtomicEmitter atomic(e, op, op.getPtr(), op.getMask(), instructions->maxElements);
  bool isReduction = !atomic.wantsResult() && instructions->mayReduce;
  tt::MemSemantic order = atomic.instructionOrder(op.getSem(), !isReduction && !instructions->isLoop);
  return atomic.run(op.getSem(), op.getScope(), [&](const MemoryAccess &access, const GlobalPlace &place) {
    unsigned count = access.registers.size();
    if (instructions->isLoop)
      return addByLoop(e, place, e.get(op.getVal())[access.registers.front()]);
    AtomicForm form = instructions->formFor(element, count);
    form.order = order;
    form.scope = op.getScope();
    Registers old = atomicGlobal(e, place, form, wordsOf(e, op.getVal(), access), !isReduction);
    return isReduction ? Registers() : elementsOf(e, std::move(old), element, count);
  });
}

LogicalResult emitCAS(ThreadEmitter &e, tt::AtomicCASOp op) {
  Type element = getElementTypeOrSelf(op.getType());
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits != 16 && bits != 32 && bits != 64)
    return op.emitOpError() << "of " << element << " is not supported on CUDA; 16, 32 and 64 bits are";
  if (failed(checkPointer(op, op.getPtr().getType())))
    return failure();
  AtomicEmitter atomic(e, op, op.getPtr(), /*mask=*/Value(), /*maxElements=*/1);
  AtomicForm form{"cas", "", "b" + std::to_string(bits), atomic.instructionOrder(op.getSem(), true),
                  op.getScope()};
  return atomic.run(op.getSem(), op.getScope(), [&](const MemoryAccess &access, const GlobalPlace &place) {
    Registers words = wordsOf(e, op.getCmp(), access);
    llvm::append_range(words, wordsOf(e, op.getVal(), access));
    return elementsOf(e, atomicGlobal(e, place, form, words, /*wantsResult=*/true), element, 1);
  });
}

} // namespace

void addAtomicEmitters(EmitterTable &table) {
  table.add<tt::AtomicRMWOp, emitRMW>();
  table.add<tt::AtomicCASOp, emitCAS>();
}

} // namespace despina::nvptx
