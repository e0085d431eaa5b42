//===- DeviceMath.h - Elementary functions on the device --------*- C++ -*-===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
// The thread emitter calls functions by their name in libdevice; code emission (PTXEmit.h) links their bodies
// afterwards, from libdevice or from our own expansions. Functions exist for f32 and f64: f16 and bf16 are
// computed in f32.
//
//===----------------------------------------------------------------------===//
#ifndef DESPINA_LIB_TARGET_NVPTX_DEVICEMATH_H
#define DESPINA_LIB_TARGET_NVPTX_DEVICEMATH_H

#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace despina::nvptx {

/// The device function for an operation ("math.exp", or "exp" for short) on f32 or f64: "__nv_expf". None
/// where LLVM has an instruction for it (absf, floor, fma, ...) or there is no such function.
std::optional<std::string> deviceFunctionName(llvm::StringRef operation, mlir::Type type);

/// Calls a device function, also one that a kernel names itself, and declares it in the module where needed.
/// Null after an error at `loc`: the module has the name with another type.
mlir::Value callDeviceFunction(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                               mlir::Type result, mlir::ValueRange arguments);

/// Instructions of the hardware, on f32. All but `Div` flush subnormal inputs and results to zero. Largest
/// errors: Exp2 2 ulp, Exp 2 ulp and 2^-24 * |x| relative, Sqrt and Rsqrt 3 ulp, Div 2 ulp.
enum class FastMath { Exp, Exp2, Sqrt, Rsqrt, Div };

/// One argument, or two for `Div`: scalar f32 each.
mlir::Value emitFastMath(mlir::OpBuilder &b, mlir::Location loc, FastMath function,
                         mlir::ValueRange arguments);

} // namespace despina::nvptx

#endif // DESPINA_LIB_TARGET_NVPTX_DEVICEMATH_H
