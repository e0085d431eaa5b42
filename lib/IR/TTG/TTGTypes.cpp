//===- TTGTypes.cpp - Types of the layout dialect -------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/TTG.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace despina;
using namespace despina::ttg;

#define GET_TYPEDEF_CLASSES
#include "despina/IR/TTG/TTGTypes.cpp.inc"

void TTGDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "despina/IR/TTG/TTGTypes.cpp.inc"
      >();
}

static int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

int64_t MemDescType::getSliceElements() const {
  return int64_t(1) << getLayout().getLayout().inBits(LayoutDim::Offset);
}

int64_t MemDescType::getNumSlices() const {
  return product(getAllocShape().drop_back(getLayout().getLayout().outs().size()));
}

int64_t MemDescType::getAllocBytes() const {
  return getNumSlices() * getSliceElements() * memoryBits(getElementType()) / 8;
}

LogicalResult MemDescType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                                  Type elementType, LayoutAttr attr, bool, ArrayRef<int64_t> allocShape) {
  if (!elementType.isSignlessInteger() && !isa<FloatType, tt::PointerType>(elementType))
    return emitError() << "a buffer has floats, signless integers or pointers, not " << elementType;
  const LinearLayout &layout = attr.getLayout();
  const LayoutDim places[] = {LayoutDim::Offset, LayoutDim::Block};
  if (layout.inNames() != ArrayRef(places))
    return emitError() << "the layout of a buffer has inputs offset and block, in this order";
  size_t rank = layout.outs().size();
  if (shape.size() != allocShape.size() || rank > shape.size() || rank == 0)
    return emitError() << "the buffer, its allocation and its layout have " << shape.size() << ", "
                       << allocShape.size() << " and " << rank << " axes";
  for (auto [extent, allocated] : llvm::zip(shape, allocShape))
    if (extent <= 0 || extent > allocated)
      return emitError() << "a window of extent " << extent << " in an allocation of extent " << allocated;
  ArrayRef<int64_t> last = allocShape.take_back(rank);
  for (unsigned axis = 0; axis < rank; ++axis)
    if (!layout.hasOut(tensorDim(axis)) ||
        static_cast<int64_t>(layout.outSize(tensorDim(axis))) != last[axis])
      return emitError() << "the layout does not give axis " << axis << " extent " << last[axis];
  return success();
}

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape) {
  llvm::interleave(shape, printer.getStream(), "x");
}

void MemDescType::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, getShape());
  printer << "x" << getElementType() << ", " << getLayout();
  if (getMutableMemory())
    printer << ", mutable";
  if (getAllocShape() != getShape()) {
    printer << ", ";
    printShape(printer, getAllocShape());
  }
  printer << ">";
}

Type MemDescType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, allocShape;
  Type elementType;
  LayoutAttr layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() || parser.parseAttribute(layout))
    return {};
  bool isMutable = false;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("mutable")))
      isMutable = true;
    else if (parser.parseDimensionList(allocShape, /*allowDynamic=*/false, /*withTrailingX=*/false))
      return {};
  }
  if (parser.parseGreater())
    return {};
  if (allocShape.empty())
    allocShape = shape;
  return parser.getChecked<MemDescType>(loc, parser.getContext(), shape, elementType, layout, isMutable,
                                        allocShape);
}
