// RUN: not despina-ptx %s --libdevice=false 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: not despina-ptx %s 2>&1 | FileCheck %s --check-prefix=FOUND
// RUN: not env DESPINA_LIBDEVICE_PATH=%t.none despina-ptx %s 2>&1 | FileCheck %s --check-prefix=PATH
// RUN: echo nonsense > %t.bc
// RUN: not env DESPINA_LIBDEVICE_PATH=%t.bc despina-ptx %s 2>&1 | FileCheck %s --check-prefix=NONSENSE

// OWN: error: '__nv_tanf', '__nv_magic' are functions of NVIDIA's libdevice: libdevice is not to be used
// FOUND: error: {{.*}}libdevice.10.bc has no function '__nv_magic'
// PATH: error: DESPINA_LIBDEVICE_PATH is '{{.*}}.none', but there is no file libdevice.10.bc that may be read
// NONSENSE: error: cannot read {{.*}}.bc:
llvm.func @__nv_tanf(f32) -> f32
llvm.func @__nv_magic(f32) -> f32
llvm.func @kernel(%p: !llvm.ptr<1>) attributes {nvvm.kernel} {
  %x = llvm.load %p : !llvm.ptr<1> -> f32
  %y = llvm.call @__nv_tanf(%x) : (f32) -> f32
  %z = llvm.call @__nv_magic(%y) : (f32) -> f32
  llvm.store %z, %p : f32, !llvm.ptr<1>
  llvm.return
}
