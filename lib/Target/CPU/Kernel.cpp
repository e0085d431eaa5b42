//===- Kernel.cpp - The kernel's function, dots, atomics, debugging -------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "MicroKernel.h"
#include "TileEmitter.h"

#include "despina/Runtime/Support.h"

#include "mlir/Dialect/UB/IR/UBOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::cpu {

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

std::string TileEmitter::symbol() {
  // A kernel may well be called `memcpy`, but its code must not answer calls of that function.
  std::string name = kernel.getName().str();
  size_t count = 0;
  const RuntimeSymbol *symbols = runtimeSymbols(count);
  bool taken =
      llvm::any_of(ArrayRef(symbols, count), [&](const RuntimeSymbol &known) { return name == known.name; });
  return taken ? name + ".kernel" : name;
}

LLVM::LLVMFuncOp TileEmitter::createFunction() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64Type = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                          {pointer, pointer, i64Type, i64Type, pointer});
  b.setInsertionPointToEnd(output.getBody());
  auto result = LLVM::LLVMFuncOp::create(b, loc, symbol(), type);
  StringAttr noalias = b.getStringAttr(LLVM::LLVMDialect::getNoAliasAttrName());
  result.setArgAttr(4, noalias, b.getUnitAttr());
  result.setArgAttr(4, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
  // Vectors of the native width are not to be cut in two.
  std::string width = std::to_string(options.features.vectorBytes * 8);
  result.setPassthroughAttr(b.getArrayAttr({b.getStrArrayAttr({"prefer-vector-width", width})}));
  return result;
}

LogicalResult TileEmitter::run(ModuleOp module) {
  output = module;
  loc = kernel.getLoc();
  function = createFunction();
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Value args = entry->getArgument(0), grid = entry->getArgument(1);
  scratch = entry->getArgument(4);
  Type i32 = b.getI32Type(), pointer = scratch.getType();
  for (unsigned axis = 0; axis < 3; ++axis) {
    Value place = LLVM::GEPOp::create(b, loc, pointer, i32, grid, ArrayRef<LLVM::GEPArg>{int32_t(axis)});
    gridSize[axis] = LLVM::LoadOp::create(b, loc, i32, place);
  }
  for (auto [i, argument] : llvm::enumerate(kernel.getArguments())) {
    Value place =
        LLVM::GEPOp::create(b, loc, pointer, b.getI64Type(), args, ArrayRef<LLVM::GEPArg>{int32_t(i)});
    Type type = scalarType(argument.getType());
    Type stored = type.isInteger(1) ? Type(b.getI8Type()) : type;
    Value x = LLVM::LoadOp::create(b, loc, stored, place);
    if (type.isInteger(1))
      x = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, intConstant(stored, 0));
    scalars[argument] = x;
  }
  Value one = i64(1);
  auto loop = scf::ForOp::create(b, loc, entry->getArgument(2), entry->getArgument(3), one);
  bufferAnchor = loop;
  loop.getBody()->back().erase();
  LLVM::ReturnOp::create(b, loc, ValueRange());

  current = loop.getBody();
  b.setInsertionPointToEnd(current);
  Value linear = loop.getInductionVar();
  for (unsigned axis = 0; axis < 3; ++axis) {
    Value extent = arith::ExtUIOp::create(b, loc, b.getI64Type(), gridSize[axis]);
    Value id = axis == 2 ? linear : Value(arith::RemUIOp::create(b, loc, linear, extent));
    programId[axis] = arith::TruncIOp::create(b, loc, i32, id);
    if (axis < 2)
      linear = arith::DivUIOp::create(b, loc, linear, extent);
  }
  pushScope();
  emitBlock(kernel.getBody().front());
  popScope();
  b.setInsertionPointToEnd(current);
  scf::YieldOp::create(b, loc);
  return failure(failed);
}

LLVM::LLVMFuncOp TileEmitter::runtimeFunction(StringRef name, ArrayRef<Type> args) {
  if (auto known = output.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(output.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), args);
  return LLVM::LLVMFuncOp::create(b, loc, name, type);
}

Value TileEmitter::stringConstant(StringRef text) {
  std::string name = ("despina.text." + Twine(numStrings++)).str();
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(output.getBody());
    LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           b.getStringAttr(bytes));
  }
  return LLVM::AddressOfOp::create(b, loc, scratch.getType(), name);
}

//===----------------------------------------------------------------------===//
// Dots
//===----------------------------------------------------------------------===//

