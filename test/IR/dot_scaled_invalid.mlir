// RUN: despina-opt %s --split-input-file --verify-diagnostics

tt.func @rank(%a: tensor<64xi8>, %b: tensor<64xi8>, %c: tensor<16xf32>) {
  // expected-error @+1 {{needs matrices or batches of them, not 'tensor<16xf32>'}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<64xi8> * tensor<64xi8> -> tensor<16xf32>
  tt.return
}

// -----

tt.func @ranks(%a: tensor<1x16x64xi8>, %b: tensor<64x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{needs operands of one rank, but has 'tensor<1x16x64xi8>' and 'tensor<16x16xf32>'}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<1x16x64xi8> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @format(%a: tensor<16x64xbf16>, %b: tensor<64x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{has elements of the format e4m3 in 'tensor<16x64xbf16>'}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x64xbf16> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @format_without_unit(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{has elements of the format e2m3 in 'tensor<16x64xi8>'}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m3 rhs = e4m3 {fastMath = false} : tensor<16x64xi8> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @packing(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{packs b along another dimension than K, which is for e2m1, not e4m3}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false, rhs_k_pack = false} : tensor<16x64xi8> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @scale_type(%a: tensor<16x64xi8>, %s: tensor<16x2xi16>, %b: tensor<64x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{needs scales of i8 or f8E4M3FN, not 'tensor<16x2xi16>'}}
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x64xi8>, tensor<16x2xi16> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @scale_shape(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>, %s: tensor<2x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{needs a scale for each of 16 columns of b and a number of groups that divides 64, but has 'tensor<2x16xi8>'}}
  %0 = tt.dot_scaled %a, %b scale %s, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x64xi8> * tensor<64x16xi8>, tensor<2x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @groups(%a: tensor<16x64xi8>, %s: tensor<16x2xi8>, %b: tensor<64x16xi8>, %t: tensor<16x4xf8E4M3FN>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{needs as many groups in a as in b, but has 'tensor<16x2xi8>' and 'tensor<16x4xf8E4M3FN>'}}
  %0 = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x64xi8>, tensor<16x2xi8> * tensor<64x16xi8>, tensor<16x4xf8E4M3FN> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @accumulator(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>, %c: tensor<16x16xf16>) {
  // expected-error @+1 {{accumulates in f32, not in 'tensor<16x16xf16>'}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<16x64xi8> * tensor<64x16xi8> -> tensor<16x16xf16>
  tt.return
}

// -----

tt.func @inner(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{multiplies 64 columns of a with 128 rows of b}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e2m1 {fastMath = false} : tensor<16x64xi8> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @outer(%a: tensor<16x64xi8>, %b: tensor<64x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{accumulates a 32x16 product into 'tensor<16x16xf32>'}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e4m3 {fastMath = false, lhs_k_pack = false} : tensor<16x64xi8> * tensor<64x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @batches(%a: tensor<2x16x64xi8>, %b: tensor<4x64x16xi8>, %c: tensor<2x16x16xf32>) {
  // expected-error @+1 {{accumulates a 16x16 product into 'tensor<2x16x16xf32>'}}
  %0 = tt.dot_scaled %a, %b, %c lhs = e4m3 rhs = e4m3 {fastMath = false} : tensor<2x16x64xi8> * tensor<4x64x16xi8> -> tensor<2x16x16xf32>
  tt.return
}
