// RUN: despina-opt %s | despina-opt | FileCheck %s

// CHECK-LABEL: @sum
tt.func @sum(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: tt.reduce(%{{.*}}) attributes {axis = 1 : i32} {
  // CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK: %[[R:.*]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK: tt.reduce.return %[[R]] : f32
  // CHECK: } : (tensor<4x8xf32>) -> tensor<4xf32>
  %0 = tt.reduce(%x) attributes {axis = 1 : i32} {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    tt.reduce.return %r : f32
  } : (tensor<4x8xf32>) -> tensor<4xf32>
  tt.return %0 : tensor<4xf32>
}

// Public TTIR writes the generic form.
// CHECK-LABEL: @argmax
tt.func @argmax(%x: tensor<8xf32>, %i: tensor<8xi32>) -> (f32, i32) {
  // CHECK: tt.reduce(%{{.*}}, %{{.*}}) attributes {axis = 0 : i32} {
  // CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
  // CHECK: } : (tensor<8xf32>, tensor<8xi32>) -> (f32, i32)
  %0:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %ia: i32, %b: f32, %ib: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %m = arith.select %c, %a, %b : f32
    %j = arith.select %c, %ia, %ib : i32
    tt.reduce.return %m, %j : f32, i32
  }) : (tensor<8xf32>, tensor<8xi32>) -> (f32, i32)
  tt.return %0#0, %0#1 : f32, i32
}

// CHECK-LABEL: @cumsum
tt.func @cumsum(%x: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // CHECK: tt.scan(%{{.*}}) attributes {axis = 0 : i32, reverse = true} {
  // CHECK: tt.scan.return %{{.*}} : i32
  // CHECK: } : (tensor<4x8xi32>) -> tensor<4x8xi32>
  %0 = tt.scan(%x) attributes {axis = 0 : i32, reverse = true} {
  ^bb0(%a: i32, %b: i32):
    %r = arith.addi %a, %b : i32
    tt.scan.return %r : i32
  } : (tensor<4x8xi32>) -> tensor<4x8xi32>
  tt.return %0 : tensor<4x8xi32>
}

// CHECK-LABEL: @dot
tt.func @dot(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>, %c: tensor<16x8xf32>, %i: tensor<2x16x16xi8>,
             %j: tensor<2x16x16xi32>, %e: tensor<16x16xf8E5M2>, %f: tensor<16x16xf8E4M3FN>, %g: tensor<16x16xf32>) {
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x32xf16> * tensor<32x8xf16> -> tensor<16x8xf32>
  %0 = tt.dot %a, %b, %c : tensor<16x32xf16> * tensor<32x8xf16> -> tensor<16x8xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %1 = tt.dot %g, %g, %g, inputPrecision = tf32x3 {maxNumImpreciseAcc = 32 : i32} : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  // CHECK: tt.dot %{{.*}} : tensor<2x16x16xi8> * tensor<2x16x16xi8> -> tensor<2x16x16xi32>
  %2 = tt.dot %i, %i, %j : tensor<2x16x16xi8> * tensor<2x16x16xi8> -> tensor<2x16x16xi32>
  // CHECK: tt.dot %{{.*}} : tensor<16x16xf8E5M2> * tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
  %3 = tt.dot %e, %f, %g : tensor<16x16xf8E5M2> * tensor<16x16xf8E4M3FN> -> tensor<16x16xf32>
  tt.return
}
