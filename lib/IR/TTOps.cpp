//===- TTOps.cpp - Generated definitions of the tile operations -----------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifiers, folders and custom assembly stand in TTFunctionOps.cpp, TTElementwiseOps.cpp, TTMemoryOps.cpp,
// TTShapeOps.cpp and TTReduceOps.cpp.
//
//===----------------------------------------------------------------------===//
#include "despina/IR/TT.h"

#define GET_OP_CLASSES
#include "despina/IR/TTOps.cpp.inc"
