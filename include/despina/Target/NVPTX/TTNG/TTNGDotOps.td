//===- TTNGDotOps.td - Matrix units ------------------------*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_TTNGDOTOPS
#define DESPINA_TARGET_NVPTX_TTNGDOTOPS

include "despina/IR/TTAttrs.td"
include "despina/IR/TTG/TTGTypes.td"
include "despina/Target/NVPTX/TTNG/TTNGDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TTNG_MmaOp : TTNG_Op<"mma", [Pure, TypesMatchWith<"result has the accumulator's type", "result", "c", "$_self">]> {
  let summary = "a * b + c by the tensor cores of each warp (mma.sync)";
  let description = [{
    Operands are tiles in the layouts that the instruction m16n8 reads: mmaOperandLayout; the accumulator has
    mmaAccumulatorLayout. Elements along K may lie in another order if a and b agree. `instrShape` is (M, N, K) of
    one instruction.
  }];
  let arguments = (ins TT_Tile:$a, TT_Tile:$b, TT_Tile:$c, DenseI32ArrayAttr:$instrShape,
                       DefaultValuedAttr<TT_InputPrecisionAttr, "::despina::tt::InputPrecision::IEEE">:$inputPrecision,
                       DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = [{$a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:`
                         type($a) `*` type($b) `->` type($result)}];
  let hasVerifier = 1;
}

def TTNG_WarpGroupDotOp : TTNG_Op<"warp_group_dot", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TypesMatchWith<"result has the accumulator's type", "result", "c", "$_self">]> {
  let summary = "a * b + c by the tensor cores of four warps (wgmma)";
  let description = [{
    B is a buffer, A a buffer or a tile in wgmmaOperandLayout; the accumulator has wgmmaAccumulatorLayout. Where
    `useC` is false the accumulator counts as 0. An asynchronous one has no result before
    `ttng.warp_group_dot_wait` has waited for it.
  }];
  let arguments = (ins AnyTypeOf<[TT_Tile, TTG_MemDescType]>:$a, TTG_MemDescType:$b, TT_Tile:$c, Optional<I1>:$useC,
                       DenseI32ArrayAttr:$instrShape,
                       DefaultValuedAttr<TT_InputPrecisionAttr, "::despina::tt::InputPrecision::IEEE">:$inputPrecision,
                       DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc, UnitAttr:$isAsync);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = [{$a `,` $b `,` $c (`useC` $useC^)? (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:`
                         type($a) `*` type($b) `->` type($result)}];
  let hasVerifier = 1;
}

def TTNG_WarpGroupDotWaitOp : TTNG_Op<"warp_group_dot_wait", [AllTypesMatch<["inputs", "results"]>]> {
  let summary = "Waits until at most `pendings` dots are under way; the values may be used after it";
  let arguments = (ins Variadic<AnyTypeOf<[TT_Tile, TTG_MemDescType]>>:$inputs, I32Attr:$pendings);
  let results = (outs Variadic<AnyTypeOf<[TT_Tile, TTG_MemDescType]>>:$results);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
}

#endif // DESPINA_TARGET_NVPTX_TTNGDOTOPS
