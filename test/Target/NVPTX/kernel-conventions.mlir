// RUN: despina-ptx %s --arch=sm_90a | FileCheck %s

// CHECK: .version 8.3
// CHECK: .target sm_90a
// CHECK: .visible .entry add(
llvm.func @add(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32, %scratch: !llvm.ptr<1>)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.maxnreg = 64 : i32} {
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %ctaid = nvvm.read.ptx.sreg.ctaid.x : i32
  %c128 = llvm.mlir.constant(128 : i32) : i32
  %base = llvm.mul %ctaid, %c128 : i32
  %index = llvm.add %base, %tid : i32
  %px = llvm.getelementptr %x[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %py = llvm.getelementptr %y[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %po = llvm.getelementptr %out[%index] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %a = llvm.load %px : !llvm.ptr<1> -> f32
  %b = llvm.load %py : !llvm.ptr<1> -> f32
  %sum = llvm.fadd %a, %b : f32
  llvm.store %sum, %po : f32, !llvm.ptr<1>
  llvm.return
}
