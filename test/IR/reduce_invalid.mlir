// RUN: despina-opt %s --split-input-file --verify-diagnostics

tt.func @none() {
  // expected-error @+1 {{needs at least one tile}}
  "tt.reduce"() <{axis = 0 : i32}> ({
    tt.reduce.return
  }) : () -> ()
  tt.return
}

// -----

tt.func @axis(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis 1 is outside 0 to 0}}
  %0 = tt.reduce(%x) attributes {axis = 1 : i32} {
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  } : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @negative_axis(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis -1 is outside 0 to 0}}
  %0 = tt.scan(%x) attributes {axis = -1 : i32, reverse = false} {
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @shapes(%x: tensor<8xf32>, %y: tensor<16xf32>) {
  // expected-error @+1 {{needs tiles of one shape, but has 'tensor<8xf32>' and 'tensor<16xf32>'}}
  %0:2 = tt.reduce(%x, %y) attributes {axis = 0 : i32} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tt.reduce.return %a, %b : f32, f32
  } : (tensor<8xf32>, tensor<16xf32>) -> (f32, f32)
  tt.return
}

// -----

tt.func @results(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 1 tiles but 2 results}}
  %0:2 = tt.reduce(%x) attributes {axis = 0 : i32} {
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  } : (tensor<8xf32>) -> (f32, f32)
  tt.return
}

// -----

tt.func @result_type(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{result 0 is 'tensor<8xf32>', expected 'tensor<4xf32>'}}
  %0 = tt.reduce(%x) attributes {axis = 1 : i32} {
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  } : (tensor<4x8xf32>) -> tensor<8xf32>
  tt.return
}

// -----

tt.func @scan_type(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{result 0 is 'tensor<4xf32>', expected 'tensor<4x8xf32>'}}
  %0 = tt.scan(%x) attributes {axis = 1 : i32, reverse = false} {
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  } : (tensor<4x8xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func @arguments(%x: tensor<8xf32>) {
  // expected-error @+1 {{has a region of arguments ('f32'), expected ('f32', 'f32')}}
  %0 = tt.reduce(%x) attributes {axis = 0 : i32} {
  ^bb0(%a: f32):
    tt.reduce.return %a : f32
  } : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @terminator(%x: tensor<8xf32>) {
  // expected-error @+1 {{has a region that does not end with 'tt.reduce.return'}}
  %0 = tt.reduce(%x) attributes {axis = 0 : i32} {
  ^bb0(%a: f32, %b: f32):
    ub.unreachable
  } : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @yield(%x: tensor<8xf32>, %y: i32) {
  // expected-error @+1 {{has a region that gives ('i32'), expected ('f32')}}
  %0 = tt.reduce(%x) attributes {axis = 0 : i32} {
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %y : i32
  } : (tensor<8xf32>) -> f32
  tt.return
}

// -----

tt.func @dot_rank(%a: tensor<8xf32>, %c: tensor<8x8xf32>) {
  // expected-error @+1 {{needs matrices or batches of them, not 'tensor<8xf32>'}}
  %0 = tt.dot %a, %a, %c : tensor<8xf32> * tensor<8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_ranks(%a: tensor<8x8xf32>, %b: tensor<1x8x8xf32>) {
  // expected-error @+1 {{needs operands of one rank}}
  %0 = tt.dot %a, %b, %a : tensor<8x8xf32> * tensor<1x8x8xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @dot_batch(%a: tensor<2x8x8xf32>, %b: tensor<4x8x8xf32>) {
  // expected-error @+1 {{needs one batch extent, but has 2, 4 and 2}}
  %0 = tt.dot %a, %b, %a : tensor<2x8x8xf32> * tensor<4x8x8xf32> -> tensor<2x8x8xf32>
  tt.return
}

// -----

tt.func @dot_k(%a: tensor<16x32xf32>, %b: tensor<16x32xf32>, %c: tensor<16x32xf32>) {
  // expected-error @+1 {{multiplies 32 columns of a with 16 rows of b}}
  %0 = tt.dot %a, %b, %c : tensor<16x32xf32> * tensor<16x32xf32> -> tensor<16x32xf32>
  tt.return
}

// -----

tt.func @dot_acc(%a: tensor<16x16xf32>, %c: tensor<16x32xf32>) {
  // expected-error @+1 {{accumulates a 16x16 product into 'tensor<16x32xf32>'}}
  %0 = tt.dot %a, %a, %c : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x32xf32>
  tt.return
}

// -----

tt.func @dot_types(%a: tensor<16x16xf16>, %b: tensor<16x16xbf16>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{needs a and b of one element type, but has 'f16' and 'bf16'}}
  %0 = tt.dot %a, %b, %c : tensor<16x16xf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_kind(%a: tensor<16x16xi8>, %c: tensor<16x16xf32>) {
  // expected-error @+1 {{cannot accumulate products of 'i8' in 'f32'}}
  %0 = tt.dot %a, %a, %c : tensor<16x16xi8> * tensor<16x16xi8> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @dot_width(%a: tensor<16x16xf32>, %c: tensor<16x16xf16>) {
  // expected-error @+1 {{accumulates products of 'f32' in the narrower 'f16'}}
  %0 = tt.dot %a, %a, %c : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf16>
  tt.return
}
