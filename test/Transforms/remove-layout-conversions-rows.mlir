// RUN: despina-opt %s --split-input-file --tt-pipeline --convert-to-ttg --ttg-coalesce --ttg-remove-layout-conversions --cse --test-verify-layouts | FileCheck %s

// Kernels that work row by row need no conversion at all: everything has the layout of the loads.

// CHECK-LABEL: @add_kernel
// CHECK-NOT: convert_layout
// CHECK-COUNT-1: tt.make_range
// CHECK-NOT: tt.make_range
// CHECK-NOT: convert_layout
// CHECK: tt.return
module {
  tt.func public @add_kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %c1024_i32 = arith.constant 1024 : i32
    %1 = arith.muli %0, %c1024_i32 : i32
    %2 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %3 = tt.splat %1 : i32 -> tensor<1024xi32>
    %4 = arith.addi %3, %2 : tensor<1024xi32>
    %5 = tt.splat %arg3 : i32 -> tensor<1024xi32>
    %6 = arith.cmpi slt, %4, %5 : tensor<1024xi32>
    %7 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %8 = tt.addptr %7, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %9 = tt.load %8, %6 : tensor<1024x!tt.ptr<f32>>
    %10 = tt.splat %arg1 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %11 = tt.addptr %10, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %12 = tt.load %11, %6 : tensor<1024x!tt.ptr<f32>>
    %13 = tt.splat %arg2 : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %14 = tt.addptr %13, %4 : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %15 = arith.addf %9, %12 : tensor<1024xf32>
    tt.store %14, %15, %6 : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}

// -----

