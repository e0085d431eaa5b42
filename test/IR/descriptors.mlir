// RUN: despina-opt %s | despina-opt | FileCheck %s

// CHECK-LABEL: @make
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f16>, %[[I:.*]]: i32, %[[S:.*]]: i64
tt.func @make(%p: !tt.ptr<f16>, %i: i32, %s: i64, %q: !tt.ptr<i32>) -> !tt.tensordesc<tensor<64x32xf16>> {
  %one = arith.constant 1 : i64
  // CHECK: %[[D:.*]] = tt.make_tensor_descriptor %[[P]], [%[[I]], %[[I]]], [%[[S]], %{{.*}}] : <f16>, <tensor<64x32xf16>>
  %0 = tt.make_tensor_descriptor %p, [%i, %i], [%s, %one] : !tt.ptr<f16>, !tt.tensordesc<tensor<64x32xf16>>
  // CHECK: tt.make_tensor_descriptor %[[P]], [%[[I]]], [%{{.*}}] {padding = 2 : i32} : <f16>, <tensor<64xf16>>
  %1 = tt.make_tensor_descriptor %p, [%i], [%one] {padding = 2 : i32} : <f16>, <tensor<64xf16>>
  // CHECK: : <i32>, <tensor<8xui32>>
  %2 = tt.make_tensor_descriptor %q, [%i], [%one] : <i32>, <tensor<8xui32>>
  // CHECK: tt.return %[[D]] : !tt.tensordesc<tensor<64x32xf16>>
  tt.return %0 : !tt.tensordesc<tensor<64x32xf16>>
}

// CHECK-LABEL: @blocks
// CHECK-SAME: %[[D:.*]]: !tt.tensordesc<tensor<8x16xf32>>, %[[U:.*]]: !tt.tensordesc<tensor<4xsi32>>, %[[I:.*]]: i32, %[[V:.*]]: tensor<4xi32>
tt.func @blocks(%d: !tt.tensordesc<tensor<8x16xf32>>, %u: !tt.tensordesc<tensor<4xsi32>>, %i: i32, %v: tensor<4xi32>) {
  // CHECK: %[[T:.*]] = tt.descriptor_load %[[D]][%[[I]], %[[I]]] : !tt.tensordesc<tensor<8x16xf32>> -> tensor<8x16xf32>
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<8x16xf32>> -> tensor<8x16xf32>
  // CHECK: tt.descriptor_load %{{.*}} cacheModifier = ca evictionPolicy = evict_last : !tt.tensordesc<tensor<4xsi32>> -> tensor<4xi32>
  %1 = tt.descriptor_load %u[%i] cacheModifier = ca evictionPolicy = evict_last : !tt.tensordesc<tensor<4xsi32>> -> tensor<4xi32>
  // CHECK: tt.descriptor_store %[[D]][%[[I]], %[[I]]], %[[T]] : !tt.tensordesc<tensor<8x16xf32>>, tensor<8x16xf32>
  tt.descriptor_store %d[%i, %i], %0 : !tt.tensordesc<tensor<8x16xf32>>, tensor<8x16xf32>
  // CHECK: tt.descriptor_reduce add, %[[D]][%[[I]], %[[I]]], %[[T]] : !tt.tensordesc<tensor<8x16xf32>>, tensor<8x16xf32>
  tt.descriptor_reduce add, %d[%i, %i], %0 : !tt.tensordesc<tensor<8x16xf32>>, tensor<8x16xf32>
  // CHECK: tt.descriptor_reduce xor, %[[U]][%[[I]]], %[[V]] : !tt.tensordesc<tensor<4xsi32>>, tensor<4xi32>
  tt.descriptor_reduce xor, %u[%i], %v : !tt.tensordesc<tensor<4xsi32>>, tensor<4xi32>
  tt.return
}

// CHECK-LABEL: @rows
tt.func @rows(%d: !tt.tensordesc<tensor<1x16xbf16>>, %x: tensor<32xi32>, %y: i32) {
  // CHECK: %[[T:.*]] = tt.descriptor_gather %{{.*}}[%{{.*}}, %{{.*}}] : (!tt.tensordesc<tensor<1x16xbf16>>, tensor<32xi32>, i32) -> tensor<32x16xbf16>
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<tensor<1x16xbf16>>, tensor<32xi32>, i32) -> tensor<32x16xbf16>
  // CHECK: tt.descriptor_scatter %{{.*}}[%{{.*}}, %{{.*}}], %[[T]] : !tt.tensordesc<tensor<1x16xbf16>>, tensor<32xi32>, i32, tensor<32x16xbf16>
  tt.descriptor_scatter %d[%x, %y], %0 : !tt.tensordesc<tensor<1x16xbf16>>, tensor<32xi32>, i32, tensor<32x16xbf16>
  tt.return
}
