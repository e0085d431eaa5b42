//===- EmitElementwise.cpp - ---------------------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ThreadEmitter.h"

using namespace mlir;

namespace despina::nvptx {

void addElementwiseEmitters(EmitterTable &table) {}

} // namespace despina::nvptx
