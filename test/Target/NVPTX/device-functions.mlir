// RUN: despina-ptx %s --arch=sm_80 | FileCheck %s --check-prefixes=CHECK,FOUND
// RUN: despina-ptx %s --arch=sm_80 --libdevice=false | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: despina-ptx %s --arch=sm_75 --libdevice=false --cubin -o %t.cubin

// Functions of libdevice are linked where they are called; our own serve without it.

llvm.func @__nv_expf(f32) -> f32
llvm.func @__nv_sin(f64) -> f64
// Nobody calls it, so nobody misses it.
llvm.func @__nv_no_such_function(f64) -> f64

// CHECK-NOT: .func {{.*}}__nv_
// CHECK: .visible .entry exponential
// FOUND: ex2.approx
// OWN-NOT: ex2.approx
// OWN: 0f3FB8AA3B
// CHECK-NOT: call
llvm.func @exponential(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %x = llvm.load %p : !llvm.ptr<1> -> f32
  %y = llvm.call @__nv_expf(%x) : (f32) -> f32
  llvm.store %y, %p : f32, !llvm.ptr<1>
  llvm.return
}

// CHECK: .visible .entry sine
// OWN-NOT: call
// CHECK: fma.rn.f64
llvm.func @sine(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %x = llvm.load %p : !llvm.ptr<1> -> f64
  %y = llvm.call @__nv_sin(%x) : (f64) -> f64
  llvm.store %y, %p : f64, !llvm.ptr<1>
  llvm.return
}
