//===- TTGDialect.td - Tiles spread over threads -----------*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_TTGDIALECT
#define DESPINA_IR_TTGDIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/OpBase.td"

def TTG_Dialect : Dialect {
  let name = "ttg";
  let cppNamespace = "::despina::ttg";
  let summary = "Tiles spread over the threads of a block";
  let description = [{
    On targets that spread a tile over threads, every tile has a layout: `tensor<128xf32, #ttg.layout<...>>`. The
    operations of `tt`, `arith`, `math` and `scf` stay what they are; those here move tiles between layouts and
    shared memory and order the threads.

    A module has attributes `ttg.num-warps`, `ttg.threads-per-warp`, `ttg.num-ctas` (i32) and `ttg.target`
    ("cuda:90"), and after allocation `ttg.shared` (bytes of a block).
  }];
  let dependentDialects = ["::despina::tt::TTDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

def TTG_LayoutAttr : AttrDef<TTG_Dialect, "Layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "A linear layout: of a tile over threads, or of a buffer in shared memory";
  let description = [{
    `#ttg.layout<"{register: (0,1); lane: (0,2) (1,0); warp: ; block: } -> (dim0: 2, dim1: 4)">`, as
    LinearLayout.h has it. Tiles have inputs (register, lane, warp, block), in this order; buffers (offset, block).
  }];
  let parameters = (ins AttrParameter<"::despina::LinearLayout", "the map", "const ::despina::LinearLayout &">:$layout);
  let hasCustomAssemblyFormat = 1;
}

#endif // DESPINA_IR_TTGDIALECT
