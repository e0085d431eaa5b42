// RUN: despina-opt %s --tt-rewrite-descriptors --split-input-file --verify-diagnostics

tt.func @min(%d: !tt.tensordesc<tensor<16xbf16>>, %i: i32, %v: tensor<16xbf16>) {
  // expected-error @+1 {{'min' on 'bf16' is not supported on targets without tensor memory access}}
  tt.descriptor_reduce min, %d[%i], %v : !tt.tensordesc<tensor<16xbf16>>, tensor<16xbf16>
  tt.return
}

// -----

tt.func @inc(%d: !tt.tensordesc<tensor<16xui32>>, %i: i32, %v: tensor<16xi32>) {
  // expected-error @+1 {{'inc' on 'ui32' is not supported on targets without tensor memory access}}
  tt.descriptor_reduce inc, %d[%i], %v : !tt.tensordesc<tensor<16xui32>>, tensor<16xi32>
  tt.return
}
