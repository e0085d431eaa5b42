// RUN: despina-opt %s --despina-inline --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// An inlined operation says where it stands and who called it.
// CHECK: arith.muli %{{.*}} loc(callsite("k.py":12:5 at "k.py":3:9))
tt.func public @kernel(%n: i32) -> i32 {
  %0 = tt.call @callee(%n) : (i32) -> i32 loc("k.py":3:9)
  tt.return %0 : i32
}
tt.func private @callee(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32 loc("k.py":12:5)
  tt.return %0 : i32
}
