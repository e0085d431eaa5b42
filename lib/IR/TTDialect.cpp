//===- TTDialect.cpp - The tile dialect -----------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/DotScaled.h"
#include "despina/IR/TT.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace despina::tt;

#include "despina/IR/TTDialect.cpp.inc"
#include "despina/IR/TTEnums.cpp.inc"

namespace {

/// Every function with a body may move into its caller. Whether `noinline` keeps it is for the pass to say.
class TTInlinerInterface : public DialectInlinerInterface {
public:
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *callable, bool) const override {
    auto func = dyn_cast<FuncOp>(callable);
    // A body of several blocks cannot move into a region of one block (scf).
    return func && !func.isExternal() && func.getBody().hasOneBlock();
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }

  void handleTerminator(Operation *op, Block *) const override {
    // Only bodies of one block are inlined, so no terminator becomes a branch.
    (void)op;
  }
  void handleTerminator(Operation *op, ValueRange values) const override {
    for (auto [replaced, operand] : llvm::zip_equal(values, op->getOperands()))
      replaced.replaceAllUsesWith(operand);
  }
};

} // namespace

void TTDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "despina/IR/TTOps.cpp.inc"
      >();
  addOperations<DotScaledOp>();
  addInterfaces<TTInlinerInterface>();
}

Operation *TTDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
