// RUN: despina-opt %s --cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// The bins start at zero; what is out of range or masked off counts nowhere.
// CHECK-LABEL: llvm.func @histogram
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[BIN:.*]], %{{.*}} : i64
// CHECK: scf.if %[[IN]]
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %{{.*}}[%[[BIN]]]
// CHECK: %[[OLD:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> i32
// CHECK: %[[NEW:.*]] = arith.addi %[[OLD]]
// CHECK: llvm.store %[[NEW]], %[[PLACE]]
tt.func @histogram(%p: !tt.ptr<i32>) {
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %r : tensor<32x!tt.ptr<i32>>, tensor<32xi32>
  %x = tt.load %pp : tensor<32x!tt.ptr<i32>>
  %y = tt.histogram %x : tensor<32xi32> -> tensor<32xi32>
  tt.store %pp, %y : tensor<32x!tt.ptr<i32>>
  tt.return
}
