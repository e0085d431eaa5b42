// RUN: despina-opt %s --split-input-file --verify-diagnostics

tt.func @range_order() {
  // expected-error @+1 {{needs an end after its start, but they are 0 and 16}}
  %0 = tt.make_range {end = 0 : i32, start = 16 : i32} : tensor<16xi32>
  tt.return
}

// -----

tt.func @range_length() {
  // expected-error @+1 {{has 16 elements, not 32}}
  %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<32xi32>
  tt.return
}

// -----

tt.func @range_type() {
  // expected-error @+1 {{gives a tile of one dimension of i32, not 'tensor<16xi64>'}}
  %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi64>
  tt.return
}

// -----

tt.func @range_overflow() {
  // expected-error @+1 {{has 4294967295 elements, not 1}}
  %0 = tt.make_range {end = 2147483647 : i32, start = -2147483648 : i32} : tensor<1xi32>
  tt.return
}

// -----

tt.func @splat(%x: f32) {
  // expected-error @+1 {{has elements of type 'f16' in its result, but 'f32' in its operand}}
  %0 = tt.splat %x : f32 -> tensor<8xf16>
  tt.return
}

// -----

tt.func @unsplat(%x: tensor<2xf32>) {
  // expected-error @+1 {{needs a tile of one element, not 'tensor<2xf32>'}}
  %0 = tt.unsplat %x : tensor<2xf32>
  tt.return
}

// -----

tt.func @expand_axis(%x: tensor<2xf32>) {
  // expected-error @+1 {{axis 2 is outside 0 to 1}}
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<2xf32> -> tensor<2x1xf32>
  tt.return
}

// -----

tt.func @expand_negative(%x: tensor<2xf32>) {
  // expected-error @+1 {{axis -1 is outside 0 to 1}}
  %0 = tt.expand_dims %x {axis = -1 : i32} : tensor<2xf32> -> tensor<2x1xf32>
  tt.return
}

// -----

tt.func @expand_shape(%x: tensor<2xf32>) {
  // expected-error @+1 {{gives 'tensor<1x2xf32>', not 'tensor<2x1xf32>'}}
  %0 = tt.expand_dims %x {axis = 0 : i32} : tensor<2xf32> -> tensor<2x1xf32>
  tt.return
}

// -----

tt.func @broadcast_rank(%x: tensor<1xf32>) {
  // expected-error @+1 {{keeps the number of dimensions, but has 'tensor<1xf32>' and 'tensor<4x4xf32>'}}
  %0 = tt.broadcast %x : tensor<1xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @broadcast_extent(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{cannot repeat dimension 1 from 2 to 8: only an extent of 1 repeats}}
  %0 = tt.broadcast %x : tensor<4x2xf32> -> tensor<4x8xf32>
  tt.return
}

// -----

tt.func @reshape(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{keeps the number of elements, but has 8 and 16}}
  %0 = tt.reshape %x : tensor<4x2xf32> -> tensor<16xf32>
  tt.return
}

// -----

tt.func @trans_order(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{order [0, 0] is no permutation of the 2 dimensions}}
  %0 = tt.trans %x {order = array<i32: 0, 0>} : tensor<4x2xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @trans_range(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{order [0, 2] is no permutation of the 2 dimensions}}
  %0 = tt.trans %x {order = array<i32: 0, 2>} : tensor<4x2xf32> -> tensor<4x2xf32>
  tt.return
}

// -----

tt.func @trans_shape(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{gives 'tensor<2x4xf32>', not 'tensor<4x2xf32>'}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x2xf32> -> tensor<4x2xf32>
  tt.return
}

// -----

tt.func @cat(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{gives 'tensor<8x2xf32>', not 'tensor<4x4xf32>'}}
  %0 = tt.cat %x, %x : tensor<4x2xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func @join(%x: tensor<4xf32>) {
  // expected-error @+1 {{gives 'tensor<4x2xf32>', not 'tensor<2x4xf32>'}}
  %0 = tt.join %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  tt.return
}

// -----

tt.func @split(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{needs at least two dimensions, the last of extent 2, not 'tensor<2x4xf32>'}}
  %0, %1 = tt.split %x : tensor<2x4xf32> -> tensor<2xf32>
  tt.return
}

// -----

tt.func @gather_axis(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{axis 1 is outside 0 to 0}}
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @gather_rank(%x: tensor<8x4xf32>, %i: tensor<8xi32>) {
  // expected-error @+1 {{needs indices of the source's rank, but has 'tensor<8x4xf32>' and 'tensor<8xi32>'}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<8xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @gather_extent(%x: tensor<8x4xf32>, %i: tensor<8x8xi32>) {
  // expected-error @+1 {{has 4 source elements but 8 indices along dimension 1, which is not the axis}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<8x8xi32>) -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @gather_result(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{gives 'tensor<4xf32>', not 'tensor<8xf32>'}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @gather_element(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{has elements of type 'f16' in its result, but 'f32' in its operand}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<4xf16>
  tt.return
}

// -----

tt.func @histogram_rank(%x: tensor<8x8xi32>) {
  // expected-error @+1 {{counts a tile of one dimension into another, but has 'tensor<8x8xi32>' and 'tensor<4xi32>'}}
  %0 = tt.histogram %x : tensor<8x8xi32> -> tensor<4xi32>
  tt.return
}

// -----

tt.func @histogram_result(%x: tensor<8xi32>) {
  // expected-error @+1 {{counts in i32, not in 'i64'}}
  %0 = tt.histogram %x : tensor<8xi32> -> tensor<4xi64>
  tt.return
}

// -----

tt.func @histogram_mask(%x: tensor<8xi32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{failed to verify that mask has the shape of the tile}}
  %0 = "tt.histogram"(%x, %m) : (tensor<8xi32>, tensor<4xi1>) -> tensor<4xi32>
  tt.return
}
