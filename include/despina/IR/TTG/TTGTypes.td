//===- TTGTypes.td - Types of the layout dialect -----------*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_TTGTYPES
#define DESPINA_IR_TTGTYPES

include "despina/IR/TTG/TTGDialect.td"
include "despina/IR/TTTypes.td"

def TTG_MemDescType : TypeDef<TTG_Dialect, "MemDesc", []> {
  let mnemonic = "memdesc";
  let summary = "A buffer in shared memory, or a part of one";
  let description = [{
    `!ttg.memdesc<3x128x64xf16, #ttg.layout<...>, mutable, 3x128x64>`

    The layout, (offset, block) to the axes, is that of the last axes of the buffer as it was allocated, as many as
    the layout has. Axes before those are a ring: slices of the size of the layout, one after the other. Where the
    last shape is not given it equals the first; it differs after `ttg.memdesc_subslice`, whose result is a window
    of a larger allocation. Buffers that are not mutable are written by their allocation and never again.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "LayoutAttr":$layout,
                        "bool":$mutableMemory, ArrayRefParameter<"int64_t">:$allocShape);
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
                                                      "LayoutAttr":$layout, CArg<"bool", "true">:$mutableMemory), [{
    return $_get(elementType.getContext(), shape, elementType, layout, mutableMemory, shape);
  }]>];
  let extraClassDeclaration = [{
    unsigned getRank() const { return getShape().size(); }
    /// Elements of one slice of the ring: what the layout covers.
    int64_t getSliceElements() const;
    /// Slices in the ring as allocated.
    int64_t getNumSlices() const;
    /// Bytes of the whole allocation in one block.
    int64_t getAllocBytes() const;
  }];
  let genVerifyDecl = 1;
  let hasCustomAssemblyFormat = 1;
}

def TTG_TokenType : TypeDef<TTG_Dialect, "Token", []> {
  let mnemonic = "token";
  let summary = "Orders asynchronous copies: what they have written may be read after a wait on the token";
}

#endif // DESPINA_IR_TTGTYPES
