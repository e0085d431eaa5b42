//===- EmitBuffer.cpp - Buffers in shared memory --------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "EmitBuffer.h"

#include "ThreadData.h"

#include "mlir/IR/Matchers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace despina::nvptx {

std::optional<BufferAccess> planAccess(Operation *op, ttg::MemDescType buffer, RankedTensorType tile,
                                       unsigned maxVectorBits) {
  std::optional<BufferAccess> plan = planBufferAccess(ttg::layoutOf(buffer), ttg::layoutOf(tile),
                                                      ttg::memoryBits(tile.getElementType()), maxVectorBits);
  if (!plan)
    op->emitOpError() << "moves " << tile << " to or from " << buffer
                      << ", which do not lie in one block of the cluster or have other axes";
  return plan;
}

std::optional<MatrixLoad> planMatrixAccess(ttg::MemDescType buffer, RankedTensorType tile) {
  const LinearLayout &memory = ttg::layoutOf(buffer), &layout = ttg::layoutOf(tile);
  unsigned bits = ttg::memoryBits(tile.getElementType());
  std::optional<LinearLayout> wide = tileInBuffer(memory, layout);
  std::optional<MatrixLoad> plan = wide ? matchMatrixLoad(memory, *wide, bits) : std::nullopt;
  // Rows of 16 bytes stay whole wherever a window starts.
  if (plan && (windowOffsetBits(memory, layout) & f2::lowMask(llvm::Log2_32(128 / bits))))
    return std::nullopt;
  return plan;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void storeRegisters(ThreadEmitter &e, const BufferAccess &plan, ArrayRef<Value> registers, Value base,
                    Value window) {
  unsigned width = toBits(e, registers.front()).getType().getIntOrFloatBitWidth();
  SharedAddresses addresses(e, base, width, plan.offset, window);
  auto store = [&] {
    for (const SharedAccess &access : plan.accesses) {
      Registers bits;
      for (unsigned index : access.registers)
        bits.push_back(toBits(e, registers[index]));
      storeShared(e, addresses.at(access.offset), bits);
    }
  };
  if (Value acts = e.isCanonical(plan.copyLanes, plan.copyWarps))
    e.ifThen(acts, store);
  else
    store();
}

Registers loadRegisters(ThreadEmitter &e, const BufferAccess &plan, Type type, Value base, Value window) {
  unsigned width = ttg::memoryBits(type);
  if (isa<LLVM::LLVMPointerType>(type))
    width = 64;
  SharedAddresses addresses(e, base, width, plan.offset, window);
  Registers loaded(plan.finalIndex.size()), result;
  for (const SharedAccess &access : plan.accesses) {
    Registers bits = loadShared(e, addresses.at(access.offset), width, access.registers.size());
    for (auto [index, value] : llvm::zip(access.registers, bits))
      loaded[index] = fromBits(e, value, type);
  }
  for (unsigned index : plan.finalIndex)
    result.push_back(loaded[index]);
  return result;
}

namespace {

NVVM::MMALayout matrixOrder(const MatrixLoad &plan) {
  return plan.isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row;
}

NVVM::LdStMatrixShapeAttr matrixShape(ThreadEmitter &e) {
  return NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), 8, 8);
}

Registers loadMatrices(ThreadEmitter &e, const MatrixLoad &plan, Type type, unsigned numRegisters, Value base,
                       Value window) {
  unsigned width = 32 / plan.perWord;
  SharedAddresses addresses(e, base, width, plan.address, window);
  Type word = e.b.getI32Type();
  Type words = plan.matrices == 1 ? word
                                  : LLVM::LLVMStructType::getLiteral(e.b.getContext(),
                                                                     SmallVector<Type>(plan.matrices, word));
  Registers result(numRegisters);
  for (auto [first, offset] : llvm::zip(plan.firstWord, plan.instruction)) {
    Value loaded = e.make<NVVM::LdMatrixOp>(words, addresses.at(offset), plan.matrices, matrixOrder(plan),
                                            matrixShape(e), NVVM::LdStMatrixEltType::B16);
    for (unsigned i = 0; i < plan.matrices; ++i) {
      Value one = plan.matrices == 1 ? loaded : e.make<LLVM::ExtractValueOp>(loaded, i).getResult();
      Registers values = unpackWords(e, one, width, plan.perWord);
      for (auto [j, value] : llvm::enumerate(values))
        result[(first + i) * plan.perWord + j] = fromBits(e, value, type);
    }
  }
  return result;
}

void storeMatrices(ThreadEmitter &e, const MatrixLoad &plan, ArrayRef<Value> registers, Value base,
                   Value window) {
  unsigned width = 32 / plan.perWord;
  SharedAddresses addresses(e, base, width, plan.address, window);
  for (auto [first, offset] : llvm::zip(plan.firstWord, plan.instruction)) {
    Registers words;
    for (unsigned i = 0; i < plan.matrices; ++i) {
      Registers bits;
      for (unsigned j = 0; j < plan.perWord; ++j)
        bits.push_back(toBits(e, registers[(first + i) * plan.perWord + j]));
      words.push_back(packWords(e, bits).front());
    }
    e.make<NVVM::StMatrixOp>(addresses.at(offset), words, matrixOrder(plan), matrixShape(e),
                             NVVM::LdStMatrixEltType::B16);
  }
}

} // namespace

