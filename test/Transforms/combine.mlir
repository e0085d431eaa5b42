// RUN: despina-opt %s --tt-combine | FileCheck %s

// CHECK-LABEL: @add_to_dot
// CHECK-SAME: %[[A:.*]]: tensor<16x16xf16>, %[[C:.*]]: tensor<16x16xf32>
tt.func @add_to_dot(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>, %i: tensor<16x16xi8>, %j: tensor<16x16xi32>)
    -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xi32>) {
  // CHECK-DAG: %[[D:.*]] = tt.dot %[[A]], %[[A]], %[[C]], inputPrecision = tf32 {maxNumImpreciseAcc = 8 : i32} : tensor<16x16xf16>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = tt.dot %a, %a, %zero, inputPrecision = tf32 {maxNumImpreciseAcc = 8 : i32} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = arith.addf %0, %c : tensor<16x16xf32>
  // A splat of zero, and the product on the right.
  // CHECK-DAG: %[[E:.*]] = tt.dot %[[A]], %[[A]], %[[C]] : tensor<16x16xf16>
  %scalar = arith.constant 0.0 : f32
  %splat = tt.splat %scalar : f32 -> tensor<16x16xf32>
  %2 = tt.dot %a, %a, %splat : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %3 = arith.addf %c, %2 : tensor<16x16xf32>
  // CHECK-DAG: %[[F:.*]] = tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x16xi8>
  %izero = arith.constant dense<0> : tensor<16x16xi32>
  %4 = tt.dot %i, %i, %izero : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xi32>
  %5 = arith.addi %4, %j : tensor<16x16xi32>
  // CHECK: tt.return %[[D]], %[[E]], %[[F]]
  tt.return %1, %3, %5 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xi32>
}

// CHECK-LABEL: @add_to_dot_not
tt.func @add_to_dot_not(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>, %d: tensor<16x16xf32>)
    -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>) {
  // The accumulator is not zero: a different order of the sum.
  // CHECK: tt.dot
  // CHECK-NEXT: arith.addf
  %0 = tt.dot %a, %a, %d : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %1 = arith.addf %0, %c : tensor<16x16xf32>
  // The product has another user.
  // CHECK-NEXT: tt.dot
  // CHECK-NEXT: arith.addf
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %2 = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %3 = arith.addf %2, %c : tensor<16x16xf32>
  tt.return %1, %2, %3 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// CHECK-LABEL: @addptr
// CHECK-SAME: %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[I:.*]]: tensor<8xi64>, %[[J:.*]]: tensor<8xi64>
tt.func @addptr(%p: tensor<8x!tt.ptr<f32>>, %i: tensor<8xi64>, %j: tensor<8xi64>)
    -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) {
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<12> : tensor<8xi32>
  // CHECK-DAG: %[[S:.*]] = arith.addi %[[I]], %[[J]] : tensor<8xi64>
  // CHECK-DAG: %[[Q:.*]] = tt.addptr %[[P]], %[[S]] : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %0 = tt.addptr %p, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %1 = tt.addptr %0, %j : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  // CHECK-DAG: %[[R:.*]] = tt.addptr %[[P]], %[[C]] : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %four = arith.constant dense<4> : tensor<8xi32>
  %eight = arith.constant dense<8> : tensor<8xi32>
  %2 = tt.addptr %p, %four : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %3 = tt.addptr %2, %eight : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // CHECK: tt.return %[[Q]], %[[R]]
  tt.return %1, %3 : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
}

// A sum of 32-bit offsets may wrap where two steps of a 64-bit pointer do not.
// CHECK-LABEL: @addptr_may_wrap
tt.func @addptr_may_wrap(%p: !tt.ptr<f32>, %i: i32, %j: i32) -> (!tt.ptr<f32>, !tt.ptr<f32>) {
  // CHECK-COUNT-4: tt.addptr
  %0 = tt.addptr %p, %i : !tt.ptr<f32>, i32
  %1 = tt.addptr %0, %j : !tt.ptr<f32>, i32
  %large = arith.constant 2147483647 : i32
  %2 = tt.addptr %p, %large : !tt.ptr<f32>, i32
  %3 = tt.addptr %2, %large : !tt.ptr<f32>, i32
  tt.return %1, %3 : !tt.ptr<f32>, !tt.ptr<f32>
}

// CHECK-LABEL: @select_of_load
// CHECK-SAME: %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[M:.*]]: tensor<8xi1>, %[[X:.*]]: tensor<8xf32>, %[[C:.*]]: i1
tt.func @select_of_load(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %x: tensor<8xf32>, %c: i1)
    -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: %[[L:.*]] = tt.load %[[P]], %[[M]], %[[X]] : tensor<8x!tt.ptr<f32>>
  %0 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  %1 = arith.select %m, %0, %x : tensor<8xi1>, tensor<8xf32>
  // CHECK: %[[S:.*]] = tt.splat %[[C]]
  // CHECK: %[[K:.*]] = tt.load %[[P]], %[[S]], %[[X]] : tensor<8x!tt.ptr<f32>>
  %s = tt.splat %c : i1 -> tensor<8xi1>
  %2 = tt.load %p, %s, %1 : tensor<8x!tt.ptr<f32>>
  %3 = arith.select %c, %2, %x : tensor<8xf32>
  // CHECK: tt.return %[[L]], %[[K]]
  tt.return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @select_of_load_not
tt.func @select_of_load_not(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %n: tensor<8xi1>, %x: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // Another condition.
  // CHECK: arith.select
  %0 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  %1 = arith.select %n, %0, %x : tensor<8xi1>, tensor<8xf32>
  // The value comes after the load, and the load may not move past the store.
  // CHECK: tt.load
  // CHECK: tt.store
  // CHECK: arith.select
  %2 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  tt.store %p, %x : tensor<8x!tt.ptr<f32>>
  %y = arith.addf %x, %x : tensor<8xf32>
  %3 = arith.select %m, %2, %y : tensor<8xi1>, tensor<8xf32>
  // CHECK: tt.load {{.*}} isVolatile = true
  // CHECK: arith.select
  %4 = tt.load %p, %m isVolatile = true : tensor<8x!tt.ptr<f32>>
  %5 = arith.select %m, %4, %x : tensor<8xi1>, tensor<8xf32>
  tt.return %1, %3, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A product made before a loop stays there.
// CHECK-LABEL: @product_before_loop
// CHECK: tt.dot
// CHECK: scf.for
// CHECK-NOT: tt.dot
// CHECK: arith.addf
tt.func @product_before_loop(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %n: i32) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %d = tt.dot %a, %b, %zero : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x16xf32>) : i32 {
    %s = arith.addf %acc, %d : tensor<16x16xf32>
    scf.yield %s : tensor<16x16xf32>
  }
  tt.return %r : tensor<16x16xf32>
}
