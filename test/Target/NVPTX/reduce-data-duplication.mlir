// RUN: despina-opt %s --nvptx-reduce-data-duplication | FileCheck %s

#rows = #ttg.layout<"{register: (0,1) (0,2) (0,4); lane: (0,8) (0,16) (0,32) (1,0) (2,0); warp: (4,0) (8,0); block: } -> (dim0: 16, dim1: 64)">
#columns = #ttg.layout<"{register: (1,0) (2,0) (4,0); lane: (8,0) (16,0) (32,0) (0,1) (0,2); warp: (0,4) (0,8); block: } -> (dim0: 64, dim1: 16)">
#a = #ttg.layout<"{register: (0,1) (8,0) (0,8) (0,16) (0,32); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (0,0) (0,0); block: } -> (dim0: 16, dim1: 64)">
#b = #ttg.layout<"{register: (1,0) (8,0) (16,0) (32,0); lane: (2,0) (4,0) (0,1) (0,2) (0,4); warp: (0,8) (0,0); block: } -> (dim0: 64, dim1: 16)">
#c = #ttg.layout<"{register: (0,1) (8,0); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (0,8) (0,0); block: } -> (dim0: 16, dim1: 16)">

// CHECK-DAG: #[[$A:.+]] = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (0,32) (1,8) (2,16) (4,32) (8,0); block:} -> (dim0: 16, dim1: 64)">
// CHECK-DAG: #[[$B:.+]] = #ttg.layout<"{offset: (1,0) (2,0) (4,0) (8,0) (16,0) (32,0) (8,1) (16,2) (32,4) (0,8); block:} -> (dim0: 64, dim1: 16)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
// One buffer for each tile, however often it is read. Axes stay in the order in which threads have them.
// CHECK-LABEL: tt.func @buffers
// CHECK: %[[BA:.+]] = ttg.local_alloc %{{.+}} : (tensor<16x64xf16, #{{.+}}>) -> !ttg.memdesc<16x64xf16, #[[$A]]>
// CHECK: ttg.local_load %[[BA]]
// CHECK: %[[BB:.+]] = ttg.local_alloc %{{.+}} : (tensor<64x16xf16, #{{.+}}>) -> !ttg.memdesc<64x16xf16, #[[$B]]>
// CHECK: ttg.local_load %[[BB]]
// CHECK: ttg.local_load %[[BA]]
// CHECK-NOT: ttg.local_alloc
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.return
tt.func @buffers(%x: tensor<16x64xf16, #rows>, %y: tensor<64x16xf16, #columns>, %c: tensor<16x16xf32, #c>) -> tensor<16x16xf32, #c> {
  %a = ttg.convert_layout %x : tensor<16x64xf16, #rows> -> tensor<16x64xf16, #a>
  %b = ttg.convert_layout %y : tensor<64x16xf16, #columns> -> tensor<64x16xf16, #b>
  %d = ttng.mma %a, %b, %c {instrShape = array<i32: 16, 8, 16>} : tensor<16x64xf16, #a> * tensor<64x16xf16, #b> -> tensor<16x16xf32, #c>
  %again = ttg.convert_layout %x : tensor<16x64xf16, #rows> -> tensor<16x64xf16, #a>
  %half = arith.negf %again : tensor<16x64xf16, #a>
  %e = ttng.mma %half, %b, %d {instrShape = array<i32: 16, 8, 16>} : tensor<16x64xf16, #a> * tensor<64x16xf16, #b> -> tensor<16x16xf32, #c>
  tt.return %e : tensor<16x16xf32, #c>
}

// What stays in the warp, and what no matrix unit reads, stays a conversion.
// CHECK-LABEL: tt.func @others
// CHECK-NOT: ttg.local_alloc
// CHECK: tt.return
tt.func @others(%x: tensor<16x16xf32, #c>) -> tensor<16x64xf16, #a> {
  %0 = arith.constant dense<1.0> : tensor<16x64xf16, #rows>
  %1 = ttg.convert_layout %0 : tensor<16x64xf16, #rows> -> tensor<16x64xf16, #a>
  tt.return %1 : tensor<16x64xf16, #a>
}
}
