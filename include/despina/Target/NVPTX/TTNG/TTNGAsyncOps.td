//===- TTNGAsyncOps.td - Barriers, fences, tensor maps -----*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// One thread of a block starts copies and arrives at barriers; all threads wait. Which thread that is is the
// thread emitter's affair; it is always the same one.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_TTNGASYNCOPS
#define DESPINA_TARGET_NVPTX_TTNGASYNCOPS

include "despina/IR/TTAttrs.td"
include "despina/IR/TTG/TTGTypes.td"
include "despina/Target/NVPTX/TTNG/TTNGDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TTNG_SharedMemory : Resource<"::despina::ttg::SharedMemory">;

def TTNG_FenceAsyncSharedOp : TTNG_Op<"fence_async_shared", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "What threads did to shared memory before is seen by the asynchronous units after";
  let assemblyFormat = "attr-dict";
}
def TTNG_FenceAsyncGlobalOp : TTNG_Op<"fence_async_global", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The same for global memory";
  let assemblyFormat = "attr-dict";
}

def TTNG_ClusterBarrierOp : TTNG_Op<"cluster_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Barrier over the threads of all blocks of a cluster";
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Barriers in shared memory: buffers of one i64
//===----------------------------------------------------------------------===//

def TTNG_InitBarrierOp : TTNG_Op<"init_barrier", [MemoryEffects<[MemWrite<TTNG_SharedMemory>]>]> {
  let summary = "Makes a barrier of memory; a phase ends when `count` have arrived and all bytes are there";
  let arguments = (ins TTG_MemDescType:$barrier, I32Attr:$count);
  let assemblyFormat = "$barrier `,` $count attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}
def TTNG_InvalBarrierOp : TTNG_Op<"inval_barrier", [MemoryEffects<[MemWrite<TTNG_SharedMemory>]>]> {
  let summary = "Makes memory of a barrier";
  let arguments = (ins TTG_MemDescType:$barrier);
  let assemblyFormat = "$barrier attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}
def TTNG_BarrierExpectOp : TTNG_Op<"barrier_expect", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Arrives, and lets the phase wait for so many bytes more";
  let arguments = (ins TTG_MemDescType:$barrier, I32Attr:$bytes);
  let assemblyFormat = "$barrier `,` $bytes attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}
def TTNG_ArriveBarrierOp : TTNG_Op<"arrive_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Arrives";
  let arguments = (ins TTG_MemDescType:$barrier, I32Attr:$count);
  let assemblyFormat = "$barrier `,` $count attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}
def TTNG_WaitBarrierOp : TTNG_Op<"wait_barrier", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead<TTNG_SharedMemory>, MemRead, MemWrite]>]> {
  let summary = "All threads wait for the end of a phase; what `filled` names may be read then";
  let description = [{
    `phase` is the parity of the phase, counted from 0. Without it, the wait is for the phases one after the other,
    and the code counts them: such a barrier is waited for in one place only.
  }];
  let arguments = (ins TTG_MemDescType:$barrier, Optional<I32>:$phase, Variadic<TTG_MemDescType>:$filled);
  let assemblyFormat = [{$barrier (`phase` $phase^)? (`filled` $filled^ `:` type($filled))? attr-dict `:`
                         type($barrier)}];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tensor maps and bulk copies
//===----------------------------------------------------------------------===//

def TTNG_TensorMapArgumentOp : TTNG_Op<"tensor_map_argument", [Pure]> {
  let summary = "The address of a tensor map that the host makes for each launch";
  let description = "`index` counts the recipes of the kernel (LoweredKernel.h), in attribute `ttng.tensor_maps`.";
  let arguments = (ins I32Attr:$index);
  let results = (outs TT_PtrType:$result);
  let assemblyFormat = "$index attr-dict `:` type($result)";
}

def TTNG_MakeTensorMapOp : TTNG_Op<"make_tensor_map", [Pure, AttrSizedOperandSegments]> {
  let summary = "The address of a tensor map that each program makes for itself";
  let description = [{
    Fields are those of a recipe for the host (LoweredKernel.h), lists go from the innermost axis outwards. The stride
    of the innermost axis is 1 and not named; an extent below 1 counts as 1. `slot` says where in the program's scratch
    memory the map lies, in maps; nvptx-lower-tensor-maps gives it. A map that is made again takes the place of the one
    before, and copies through that must have ended by then.
  }];
  let arguments = (ins TT_PtrType:$base, Variadic<I32>:$extents, Variadic<I64>:$strides, DenseI32ArrayAttr:$box,
                       I32Attr:$elementBytes, I32Attr:$dataType, I32Attr:$swizzleBytes, UnitAttr:$nanFill,
                       OptionalAttr<I32Attr>:$slot);
  let results = (outs TT_PtrType:$result);
  let assemblyFormat = "$base `,` `[` $extents `]` `,` `[` $strides `]` attr-dict `:` type($base) `->` type($result)";
  let hasVerifier = 1;
}

class TTNG_TensorMapAccess<string mnemonic, list<Trait> traits> : TTNG_Op<mnemonic, traits> { let hasVerifier = 1; }

// On tiles; LowerTensorMaps.cpp makes copies to and from buffers of them.
def TTNG_TMALoadOp : TTNG_TensorMapAccess<"tma_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads a block of a tensor; elements outside are the map's fill value";
  let description = "Coordinates are those of the tensor, in the order of its axes.";
  let arguments = (ins TT_PtrType:$map, Variadic<I32>:$coords);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$map `[` $coords `]` attr-dict `:` type($map) `->` type($result)";
}
def TTNG_TMAStoreOp : TTNG_TensorMapAccess<"tma_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a block of a tensor; elements outside are dropped";
  let arguments = (ins TT_PtrType:$map, Variadic<I32>:$coords, TT_Tile:$src);
  let assemblyFormat = "$map `[` $coords `]` `,` $src attr-dict `:` type($map) `,` type($src)";
}
def TTNG_TMAReduceOp : TTNG_TensorMapAccess<"tma_reduce", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Combines a block with that of a tensor, each element atomically";
  let arguments = (ins TT_DescriptorReduceKindAttr:$kind, TT_PtrType:$map, Variadic<I32>:$coords, TT_Tile:$src);
  let assemblyFormat = "$kind `,` $map `[` $coords `]` `,` $src attr-dict `:` type($map) `,` type($src)";
}

