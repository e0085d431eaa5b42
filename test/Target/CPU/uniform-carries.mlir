// RUN: despina-opt %s -cpu-uniform-carries | FileCheck %s

// CHECK-LABEL: tt.func public @pointers(
// CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[OFFSET:.*]] = %{{.*}}) -> (tensor<16xf32>, i64)
// CHECK: %[[TILE:.*]] = tt.splat %[[OFFSET]] : i64 -> tensor<16xi64>
// CHECK: %[[POINTERS:.*]] = tt.addptr %{{.*}}, %[[TILE]]
// CHECK: tt.load %[[POINTERS]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[OFFSET]], %{{.*}} : i64
// CHECK: scf.yield %{{.*}}, %[[NEXT]] : tensor<16xf32>, i64
tt.func public @pointers(%x: !tt.ptr<f32>, %n: i32, %stride: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant dense<0.0> : tensor<16xf32>
  %range = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %first = tt.addptr %xs, %range : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %step = tt.splat %stride : i32 -> tensor<16xi32>
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%sum = %init, %p = %first) -> (tensor<16xf32>, tensor<16x!tt.ptr<f32>>) : i32 {
    %v = tt.load %p : tensor<16x!tt.ptr<f32>>
    %s = arith.addf %sum, %v : tensor<16xf32>
    %q = tt.addptr %p, %step : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %s, %q : tensor<16xf32>, tensor<16x!tt.ptr<f32>>
  }
  tt.store %first, %r#0 : tensor<16x!tt.ptr<f32>>
  tt.return
}

// A tile that grows by different amounts stays.
// CHECK-LABEL: tt.func public @uneven(
// CHECK: scf.for {{.*}} -> (tensor<16xi32>)
tt.func public @uneven(%x: !tt.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %range = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %r = scf.for %i = %zero to %n step %one iter_args(%t = %range) -> (tensor<16xi32>) : i32 {
    %s = arith.addi %t, %range : tensor<16xi32>
    scf.yield %s : tensor<16xi32>
  }
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %p = tt.addptr %xs, %range : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  tt.store %p, %r : tensor<16x!tt.ptr<i32>>
  tt.return
}
