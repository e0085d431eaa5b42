// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx -arch=sm_90a | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx -arch=sm_90a -cubin -o %t.cubin
// RUN: llvm-readelf -h %t.cubin | FileCheck %s --check-prefix=CUBIN
// CUBIN: Machine: NVIDIA CUDA architecture

// Barriers and bulk copies as instructions. Rows of 64 floats are two boxes of 128 bytes a row, 1024 bytes apart.

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
#memory = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,4) (2,8) (4,16) (0,32); block: } -> (dim0: 8, dim1: 64)">
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90", ttg.shared = 2560 : i32,
  ttng.tensor_maps = [{base = array<i64: 0, 0>, box = array<i32: 32, 8>, dataType = 7 : i32, elementBytes = 4 : i32, extents = array<i64: 1, 0, 1, 0>, nanFill = false, strides = array<i64: -1, 1, -1, 64>, swizzleBytes = 128 : i32}]} {
tt.func public @kernel(%p: !tt.ptr<f32>, %y: i32, %x: i32) {
  // The map is a parameter behind those of the kernel, aligned as the hardware asks.
  // CHECK: .visible .entry kernel(
  // CHECK-NEXT: .param .u64 .ptr .global .align 1 kernel_param_0,
  // CHECK-NEXT: .param .u32 kernel_param_1,
  // CHECK-NEXT: .param .u32 kernel_param_2,
  // CHECK-NEXT: .param .align 64 .b8 kernel_param_3[128]
  // CHECK-DAG: ld.param.b32 %[[X:r[0-9]+]], [kernel_param_2];
  // CHECK-DAG: cvta.param.u64 %[[MAP:rd[0-9]+]],
  // CHECK-DAG: mov.u32 %[[THREAD:r[0-9]+]], %tid.x;
  // CHECK-DAG: setp.ne.b32 %[[OTHER:p[0-9]+]], %[[THREAD]], 0;
  %bar = ttg.local_alloc {ttg.offset = 2048 : i32} : () -> !ttg.memdesc<1xi64, #one, mutable>
  %buf = ttg.local_alloc {ttg.offset = 0 : i32} : () -> !ttg.memdesc<8x64xf32, #memory, mutable>
  // Thread 0 makes the barrier, and tells the unit that copies.
  // CHECK: @%[[OTHER]] bra [[READY:.*]];
  // CHECK: mbarrier.init.shared::cta.b64 [%r{{[0-9]+}}], 1;
  // CHECK: fence.proxy.async.shared::cta;
  // CHECK: [[READY]]:
  // CHECK: bar.sync 0;
  ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #one, mutable>
  tt.barrier
  %map = ttng.tensor_map_argument 0 : !tt.ptr<i8>
  // It starts the copies. Coordinates go from the innermost axis outwards.
  // CHECK: add.s32 %[[X32:r[0-9]+]], %[[X]], 32;
  // CHECK: @%[[OTHER]] bra [[STARTED:.*]];
  // CHECK: add.s32 %[[BAR:r[0-9]+]], %[[SHARED:r[0-9]+]], 2048;
  // CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [%[[BAR]]], 2048;
  // CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%[[SHARED]]], [%[[MAP]], {%[[X]], %[[Y:r[0-9]+]]}], [%[[BAR]]];
  // CHECK: add.s32 %[[SECOND:r[0-9]+]], %[[SHARED]], 1024;
  // CHECK: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%[[SECOND]]], [%[[MAP]], {%[[X32]], %[[Y]]}], [%[[BAR]]];
  // CHECK: [[STARTED]]:
  ttng.barrier_expect %bar, 2048 : !ttg.memdesc<1xi64, #one, mutable>
  ttng.async_tma_copy_global_to_local %map[%y, %x] %buf, %bar : !tt.ptr<i8>, !ttg.memdesc<8x64xf32, #memory, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  // All threads wait, for the first phase.
  // CHECK: mov.b32 %[[PHASE:r[0-9]+]], 0;
  // CHECK: mbarrier.try_wait.parity.shared::cta.b64 complete, [%[[WAITED:r[0-9]+]]], %[[PHASE]];
  // CHECK-NEXT: @!complete bra.uni wait;
  ttng.wait_barrier %bar filled %buf : !ttg.memdesc<8x64xf32, #memory, mutable> : !ttg.memdesc<1xi64, #one, mutable>
  // CHECK: fence.proxy.async.shared::cta;
  ttng.fence_async_shared
  // Each write is a group of its own.
  // CHECK: @%[[OTHER]] bra [[WRITTEN:.*]];
  // CHECK: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%[[MAP]], {%[[X]], %[[Y]]}], [%[[SHARED]]];
  // CHECK: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%[[MAP]], {%[[X32]], %[[Y]]}], [%r{{[0-9]+}}];
  // CHECK: cp.async.bulk.commit_group;
  ttng.async_tma_copy_local_to_global %map[%y, %x] %buf : !tt.ptr<i8>, !ttg.memdesc<8x64xf32, #memory, mutable>
  // CHECK: cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%[[MAP]], {%[[X]], %[[Y]]}], [%[[SHARED]]];
  // CHECK: cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%[[MAP]], {%[[X32]], %[[Y]]}], [%r{{[0-9]+}}];
  // CHECK: cp.async.bulk.commit_group;
  // CHECK: [[WRITTEN]]:
  ttng.async_tma_reduce add, %map[%y, %x] %buf : !tt.ptr<i8>, !ttg.memdesc<8x64xf32, #memory, mutable>
  // CHECK: cp.async.bulk.wait_group 0;
  ttng.async_tma_store_wait 0
  // CHECK: @%[[OTHER]] bra
  // CHECK: mbarrier.arrive.shared::cta.b64 _, [%[[WAITED]]], 1;
  ttng.arrive_barrier %bar, 1 : !ttg.memdesc<1xi64, #one, mutable>
  // A phase that is given.
  // CHECK: mbarrier.try_wait.parity.shared::cta.b64 complete, [%[[WAITED]]], %[[Y]];
  ttng.wait_barrier %bar phase %y : !ttg.memdesc<1xi64, #one, mutable>
  // CHECK: @%[[OTHER]] bra
  // CHECK: mbarrier.inval.shared::cta.b64 [%[[WAITED]]];
  // CHECK: ret;
  ttng.inval_barrier %bar : !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}
}
