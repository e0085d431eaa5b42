// RUN: despina-opt %s --split-input-file --verify-diagnostics

tt.func @load_type(%x: tensor<8xi64>) {
  // expected-error @+1 {{expected a pointer or a tile of pointers, not 'tensor<8xi64>'}}
  %0 = tt.load %x : tensor<8xi64>
  tt.return
}

// -----

tt.func @load_operands(%p: !tt.ptr<f32>, %m: i1, %o: f32) {
  // expected-error @+1 {{expected a pointer, then at most a mask and a value for masked lanes}}
  %0 = tt.load %p, %m, %o, %o : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @load_cache(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{unknown cache modifier 'cx'}}
  %0 = tt.load %p cacheModifier = cx : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @load_evict(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{unknown eviction policy 'never'}}
  %0 = tt.load %p evictionPolicy = never : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @load_volatile(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{isVolatile is true or false, not 'maybe'}}
  %0 = tt.load %p isVolatile = maybe : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @load_result(%p: tensor<8x!tt.ptr<f32>>) {
  // expected-error @+1 {{result is 'tensor<8xf16>', but pointer type 'tensor<8x!tt.ptr<f32>>' asks for 'tensor<8xf32>'}}
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<8x!tt.ptr<f32>>) -> tensor<8xf16>
  tt.return
}

// -----

tt.func @load_mask(%p: tensor<8x!tt.ptr<f32>>, %m: tensor<16xi1>) {
  // expected-error @+1 {{mask is 'tensor<16xi1>', but pointer type 'tensor<8x!tt.ptr<f32>>' asks for 'tensor<8xi1>'}}
  %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<8x!tt.ptr<f32>>, tensor<16xi1>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @load_other(%p: !tt.ptr<f32>, %m: i1, %o: i32) {
  // expected-error @+1 {{other is 'i32', but pointer type '!tt.ptr<f32>' asks for 'f32'}}
  %0 = "tt.load"(%p, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!tt.ptr<f32>, i1, i32) -> f32
  tt.return
}

// -----

tt.func @load_other_alone(%p: !tt.ptr<f32>, %o: f32) {
  // expected-error @+1 {{has a value for masked lanes but no mask}}
  %0 = "tt.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @store_operands(%p: !tt.ptr<f32>) {
  // expected-error @+1 {{expected a pointer and a value, then at most a mask}}
  tt.store %p : !tt.ptr<f32>
  tt.return
}

// -----

tt.func @store_value(%p: !tt.ptr<f32>, %v: f64) {
  // expected-error @+1 {{value is 'f64', but pointer type '!tt.ptr<f32>' asks for 'f32'}}
  "tt.store"(%p, %v) : (!tt.ptr<f32>, f64) -> ()
  tt.return
}

// -----

tt.func @store_mask(%p: !tt.ptr<f32>, %v: f32, %m: tensor<8xi1>) {
  // expected-error @+1 {{mask is 'tensor<8xi1>', but pointer type '!tt.ptr<f32>' asks for 'i1'}}
  "tt.store"(%p, %v, %m) : (!tt.ptr<f32>, f32, tensor<8xi1>) -> ()
  tt.return
}

// -----

tt.func @rmw_kind(%p: !tt.ptr<i32>, %v: i32) {
  // expected-error @+1 {{'fadd' works on floats, not on 'i32'}}
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

// -----

tt.func @rmw_float(%p: !tt.ptr<f32>, %v: f32) {
  // expected-error @+1 {{'max' works on integers, not on 'f32'}}
  %0 = tt.atomic_rmw max, acq_rel, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func @rmw_value(%p: !tt.ptr<i32>, %v: i64) {
  // expected-error @+1 {{value is 'i64', but pointer type '!tt.ptr<i32>' asks for 'i32'}}
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i64) -> i32
  tt.return
}

// -----

tt.func @cas_compare(%p: !tt.ptr<i32>, %c: i64, %v: i32) {
  // expected-error @+1 {{compared value is 'i64', but pointer type '!tt.ptr<i32>' asks for 'i32'}}
  %0 = tt.atomic_cas acq_rel, gpu, %p, %c, %v : (!tt.ptr<i32>, i64, i32) -> i32
  tt.return
}
