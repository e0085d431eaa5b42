// RUN: despina-ptx %s --arch=sm_75 --libdevice=false | FileCheck %s
// RUN: despina-ptx %s --arch=sm_75 --libdevice=false --cubin -o %t.cubin
// RUN: despina-ptx %s --arch=sm_75 --cubin -o %t.cubin

// Functions of libdevice that are an instruction or a few need no library.

llvm.func @__nv_fadd_rz(f32, f32) -> f32
llvm.func @__nv_dsub_ru(f64, f64) -> f64
llvm.func @__nv_fma_rd(f64, f64, f64) -> f64
llvm.func @__nv_float2int_rd(f32) -> i32
llvm.func @__nv_ull2double_rz(i64) -> f64
llvm.func @__nv_double2float_rn(f64) -> f32
llvm.func @__nv_clzll(i64) -> i32
llvm.func @__nv_ffs(i32) -> i32
llvm.func @__nv_byte_perm(i32, i32, i32) -> i32
llvm.func @__nv_umul64hi(i64, i64) -> i64
llvm.func @__nv_hiloint2double(i32, i32) -> f64
llvm.func @__nv_fast_powf(f32, f32) -> f32
llvm.func @__nv_truncf(f32) -> f32
llvm.func @__nv_isinfd(f64) -> i32

// CHECK-NOT: .func {{.*}}__nv_
// CHECK-LABEL: .visible .entry floats
// CHECK-DAG: add.rz.f32
// CHECK-DAG: sub.rp.f64
// CHECK-DAG: fma.rm.f64
// CHECK-DAG: cvt.rmi.s32.f32
// CHECK-DAG: cvt.rz.f64.u64
// CHECK-DAG: cvt.rn.f32.f64
// CHECK-DAG: lg2.approx
// CHECK-DAG: ex2.approx
// CHECK-DAG: cvt.rzi.f32.f32
llvm.func @floats(%p: !llvm.ptr<1>, %x: f32, %d: f64, %l: i64) attributes {nvvm.kernel} {
  %0 = llvm.call @__nv_fadd_rz(%x, %x) : (f32, f32) -> f32
  %1 = llvm.call @__nv_fast_powf(%0, %x) : (f32, f32) -> f32
  %2 = llvm.call @__nv_truncf(%1) : (f32) -> f32
  %3 = llvm.call @__nv_float2int_rd(%2) : (f32) -> i32
  llvm.store volatile %3, %p : i32, !llvm.ptr<1>
  %4 = llvm.call @__nv_ull2double_rz(%l) : (i64) -> f64
  %5 = llvm.call @__nv_dsub_ru(%4, %d) : (f64, f64) -> f64
  %6 = llvm.call @__nv_fma_rd(%5, %d, %d) : (f64, f64, f64) -> f64
  %7 = llvm.call @__nv_double2float_rn(%6) : (f64) -> f32
  llvm.store volatile %7, %p : f32, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: .visible .entry bits
// CHECK-DAG: clz.b64
// CHECK-DAG: prmt.b32
// CHECK-DAG: mul.hi.u64
llvm.func @bits(%p: !llvm.ptr<1>, %i: i32, %j: i32, %l: i64) attributes {nvvm.kernel} {
  %0 = llvm.call @__nv_clzll(%l) : (i64) -> i32
  %1 = llvm.call @__nv_byte_perm(%i, %j, %0) : (i32, i32, i32) -> i32
  %2 = llvm.call @__nv_ffs(%1) : (i32) -> i32
  llvm.store volatile %2, %p : i32, !llvm.ptr<1>
  %3 = llvm.call @__nv_umul64hi(%l, %l) : (i64, i64) -> i64
  llvm.store volatile %3, %p : i64, !llvm.ptr<1>
  %4 = llvm.call @__nv_hiloint2double(%i, %j) : (i32, i32) -> f64
  %5 = llvm.call @__nv_isinfd(%4) : (f64) -> i32
  llvm.store volatile %5, %p : i32, !llvm.ptr<1>
  llvm.return
}
