//===- TestPasses.cpp - Passes that show what analyses find ---------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "TestPasses.h"

#include "despina/Analysis/AxisInfo.h"
#include "despina/Analysis/LayoutInference.h"
#include "despina/IR/TT.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace despina;

namespace {

class PrintAxisInfo : public PassWrapper<PrintAxisInfo, OperationPass<tt::FuncOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintAxisInfo)

  StringRef getArgument() const override { return "test-print-axis-info"; }
  StringRef getDescription() const override { return "Report runs, divisors and repeats of every result"; }

  void runOnOperation() override {
    AxisInfoAnalysis analysis(getOperation());
    auto show = [&](Location loc, Value value) {
      std::string text;
      llvm::raw_string_ostream os(text);
      analysis.lookup(value).print(os);
      emitRemark(loc) << text;
    };
    getOperation().walk([&](Operation *op) {
      for (Value result : op->getResults())
        show(op->getLoc(), result);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        show(loop.getInductionVar().getLoc(), loop.getInductionVar());
    });
    markAllAnalysesPreserved();
  }
};

class VerifyLayouts : public PassWrapper<VerifyLayouts, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyLayouts)

  StringRef getArgument() const override { return "test-verify-layouts"; }
  StringRef getDescription() const override {
    return "Check that every operation keeps its tiles' layouts tied";
  }

  void runOnOperation() override {
    if (failed(verifyLayouts(getOperation())))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

void despina::registerTestPasses() {
  PassRegistration<PrintAxisInfo>();
  PassRegistration<VerifyLayouts>();
}
