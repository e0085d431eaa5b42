//===- TTNG.h - NVIDIA's block-level operations -----------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_TARGET_NVPTX_TTNG_H
#define DESPINA_TARGET_NVPTX_TTNG_H

#include "despina/IR/TTG.h"

#include "despina/Target/NVPTX/TTNG/TTNGDialect.h.inc"
#define GET_OP_CLASSES
#include "despina/Target/NVPTX/TTNG/TTNGOps.h.inc"

#endif // DESPINA_TARGET_NVPTX_TTNG_H
