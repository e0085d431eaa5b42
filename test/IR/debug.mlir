// RUN: despina-opt %s | despina-opt | FileCheck %s

// CHECK-LABEL: @debug
tt.func @debug(%x: tensor<8xi32>, %s: f32, %c: tensor<8xi1>, %b: i1) {
  // CHECK: tt.print "values: " {hex = true, isSigned = array<i32: 1, 0>} : %{{.*}}, %{{.*}} : tensor<8xi32>, f32
  tt.print "values: " {hex = true, isSigned = array<i32: 1, 0>} : %x, %s : tensor<8xi32>, f32
  // CHECK: tt.print "here" {hex = false, isSigned = array<i32>}
  tt.print "here" {hex = false, isSigned = array<i32>}
  // CHECK: tt.assert %{{.*}}, "in range" : tensor<8xi1>
  tt.assert %c, "in range" : tensor<8xi1>
  // CHECK: tt.assume %{{.*}}
  tt.assume %b
  // CHECK: tt.barrier
  tt.barrier
  tt.return
}
