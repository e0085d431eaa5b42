//===- TTNGDialect.td - NVIDIA's block-level operations ----*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_TTNGDIALECT
#define DESPINA_TARGET_NVPTX_TTNGDIALECT

include "mlir/IR/OpBase.td"

def TTNG_Dialect : Dialect {
  let name = "ttng";
  let cppNamespace = "::despina::ttng";
  let summary = "Operations of whole blocks that only NVIDIA's chips have";
  let description = [{
    Matrix units, tensor maps, barriers in shared memory, fences between proxies. Operands are tiles with layouts and
    buffers of `ttg`. The thread emitter turns them into NVVM operations and PTX.
  }];
  let dependentDialects = ["::despina::ttg::TTGDialect"];
}

class TTNG_Op<string mnemonic, list<Trait> traits = []> : Op<TTNG_Dialect, mnemonic, traits>;

#endif // DESPINA_TARGET_NVPTX_TTNGDIALECT
