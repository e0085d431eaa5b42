// RUN: despina-opt %s -cpu-lower-tiles=vector-bytes=64 | FileCheck %s

// An accumulator stays in one buffer: filled before the loop, scaled in place, read after it; no copies.

// CHECK-LABEL: llvm.func @scale(
// CHECK: %[[ACC:.*]] = llvm.getelementptr inbounds %arg4[0]
// CHECK-NOT: llvm.getelementptr inbounds %arg4
// CHECK: scf.for
// CHECK: scf.for
// CHECK: llvm.getelementptr %[[ACC]]
// CHECK: scf.for {{.*}} : i32 {
// CHECK: scf.for
// CHECK: llvm.getelementptr %[[ACC]]
// CHECK: arith.mulf
// CHECK-NOT: llvm.intr.memcpy
tt.func public @scale(%x: !tt.ptr<f32>, %n: i32, %factor: f32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %range = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %p = tt.addptr %xs, %range : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %init = tt.load %p : tensor<128x!tt.ptr<f32>>
  %f = tt.splat %factor : f32 -> tensor<128xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128xf32>) : i32 {
    %scaled = arith.mulf %acc, %f : tensor<128xf32>
    scf.yield %scaled : tensor<128xf32>
  }
  tt.store %p, %r : tensor<128x!tt.ptr<f32>>
  tt.return
}

