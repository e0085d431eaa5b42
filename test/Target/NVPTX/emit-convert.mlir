// RUN: despina-opt %s --split-input-file --nvptx-emit-threads=arch=sm_90a | FileCheck %s

#a = #ttg.layout<"{register: (1) (2); lane: (4) (8) (16) (32) (64); warp: (128); block: } -> (dim0: 256)">
#b = #ttg.layout<"{register: (2) (1); lane: (4) (8) (16) (32) (64); warp: (128); block: } -> (dim0: 256)">

module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // Registers change names.
  // CHECK-LABEL: llvm.func @registers
  // CHECK-NOT: shfl.sync bfly
  // CHECK-NOT: nvvm.barrier
  // CHECK-NOT: llvm.select
  // CHECK: llvm.return
  tt.func public @registers(%x: f32) {
    %s = tt.splat %x : f32 -> tensor<256xf32, #a>
    %t = ttg.convert_layout %s : tensor<256xf32, #a> -> tensor<256xf32, #b>
    tt.return
  }
}

// -----

#a = #ttg.layout<"{register: (1) (2); lane: (4) (8) (16) (32) (64); warp: (128); block: } -> (dim0: 256)">
#c = #ttg.layout<"{register: (1) (64); lane: (4) (8) (16) (32) (2); warp: (128); block: } -> (dim0: 256)">
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // A register and a lane change places. Two halves travel in one word: one shuffle for four values, since
  // the other two stay.
  // CHECK-LABEL: llvm.func @shuffles
  // CHECK-COUNT-4: llvm.select
  // CHECK: %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<2xi16> to i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[WORD]],
  // CHECK-NOT: nvvm.shfl
  // CHECK-COUNT-4: llvm.select
  // CHECK-NOT: nvvm.barrier
  // CHECK: llvm.return
  tt.func public @shuffles(%x: f16) {
    %s = tt.splat %x : f16 -> tensor<256xf16, #a>
    %t = ttg.convert_layout %s : tensor<256xf16, #a> -> tensor<256xf16, #c>
    tt.return
  }
}

// -----

#a = #ttg.layout<"{register: (1) (2); lane: (4) (8) (16) (32) (64); warp: (128); block: } -> (dim0: 256)">
#d = #ttg.layout<"{register: (1) (128); lane: (2) (4) (8) (16) (32); warp: (64); block: } -> (dim0: 256)">
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // Across warps. Pointers are 64 bits.
  // CHECK-LABEL: llvm.func @shared
  // CHECK: llvm.getelementptr %{{.*}}[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK: llvm.ptrtoint %{{.*}} : !llvm.ptr<1> to i64
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<2xi64>, !llvm.ptr<3>
  // CHECK: nvvm.barrier
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<2xi64>
  // CHECK: llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<1>
  // CHECK-NOT: nvvm.barrier
  // CHECK: llvm.return
  tt.func public @shared(%x: !tt.ptr<f16>) {
    %s = tt.splat %x : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #a>
    %t = ttg.convert_layout %s {ttg.offset = 64 : i32} : tensor<256x!tt.ptr<f16>, #a> -> tensor<256x!tt.ptr<f16>, #d>
    tt.return
  }
}

// -----

#copies = #ttg.layout<"{register: (1) (2); lane: (4) (8) (16) (32) (0); warp: (64); block: } -> (dim0: 128)">
#d = #ttg.layout<"{register: (1) (2); lane: (64) (4) (8) (16) (0); warp: (32); block: } -> (dim0: 128)">
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // Lanes from 16 on hold copies and do not store.
  // CHECK-LABEL: llvm.func @copies
  // CHECK: llvm.icmp "eq" %{{.*}}, %{{.*}} : i32
  // CHECK: llvm.cond_br
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  // CHECK: llvm.br
  // CHECK: nvvm.barrier
  tt.func public @copies(%x: f32) {
    %s = tt.splat %x : f32 -> tensor<128xf32, #copies>
    %t = ttg.convert_layout %s {ttg.offset = 0 : i32} : tensor<128xf32, #copies> -> tensor<128xf32, #d>
    tt.return
  }
}

// -----

#a = #ttg.layout<"{register: (64); lane: (1) (2) (4) (8) (16); warp: ; block: (32)} -> (dim0: 128)">
#b = #ttg.layout<"{register: (32); lane: (1) (2) (4) (8) (16); warp: ; block: (64)} -> (dim0: 128)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 2 : i32} {
  // Each block writes to its own memory and reads where its elements are. Nobody goes on, and ends, while others read.
  // CHECK-LABEL: llvm.func @blocks
  // CHECK: nvvm.read.ptx.sreg.cluster.ctaid.x
  // CHECK: llvm.store %{{.*}} : {{.*}}, !llvm.ptr<3>
  // CHECK: nvvm.cluster.arrive {aligned}
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  // CHECK: nvvm.mapa %{{.*}}, %{{.*}} : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK: llvm.load %{{.*}} : !llvm.ptr<7>
  // CHECK: nvvm.cluster.arrive {aligned}
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  // CHECK-NOT: nvvm.barrier
  // CHECK: llvm.return
  tt.func public @blocks(%x: f32) {
    %s = tt.splat %x : f32 -> tensor<128xf32, #a>
    %t = ttg.convert_layout %s {ttg.offset = 0 : i32} : tensor<128xf32, #a> -> tensor<128xf32, #b>
    tt.return
  }
}

// -----

#a = #ttg.layout<"{register: (32) (64); lane: (1) (2) (4) (8) (16); warp: ; block: (0)} -> (dim0: 128)">
#b = #ttg.layout<"{register: (32); lane: (1) (2) (4) (8) (16); warp: ; block: (64)} -> (dim0: 128)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 2 : i32} {
  // A block that has a copy of what it needs asks nobody: registers are chosen.
  // CHECK-LABEL: llvm.func @copies
  // CHECK-NOT: nvvm.cluster
  // CHECK-NOT: !llvm.ptr<7>
  // CHECK: llvm.select
  // CHECK-NOT: nvvm.cluster
  // CHECK: llvm.return
  tt.func public @copies(%x: f32) {
    %s = tt.splat %x : f32 -> tensor<128xf32, #a>
    %t = ttg.convert_layout %s : tensor<128xf32, #a> -> tensor<128xf32, #b>
    tt.return
  }
}
