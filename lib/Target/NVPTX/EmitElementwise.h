//===- EmitElementwise.h - Operations element by element --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands and results of an element-wise operation have one layout, so register i of a result depends on
// registers i of the operands alone. One driver maps a function over them; the files EmitElementwise*.cpp
// give the functions.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_EMITELEMENTWISE_H
#define DESPINA_LIB_TARGET_NVPTX_EMITELEMENTWISE_H

#include "FloatConversion.h"
#include "ThreadEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace despina::nvptx {

/// The element type of a value: f32 for a tile of f32.
inline mlir::Type elementOf(mlir::Value value) { return mlir::getElementTypeOrSelf(value.getType()); }

/// Reports an operation on elements that the target does not have (f128, f8E3M4, i7, ...).
mlir::LogicalResult checkElementTypes(mlir::Operation *op);

/// For each register of a value of this type, the one it is a copy of: itself, or a lower one.
llvm::SmallVector<unsigned, 8> copySources(mlir::Type type);

/// Gives the results of `op` from one register of each operand; scalars are the same for all registers.
/// Called once for operands that are the same if that is `pure`.
using ElementsFunction = llvm::function_ref<Registers(llvm::ArrayRef<mlir::Value>)>;
mlir::LogicalResult mapElements(ThreadEmitter &e, mlir::Operation *op, ElementsFunction function,
                                bool pure = true);

/// For one operand and one result: gives the results for a list of different values, which may be computed
/// together (conversions of pairs).
using ListFunction = llvm::function_ref<Registers(llvm::ArrayRef<mlir::Value>)>;
mlir::LogicalResult mapList(ThreadEmitter &e, mlir::Operation *op, ListFunction function);

/// For one result, of 16 bits, which the hardware computes two at a time: gives it from an element of each
/// operand, or from a vector of two elements of each.
using PairsFunction = llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)>;
mlir::LogicalResult mapPairs(ThreadEmitter &e, mlir::Operation *op, PairsFunction function);

/// Adds an operation with one result, written by `Value function(ThreadEmitter &, Op, ArrayRef<Value>)`.
template <typename Op, mlir::Value (*function)(ThreadEmitter &, Op, llvm::ArrayRef<mlir::Value>)>
mlir::LogicalResult emitElements(ThreadEmitter &e, Op op) {
  return mapElements(
      e, op, [&](llvm::ArrayRef<mlir::Value> operands) { return Registers{function(e, op, operands)}; });
}
template <typename Op, mlir::Value (*function)(ThreadEmitter &, Op, llvm::ArrayRef<mlir::Value>)>
void addElements(EmitterTable &table) {
  table.add<Op, emitElements<Op, function>>();
}

/// An operation that the LLVM dialect has.
template <typename From, typename To>
mlir::Value sameInLLVM(ThreadEmitter &e, From op, llvm::ArrayRef<mlir::Value> operands) {
  return e.make<To>(e.llvmType(op.getType()), operands);
}

/// One of LLVM's intrinsics, by name.
mlir::Value callIntrinsic(ThreadEmitter &e, llvm::StringRef name, mlir::Type result,
                          mlir::ValueRange operands);

/// Computes in f32 what is not there for elements of a narrower type: `function` gets f32 values, and its
/// result is rounded to the type.
mlir::Value computeInFloat32(ThreadEmitter &e, mlir::Type element, llvm::ArrayRef<mlir::Value> operands,
                             llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> function);

/// The integer that all threads know a value to be, if it is constant.
std::optional<llvm::APInt> knownInteger(mlir::Value value);

// The parts of addElementwiseEmitters.
void addIntegerEmitters(EmitterTable &table);  // EmitElementwiseInteger.cpp
void addFloatEmitters(EmitterTable &table);    // EmitElementwiseFloat.cpp
void addMathEmitters(EmitterTable &table);     // EmitElementwiseMath.cpp
void addCastEmitters(EmitterTable &table);     // EmitElementwiseCast.cpp
void addConstantEmitters(EmitterTable &table); // EmitElementwiseConstant.cpp
void addForeignEmitters(EmitterTable &table);  // EmitElementwiseForeign.cpp

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_EMITELEMENTWISE_H
