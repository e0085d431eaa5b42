//===- EmitElementwiseForeign.cpp - Inline assembly, library calls --------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Inline assembly runs once for each group of elements that it packs. Elements of 32 and 64 bits take a
// register each; narrower ones share registers of 32 bits (of 16 where the constraint says so), the first
// element lowest. The constraint's letter decides what type a register has.
//
//===----------------------------------------------------------------------===//
#include "DeviceMath.h"
#include "EmitElementwise.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// The registers that one operand or result of inline assembly takes for a group.
struct PackedOperand {
  Type element;             ///< as the emitter holds it
  Type natural;             ///< of a register: the element's, or an integer that several share
  unsigned perRegister = 1; ///< elements
  unsigned registers = 1;
  SmallVector<Type, 4> types; ///< by the constraints
};

class InlineAsmEmitter {
public:
  InlineAsmEmitter(ThreadEmitter &emitter, tt::ElementwiseInlineAsmOp asmOp)
      : e(emitter), op(asmOp), pack(static_cast<unsigned>(asmOp.getPackedElement())) {}
  LogicalResult run();

private:
  void splitConstraints();
  Type typeOfConstraint(StringRef constraint);
  bool plan(SmallVectorImpl<PackedOperand> &operands, TypeRange types, ArrayRef<StringRef> constraints,
            StringRef what);
  /// Elements to registers, and back.
  void packInto(SmallVectorImpl<Value> &registers, const PackedOperand &operand, ArrayRef<Value> elements);
  Registers unpack(const PackedOperand &operand, ArrayRef<Value> registers);
  Value packOne(const PackedOperand &operand, ArrayRef<Value> elements);
  Value toType(Value value, Type type);
  Registers call(ArrayRef<Value> inputRegisters);
  void emitGroup(ArrayRef<unsigned> members, MutableArrayRef<Registers> values);

  ThreadEmitter &e;
  tt::ElementwiseInlineAsmOp op;
  unsigned pack;
  std::string constraintText;
  SmallVector<StringRef, 8> outputs, inputs;
  SmallVector<PackedOperand, 4> results, arguments;
};

void InlineAsmEmitter::splitConstraints() {
  SmallVector<StringRef, 8> parts;
  constraintText = op.getConstraints().str();
  llvm::erase(constraintText, ' ');
  StringRef(constraintText).split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    if (part.starts_with("~"))
      continue;
    if (part.starts_with("="))
      outputs.push_back(part);
    else
      inputs.push_back(part);
  }
}

/// Null for what no register of PTX is.
Type InlineAsmEmitter::typeOfConstraint(StringRef constraint) {
  unsigned tied = 0;
  if (!constraint.getAsInteger(10, tied))
    return tied < outputs.size() ? typeOfConstraint(outputs[tied]) : Type();
  constraint = constraint.ltrim("=&");
  if (constraint.size() != 1)
    return {};
  switch (constraint.front()) {
  case 'h': return e.b.getI16Type();
  case 'r': return e.b.getI32Type();
  case 'l': return e.b.getI64Type();
  case 'f': return e.b.getF32Type();
  case 'd': return e.b.getF64Type();
  default: return {};
  }
}

bool InlineAsmEmitter::plan(SmallVectorImpl<PackedOperand> &operands, TypeRange types,
                            ArrayRef<StringRef> constraints, StringRef what) {
  size_t next = 0;
  for (Type type : types) {
    PackedOperand operand;
    operand.element = operand.natural = e.llvmType(type);
    unsigned width =
        isa<LLVM::LLVMPointerType>(operand.element) ? 64 : operand.element.getIntOrFloatBitWidth();
    if (width < 32) {
      Type first = next < constraints.size() ? typeOfConstraint(constraints[next]) : Type();
      unsigned shared = first && first.isInteger(16) ? 16 : 32;
      operand.natural = e.b.getIntegerType(shared);
      operand.perRegister = shared / std::max(width, 8U);
    }
    unsigned used = std::min(operand.perRegister, pack) * std::max(width, 8U);
    operand.registers = llvm::divideCeil(pack, operand.perRegister);
    // With too few constraints, only the count is of interest.
    bool isComplete = next + operand.registers <= constraints.size();
    for (StringRef constraint :
         constraints.slice(isComplete ? next : 0, isComplete ? operand.registers : 0)) {
      Type held = typeOfConstraint(constraint);
      if (!held)
        return op.emitOpError() << "has the constraint '" << constraint
                                << "'; on CUDA, registers are 'h' (16 bits), 'r' (32), 'l' (64), 'f' and 'd'",
               false;
      if (held.getIntOrFloatBitWidth() < used)
        return op.emitOpError() << "has the constraint '" << constraint << "', too narrow for "
                                << getElementTypeOrSelf(type),
               false;
      operand.types.push_back(held);
    }
    next += operand.registers;
    operands.push_back(operand);
  }
  if (next != constraints.size())
    return op.emitOpError() << "has " << constraints.size() << " constraints of " << what << "s, but its "
                            << what << "s take " << next << " registers (" << pack << " elements at a time)",
           false;
  return true;
}

/// Values of one width are reinterpreted, narrower ones are extended with zeros, wider ones cut.
Value InlineAsmEmitter::toType(Value value, Type type) {
  auto widthOf = [](Type t) { return isa<LLVM::LLVMPointerType>(t) ? 64 : t.getIntOrFloatBitWidth(); };
  unsigned from = widthOf(value.getType()), to = widthOf(type);
  if (from == to)
    return e.bitcast(value, type);
  value = e.bitcast(value, e.b.getIntegerType(from));
  Type integer = e.b.getIntegerType(to);
  Value resized = from < to ? e.make<LLVM::ZExtOp>(integer, value).getResult()
                            : e.make<LLVM::TruncOp>(integer, value).getResult();
  return e.bitcast(resized, type);
}

