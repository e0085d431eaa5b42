//===- TTGDialect.cpp - The dialect of tiles spread over threads ----------===//
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

#include "despina/IR/TTG/TTGDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "despina/IR/TTG/TTGAttrs.cpp.inc"

namespace {

/// Layouts are long: they get names at the top of the file.
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<LayoutAttr>(attr))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::FinalAlias;
  }
};

} // namespace

void TTGDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "despina/IR/TTG/TTGAttrs.cpp.inc"
      >();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "despina/IR/TTG/TTGOps.cpp.inc"
      >();
  addInterfaces<LayoutAliases>();
}

void LayoutAttr::print(AsmPrinter &printer) const { printer << "<\"" << getLayout().toString() << "\">"; }

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc) || parser.parseString(&text) ||
      parser.parseGreater())
    return {};
  std::optional<LinearLayout> layout = LinearLayout::parse(text);
  if (!layout) {
    parser.emitError(loc) << "expected a layout such as "
                             "\"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)\"";
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *layout);
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  const LinearLayout &layout = getLayout();
  const LayoutDim places[] = {LayoutDim::Register, LayoutDim::Lane, LayoutDim::Warp, LayoutDim::Block};
  if (layout.inNames() != ArrayRef(places))
    return emitError() << "the layout of a tile has inputs register, lane, warp, block, in this order";
  if (layout.outs().size() != shape.size())
    return emitError() << "the layout has " << layout.outs().size() << " axes, the tile " << shape.size();
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    if (layout.outs()[shape.size() - 1 - axis].dim != tensorDim(axis) ||
        static_cast<int64_t>(layout.outSize(tensorDim(axis))) != shape[axis])
      return emitError() << "the layout does not give axis " << axis << " extent " << shape[axis];
  return layout.isSurjective() ? success() : emitError() << "the layout does not cover the tile";
}

static unsigned moduleNumber(Operation *op, StringRef name, unsigned fallback) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto attr = module ? module->getAttrOfType<IntegerAttr>(name) : IntegerAttr();
  return attr ? static_cast<unsigned>(attr.getInt()) : fallback;
}

unsigned ttg::numWarps(Operation *op) { return moduleNumber(op, numWarpsName, 4); }
unsigned ttg::threadsPerWarp(Operation *op) { return moduleNumber(op, threadsPerWarpName, 32); }
unsigned ttg::numCTAs(Operation *op) { return moduleNumber(op, numCTAsName, 1); }

unsigned ttg::computeCapability(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto attr = module ? module->getAttrOfType<StringAttr>(targetName) : StringAttr();
  unsigned number = 0;
  if (attr && attr.getValue().starts_with("cuda:"))
    (void)attr.getValue().drop_front(5).getAsInteger(10, number);
  return number;
}

const LinearLayout &ttg::layoutOf(Type type) {
  if (auto buffer = dyn_cast<MemDescType>(type))
    return buffer.getLayout().getLayout();
  return cast<LayoutAttr>(cast<RankedTensorType>(type).getEncoding()).getLayout();
}

RankedTensorType ttg::withLayout(RankedTensorType tile, const LinearLayout &layout) {
  return tile.cloneWithEncoding(LayoutAttr::get(tile.getContext(), layout));
}

unsigned ttg::memoryBits(Type element) {
  return isa<tt::PointerType>(element) ? 64 : std::max(8u, element.getIntOrFloatBitWidth());
}
