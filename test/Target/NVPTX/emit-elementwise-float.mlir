// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_75 | FileCheck %s --check-prefixes=CHECK,OLD
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 | FileCheck %s --check-prefixes=CHECK,AMPERE
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: despina-opt %s --nvptx-emit-threads="arch=sm_90a fp-fusion=false" | FileCheck %s --check-prefix=STRICT

// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: (%[[X:[^:]+]]: f32, %[[B:[^:]+]]: bf16, %[[H:[^:]+]]: f16, %[[D:[^:]+]]: f64
tt.func public @kernel(%x: f32, %b: bf16, %h: f16, %d: f64) {
  // CHECK: llvm.fmul %[[X]], %[[X]] {fastmathFlags = #llvm.fastmath<contract>} : f32
  // STRICT: llvm.fmul %[[X:.+]], %[[X]] : f32
  // STRICT-NOT: contract
  %product = arith.mulf %x, %x : f32
  // bf16 sums: f32, the fused operation, or their own.
  // OLD: llvm.fadd {{.*}} : f32
  // AMPERE: llvm.intr.fma(%[[B]], %{{.+}}, %[[B]]) : (bf16, bf16, bf16) -> bf16
  // HOPPER: llvm.fadd %[[B]], %[[B]] {{.*}} : bf16
  %sum = arith.addf %b, %b : bf16
  // CHECK: llvm.fadd %[[H]], %[[H]] {{.*}} : f16
  %halves = arith.addf %h, %h : f16
  // CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"(%[[X]], %{{.+}})
  %quotient = arith.divf %x, %product : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.div.rn.f"
  %precise = tt.precise_divf %x, %product : f32
  // CHECK: llvm.fdiv %[[D]], %[[D]] : f64
  %double = arith.divf %d, %d : f64
  // OLD: llvm.intr.maxnum({{.*}} : (f32, f32) -> f32
  // OLD: llvm.select
  // AMPERE: llvm.intr.maximum(%[[X]], %{{.+}})
  // HOPPER: llvm.intr.maximum(%[[X]], %{{.+}})
  %maximum = arith.maximumf %x, %product : f32
  // CHECK: llvm.fcmp "uno" %[[D]], %[[D]] : f64
  // CHECK: llvm.intr.minnum(%[[D]], %[[D]])
  %minimum = arith.minimumf %d, %d : f64
  // CHECK: llvm.call @__nv_fmodf(%[[X]], %{{.+}})
  %remainder = arith.remf %x, %product : f32
  // CHECK: llvm.mlir.constant(-32768 : i16)
  // CHECK: llvm.xor
  %negative = arith.negf %b : bf16
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f32"
  %exp = math.exp %x : f32
  // CHECK: llvm.call @__nv_logf
  %log = math.log %x : f32
  // CHECK: llvm.call @__nv_exp(%[[D]])
  %expDouble = math.exp %d : f64
  // CHECK: llvm.call_intrinsic "llvm.nvvm.sqrt.approx.ftz.f"
  %sqrt = math.sqrt %x : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.sqrt.rn.f"
  %preciseSqrt = tt.precise_sqrt %x : f32
  tt.return
}
