//===- TTGOps.td - Operations of the layout dialect --------*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_TTGOPS
#define DESPINA_IR_TTGOPS

include "despina/IR/TTAttrs.td"
include "despina/IR/TTG/TTGTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// The memory of a block's buffers, for effects.
def TTG_SharedMemory : Resource<"::despina::ttg::SharedMemory">;

class TTG_Op<string mnemonic, list<Trait> traits = []> : Op<TTG_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Between layouts
//===----------------------------------------------------------------------===//

def TTG_ConvertLayoutOp : TTG_Op<"convert_layout", [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "The same tile in another layout";
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Buffers in shared memory
//===----------------------------------------------------------------------===//

def TTG_LocalAllocOp : TTG_Op<"local_alloc", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "A buffer; with a tile, filled with it";
  let description = [{
    It lives until its last use, views included. `alignment` (bytes) raises what the layout asks for. Allocation sets
    `ttg.offset`, in bytes.
  }];
  let arguments = (ins Optional<TT_Tile>:$src, OptionalAttr<I32Attr>:$alignment);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "($src^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def TTG_LocalDeallocOp : TTG_Op<"local_dealloc", [MemoryEffects<[MemFree<TTG_SharedMemory>]>]> {
  let summary = "The end of a buffer's life";
  let arguments = (ins TTG_MemDescType:$src);
  let assemblyFormat = "$src attr-dict `:` type($src)";
}
def TTG_LocalLoadOp : TTG_Op<"local_load", [MemoryEffects<[MemRead<TTG_SharedMemory>]>]> {
  let summary = "A tile from a buffer; after the copies that the token stands for";
  let arguments = (ins TTG_MemDescType:$src, Optional<TTG_TokenType>:$token);
  let results = (outs TT_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$src),
                            [{ build($_builder, $_state, type, src, ::mlir::Value()); }]>];
  let assemblyFormat = "$src (`token` $token^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}
def TTG_LocalStoreOp : TTG_Op<"local_store", [MemoryEffects<[MemWrite<TTG_SharedMemory>]>]> {
  let summary = "A tile to a buffer";
  let arguments = (ins TT_Tile:$src, TTG_MemDescType:$dst);
  let assemblyFormat = "$src `,` $dst attr-dict `:` type($src) `->` type($dst)";
  let hasVerifier = 1;
}

class TTG_ViewOp<string mnemonic> : TTG_Op<mnemonic, [Pure]> { let hasVerifier = 1; }
def TTG_MemDescIndexOp : TTG_ViewOp<"memdesc_index"> {
  let summary = "One slice of a ring";
  let arguments = (ins TTG_MemDescType:$src, I32:$index);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "$src `[` $index `]` attr-dict `:` type($src) `->` type($result)";
}
def TTG_MemDescSubsliceOp : TTG_ViewOp<"memdesc_subslice"> {
  let summary = "A window of a buffer; offsets are multiples of the window's extents";
  let arguments = (ins TTG_MemDescType:$src, DenseI32ArrayAttr:$offsets);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "$src $offsets attr-dict `:` type($src) `->` type($result)";
}
def TTG_MemDescTransOp : TTG_ViewOp<"memdesc_trans"> {
  let summary = "Axis i of the result is axis order[i] of the source; nothing moves";
  let arguments = (ins TTG_MemDescType:$src, DenseI32ArrayAttr:$order);
  let results = (outs TTG_MemDescType:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::llvm::ArrayRef<int32_t>":$order)>];
  let assemblyFormat = "$src $order attr-dict `:` type($src) `->` type($result)";
}
def TTG_MemDescReshapeOp : TTG_ViewOp<"memdesc_reshape"> {
  let summary = "The same elements in row-major order under another shape; nothing moves";
  let arguments = (ins TTG_MemDescType:$src);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

def TTG_AsyncCopyGlobalToLocalOp : TTG_Op<"async_copy_global_to_local", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite<TTG_SharedMemory>]>]> {
  let summary = "Starts copies from global memory into a buffer";
  let description = "Elements whose mask is false become `other` (0 without).";
  let arguments = (ins TT_PtrTile:$src, TTG_MemDescType:$dst, Optional<TT_BoolLike>:$mask, Optional<TT_Any>:$other,
                       DefaultValuedAttr<TT_CacheModifierAttr, "::despina::tt::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicyAttr, "::despina::tt::EvictionPolicy::NORMAL">:$evict);
  let results = (outs TTG_TokenType:$token);
  let assemblyFormat = [{$src `,` $dst (`mask` $mask^)? (`other` $other^)? attr-dict `:` type($src) `->` type($dst)
                         (`,` type($mask)^)? (`,` type($other)^)?}];
  let hasVerifier = 1;
}
def TTG_AsyncCommitGroupOp : TTG_Op<"async_commit_group", [MemoryEffects<[MemWrite<TTG_SharedMemory>]>]> {
  let summary = "Makes the copies started since the last one a group";
  let arguments = (ins Variadic<TTG_TokenType>:$tokens);
  let results = (outs TTG_TokenType:$token);
  let assemblyFormat = "(`tokens` $tokens^)? attr-dict";
}
def TTG_AsyncWaitOp : TTG_Op<"async_wait", [MemoryEffects<[MemRead<TTG_SharedMemory>, MemWrite<TTG_SharedMemory>]>]> {
  let summary = "Waits until at most `num` groups are under way";
  let arguments = (ins Variadic<TTG_TokenType>:$tokens, I32Attr:$num);
  let results = (outs TTG_TokenType:$token);
  let assemblyFormat = "(`tokens` $tokens^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

def TTG_WarpBarrierOp : TTG_Op<"warp_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Barrier over the threads of a warp";
  let assemblyFormat = "attr-dict";
}
def TTG_WarpIdOp : TTG_Op<"warp_id", [Pure]> {
  let summary = "Index of the warp in its block";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def TTG_WarpSpecializeOp : TTG_Op<"warp_specialize", [RecursiveMemoryEffects]> {
  let summary = "Runs regions side by side, each on warps of its own";
  let description = [{
    The first region runs on the warps that there are; each further one (a partition) on `partitionNumWarps[i]` warps
    more, and with at most `requestedRegisters[i]` registers a thread where that is given. Partitions get the captures
    as arguments of their block. The operation ends when all have ended.
  }];
  let arguments = (ins Variadic<AnyType>:$captures, DenseI32ArrayAttr:$partitionNumWarps,
                       OptionalAttr<DenseI32ArrayAttr>:$requestedRegisters);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$defaultRegion, VariadicRegion<SizedRegion<1>>:$partitions);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def TTG_WarpYieldOp : TTG_Op<"warp_yield", [Pure, Terminator, ReturnLike, HasParent<"WarpSpecializeOp">]> {
  let summary = "Ends the first region and gives the results";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}
def TTG_WarpReturnOp : TTG_Op<"warp_return", [Pure, Terminator, ReturnLike, HasParent<"WarpSpecializeOp">]> {
  let summary = "Ends a partition";
  let assemblyFormat = "attr-dict";
}

#endif // DESPINA_IR_TTGOPS
