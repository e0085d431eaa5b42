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
