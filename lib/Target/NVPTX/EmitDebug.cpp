//===- EmitDebug.cpp - Printing and assertions ----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Both end in functions of the driver: vprintf, which takes a format and its arguments in a buffer, each at a
// multiple of its size, and __assertfail, which ends the kernel. Each element speaks once, whoever holds
// copies of it.
//
//===----------------------------------------------------------------------===//
#include "Copies.h"
#include "EmitControl.h"
#include "FloatConversion.h"
#include "ThreadData.h"
#include "TileIndex.h"

#include "despina/Runtime/Support.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

bool isInCombine(Operation *op) {
  return op->getParentOfType<tt::ReduceOp>() || op->getParentOfType<tt::ScanOp>();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// One call of vprintf: the format grows with the arguments.
class Message {
public:
  void text(StringRef literal) {
    for (char c : literal)
      format += c == '%' ? std::string("%%") : std::string(1, c);
  }
  /// "%u" and what it stands for: 4 or 8 bytes.
  void argument(StringRef conversion, Value value) {
    format += conversion;
    arguments.push_back(value);
  }

  void print(ThreadEmitter &e) const {
    SmallVector<int64_t> offsets;
    uint64_t bytes = 0;
    for (Value argument : arguments) {
      uint64_t size = argument.getType().getIntOrFloatBitWidth() / 8;
      bytes = llvm::alignTo(bytes, size);
      offsets.push_back(static_cast<int64_t>(bytes));
      bytes += size;
    }
    Type generic = LLVM::LLVMPointerType::get(e.b.getContext());
    // Kernels have one buffer for each size: stack memory of the entry block.
    Value buffer = e.once("print." + std::to_string(bytes), [&]() -> Value {
      auto type = LLVM::LLVMArrayType::get(e.b.getI8Type(), bytes);
      return e.make<LLVM::AllocaOp>(generic, type, e.i32(1), /*alignment=*/8);
    });
    for (auto [argument, offset] : llvm::zip(arguments, offsets))
      e.make<LLVM::StoreOp>(argument, e.elementPointer(buffer, e.b.getI8Type(), offset));
    e.call("vprintf", e.b.getI32Type(), {e.stringAddress(format), buffer});
  }

private:
  std::string format;
  SmallVector<Value> arguments;
};

/// Adds the value of a register: what C's printf takes, and how it names it.
void addValue(ThreadEmitter &e, Message &message, Value value, Type element, bool hex, bool isSigned) {
  unsigned bits = ttg::memoryBits(element);
  Type i32 = e.b.getI32Type();
  bool isFloat = isa<FloatType>(element);
  if (isFloat && !hex)
    return message.argument("%f", convertFloat(e, value, element, e.b.getF64Type()));
  value = toBits(e, value);
  if (isa<tt::PointerType>(element) && !hex)
    return message.argument("%p", value);
  bool extendsSign = isSigned && !hex && !element.isInteger(1);
  if (bits < 32)
    value = extendsSign ? e.make<LLVM::SExtOp>(i32, value).getResult()
                        : e.make<LLVM::ZExtOp>(i32, value).getResult();
  std::string conversion = bits == 64 ? "ll" : "";
  if (hex) {
    message.text("0x");
    conversion = "0" + std::to_string(bits / 4) + conversion + "x";
  } else {
    conversion += extendsSign ? "d" : "u";
  }
  message.argument("%" + conversion, value);
}

void addList(Message &message, StringRef name, ArrayRef<Value> numbers) {
  message.text((name + " (").str());
  for (auto [i, number] : llvm::enumerate(numbers)) {
    message.text(i ? ", " : "");
    message.argument("%u", number);
  }
  message.text(")");
}

Registers programIds(ThreadEmitter &e) {
  return {programId(e, tt::ProgramIDDim::X), programId(e, tt::ProgramIDDim::Y),
          programId(e, tt::ProgramIDDim::Z)};
}

/// Runs `body` in the threads that act for all that hold copies.
void inActingThreads(ThreadEmitter &e, const Copies &copies, function_ref<void()> body) {
  if (Value acts = e.isCanonical(copies.lane, copies.warp, copies.block))
    e.ifThen(acts, body);
  else
    body();
}

void printOperand(ThreadEmitter &e, tt::PrintOp op, unsigned index) {
  Value operand = op.getArgs()[index];
  Copies copies = copiesOf(operand.getType(), e.numWarps(), e.numCTAs());
  std::string label = printLabel(op.getPrefix(), true);
  if (op.getArgs().size() > 1)
    label += "(operand " + std::to_string(index) + ") ";
  SmallVector<Registers> coordinates;
  if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
    for (unsigned axis = 0; axis < type.getRank(); ++axis)
      coordinates.push_back(axisIndices(e, ttg::layoutOf(type), axis));
  inActingThreads(e, copies, [&] {
    Registers programs = programIds(e);
    for (unsigned reg : copies.distinct()) {
      Message message;
      addList(message, "pid", programs);
      if (isa<RankedTensorType>(operand.getType())) {
        Registers indices;
        for (const Registers &ofAxis : coordinates)
          indices.push_back(ofAxis[reg]);
        addList(message, " idx", indices);
      }
      message.text(label);
      addValue(e, message, e.get(operand)[reg], getElementTypeOrSelf(operand.getType()), op.getHex(),
               op.getIsSigned()[index]);
      message.text("\n");
      message.print(e);
    }
  });
}

LogicalResult emitPrint(ThreadEmitter &e, tt::PrintOp op) {
  if (isInCombine(op))
    return op.emitOpError("inside a combine function is not supported on CUDA");
  for (unsigned i = 0; i < op.getArgs().size(); ++i)
    printOperand(e, op, i);
  if (!op.getArgs().empty())
    return success();
  Copies one = copiesOf(e.b.getI32Type(), e.numWarps(), e.numCTAs());
  inActingThreads(e, one, [&] {
    Message message;
    addList(message, "pid", programIds(e));
    message.text(printLabel(op.getPrefix(), false) + "\n");
    message.print(e);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Assertions
//===----------------------------------------------------------------------===//

/// The position in the source that a location has, from the innermost function.
FileLineColLoc sourcePosition(Location location) {
  FileLineColLoc found;
  location->walk([&](Location part) {
    if (auto call = dyn_cast<CallSiteLoc>(part)) {
      found = sourcePosition(call.getCallee());
      return found ? WalkResult::interrupt() : WalkResult::advance();
    }
    found = dyn_cast<FileLineColLoc>(part);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

LogicalResult emitAssert(ThreadEmitter &e, tt::AssertOp op) {
  if (!e.options().debug)
    return success();
  bool isAlone = !isInCombine(op);
  Copies copies = copiesOf(op.getCondition().getType(), e.numWarps(), e.numCTAs());
  Value holds;
  for (unsigned reg : copies.distinct()) {
    Value here = e.get(op.getCondition())[reg];
    holds = holds ? e.bitAnd(holds, here) : here;
  }
  Value fails = e.bitXor(holds, e.i1(true));
  if (Value acts = isAlone ? e.isCanonical(copies.lane, copies.warp, copies.block) : Value())
    fails = e.bitAnd(fails, acts);
  FileLineColLoc position = sourcePosition(op.getLoc());
  StringRef file = position ? position.getFilename().getValue() : StringRef("<unknown>");
  e.ifThen(fails, [&] {
    e.call("__assertfail", {},
           {e.stringAddress(op.getMessage()), e.stringAddress(file), e.i32(position ? position.getLine() : 0),
            e.stringAddress(op->getParentOfType<tt::FuncOp>().getName()), e.i64(/*bytes of a char*/ 1)});
  });
  // Nobody goes on, and meets worse, before the failure is reported.
  if (isAlone)
    e.programBarrier();
  return success();
}

} // namespace

void addDebugEmitters(EmitterTable &table) {
  table.add<tt::PrintOp, emitPrint>();
  table.add<tt::AssertOp, emitAssert>();
}

} // namespace despina::nvptx