void TileEmitter::emitDotOp(tt::DotOp op) {
  auto aType = cast<RankedTensorType>(op.getA().getType()),
       bType = cast<RankedTensorType>(op.getB().getType());
  auto cType = cast<RankedTensorType>(op.getC().getType());
  Type cElement = cType.getElementType();
  if (cElement.isF16() || cElement.isBF16())
    cElement = b.getF32Type();
  if (!dotSupported(aType.getElementType(), bType.getElementType(), cElement)) {
    std::string text;
    llvm::raw_string_ostream(text) << "of " << aType.getElementType() << " and " << bType.getElementType()
                                   << " with accumulator " << cType.getElementType()
                                   << " is not supported on the CPU target yet";
    return fail(op, text);
  }
  materialise(op.getA());
  materialise(op.getB());
  flush();
  Buffer *x = buffers.lookup(op.getA()), *y = buffers.lookup(op.getB());
  Buffer *target = ownedCopy(op.getC(), op, cElement, {x, y});
  if (failed)
    return;
  unsigned rank = cType.getRank();
  int64_t m = cType.getDimSize(rank - 2), n = cType.getDimSize(rank - 1), k = aType.getDimSize(rank - 1);
  int64_t batches = rank == 3 ? cType.getDimSize(0) : 1;
  int64_t bytes = dotScratchBytes(aType.getElementType(), cElement, m, n, k, options);
  Buffer *packed = bytes ? newBuffer(b.getI8Type(), bytes) : nullptr;

  loc = op.getLoc();
  b.setInsertionPointToEnd(current);
  startLevels(current);
  Value batch = i64(0);
  if (batches > 1) {
    scf::ForOp loop = openLoop(0, batches, 1, {});
    batch = loop.getInductionVar();
    at(level());
  }
  auto matrix = [&](Buffer *buffer, int64_t rows, int64_t cols) {
    Value pointer = buffer->pointer;
    if (batches > 1) {
      Value offset = arith::MulIOp::create(b, loc, batch, i64(rows * cols));
      pointer = elementPointer(pointer, buffer->storage, offset);
    }
    return MatrixRef{pointer, buffer->storage, rows, cols, {}};
  };
  MatrixRef a = matrix(x, m, k), bm = matrix(y, k, n), c = matrix(target, m, n);
  emitDot(b, loc, a, bm, c, packed ? packed->pointer : scratch, options);
  if (batches > 1)
    closeLoop({});
  b.setInsertionPointToEnd(current);
  if (packed)
    release(packed);
  bind(op.getResult(), target);
  release(target);
  emitted.insert(op);
  freeDeadBuffers();
}

//===----------------------------------------------------------------------===//
// Element by element: atomics, assertions
//===----------------------------------------------------------------------===//

void TileEmitter::forEachElement(Shape shape, llvm::function_ref<void()> body) {
  startLevels(current);
  planLoops(shape, std::nullopt);
  lanes = 1;
  unsigned opened = 0;
  for (unsigned dim : nest.order) {
    scf::ForOp loop = openLoop(0, nest.shape[dim], 1, {});
    setIndex(dim, loop.getInductionVar());
    ++opened;
  }
  body();
  while (opened--)
    closeLoop({});
  b.setInsertionPointToEnd(current);
}

void TileEmitter::materialiseLoads(ValueRange operands) {
  for (Value operand : operands) {
    Reached reached;
    reach(operand, true, reached);
    bool loads = llvm::any_of(reached.values, [&](auto &entry) {
      return isTile(entry.first) && !buffers.contains(entry.first) &&
             entry.first.template getDefiningOp<tt::LoadOp>();
    });
    if (isTile(operand) && (loads || isHeavy(operand)))
      materialise(operand);
    else if (!isTile(operand))
      scalar(operand);
  }
  flush();
}

void TileEmitter::emitAtomics(Operation *op) {
  auto rmw = dyn_cast<tt::AtomicRMWOp>(op);
  Value pointer = op->getOperand(0), mask = rmw ? rmw.getMask() : Value();
  SmallVector<Value> operands(rmw ? ValueRange(rmw.getVal()) : op->getOperands().slice(1, 2));
  materialiseLoads(op->getOperands());
  prepareWrites(op);
  auto type = dyn_cast<RankedTensorType>(pointer.getType());
  Value result = op->getResult(0);
  Type element = scalarType(getElementTypeOrSelf(result.getType()));
  Buffer *target = nullptr;
  if (type && !result.use_empty())
    target = newBuffer(storageType(getElementTypeOrSelf(result.getType())), type.getNumElements());
  loc = op->getLoc();
  forEachElement(type ? type.getShape() : Shape(), [&] {
    Value place = evaluate(pointer, nest.index).value;
    SmallVector<Value> values;
    for (Value operand : operands)
      values.push_back(evaluate(operand, nest.index).value);
    Value condition = mask ? evaluate(mask, nest.index).value : Value();
    loc = op->getLoc();
    at(level());
    Value old;
    if (condition) {
      auto branch = scf::IfOp::create(b, loc, TypeRange{element}, condition, true, true);
      b.setInsertionPointToEnd(branch.elseBlock());
      scf::YieldOp::create(b, loc, zeroOf(element));
      b.setInsertionPointToEnd(branch.thenBlock());
      scf::YieldOp::create(b, loc, emitAtomic(op, place, values));
      old = branch.getResult(0);
    } else {
      old = emitAtomic(op, place, values);
    }
    if (target)
      storeBuffer(getElementTypeOrSelf(result.getType()), target, nest.index, nest.shape,
                  uniform(old, level()));
    else if (!type)
      scalars[result] = old;
  });
  if (target) {
    bind(result, target);
    release(target);
  }
  emitted.insert(op);
  freeDeadBuffers();
}

