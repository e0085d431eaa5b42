// RUN: despina-opt %s | despina-opt | FileCheck %s

// CHECK-LABEL: @shape
tt.func @shape(%s: f32, %p: !tt.ptr<f16>, %t: tensor<4x8xf32>, %one: tensor<1x1xi32>, %m: tensor<4x2xi8>) {
  // CHECK: tt.make_range {end = 24 : i32, start = 8 : i32} : tensor<16xi32>
  %0 = tt.make_range {end = 24 : i32, start = 8 : i32} : tensor<16xi32>
  // CHECK: tt.splat %{{.*}} : f32 -> tensor<4x8xf32>
  %1 = tt.splat %s : f32 -> tensor<4x8xf32>
  // CHECK: tt.splat %{{.*}} : !tt.ptr<f16> -> tensor<2x!tt.ptr<f16>>
  %2 = tt.splat %p : !tt.ptr<f16> -> tensor<2x!tt.ptr<f16>>
  // CHECK: tt.unsplat %{{.*}} : tensor<1x1xi32>
  %3 = tt.unsplat %one : tensor<1x1xi32>
  // CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %4 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  // CHECK: tt.expand_dims %{{.*}} {axis = 2 : i32} : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %5 = tt.expand_dims %t {axis = 2 : i32} : tensor<4x8xf32> -> tensor<4x8x1xf32>
  // CHECK: tt.broadcast %{{.*}} : tensor<16x1xi32> -> tensor<16x64xi32>
  %6 = tt.broadcast %4 : tensor<16x1xi32> -> tensor<16x64xi32>
  // CHECK: tt.reshape %{{.*}} : tensor<4x8xf32> -> tensor<32xf32>
  %7 = tt.reshape %t : tensor<4x8xf32> -> tensor<32xf32>
  // CHECK: tt.reshape %{{.*}} allow_reorder : tensor<4x8xf32> -> tensor<2x16xf32>
  %8 = tt.reshape %t allow_reorder : tensor<4x8xf32> -> tensor<2x16xf32>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %9 = tt.trans %t {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  // CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<8x8xf32>
  %10 = tt.cat %t, %t : tensor<4x8xf32> -> tensor<8x8xf32>
  // CHECK: tt.join %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8x2xf32>
  %11 = tt.join %t, %t : tensor<4x8xf32> -> tensor<4x8x2xf32>
  // CHECK: %{{.*}}, %{{.*}} = tt.split %{{.*}} : tensor<4x2xi8> -> tensor<4xi8>
  %12, %13 = tt.split %m : tensor<4x2xi8> -> tensor<4xi8>
  tt.return
}

// CHECK-LABEL: @gather
tt.func @gather(%x: tensor<8x16xf32>, %i: tensor<8x4xi32>, %j: tensor<32x16xi64>) {
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 1 : i32} : (tensor<8x16xf32>, tensor<8x4xi32>) -> tensor<8x4xf32>
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<8x16xf32>, tensor<8x4xi32>) -> tensor<8x4xf32>
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 0 : i32, efficient_layout} : (tensor<8x16xf32>, tensor<32x16xi64>) -> tensor<32x16xf32>
  %1 = tt.gather %x[%j] {axis = 0 : i32, efficient_layout} : (tensor<8x16xf32>, tensor<32x16xi64>) -> tensor<32x16xf32>
  tt.return
}

// CHECK-LABEL: @histogram
tt.func @histogram(%x: tensor<64xi32>, %y: tensor<64xi8>, %m: tensor<64xi1>) {
  // CHECK: tt.histogram %{{.*}} : tensor<64xi32> -> tensor<16xi32>
  %0 = tt.histogram %x : tensor<64xi32> -> tensor<16xi32>
  // CHECK: tt.histogram %{{.*}}, %{{.*}} : tensor<64xi8> -> tensor<2xi32>
  %1 = tt.histogram %y, %m : tensor<64xi8> -> tensor<2xi32>
  tt.return
}