std::optional<Registers> loadBuffer(ThreadEmitter &e, Operation *op, TypedValue<ttg::MemDescType> buffer,
                                    RankedTensorType tile) {
  Value base = e.get(buffer)[0], window = e.get(buffer)[1];
  Type type = e.llvmType(tile);
  if (e.capability() >= 75)
    if (std::optional<MatrixLoad> plan = planMatrixAccess(buffer.getType(), tile))
      return loadMatrices(e, *plan, type, ThreadEmitter::numRegisters(tile), base, window);
  std::optional<BufferAccess> plan = planAccess(op, buffer.getType(), tile);
  return plan ? std::optional(loadRegisters(e, *plan, type, base, window)) : std::nullopt;
}

LogicalResult storeBuffer(ThreadEmitter &e, Operation *op, ArrayRef<Value> registers, RankedTensorType tile,
                          TypedValue<ttg::MemDescType> buffer) {
  Value base = e.get(buffer)[0], window = e.get(buffer)[1];
  if (e.capability() >= 90)
    if (std::optional<MatrixLoad> plan = planMatrixAccess(buffer.getType(), tile)) {
      storeMatrices(e, *plan, registers, base, window);
      return success();
    }
  std::optional<BufferAccess> plan = planAccess(op, buffer.getType(), tile);
  if (!plan)
    return failure();
  storeRegisters(e, *plan, registers, base, window);
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {

LogicalResult emitLocalAlloc(ThreadEmitter &e, ttg::LocalAllocOp op) {
  std::optional<int64_t> offset = ThreadEmitter::sharedOffset(op);
  if (!offset)
    return op.emitOpError("has no place in shared memory");
  e.set(op.getResult(), {e.sharedPointer(*offset), e.i32(0)});
  if (!op.getSrc())
    return success();
  return storeBuffer(e, op, e.get(op.getSrc()), cast<RankedTensorType>(op.getSrc().getType()),
                     op.getResult());
}

LogicalResult emitLocalDealloc(ThreadEmitter &, ttg::LocalDeallocOp) { return success(); }

LogicalResult emitLocalLoad(ThreadEmitter &e, ttg::LocalLoadOp op) {
  std::optional<Registers> registers = loadBuffer(e, op, op.getSrc(), cast<RankedTensorType>(op.getType()));
  if (!registers)
    return failure();
  e.set(op.getResult(), std::move(*registers));
  return success();
}

LogicalResult emitLocalStore(ThreadEmitter &e, ttg::LocalStoreOp op) {
  return storeBuffer(e, op, e.get(op.getSrc()), cast<RankedTensorType>(op.getSrc().getType()), op.getDst());
}

/// Elements of what one index of the first axis of a ring selects.
int64_t ringStride(ttg::MemDescType type) {
  size_t ringAxes = type.getRank() - type.getLayout().getLayout().outs().size();
  int64_t elements = type.getSliceElements();
  for (int64_t extent : type.getAllocShape().take_front(ringAxes).drop_front())
    elements *= extent;
  return elements;
}

Type memoryType(ThreadEmitter &e, ttg::MemDescType type) {
  return e.b.getIntegerType(ttg::memoryBits(type.getElementType()));
}

LogicalResult emitIndex(ThreadEmitter &e, ttg::MemDescIndexOp op) {
  ttg::MemDescType type = op.getSrc().getType();
  Value base = e.get(op.getSrc())[0], window = e.get(op.getSrc())[1];
  Value index = e.mul(e.scalar(op.getIndex()), e.i32(ringStride(type)));
  e.set(op.getResult(), {e.elementPointer(base, memoryType(e, type), index), window});
  return success();
}

LogicalResult emitSubslice(ThreadEmitter &e, ttg::MemDescSubsliceOp op) {
  ttg::MemDescType type = op.getSrc().getType();
  const LinearLayout &layout = ttg::layoutOf(type);
  size_t ringAxes = type.getRank() - layout.outs().size();
  SmallVector<int64_t> offsets(op.getOffsets().begin(), op.getOffsets().end());
  // Ring axes move the base, row-major in slices; the others are inside of the layout.
  int64_t slice = 0;
  for (size_t axis = 0; axis < ringAxes; ++axis)
    slice = slice * type.getAllocShape()[axis] + offsets[axis];
  int64_t start = static_cast<int64_t>(bufferOffset(layout, ArrayRef(offsets).drop_front(ringAxes)));
  Value base = e.get(op.getSrc())[0], window = e.get(op.getSrc())[1];
  base = e.elementPointer(base, memoryType(e, type), slice * type.getSliceElements());
  // A window that is known stays known: offsets in it are constants then.
  APInt known;
  if (matchPattern(window, m_ConstantInt(&known)))
    window = e.i32(known.getSExtValue() ^ start);
  else if (start)
    window = e.bitXor(window, e.i32(start));
  e.set(op.getResult(), {base, window});
  return success();
}

/// Another order or cut of the axes: the layout of the type says all.
template <typename Op> LogicalResult emitView(ThreadEmitter &e, Op op) {
  e.set(op.getResult(), Registers(e.get(op.getSrc())));
  return success();
}

} // namespace

void addBufferEmitters(EmitterTable &table) {
  table.add<ttg::LocalAllocOp, emitLocalAlloc>();
  table.add<ttg::LocalDeallocOp, emitLocalDealloc>();
  table.add<ttg::LocalLoadOp, emitLocalLoad>();
  table.add<ttg::LocalStoreOp, emitLocalStore>();
  table.add<ttg::MemDescIndexOp, emitIndex>();
  table.add<ttg::MemDescSubsliceOp, emitSubslice>();
  table.add<ttg::MemDescTransOp, emitView<ttg::MemDescTransOp>>();
  table.add<ttg::MemDescReshapeOp, emitView<ttg::MemDescReshapeOp>>();
}

} // namespace despina::nvptx
