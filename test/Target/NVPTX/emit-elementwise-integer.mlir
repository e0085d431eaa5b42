// RUN: despina-opt %s --nvptx-emit-threads --split-input-file | FileCheck %s

// Division by 0 and by -1 has a result unless the divisor is known.
// CHECK-LABEL: llvm.func @division
// CHECK-SAME: (%[[X:[^:]+]]: i32, %[[Y:[^:]+]]: i32
// CHECK: %[[THREE:.+]] = llvm.mlir.constant(3 : i32)
// CHECK-NEXT: llvm.sdiv %[[X]], %[[THREE]]
// CHECK-NEXT: %[[ZERO:.+]] = llvm.mlir.zero : i32
// CHECK-NEXT: %[[BAD:.+]] = llvm.icmp "eq" %[[Y]], %[[ZERO]]
// CHECK-NEXT: %[[ONE:.+]] = llvm.mlir.constant(1 : i32)
// CHECK-NEXT: %[[SAFE:.+]] = llvm.select %[[BAD]], %[[ONE]], %[[Y]]
// CHECK-NEXT: llvm.udiv %[[X]], %[[SAFE]]
// CHECK: llvm.mlir.constant(-2147483648 : i32)
// CHECK: llvm.srem
tt.func public @division(%x: i32, %y: i32) {
  %three = arith.constant 3 : i32
  %a = arith.divsi %x, %three : i32
  %b = arith.divui %x, %y : i32
  %c = arith.remsi %x, %y : i32
  tt.return
}

// -----

// So has a shift by the width or more.
// CHECK-LABEL: llvm.func @shift
// CHECK-SAME: (%[[X:[^:]+]]: i64, %[[Y:[^:]+]]: i64
// CHECK: llvm.shl %[[X]], %{{.+}}
// CHECK: %[[LAST:.+]] = llvm.mlir.constant(63 : i64)
// CHECK: %[[AMOUNT:.+]] = llvm.intr.umin(%[[Y]], %[[LAST]])
// CHECK: %[[SHIFTED:.+]] = llvm.lshr %[[X]], %[[AMOUNT]]
// CHECK: %[[INSIDE:.+]] = llvm.icmp "ule" %[[Y]], %[[LAST]]
// CHECK: llvm.select %[[INSIDE]], %[[SHIFTED]], %{{.+}} : i1, i64
// CHECK: llvm.intr.umin
// CHECK: llvm.ashr
// CHECK-NOT: llvm.select
tt.func public @shift(%x: i64, %y: i64) {
  %three = arith.constant 3 : i64
  %a = arith.shli %x, %three : i64
  %b = arith.shrui %x, %y : i64
  %c = arith.shrsi %x, %y : i64
  tt.return
}

// -----

// CHECK-LABEL: llvm.func @high
// CHECK: llvm.call_intrinsic "llvm.nvvm.mulhi.ui"
// CHECK: llvm.call_intrinsic "llvm.nvvm.mulhi.ull"
// CHECK: llvm.mul {{.*}} : i64
// CHECK: llvm.call_intrinsic "llvm.nvvm.mulhi.ll"
// CHECK: %[[SUM:.+]] = llvm.add %[[X:.+]], %{{.+}} : i64
// CHECK: llvm.icmp "ult" %[[SUM]], %[[X]]
tt.func public @high(%x: i32, %y: i64) {
  %a = tt.mulhiui %x, %x : i32
  %b = tt.mulhiui %y, %y : i64
  %low, %high = arith.mulsi_extended %y, %y : i64
  %sum, %carry = arith.addui_extended %y, %high : i64, i1
  tt.return
}
