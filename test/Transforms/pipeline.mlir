// RUN: despina-opt %s --tt-pipeline | FileCheck %s

// CHECK-LABEL: tt.func public @row_sum
// CHECK-SAME: %[[X:.*]]: !tt.ptr<f32>, %[[OUT:.*]]: !tt.ptr<f32>, %[[STRIDE:.*]]: i32
tt.func public @row_sum(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %stride: i32) {
  // CHECK: %[[PID:.*]] = tt.get_program_id x
  // CHECK: %[[ROW:.*]] = arith.muli %[[PID]], %[[STRIDE]] : i32
  // CHECK: %[[BASE:.*]] = tt.addptr %[[X]], %[[ROW]] : !tt.ptr<f32>, i32
  // CHECK: %[[RANGE:.*]] = tt.make_range
  // CHECK: %[[SPLAT:.*]] = tt.splat %[[BASE]]
  // CHECK: %[[PTR:.*]] = tt.addptr %[[SPLAT]], %[[RANGE]]
  // CHECK: %[[V:.*]] = tt.load %[[PTR]] : tensor<64x!tt.ptr<f32>>
  // CHECK: %[[S:.*]] = tt.reduce(%[[V]])
  // CHECK-NOT: tt.call
  // CHECK: tt.store %{{.*}}, %[[S]] : !tt.ptr<f32>
  // CHECK: tt.return
  %pid = tt.get_program_id x : i32
  %row = arith.muli %pid, %stride : i32
  %base = tt.addptr %x, %row : !tt.ptr<f32>, i32
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %splat = tt.splat %base : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %ptr = tt.addptr %splat, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %true = arith.constant true
  %mask = tt.splat %true : i1 -> tensor<64xi1>
  %v = tt.load %ptr, %mask : tensor<64x!tt.ptr<f32>>
  %s = tt.call @sum(%v) : (tensor<64xf32>) -> f32
  %q = tt.addptr %out, %pid : !tt.ptr<f32>, i32
  tt.store %q, %s : !tt.ptr<f32>
  tt.return
}

// CHECK-NOT: tt.func
tt.func private @sum(%x: tensor<64xf32>) -> f32 {
  %0 = tt.reduce(%x) attributes {axis = 0 : i32} {
  ^bb0(%a: f32, %b: f32):
    %1 = tt.call @add(%a, %b) : (f32, f32) -> f32
    tt.reduce.return %1 : f32
  } : (tensor<64xf32>) -> f32
  tt.return %0 : f32
}
tt.func private @add(%a: f32, %b: f32) -> f32 {
  %0 = arith.addf %a, %b : f32
  tt.return %0 : f32
}
