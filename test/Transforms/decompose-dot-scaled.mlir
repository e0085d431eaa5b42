// RUN: despina-opt %s --tt-decompose-dot-scaled | FileCheck %s

// CHECK-LABEL: @exponents
// CHECK-SAME: %[[A:.*]]: tensor<16x64xf8E5M2>, %[[AS:.*]]: tensor<16x2xi8>, %[[B:.*]]: tensor<64x16xi8>, %[[BS:.*]]: tensor<16x2xi8>, %[[C:.*]]: tensor<16x16xf32>
tt.func @exponents(%a: tensor<16x64xf8E5M2>, %as: tensor<16x2xi8>, %b: tensor<64x16xi8>, %bs: tensor<16x2xi8>,
                   %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  // CHECK: %[[X:.*]] = tt.fp_to_fp %[[A]] : tensor<16x64xf8E5M2> -> tensor<16x64xbf16>
  // CHECK: %[[E:.*]] = arith.extui %[[AS]]
  // CHECK: arith.constant dense<7> : tensor<16x2xi16>
  // CHECK: arith.shli %[[E]]
  // 2^-127 has no leading one.
  // CHECK: arith.constant dense<64> : tensor<16x2xi16>
  // CHECK: arith.maxui
  // CHECK: arith.constant dense<255>
  // CHECK: arith.cmpi eq, %[[E]]
  // CHECK: arith.constant dense<32704>
  // CHECK: arith.select
  // CHECK: arith.bitcast {{.*}} : tensor<16x2xi16> to tensor<16x2xbf16>
  // CHECK: tt.expand_dims {{.*}} -> tensor<16x2x1xbf16>
  // CHECK: tt.broadcast {{.*}} -> tensor<16x2x32xbf16>
  // CHECK: %[[F:.*]] = tt.reshape {{.*}} -> tensor<16x64xbf16>
  // CHECK: %[[L:.*]] = arith.mulf %[[X]], %[[F]] : tensor<16x64xbf16>
  // CHECK: arith.bitcast %[[B]] : tensor<64x16xi8> to tensor<64x16xf8E4M3FN>
  // CHECK: tt.trans {{.*}} {order = array<i32: 1, 0>} : tensor<16x64xbf16> -> tensor<64x16xbf16>
  // CHECK: %[[R:.*]] = arith.mulf
  // CHECK: %[[D:.*]] = tt.dot %[[L]], %[[R]], %[[C]] : tensor<16x64xbf16> * tensor<64x16xbf16> -> tensor<16x16xf32>
  // CHECK-NEXT: tt.return %[[D]]
  %0 = tt.dot_scaled %a scale %as, %b scale %bs, %c lhs = e5m2 rhs = e4m3 {fastMath = false}
       : tensor<16x64xf8E5M2>, tensor<16x2xi8> * tensor<64x16xi8>, tensor<16x2xi8> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// Fast: no exponent is 255.
// CHECK-LABEL: @fast
tt.func @fast(%a: tensor<16x64xbf16>, %as: tensor<16x2xi8>, %b: tensor<64x16xf16>, %c: tensor<16x16xf32>)
    -> tensor<16x16xf32> {
  // CHECK-NOT: arith.cmpi
  // CHECK: arith.extf {{.*}} : tensor<64x16xf16> to tensor<64x16xf32>
  // CHECK: arith.truncf {{.*}} : tensor<64x16xf32> to tensor<64x16xbf16>
  %0 = tt.dot_scaled %a scale %as, %b, %c lhs = bf16 rhs = fp16 {fastMath = true}
       : tensor<16x64xbf16>, tensor<16x2xi8> * tensor<64x16xf16> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// Pairs along K are neighbours on the left, and below each other on the right; scales of fp8 are converted.
// CHECK-LABEL: @pairs
tt.func @pairs(%a: tensor<16x32xi8>, %as: tensor<16x4xf8E4M3FN>, %b: tensor<32x16xi8>, %c: tensor<16x16xf32>)
    -> tensor<16x16xf32> {
  // CHECK: tt.join {{.*}} -> tensor<16x32x2xi8>
  // CHECK: tt.reshape {{.*}} : tensor<16x32x2xi8> -> tensor<16x64xi8>
  // CHECK: tt.fp_to_fp {{.*}} : tensor<16x4xf8E4M3FN> -> tensor<16x4xbf16>
  // CHECK: tt.broadcast {{.*}} -> tensor<16x4x16xbf16>
  // CHECK: tt.join {{.*}} -> tensor<32x16x2xi8>
  // CHECK: tt.trans {{.*}} {order = array<i32: 0, 2, 1>} : tensor<32x16x2xi8> -> tensor<32x2x16xi8>
  // CHECK: tt.reshape {{.*}} -> tensor<64x16xi8>
  // CHECK: tt.dot {{.*}} : tensor<16x64xbf16> * tensor<64x16xbf16>
  %0 = tt.dot_scaled %a scale %as, %b, %c lhs = e2m1 rhs = e2m1 {fastMath = false}
       : tensor<16x32xi8>, tensor<16x4xf8E4M3FN> * tensor<32x16xi8> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// Without scales, fp16 has everything exactly.
// CHECK-LABEL: @halves
tt.func @halves(%a: tensor<2x8x64xi8>, %b: tensor<2x64x16xf16>, %c: tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
  // CHECK: tt.join {{.*}} -> tensor<2x8x64x2xi8>
  // CHECK: tt.trans {{.*}} {order = array<i32: 0, 1, 3, 2>}
  // CHECK: tt.reshape {{.*}} -> tensor<2x16x64xi8>
  // CHECK: tt.dot {{.*}} : tensor<2x16x64xf16> * tensor<2x64x16xf16> -> tensor<2x16x16xf32>
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = fp16 {fastMath = false, lhs_k_pack = false}
       : tensor<2x8x64xi8> * tensor<2x64x16xf16> -> tensor<2x16x16xf32>
  tt.return %0 : tensor<2x16x16xf32>
}
