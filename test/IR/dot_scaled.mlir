// RUN: despina-opt %s | despina-opt | FileCheck %s
// RUN: despina-opt %s --mlir-print-op-generic | despina-opt | FileCheck %s

// CHECK-LABEL: @both_scaled
tt.func @both_scaled(%a: tensor<128x32xi8>, %as: tensor<128x1xi8>, %b: tensor<32x64xf8E4M3FN>, %bs: tensor<64x1xi8>,
                     %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  // CHECK: tt.dot_scaled %{{.*}} scale %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} lhs = e5m2 rhs = e4m3 {fastMath = false} : tensor<128x32xi8>, tensor<128x1xi8> * tensor<32x64xf8E4M3FN>, tensor<64x1xi8> -> tensor<128x64xf32>
  %0 = tt.dot_scaled %a scale %as, %b scale %bs, %c lhs = e5m2 rhs = e4m3 {fastMath = false}
       : tensor<128x32xi8>, tensor<128x1xi8> * tensor<32x64xf8E4M3FN>, tensor<64x1xi8> -> tensor<128x64xf32>
  tt.return %0 : tensor<128x64xf32>
}

// CHECK-LABEL: @one_scaled
tt.func @one_scaled(%a: tensor<16x64xbf16>, %b: tensor<64x8xi8>, %bs: tensor<16x4xf8E4M3FN>, %c: tensor<16x16xf32>)
    -> tensor<16x16xf32> {
  // CHECK: tt.dot_scaled %{{.*}}, %{{.*}} scale %{{.*}}, %{{.*}} lhs = bf16 rhs = e2m1 {fastMath = true, rhs_k_pack = false} : tensor<16x64xbf16> * tensor<64x8xi8>, tensor<16x4xf8E4M3FN> -> tensor<16x16xf32>
  %0 = tt.dot_scaled %a, %b scale %bs, %c lhs = bf16 rhs = e2m1 {fastMath = true, rhs_k_pack = false}
       : tensor<16x64xbf16> * tensor<64x8xi8>, tensor<16x4xf8E4M3FN> -> tensor<16x16xf32>
  tt.return %0 : tensor<16x16xf32>
}

// CHECK-LABEL: @batches_without_scales
tt.func @batches_without_scales(%a: tensor<4x16x64xf16>, %b: tensor<4x32x16xi8>, %c: tensor<4x16x16xf32>)
    -> tensor<4x16x16xf32> {
  // CHECK: tt.dot_scaled %{{.*}}, %{{.*}}, %{{.*}} lhs = fp16 rhs = e2m1 {fastMath = false} : tensor<4x16x64xf16> * tensor<4x32x16xi8> -> tensor<4x16x16xf32>
  %0 = tt.dot_scaled %a, %b, %c lhs = fp16 rhs = e2m1 {fastMath = false}
       : tensor<4x16x64xf16> * tensor<4x32x16xi8> -> tensor<4x16x16xf32>
  tt.return %0 : tensor<4x16x16xf32>
}
