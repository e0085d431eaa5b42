// RUN: despina-opt %s --convert-to-ttg --test-verify-layouts | FileCheck %s
// RUN: despina-opt %s --convert-to-ttg="num-warps=1 num-ctas=2 target=cuda:80" --test-verify-layouts | FileCheck %s --check-prefix=SMALL

// A tile with more elements than threads has four of them next to each other in each thread, one with fewer has copies.
// Blocks of a cluster have half of a tile each.
// CHECK-DAG: #[[$LONG:.+]] = #ttg.layout<"{register: (1) (2) (512); lane: (4) (8) (16) (32) (64); warp: (128) (256); block:} -> (dim0: 1024)">
// CHECK-DAG: #[[$SHORT:.+]] = #ttg.layout<"{register:; lane: (1) (2) (4) (8) (0); warp: (0) (0); block:} -> (dim0: 16)">
// CHECK-DAG: #[[$TILE:.+]] = #ttg.layout<"{register: (0,1) (0,2) (8,0) (16,0); lane: (0,4) (0,8) (0,16) (0,32) (1,0); warp: (2,0) (4,0); block:} -> (dim0: 32, dim1: 64)">
// SMALL-DAG: #{{.+}} = #ttg.layout<"{register: (1) (2) (128) (256); lane: (4) (8) (16) (32) (64); warp:; block: (512)} -> (dim0: 1024)">

// CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}
// SMALL: module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32}

// CHECK-LABEL: @elementwise
// CHECK-NOT: convert_layout
// CHECK: tt.make_range {{.*}} : tensor<1024xi32, #[[$LONG]]>
// CHECK: arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xi8, #[[$SHORT]]>
// CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f16>, #[[$LONG]]>
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @elementwise(%p: !tt.ptr<f16>, %n: i32) {
  %0 = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %1 = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : tensor<16xi8>
  %2 = tt.splat %n : i32 -> tensor<1024xi32>
  %3 = arith.cmpi slt, %0, %2 : tensor<1024xi32>
  %4 = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>
  %5 = tt.addptr %4, %0 : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>
  %6 = tt.load %5, %3 : tensor<1024x!tt.ptr<f16>>
  %7 = arith.extf %6 : tensor<1024xf16> to tensor<1024xf32>
  %8 = arith.truncf %7 : tensor<1024xf32> to tensor<1024xf16>
  tt.store %5, %8, %3 : tensor<1024x!tt.ptr<f16>>
  tt.return
}

// Operands of expand_dims and broadcast are converted; of the rest, results.
// CHECK-LABEL: @shapes
// CHECK: tt.make_range
// CHECK: %[[COLUMN:.+]] = tt.expand_dims %{{.+}} {axis = 1 : i32}
// CHECK: %[[SLICE:.+]] = ttg.convert_layout %[[COLUMN]]
// CHECK: tt.broadcast %[[SLICE]] : {{.*}} -> tensor<32x64xi32, #[[$TILE]]>
// CHECK: %[[TURNED:.+]] = tt.trans
// CHECK: ttg.convert_layout %[[TURNED]]
// CHECK: tt.reshape
// CHECK: %[[JOINED:.+]] = tt.join
// CHECK: %[[PAIRS:.+]] = ttg.convert_layout %[[JOINED]]
// CHECK: %[[HALVES:.+]] = ttg.convert_layout %[[PAIRS]]
// CHECK: tt.split %[[HALVES]]
// CHECK: tt.cat
tt.func @shapes() {
  %0 = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %2 = tt.broadcast %1 : tensor<32x1xi32> -> tensor<32x64xi32>
  %3 = tt.trans %2 {order = array<i32: 1, 0>} : tensor<32x64xi32> -> tensor<64x32xi32>
  %4 = tt.reshape %3 : tensor<64x32xi32> -> tensor<8x256xi32>
  %5 = tt.join %4, %4 : tensor<8x256xi32> -> tensor<8x256x2xi32>
  %6, %7 = tt.split %5 : tensor<8x256x2xi32> -> tensor<8x256xi32>
  %8 = tt.cat %6, %7 : tensor<8x256xi32> -> tensor<16x256xi32>
  tt.print "x" {hex = false, isSigned = array<i32: 1>} : %8 : tensor<16x256xi32>
  tt.return
}

// CHECK-LABEL: @reductions
// CHECK: %[[SUMS:.+]]:2 = tt.reduce(%{{.*}}, %{{.*}}) attributes {axis = 0 : i32}
// CHECK: ttg.convert_layout %[[SUMS]]#0
// CHECK: tt.scan
tt.func @reductions(%x: tensor<32x64xf32>, %y: tensor<32x64xi32>) -> (tensor<64xf32>, f32) {
  %0:2 = "tt.reduce"(%x, %y) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s, %i : f32, i32
  }) : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %1 = "tt.scan"(%0#0) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = "tt.reduce"(%1) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<64xf32>) -> f32
  tt.return %1, %2 : tensor<64xf32>, f32
}

// Control flow hands tiles on as they are.
// CHECK-LABEL: @control
// CHECK-NOT: convert_layout
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<1024xf32, #[[$LONG]]>)
// CHECK: scf.while {{.*}} : (tensor<1024xf32, #[[$LONG]]>) -> tensor<1024xf32, #[[$LONG]]>
// CHECK: ^bb0(%{{.*}}: tensor<1024xf32, #[[$LONG]]>):
// CHECK: scf.if {{.*}} -> (tensor<1024xf32, #[[$LONG]]>)
// CHECK: tt.call @helper(%{{.*}}) : (tensor<1024xf32, #[[$LONG]]>) -> tensor<1024xf32, #[[$LONG]]>
tt.func @control(%n: i32, %c: i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant dense<0.0> : tensor<1024xf32>
  %0 = scf.for %i = %zero to %n step %one iter_args(%x = %init) -> (tensor<1024xf32>) : i32 {
    %y = arith.addf %x, %x : tensor<1024xf32>
    scf.yield %y : tensor<1024xf32>
  }
  %1 = scf.while (%x = %0) : (tensor<1024xf32>) -> tensor<1024xf32> {
    scf.condition(%c) %x : tensor<1024xf32>
  } do {
  ^bb0(%x: tensor<1024xf32>):
    scf.yield %x : tensor<1024xf32>
  }
  %2 = scf.if %c -> (tensor<1024xf32>) {
    scf.yield %1 : tensor<1024xf32>
  } else {
    scf.yield %0 : tensor<1024xf32>
  }
  %3 = tt.call @helper(%2) : (tensor<1024xf32>) -> tensor<1024xf32>
  tt.print "x" {hex = false, isSigned = array<i32: 1>} : %3 : tensor<1024xf32>
  tt.return
}
// CHECK: @helper(%{{.*}}: tensor<1024xf32, #[[$LONG]]>) -> tensor<1024xf32, #[[$LONG]]>
tt.func private @helper(%x: tensor<1024xf32>) -> tensor<1024xf32> attributes {noinline = true} {
  tt.return %x : tensor<1024xf32>
}

// CHECK-LABEL: @dots
// CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<32x64xf16, #[[$TILE]]> * tensor<64x32xf16, #{{.*}}> -> tensor<32x32xf32, #{{.*}}>
tt.func @dots(%a: tensor<32x64xf16>, %b: tensor<64x32xf16>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = tt.dot %a, %b, %c : tensor<32x64xf16> * tensor<64x32xf16> -> tensor<32x32xf32>
  tt.return %0 : tensor<32x32xf32>
}
