// RUN: despina-opt %s --cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// CHECK-NOT: @__nv_
// CHECK-LABEL: llvm.func @inline
// CHECK: math.trunc {{.*}} : vector<8xf32>
// CHECK: math.copysign {{.*}} : vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: arith.cmpf uno, {{.*}} : vector<8xf32>
// CHECK: arith.bitcast {{.*}} : vector<8xi32> to vector<8xf32>
tt.func public @inline(%p: !tt.ptr<f32>) {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %3 = tt.load %2 : tensor<64x!tt.ptr<f32>>
  %4 = tt.extern_elementwise %3 {libname = "", libpath = "", symbol = "__nv_truncf", pure = true} : (tensor<64xf32>) -> tensor<64xf32>
  %5 = tt.extern_elementwise %4, %3 {libname = "", libpath = "", symbol = "__nv_copysignf", pure = true} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %6 = tt.extern_elementwise %5, %3 {libname = "", libpath = "", symbol = "__nv_fadd_rn", pure = true} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %7 = tt.extern_elementwise %6 {libname = "", libpath = "", symbol = "__nv_isnanf", pure = true} : (tensor<64xf32>) -> tensor<64xi32>
  %8 = tt.extern_elementwise %7 {libname = "", libpath = "", symbol = "__nv_int_as_float", pure = true} : (tensor<64xi32>) -> tensor<64xf32>
  tt.store %2, %8 : tensor<64x!tt.ptr<f32>>
  tt.return
}
