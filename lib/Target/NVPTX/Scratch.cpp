//===- Scratch.cpp - Scratch memory of operations -------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "Scratch.h"

#include "EmitDot.h"

#include "despina/IR/TTG.h"
#include "despina/Target/NVPTX/TTNG.h"

using namespace mlir;

namespace despina::nvptx {

uint64_t scratchBytes(Operation *op, [[maybe_unused]] unsigned capability) {
  if (isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op))
    return atomicScratchBytes(op);
  if (auto dot = dyn_cast<tt::DotOp>(op))
    return dotScratchBytes(dot);
  if (isa<ttng::MakeTensorMapOp>(op))
    return makeTensorMapScratchBytes;
  return tileScratchBytes(op);
}

} // namespace despina::nvptx
