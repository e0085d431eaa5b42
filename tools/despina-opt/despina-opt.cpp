//===- despina-opt.cpp - Runs passes on MLIR files ------------------------===//
//
// Part of Despina, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//
#include "TestPasses.h"

#include "despina/IR/Context.h"
#include "despina/IR/TTG.h"
#include "despina/Target/CPU/Passes.h"
#include "despina/Target/NVPTX/Passes.h"
#include "despina/Target/NVPTX/TTNG.h"
#include "despina/Transforms/Passes.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  despina::registerTileDialects(registry);
  registry.insert<despina::ttg::TTGDialect, despina::ttng::TTNGDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect,
                  mlir::memref::MemRefDialect, mlir::vector::VectorDialect>();
  mlir::registerTransformsPasses();
  despina::registerDespinaTransformsPasses();
  despina::registerTTPipeline();
  despina::registerTestPasses();
  despina::cpu::registerCPUPasses();
  despina::nvptx::registerNVPTXPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Despina's pass driver\n", registry));
}
