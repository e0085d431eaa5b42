//===- SimulatedPTX.cpp - Inline PTX as LLVM IR ---------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The thread emitter writes the few things that NVVM has no operation for as PTX: guarded accesses above
// all. This reads the statements of such a text one after the other:
//
//   [@[!]predicate] opcode operand, ...;
//
// where operands are registers ($0 of the call, or names declared with .reg), numbers, vectors in braces and
// addresses in brackets.
//
//===----------------------------------------------------------------------===//
#include "SimulatedPTX.h"

#include "SimulatedTMA.h"
#include "ThreadBlock.h"
#include "ThreadCalls.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace despina::test {

namespace {

using llvm::StringRef;
using llvm::Value;

/// Splits at commas outside of braces and brackets.
llvm::SmallVector<StringRef> splitOperands(StringRef text) {
  llvm::SmallVector<StringRef> parts;
  unsigned depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : ',';
    depth += c == '{' || c == '[';
    depth -= c == '}' || c == ']';
    if (c != ',' || depth)
      continue;
    if (StringRef part = text.slice(start, i).trim(); !part.empty())
      parts.push_back(part);
    start = i + 1;
  }
  return parts;
}

/// Splits at semicolons, and takes away braces around statements.
llvm::SmallVector<StringRef> splitStatements(StringRef text) {
  llvm::SmallVector<StringRef> statements, parts;
  text.split(parts, ';');
  for (StringRef part : parts) {
    part = part.trim();
    // Those of vectors close where they open.
    while ((part.count('{') > part.count('}') && part.consume_front("{")) ||
           (part.count('}') > part.count('{') && part.consume_back("}")))
      part = part.trim();
    if (!part.empty())
      statements.push_back(part);
  }
  return statements;
}

class PTXReader {
public:
  PTXReader(llvm::IRBuilder<> &b, llvm::CallInst &call, std::string &error) : b(b), call(call), error(error) {
    auto *assembly = llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
    text = assembly->getAsmString();
    llvm::InlineAsm::ConstraintInfoVector constraints = assembly->ParseConstraints();
    unsigned number = 0, argument = 0;
    for (llvm::InlineAsm::ConstraintInfo &constraint : constraints) {
      if (constraint.Type == llvm::InlineAsm::isOutput)
        ++outputs;
      else if (constraint.Type != llvm::InlineAsm::isInput)
        continue;
      std::string name = "$" + std::to_string(number++);
      if (constraint.Type != llvm::InlineAsm::isInput)
        continue;
      Value *value = call.getArgOperand(argument++);
      registers[name] = value;
      // An input that must be where an output is gives that its first value.
      unsigned tied = 0;
      if (!constraint.Codes.empty() && !StringRef(constraint.Codes[0]).getAsInteger(10, tied))
        registers["$" + std::to_string(tied)] = value;
    }
  }

  bool run() {
    for (StringRef statement : splitStatements(text))
      if (!statement.starts_with(".reg") && !runStatement(statement))
        return false;
    return bindResults();
  }

private:
  bool fail(const llvm::Twine &what) {
    error = ("the simulator does not know " + what + " in: " + text).str();
    return false;
  }

  bool runStatement(StringRef statement) {
    Value *guard = nullptr;
    StringRef rest = statement;
    if (rest.consume_front("@")) {
      bool negated = rest.consume_front("!");
      auto [name, after] = rest.split(' ');
      guard = read(name, b.getInt1Ty());
      if (!guard)
        return false;
      if (guard->getType() != b.getInt1Ty())
        guard = b.CreateICmpNE(guard, llvm::Constant::getNullValue(guard->getType()));
      guard = negated ? b.CreateNot(guard) : guard;
      rest = after.trim();
    }
    // Loops of waiting threads are part of the wait.
    if (rest.consume_front("wait:"))
      rest = rest.trim();
    auto [opcode, operandText] = rest.split(' ');
    llvm::SmallVector<StringRef> operands = splitOperands(operandText);
    if (!guard)
      return runOpcode(opcode, operands);
    return runGuarded(guard, [&] { return runOpcode(opcode, operands); });
  }

