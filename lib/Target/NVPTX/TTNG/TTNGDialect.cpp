//===- TTNGDialect.cpp - NVIDIA's block-level operations ------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "despina/Target/NVPTX/TTNG.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace despina;
using namespace despina::ttng;

#include "despina/Target/NVPTX/TTNG/TTNGDialect.cpp.inc"
#define GET_OP_CLASSES
#include "despina/Target/NVPTX/TTNG/TTNGOps.cpp.inc"

void TTNGDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "despina/Target/NVPTX/TTNG/TTNGOps.cpp.inc"
      >();
}
