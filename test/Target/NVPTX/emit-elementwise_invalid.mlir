// RUN: despina-opt %s --nvptx-emit-threads --split-input-file --verify-diagnostics

tt.func public @count(%x: i32) {
  // expected-error @+1 {{has 2 constraints of inputs, but its inputs take 1 registers (1 elements at a time)}}
  %a = tt.elementwise_inline_asm "text;" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %x : i32 -> i32
  tt.return
}

// -----

tt.func public @letter(%x: i32) {
  // expected-error @+1 {{has the constraint 'x'; on CUDA, registers are 'h' (16 bits), 'r' (32), 'l' (64), 'f' and 'd'}}
  %a = tt.elementwise_inline_asm "text;" {constraints = "=r,x", packed_element = 1 : i32, pure = true} %x : i32 -> i32
  tt.return
}

// -----

tt.func public @narrow(%x: i64) {
  // expected-error @+1 {{has the constraint 'r', too narrow for 'i64'}}
  %a = tt.elementwise_inline_asm "text;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : i64 -> i32
  tt.return
}

// -----

tt.func public @types(%x: f32, %y: f64) {
  %a = tt.extern_elementwise %x {libname = "", libpath = "", symbol = "__nv_f", pure = true} : (f32) -> f32
  // expected-error @+1 {{the device function '__nv_f' is called with the type}}
  %b = tt.extern_elementwise %y {libname = "", libpath = "", symbol = "__nv_f", pure = true} : (f64) -> f64
  tt.return
}

// -----

tt.func public @wide(%x: f128) {
  // expected-error @+1 {{on 'f128' is not supported on CUDA}}
  %a = arith.addf %x, %x : f128
  tt.return
}

// -----

tt.func public @format(%x: f32) {
  // expected-error @+1 {{on 'f8E3M4' is not supported on CUDA}}
  %a = tt.fp_to_fp %x, rounding = rtne : f32 -> f8E3M4
  tt.return
}

// -----

tt.func public @integer(%x: i7) {
  // expected-error @+1 {{on 'i7' is not supported on CUDA}}
  %a = arith.addi %x, %x : i7
  tt.return
}

// -----

tt.func public @many(%x: i32) {
  // expected-error @+1 {{has 1 constraints of outputs, but its outputs take 2000000000 registers}}
  %a = tt.elementwise_inline_asm "text;" {constraints = "=r,r", packed_element = 2000000000 : i32, pure = true} %x : i32 -> i32
  tt.return
}

// -----

tt.func public @tied(%x: i32) {
  // expected-error @+1 {{has the constraint '=0'}}
  %a = tt.elementwise_inline_asm "text;" {constraints = "=0,0", packed_element = 1 : i32, pure = true} %x : i32 -> i32
  tt.return
}
