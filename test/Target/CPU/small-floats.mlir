// RUN: despina-opt %s --cpu-small-floats | FileCheck %s

// CHECK-NOT: f8E
// CHECK-LABEL: tt.func @cast
// CHECK-SAME: tensor<16x!tt.ptr<i8>>
tt.func @cast(%p: tensor<16x!tt.ptr<f8E5M2>>, %x: tensor<16xf32>) -> tensor<16xf16> {
  // CHECK: arith.minui
  // CHECK: %[[BYTES:.*]] = arith.trunci %{{.*}} : tensor<16xi32> to tensor<16xi8>
  %y = tt.fp_to_fp %x, rounding = rtne : tensor<16xf32> -> tensor<16xf8E5M2>
  // CHECK: tt.store %{{.*}}, %[[BYTES]] : tensor<16x!tt.ptr<i8>>
  tt.store %p, %y : tensor<16x!tt.ptr<f8E5M2>>
  // CHECK: %[[LOADED:.*]] = tt.load %{{.*}} : tensor<16x!tt.ptr<i8>>
  %z = tt.load %p : tensor<16x!tt.ptr<f8E5M2>>
  // CHECK: arith.extui %[[LOADED]] : tensor<16xi8> to tensor<16xi32>
  // CHECK: arith.truncf %{{.*}} : tensor<16xf32> to tensor<16xf16>
  %w = tt.fp_to_fp %z : tensor<16xf8E5M2> -> tensor<16xf16>
  tt.return %w : tensor<16xf16>
}

// CHECK-LABEL: tt.func @move
tt.func @move(%c: i1, %n: i32, %x: tensor<16x16xf8E4M3FN>, %acc: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: arith.constant dense<56> : tensor<16x16xi8>
  %k = arith.constant dense<1.0> : tensor<16x16xf8E4M3FN>
  // CHECK: scf.for {{.*}} -> (tensor<16x16xi8>)
  %y = scf.for %i = %zero to %n step %one iter_args(%a = %k) -> (tensor<16x16xf8E4M3FN>) : i32 {
    %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<16x16xf8E4M3FN> -> tensor<16x16xf8E4M3FN>
    scf.yield %t : tensor<16x16xf8E4M3FN>
  }
  // CHECK: tt.dot {{.*}} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %d = tt.dot %x, %y, %acc : tensor<16x16xf8E4M3FN> * tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}
