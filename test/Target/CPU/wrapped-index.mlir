// RUN: despina-opt %s -cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// `(start + range) % n` stays contiguous while no element wraps around.

// CHECK-LABEL: llvm.func @wrap(
// CHECK: arith.remsi %{{.*}} : i64
// CHECK: scf.if
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<8xi32>
// CHECK: } else {
// CHECK: arith.remsi %{{.*}} : vector<8xi32>
// CHECK: llvm.intr.masked.gather
tt.func public @wrap(%x: !tt.ptr<i32>, %out: !tt.ptr<i32>, %start: i32, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %starts = tt.splat %start : i32 -> tensor<64xi32>
  %sum = arith.addi %starts, %range : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %wrapped = arith.remsi %sum, %ns : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %px = tt.addptr %xs, %wrapped : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %v = tt.load %px : tensor<64x!tt.ptr<i32>>
  %outs = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %pout = tt.addptr %outs, %range : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %pout, %v : tensor<64x!tt.ptr<i32>>
  tt.return
}
