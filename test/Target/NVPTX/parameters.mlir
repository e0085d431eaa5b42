// RUN: split-file %s %t
// RUN: despina-ptx %t/usual.mlir --arch=sm_80 | FileCheck %t/usual.mlir
// RUN: despina-ptx %t/many.mlir --arch=sm_80 | FileCheck %t/many.mlir
// RUN: not despina-ptx %t/many.mlir --arch=sm_80 --ptx-version=80 2>&1 | FileCheck %t/many.mlir --check-prefix=OLD
// RUN: despina-ptx %t/most.mlir --arch=sm_90 | FileCheck %t/most.mlir
// RUN: not despina-ptx %t/too-many.mlir --arch=sm_90 2>&1 | FileCheck %t/too-many.mlir

// The arguments of a kernel take 4,352 bytes, or 32,764 from PTX 8.1 on. Each stands at its alignment.

//--- usual.mlir
// CHECK: .version 7.8
llvm.func @kernel(%n: i32, %p: !llvm.ptr {llvm.byval = !llvm.array<4344 x i8>, llvm.align = 8 : i64}) attributes {nvvm.kernel} {
  llvm.return
}

//--- many.mlir
// CHECK: .version 8.1
// OLD: many.mlir:3:1: error: a kernel with over 4352 bytes of arguments needs PTX 8.1 or newer; PTX 8.0 is asked for
llvm.func @kernel(%n: i32, %p: !llvm.ptr {llvm.byval = !llvm.array<4345 x i8>, llvm.align = 8 : i64}) attributes {nvvm.kernel} {
  llvm.return
}

//--- most.mlir
// CHECK: .version 8.3
llvm.func @kernel(%p: !llvm.ptr {llvm.byval = !llvm.array<32752 x i8>, llvm.align = 64 : i64}, %q: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
  llvm.return
}

//--- too-many.mlir
// CHECK: too-many.mlir:2:1: error: the arguments of the kernel take 32776 bytes, but a launch can pass 32764 at most: pass fewer, or a pointer to an array of them
llvm.func @kernel(%p: !llvm.ptr {llvm.byval = !llvm.array<32752 x i8>, llvm.align = 64 : i64}, %q: !llvm.ptr<1>, %n: i32, %m: f64) attributes {nvvm.kernel} {
  llvm.return
}
