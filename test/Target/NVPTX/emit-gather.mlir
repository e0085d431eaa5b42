// RUN: despina-opt %s --split-input-file --nvptx-emit-threads=arch=sm_90a | FileCheck %s

#line = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: ; block: } -> (dim0: 64)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // Indices out of range wrap: memory of others is never read.
  // CHECK-LABEL: llvm.func @gather
  // CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<3>
  // CHECK: nvvm.barrier
  // CHECK: %[[LAST:.*]] = llvm.mlir.constant(63 : i32)
  // CHECK: llvm.and %{{.*}}, %[[LAST]]
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK: llvm.return
  tt.func public @gather(%x: f32, %i: i64) {
    %s = tt.splat %x : f32 -> tensor<64xf32, #line>
    %t = tt.splat %i : i64 -> tensor<64xi64, #line>
    %g = tt.gather %s[%t] {axis = 0 : i32, ttg.offset = 0 : i32} : (tensor<64xf32, #line>, tensor<64xi64, #line>) -> tensor<64xf32, #line>
    tt.return
  }
}

// -----

#line = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: ; block: } -> (dim0: 64)">
#bins = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (0); warp: ; block: } -> (dim0: 16)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // CHECK-LABEL: llvm.func @histogram
  // CHECK: nvvm.barrier
  // CHECK-COUNT-2: llvm.atomicrmw add %{{.*}}, %{{.*}} monotonic : !llvm.ptr<3>, i32
  // CHECK: nvvm.barrier
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
  // CHECK: llvm.return
  tt.func public @histogram(%x: i32) {
    %s = tt.splat %x : i32 -> tensor<64xi32, #line>
    %h = tt.histogram %s {ttg.offset = 0 : i32} : tensor<64xi32, #line> -> tensor<16xi32, #bins>
    tt.return
  }
}

// -----

#line = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: ; block: (64)} -> (dim0: 128)">
#bins = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (0); warp: ; block: (0)} -> (dim0: 16)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 2 : i32} {
  // Bit 6 of an index tells the block that has the element.
  // CHECK-LABEL: llvm.func @gather_from_blocks
  // CHECK: nvvm.cluster.wait
  // CHECK: %[[BIT:.*]] = llvm.mlir.constant(6 : i32)
  // CHECK: llvm.lshr %{{.*}}, %[[BIT]]
  // CHECK: nvvm.mapa
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<7> -> i32
  // CHECK: nvvm.cluster.arrive
  // CHECK-NEXT: nvvm.cluster.wait
  // CHECK: llvm.return
  tt.func public @gather_from_blocks(%x: f32, %i: i64) {
    %s = tt.splat %x : f32 -> tensor<128xf32, #line>
    %t = tt.splat %i : i64 -> tensor<128xi64, #line>
    %g = tt.gather %s[%t] {axis = 0 : i32, ttg.offset = 0 : i32} : (tensor<128xf32, #line>, tensor<128xi64, #line>) -> tensor<128xf32, #line>
    tt.return
  }
}

// -----

#line = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: ; block: (64)} -> (dim0: 128)">
#bins = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (0); warp: ; block: (0)} -> (dim0: 16)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 2 : i32} {
  // Each block counts what it has; the sum is over both.
  // CHECK-LABEL: llvm.func @histogram_over_blocks
  // CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} monotonic : !llvm.ptr<3>, i32
  // CHECK: nvvm.cluster.wait
  // CHECK-COUNT-2: llvm.load %{{.*}} : !llvm.ptr<7> -> i32
  // CHECK: llvm.add
  // CHECK: nvvm.cluster.wait
  // CHECK: llvm.return
  tt.func public @histogram_over_blocks(%x: i32) {
    %s = tt.splat %x : i32 -> tensor<128xi32, #line>
    %h = tt.histogram %s {ttg.offset = 0 : i32} : tensor<128xi32, #line> -> tensor<16xi32, #bins>
    tt.return
  }
}
