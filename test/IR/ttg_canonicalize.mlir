// RUN: despina-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-DAG: #[[$A:.+]] = #ttg.layout<"{register: (1)
#a = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: ; block: } -> (dim0: 64)">
// CHECK-DAG: #[[$B:.+]] = #ttg.layout<"{register: (32)
#b = #ttg.layout<"{register: (32); lane: (1) (2) (4) (8) (16); warp: ; block: } -> (dim0: 64)">

// CHECK-LABEL: @back_and_forth
// CHECK-NEXT: tt.return %arg0
tt.func @back_and_forth(%x: tensor<64xf32, #a>) -> tensor<64xf32, #a> {
  %0 = ttg.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>
  %1 = ttg.convert_layout %0 : tensor<64xf32, #b> -> tensor<64xf32, #a>
  tt.return %1 : tensor<64xf32, #a>
}

// CHECK-LABEL: @splat
// CHECK-NEXT: tt.splat %{{.*}} : f32 -> tensor<64xf32, #[[$B]]>
// CHECK-NEXT: tt.return
tt.func @splat(%x: f32) -> tensor<64xf32, #b> {
  %0 = tt.splat %x : f32 -> tensor<64xf32, #a>
  %1 = ttg.convert_layout %0 : tensor<64xf32, #a> -> tensor<64xf32, #b>
  tt.return %1 : tensor<64xf32, #b>
}

// CHECK-LABEL: @constants
// CHECK-DAG: arith.constant dense<2.000000e+00> : tensor<64xf32, #[[$B]]>
// CHECK-DAG: arith.constant dense<true> : tensor<64xi1, #[[$B]]>
// CHECK-NOT: convert_layout
tt.func @constants() -> (tensor<64xf32, #b>, tensor<64xi1, #b>) {
  %0 = arith.constant dense<2.0> : tensor<64xf32, #a>
  %1 = ttg.convert_layout %0 : tensor<64xf32, #a> -> tensor<64xf32, #b>
  %2 = arith.constant dense<true> : tensor<64xi1, #a>
  %3 = ttg.convert_layout %2 : tensor<64xi1, #a> -> tensor<64xi1, #b>
  tt.return %1, %3 : tensor<64xf32, #b>, tensor<64xi1, #b>
}
