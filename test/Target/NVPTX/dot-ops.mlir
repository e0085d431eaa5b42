// RUN: despina-opt %s | despina-opt | FileCheck %s

#c = #ttg.layout<"{register: (0,1) (8,0) (0,8); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: ; block: } -> (dim0: 16, dim1: 16)">
#a = #ttg.layout<"{register: (0,1) (8,0) (0,8); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: ; block: } -> (dim0: 16, dim1: 16)">
#b = #ttg.layout<"{register: (1,0) (8,0) (0,8); lane: (2,0) (4,0) (0,1) (0,2) (0,4); warp: ; block: } -> (dim0: 16, dim1: 16)">

// CHECK-LABEL: tt.func @mma
// CHECK: ttng.mma %{{.*}}, %{{.*}}, %{{.*}} {instrShape = array<i32: 16, 8, 16>} : tensor<16x16xf16, #{{.*}}> * tensor<16x16xf16, #{{.*}}> -> tensor<16x16xf32, #{{.*}}>
module attributes {"ttg.num-warps" = 1 : i32} {
  tt.func @mma(%a: tensor<16x16xf16, #a>, %b: tensor<16x16xf16, #b>, %c: tensor<16x16xf32, #c>) -> tensor<16x16xf32, #c> {
    %d = ttng.mma %a, %b, %c {instrShape = array<i32: 16, 8, 16>} : tensor<16x16xf16, #a> * tensor<16x16xf16, #b> -> tensor<16x16xf32, #c>
    tt.return %d : tensor<16x16xf32, #c>
  }
}
