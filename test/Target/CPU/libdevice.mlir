// RUN: despina-opt %s --cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// Functions of a math library: an operation on vectors where there is one, else a call for each lane of a C function
// without effects.

// CHECK: llvm.func @__nv_atan2f(f32, f32) -> f32 attributes {memory_effects = #llvm.memory_effects<other = none, argMem = none, inaccessibleMem = none
// CHECK-LABEL: llvm.func @lanes
// CHECK-COUNT-8: llvm.call @__nv_atan2f(
// CHECK-NOT: llvm.call @__nv_atan2f(
tt.func public @lanes(%p: !tt.ptr<f32>) {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %3 = tt.load %2 : tensor<64x!tt.ptr<f32>>
  %4 = tt.extern_elementwise %3, %3 {libname = "", libpath = "", symbol = "__nv_atan2f", pure = true} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tt.store %2, %4 : tensor<64x!tt.ptr<f32>>
  tt.return
}

