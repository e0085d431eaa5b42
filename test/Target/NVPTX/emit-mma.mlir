// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 | despina-ptx -arch=sm_80 | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 | despina-ptx -arch=sm_80 -cubin -o %t.cubin

#a = #ttg.layout<"{register: (0,1) (8,0) (0,8) (0,16); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: ; block: } -> (dim0: 16, dim1: 32)">
#b = #ttg.layout<"{register: (1,0) (8,0) (16,0) (0,8); lane: (2,0) (4,0) (0,1) (0,2) (0,4); warp: ; block: } -> (dim0: 32, dim1: 16)">
#c = #ttg.layout<"{register: (0,1) (8,0) (0,8); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: ; block: } -> (dim0: 16, dim1: 16)">
#memA = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,8) (4,16) (8,0); block: } -> (dim0: 16, dim1: 32)">
#memB = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,8) (8,0) (16,0); block: } -> (dim0: 32, dim1: 16)">
#memC = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,0) (8,0); block: } -> (dim0: 16, dim1: 16)">

// a is read as it lies, b transposed; two instructions along K for each of two along N.
// CHECK-LABEL: .entry kernel
// CHECK-COUNT-2: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-COUNT-2: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-COUNT-4: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{[{]%r[0-9]+, ?%r[0-9]+, ?%r[0-9]+, ?%r[0-9]+[}], ?[{]%r[0-9]+, ?%r[0-9]+, ?%r[0-9]+, ?%r[0-9]+[}], ?[{]%r[0-9]+, ?%r[0-9]+[}]}}
// CHECK-NOT: mma.sync
module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 3072 : i32} {
  tt.func public @kernel() {
    %ba = ttg.local_alloc {ttg.offset = 0 : i32} : () -> !ttg.memdesc<16x32xf16, #memA, mutable>
    %bb = ttg.local_alloc {ttg.offset = 1024 : i32} : () -> !ttg.memdesc<32x16xf16, #memB, mutable>
    %bc = ttg.local_alloc {ttg.offset = 2048 : i32} : () -> !ttg.memdesc<16x16xf32, #memC, mutable>
    %a = ttg.local_load %ba : !ttg.memdesc<16x32xf16, #memA, mutable> -> tensor<16x32xf16, #a>
    %b = ttg.local_load %bb : !ttg.memdesc<32x16xf16, #memB, mutable> -> tensor<32x16xf16, #b>
    %c = ttg.local_load %bc : !ttg.memdesc<16x16xf32, #memC, mutable> -> tensor<16x16xf32, #c>
    %d = ttng.mma %a, %b, %c {instrShape = array<i32: 16, 8, 16>} : tensor<16x32xf16, #a> * tensor<32x16xf16, #b> -> tensor<16x16xf32, #c>
    ttg.local_store %d, %bc : tensor<16x16xf32, #c> -> !ttg.memdesc<16x16xf32, #memC, mutable>
    tt.return
  }
}
