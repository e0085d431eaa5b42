// RUN: despina-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a pointer points to a float, a signless integer or a pointer, not to 'tensor<4xf32>'}}
tt.func private @f(!tt.ptr<tensor<4xf32>>)

// -----

// expected-error @+1 {{a pointer points to a float, a signless integer or a pointer, not to 'index'}}
tt.func private @f(!tt.ptr<index>)

// -----

// expected-error @+1 {{address space -1 is negative}}
tt.func private @f(!tt.ptr<f32, -1>)

// -----

tt.func @extent(%x: i32) {
  // expected-error @+1 {{has a tile whose extent 24 is no power of two: 'tensor<24xi32>'}}
  %0 = tt.splat %x : i32 -> tensor<24xi32>
  tt.return
}

// -----

tt.func @zero(%x: i32) {
  // expected-error @+1 {{has a tile whose extent 0 is no power of two}}
  %0 = tt.splat %x : i32 -> tensor<0xi32>
  tt.return
}

// -----

tt.func @large(%x: i32) {
  // expected-error @+1 {{has a tile of more than 1048576 elements: 'tensor<2048x1024xi32>'}}
  %0 = tt.splat %x : i32 -> tensor<2048x1024xi32>
  tt.return
}

// -----

tt.func @huge(%x: i32) {
  // The product of these extents is 0 in 64 bits.
  // expected-error @+1 {{has a tile of more than 1048576 elements}}
  %0 = tt.splat %x : i32 -> tensor<4294967296x4294967296xi32>
  tt.return
}

// -----

tt.func @scalar(%x: i32) {
  // expected-error @+1 {{has a tile without dimensions: 'tensor<i32>'; use the scalar type}}
  %0 = tt.splat %x : i32 -> tensor<i32>
  tt.return
}

// -----

tt.func @dynamic(%x: i32) {
  // expected-error @+1 {{has a tile of unknown extents: 'tensor<?xi32>'}}
  %0 = tt.splat %x : i32 -> tensor<?xi32>
  tt.return
}
