// Every kind and type that the language has, with each memory order and scope, is accepted by the assembler.
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx --arch=sm_90a | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx --arch=sm_90a --cubin -o %t
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 | despina-ptx --arch=sm_80 | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 | despina-ptx --arch=sm_80 --cubin -o %t
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_75 | despina-ptx --arch=sm_75 --cubin -o %t

#row = #ttg.layout<"{register: (1) (2) (4); lane: (8) (16) (32) (64) (128); warp: (256) (512); block: } -> (dim0: 1024)">

// CHECK-LABEL: .entry kernel
// CHECK-DAG: atom.acq_rel.gpu.global.and.b32
// CHECK-DAG: atom.release.cta.global.or.b64
// CHECK-DAG: atom.acquire.sys.global.xor.b32
// CHECK-DAG: atom.relaxed.gpu.global.add.u64
// CHECK-DAG: atom.relaxed.gpu.global.max.u32
// CHECK-DAG: atom.relaxed.gpu.global.min.s64
// CHECK-DAG: atom.relaxed.gpu.global.exch.b64
// CHECK-DAG: atom.relaxed.gpu.global.add.f64
// CHECK-DAG: atom.relaxed.gpu.global.cas.b16
// CHECK-DAG: atom.relaxed.gpu.global.cas.b64
// CHECK-DAG: red.relaxed.gpu.global.add.f64
// SM90-DAG: atom.relaxed.gpu.global.add.noftz.v4.bf16x2
// SM90-DAG: red.relaxed.gpu.global.add.v4.f32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.shared = 16 : i32} {
  tt.func public @kernel(%p: !tt.ptr<i32>, %q: !tt.ptr<i64>, %h: !tt.ptr<i16>, %d: !tt.ptr<f64>,
                         %f: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32},
                         %x: i32, %y: i64, %z: i16, %w: f64, %v: f32, %u: bf16) {
    %0 = tt.atomic_rmw and, acq_rel, gpu, %p, %x {ttg.offset = 0 : i32} : (!tt.ptr<i32>, i32) -> i32
    tt.store %p, %0 : !tt.ptr<i32>
    %1 = tt.atomic_rmw or, release, cta, %q, %y {ttg.offset = 0 : i32} : (!tt.ptr<i64>, i64) -> i64
    tt.store %q, %1 : !tt.ptr<i64>
    %2 = tt.atomic_rmw xor, acquire, sys, %p, %x {ttg.offset = 0 : i32} : (!tt.ptr<i32>, i32) -> i32
    tt.store %p, %2 : !tt.ptr<i32>
    %3 = tt.atomic_rmw add, relaxed, gpu, %q, %y {ttg.offset = 0 : i32} : (!tt.ptr<i64>, i64) -> i64
    tt.store %q, %3 : !tt.ptr<i64>
    %4 = tt.atomic_rmw umax, relaxed, gpu, %p, %x {ttg.offset = 0 : i32} : (!tt.ptr<i32>, i32) -> i32
    tt.store %p, %4 : !tt.ptr<i32>
    %5 = tt.atomic_rmw min, relaxed, gpu, %q, %y {ttg.offset = 0 : i32} : (!tt.ptr<i64>, i64) -> i64
    tt.store %q, %5 : !tt.ptr<i64>
    %6 = tt.atomic_rmw exch, relaxed, gpu, %d, %w {ttg.offset = 0 : i32} : (!tt.ptr<f64>, f64) -> f64
    tt.store %d, %6 : !tt.ptr<f64>
    %7 = tt.atomic_rmw fadd, relaxed, gpu, %d, %w {ttg.offset = 0 : i32} : (!tt.ptr<f64>, f64) -> f64
    tt.store %d, %7 : !tt.ptr<f64>
    %8 = tt.atomic_cas relaxed, gpu, %h, %z, %z {ttg.offset = 0 : i32} : (!tt.ptr<i16>, i16, i16) -> i16
    tt.store %h, %8 : !tt.ptr<i16>
    %9 = tt.atomic_cas relaxed, gpu, %d, %w, %w {ttg.offset = 0 : i32} : (!tt.ptr<f64>, f64, f64) -> f64
    tt.store %d, %9 : !tt.ptr<f64>
    %10 = tt.atomic_rmw fadd, relaxed, gpu, %d, %w : (!tt.ptr<f64>, f64) -> f64
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
    %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>, #row>
    %ba = tt.addptr %bs, %r : tensor<1024x!tt.ptr<bf16>, #row>, tensor<1024xi32, #row>
    %us = tt.splat %u : bf16 -> tensor<1024xbf16, #row>
    %11 = tt.atomic_rmw fadd, relaxed, gpu, %ba, %us : (tensor<1024x!tt.ptr<bf16>, #row>, tensor<1024xbf16, #row>) -> tensor<1024xbf16, #row>
    tt.store %ba, %11 : tensor<1024x!tt.ptr<bf16>, #row>
    %fs = tt.splat %f : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #row>
    %fa = tt.addptr %fs, %r : tensor<1024x!tt.ptr<f32>, #row>, tensor<1024xi32, #row>
    %vs = tt.splat %v : f32 -> tensor<1024xf32, #row>
    %12 = tt.atomic_rmw fadd, acq_rel, gpu, %fa, %vs : (tensor<1024x!tt.ptr<f32>, #row>, tensor<1024xf32, #row>) -> tensor<1024xf32, #row>
    tt.return
  }
}
