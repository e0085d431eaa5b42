// RUN: despina-opt %s --split-input-file --verify-diagnostics

tt.func @caller() {
  // expected-error @+1 {{calls @missing, which is no function of the module}}
  tt.call @missing() : () -> ()
  tt.return
}

// -----

tt.func private @callee(i32)
tt.func @caller() {
  // expected-error @+1 {{has 0 arguments, but @callee has 1}}
  tt.call @callee() : () -> ()
  tt.return
}

// -----

tt.func private @callee(i32) -> f32
tt.func @caller(%x: i64) {
  // expected-error @+1 {{argument 0 is 'i64', but @callee has 'i32'}}
  %0 = tt.call @callee(%x) : (i64) -> f32
  tt.return
}

// -----

tt.func private @callee(i32) -> f32
tt.func @caller(%x: i32) {
  // expected-error @+1 {{result 0 is 'f16', but @callee has 'f32'}}
  %0 = tt.call @callee(%x) : (i32) -> f16
  tt.return
}

// -----

tt.func @f(%x: i32) -> (i32, i32) {
  // expected-error @+1 {{returns 1 values, but @f has 2 results}}
  tt.return %x : i32
}

// -----

tt.func @f(%x: i32) -> f32 {
  // expected-error @+1 {{value 0 is 'i32', but @f returns 'f32'}}
  tt.return %x : i32
}

// -----

tt.func @f() {
  // expected-error @+1 {{one of the following enum values for attribute 'axis' [x, y, z]}}
  %0 = tt.get_program_id w : i32
  tt.return
}
