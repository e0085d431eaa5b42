//===- TTTypes.td - Types of the tile dialect --------------*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_TTTYPES
#define DESPINA_IR_TTTYPES

include "despina/IR/TTDialect.td"
include "mlir/IR/CommonTypeConstraints.td"

def TT_PtrType : TypeDef<TT_Dialect, "Pointer", []> {
  let mnemonic = "ptr";
  let summary = "Pointer to elements in an address space";
  let description = "`!tt.ptr<f32>`; the address space is 1 (global memory) unless written: `!tt.ptr<f32, 3>`.";
  let parameters = (ins "::mlir::Type":$pointeeType, DefaultValuedParameter<"int", "1">:$addressSpace);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointee, CArg<"int", "1">:$addressSpace), [{
    return $_get(pointee.getContext(), pointee, addressSpace);
  }]>];
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` $pointeeType (`,` $addressSpace^)? `>`";
}

def TT_TensorDescType : TypeDef<TT_Dialect, "TensorDesc", []> {
  let mnemonic = "tensordesc";
  let summary = "Describes a tensor in memory that is accessed in blocks";
  let description = [{
    `!tt.tensordesc<tensor<64x64xf16>>`: base address, extents, strides and padding of a tensor, and the block that
    one access moves. Integers may be written with their sign (`si32`, `ui32`): it decides minimum and maximum.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$blockType);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$blockType), [{
    return $_get(blockType.getContext(), blockType);
  }]>];
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` $blockType `>`";
  let extraClassDeclaration = [{
    /// The block as a value of the dialect: its integers are signless.
    ::mlir::RankedTensorType getSignlessBlockType() const;
  }];
}

def TT_Float : TypeConstraint<Or<[AnyFloat.predicate]>, "floating point number">;
def TT_Int : TypeConstraint<AnySignlessInteger.predicate, "signless integer">;
def TT_Scalar : TypeConstraint<Or<[AnyFloat.predicate, AnySignlessInteger.predicate, TT_PtrType.predicate]>,
                               "scalar (float, signless integer or pointer)">;

class TT_TileOf<list<Type> elements> : RankedTensorOf<elements>;
def TT_FloatTile : TT_TileOf<[AnyFloat]>;
def TT_IntTile : TT_TileOf<[AnySignlessInteger]>;
def TT_PtrTile : TT_TileOf<[TT_PtrType]>;
def TT_Tile : TT_TileOf<[AnyFloat, AnySignlessInteger, TT_PtrType]>;

def TT_FloatLike : AnyTypeOf<[AnyFloat, TT_FloatTile], "float or tile of floats">;
def TT_IntLike : AnyTypeOf<[AnySignlessInteger, TT_IntTile], "signless integer or tile of them">;
def TT_PtrLike : AnyTypeOf<[TT_PtrType, TT_PtrTile], "pointer or tile of pointers">;
def TT_BoolLike : AnyTypeOf<[I1, TT_TileOf<[I1]>], "i1 or tile of i1">;
def TT_I64Like : AnyTypeOf<[I64, TT_TileOf<[I64]>], "i64 or tile of i64">;
def TT_Any : AnyTypeOf<[AnyFloat, AnySignlessInteger, TT_PtrType, TT_Tile], "scalar or tile">;

#endif // DESPINA_IR_TTTYPES
