//===- TTNGAsyncOps.td - Barriers, fences, tensor maps -----*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_TTNGASYNCOPS
#define DESPINA_TARGET_NVPTX_TTNGASYNCOPS

include "despina/IR/TTAttrs.td"
include "despina/IR/TTG/TTGTypes.td"
include "despina/Target/NVPTX/TTNG/TTNGDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TTNG_FenceAsyncSharedOp : TTNG_Op<"fence_async_shared", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "What threads did to shared memory before is seen by the asynchronous units after";
  let assemblyFormat = "attr-dict";
}

#endif // DESPINA_TARGET_NVPTX_TTNGASYNCOPS
