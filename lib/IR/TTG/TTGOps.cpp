//===- TTGOps.cpp - Operations of the layout dialect ----------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/TTG.h"

#include "despina/Analysis/LayoutShapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace despina;
using namespace despina::ttg;

#define GET_OP_CLASSES
#include "despina/IR/TTG/TTGOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Between layouts
//===----------------------------------------------------------------------===//

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  return getSrc().getType() == getResult().getType() ? getSrc() : Value();
}

namespace {

/// A conversion of a conversion, of a splat, or of a constant.
struct SimplifyConvert : OpRewritePattern<ConvertLayoutOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertLayoutOp op, PatternRewriter &rewriter) const final {
    Operation *def = op.getSrc().getDefiningOp();
    auto type = cast<RankedTensorType>(op.getType());
    if (auto convert = dyn_cast_or_null<ConvertLayoutOp>(def)) {
      rewriter.replaceOpWithNewOp<ConvertLayoutOp>(op, type, convert.getSrc());
      return success();
    }
    if (auto splat = dyn_cast_or_null<tt::SplatOp>(def)) {
      rewriter.replaceOpWithNewOp<tt::SplatOp>(op, type, splat.getSrc());
      return success();
    }
    auto constant = dyn_cast_or_null<arith::ConstantOp>(def);
    auto value = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
    if (!value)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, DenseElementsAttr::get(cast<ShapedType>(type), value.getSplatValue<Attribute>()));
    return success();
  }
};

} // namespace

void ConvertLayoutOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyConvert>(context);
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// A tile and a buffer that are copied to each other.
static LogicalResult verifyCopy(Operation *op, Type tile, MemDescType buffer) {
  auto tensor = cast<RankedTensorType>(tile);
  if (tensor.getShape() != buffer.getShape() || tensor.getElementType() != buffer.getElementType())
    return op->emitOpError() << "has tile " << tensor << " and buffer " << buffer
                             << ", which differ in shape or element type";
  return success();
}

void LocalAllocOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(), cast<OpResult>(getResult()), SharedMemory::get());
  if (getSrc())
    effects.emplace_back(MemoryEffects::Write::get(), cast<OpResult>(getResult()), SharedMemory::get());
}

LogicalResult LocalAllocOp::verify() {
  MemDescType type = getType();
  if (type.getShape() != type.getAllocShape())
    return emitOpError("makes a whole buffer, not a window of one");
  if (!getSrc())
    return type.getMutableMemory() ? success() : emitOpError("makes a buffer that nobody can write");
  return verifyCopy(*this, getSrc().getType(), type);
}

LogicalResult LocalLoadOp::verify() { return verifyCopy(*this, getType(), getSrc().getType()); }

LogicalResult LocalStoreOp::verify() {
  if (!getDst().getType().getMutableMemory())
    return emitOpError("writes a buffer that is not mutable");
  return verifyCopy(*this, getSrc().getType(), getDst().getType());
}

