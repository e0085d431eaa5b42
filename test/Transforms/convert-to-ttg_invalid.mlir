// RUN: despina-opt %s --convert-to-ttg --split-input-file --verify-diagnostics
// RUN: not despina-opt %s --convert-to-ttg=num-warps=3 2>&1 | FileCheck %s
// CHECK: option num-warps is 3, but must be a power of two up to 1024

tt.func @extent() {
  // expected-error @+1 {{has a tile that cannot be spread over threads: 'tensor<3xf32>'; extents must be powers of two}}
  %0 = arith.constant dense<0.0> : tensor<3xf32>
  tt.return
}

// -----

tt.func @resource() {
  // expected-error @+1 {{has a tile that is not written as dense<...>}}
  %0 = arith.constant dense_resource<data> : tensor<4xf32>
  tt.return
}

{-#
  dialect_resources: { builtin: { data: "0x0400000000000000000000000000000000000000" } }
#-}