  /// Registers keep what they had where the guard is false.
  bool runGuarded(Value *guard, llvm::function_ref<bool()> body) {
    llvm::StringMap<Value *> before = registers;
    llvm::BasicBlock *from = b.GetInsertBlock();
    llvm::Instruction *then = llvm::SplitBlockAndInsertIfThen(guard, &*b.GetInsertPoint(), false);
    llvm::BasicBlock *after = then->getParent()->getSingleSuccessor();
    b.SetInsertPoint(then);
    if (!body())
      return false;
    llvm::BasicBlock *last = b.GetInsertBlock();
    b.SetInsertPoint(&call);
    for (auto &entry : registers) {
      Value *old = before.lookup(entry.getKey()), *now = entry.getValue();
      if (old == now)
        continue;
      llvm::PHINode *phi = llvm::PHINode::Create(now->getType(), 2, "", after->begin());
      phi->addIncoming(now, last);
      llvm::Value *kept = llvm::PoisonValue::get(now->getType());
      if (old) {
        llvm::IRBuilder<> early(from->getTerminator());
        // 8 bits travel in registers of 16.
        bool areIntegers = old->getType()->isIntegerTy() && now->getType()->isIntegerTy();
        kept = areIntegers ? early.CreateZExtOrTrunc(old, now->getType())
                           : early.CreateBitCast(old, now->getType());
      }
      phi->addIncoming(kept, from);
      entry.second = phi;
    }
    return true;
  }

  bool runOpcode(StringRef name, llvm::ArrayRef<StringRef> operands) {
    bool isGroup = name.consume_front("wgmma.");
    if (isGroup && !name.starts_with("mma_async"))
      return true; // it is done at once
    std::string key = name.str();
    if (std::optional<BulkInstruction> bulk = readBulkInstruction(name))
      return runBulk(*bulk, operands);
    if (name.starts_with("cp.async."))
      return runCopy(name, operands);
    if (isGroup)
      key = (operands[1].starts_with("{") ? "registers.wgmma." : "wgmma.") + key;
    for (auto [index, operation] : llvm::enumerate(threadOperations()))
      if (operation.matches(key))
        return runTogether(index, operands, /*readsResult=*/isGroup);
    llvm::SmallVector<StringRef> modifiers;
    name.split(modifiers, '.');
    StringRef opcode = modifiers.front();
    if (opcode == "fence" || opcode == "bra")
      return true;
    if (opcode == "createpolicy")
      return write(operands[0], b.getInt64(0));
    llvm::Type *type = typeOf(modifiers.back());
    if (!type)
      return fail("type ." + modifiers.back());
    if (opcode == "mov" && operands.size() == 2)
      return move(type, operands);
    if ((opcode == "ld" || opcode == "st") && operands.size() >= 2)
      return access(opcode == "ld", type, operands);
    if ((opcode == "atom" || opcode == "red") && operands.size() >= 2)
      return update(modifiers, type, operands);
    if (opcode == "add" && operands.size() == 3) {
      Value *x = read(operands[1], type), *y = read(operands[2], type);
      return x && y && write(operands[0], b.CreateAdd(fit(x, type), fit(y, type)));
    }
    if (opcode == "setp" && operands.size() == 3 && modifiers[1] == "ne") {
      Value *x = read(operands[1], type), *y = read(operands[2], type);
      return x && y && write(operands[0], b.CreateICmpNE(fit(x, type), fit(y, type)));
    }
    return fail(opcode);
  }

  /// cp.async [to], [from], bytes, bytes that are read, policy; or one of its groups.
  bool runCopy(StringRef name, llvm::ArrayRef<StringRef> operands) {
    llvm::SmallVector<Value *> values;
    bool hasPolicy = name.ends_with(".L2::cache_hint");
    for (StringRef operand : operands.drop_back(hasPolicy)) {
      Value *value = operand.starts_with("[") ? address(operand) : read(operand, b.getInt32Ty());
      if (!value)
        return false;
      values.push_back(value);
    }
    if (values.size() == 3)
      values.push_back(values.back());
    for (auto [index, operation] : llvm::enumerate(threadOperations()))
      if (operation.matches(name)) {
        callThreads(b, index, values, b.getVoidTy());
        return true;
      }
    return fail(name);
  }

  /// What threads do together: the first operand is the result.
  bool runTogether(unsigned operation, llvm::ArrayRef<StringRef> operands, bool readsResult) {
    llvm::SmallVector<Value *> values;
    for (StringRef operand : operands.drop_front(readsResult ? 0 : 1))
      for (StringRef name : elements(operand)) {
        Value *value = read(name, b.getInt32Ty());
        if (!value)
          return false;
        values.push_back(value);
      }
    llvm::SmallVector<StringRef> results = elements(operands.front());
    llvm::SmallVector<llvm::Type *> types;
    for (StringRef name : results)
      types.push_back(resultType(name));
    Value *all = callThreads(b, operation, values, llvm::StructType::get(b.getContext(), types));
    for (auto [i, name] : llvm::enumerate(results))
      write(name, b.CreateExtractValue(all, i));
    return true;
  }