LogicalResult AsyncCopyGlobalToLocalOp::verify() {
  auto pointers = cast<RankedTensorType>(getSrc().getType());
  MemDescType buffer = getDst().getType();
  Type element = cast<tt::PointerType>(pointers.getElementType()).getPointeeType();
  if (!buffer.getMutableMemory())
    return emitOpError("writes a buffer that is not mutable");
  if (getMask() && getMask().getType() != pointers.clone(IntegerType::get(getContext(), 1)))
    return emitOpError() << "has mask " << getMask().getType() << " for pointers " << pointers;
  if (getOther() && getOther().getType() != pointers.clone(element))
    return emitOpError() << "has other " << getOther().getType() << " for pointers " << pointers;
  return verifyCopy(*this, pointers.clone(element), buffer);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static LogicalResult verifyView(Operation *op, MemDescType source, MemDescType result) {
  if (source.getElementType() != result.getElementType())
    return op->emitOpError("changes the element type");
  if (source.getMutableMemory() != result.getMutableMemory())
    return op->emitOpError("changes whether the buffer can be written");
  return success();
}

LogicalResult MemDescIndexOp::verify() {
  MemDescType source = getSrc().getType(), result = getType();
  if (source.getRank() <= source.getLayout().getLayout().outs().size())
    return emitOpError() << "needs a ring of slices, not " << source;
  if (result.getShape() != source.getShape().drop_front() ||
      result.getAllocShape() != source.getAllocShape().drop_front() ||
      result.getLayout() != source.getLayout())
    return emitOpError() << "gives a slice of " << source << ", not " << result;
  return verifyView(*this, source, result);
}

LogicalResult MemDescSubsliceOp::verify() {
  MemDescType source = getSrc().getType(), result = getType();
  if (getOffsets().size() != source.getRank() || result.getRank() != source.getRank() ||
      result.getLayout() != source.getLayout() || result.getAllocShape() != source.getAllocShape())
    return emitOpError() << "gives a window of " << source << ", not " << result;
  for (auto [offset, window, extent] : llvm::zip(getOffsets(), result.getShape(), source.getShape()))
    if (offset < 0 || offset % window != 0 || offset + window > extent)
      return emitOpError() << "offset " << offset << " of a window of " << window
                           << " is no multiple of it, or beyond the extent " << extent;
  return verifyView(*this, source, result);
}

/// The type of a transposed buffer; null if there is none.
static MemDescType transposedType(MemDescType source, ArrayRef<int32_t> order) {
  if (order.size() != source.getRank() || source.getRank() != source.getLayout().getLayout().outs().size())
    return {};
  SmallVector<int64_t> shape, allocShape;
  SmallVector<LayoutDim> names;
  LinearLayout layout = source.getLayout().getLayout();
  for (auto [axis, from] : llvm::enumerate(order)) {
    if (from < 0 || from >= static_cast<int32_t>(order.size()) || llvm::count(order, from) != 1)
      return {};
    shape.push_back(source.getShape()[from]);
    allocShape.push_back(source.getAllocShape()[from]);
  }
  std::optional<LinearLayout> transposed =
      transposeLayout(layout, SmallVector<unsigned>(order.begin(), order.end()));
  if (!transposed)
    return {};
  return MemDescType::get(source.getContext(), shape, source.getElementType(),
                          LayoutAttr::get(source.getContext(), *transposed), source.getMutableMemory(),
                          allocShape);
}

void MemDescTransOp::build(OpBuilder &builder, OperationState &state, Value src, ArrayRef<int32_t> order) {
  build(builder, state, transposedType(cast<MemDescType>(src.getType()), order), src, order);
}

LogicalResult MemDescTransOp::verify() {
  MemDescType expected = transposedType(getSrc().getType(), getOrder());
  if (!expected)
    return emitOpError("has an order that is no permutation of the axes of its layout");
  return expected == getType() ? success() : emitOpError() << "gives " << expected << ", not " << getType();
}

LogicalResult MemDescReshapeOp::verify() {
  MemDescType source = getSrc().getType(), result = getType();
  if (source.getShape() != source.getAllocShape() || result.getShape() != result.getAllocShape() ||
      source.getRank() != source.getLayout().getLayout().outs().size())
    return emitOpError("reshapes a whole buffer, no window or ring");
  std::optional<LinearLayout> expected = reshapeLayout(source.getLayout().getLayout(), result.getShape());
  if (!expected || !expected->sameMap(result.getLayout().getLayout()))
    return emitOpError() << "moves elements between " << source << " and " << result;
  return verifyView(*this, source, result);
}

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

ParseResult WarpSpecializeOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> captures;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(captures, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseKeyword("default") ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  SmallVector<int32_t> warps;
  while (succeeded(parser.parseOptionalKeyword("partition"))) {
    int32_t count = 0;
    SmallVector<OpAsmParser::Argument> arguments;
    if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
        parser.parseKeyword("num_warps") || parser.parseLParen() || parser.parseInteger(count) ||
        parser.parseRParen() || parser.parseRegion(*result.addRegion(), arguments))
      return failure();
    warps.push_back(count);
  }
  FunctionType type;
  if (parser.parseColonType(type) || parser.resolveOperands(captures, type.getInputs(), loc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  result.addAttribute("partitionNumWarps", parser.getBuilder().getDenseI32ArrayAttr(warps));
  return success();
}

void WarpSpecializeOp::print(OpAsmPrinter &printer) {
  printer << "(" << getCaptures() << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"partitionNumWarps"});
  printer << " default ";
  printer.printRegion(getDefaultRegion());
  for (auto [region, warps] : llvm::zip(getPartitions(), getPartitionNumWarps())) {
    printer.printNewline();
    printer << "partition(";
    llvm::interleaveComma(region.getArguments(), printer,
                          [&](BlockArgument argument) { printer.printRegionArgument(argument); });
    printer << ") num_warps(" << warps << ") ";
    printer.printRegion(region, /*printEntryBlockArgs=*/false);
  }
  printer << " : ";
  printer.printFunctionalType(*this);
}

LogicalResult WarpSpecializeOp::verify() {
  if (getPartitions().size() != getPartitionNumWarps().size())
    return emitOpError() << "has " << getPartitions().size() << " partitions and "
                         << getPartitionNumWarps().size() << " numbers of warps";
  if (getRequestedRegisters() && getRequestedRegisters()->size() != getPartitions().size())
    return emitOpError("asks for registers of another number of partitions");
  for (int32_t warps : getPartitionNumWarps())
    if (warps <= 0 || (warps & (warps - 1)) != 0)
      return emitOpError() << "has a partition of " << warps << " warps, no power of two";
  auto yield = dyn_cast<WarpYieldOp>(getDefaultRegion().front().getTerminator());
  if (!yield || yield.getValues().getTypes() != getResultTypes())
    return emitOpError("has a first region that does not end by giving the results");
  for (Region &partition : getPartitions()) {
    if (partition.getArgumentTypes() != getCaptures().getTypes())
      return emitOpError("has a partition whose arguments are not the captures");
    if (!isa<WarpReturnOp>(partition.front().getTerminator()))
      return emitOpError("has a partition that does not end with ttg.warp_return");
  }
  return success();
}
