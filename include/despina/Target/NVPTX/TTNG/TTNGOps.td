//===- TTNGOps.td - All operations of the dialect ----------*- tablegen -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
include "despina/Target/NVPTX/TTNG/TTNGAsyncOps.td"
include "despina/Target/NVPTX/TTNG/TTNGDotOps.td"
