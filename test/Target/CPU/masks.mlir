// RUN: despina-opt %s -cpu-lower-tiles=vector-bytes=64 | FileCheck %s

// Interior programs run without masks: one scalar test decides: that the last index is inside, and that it
// did not wrap around.

// CHECK-LABEL: llvm.func @add(
// CHECK-SAME: llvm.noalias
// CHECK: scf.for
// CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
// CHECK: %[[FULL:.*]] = arith.cmpi slt, %[[LAST]], %{{.*}} : i64
// CHECK: %[[FAST:.*]] = arith.andi %{{.*}}, %[[FULL]] : i1
// CHECK-NEXT: scf.if %[[FAST]] {
// CHECK: scf.for
// CHECK-NOT: masked
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
// CHECK: } else {
// CHECK: scf.for
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
tt.func public @add(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
  %c1024 = arith.constant 1024 : i32
  %one = arith.constant dense<1.0> : tensor<1024xf32>
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c1024 : i32
  %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %starts = tt.splat %start : i32 -> tensor<1024xi32>
  %offsets = arith.addi %starts, %range : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %mask = arith.cmpi slt, %offsets, %ns : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %px = tt.addptr %xs, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %px, %mask : tensor<1024x!tt.ptr<f32>>
  %sum = arith.addf %v, %one : tensor<1024xf32>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pout = tt.addptr %outs, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %pout, %sum, %mask : tensor<1024x!tt.ptr<f32>>
  tt.return
}