// CHECK-LABEL: @softmax_kernel
// CHECK-NOT: convert_layout
// CHECK-COUNT-1: tt.make_range
// CHECK-NOT: tt.make_range
// CHECK-NOT: convert_layout
// CHECK: tt.return
module {
  tt.func public @softmax_kernel(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: i32 {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %1 = arith.extsi %0 : i32 to i64
    %2 = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %3 = tt.splat %arg3 : i32 -> tensor<4096xi32>
    %4 = arith.cmpi slt, %2, %3 : tensor<4096xi32>
    %5 = arith.extsi %arg2 : i32 to i64
    %6 = arith.muli %1, %5 : i64
    %7 = tt.addptr %arg1, %6 : !tt.ptr<f16>, i64
    %8 = tt.splat %7 : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>>
    %9 = tt.addptr %8, %2 : tensor<4096x!tt.ptr<f16>>, tensor<4096xi32>
    %cst = arith.constant 0xFF800000 : f32
    %10 = arith.truncf %cst : f32 to f16
    %11 = tt.splat %10 : f16 -> tensor<4096xf16>
    %12 = tt.load %9, %4, %11 : tensor<4096x!tt.ptr<f16>>
    %13 = arith.extf %12 : tensor<4096xf16> to tensor<4096xf32>
    %14 = tt.reduce(%13) attributes {axis = 0 : i32} {
    ^bb0(%arg4: f32, %arg5: f32):
      %27 = arith.maxnumf %arg4, %arg5 : f32
      tt.reduce.return %27 : f32
    } : (tensor<4096xf32>) -> f32
    %15 = tt.splat %14 : f32 -> tensor<4096xf32>
    %16 = arith.subf %13, %15 : tensor<4096xf32>
    %17 = math.exp %16 : tensor<4096xf32>
    %18 = tt.reduce(%17) attributes {axis = 0 : i32} {
    ^bb0(%arg4: f32, %arg5: f32):
      %27 = arith.addf %arg4, %arg5 : f32
      tt.reduce.return %27 : f32
    } : (tensor<4096xf32>) -> f32
    %19 = tt.splat %18 : f32 -> tensor<4096xf32>
    %20 = arith.divf %17, %19 : tensor<4096xf32>
    %21 = arith.extsi %arg2 : i32 to i64
    %22 = arith.muli %1, %21 : i64
    %23 = tt.addptr %arg0, %22 : !tt.ptr<f16>, i64
    %24 = tt.splat %23 : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>>
    %25 = tt.addptr %24, %2 : tensor<4096x!tt.ptr<f16>>, tensor<4096xi32>
    %26 = arith.truncf %20 : tensor<4096xf32> to tensor<4096xf16>
    tt.store %25, %26, %4 : tensor<4096x!tt.ptr<f16>>
    tt.return
  }
}

// -----

// CHECK-LABEL: @layernorm_kernel
// CHECK-NOT: convert_layout
// CHECK-COUNT-1: tt.make_range
// CHECK-NOT: tt.make_range
// CHECK-NOT: convert_layout
// CHECK: tt.return
module {
  tt.func public @layernorm_kernel(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg3: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: f32) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %1 = arith.extsi %0 : i32 to i64
    %2 = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %3 = tt.splat %arg5 : i32 -> tensor<4096xi32>
    %4 = arith.cmpi slt, %2, %3 : tensor<4096xi32>
    %5 = arith.extsi %arg4 : i32 to i64
    %6 = arith.muli %1, %5 : i64
    %7 = tt.addptr %arg0, %6 : !tt.ptr<f16>, i64
    %8 = tt.splat %7 : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>>
    %9 = tt.addptr %8, %2 : tensor<4096x!tt.ptr<f16>>, tensor<4096xi32>
    %cst = arith.constant 0.000000e+00 : f32
    %10 = arith.truncf %cst : f32 to f16
    %11 = tt.splat %10 : f16 -> tensor<4096xf16>
    %12 = tt.load %9, %4, %11 : tensor<4096x!tt.ptr<f16>>
    %13 = arith.extf %12 : tensor<4096xf16> to tensor<4096xf32>
    %14 = tt.reduce(%13) attributes {axis = 0 : i32} {
    ^bb0(%arg7: f32, %arg8: f32):
      %44 = arith.addf %arg7, %arg8 : f32
      tt.reduce.return %44 : f32
    } : (tensor<4096xf32>) -> f32
    %15 = arith.sitofp %arg5 : i32 to f32
    %16 = arith.divf %14, %15 : f32
    %17 = tt.splat %16 : f32 -> tensor<4096xf32>
    %18 = arith.subf %13, %17 : tensor<4096xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<4096xf32>
    %19 = arith.select %4, %18, %cst_0 : tensor<4096xi1>, tensor<4096xf32>
    %20 = arith.mulf %19, %19 : tensor<4096xf32>
    %21 = tt.reduce(%20) attributes {axis = 0 : i32} {
    ^bb0(%arg7: f32, %arg8: f32):
      %44 = arith.addf %arg7, %arg8 : f32
      tt.reduce.return %44 : f32
    } : (tensor<4096xf32>) -> f32
    %22 = arith.sitofp %arg5 : i32 to f32
    %23 = arith.divf %21, %22 : f32
    %24 = arith.addf %23, %arg6 : f32
    %25 = math.rsqrt %24 : f32
    %26 = tt.splat %arg2 : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>>
    %27 = tt.addptr %26, %2 : tensor<4096x!tt.ptr<f16>>, tensor<4096xi32>
    %28 = tt.load %27, %4 : tensor<4096x!tt.ptr<f16>>
    %29 = arith.extf %28 : tensor<4096xf16> to tensor<4096xf32>
    %30 = tt.splat %arg3 : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>>
    %31 = tt.addptr %30, %2 : tensor<4096x!tt.ptr<f16>>, tensor<4096xi32>
    %32 = tt.load %31, %4 : tensor<4096x!tt.ptr<f16>>
    %33 = arith.extf %32 : tensor<4096xf16> to tensor<4096xf32>
    %34 = arith.extsi %arg4 : i32 to i64
    %35 = arith.muli %1, %34 : i64
    %36 = tt.addptr %arg1, %35 : !tt.ptr<f16>, i64
    %37 = tt.splat %36 : !tt.ptr<f16> -> tensor<4096x!tt.ptr<f16>>
    %38 = tt.addptr %37, %2 : tensor<4096x!tt.ptr<f16>>, tensor<4096xi32>
    %39 = tt.splat %25 : f32 -> tensor<4096xf32>
    %40 = arith.mulf %19, %39 : tensor<4096xf32>
    %41 = arith.mulf %40, %29 : tensor<4096xf32>
    %42 = arith.addf %41, %33 : tensor<4096xf32>
    %43 = arith.truncf %42 : tensor<4096xf32> to tensor<4096xf16>
    tt.store %38, %43, %4 : tensor<4096x!tt.ptr<f16>>
    tt.return
  }
}
