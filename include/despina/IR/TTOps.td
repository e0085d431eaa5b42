//===- TTOps.td - Operations of the tile dialect -----------*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_TTOPS
#define DESPINA_IR_TTOPS

include "despina/IR/TTAttrs.td"
include "despina/IR/TTTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/CastInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Extents are powers of two and a tile has at most 2^20 elements (TTTraits.h).
def TT_ValidTiles : NativeOpTrait<"ValidTiles"> { let cppNamespace = "::despina::tt"; }

class TT_Op<string mnemonic, list<Trait> traits = []> : Op<TT_Dialect, mnemonic, !listconcat([TT_ValidTiles], traits)>;
class TT_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : TT_Op<mnemonic, !listconcat([Pure, Elementwise, SameOperandsAndResultShape], traits)>;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

def TT_FuncOp : TT_Op<"func", [AffineScope, AutomaticAllocationScope, CallableOpInterface, FunctionOpInterface,
                               IsolatedFromAbove, OpAsmOpInterface]> {
  let summary = "A kernel (public) or a function it calls (private)";
  let description = [{
    Argument attribute `tt.divisibility` gives a known power-of-two divisor of the value (pointers: of the
    address in bytes). `noinline` keeps calls as calls.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
                                 CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attrs,
                                 CArg<"::llvm::ArrayRef<::mlir::DictionaryAttr>", "{}">:$argAttrs)>];
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    bool isNoInline();
  }];
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
}

def TT_CallOp : TT_Op<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls a function of the module";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $args `)` attr-dict `:` functional-type($args, results)";
  let extraClassDeclaration = [{
    ::mlir::CallInterfaceCallable getCallableForCallee() {
      return (*this)->getAttrOfType<::mlir::SymbolRefAttr>("callee");
    }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      (*this)->setAttr("callee", ::mlir::cast<::mlir::SymbolRefAttr>(callee));
    }
    ::mlir::Operation::operand_range getArgOperands() { return getArgs(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getArgsMutable(); }
  }];
}

