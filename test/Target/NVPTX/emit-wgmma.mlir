// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx -arch=sm_90a | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx -arch=sm_90a -cubin -o %t.cubin 2> %t.log
// RUN: FileCheck %s --check-prefix=WARNINGS --allow-empty < %t.log

// The assembler says so where it must keep what the units do in order.
// WARNINGS-NOT: C75
// WARNINGS-NOT: serializ

#c = #ttg.layout<"{register: (0,1) (8,0) (0,8) (64,0); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (16,0) (32,0); block: } -> (dim0: 128, dim1: 16)">
#a = #ttg.layout<"{register: (0,1) (8,0) (0,8) (0,16) (64,0); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (16,0) (32,0); block: } -> (dim0: 128, dim1: 32)">
#memA = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,8) (4,16) (8,0) (16,0) (32,0) (64,0); block: } -> (dim0: 128, dim1: 32)">
#memB = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,8) (8,0) (16,0); block: } -> (dim0: 32, dim1: 16)">
#memC = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,0) (8,0) (16,0) (32,0) (64,0); block: } -> (dim0: 128, dim1: 16)">

// CHECK-LABEL: .entry kernel
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.shared = 18432 : i32} {
  tt.func public @kernel(%useC: i1) {
    %ba = ttg.local_alloc {ttg.offset = 0 : i32} : () -> !ttg.memdesc<128x32xf16, #memA, mutable>
    %bb = ttg.local_alloc {ttg.offset = 8192 : i32} : () -> !ttg.memdesc<32x16xf16, #memB, mutable>
    %bc = ttg.local_alloc {ttg.offset = 9216 : i32} : () -> !ttg.memdesc<128x16xf32, #memC, mutable>
    %c = ttg.local_load %bc : !ttg.memdesc<128x16xf32, #memC, mutable> -> tensor<128x16xf32, #c>
    // Both factors in shared memory: two pieces of 64 rows, two steps along K each; b is transposed.
    // CHECK: wgmma.fence.sync.aligned;
    // CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {{.*}}, a, b, first, 1, 1, 0, 1;
    // CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {{.*}}, a, b, later, 1, 1, 0, 1;
    // CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {{.*}}, a, b, first, 1, 1, 0, 1;
    // CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {{.*}}, a, b, later, 1, 1, 0, 1;
    // CHECK: wgmma.commit_group.sync.aligned;
    // CHECK: wgmma.wait_group.sync.aligned 0;
    %d = ttng.warp_group_dot %ba, %bb, %c useC %useC {instrShape = array<i32: 64, 16, 16>} : !ttg.memdesc<128x32xf16, #memA, mutable> * <32x16xf16, #memB, mutable> -> tensor<128x16xf32, #c>
    // One in registers, and an asynchronous one: its wait stands where it is.
    %a = ttg.local_load %ba : !ttg.memdesc<128x32xf16, #memA, mutable> -> tensor<128x32xf16, #a>
    // CHECK: wgmma.fence.sync.aligned;
    // CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {{.*}}, {{[{]%r[0-9]+,%r[0-9]+,%r[0-9]+,%r[0-9]+[}]}}, b, first, 1, 1, 1;
    // CHECK: wgmma.commit_group.sync.aligned;
    // CHECK-NOT: wgmma.commit_group
    // CHECK: wgmma.wait_group.sync.aligned 0;
    %e = ttng.warp_group_dot %a, %bb, %d {instrShape = array<i32: 64, 16, 16>, isAsync} : tensor<128x32xf16, #a> * <32x16xf16, #memB, mutable> -> tensor<128x16xf32, #c>
    %f:2 = ttng.warp_group_dot_wait %e, %bb {pendings = 0 : i32} : tensor<128x16xf32, #c>, !ttg.memdesc<32x16xf16, #memB, mutable>
    ttg.local_store %f#0, %bc : tensor<128x16xf32, #c> -> !ttg.memdesc<128x16xf32, #memC, mutable>
    tt.return
  }
}
