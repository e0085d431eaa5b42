// RUN: split-file %s %t
// RUN: not despina-ptx %t/wgmma.mlir --arch=sm_80 2>&1 | FileCheck %t/wgmma.mlir --check-prefixes=ALL,SM80
// RUN: not despina-ptx %t/wgmma.mlir --arch=sm_90 2>&1 | FileCheck %t/wgmma.mlir --check-prefixes=ALL,SM90
// RUN: not despina-ptx %t/wgmma.mlir --arch=sm_100a 2>&1 | FileCheck %t/wgmma.mlir --check-prefixes=ALL,SM100
// RUN: despina-ptx %t/wgmma.mlir --arch=sm_90a | FileCheck %t/wgmma.mlir --check-prefix=PTX
// RUN: not despina-ptx %t/version.mlir --arch=sm_90a --ptx-version=80 2>&1 | FileCheck %t/version.mlir
// RUN: despina-ptx %t/version.mlir --arch=sm_90a | FileCheck %t/version.mlir --check-prefix=PTX
// RUN: not despina-ptx %t/others.mlir --arch=sm_80 2>&1 | FileCheck %t/others.mlir

// What the architecture or the version of PTX lacks is an error at the operation.

//--- wgmma.mlir
// SM80: wgmma.mlir:10:3: error: 'nvvm.wgmma.fence.aligned' needs sm_90a; the kernel is compiled for sm_80
// SM90: wgmma.mlir:10:3: error: 'nvvm.wgmma.fence.aligned' needs sm_90a; the kernel is compiled for sm_90
// SM100: wgmma.mlir:10:3: error: 'nvvm.wgmma.fence.aligned' needs sm_90a; the kernel is compiled for sm_100a
// ALL: wgmma.mlir:11:3: error: 'wgmma.commit_group.sync.aligned' needs sm_90a
// SM80: wgmma.mlir:12:3: error: 'mbarrier.try_wait.parity.shared.b64' needs sm_90 or newer
// ALL: error: the module cannot be compiled for
// PTX: wgmma.fence.sync.aligned;
// PTX: wgmma.commit_group.sync.aligned;
llvm.func @kernel(%s: !llvm.ptr<3>) attributes {nvvm.kernel} {
  nvvm.wgmma.fence.aligned
  llvm.inline_asm has_side_effects "wgmma.commit_group.sync.aligned;", "" : () -> ()
  llvm.inline_asm has_side_effects "{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [$0], 0; @!p bra L; }", "r" %s : (!llvm.ptr<3>) -> ()
  llvm.return
}

//--- version.mlir
// CHECK: version.mlir:4:3: error: 'tensormap.replace.tile.global_address.shared::cta.b1024.b64' needs PTX 8.3 or newer; PTX 8.0 is asked for
// PTX: .version 8.6
llvm.func @kernel(%s: !llvm.ptr<3>, %x: i64) attributes {nvvm.kernel} {
  llvm.inline_asm has_side_effects "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [$0], $1;", "r,l" %s, %x : (!llvm.ptr<3>, i64) -> ()
  llvm.inline_asm has_side_effects "@p cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {0}], [$0];", "r,l" %s, %x : (!llvm.ptr<3>, i64) -> ()
  llvm.return
}

//--- others.mlir
// CHECK: others.mlir:[[#@LINE+1]]:1: error: 'llvm.mlir.global' op lies in shared memory, which cannot be initialized
llvm.mlir.global internal @shared(0 : i32) {addr_space = 3 : i32} : i32
// CHECK: others.mlir:[[#@LINE+1]]:1: error: 'llvm.mlir.global' op cannot be thread-local on the NVIDIA target
llvm.mlir.global internal thread_local @local(0 : i32) : i32
// CHECK: others.mlir:[[#@LINE+1]]:1: error: 'llvm.func' op is a kernel, so it cannot return a value
llvm.func @value() -> i32 attributes {nvvm.kernel} {
  %x = llvm.mlir.constant(0 : i32) : i32
  llvm.return %x : i32
}
// CHECK: others.mlir:[[#@LINE+1]]:1: error: a size of clusters needs sm_90 or newer; the kernel is compiled for sm_80
llvm.func @cluster() attributes {nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  llvm.return
}
llvm.func @kernel(%p: !llvm.ptr<1>, %x: f32, %q: f128, %n: i32) attributes {nvvm.kernel} {
  // CHECK: others.mlir:[[#@LINE+1]]:8: error: 'llvm.intr.sin' op is not supported on the NVIDIA target
  %a = llvm.intr.sin(%x) : (f32) -> f32
  // CHECK: others.mlir:[[#@LINE+1]]:8: error: 'llvm.fadd' op on 'f128' is not supported on the NVIDIA target
  %b = llvm.fadd %q, %q : f128
  // CHECK: others.mlir:[[#@LINE+1]]:8: error: 'llvm.atomicrmw' op has the unknown synchronization scope 'agent'; those of the NVIDIA target are '' (system), 'device', 'cluster' and 'block'
  %c = llvm.atomicrmw add %p, %n syncscope("agent") monotonic : !llvm.ptr<1>, i32
  // CHECK: others.mlir:[[#@LINE+1]]:8: error: the scope of a cluster needs sm_90 or newer; the kernel is compiled for sm_80
  %d = llvm.atomicrmw add %p, %n syncscope("cluster") monotonic : !llvm.ptr<1>, i32
  // CHECK: others.mlir:[[#@LINE+1]]:8: error: LLVM has no intrinsic 'llvm.nvvm.no.such.thing'
  %e = llvm.call_intrinsic "llvm.nvvm.no.such.thing"(%x) : (f32) -> f32
  // CHECK: others.mlir:[[#@LINE+1]]:8: error: 'llvm.tan.f32' is not supported on the NVIDIA target
  %f = llvm.call_intrinsic "llvm.tan.f32"(%x) : (f32) -> f32
  llvm.return
}