def TT_ReturnOp : TT_Op<"return", [Pure, HasParent<"FuncOp">, ReturnLike, Terminator]> {
  let summary = "Returns from a function";
  let arguments = (ins Variadic<AnyType>:$operands);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

def TT_GetProgramIdOp : TT_Op<"get_program_id", [Pure]> {
  let summary = "Index of this program along an axis of the grid";
  let arguments = (ins TT_ProgramDimAttr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}
def TT_GetNumProgramsOp : TT_Op<"get_num_programs", [Pure]> {
  let summary = "Extent of the grid along an axis";
  let arguments = (ins TT_ProgramDimAttr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Casts and arithmetic that arith and math lack
//===----------------------------------------------------------------------===//

def TT_IntToPtrOp : TT_ElementwiseOp<"int_to_ptr"> {
  let summary = "i64 to pointer";
  let arguments = (ins TT_I64Like:$src);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}
def TT_PtrToIntOp : TT_ElementwiseOp<"ptr_to_int"> {
  let summary = "Pointer to i64";
  let arguments = (ins TT_PtrLike:$src);
  let results = (outs TT_I64Like:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}
def TT_BitcastOp : TT_ElementwiseOp<"bitcast"> {
  let summary = "Reinterprets elements of equal width, or changes what pointers point to";
  let arguments = (ins TT_Any:$src);
  let results = (outs TT_Any:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def TT_FpToFpOp : TT_ElementwiseOp<"fp_to_fp"> {
  let summary = "Conversion between float types with fp8 on a side or an explicit rounding";
  let arguments = (ins TT_FloatLike:$src, OptionalAttr<TT_RoundingAttr>:$rounding);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def TT_ClampFOp : TT_ElementwiseOp<"clampf", [SameOperandsAndResultType]> {
  let summary = "Limits floats to a range";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$min, TT_FloatLike:$max, TT_PropagateNanAttr:$propagateNan);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)";
}
def TT_PreciseSqrtOp : TT_ElementwiseOp<"precise_sqrt", [SameOperandsAndResultType]> {
  let summary = "Square root, correctly rounded";
  let arguments = (ins TT_FloatLike:$x);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def TT_PreciseDivFOp : TT_ElementwiseOp<"precise_divf", [SameOperandsAndResultType]> {
  let summary = "Division, correctly rounded";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$y);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}
def TT_MulhiUIOp : TT_ElementwiseOp<"mulhiui", [SameOperandsAndResultType, Commutative]> {
  let summary = "High half of the unsigned product";
  let arguments = (ins TT_IntLike:$x, TT_IntLike:$y);
  let results = (outs TT_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}
def TT_AddPtrOp : TT_ElementwiseOp<"addptr", [TypesMatchWith<"result has the pointer's type", "result", "ptr", "$_self">]> {
  let summary = "Pointer plus an offset in elements (signed)";
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$offset);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
}

class TT_ForeignOp<string mnemonic> : TT_Op<mnemonic, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                                       ConditionallySpeculatable]> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Speculation::Speculatability getSpeculatability() {
      return getPure() ? ::mlir::Speculation::Speculatable : ::mlir::Speculation::NotSpeculatable;
    }
  }];
}
def TT_ElementwiseInlineAsmOp : TT_ForeignOp<"elementwise_inline_asm"> {
  let summary = "Text for the target's assembler, run on `packed_element` elements at a time";
  let description = [{
    Constraints are LLVM's: the outputs, the inputs, the clobbers. Elements narrower than 32 bits are packed in
    32-bit registers, lowest element first.
  }];
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure, I32Attr:$packed_element,
                       Variadic<TT_Any>:$args);
  let results = (outs Variadic<TT_Any>:$result);
  let assemblyFormat = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)";
}
def TT_ExternElementwiseOp : TT_ForeignOp<"extern_elementwise"> {
  let summary = "Calls a function of a library of the target, element by element";
  let arguments = (ins Variadic<TT_Any>:$srcs, StrAttr:$libname, StrAttr:$libpath, StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs TT_Any:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def TT_LoadOp : TT_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Reads through pointers; lanes whose mask is false touch no memory and give `other` (0 without)";
  let arguments = (ins TT_PtrLike:$ptr, Optional<TT_BoolLike>:$mask, Optional<TT_Any>:$other,
                       DefaultValuedAttr<TT_CacheModifierAttr, "::despina::tt::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicyAttr, "::despina::tt::EvictionPolicy::NORMAL">:$evict,
                       DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs TT_Any:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$mask, "::mlir::Value":$other,
      CArg<"::despina::tt::CacheModifier", "::despina::tt::CacheModifier::NONE">:$cache,
      CArg<"::despina::tt::EvictionPolicy", "::despina::tt::EvictionPolicy::NORMAL">:$evict,
      CArg<"bool", "false">:$isVolatile)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def TT_StoreOp : TT_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Writes through pointers; lanes whose mask is false touch no memory";
  let arguments = (ins TT_PtrLike:$ptr, TT_Any:$value, Optional<TT_BoolLike>:$mask,
                       DefaultValuedAttr<TT_CacheModifierAttr, "::despina::tt::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicyAttr, "::despina::tt::EvictionPolicy::NORMAL">:$evict);
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$value, "::mlir::Value":$mask,
      CArg<"::despina::tt::CacheModifier", "::despina::tt::CacheModifier::NONE">:$cache,
      CArg<"::despina::tt::EvictionPolicy", "::despina::tt::EvictionPolicy::NORMAL">:$evict)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def TT_AtomicRMWOp : TT_Op<"atomic_rmw", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Atomic read-modify-write; gives the old values";
  let arguments = (ins TT_AtomicKindAttr:$atomic_rmw_op, TT_PtrLike:$ptr, TT_Any:$val, Optional<TT_BoolLike>:$mask,
                       TT_MemSemanticAttr:$sem, TT_MemScopeAttr:$scope);
  let results = (outs TT_Any:$result);
  let assemblyFormat = [{$atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:`
                         functional-type(operands, $result)}];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}
def TT_AtomicCASOp : TT_Op<"atomic_cas", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Atomic compare-and-swap on the bit pattern; gives the old values";
  let arguments = (ins TT_PtrLike:$ptr, TT_Any:$cmp, TT_Any:$val, TT_MemSemanticAttr:$sem, TT_MemScopeAttr:$scope);
  let results = (outs TT_Any:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tensor descriptors
//===----------------------------------------------------------------------===//

def TT_MakeTensorDescOp : TT_Op<"make_tensor_descriptor", [Pure, SameVariadicOperandSize]> {
  let summary = "Describes a tensor in memory; strides count elements, the last one is 1";
  let arguments = (ins TT_PtrType:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
                       DefaultValuedAttr<TT_PaddingOptionAttr, "::despina::tt::PaddingOption::PAD_ZERO">:$padding);
  let results = (outs TT_TensorDescType:$result);
  let assemblyFormat = [{$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)}];
  let hasVerifier = 1;
}
class TT_DescriptorAccess<string mnemonic> : TT_Op<mnemonic, [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let hasVerifier = 1;
}
def TT_DescriptorLoadOp : TT_DescriptorAccess<"descriptor_load"> {
  let summary = "Reads a block; elements out of bounds are the descriptor's padding";
  let arguments = (ins TT_TensorDescType:$desc, Variadic<I32>:$indices,
                       DefaultValuedAttr<TT_CacheModifierAttr, "::despina::tt::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicyAttr, "::despina::tt::EvictionPolicy::NORMAL">:$evict);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = [{$desc `[` $indices `]` oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
                         attr-dict `:` qualified(type($desc)) `->` type($result)}];
}
def TT_DescriptorStoreOp : TT_DescriptorAccess<"descriptor_store"> {
  let summary = "Writes a block; elements out of bounds are dropped";
  let arguments = (ins TT_TensorDescType:$desc, TT_Tile:$src, Variadic<I32>:$indices);
  let assemblyFormat = "$desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)";
}
def TT_DescriptorReduceOp : TT_DescriptorAccess<"descriptor_reduce"> {
  let summary = "Combines a block with memory, each element atomically; elements out of bounds are dropped";
  let arguments = (ins TT_DescriptorReduceKindAttr:$kind, TT_TensorDescType:$desc, TT_Tile:$src,
                       Variadic<I32>:$indices);
  let assemblyFormat = [{$kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,`
                         type($src)}];
}
def TT_DescriptorGatherOp : TT_DescriptorAccess<"descriptor_gather"> {
  let summary = "Reads rows at any positions; elements out of bounds are the descriptor's padding";
  let arguments = (ins TT_TensorDescType:$desc, TT_IntTile:$x_offsets, I32:$y_offset);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)";
}
def TT_DescriptorScatterOp : TT_DescriptorAccess<"descriptor_scatter"> {
  let summary = "Writes rows at any positions; elements out of bounds are dropped";
  let arguments = (ins TT_TensorDescType:$desc, TT_IntTile:$x_offsets, I32:$y_offset, TT_Tile:$src);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)";
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

