// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | FileCheck %s --check-prefix=LLVM
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx -arch=sm_90a | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx -arch=sm_90a -cubin -o %t.cubin
// RUN: llvm-readelf -h %t.cubin | FileCheck %s --check-prefix=CUBIN
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | not despina-ptx -arch=sm_90 2>&1 | FileCheck %s --check-prefix=OLD
// CUBIN: Machine: NVIDIA CUDA architecture
// OLD: tensormap.replace
// OLD-SAME: sm_90a

// A map that the program makes: written in shared memory, copied to its place, made known to the unit that copies.
// Strides in bytes need PTX 8.5: assemblers before took them for something else.
// CHECK: .version 8.5
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90", ttg.shared = 272 : i32,
  ttg.global_scratch_memory_size = 256 : i32} {
// LLVM: llvm.func @kernel(
// LLVM-SAME: %[[SCRATCH:arg[0-9]+]]: !llvm.ptr<1>) attributes
// The programs of the grid in the order x, y, z; each has two places.
// LLVM-DAG: nvvm.read.ptx.sreg.ctaid.z
// LLVM-DAG: nvvm.read.ptx.sreg.nctaid.y
// LLVM-DAG: nvvm.read.ptx.sreg.ctaid.y
// LLVM-DAG: nvvm.read.ptx.sreg.nctaid.x
// LLVM-DAG: nvvm.read.ptx.sreg.ctaid.x
// LLVM: %[[BYTES:.*]] = llvm.mul %{{.*}}, %{{.*}} : i64
// LLVM: llvm.getelementptr %[[SCRATCH]][%[[BYTES]]]
tt.func public @kernel(%p: !tt.ptr<bf16>, %n: i32, %m: i32, %stride: i64, %row: i32, %v: i32) {
  // CHECK-DAG: ld.param.b64 %[[P:rd[0-9]+]], [kernel_param_0];
  // CHECK-DAG: ld.param.b64 %[[SCRATCH:rd[0-9]+]], [kernel_param_6];
  // CHECK: add.s64 %[[PLACE:rd[0-9]+]], %[[SCRATCH]], %{{rd[0-9]+}};
  // The draft is aligned to 128 bytes in its scratch memory, which starts at 16.
  // CHECK: st.shared.b32 [%{{r[0-9]+}}+128], 0;
  // CHECK: bar.warp.sync
  // CHECK: tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%[[DRAFT:r[0-9]+]]], %[[P]];
  // CHECK: tensormap.replace.tile.rank.shared::cta.b1024.b32 [%[[DRAFT]]], 1;
  // CHECK: tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%[[DRAFT]]], 0, 64;
  // CHECK: max.s32 %[[N:r[0-9]+]], %{{r[0-9]+}}, 1;
  // CHECK: tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%[[DRAFT]]], 0, %[[N]];
  // CHECK: tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%[[DRAFT]]], 0, 1;
  // CHECK: tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%[[DRAFT]]], 1, 128;
  // CHECK: max.s32 %[[M:r[0-9]+]], %{{r[0-9]+}}, 1;
  // CHECK: tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%[[DRAFT]]], 1, %[[M]];
  // CHECK: tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%[[DRAFT]]], 1, 1;
  // CHECK: shl.b64 %[[STRIDE:rd[0-9]+]], %{{rd[0-9]+}}, 1;
  // CHECK: tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%[[DRAFT]]], 0, %[[STRIDE]];
  // PTX's number of bf16 is 10 (CUDA's is 9), that of 128 bytes 3.
  // CHECK: tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%[[DRAFT]]], 10;
  // CHECK: tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%[[DRAFT]]], 0;
  // CHECK: tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%[[DRAFT]]], 3;
  // CHECK: tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%[[DRAFT]]], 1;
  // CHECK: bar.warp.sync
  // CHECK: tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%[[PLACE]]], [%{{r[0-9]+}}], 128;
  // CHECK: fence.proxy.tensormap::generic.acquire.gpu [%[[PLACE]]], 128;
  %map = ttng.make_tensor_map %p, [%n, %m], [%stride] {box = array<i32: 64, 128>, dataType = 9 : i32, elementBytes = 2 : i32, nanFill, slot = 0 : i32, swizzleBytes = 128 : i32, ttg.offset = 16 : i32} : !tt.ptr<bf16> -> !tt.ptr<i8>
  // In a loop, the map may be known as it was: stores through it end first.
  // CHECK: add.s64 %[[NEXT:rd[0-9]+]], %[[PLACE]], 128;
  // CHECK: tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%[[NEXT]]],
  // CHECK: cp.async.bulk.wait_group 0;
  // CHECK: tensormap.replace.tile.global_address
  // CHECK: tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%{{r[0-9]+}}], 6;
  // CHECK: tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%{{r[0-9]+}}], 0;
  // CHECK: tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%{{r[0-9]+}}], 0;
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<bf16>, i32
    %again = ttng.make_tensor_map %q, [%n], [] {box = array<i32: 64>, dataType = 6 : i32, elementBytes = 2 : i32, slot = 1 : i32, swizzleBytes = 0 : i32, ttg.offset = 0 : i32} : !tt.ptr<bf16> -> !tt.ptr<i8>
  }
  // CHECK: fence.proxy.async.global;
  ttng.fence_async_global
  tt.return
}
}
