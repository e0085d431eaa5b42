//===- EmitDot.cpp - ---------------------------------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "ThreadEmitter.h"

using namespace mlir;

namespace despina::nvptx {

void addDotEmitters(EmitterTable &table) {}

} // namespace despina::nvptx
