// RUN: despina-opt %s --despina-inline | FileCheck %s
// RUN: despina-opt %s --despina-inline=keep-noinline=true | FileCheck %s --check-prefix=KEEP

// CHECK-LABEL: tt.func public @kernel
// CHECK-SAME: %[[N:.*]]: i32, %[[C:.*]]: i1
// KEEP-LABEL: tt.func public @kernel
// KEEP-SAME: %[[N:.*]]: i32, %[[C:.*]]: i1
tt.func public @kernel(%n: i32, %c: i1) -> (i32, i32) {
  // The chain inner <- outer disappears, in a region too.
  // CHECK: %[[S:.*]] = arith.muli %[[N]], %[[N]] : i32
  // CHECK: %[[T:.*]] = arith.addi %[[S]], %[[N]] : i32
  %0 = tt.call @outer(%n) : (i32) -> i32
  // CHECK: scf.if %[[C]]
  // CHECK-NEXT: arith.muli %[[T]], %[[T]]
  // KEEP: scf.if %[[C]]
  // KEEP-NEXT: arith.muli
  %1 = scf.if %c -> i32 {
    %2 = tt.call @inner(%0) : (i32) -> i32
    scf.yield %2 : i32
  } else {
    scf.yield %n : i32
  }
  // CHECK: %[[D:.*]] = arith.subi
  // KEEP: %[[D:.*]] = tt.call @apart(
  %3 = tt.call @apart(%1) : (i32) -> i32
  // CHECK: tt.return %[[T]], %[[D]]
  tt.return %0, %3 : i32, i32
}

// CHECK-NOT: tt.func
// KEEP: tt.func private @apart
// KEEP-NOT: tt.func
tt.func private @outer(%a: i32) -> i32 {
  %0 = tt.call @inner(%a) : (i32) -> i32
  %1 = arith.addi %0, %a : i32
  tt.return %1 : i32
}
tt.func private @inner(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  tt.return %0 : i32
}
tt.func private @apart(%a: i32) -> i32 attributes {noinline = true} {
  %0 = arith.subi %a, %a : i32
  tt.return %0 : i32
}