Value InlineAsmEmitter::packOne(const PackedOperand &operand, ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return toType(elements.front(), operand.natural);
  unsigned width = operand.natural.getIntOrFloatBitWidth() / operand.perRegister;
  Type part = e.b.getIntegerType(width);
  Value all = e.zero(VectorType::get({operand.perRegister}, part));
  for (auto [index, element] : llvm::enumerate(elements))
    all = e.make<LLVM::InsertElementOp>(all, toType(element, part), e.i32(static_cast<int64_t>(index)));
  return e.bitcast(all, operand.natural);
}

void InlineAsmEmitter::packInto(SmallVectorImpl<Value> &registers, const PackedOperand &operand,
                                ArrayRef<Value> elements) {
  for (Type type : operand.types) {
    ArrayRef<Value> part = elements.take_front(operand.perRegister);
    elements = elements.drop_front(part.size());
    registers.push_back(toType(packOne(operand, part), type));
  }
}

Registers InlineAsmEmitter::unpack(const PackedOperand &operand, ArrayRef<Value> registers) {
  Registers elements;
  unsigned perRegister = std::min(operand.perRegister, pack);
  for (Value value : registers) {
    Value natural = toType(value, operand.natural);
    if (perRegister == 1) {
      elements.push_back(toType(natural, operand.element));
      continue;
    }
    unsigned width = operand.natural.getIntOrFloatBitWidth() / operand.perRegister;
    Value all = e.bitcast(natural, VectorType::get({operand.perRegister}, e.b.getIntegerType(width)));
    for (unsigned index = 0; index != perRegister; ++index) {
      Value part = e.make<LLVM::ExtractElementOp>(all, e.i32(index));
      elements.push_back(toType(part, operand.element));
    }
  }
  return elements;
}

/// One instance of the text: its output registers.
Registers InlineAsmEmitter::call(ArrayRef<Value> inputRegisters) {
  SmallVector<Type, 4> types;
  for (const PackedOperand &result : results)
    llvm::append_range(types, result.types);
  Type type = types.front();
  if (types.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(e.b.getContext(), types);
  Value value = e.inlinePTX(op.getAsmString(), constraintText, type, inputRegisters, !op.getPure());
  if (types.size() == 1)
    return {value};
  Registers registers;
  for (unsigned index = 0; index != types.size(); ++index)
    registers.push_back(e.make<LLVM::ExtractValueOp>(value, index));
  return registers;
}

/// The text for the elements in these registers; `members` may end with repetitions of the last one.
void InlineAsmEmitter::emitGroup(ArrayRef<unsigned> members, MutableArrayRef<Registers> values) {
  SmallVector<Value, 8> inputRegisters;
  for (auto [argument, operand] : llvm::zip(op.getArgs(), arguments)) {
    Registers elements;
    for (unsigned member : members)
      elements.push_back(e.get(argument)[member]);
    packInto(inputRegisters, operand, elements);
  }
  Registers outputRegisters = call(inputRegisters);
  ArrayRef<Value> rest = outputRegisters;
  for (auto [result, value] : llvm::zip(results, values)) {
    Registers elements = unpack(result, rest.take_front(result.registers));
    rest = rest.drop_front(result.registers);
    // Backwards, so that an element has the first of its results.
    for (size_t index = members.size(); index-- != 0;)
      value[members[index]] = elements[index];
  }
}

LogicalResult InlineAsmEmitter::run() {
  if (failed(checkElementTypes(op)))
    return failure();
  splitConstraints();
  if (!plan(results, op.getResultTypes(), outputs, "output") ||
      !plan(arguments, op.getOperandTypes(), inputs, "input"))
    return failure();
  SmallVector<unsigned, 8> sources = copySources(op->getResult(0).getType());
  for (Value argument : op.getArgs())
    if (e.get(argument).size() != sources.size())
      return op.emitOpError("has operands and results of different layouts");
  SmallVector<unsigned, 8> own;
  for (auto [index, source] : llvm::enumerate(sources))
    if (index == source)
      own.push_back(source);
  own.append(llvm::alignTo(own.size(), pack) - own.size(), own.back());
  SmallVector<Registers, 2> values(results.size(), Registers(sources.size()));
  for (size_t first = 0; first < own.size(); first += pack)
    emitGroup(ArrayRef(own).slice(first, pack), values);
  for (auto [result, value] : llvm::zip(op->getResults(), values)) {
    for (auto [index, source] : llvm::enumerate(sources))
      value[index] = value[source];
    e.set(result, std::move(value));
  }
  return success();
}

LogicalResult emitInlineAsm(ThreadEmitter &e, tt::ElementwiseInlineAsmOp op) {
  return InlineAsmEmitter(e, op).run();
}

LogicalResult emitExtern(ThreadEmitter &e, tt::ExternElementwiseOp op) {
  Type result = e.llvmType(op.getType());
  return mapElements(
      e, op,
      [&](ArrayRef<Value> operands) {
        return Registers{callDeviceFunction(e.b, e.loc, op.getSymbol(), result, operands)};
      },
      op.getPure());
}

} // namespace

void addForeignEmitters(EmitterTable &table) {
  table.add<tt::ElementwiseInlineAsmOp, emitInlineAsm>();
  table.add<tt::ExternElementwiseOp, emitExtern>();
}

} // namespace despina::nvptx
