// RUN: not despina-opt %s --nvptx-emit-threads=arch=sm_90a 2>&1 | FileCheck %s

#rows = #ttg.layout<"{register: ; lane: (0,1) (0,2) (0,4) (1,0) (2,0); warp: ; block: } -> (dim0: 4, dim1: 8)">
#other = #ttg.layout<"{register: ; lane: (1,0) (2,0) (4,0) (0,2) (0,1); warp: ; block: } -> (dim0: 8, dim1: 4)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @kernel(%x: i32) {
    %s = tt.splat %x : i32 -> tensor<4x8xi32, #rows>
    // CHECK: :[[@LINE+1]]:10: error: 'tt.trans' op has a result layout in which threads lack elements that they had in the operand's: 'tensor<8x4xi32,
    %t = tt.trans %s {order = array<i32: 1, 0>} : tensor<4x8xi32, #rows> -> tensor<8x4xi32, #other>
    tt.return
  }
}
