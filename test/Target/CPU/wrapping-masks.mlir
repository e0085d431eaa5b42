// RUN: despina-opt %s --cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// A product of 32 bits may wrap: the interval computed in 64 bits holds only where both ends fit.

// CHECK-LABEL: llvm.func @wrapping(
// CHECK: arith.cmpi sge, %[[LOW:.*]], %{{.*}} : i64
// CHECK: arith.cmpi sle, %[[HIGH:.*]], %{{.*}} : i64
// CHECK: arith.cmpi slt, %[[HIGH]], %{{.*}} : i64
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : vector<8xi32>
// CHECK: } else {
// CHECK: llvm.intr.masked.store
tt.func public @wrapping(%out: !tt.ptr<i32>, %factor: i32, %n: i32) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %factors = tt.splat %factor : i32 -> tensor<64xi32>
  %product = arith.muli %range, %factors : tensor<64xi32>
  %end = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %product, %end : tensor<64xi32>
  %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %pout = tt.addptr %outs, %range : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %pout, %range, %mask : tensor<64x!tt.ptr<i32>>
  tt.return
}
