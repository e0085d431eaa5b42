//===- DeviceMath.cpp - Elementary functions on the device ----------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "DeviceMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace despina::nvptx {

namespace {

/// Operations of the math dialect, and what libdevice calls them where the name differs.
struct FunctionEntry {
  StringRef operation, name;
};
constexpr FunctionEntry functions[] = {
    {"acos", "acos"},   {"acosh", "acosh"}, {"asin", "asin"},   {"asinh", "asinh"}, {"atan", "atan"},
    {"atan2", "atan2"}, {"atanh", "atanh"}, {"cbrt", "cbrt"},   {"cos", "cos"},     {"cosh", "cosh"},
    {"erf", "erf"},     {"erfc", "erfc"},   {"exp", "exp"},     {"exp2", "exp2"},   {"expm1", "expm1"},
    {"log", "log"},     {"log10", "log10"}, {"log1p", "log1p"}, {"log2", "log2"},   {"powf", "pow"},
    {"remf", "fmod"},   {"rsqrt", "rsqrt"}, {"sin", "sin"},     {"sinh", "sinh"},   {"tan", "tan"},
    {"tanh", "tanh"},
};

Value callIntrinsic(OpBuilder &b, Location loc, StringRef name, ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(), b.getStringAttr(name), arguments).getResult(0);
}

} // namespace

std::optional<std::string> deviceFunctionName(StringRef operation, Type type) {
  if (!type.isF32() && !type.isF64())
    return std::nullopt;
  StringRef name = operation.rsplit('.').second.empty() ? operation : operation.rsplit('.').second;
  const auto *entry = llvm::find_if(functions, [&](const FunctionEntry &e) { return e.operation == name; });
  if (entry == std::end(functions))
    return std::nullopt;
  return ("__nv_" + entry->name + (type.isF32() ? "f" : "")).str();
}

Value callDeviceFunction(OpBuilder &b, Location loc, StringRef name, Type result, ValueRange arguments) {
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto type = LLVM::LLVMFunctionType::get(result, llvm::to_vector(arguments.getTypes()));
  Operation *known = module.lookupSymbol(name);
  auto function = dyn_cast_or_null<LLVM::LLVMFuncOp>(known);
  if (known && (!function || function.getFunctionType() != type)) {
    emitError(loc) << "the device function '" << name << "' is called with the type " << type
                   << ", but the module has that name with another type";
    return {};
  }
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    function = LLVM::LLVMFuncOp::create(b, module.getLoc(), name, type);
  }
  return LLVM::CallOp::create(b, loc, function, arguments).getResult();
}

Value emitFastMath(OpBuilder &b, Location loc, FastMath function, ValueRange arguments) {
  switch (function) {
  case FastMath::Exp: {
    // e^x = 2^(x * log2(e)).
    constexpr float log2e = 1.44269504088896340736F;
    Value factor = LLVM::ConstantOp::create(b, loc, b.getF32FloatAttr(log2e));
    Value scaled = LLVM::FMulOp::create(b, loc, arguments[0], factor);
    return callIntrinsic(b, loc, "llvm.nvvm.ex2.approx.ftz.f32", scaled);
  }
  case FastMath::Exp2: return callIntrinsic(b, loc, "llvm.nvvm.ex2.approx.ftz.f32", arguments);
  case FastMath::Sqrt: return callIntrinsic(b, loc, "llvm.nvvm.sqrt.approx.ftz.f", arguments);
  case FastMath::Rsqrt: return callIntrinsic(b, loc, "llvm.nvvm.rsqrt.approx.ftz.f", arguments);
  case FastMath::Div: return callIntrinsic(b, loc, "llvm.nvvm.div.full", arguments);
  }
  return {};
}

} // namespace despina::nvptx
