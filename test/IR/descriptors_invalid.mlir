// RUN: despina-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a descriptor describes floats or integers, not '!tt.ptr<f32>'}}
tt.func private @f(!tt.tensordesc<tensor<4x!tt.ptr<f32>>>)

// -----

// expected-error @+1 {{a descriptor has 1 to 5 dimensions, not 6}}
tt.func private @f(!tt.tensordesc<tensor<1x1x1x1x1x4xf32>>)

// -----

// expected-error @+1 {{a descriptor has 1 to 5 dimensions, not 0}}
tt.func private @f(!tt.tensordesc<tensor<f32>>)

// -----

// expected-error @+1 {{a descriptor has a block of known extents, not 'tensor<?xf32>'}}
tt.func private @f(!tt.tensordesc<tensor<?xf32>>)

// -----

// expected-error @+1 {{a descriptor has a block of power-of-two extents, not 'tensor<12xf32>'}}
tt.func private @f(!tt.tensordesc<tensor<12xf32>>)

// -----

// expected-error @+1 {{a descriptor has a block of at most 1048576 elements, not 'tensor<1048576x1048576xf32>'}}
tt.func private @f(!tt.tensordesc<tensor<1048576x1048576xf32>>)

// -----

tt.func @rank(%p: !tt.ptr<f32>, %i: i32, %s: i64) {
  // expected-error @+1 {{needs 2 extents and 2 strides for '!tt.tensordesc<tensor<4x4xf32>>', but has 2 in all}}
  %0 = tt.make_tensor_descriptor %p, [%i], [%s] : <f32>, <tensor<4x4xf32>>
  tt.return
}

// -----

tt.func @uneven(%p: !tt.ptr<f32>, %i: i32, %s: i64) {
  // expected-error @+1 {{needs 1 extents and 1 strides for '!tt.tensordesc<tensor<4xf32>>', but has 3 in all}}
  %0 = tt.make_tensor_descriptor %p, [%i], [%s, %s] : <f32>, <tensor<4xf32>>
  tt.return
}

// -----

tt.func @base(%p: !tt.ptr<f16>, %i: i32, %s: i64) {
  // expected-error @+1 {{describes 'f32', but has a base of type '!tt.ptr<f16>'}}
  %0 = tt.make_tensor_descriptor %p, [%i], [%s] : <f16>, <tensor<4xf32>>
  tt.return
}

// -----

tt.func @space(%p: !tt.ptr<f32, 3>, %i: i32, %s: i64) {
  // expected-error @+1 {{describes global memory, but has a base of type '!tt.ptr<f32, 3>'}}
  %0 = tt.make_tensor_descriptor %p, [%i], [%s] : <f32, 3>, <tensor<4xf32>>
  tt.return
}

// -----

tt.func @padding(%p: !tt.ptr<i32>, %i: i32, %s: i64) {
  // expected-error @+1 {{cannot pad 'i32' with NaN}}
  %0 = tt.make_tensor_descriptor %p, [%i], [%s] {padding = 2 : i32} : <i32>, <tensor<4xsi32>>
  tt.return
}

// -----

tt.func @load_indices(%d: !tt.tensordesc<tensor<4x4xf32>>, %i: i32) {
  // expected-error @+1 {{needs 2 indices for '!tt.tensordesc<tensor<4x4xf32>>', but has 1}}
  %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<4x4xf32>> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @load_result(%d: !tt.tensordesc<tensor<4xui32>>, %i: i32) {
  // expected-error @+1 {{moves a block of type 'tensor<8xi32>', but '!tt.tensordesc<tensor<4xui32>>' has blocks of type 'tensor<4xi32>'}}
  %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<4xui32>> -> tensor<8xi32>
  tt.return
}

// -----

tt.func @store(%d: !tt.tensordesc<tensor<4xf16>>, %i: i32, %v: tensor<4xf32>) {
  // expected-error @+1 {{moves a block of type 'tensor<4xf32>', but '!tt.tensordesc<tensor<4xf16>>' has blocks of type 'tensor<4xf16>'}}
  tt.descriptor_store %d[%i], %v : !tt.tensordesc<tensor<4xf16>>, tensor<4xf32>
  tt.return
}

// -----

tt.func @reduce(%d: !tt.tensordesc<tensor<4xf16>>, %i: i32, %v: tensor<4xf16>) {
  // expected-error @+1 {{'and' works on integers, not on 'f16'}}
  tt.descriptor_reduce and, %d[%i], %v : !tt.tensordesc<tensor<4xf16>>, tensor<4xf16>
  tt.return
}

// -----

tt.func @reduce_indices(%d: !tt.tensordesc<tensor<4xf16>>, %i: i32, %v: tensor<4xf16>) {
  // expected-error @+1 {{needs 1 indices for '!tt.tensordesc<tensor<4xf16>>', but has 2}}
  tt.descriptor_reduce add, %d[%i, %i], %v : !tt.tensordesc<tensor<4xf16>>, tensor<4xf16>
  tt.return
}

// -----

tt.func @gather_block(%d: !tt.tensordesc<tensor<4x16xf16>>, %x: tensor<32xi32>, %y: i32) {
  // expected-error @+1 {{needs a descriptor of single rows, not '!tt.tensordesc<tensor<4x16xf16>>'}}
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<tensor<4x16xf16>>, tensor<32xi32>, i32) -> tensor<32x16xf16>
  tt.return
}

// -----

tt.func @gather_offsets(%d: !tt.tensordesc<tensor<1x16xf16>>, %x: tensor<32xi64>, %y: i32) {
  // expected-error @+1 {{needs a tile of one dimension of i32 or i16 as row offsets, not 'tensor<32xi64>'}}
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<tensor<1x16xf16>>, tensor<32xi64>, i32) -> tensor<32x16xf16>
  tt.return
}

// -----

tt.func @scatter_tile(%d: !tt.tensordesc<tensor<1x16xf16>>, %x: tensor<32xi32>, %y: i32, %v: tensor<16x16xf16>) {
  // expected-error @+1 {{moves 'tensor<16x16xf16>', but the descriptor and the row offsets ask for 'tensor<32x16xf16>'}}
  tt.descriptor_scatter %d[%x, %y], %v : !tt.tensordesc<tensor<1x16xf16>>, tensor<32xi32>, i32, tensor<16x16xf16>
  tt.return
}
