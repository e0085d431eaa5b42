//===- DotScaled.h - Products with scales -----------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_DOTSCALED_H
#define DESPINA_IR_DOTSCALED_H

#include "despina/IR/TT.h"

#include "despina/IR/TTDotScaledEnums.h.inc"
#define GET_OP_CLASSES
#include "despina/IR/TTDotScaled.h.inc"

#endif // DESPINA_IR_DOTSCALED_H
