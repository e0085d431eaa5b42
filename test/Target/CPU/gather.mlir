// RUN: despina-opt %s --cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// Positions come from memory: each element is loaded on its own, never beyond the tile.
// CHECK-LABEL: llvm.func @gather
// CHECK: scf.for
// CHECK: arith.andi %{{.*}}, %c31_i64 : i64
// CHECK: llvm.load %{{.*}} -> f32
// CHECK: llvm.store
tt.func @gather(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>) {
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %qp = tt.addptr %qs, %r : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %x = tt.load %pp : tensor<32x!tt.ptr<f32>>
  %i = tt.load %qp : tensor<32x!tt.ptr<i32>>
  %y = tt.gather %x[%i] {axis = 0 : i32} : (tensor<32xf32>, tensor<32xi32>) -> tensor<32xf32>
  tt.store %pp, %y : tensor<32x!tt.ptr<f32>>
  tt.return
}