  /// All operands as numbers of 64 bits. A predicate that a wait gives is true.
  bool runBulk(const BulkInstruction &bulk, llvm::ArrayRef<StringRef> operands) {
    llvm::SmallVector<Value *> values;
    for (uint64_t number : bulk.numbers)
      values.push_back(b.getInt64(number));
    for (StringRef operand : operands) {
      operand.consume_front("[");
      operand.consume_back("]");
      for (StringRef part : splitOperands(operand))
        for (StringRef name : elements(part)) {
          if (name == "_")
            continue;
          if (name == "complete") {
            write(name, b.getTrue());
            continue;
          }
          Value *value = read(name, b.getInt64Ty());
          if (!value)
            return false;
          values.push_back(fit(value, b.getInt64Ty()));
        }
    }
    for (auto [index, operation] : llvm::enumerate(threadOperations()))
      if (operation.matches(bulk.operation))
        callThreads(b, index, values, b.getVoidTy());
    return true;
  }

  /// The type of a register that is a result of the call.
  llvm::Type *resultType(StringRef name) {
    unsigned index = 0;
    (void)name.trim().drop_front().getAsInteger(10, index);
    auto *record = llvm::dyn_cast<llvm::StructType>(call.getType());
    return record && index < record->getNumElements() ? record->getElementType(index) : call.getType();
  }

  /// b32, u32, s32, f32: bits. Null for what is not a type.
  llvm::Type *typeOf(StringRef modifier) {
    unsigned bits = 0;
    if (modifier == "pred")
      return b.getInt1Ty();
    return modifier.empty() || modifier.drop_front().getAsInteger(10, bits) ? nullptr : b.getIntNTy(bits);
  }

  /// Threads change only where they wait, so an atomic operation is one after the other.
  bool update(llvm::ArrayRef<StringRef> modifiers, llvm::Type *type, llvm::ArrayRef<StringRef> operands) {
    StringRef what = modifiers[modifiers.size() - 2];
    char kind = modifiers.back().front();
    std::optional<StringRef> result;
    if (modifiers.front() == "atom") {
      result = operands.front();
      operands = operands.drop_front();
    }
    Value *at = address(operands[0]), *operand = read(operands[1], type);
    if (!at || !operand)
      return false;
    operand = fit(operand, type);
    Value *old = b.CreateAlignedLoad(type, at, llvm::Align(type->getIntegerBitWidth() / 8)), *next = nullptr;
    if (what == "cas") {
      Value *swapped = read(operands[2], type);
      next = swapped ? b.CreateSelect(b.CreateICmpEQ(old, operand), fit(swapped, type), old) : nullptr;
    } else {
      next = combine(what, kind, old, operand);
    }
    if (!next)
      return fail(what + "." + modifiers.back());
    b.CreateAlignedStore(next, at, llvm::Align(type->getIntegerBitWidth() / 8));
    return !result || write(*result, old);
  }

  Value *combine(StringRef what, char kind, Value *old, Value *operand) {
    llvm::Type *type = old->getType();
    if (what == "exch")
      return operand;
    if (kind == 'f' && what == "add") {
      unsigned bits = type->getIntegerBitWidth();
      llvm::Type *floating = bits == 16 ? b.getHalfTy() : bits == 32 ? b.getFloatTy() : b.getDoubleTy();
      Value *sum = b.CreateFAdd(b.CreateBitCast(old, floating), b.CreateBitCast(operand, floating));
      return b.CreateBitCast(sum, type);
    }
    if (kind == 'f')
      return nullptr;
    bool isSigned = kind == 's';
    auto pick = [&](llvm::CmpInst::Predicate forSigned, llvm::CmpInst::Predicate forUnsigned) {
      return b.CreateSelect(b.CreateICmp(isSigned ? forSigned : forUnsigned, old, operand), old, operand);
    };
    return llvm::StringSwitch<llvm::function_ref<Value *()>>(what)
        .Case("add", [&] { return b.CreateAdd(old, operand); })
        .Case("and", [&] { return b.CreateAnd(old, operand); })
        .Case("or", [&] { return b.CreateOr(old, operand); })
        .Case("xor", [&] { return b.CreateXor(old, operand); })
        .Case("max", [&] { return pick(llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_UGT); })
        .Case("min", [&] { return pick(llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_ULT); })
        .Default([] { return static_cast<Value *>(nullptr); })();
  }

  llvm::SmallVector<StringRef> elements(StringRef operand) {
    if (operand.consume_front("{") && operand.consume_back("}"))
      return splitOperands(operand);
    return {operand};
  }

  Value *read(StringRef operand, llvm::Type *type) {
    operand = operand.trim();
    if (Value *known = registers.lookup(operand))
      return known;
    llvm::APInt number;
    if (operand.getAsInteger(0, number)) {
      fail("operand " + operand);
      return nullptr;
    }
    return llvm::ConstantInt::get(type, number.zextOrTrunc(type->getIntegerBitWidth()));
  }

