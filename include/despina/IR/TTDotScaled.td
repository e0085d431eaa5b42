//===- TTDotScaled.td - Products with scales ---------------*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Apart from TTOps.td, since few files look at it: it is decomposed before targets see it.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_TTDOTSCALED
#define DESPINA_IR_TTDOTSCALED

include "despina/IR/TTTypes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Numbers are those of public TTIR.
def TT_ScaleDotElemTypeAttr : I32EnumAttr<"ScaleDotElemType", "format of the elements of a scaled dot", [
  I32EnumAttrCase<"E4M3", 0, "e4m3">, I32EnumAttrCase<"E5M2", 1, "e5m2">, I32EnumAttrCase<"E2M3", 2, "e2m3">,
  I32EnumAttrCase<"E3M2", 3, "e3m2">, I32EnumAttrCase<"E2M1", 4, "e2m1">, I32EnumAttrCase<"BF16", 5, "bf16">,
  I32EnumAttrCase<"FP16", 6, "fp16">]> {
  let cppNamespace = "::despina::tt";
}

def TT_ValidTilesOfDotScaled : NativeOpTrait<"ValidTiles"> { let cppNamespace = "::despina::tt"; }

def TT_DotScaledOp : Op<TT_Dialect, "dot_scaled", [
    TT_ValidTilesOfDotScaled, Pure, AttrSizedOperandSegments,
    TypesMatchWith<"result has the accumulator's type", "result", "c", "$_self">]> {
  let summary = "a * b + c on matrices whose elements have a scale for each group along K";
  let description = [{
    Elements are of the formats named; e2m1 comes in pairs in i8, the lower element in the lower bits, along K or,
    without `*_k_pack`, along M and N. `a_scale` is [.., M, K / g] and `b_scale` is [.., N, K / g]: i8 with an
    exponent e each, for the factor 2^(e - 127) (255: NaN), or f8E4M3FN. Without a scale the factor is 1.
    `fastMath` says that no exponent is 255.
  }];
  let arguments = (ins TT_Tile:$a, TT_Tile:$b, TT_Tile:$c, Optional<TT_Tile>:$a_scale, Optional<TT_Tile>:$b_scale,
                       TT_ScaleDotElemTypeAttr:$a_elem_type, TT_ScaleDotElemTypeAttr:$b_elem_type, BoolAttr:$fastMath,
                       DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack, DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = [{$a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c `lhs` `=` $a_elem_type `rhs` `=`
                         $b_elem_type attr-dict `:` type($a) (`,` type($a_scale)^)? `*` type($b)
                         (`,` type($b_scale)^)? `->` type($result)}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The extent of K, in elements.
    int64_t reductionSize();
  }];
}

#endif // DESPINA_IR_TTDOTSCALED
