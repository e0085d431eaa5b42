// RUN: despina-opt %s --split-input-file --verify-diagnostics --cpu-lower-tiles=vector-bytes=32

// What the target cannot do is an error from a table, before LLVM sees it.

tt.func public @dtype(%x: i128, %out: !tt.ptr<i64>) {
  // expected-error @below {{'arith.addi' op on 'i128' is not supported on the CPU target yet}}
  %0 = arith.addi %x, %x : i128
  tt.return
}

// -----

tt.func public @combine(%x: tensor<4xi32>, %p: !tt.ptr<i32>) {
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    // expected-error @below {{'tt.load' op inside a combine function is not supported on the CPU target yet}}
    %v = tt.load %p : !tt.ptr<i32>
    tt.reduce.return %v : i32
  }) : (tensor<4xi32>) -> i32
  tt.return
}

// -----

// expected-error @below {{a kernel with several blocks or with results is not supported on the CPU target yet}}
tt.func public @results() -> i32 {
  %c0 = arith.constant 0 : i32
  tt.return %c0 : i32
}

// -----

tt.func public @unknown_function(%x: f32, %p: !tt.ptr<f32>) {
  // expected-error @below {{the function '__nv_magic' of a math library is not available on the CPU target}}
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", symbol = "__nv_magic", pure = true} : (f32) -> f32
  tt.return
}

// -----

tt.func public @other_types(%x: f64, %p: !tt.ptr<f32>) {
  // expected-error @below {{the function '__nv_tanf' of a math library is not available on the CPU target}}
  %0 = tt.extern_elementwise %x {libname = "", libpath = "", symbol = "__nv_tanf", pure = true} : (f64) -> f32
  tt.return
}