  bool write(StringRef name, Value *value) {
    registers[name.trim()] = value;
    return true;
  }

  /// As many bits as the type has.
  Value *fit(Value *value, llvm::Type *type) {
    if (value->getType()->isPointerTy())
      value = b.CreatePtrToInt(value, b.getInt64Ty());
    value = b.CreateBitCast(value, b.getIntNTy(value->getType()->getPrimitiveSizeInBits()));
    return b.CreateZExtOrTrunc(value, type);
  }

  /// Also between a vector and a register as wide as all of it.
  bool move(llvm::Type *type, llvm::ArrayRef<StringRef> operands) {
    llvm::SmallVector<StringRef> to = elements(operands[0]), from = elements(operands[1]);
    llvm::Type *part = b.getIntNTy(type->getIntegerBitWidth() / std::max(to.size(), from.size()));
    unsigned width = part->getIntegerBitWidth();
    if (from.size() == 1) {
      Value *source = read(from[0], type);
      if (!source)
        return false;
      source = fit(source, type);
      for (auto [i, name] : llvm::enumerate(to))
        write(name, b.CreateTrunc(b.CreateLShr(source, i * width), part));
      return true;
    }
    Value *whole = llvm::ConstantInt::get(type, 0);
    for (auto [i, name] : llvm::enumerate(from)) {
      Value *source = read(name, part);
      if (!source)
        return false;
      whole = b.CreateOr(whole, b.CreateShl(b.CreateZExt(fit(source, part), type), i * width));
    }
    return write(to[0], whole);
  }

  Value *address(StringRef operand) {
    if (!operand.consume_front("[") || !operand.consume_back("]")) {
      fail("address " + operand);
      return nullptr;
    }
    size_t sign = operand.find_first_of("+-");
    Value *value = read(operand.substr(0, sign), b.getInt64Ty());
    int64_t bytes = 0;
    StringRef offset = sign == StringRef::npos ? "" : operand.substr(sign);
    offset.consume_front("+");
    if (!value || (!offset.empty() && offset.trim().getAsInteger(0, bytes)))
      return nullptr;
    Value *sum = b.CreateAdd(fit(value, b.getInt64Ty()), b.getInt64(static_cast<uint64_t>(bytes)));
    return b.CreateIntToPtr(sum, b.getPtrTy());
  }

  bool access(bool isLoad, llvm::Type *type, llvm::ArrayRef<StringRef> operands) {
    Value *base = address(operands[isLoad ? 1 : 0]);
    if (!base)
      return false;
    unsigned bytes = type->getIntegerBitWidth() / 8;
    for (auto [i, name] : llvm::enumerate(elements(operands[isLoad ? 0 : 1]))) {
      Value *at = b.CreateConstInBoundsGEP1_32(b.getInt8Ty(), base, i * bytes);
      if (isLoad) {
        write(name, b.CreateAlignedLoad(type, at, llvm::Align(bytes)));
        continue;
      }
      Value *value = read(name, type);
      if (!value)
        return false;
      b.CreateAlignedStore(fit(value, type), at, llvm::Align(bytes));
    }
    return true;
  }

  /// A register as the type of a result: bits above it are dropped.
  Value *asResult(Value *value, llvm::Type *type) {
    if (type->isPointerTy())
      return b.CreateIntToPtr(fit(value, b.getInt64Ty()), type);
    return b.CreateBitCast(fit(value, b.getIntNTy(type->getPrimitiveSizeInBits())), type);
  }

  bool bindResults() {
    if (outputs == 0) {
      call.eraseFromParent();
      return true;
    }
    auto *record = llvm::dyn_cast<llvm::StructType>(call.getType());
    Value *result = llvm::PoisonValue::get(call.getType());
    for (unsigned i = 0; i < outputs; ++i) {
      Value *value = registers.lookup("$" + std::to_string(i));
      if (!value)
        return fail("a value of $" + llvm::Twine(i));
      if (record)
        result = b.CreateInsertValue(result, asResult(value, record->getElementType(i)), i);
      else
        result = asResult(value, call.getType());
    }
    call.replaceAllUsesWith(result);
    call.eraseFromParent();
    return true;
  }

  llvm::IRBuilder<> &b;
  llvm::CallInst &call;
  std::string &error;
  std::string text;
  unsigned outputs = 0;
  llvm::StringMap<Value *> registers;
};

} // namespace

bool expandPTX(llvm::IRBuilder<> &b, llvm::CallInst &call, std::string &error) {
  return PTXReader(b, call, error).run();
}

} // namespace despina::test
