// RUN: despina-ptx %s --arch=sm_80 --llvm | FileCheck %s
// RUN: despina-ptx %s --arch=sm_80 | FileCheck %s --check-prefix=PTX
// RUN: despina-ptx %s --arch=sm_80 --fp-fusion=false | FileCheck %s --check-prefix=NOFUSION

// What LLVM does and must not do.

// CHECK: target datalayout = "{{.*}}p3:32:32{{.*}}"
// CHECK: target triple = "nvptx64-nvidia-cuda"

// PTX: .entry fusion
// PTX: fma.rn.f32
// NOFUSION: .entry fusion
// NOFUSION: mul.rn.f32
// NOFUSION: add.rn.f32
llvm.func @fusion(%p: !llvm.ptr<1>, %x: f32, %y: f32, %z: f32) attributes {nvvm.kernel} {
  %product = llvm.fmul %x, %y : f32
  %sum = llvm.fadd %product, %z : f32
  llvm.store %sum, %p : f32, !llvm.ptr<1>
  llvm.return
}

// Inline assembly with effects may be a barrier: it stays before the branch.
// CHECK-LABEL: define {{.*}}ptx_kernel void @barriers(
// CHECK: call void asm sideeffect "bar.sync 0;", ""() #[[$CONVERGENT:[0-9]+]]
// CHECK: br i1
llvm.func @barriers(%p: !llvm.ptr<1>, %condition: i1) attributes {nvvm.kernel} {
  llvm.inline_asm has_side_effects "bar.sync 0;", "" : () -> ()
  %x = llvm.load volatile %p : !llvm.ptr<1> -> i32
  llvm.cond_br %condition, ^then, ^end
^then:
  llvm.store volatile %x, %p : i32, !llvm.ptr<1>
  llvm.br ^end
^end:
  llvm.return
}

// An address computed in the loop from nothing of the loop moves out of it.
// CHECK-LABEL: define {{.*}}ptx_kernel void @loop(
// CHECK: %[[PRODUCT:.*]] = mul i32 %{{.*}}, %{{.*}}
// CHECK: br
// CHECK: phi
llvm.func @loop(%p: !llvm.ptr<1>, %n: i32, %a: i32, %b: i32) attributes {nvvm.kernel} {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^header(%zero : i32)
^header(%i: i32):
  %more = llvm.icmp "slt" %i, %n : i32
  llvm.cond_br %more, ^body, ^end
^body:
  %product = llvm.mul %a, %b : i32
  %address = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  llvm.store volatile %product, %address : i32, !llvm.ptr<1>
  %next = llvm.add %i, %one : i32
  llvm.br ^header(%next : i32)
^end:
  llvm.return
}

// CHECK: attributes #[[$CONVERGENT]] = { convergent nounwind }
