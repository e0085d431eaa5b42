// RUN: despina-opt %s | despina-opt | FileCheck %s

// CHECK-LABEL: @casts
tt.func @casts(%i: i64, %t: tensor<16xi64>, %p: !tt.ptr<i8, 3>, %f: tensor<16xf32>, %h: f8E5M2) {
  // CHECK: tt.int_to_ptr %{{.*}} : i64 -> !tt.ptr<f32>
  %0 = tt.int_to_ptr %i : i64 -> !tt.ptr<f32>
  // CHECK: tt.int_to_ptr %{{.*}} : tensor<16xi64> -> tensor<16x!tt.ptr<bf16>>
  %1 = tt.int_to_ptr %t : tensor<16xi64> -> tensor<16x!tt.ptr<bf16>>
  // CHECK: tt.ptr_to_int %{{.*}} : !tt.ptr<f32> -> i64
  %2 = tt.ptr_to_int %0 : !tt.ptr<f32> -> i64
  // CHECK: tt.bitcast %{{.*}} : !tt.ptr<i8, 3> -> !tt.ptr<i1, 3>
  %3 = tt.bitcast %p : !tt.ptr<i8, 3> -> !tt.ptr<i1, 3>
  // CHECK: tt.bitcast %{{.*}} : tensor<16xf32> -> tensor<16xi32>
  %4 = tt.bitcast %f : tensor<16xf32> -> tensor<16xi32>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtne : tensor<16xf32> -> tensor<16xf8E4M3FN>
  %5 = tt.fp_to_fp %f, rounding = rtne : tensor<16xf32> -> tensor<16xf8E4M3FN>
  // CHECK: tt.fp_to_fp %{{.*}}, rounding = rtz : tensor<16xf32> -> tensor<16xbf16>
  %6 = tt.fp_to_fp %f, rounding = rtz : tensor<16xf32> -> tensor<16xbf16>
  // CHECK: tt.fp_to_fp %{{.*}} : f8E5M2 -> f16
  %7 = tt.fp_to_fp %h : f8E5M2 -> f16
  tt.return
}

// CHECK-LABEL: @arithmetic
tt.func @arithmetic(%f: tensor<16xf32>, %s: f32, %i: tensor<4x8xi32>, %p: tensor<4x8x!tt.ptr<f16>>, %q: !tt.ptr<i32>,
                    %o: i64) {
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : tensor<16xf32>
  %0 = tt.clampf %f, %f, %f, propagateNan = all : tensor<16xf32>
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = none : f32
  %1 = tt.clampf %s, %s, %s, propagateNan = none : f32
  // CHECK: tt.precise_sqrt %{{.*}} : f32
  %2 = tt.precise_sqrt %s : f32
  // CHECK: tt.precise_divf %{{.*}}, %{{.*}} : tensor<16xf32>
  %3 = tt.precise_divf %f, %f : tensor<16xf32>
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : tensor<4x8xi32>
  %4 = tt.mulhiui %i, %i : tensor<4x8xi32>
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : tensor<4x8x!tt.ptr<f16>>, tensor<4x8xi32>
  %5 = tt.addptr %p, %i : tensor<4x8x!tt.ptr<f16>>, tensor<4x8xi32>
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : !tt.ptr<i32>, i64
  %6 = tt.addptr %q, %o : !tt.ptr<i32>, i64
  tt.return
}

// CHECK-LABEL: @foreign
tt.func @foreign(%x: tensor<8xi8>, %p: tensor<8x!tt.ptr<f32>>, %f: tensor<8xf32>, %s: f64) {
  // CHECK: %{{.*}}:2 = tt.elementwise_inline_asm "text $0, $2;" {constraints = "=r,=r,r,l", packed_element = 4 : i32, pure = true} %{{.*}}, %{{.*}} : tensor<8xi8>, tensor<8x!tt.ptr<f32>> -> tensor<8xi16>, tensor<8xi8>
  %0:2 = tt.elementwise_inline_asm "text $0, $2;" {constraints = "=r,=r,r,l", packed_element = 4 : i32, pure = true} %x, %p : tensor<8xi8>, tensor<8x!tt.ptr<f32>> -> tensor<8xi16>, tensor<8xi8>
  // CHECK: tt.elementwise_inline_asm "mov $0, %clock;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  %1 = tt.elementwise_inline_asm "mov $0, %clock;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> i32
  // CHECK: tt.extern_elementwise %{{.*}}, %{{.*}} {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = tt.extern_elementwise %f, %f {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK: tt.extern_elementwise %{{.*}} {libname = "libdevice", libpath = "", pure = false, symbol = "__nv_isnand"} : (f64) -> i32
  %3 = tt.extern_elementwise %s {libname = "libdevice", libpath = "", pure = false, symbol = "__nv_isnand"} : (f64) -> i32
  tt.return
}
