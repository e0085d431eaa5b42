// RUN: despina-opt %s --split-input-file --verify-diagnostics

tt.func @shape(%i: tensor<16xi64>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape}}
  %0 = tt.int_to_ptr %i : tensor<16xi64> -> tensor<32x!tt.ptr<f32>>
  tt.return
}

// -----

tt.func @width(%i: i32) {
  // expected-error @+1 {{operand #0 must be i64 or tile of i64, but got 'i32'}}
  %0 = tt.int_to_ptr %i : i32 -> !tt.ptr<f32>
  tt.return
}

// -----

tt.func @bitcast_width(%x: f32) {
  // expected-error @+1 {{cannot reinterpret 'f32' as 'i64': the widths differ}}
  %0 = tt.bitcast %x : f32 -> i64
  tt.return
}

// -----

tt.func @bitcast_pointer(%x: i64) {
  // expected-error @+1 {{cannot mix 'i64' and '!tt.ptr<f32>'; use tt.int_to_ptr or tt.ptr_to_int}}
  %0 = tt.bitcast %x : i64 -> !tt.ptr<f32>
  tt.return
}

// -----

tt.func @bitcast_space(%p: !tt.ptr<f32, 3>) {
  // expected-error @+1 {{cannot move a pointer between address spaces 3 and 1}}
  %0 = tt.bitcast %p : !tt.ptr<f32, 3> -> !tt.ptr<f32>
  tt.return
}

// -----

tt.func @rounding(%x: f32) {
  // expected-error @+1 {{from 'f32' to 'f8E5M2' narrows, so it needs a rounding}}
  %0 = tt.fp_to_fp %x : f32 -> f8E5M2
  tt.return
}

// -----

tt.func @addptr_offset(%p: !tt.ptr<f32>, %f: f32) {
  // expected-error @+1 {{operand #1 must be signless integer or tile of them, but got 'f32'}}
  %0 = tt.addptr %p, %f : !tt.ptr<f32>, f32
  tt.return
}

// -----

tt.func @addptr_shape(%p: tensor<8x!tt.ptr<f32>>, %i: tensor<16xi32>) {
  // expected-error @+1 {{all non-scalar operands/results must have the same shape}}
  %0 = tt.addptr %p, %i : tensor<8x!tt.ptr<f32>>, tensor<16xi32>
  tt.return
}

// -----

tt.func @precise(%x: i32) {
  // expected-error @+1 {{operand #0 must be float or tile of floats, but got 'i32'}}
  %0 = tt.precise_sqrt %x : i32
  tt.return
}

// -----

tt.func @mulhi(%x: f32) {
  // expected-error @+1 {{operand #0 must be signless integer or tile of them, but got 'f32'}}
  %0 = tt.mulhiui %x, %x : f32
  tt.return
}

// -----

tt.func @clamp(%x: i32) {
  // expected-error @+1 {{operand #0 must be float or tile of floats, but got 'i32'}}
  %0 = tt.clampf %x, %x, %x, propagateNan = none : i32
  tt.return
}

// -----

tt.func @asm_packed(%x: tensor<8xi8>) {
  // expected-error @+1 {{packs 0 elements; at least 1 is needed}}
  %0 = tt.elementwise_inline_asm "" {constraints = "=r,r", packed_element = 0 : i32, pure = true} %x : tensor<8xi8> -> tensor<8xi8>
  tt.return
}

// -----

tt.func @asm_divides(%x: tensor<8xi8>) {
  // expected-error @+1 {{packs 3 elements, which do not divide the 8 of 'tensor<8xi8>'}}
  %0 = tt.elementwise_inline_asm "" {constraints = "=r,r", packed_element = 3 : i32, pure = true} %x : tensor<8xi8> -> tensor<8xi8>
  tt.return
}

// -----

tt.func @asm_shape(%x: tensor<8xi8>) {
  // expected-error @+1 {{needs operands and results of one shape, but has 'tensor<8xi8>' and 'tensor<4xi8>'}}
  %0 = tt.elementwise_inline_asm "" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xi8> -> tensor<4xi8>
  tt.return
}

// -----

tt.func @asm_results(%x: i32) {
  // expected-error @+1 {{needs at least one result}}
  "tt.elementwise_inline_asm"(%x) <{asm_string = "", constraints = "r", packed_element = 1 : i32, pure = false}> : (i32) -> ()
  tt.return
}

// -----

tt.func @extern_symbol(%x: f32) {
  // expected-error @+1 {{needs the symbol of a function}}
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = ""} : (f32) -> f32
  tt.return
}

// -----

tt.func @extern_shape(%x: tensor<8xf32>, %y: f32) {
  // expected-error @+1 {{needs operands and results of one shape, but has 'tensor<8xf32>' and 'f32'}}
  %0 = tt.extern_elementwise %x, %y {libname = "", libpath = "", pure = true, symbol = "f"} : (tensor<8xf32>, f32) -> tensor<8xf32>
  tt.return
}
