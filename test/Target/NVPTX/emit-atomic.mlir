// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a --split-input-file | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 --split-input-file | FileCheck %s --check-prefix=SM80

#row = #ttg.layout<"{register: (1) (2) (4); lane: (8) (16) (32) (64) (128); warp: (256) (512); block: } -> (dim0: 1024)">
#small = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (0) (0); block: } -> (dim0: 32)">

// Nobody reads the sums: reductions, as wide as the architecture has them, between fences and barriers.
// CHECK-LABEL: llvm.func @sums
// CHECK: nvvm.barrier
// CHECK: fence.acq_rel.gpu;
// CHECK-COUNT-2: red.relaxed.gpu.global.add.v4.f32 [$0{{(\+16)?}}], {$1, $2, $3, $4};
// CHECK-NOT: red
// CHECK: fence.acq_rel.gpu;
// CHECK: nvvm.barrier
// CHECK: red.relaxed.cta.global.add.noftz.v4.f16x2 [$0], {$1, $2, $3, $4};
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return
// SM80-LABEL: llvm.func @sums
// SM80-COUNT-8: red.relaxed.gpu.global.add.f32 [$0{{(\+[0-9]+)?}}], $1;
// SM80-COUNT-4: red.relaxed.cta.global.add.noftz.f16x2 [$0{{(\+[0-9]+)?}}], $1;
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @sums(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %x: f32, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: f16) {
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #row>
    %pa = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>, #row>, tensor<1024xi32, #row>
    %xs = tt.splat %x : f32 -> tensor<1024xf32, #row>
    %0 = tt.atomic_rmw fadd, acq_rel, gpu, %pa, %xs : (tensor<1024x!tt.ptr<f32>, #row>, tensor<1024xf32, #row>) -> tensor<1024xf32, #row>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #row>
    %qa = tt.addptr %qs, %r : tensor<1024x!tt.ptr<f16>, #row>, tensor<1024xi32, #row>
    %ys = tt.splat %y : f16 -> tensor<1024xf16, #row>
    %1 = tt.atomic_rmw fadd, relaxed, cta, %qa, %ys : (tensor<1024x!tt.ptr<f16>, #row>, tensor<1024xf16, #row>) -> tensor<1024xf16, #row>
    tt.return
  }
}

// -----

#small = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (0) (0); block: } -> (dim0: 32)">

// One warp acts for all; the others read the result from scratch memory.
// CHECK-LABEL: llvm.func @copies
// CHECK: "@$1 atom.relaxed.sys.global.max.s32 $0, [$2], $3;", "=r,b,l,r,0,~{memory}"
// CHECK: llvm.cond_br
// CHECK: llvm.store %{{.*}} : i32, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.shared = 128 : i32} {
  tt.func public @copies(%p: !tt.ptr<i32>, %m: i1) {
    %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #small>
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #small>
    %pa = tt.addptr %ps, %r : tensor<32x!tt.ptr<i32>, #small>, tensor<32xi32, #small>
    %ms = tt.splat %m : i1 -> tensor<32xi1, #small>
    %0 = tt.atomic_rmw max, relaxed, sys, %pa, %r, %ms {ttg.offset = 0 : i32} : (tensor<32x!tt.ptr<i32>, #small>, tensor<32xi32, #small>, tensor<32xi1, #small>) -> tensor<32xi32, #small>
    tt.store %pa, %0 : tensor<32x!tt.ptr<i32>, #small>
    tt.return
  }
}

// -----

// A lock of one warp: thread 0 acts, the others get the value by shuffle; what it orders is between barriers.
// CHECK-LABEL: llvm.func @lock
// CHECK: "@$1 atom.acquire.gpu.global.cas.b32 $0, [$2], $3, $4;", "=r,b,l,r,r,0,~{memory}"
// CHECK: nvvm.barrier
// CHECK: nvvm.shfl.sync idx
// CHECK: nvvm.barrier
// CHECK: "@$1 atom.release.gpu.global.exch.b32 $0, [$2], $3;"
module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @lock(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %zero: i32, %one: i32) {
    %0 = tt.atomic_cas acquire, gpu, %p, %zero, %one : (!tt.ptr<i32>, i32, i32) -> i32
    tt.store %q, %0 : !tt.ptr<i32>
    %1 = tt.atomic_rmw exch, release, gpu, %p, %zero : (!tt.ptr<i32>, i32) -> i32
    tt.return
  }
}

// -----

// bf16 has no instruction before sm_90.
// CHECK-LABEL: llvm.func @bfloat
// CHECK: "@$0 red.relaxed.gpu.global.add.noftz.bf16 [$1], $2;"
// SM80-LABEL: llvm.func @bfloat
// SM80: llvm.atomicrmw fadd %{{.*}}, %{{.*}} monotonic : !llvm.ptr<1>, bf16
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @bfloat(%p: !tt.ptr<bf16>, %x: bf16) {
    %0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %x : (!tt.ptr<bf16>, bf16) -> bf16
    tt.return
  }
}