Value TileEmitter::zeroOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::ZeroOp::create(b, loc, type);
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
}

void TileEmitter::emitAssert(tt::AssertOp op) {
  Value condition = op.getCondition();
  materialiseLoads(condition);
  emitted.insert(op);
  auto type = dyn_cast<RankedTensorType>(condition.getType());
  loc = op.getLoc();
  Type i32 = b.getI32Type();
  LLVM::LLVMFuncOp callee = runtimeFunction("despina_rt_assert", {i32, i32, i32, scratch.getType()});
  forEachElement(type ? type.getShape() : Shape(), [&] {
    Value holds = evaluate(condition, nest.index).value;
    loc = op.getLoc();
    at(level());
    Value fails = arith::XOrIOp::create(b, loc, holds, intConstant(b.getI1Type(), 1));
    auto branch = scf::IfOp::create(b, loc, fails, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    Value text = stringConstant(op.getMessage());
    LLVM::CallOp::create(b, loc, callee, ValueRange{programId[0], programId[1], programId[2], text});
  });
  freeDeadBuffers();
}

void TileEmitter::emitPrint(tt::PrintOp op) {
  for (Value operand : op.getArgs())
    isTile(operand) ? materialise(operand) : void(scalar(operand));
  flush();
  loc = op.getLoc();
  b.setInsertionPointToEnd(current);
  Type i32 = b.getI32Type(), pointer = scratch.getType();
  LLVM::LLVMFuncOp callee = runtimeFunction(
      "despina_rt_print", {i32, i32, i32, pointer, i32, i32, i32, i32, i32, i32, pointer, pointer});
  auto number = [&](int64_t value) { return intConstant(i32, value); };
  Value prefix = stringConstant(op.getPrefix());
  auto call = [&](int64_t operand, PrintKind kind, int64_t bits, int64_t rank, Value shape, Value data) {
    LLVM::CallOp::create(b, loc, callee,
                         ValueRange{programId[0], programId[1], programId[2], prefix, number(op.getHex()),
                                    number(operand), number(op.getArgs().size()), number(int64_t(kind)),
                                    number(bits), number(rank), shape, data});
  };
  if (op.getArgs().empty())
    call(0, PrintKind::Signed, 32, 0, scratch, scratch);
  for (auto [i, operand] : llvm::enumerate(op.getArgs())) {
    Type element = getElementTypeOrSelf(operand.getType()), storage = storageType(element);
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    Shape shape = type ? type.getShape() : Shape();
    Buffer *extents = newBuffer(b.getI64Type(), shape.size() + 1);
    for (auto [d, extent] : llvm::enumerate(shape))
      LLVM::StoreOp::create(b, loc, i64(extent), elementPointer(extents->pointer, b.getI64Type(), i64(d)));
    Buffer *data = type ? buffers.lookup(operand) : newBuffer(storage, 1);
    if (!type)
      LLVM::StoreOp::create(b, loc, toStorage(scalar(operand), element, storage, 1), data->pointer);
    bool isSigned = i < op.getIsSigned().size() && op.getIsSigned()[i];
    PrintKind kind = isSigned ? PrintKind::Signed : PrintKind::Unsigned;
    if (isa<tt::PointerType>(element))
      kind = PrintKind::Pointer;
    else if (isa<FloatType>(element))
      kind = element.isBF16() ? PrintKind::BFloat : PrintKind::Float;
    call(i, kind, storage.getIntOrFloatBitWidth(), shape.size(), extents->pointer, data->pointer);
    release(extents);
    if (!type)
      release(data);
  }
  emitted.insert(op);
  freeDeadBuffers();
}

} // namespace despina::cpu
