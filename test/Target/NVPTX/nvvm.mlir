// RUN: despina-ptx %s --arch=sm_90a | FileCheck %s
// RUN: despina-ptx %s --arch=sm_90a --cubin -o %t.cubin

// Operations of the NVVM dialect, with an intrinsic of LLVM or written out as inline assembly.

// CHECK-LABEL: .entry barriers(
// CHECK: mbarrier.init.shared.b64
// CHECK: fence.mbarrier_init.release.cluster
// CHECK: mbarrier.arrive.expect_tx.shared.b64
// CHECK: mbarrier.try_wait.parity.shared.b64
llvm.func @barriers(%s: !llvm.ptr<3>, %count: i32, %ticks: i32) attributes {nvvm.kernel} {
  nvvm.mbarrier.init %s, %count : !llvm.ptr<3>, i32
  nvvm.fence.mbarrier.init
  nvvm.mbarrier.arrive.expect_tx %s, %count : !llvm.ptr<3>, i32
  nvvm.mbarrier.try_wait.parity %s, %count, %ticks : !llvm.ptr<3>, i32, i32
  llvm.return
}

// CHECK-LABEL: .entry predicated(
// CHECK: @%p{{[0-9]+}} st.global.b32
llvm.func @predicated(%p: !llvm.ptr<1>, %x: i32, %q: i1) attributes {nvvm.kernel} {
  nvvm.inline_ptx "st.global.b32 [{$r0}], {$r1};" ro(%p, %x : !llvm.ptr<1>, i32), predicate = %q
  llvm.return
}

// CHECK-LABEL: .entry warp(
// CHECK: shfl.sync.bfly.b32
// CHECK: redux.sync.add.s32
// CHECK: elect.sync
// CHECK: bar.warp.sync
llvm.func @warp(%p: !llvm.ptr<1>, %x: i32) attributes {nvvm.kernel} {
  %mask = llvm.mlir.constant(-1 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %clamp = llvm.mlir.constant(31 : i32) : i32
  %y = nvvm.shfl.sync bfly %mask, %x, %one, %clamp : i32 -> i32
  %z = nvvm.redux.sync add %y, %mask : i32 -> i32
  %elected = nvvm.elect.sync -> i1
  %r = llvm.zext %elected : i1 to i32
  %sum = llvm.add %r, %z : i32
  nvvm.bar.warp.sync %mask : i32
  llvm.store %sum, %p : i32, !llvm.ptr<1>
  llvm.return
}