def TT_MakeRangeOp : TT_Op<"make_range", [Pure]> {
  let summary = "start, start + 1, ..., end - 1";
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs TT_IntTile:$result);
  let builders = [OpBuilder<(ins "int32_t":$start, "int32_t":$end)>];
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def TT_SplatOp : TT_Op<"splat", [Pure]> {
  let summary = "A tile with every element equal to a scalar";
  let arguments = (ins TT_Scalar:$src);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def TT_UnsplatOp : TT_Op<"unsplat", [Pure, TypesMatchWith<"result is the element type", "src", "result",
    "::mlir::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "The element of a tile of one element";
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Scalar:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def TT_ExpandDimsOp : TT_Op<"expand_dims", [Pure]> {
  let summary = "Inserts a dimension of extent 1";
  let arguments = (ins TT_Tile:$src, I32Attr:$axis);
  let results = (outs TT_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "unsigned":$axis)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def TT_BroadcastOp : TT_Op<"broadcast", [Pure, SameOperandsAndResultElementType]> {
  let summary = "Repeats along dimensions of extent 1";
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def TT_ReshapeOp : TT_Op<"reshape", [Pure, SameOperandsAndResultElementType]> {
  let summary = "The same elements in row-major order under another shape";
  let arguments = (ins TT_Tile:$src, UnitAttr:$allow_reorder);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src (`allow_reorder` $allow_reorder^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def TT_TransOp : TT_Op<"trans", [Pure, SameOperandsAndResultElementType]> {
  let summary = "Permutes dimensions: result dimension i is source dimension order[i]";
  let arguments = (ins TT_Tile:$src, DenseI32ArrayAttr:$order);
  let results = (outs TT_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::llvm::ArrayRef<int32_t>":$order)>];
  let hasCanonicalizer = 1;
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def TT_CatOp : TT_Op<"cat", [Pure, SameTypeOperands]> {
  let summary = "Concatenates along dimension 0, in order";
  let arguments = (ins TT_Tile:$lhs, TT_Tile:$rhs);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}
def TT_JoinOp : TT_Op<"join", [Pure, SameTypeOperands]> {
  let summary = "Stacks two tiles in a new last dimension";
  let arguments = (ins TT_Tile:$lhs, TT_Tile:$rhs);
  let results = (outs TT_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs)>];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}
def TT_SplitOp : TT_Op<"split", [Pure, AllTypesMatch<["outLHS", "outRHS"]>]> {
  let summary = "Takes apart the last dimension of extent 2";
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Tile:$outLHS, TT_Tile:$outRHS);
  let builders = [OpBuilder<(ins "::mlir::Value":$src)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasVerifier = 1;
}

def TT_GatherOp : TT_Op<"gather", [Pure]> {
  let summary = "Picks elements along an axis; an index out of range gives an unspecified element";
  let arguments = (ins TT_Tile:$src, TT_IntTile:$indices, I32Attr:$axis, UnitAttr:$efficient_layout);
  let results = (outs TT_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$indices, "unsigned":$axis)>];
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Reductions, linear algebra
//===----------------------------------------------------------------------===//

def TT_HistogramOp : TT_Op<"histogram", [Pure, TypesMatchWith<"mask has the shape of the tile", "src", "mask",
    "::mlir::cast<::mlir::RankedTensorType>($_self).clone(::mlir::IntegerType::get($_self.getContext(), 1))",
    "$_op.getOperands().size() < 2 || std::equal_to<>()">]> {
  let summary = "Counts elements 0, 1, ...; others count in an unspecified bin or none, masked ones never";
  let arguments = (ins TT_IntTile:$src, Optional<TT_TileOf<[I1]>>:$mask);
  let results = (outs TT_IntTile:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

class TT_CombineOp<string mnemonic, list<Trait> traits> : TT_Op<mnemonic, !listconcat(traits, [
    RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock])> {
  let regions = (region SizedRegion<1>:$combineOp);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::RankedTensorType> getInputTypes();
    ::llvm::SmallVector<::mlir::Type> getElementTypes();
  }];
}
def TT_ReduceOp : TT_CombineOp<"reduce", []> {
  let summary = "Reduces n tiles together along an axis";
  let description = [{
    The region gets 2n scalars, the accumulated ones first, and ends with `tt.reduce.return` of n. The order of
    combination is free: the region must be associative.
  }];
  let arguments = (ins Variadic<TT_Tile>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<TT_Any>:$result);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$srcs, "unsigned":$axis)>];
  let assemblyFormat = "`(` $srcs `)` attr-dict-with-keyword $combineOp `:` functional-type(operands, results)";
}
def TT_ReduceReturnOp : TT_Op<"reduce.return", [HasParent<"ReduceOp">, Pure, Terminator, ReturnLike]> {
  let summary = "Ends the region of a reduce";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "attr-dict ($result^ `:` type($result))?";
}
def TT_ScanOp : TT_CombineOp<"scan", []> {
  let summary = "Inclusive scan of n tiles along an axis, in order";
  let arguments = (ins Variadic<TT_Tile>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<TT_Tile>:$result);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$srcs, "unsigned":$axis, "bool":$reverse)>];
  let assemblyFormat = "`(` $srcs `)` attr-dict-with-keyword $combineOp `:` functional-type(operands, results)";
}
def TT_ScanReturnOp : TT_Op<"scan.return", [HasParent<"ScanOp">, Pure, Terminator, ReturnLike]> {
  let summary = "Ends the region of a scan";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "attr-dict ($result^ `:` type($result))?";
}
def TT_DotOp : TT_Op<"dot", [Pure, TypesMatchWith<"result has the accumulator's type", "result", "c", "$_self">]> {
  let summary = "a * b + c on matrices (or batches of them)";
  let arguments = (ins TT_Tile:$a, TT_Tile:$b, TT_Tile:$c,
                       DefaultValuedAttr<TT_InputPrecisionAttr, "::despina::tt::InputPrecision::IEEE">:$inputPrecision,
                       DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = [{$a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:`
                         type($a) `*` type($b) `->` type($result)}];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

def TT_PrintOp : TT_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints scalars or tiles from the device";
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<TT_Any>:$args, DenseI32ArrayAttr:$isSigned);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
  let hasVerifier = 1;
}
def TT_AssertOp : TT_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "Stops the kernel where the condition is false";
  let arguments = (ins TT_BoolLike:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}
def TT_AssumeOp : TT_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "A condition the optimiser may rely on";
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}
def TT_BarrierOp : TT_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Barrier over the threads of a program";
  let assemblyFormat = "attr-dict";
}

#endif // DESPINA_IR_TTOPS
