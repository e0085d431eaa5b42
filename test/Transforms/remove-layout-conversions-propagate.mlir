// RUN: despina-opt %s --ttg-remove-layout-conversions --test-verify-layouts --split-input-file | FileCheck %s

// The layout of the load goes through conversions, arithmetic and reductions up to the store.
#wide = #ttg.layout<"{register: (0,1) (0,2) (2,0); lane: (0,4) (0,8) (0,16) (0,32) (1,0); warp: ; block: } -> (dim0: 4, dim1: 64)">
#default = #ttg.layout<"{register: (0,1) (1,0) (2,0); lane: (0,2) (0,4) (0,8) (0,16) (0,32); warp: ; block: } -> (dim0: 4, dim1: 64)">
#row = #ttg.layout<"{register: (1) ; lane: (2) (4) (8) (16) (32); warp: ; block: } -> (dim0: 64)">
#rowslice = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: ; block: } -> (dim0: 64)">
module attributes {"ttg.num-warps" = 1 : i32} {
// CHECK-LABEL: @forward
// CHECK-NOT: convert_layout
// CHECK: tt.store
tt.func @forward(%p: tensor<4x64x!tt.ptr<f16>, #wide>) {
  %0 = tt.load %p : tensor<4x64x!tt.ptr<f16>, #wide>
  %1 = ttg.convert_layout %0 : tensor<4x64xf16, #wide> -> tensor<4x64xf16, #default>
  %2 = arith.extf %1 : tensor<4x64xf16, #default> to tensor<4x64xf32, #default>
  %3 = "tt.reduce"(%2) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<4x64xf32, #default>) -> tensor<64xf32, #rowslice>
  %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<64xf32, #rowslice> -> tensor<1x64xf32, #ttg.layout<"{register: (0,1); lane: (0,2) (0,4) (0,8) (0,16) (0,32); warp: ; block: } -> (dim0: 1, dim1: 64)">>
  %5 = tt.broadcast %4 : tensor<1x64xf32, #ttg.layout<"{register: (0,1); lane: (0,2) (0,4) (0,8) (0,16) (0,32); warp: ; block: } -> (dim0: 1, dim1: 64)">> -> tensor<4x64xf32, #default>
  %6 = arith.subf %2, %5 : tensor<4x64xf32, #default>
  %7 = arith.truncf %6 : tensor<4x64xf32, #default> to tensor<4x64xf16, #default>
  %8 = ttg.convert_layout %7 : tensor<4x64xf16, #default> -> tensor<4x64xf16, #wide>
  tt.store %p, %8 : tensor<4x64x!tt.ptr<f16>, #wide>
  tt.return
}
}

// -----

