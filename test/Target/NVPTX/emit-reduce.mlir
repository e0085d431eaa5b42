// RUN: despina-opt %s --split-input-file --nvptx-emit-threads=arch=sm_90a | FileCheck %s
// RUN: despina-opt %s --split-input-file --nvptx-emit-threads=arch=sm_75 | FileCheck %s --check-prefix=OLD

// A row of 256 in one warp: eight registers, then 32 lanes.
#rows = #ttg.layout<"{register: (0,1) (0,2) (0,128); lane: (0,4) (0,8) (0,16) (0,32) (0,64); warp: (1,0) (2,0); block: } -> (dim0: 4, dim1: 256)">
#row = #ttg.layout<"{register: ; lane: (0) (0) (0) (0) (0); warp: (1) (2); block: } -> (dim0: 4)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // CHECK-LABEL: llvm.func @integers
  // CHECK: nvvm.read.ptx.sreg.tid.x
  // CHECK-COUNT-7: llvm.add %
  // CHECK: nvvm.redux.sync add
  // CHECK-NOT: nvvm.shfl
  // CHECK-NOT: nvvm.barrier
  // CHECK: llvm.return
  // OLD-LABEL: llvm.func @integers
  // OLD-COUNT-5: nvvm.shfl.sync bfly
  // OLD-NOT: nvvm.redux
  // OLD: llvm.return
  tt.func public @integers(%x: i32) {
    %s = tt.splat %x : i32 -> tensor<4x256xi32, #rows>
    %r = "tt.reduce"(%s) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %sum = arith.addi %a, %b : i32
      tt.reduce.return %sum : i32
    }) : (tensor<4x256xi32, #rows>) -> tensor<4xi32, #row>
    tt.return
  }
}

// -----

// The axis goes over warps: partial results go through shared memory, those of both operands behind one
// barrier. Every warp finishes all of them, so that the result is everywhere.
#line = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: (64) (128); block: } -> (dim0: 256)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // CHECK-LABEL: llvm.func @pairs
  // CHECK: nvvm.barrier
  // CHECK-NOT: nvvm.barrier
  // CHECK: llvm.return
  tt.func public @pairs(%x: f32, %i: i64) {
    %s = tt.splat %x : f32 -> tensor<256xf32, #line>
    %t = tt.splat %i : i64 -> tensor<256xi64, #line>
    %r:2 = "tt.reduce"(%s, %t) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %ai: i64, %b: f32, %bi: i64):
      %c = arith.cmpf ogt, %a, %b : f32
      %v = arith.select %c, %a, %b : f32
      %vi = arith.select %c, %ai, %bi : i64
      tt.reduce.return %v, %vi : f32, i64
    }) {ttg.offset = 0 : i32} : (tensor<256xf32, #line>, tensor<256xi64, #line>) -> (f32, i64)
    tt.return
  }
}
