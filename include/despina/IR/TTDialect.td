//===- TTDialect.td - The tile dialect ---------------------*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_TTDIALECT
#define DESPINA_IR_TTDIALECT

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def TT_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::despina::tt";
  let summary = "Operations on tiles without layout";
  let description = [{
    One program works on tiles: `tensor<...>` values whose extents are powers of two, and pointers
    `!tt.ptr<T>`. Arithmetic is `arith` and `math`, control flow is `scf`. Names and assembly agree with public
    TTIR where the operation exists there, so that such files parse.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::ub::UBDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Adds the types; called once, by `initialize`.
    void registerTypes();
  }];
}

#endif // DESPINA_IR_TTDIALECT