#a = #ttg.layout<"{register: (1) (2); lane: (4) (8) (16) (32) (64); warp: ; block: } -> (dim0: 128)">
#b = #ttg.layout<"{register: (32) (64); lane: (1) (2) (4) (8) (16); warp: ; block: } -> (dim0: 128)">
module attributes {"ttg.num-warps" = 1 : i32} {
// Loops, branches and while loops carry the layout on.
// CHECK: #[[$A:.+]] = #ttg.layout<"{register: (1) (2); lane: (4)
// CHECK-LABEL: @control
// CHECK-NOT: convert_layout
// CHECK: scf.for {{.*}} -> (tensor<128xf32, #[[$A]]>)
// CHECK: scf.if {{.*}} -> (tensor<128xf32, #[[$A]]>)
// CHECK: scf.while {{.*}} : (tensor<128xf32, #[[$A]]>) -> tensor<128xf32, #[[$A]]>
// CHECK-NOT: convert_layout
// CHECK: tt.store
tt.func @control(%p: tensor<128x!tt.ptr<f32>, #a>, %n: i32, %c: i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant dense<0.0> : tensor<128xf32, #b>
  %0 = scf.for %i = %zero to %n step %one iter_args(%acc = %init) -> (tensor<128xf32, #b>) : i32 {
    %x = tt.load %p : tensor<128x!tt.ptr<f32>, #a>
    %y = ttg.convert_layout %x : tensor<128xf32, #a> -> tensor<128xf32, #b>
    %z = arith.addf %acc, %y : tensor<128xf32, #b>
    scf.yield %z : tensor<128xf32, #b>
  }
  %1 = scf.if %c -> (tensor<128xf32, #b>) {
    %x = arith.mulf %0, %0 : tensor<128xf32, #b>
    scf.yield %x : tensor<128xf32, #b>
  } else {
    scf.yield %0 : tensor<128xf32, #b>
  }
  %2 = scf.while (%x = %1) : (tensor<128xf32, #b>) -> tensor<128xf32, #b> {
    scf.condition(%c) %x : tensor<128xf32, #b>
  } do {
  ^bb0(%x: tensor<128xf32, #b>):
    %y = arith.addf %x, %x : tensor<128xf32, #b>
    scf.yield %y : tensor<128xf32, #b>
  }
  %3 = ttg.convert_layout %2 : tensor<128xf32, #b> -> tensor<128xf32, #a>
  tt.store %p, %3 : tensor<128x!tt.ptr<f32>, #a>
  tt.return
}
}

// -----

#a = #ttg.layout<"{register: (1) (2); lane: (4) (8) (16) (32) (64); warp: ; block: } -> (dim0: 128)">
#b = #ttg.layout<"{register: (32) (64); lane: (1) (2) (4) (8) (16); warp: ; block: } -> (dim0: 128)">
module attributes {"ttg.num-warps" = 1 : i32} {
// Two layouts meet. In one everything but one load is; that load is converted.
// CHECK-LABEL: @conflict
// CHECK: tt.load
// CHECK: tt.load
// CHECK: %[[SECOND:.+]] = tt.load
// CHECK: ttg.convert_layout %[[SECOND]]
// CHECK-NOT: convert_layout
// CHECK: tt.store
tt.func @conflict(%p: tensor<128x!tt.ptr<f32>, #a>, %q: tensor<128x!tt.ptr<f32>, #b>) {
  %0 = tt.load %p : tensor<128x!tt.ptr<f32>, #a>
  %1 = tt.load %p : tensor<128x!tt.ptr<f32>, #a>
  %2 = tt.load %q : tensor<128x!tt.ptr<f32>, #b>
  %3 = ttg.convert_layout %0 : tensor<128xf32, #a> -> tensor<128xf32, #b>
  %4 = ttg.convert_layout %1 : tensor<128xf32, #a> -> tensor<128xf32, #b>
  %5 = arith.addf %3, %2 : tensor<128xf32, #b>
  %6 = arith.addf %5, %4 : tensor<128xf32, #b>
  %7 = ttg.convert_layout %6 : tensor<128xf32, #b> -> tensor<128xf32, #a>
  tt.store %p, %7 : tensor<128x!tt.ptr<f32>, #a>
  tt.return
}
}

// -----

#a = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (0); block: } -> (dim0: 64)">
#b = #ttg.layout<"{register: (32); lane: (1) (2) (4) (8) (16); warp: (0) (0); block: } -> (dim0: 64)">
#tile = #ttg.layout<"{register: (32,0); lane: (1,0) (2,0) (4,0) (8,0) (16,0); warp: (0,1) (0,2); block: } -> (dim0: 64, dim1: 4)">
module attributes {"ttg.num-warps" = 4 : i32} {
// A store of fewer elements than there are threads goes where its value is.
// CHECK-LABEL: @small_store
// CHECK: tt.reduce
// CHECK-NOT: convert_layout
// CHECK: tt.store
tt.func @small_store(%p: tensor<64x4x!tt.ptr<f32>, #tile>, %q: !tt.ptr<f32>) {
  %0 = tt.load %p : tensor<64x4x!tt.ptr<f32>, #tile>
  %1 = "tt.reduce"(%0) <{axis = 1 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tt.reduce.return %s : f32
  }) : (tensor<64x4xf32, #tile>) -> tensor<64xf32, #b>
  %2 = ttg.convert_layout %1 : tensor<64xf32, #b> -> tensor<64xf32, #a>
  %3 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #a>
  %4 = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #a>
  %5 = tt.addptr %4, %3 : tensor<64x!tt.ptr<f32>, #a>, tensor<64xi32, #a>
  tt.store %5, %2 : tensor<64x!tt.ptr<f32>, #a>
  tt.return
}
}

// -----

#short = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (0); warp: (0) (0); block: } -> (dim0: 16)">
#pairs = #ttg.layout<"{register: (0,1); lane: (1,0) (2,0) (4,0) (8,0) (0,0); warp: (0,0) (0,0); block: } -> (dim0: 16, dim1: 2)">
#spread = #ttg.layout<"{register: ; lane: (0,1) (1,0) (2,0) (4,0) (8,0); warp: (0,0) (0,0); block: } -> (dim0: 16, dim1: 2)">
#long = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (0) (0); block: } -> (dim0: 32)">
module attributes {"ttg.num-warps" = 4 : i32} {
// A join gives one layout only. Nothing here is fixed, so everything after it follows.
// CHECK-LABEL: @join
// CHECK-NOT: convert_layout
// CHECK: tt.join
// CHECK-NOT: convert_layout
// CHECK: tt.store
tt.func @join(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
  %0 = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #short>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #short>
  %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<f32>, #short>, tensor<16xi32, #short>
  %3 = tt.load %2 : tensor<16x!tt.ptr<f32>, #short>
  %4 = tt.join %3, %3 : tensor<16xf32, #short> -> tensor<16x2xf32, #pairs>
  %5 = ttg.convert_layout %4 : tensor<16x2xf32, #pairs> -> tensor<16x2xf32, #spread>
  %6 = tt.reshape %5 : tensor<16x2xf32, #spread> -> tensor<32xf32, #long>
  %7 = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32, #long>
  %8 = tt.splat %q : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #long>
  %9 = tt.addptr %8, %7 : tensor<32x!tt.ptr<f32>, #long>, tensor<32xi32, #long>
  tt.store %9, %6 : tensor<32x!tt.ptr<f32>, #long>
  tt.return
}
}
