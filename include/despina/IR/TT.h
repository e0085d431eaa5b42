//===- TT.h - The tile dialect ----------------------------------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_IR_TT_H
#define DESPINA_IR_TT_H

#include "despina/IR/TTTraits.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "despina/IR/TTDialect.h.inc"
#include "despina/IR/TTEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "despina/IR/TTTypes.h.inc"
#define GET_OP_CLASSES
#include "despina/IR/TTOps.h.inc"

#endif // DESPINA_IR_TT_H
