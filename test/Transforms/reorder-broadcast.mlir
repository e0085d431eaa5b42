// RUN: despina-opt %s --tt-reorder-broadcast | FileCheck %s

// CHECK-LABEL: @splats
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32, %[[N:.*]]: i32, %[[P:.*]]: !tt.ptr<f32>, %[[C:.*]]: i1
tt.func @splats(%x: f32, %y: f32, %n: i32, %p: !tt.ptr<f32>, %c: i1)
    -> (tensor<8x8xf32>, tensor<8xi1>, tensor<8x!tt.ptr<f32>>, tensor<8x8xf32>) {
  // CHECK-DAG: %[[TEN:.*]] = arith.constant 10 : i32
  // CHECK-DAG: %[[S:.*]] = arith.mulf %[[X]], %[[Y]] fastmath<contract> : f32
  // CHECK-DAG: %[[S8:.*]] = tt.splat %[[S]] : f32 -> tensor<8x8xf32>
  %0 = tt.splat %x : f32 -> tensor<8x8xf32>
  %1 = tt.splat %y : f32 -> tensor<8x8xf32>
  %2 = arith.mulf %0, %1 fastmath<contract> : tensor<8x8xf32>
  // CHECK-DAG: %[[B:.*]] = arith.cmpi slt, %[[N]], %[[TEN]] : i32
  // CHECK-DAG: %[[B8:.*]] = tt.splat %[[B]] : i1 -> tensor<8xi1>
  %3 = tt.splat %n : i32 -> tensor<8xi32>
  %ten = arith.constant dense<10> : tensor<8xi32>
  %4 = arith.cmpi slt, %3, %ten : tensor<8xi32>
  // CHECK-DAG: %[[Q:.*]] = tt.addptr %[[P]], %[[N]] : !tt.ptr<f32>, i32
  // CHECK-DAG: %[[Q8:.*]] = tt.splat %[[Q]] : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %5 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %6 = tt.addptr %5, %3 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // CHECK-DAG: %[[T:.*]] = arith.select %[[C]], %[[X]], %[[Y]] : f32
  // CHECK-DAG: %[[T8:.*]] = tt.splat %[[T]] : f32 -> tensor<8x8xf32>
  %7 = arith.select %c, %0, %1 : tensor<8x8xf32>
  // CHECK: tt.return %[[S8]], %[[B8]], %[[Q8]], %[[T8]]
  tt.return %2, %4, %6, %7 : tensor<8x8xf32>, tensor<8xi1>, tensor<8x!tt.ptr<f32>>, tensor<8x8xf32>
}

// CHECK-LABEL: @broadcasts
// CHECK-SAME: %[[X:.*]]: tensor<8x1xf32>, %[[Y:.*]]: tensor<8x1xf32>, %[[S:.*]]: f32
tt.func @broadcasts(%x: tensor<8x1xf32>, %y: tensor<8x1xf32>, %s: f32) -> tensor<8x16xf32> {
  // CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2.000000e+00> : tensor<8x1xf32>
  // CHECK: %[[A:.*]] = arith.addf %[[X]], %[[Y]] : tensor<8x1xf32>
  // CHECK: %[[S8:.*]] = tt.splat %[[S]] : f32 -> tensor<8x1xf32>
  // CHECK: %[[B:.*]] = arith.mulf %[[A]], %[[S8]] : tensor<8x1xf32>
  // CHECK: %[[C:.*]] = arith.divf %[[B]], %[[TWO]] : tensor<8x1xf32>
  // CHECK: %[[E:.*]] = math.exp %[[C]] : tensor<8x1xf32>
  // CHECK: %[[R:.*]] = tt.broadcast %[[E]] : tensor<8x1xf32> -> tensor<8x16xf32>
  // CHECK: tt.return %[[R]]
  %0 = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x16xf32>
  %1 = tt.broadcast %y : tensor<8x1xf32> -> tensor<8x16xf32>
  %2 = arith.addf %0, %1 : tensor<8x16xf32>
  %3 = tt.splat %s : f32 -> tensor<8x16xf32>
  %4 = arith.mulf %2, %3 : tensor<8x16xf32>
  %two = arith.constant dense<2.0> : tensor<8x16xf32>
  %5 = arith.divf %4, %two : tensor<8x16xf32>
  %6 = math.exp %5 : tensor<8x16xf32>
  tt.return %6 : tensor<8x16xf32>
}

// CHECK-LABEL: @stays
tt.func @stays(%x: tensor<8x1xf32>, %y: tensor<1x16xf32>, %z: tensor<8x16xf32>, %n: i32)
    -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xi32>) {
  // Different shapes.
  // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<8x16xf32>
  %0 = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x16xf32>
  %1 = tt.broadcast %y : tensor<1x16xf32> -> tensor<8x16xf32>
  %2 = arith.addf %0, %1 : tensor<8x16xf32>
  // One operand has all elements.
  // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<8x16xf32>
  %3 = arith.addf %0, %z : tensor<8x16xf32>
  // A hint is about this value.
  // CHECK: arith.muli %{{.*}}, %{{.*}} {tt.divisibility = dense<8> : tensor<2xi32>} : tensor<8x16xi32>
  %4 = tt.splat %n : i32 -> tensor<8x16xi32>
  %5 = arith.muli %4, %4 {tt.divisibility = dense<8> : tensor<2xi32>} : tensor<8x16xi32>
  tt.return %2, %3, %5 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xi32>
}
