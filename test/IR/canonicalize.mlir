// RUN: despina-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @splat_constant
tt.func @splat_constant() -> (tensor<8xi32>, tensor<4x4xf32>) {
  // CHECK-DAG: %[[I:.*]] = arith.constant dense<7> : tensor<8xi32>
  // CHECK-DAG: %[[F:.*]] = arith.constant dense<1.500000e+00> : tensor<4x4xf32>
  // CHECK: tt.return %[[I]], %[[F]]
  %c = arith.constant 7 : i32
  %f = arith.constant 1.5 : f32
  %0 = tt.splat %c : i32 -> tensor<8xi32>
  %1 = tt.splat %f : f32 -> tensor<4x4xf32>
  tt.return %0, %1 : tensor<8xi32>, tensor<4x4xf32>
}

// CHECK-LABEL: @shape_of_constant
tt.func @shape_of_constant() -> (tensor<8x1xi32>, tensor<8x4xi32>, tensor<2x4xi32>, tensor<4x8xi32>, i32) {
  // CHECK-DAG: %[[A:.*]] = arith.constant dense<7> : tensor<8x1xi32>
  // CHECK-DAG: %[[B:.*]] = arith.constant dense<7> : tensor<8x4xi32>
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<7> : tensor<2x4xi32>
  // CHECK-DAG: %[[D:.*]] = arith.constant dense<7> : tensor<4x8xi32>
  // CHECK-DAG: %[[E:.*]] = arith.constant 7 : i32
  // CHECK: tt.return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
  %c = arith.constant dense<7> : tensor<8xi32>
  %one = arith.constant dense<7> : tensor<1xi32>
  %0 = tt.expand_dims %c {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %1 = tt.broadcast %0 : tensor<8x1xi32> -> tensor<8x4xi32>
  %2 = tt.reshape %c : tensor<8xi32> -> tensor<2x4xi32>
  %3 = tt.trans %1 {order = array<i32: 1, 0>} : tensor<8x4xi32> -> tensor<4x8xi32>
  %4 = tt.unsplat %one : tensor<1xi32>
  tt.return %0, %1, %2, %3, %4 : tensor<8x1xi32>, tensor<8x4xi32>, tensor<2x4xi32>, tensor<4x8xi32>, i32
}

// CHECK-LABEL: @reshape_of_list
tt.func @reshape_of_list() -> (tensor<2x2xi32>, tensor<1x4xi32>) {
  // CHECK-DAG: arith.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
  // CHECK-DAG: arith.constant dense<{{\[\[}}1, 2, 3, 4]]> : tensor<1x4xi32>
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = tt.reshape %c : tensor<4xi32> -> tensor<2x2xi32>
  %1 = tt.expand_dims %c {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  tt.return %0, %1 : tensor<2x2xi32>, tensor<1x4xi32>
}

// CHECK-LABEL: @shape_of_splat
// CHECK-SAME: %[[X:.*]]: f32
tt.func @shape_of_splat(%x: f32) -> (tensor<8x4xf32>, tensor<16x2xf32>, tensor<4x8xf32>, f32) {
  // CHECK-DAG: %[[A:.*]] = tt.splat %[[X]] : f32 -> tensor<8x4xf32>
  // CHECK-DAG: %[[B:.*]] = tt.splat %[[X]] : f32 -> tensor<16x2xf32>
  // CHECK-DAG: %[[C:.*]] = tt.splat %[[X]] : f32 -> tensor<4x8xf32>
  // CHECK: tt.return %[[A]], %[[B]], %[[C]], %[[X]]
  %s = tt.splat %x : f32 -> tensor<8xf32>
  %0 = tt.expand_dims %s {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
  %1 = tt.broadcast %0 : tensor<8x1xf32> -> tensor<8x4xf32>
  %2 = tt.reshape %1 : tensor<8x4xf32> -> tensor<16x2xf32>
  %3 = tt.trans %1 {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  %one = tt.splat %x : f32 -> tensor<1x1xf32>
  %4 = tt.unsplat %one : tensor<1x1xf32>
  tt.return %1, %2, %3, %4 : tensor<8x4xf32>, tensor<16x2xf32>, tensor<4x8xf32>, f32
}

// CHECK-LABEL: @chains
// CHECK-SAME: %[[X:.*]]: tensor<8x1xf32>, %[[Y:.*]]: tensor<2x4x8xf32>
tt.func @chains(%x: tensor<8x1xf32>, %y: tensor<2x4x8xf32>)
    -> (tensor<8x4xf32>, tensor<64xf32>, tensor<2x4x8xf32>, tensor<4x8x2xf32>) {
  // CHECK-DAG: %[[R:.*]] = tt.reshape %[[Y]] : tensor<2x4x8xf32> -> tensor<64xf32>
  // CHECK-DAG: %[[T:.*]] = tt.trans %[[Y]] {order = array<i32: 1, 2, 0>} : tensor<2x4x8xf32> -> tensor<4x8x2xf32>
  // CHECK-DAG: %[[B:.*]] = tt.broadcast %[[X]] : tensor<8x1xf32> -> tensor<8x4xf32>
  // CHECK: tt.return %[[B]], %[[R]], %[[Y]], %[[T]]
  %0 = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x1xf32>
  %1 = tt.broadcast %0 : tensor<8x1xf32> -> tensor<8x4xf32>
  %2 = tt.reshape %y : tensor<2x4x8xf32> -> tensor<8x8xf32>
  %3 = tt.reshape %2 : tensor<8x8xf32> -> tensor<64xf32>
  %4 = tt.trans %y {order = array<i32: 2, 0, 1>} : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
  %5 = tt.trans %4 {order = array<i32: 1, 2, 0>} : tensor<8x2x4xf32> -> tensor<2x4x8xf32>
  %6 = tt.trans %y {order = array<i32: 1, 0, 2>} : tensor<2x4x8xf32> -> tensor<4x2x8xf32>
  %7 = tt.trans %6 {order = array<i32: 0, 2, 1>} : tensor<4x2x8xf32> -> tensor<4x8x2xf32>
  tt.return %1, %3, %5, %7 : tensor<8x4xf32>, tensor<64xf32>, tensor<2x4x8xf32>, tensor<4x8x2xf32>
}

// A reordering reshape is not the identity, and stays reordering when merged.
// CHECK-LABEL: @reordering_reshape
tt.func @reordering_reshape(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<32xf32>) {
  // CHECK: tt.reshape %{{.*}} allow_reorder : tensor<8x4xf32> -> tensor<8x4xf32>
  // CHECK: tt.reshape %{{.*}} allow_reorder : tensor<8x4xf32> -> tensor<32xf32>
  %0 = tt.reshape %x allow_reorder : tensor<8x4xf32> -> tensor<8x4xf32>
  %1 = tt.reshape %0 : tensor<8x4xf32> -> tensor<32xf32>
  tt.return %0, %1 : tensor<8x4xf32>, tensor<32xf32>
}

// CHECK-LABEL: @casts
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[P:.*]]: !tt.ptr<f32>
tt.func @casts(%x: tensor<8xf32>, %p: !tt.ptr<f32>) -> (tensor<8xf32>, !tt.ptr<f32>, i32, !tt.ptr<f32>, tensor<8xf32>) {
  // CHECK-DAG: %[[I:.*]] = arith.constant 1065353216 : i32
  // CHECK: tt.return %[[X]], %[[P]], %[[I]], %[[P]], %[[X]]
  %0 = tt.bitcast %x : tensor<8xf32> -> tensor<8xf32>
  %1 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i8>
  %2 = tt.bitcast %1 : !tt.ptr<i8> -> !tt.ptr<f32>
  %one = arith.constant 1.0 : f32
  %3 = tt.bitcast %one : f32 -> i32
  %zero = arith.constant 0 : i32
  %4 = tt.addptr %p, %zero : !tt.ptr<f32>, i32
  %5 = tt.fp_to_fp %x, rounding = rtz : tensor<8xf32> -> tensor<8xf32>
  tt.return %0, %2, %3, %4, %5 : tensor<8xf32>, !tt.ptr<f32>, i32, !tt.ptr<f32>, tensor<8xf32>
}

// CHECK-LABEL: @bitcast_of_splat
tt.func @bitcast_of_splat() -> tensor<8xf16> {
  // CHECK: arith.constant dense<1.000000e+00> : tensor<8xf16>
  %c = arith.constant dense<15360> : tensor<8xi16>
  %0 = tt.bitcast %c : tensor<8xi16> -> tensor<8xf16>
  tt.return %0 : tensor<8xf16>
}

// CHECK-LABEL: @load_masks
// CHECK-SAME: %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[O:.*]]: tensor<8xf32>
tt.func @load_masks(%p: tensor<8x!tt.ptr<f32>>, %o: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  // CHECK-DAG: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<8xf32>
  // CHECK: %[[L:.*]] = tt.load %[[P]] : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.return %[[L]], %[[O]], %[[Z]]
  %true = arith.constant dense<true> : tensor<8xi1>
  %false = arith.constant dense<false> : tensor<8xi1>
  %0 = tt.load %p, %true, %o : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %p, %false, %o : tensor<8x!tt.ptr<f32>>
  %2 = tt.load %p, %false : tensor<8x!tt.ptr<f32>>
  tt.return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @load_of_pointers
tt.func @load_of_pointers(%p: !tt.ptr<!tt.ptr<f32>>) -> !tt.ptr<f32> {
  // There is no constant of a pointer type.
  // CHECK: tt.load %{{.*}}, %{{.*}} : !tt.ptr<!tt.ptr<f32>>
  %false = arith.constant false
  %0 = tt.load %p, %false : !tt.ptr<!tt.ptr<f32>>
  tt.return %0 : !tt.ptr<f32>
}

// CHECK-LABEL: @store_masks
// CHECK-SAME: %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[V:.*]]: tensor<8xf32>
tt.func @store_masks(%p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>) {
  // CHECK-NEXT: tt.store %[[P]], %[[V]] : tensor<8x!tt.ptr<f32>>
  // CHECK-NEXT: tt.return
  %true = arith.constant dense<true> : tensor<8xi1>
  %false = arith.constant dense<false> : tensor<8xi1>
  tt.store %p, %v, %true : tensor<8x!tt.ptr<f32>>
  tt.store %p, %v, %false : tensor<8x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @atomic_masks
tt.func @atomic_masks(%p: !tt.ptr<f32>, %v: f32) -> f32 {
  // CHECK: %[[F:.*]] = arith.constant false
  // CHECK-NEXT: tt.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}} : (!tt.ptr<f32>, f32) -> f32
  // CHECK-NEXT: tt.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}}, %[[F]]
  // CHECK-NEXT: tt.return
  %true = arith.constant true
  %false = arith.constant false
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %true : (!tt.ptr<f32>, f32, i1) -> f32
  %1 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %false : (!tt.ptr<f32>, f32, i1) -> f32
  %2 = tt.atomic_rmw fadd, relaxed, gpu, %p, %v, %false : (!tt.ptr<f32>, f32, i1) -> f32
  tt.return %2 : f32
}

// CHECK-LABEL: @range_of_one
tt.func @range_of_one() -> tensor<1xi32> {
  // CHECK: arith.constant dense<5> : tensor<1xi32>
  %0 = tt.make_range {end = 6 : i32, start = 5 : i32} : tensor<1xi32>
  tt.return %0 : tensor<1xi32>
}

// Pure operations without users go, memory operations stay.
// CHECK-LABEL: @dead
tt.func @dead(%p: tensor<8x!tt.ptr<i32>>, %x: tensor<8xi32>) {
  // CHECK-NEXT: tt.load %{{.*}} isVolatile = true
  // CHECK-NEXT: tt.return
  %0 = tt.load %p isVolatile = true : tensor<8x!tt.ptr<i32>>
  %1 = tt.load %p : tensor<8x!tt.ptr<i32>>
  %2 = tt.reduce(%x) attributes {axis = 0 : i32} {
  ^bb0(%a: i32, %b: i32):
    %r = arith.addi %a, %b : i32
    tt.reduce.return %r : i32
  } : (tensor<8xi32>) -> i32
  tt.return
}
