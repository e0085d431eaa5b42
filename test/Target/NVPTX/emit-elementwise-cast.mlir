// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_75 --split-input-file | FileCheck %s --check-prefixes=CHECK,OLD
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 --split-input-file | FileCheck %s --check-prefixes=CHECK,AMPERE
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a --split-input-file | FileCheck %s --check-prefixes=CHECK,AMPERE,HOPPER

// Neighbours are converted in pairs; the second operand of the instruction becomes the lower half.
// CHECK-LABEL: llvm.func @pairs
// CHECK: %[[LOW:.+]] = llvm.inline_asm {{.*}} "mov
// CHECK: %[[HIGH:.+]] = llvm.inline_asm {{.*}} "mov
// AMPERE: %[[BOTH:.+]] = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%[[HIGH]], %[[LOW]]) : (f32, f32) -> vector<2xbf16>
// AMPERE: llvm.extractelement %[[BOTH]][%{{.+}} : i32]
// AMPERE: llvm.extractelement %[[BOTH]][%{{.+}} : i32]
// AMPERE: llvm.call_intrinsic "llvm.nvvm.ff2f16x2.rz"(%[[HIGH]], %[[LOW]])
// OLD: llvm.mlir.constant(32767 : i32)
// OLD: llvm.inline_asm {{.*}}"cvt.rz.f16.f32 $0, $1;", "=h,f" %[[LOW]]
#tile = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: (64) (128); block: } -> (dim0: 256)">
tt.func public @pairs() {
  %x = tt.elementwise_inline_asm "mov.u32 $0, %clock;" {constraints = "=f", packed_element = 1 : i32, pure = false} -> tensor<256xf32, #tile>
  %a = arith.truncf %x : tensor<256xf32, #tile> to tensor<256xbf16, #tile>
  %b = tt.fp_to_fp %x, rounding = rtz : tensor<256xf32, #tile> -> tensor<256xf16, #tile>
  tt.return
}

// -----

// CHECK-LABEL: llvm.func @float8
// CHECK-SAME: (%[[X:[^:]+]]: f32, %[[H:[^:]+]]: f16, %[[E4:[^:]+]]: i8, %[[E5:[^:]+]]: i8
// HOPPER: llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"(%[[X]], %[[X]]) : (f32, f32) -> i16
// HOPPER: llvm.call_intrinsic "llvm.nvvm.f16x2.to.e5m2x2.rn"(%{{.+}}) : (vector<2xf16>) -> i16
// HOPPER: llvm.call_intrinsic "llvm.nvvm.e4m3x2.to.f16x2.rn"(%{{.+}}) : (i16) -> vector<2xf16>
// OLD-NOT: llvm.call_intrinsic
// CHECK: %[[WIDE:.+]] = llvm.zext %[[E5]] : i8 to i16
// CHECK-NEXT: %[[EIGHT:.+]] = llvm.mlir.constant(8 : i16)
// CHECK-NEXT: %[[BITS:.+]] = llvm.shl %[[WIDE]], %[[EIGHT]]
// CHECK-NEXT: llvm.bitcast %[[BITS]] : i16 to f16
tt.func public @float8(%x: f32, %h: f16, %e4: f8E4M3FN, %e5: f8E5M2) {
  %a = tt.fp_to_fp %x, rounding = rtne : f32 -> f8E4M3FN
  %b = tt.fp_to_fp %h, rounding = rtne : f16 -> f8E5M2
  %c = tt.fp_to_fp %e4 : f8E4M3FN -> f16
  %d = tt.fp_to_fp %e5 : f8E5M2 -> f16
  tt.return
}

// -----

// CHECK-LABEL: llvm.func @integers
// CHECK-SAME: (%[[X:[^:]+]]: f32, %[[D:[^:]+]]: f64, %[[I:[^:]+]]: i32
// CHECK: llvm.call_intrinsic "llvm.nvvm.f2i.rz"(%[[X]]) : (f32) -> i32
// CHECK: llvm.call_intrinsic "llvm.nvvm.f2ui.rz"(%[[X]])
// CHECK: llvm.intr.umin
// CHECK: llvm.trunc {{.*}} : i32 to i8
// CHECK: %[[LONG:.+]] = llvm.call_intrinsic "llvm.nvvm.d2ll.rz"(%[[D]])
// CHECK: %[[NAN:.+]] = llvm.fcmp "uno" %[[D]], %[[D]]
// CHECK: llvm.select %[[NAN]], %{{.+}}, %[[LONG]]
// CHECK: llvm.call_intrinsic "llvm.nvvm.i2f.rz"(%[[I]])
tt.func public @integers(%x: f32, %d: f64, %i: i32) {
  %a = arith.fptosi %x : f32 to i32
  %b = arith.fptoui %x : f32 to i8
  %c = arith.fptosi %d : f64 to i64
  %e = arith.sitofp %i : i32 to bf16
  tt.return
}

// -----

// CHECK-LABEL: llvm.func @pointers
// CHECK-SAME: (%[[P:[^:]+]]: !llvm.ptr<1>, %[[FLAGS:[^:]+]]: !llvm.ptr<1>, %[[I:[^:]+]]: i32
// CHECK: llvm.getelementptr %[[P]][%[[I]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
// CHECK: llvm.getelementptr %[[FLAGS]][%[[I]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
// CHECK: llvm.ptrtoint %[[P]] : !llvm.ptr<1> to i64
tt.func public @pointers(%p: !tt.ptr<f16>, %flags: !tt.ptr<i1>, %i: i32) {
  %a = tt.addptr %p, %i : !tt.ptr<f16>, i32
  %b = tt.addptr %flags, %i : !tt.ptr<i1>, i32
  %c = tt.bitcast %p : !tt.ptr<f16> -> !tt.ptr<i16>
  %d = tt.ptr_to_int %c : !tt.ptr<i16> -> i64
  tt.return
}
