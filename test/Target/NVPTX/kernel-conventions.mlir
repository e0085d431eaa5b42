// RUN: despina-ptx %s --arch=sm_90a | FileCheck %s
// RUN: despina-ptx %s --arch=sm_90a --cubin -o %t.cubin

// How a kernel is written down: attributes, parameters, shared memory.

// CHECK: .version 8.3
// CHECK: .target sm_90a

// Extern shared memory; its addresses have 32 bits.
// CHECK: .extern .shared .align 16 .b8 shared_memory[];
llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>

// A function that must not be inlined stays one; others disappear.
// CHECK: .func
// CHECK-SAME: apart
// CHECK-NOT: inlined
llvm.func @apart(%x: f32) -> f32 attributes {no_inline} {
  %y = llvm.fadd %x, %x : f32
  llvm.return %y : f32
}
llvm.func @inlined(%x: f32) -> f32 {
  %y = llvm.fmul %x, %x : f32
  llvm.return %y : f32
}

// CHECK: .visible .entry limits(
// CHECK-NEXT: .param .u64 .ptr .global .align 1 limits_param_0,
// CHECK-NEXT: .param .f32 limits_param_1,
// CHECK-NEXT: .param .u32 limits_param_2
// CHECK: .reqntid 128
// CHECK: .maxnreg 64
llvm.func @limits(%out: !llvm.ptr<1>, %x: f32, %n: i32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, nvvm.maxnreg = 64 : i32} {
  %a = llvm.call @apart(%x) : (f32) -> f32
  %b = llvm.call @inlined(%a) : (f32) -> f32
  llvm.store %b, %out : f32, !llvm.ptr<1>
  llvm.return
}

// CHECK: .visible .entry cluster(
// CHECK: .explicitcluster
// CHECK: .reqnctapercluster 2, 1, 1
llvm.func @cluster(%out: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
  %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
  llvm.store %rank, %out : i32, !llvm.ptr<1>
  llvm.return
}

// A tensor map stays in the parameters: no copy to local memory.
// CHECK: .visible .entry tensor_map(
// CHECK-NEXT: .param .u64 .ptr .global .align 1 tensor_map_param_0,
// CHECK-NEXT: .param .align 64 .b8 tensor_map_param_1[128]
// CHECK-NOT: .local
// CHECK: prefetch.tensormap
llvm.func @tensor_map(%out: !llvm.ptr<1>,
                      %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64,
                                       nvvm.grid_constant}) attributes {nvvm.kernel} {
  llvm.inline_asm has_side_effects "prefetch.tensormap [$0];", "l" %map : (!llvm.ptr) -> ()
  llvm.return
}

// CHECK: .visible .entry shared(
// CHECK: ld.shared.b32 %r{{[0-9]+}}, [%r{{[0-9]+}}];
llvm.func @shared(%out: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %base = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
  %tid = nvvm.read.ptx.sreg.tid.x : i32
  %address = llvm.getelementptr %base[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %x = llvm.load %address : !llvm.ptr<3> -> i32
  llvm.store %x, %out : i32, !llvm.ptr<1>
  llvm.return
}
