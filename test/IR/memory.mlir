// RUN: despina-opt %s | despina-opt | FileCheck %s

// CHECK-LABEL: @load
// CHECK-SAME: %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[M:.*]]: tensor<8xi1>, %[[O:.*]]: tensor<8xf32>, %[[Q:.*]]: !tt.ptr<!tt.ptr<i8>>
tt.func @load(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %o: tensor<8xf32>, %q: !tt.ptr<!tt.ptr<i8>>, %b: i1) {
  // CHECK: tt.load %[[P]] : tensor<8x!tt.ptr<f32>>
  %0 = tt.load %p : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.load %[[P]], %[[M]] : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.load %[[P]], %[[M]], %[[O]] cacheModifier = cg evictionPolicy = evict_last isVolatile = true : tensor<8x!tt.ptr<f32>>
  %2 = tt.load %p, %m, %o cacheModifier = cg evictionPolicy = evict_last isVolatile = true : tensor<8x!tt.ptr<f32>>
  // Public TTIR writes the flag as an attribute.
  // CHECK: tt.load %[[P]], %[[M]] evictionPolicy = evict_first isVolatile = true {tt.contiguity = 4 : i32} : tensor<8x!tt.ptr<f32>>
  %3 = tt.load %p, %m evictionPolicy = evict_first {isVolatile = true, tt.contiguity = 4 : i32} : tensor<8x!tt.ptr<f32>>
  // CHECK: %[[R:.*]] = tt.load %[[Q]], %{{.*}} : !tt.ptr<!tt.ptr<i8>>
  %4 = tt.load %q, %b : !tt.ptr<!tt.ptr<i8>>
  // CHECK: tt.load %[[R]] : !tt.ptr<i8>
  %5 = tt.load %4 : !tt.ptr<i8>
  tt.return
}

// CHECK-LABEL: @store
// CHECK-SAME: %[[P:.*]]: tensor<8x!tt.ptr<f32>>, %[[V:.*]]: tensor<8xf32>, %[[M:.*]]: tensor<8xi1>
tt.func @store(%p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>, %m: tensor<8xi1>, %q: !tt.ptr<i1>, %b: i1) {
  // CHECK: tt.store %[[P]], %[[V]] : tensor<8x!tt.ptr<f32>>
  tt.store %p, %v : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %[[P]], %[[V]], %[[M]] cacheModifier = cs evictionPolicy = evict_first : tensor<8x!tt.ptr<f32>>
  tt.store %p, %v, %m evictionPolicy = evict_first cacheModifier = cs : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %{{.*}}, %{{.*}} {note = "hint"} : !tt.ptr<i1>
  tt.store %q, %b {note = "hint"} : !tt.ptr<i1>
  tt.return
}

// CHECK-LABEL: @atomics
tt.func @atomics(%p: tensor<8x!tt.ptr<f32>>, %v: tensor<8xf32>, %m: tensor<8xi1>, %q: !tt.ptr<i32>, %i: i32) {
  // CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  // CHECK: tt.atomic_rmw umax, relaxed, sys, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32) -> i32
  %1 = tt.atomic_rmw umax, relaxed, sys, %q, %i : (!tt.ptr<i32>, i32) -> i32
  // CHECK: tt.atomic_rmw exch, release, cta, %{{.*}}, %{{.*}} : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> tensor<8xf32>
  %2 = tt.atomic_rmw exch, release, cta, %p, %v : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: tt.atomic_cas acquire, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i32) -> i32
  %3 = tt.atomic_cas acquire, gpu, %q, %i, %i : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}