// On buffers.
def TTNG_AsyncTMACopyGlobalToLocalOp : TTNG_TensorMapAccess<"async_tma_copy_global_to_local",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Starts the copy of a block of a tensor into a buffer; the barrier counts its bytes";
  let arguments = (ins TT_PtrType:$map, Variadic<I32>:$coords, TTG_MemDescType:$barrier, TTG_MemDescType:$dst);
  let assemblyFormat = "$map `[` $coords `]` $dst `,` $barrier attr-dict `:` type($map) `,` type($dst) `,` type($barrier)";
}
def TTNG_AsyncTMACopyLocalToGlobalOp : TTNG_TensorMapAccess<"async_tma_copy_local_to_global",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Starts the copy of a buffer to a block of a tensor";
  let arguments = (ins TT_PtrType:$map, Variadic<I32>:$coords, TTG_MemDescType:$src);
  let assemblyFormat = "$map `[` $coords `]` $src attr-dict `:` type($map) `,` type($src)";
}
def TTNG_AsyncTMAReduceOp : TTNG_TensorMapAccess<"async_tma_reduce",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Starts combining a buffer with a block of a tensor, each element atomically";
  let arguments = (ins TT_DescriptorReduceKindAttr:$kind, TT_PtrType:$map, Variadic<I32>:$coords, TTG_MemDescType:$src);
  let assemblyFormat = "$kind `,` $map `[` $coords `]` $src attr-dict `:` type($map) `,` type($src)";
}
def TTNG_AsyncTMAStoreWaitOp : TTNG_Op<"async_tma_store_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until at most `pendings` groups of copies to global memory are under way";
  let arguments = (ins I32Attr:$pendings);
  let assemblyFormat = "$pendings attr-dict";
}

#endif // DESPINA_TARGET_NVPTX_TTNGASYNCOPS
