// RUN: despina-opt %s --split-input-file --nvptx-emit-threads=arch=sm_90a | FileCheck %s
// RUN: despina-opt %s --split-input-file --nvptx-emit-threads=arch=sm_80 | FileCheck %s --check-prefix=SM80

#memory = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,0) (8,0); block: } -> (dim0: 16, dim1: 16)">
#rows = #ttg.layout<"{register: (0,1) (0,2) (0,4); lane: (0,8) (1,0) (2,0) (4,0) (8,0); warp: ; block: } -> (dim0: 16, dim1: 16)">
#operand = #ttg.layout<"{register: (0,1) (8,0) (0,8); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: ; block: } -> (dim0: 16, dim1: 16)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // Eight halves in one store; the operand of a matrix unit with one ldmatrix.
  // CHECK-LABEL: llvm.func @operand
  // CHECK: llvm.getelementptr %{{.*}}[512] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
  // CHECK: nvvm.ldmatrix {{.*}}num = 4 : i32
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK: nvvm.stmatrix
  // CHECK: llvm.return
  // SM80-LABEL: llvm.func @operand
  // SM80: nvvm.ldmatrix
  // SM80-NOT: nvvm.stmatrix
  // SM80-COUNT-4: llvm.store %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
  tt.func public @operand(%x: f16) {
    %s = tt.splat %x : f16 -> tensor<16x16xf16, #rows>
    %b = ttg.local_alloc %s {ttg.offset = 512 : i32} : (tensor<16x16xf16, #rows>) -> !ttg.memdesc<16x16xf16, #memory, mutable>
    tt.barrier
    %y = ttg.local_load %b : !ttg.memdesc<16x16xf16, #memory, mutable> -> tensor<16x16xf16, #operand>
    tt.barrier
    ttg.local_store %y, %b : tensor<16x16xf16, #operand> -> !ttg.memdesc<16x16xf16, #memory, mutable>
    tt.return
  }
}

// -----

#memory = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,0) (8,0); block: } -> (dim0: 16, dim1: 16)">
#part = #ttg.layout<"{register: (0,1) (0,2); lane: (0,4) (1,0) (2,0) (0,0) (0,0); warp: ; block: } -> (dim0: 4, dim1: 8)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // A slice starts index * 256 elements in; row 8, column 8 of it is element 136, which is XORed.
  // CHECK-LABEL: llvm.func @views
  // CHECK-SAME: %[[INDEX:arg[0-9]+]]: i32
  // CHECK: llvm.mlir.constant(256 : i32)
  // CHECK: llvm.mul %[[INDEX]],
  // CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  // CHECK: llvm.getelementptr %{{.*}}[136] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i32
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK: llvm.return
  tt.func public @views(%index: i32) {
    %ring = ttg.local_alloc {ttg.offset = 0 : i32} : () -> !ttg.memdesc<2x16x16xf32, #memory, mutable>
    %slice = ttg.memdesc_index %ring[%index] : !ttg.memdesc<2x16x16xf32, #memory, mutable> -> !ttg.memdesc<16x16xf32, #memory, mutable>
    %window = ttg.memdesc_subslice %slice [8, 8] : !ttg.memdesc<16x16xf32, #memory, mutable> -> !ttg.memdesc<4x8xf32, #memory, mutable, 16x16>
    %x = ttg.local_load %window : !ttg.memdesc<4x8xf32, #memory, mutable, 16x16> -> tensor<4x8xf32, #part>
    ttg.local_dealloc %ring : !ttg.memdesc<2x16x16xf32, #memory, mutable>
    tt.return
  }
}
