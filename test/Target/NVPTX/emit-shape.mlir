// RUN: despina-opt %s --split-input-file --nvptx-emit-threads=arch=sm_90a | FileCheck %s

// Registers of one thread: 0, 1 (column bits), 2 (row bit); lanes along columns, then rows.
#line = #ttg.layout<"{register: (1) (2); lane: (4) (8) (16) (32) (64); warp: (128) (256); block: } -> (dim0: 512)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // CHECK-LABEL: llvm.func @range
  // The place of the thread once, in the entry; registers add constants, which do not wrap.
  // CHECK: %[[C5:.*]] = llvm.mlir.constant(5 : i32)
  // CHECK: llvm.add %{{.*}}, %{{.*}} overflow<nsw, nuw> : i32
  // CHECK: llvm.mlir.constant(8 : i32)
  // CHECK-NOT: llvm.shl
  tt.func public @range() {
    %r = tt.make_range {start = 5 : i32, end = 517 : i32} : tensor<512xi32, #line>
    tt.return
  }
}

// -----

#wide = #ttg.layout<"{register: (0,1) (0,2) (4,0); lane: (0,4) (0,8) (0,16) (1,0) (2,0); warp: (8,0) (16,0); block: } -> (dim0: 32, dim1: 32)">
#column = #ttg.layout<"{register: (4,0); lane: (0,0) (0,0) (0,0) (1,0) (2,0); warp: (8,0) (16,0); block: } -> (dim0: 32, dim1: 1)">
#slice = #ttg.layout<"{register: (4); lane: (0) (0) (0) (1) (2); warp: (8) (16); block: } -> (dim0: 32)">
#turned = #ttg.layout<"{register: (1,0) (2,0) (0,4); lane: (4,0) (8,0) (16,0) (0,1) (0,2); warp: (0,8) (0,16); block: } -> (dim0: 32, dim1: 32)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // Names only: after the range, no instruction is left to write.
  // CHECK-LABEL: llvm.func @names
  // CHECK: overflow
  // CHECK-NOT: shfl
  // CHECK-NOT: barrier
  // CHECK-NOT: llvm.select
  // CHECK: llvm.return
  tt.func public @names() {
    %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #slice>
    %c = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32, #slice> -> tensor<32x1xi32, #column>
    %w = tt.broadcast %c : tensor<32x1xi32, #column> -> tensor<32x32xi32, #wide>
    %t = tt.trans %w {order = array<i32: 1, 0>} : tensor<32x32xi32, #wide> -> tensor<32x32xi32, #turned>
    tt.return
  }
}
