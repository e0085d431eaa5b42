//===- Context.cpp - MLIR contexts for compilation ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/Context.h"

#include "despina/IR/TT.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace despina;

void despina::registerTileDialects(mlir::DialectRegistry &registry) {
  registry.insert<tt::TTDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                  mlir::ub::UBDialect>();
}

std::unique_ptr<mlir::MLIRContext> despina::createContext(
    std::function<void(mlir::Diagnostic &)> onDiagnostic) {
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<tt::TTDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                       mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  // Attaching the operation to each diagnostic costs a print and says less than the location does.
  context->printOpOnDiagnostic(false);
  if (onDiagnostic)
    context->getDiagEngine().registerHandler(
        [callback = std::move(onDiagnostic)](mlir::Diagnostic &diagnostic) {
          callback(diagnostic);
          return mlir::success();
        });
  return context;
}
