//===- EmitElementwiseConstant.cpp - Constants ----------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// A tile of one value everywhere is one constant. Other tiles are tables in global memory, in row-major
// order, from which each thread reads its elements.
//
//===----------------------------------------------------------------------===//
#include "EmitElementwise.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

constexpr unsigned globalSpace = 1;

APInt bitsOf(Attribute element) {
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValue().bitcastToAPInt();
  return cast<IntegerAttr>(element).getValue();
}

Value emitElement(ThreadEmitter &e, Type type, Attribute element) {
  Type held = e.llvmType(type);
  if (isa<FloatType>(held))
    return e.make<LLVM::ConstantOp>(held, cast<FloatAttr>(element));
  APInt bits = bitsOf(element).sextOrTrunc(held.getIntOrFloatBitWidth());
  return e.make<LLVM::ConstantOp>(held, e.b.getIntegerAttr(held, bits));
}

/// A global array with the bits of the elements.
LLVM::GlobalOp makeTable(ThreadEmitter &e, DenseElementsAttr elements, Type cell) {
  auto module = e.b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  SmallVector<APInt> bits;
  for (Attribute element : elements.getValues<Attribute>())
    bits.push_back(bitsOf(element).zextOrTrunc(cell.getIntOrFloatBitWidth()));
  auto value = DenseElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(bits.size())}, cell), bits);
  std::string name;
  for (unsigned number = 0; name.empty() || module.lookupSymbol(name); ++number)
    name = "despina_table_" + std::to_string(number);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(module.getBody());
  return LLVM::GlobalOp::create(e.b, e.loc, LLVM::LLVMArrayType::get(cell, bits.size()), /*isConstant=*/true,
                                LLVM::Linkage::Internal, name, value, /*alignment=*/16, globalSpace);
}

/// What the thread holds of a tile of different values. i1 takes a byte in the table.
Registers readTable(ThreadEmitter &e, RankedTensorType tile, DenseElementsAttr elements) {
  Type held = e.llvmType(tile);
  unsigned width = held.getIntOrFloatBitWidth();
  Type cell = e.b.getIntegerType(std::max(8U, width));
  const LinearLayout &layout = ttg::layoutOf(tile);
  ThreadTerms terms;
  terms.lane.assign(layout.columnsOf(LayoutDim::Lane).begin(), layout.columnsOf(LayoutDim::Lane).end());
  terms.warp.assign(layout.columnsOf(LayoutDim::Warp).begin(), layout.columnsOf(LayoutDim::Warp).end());
  if (layout.hasIn(LayoutDim::Block))
    terms.block.assign(layout.columnsOf(LayoutDim::Block).begin(), layout.columnsOf(LayoutDim::Block).end());
  Value place = e.place(terms);
  Value table = e.make<LLVM::AddressOfOp>(LLVM::LLVMPointerType::get(e.b.getContext(), globalSpace),
                                          makeTable(e, elements, cell).getSymName());
  Registers registers;
  for (auto [index, source] : llvm::enumerate(copySources(tile))) {
    if (source != index) {
      registers.push_back(registers[source]);
      continue;
    }
    Value element = e.bitXor(
        place, e.i32(static_cast<int64_t>(f2::multiply(layout.columnsOf(LayoutDim::Register), index))));
    Value bits = e.make<LLVM::LoadOp>(cell, e.elementPointer(table, cell, element));
    registers.push_back(width < 8 ? e.make<LLVM::TruncOp>(held, bits).getResult() : e.bitcast(bits, held));
  }
  return registers;
}

LogicalResult emitConstant(ThreadEmitter &e, arith::ConstantOp op) {
  if (failed(checkElementTypes(op)))
    return failure();
  auto tile = dyn_cast<RankedTensorType>(op.getType());
  if (!tile) {
    if (!isa<IntegerAttr, FloatAttr>(op.getValue()))
      return op.emitOpError("is no number");
    e.set(op, {emitElement(e, op.getType(), op.getValue())});
    return success();
  }
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return op.emitOpError("has values that are not in the module");
  if (elements.isSplat())
    e.set(op, Registers(ThreadEmitter::numRegisters(tile),
                        emitElement(e, tile.getElementType(), elements.getSplatValue<Attribute>())));
  else
    e.set(op, readTable(e, tile, elements));
  return success();
}

} // namespace

void addConstantEmitters(EmitterTable &table) { table.add<arith::ConstantOp, emitConstant>(); }

} // namespace despina::nvptx
