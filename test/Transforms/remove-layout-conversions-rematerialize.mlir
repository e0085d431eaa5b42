// RUN: despina-opt %s --ttg-remove-layout-conversions --canonicalize --cse --test-verify-layouts --split-input-file | FileCheck %s

#a = #ttg.layout<"{register: (1) (2); lane: (4) (8) (16) (32) (64); warp: ; block: } -> (dim0: 128)">
#b = #ttg.layout<"{register: (32) (64); lane: (1) (2) (4) (8) (16); warp: ; block: } -> (dim0: 128)">
module attributes {"ttg.num-warps" = 1 : i32} {
// Ranges, splats and arithmetic are computed in the layout of the load.
// CHECK: #[[$A:.+]] = #ttg.layout<"{register: (1) (2); lane: (4)
// CHECK-LABEL: @pointers
// CHECK-NOT: convert_layout
// CHECK: tt.make_range {{.*}} : tensor<128xi32, #[[$A]]>
// CHECK-NOT: make_range
// CHECK-NOT: convert_layout
// CHECK: tt.load
tt.func @pointers(%p: !tt.ptr<f32>, %n: i32) -> tensor<128xf32, #a> {
  %0 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #b>
  %1 = tt.splat %n : i32 -> tensor<128xi32, #b>
  %2 = arith.cmpi slt, %0, %1 : tensor<128xi32, #b>
  %3 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
  %4 = tt.addptr %3, %0 : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
  %5 = ttg.convert_layout %4 : tensor<128x!tt.ptr<f32>, #b> -> tensor<128x!tt.ptr<f32>, #a>
  %6 = ttg.convert_layout %2 : tensor<128xi1, #b> -> tensor<128xi1, #a>
  %7 = tt.load %5, %6 : tensor<128x!tt.ptr<f32>, #a>
  tt.return %7 : tensor<128xf32, #a>
}

// A loop carries pointers in the layout that its loads want, and in no other.
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} -> (tensor<128xf32, #[[$A]]>, tensor<128x!tt.ptr<f32>, #[[$A]]>)
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @carried(%p: !tt.ptr<f32>, %n: i32) -> tensor<128xf32, #a> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<128> : tensor<128xi32, #b>
  %init = arith.constant dense<0.0> : tensor<128xf32, #a>
  %0 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #b>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
  %2 = tt.addptr %1, %0 : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
  %3:2 = scf.for %i = %zero to %n step %one iter_args(%q = %2, %sum = %init) -> (tensor<128x!tt.ptr<f32>, #b>, tensor<128xf32, #a>) : i32 {
    %4 = ttg.convert_layout %q : tensor<128x!tt.ptr<f32>, #b> -> tensor<128x!tt.ptr<f32>, #a>
    %5 = tt.load %4 : tensor<128x!tt.ptr<f32>, #a>
    %6 = arith.addf %sum, %5 : tensor<128xf32, #a>
    %7 = tt.addptr %q, %step : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
    scf.yield %7, %6 : tensor<128x!tt.ptr<f32>, #b>, tensor<128xf32, #a>
  }
  tt.return %3#1 : tensor<128xf32, #a>
}

// Offsets that are wanted in two layouts are carried in both.
// CHECK-LABEL: @both
// CHECK: scf.for {{.*}} iter_args(%[[Q:.+]] = %{{.+}}, %[[R:.+]] = %{{.+}}) -> (tensor<128x!tt.ptr<f32>, #{{.+}}>, tensor<128x!tt.ptr<f32>, #{{.+}}>)
// CHECK-NOT: convert_layout
// CHECK: tt.load
// CHECK: tt.load
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @both(%p: !tt.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant dense<128> : tensor<128xi32, #b>
  %0 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #b>
  %1 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #b>
  %2 = tt.addptr %1, %0 : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
  %3 = scf.for %i = %zero to %n step %one iter_args(%q = %2) -> (tensor<128x!tt.ptr<f32>, #b>) : i32 {
    %4 = ttg.convert_layout %q : tensor<128x!tt.ptr<f32>, #b> -> tensor<128x!tt.ptr<f32>, #a>
    %5 = tt.load %4 : tensor<128x!tt.ptr<f32>, #a>
    %6 = tt.load %q : tensor<128x!tt.ptr<f32>, #b>
    tt.print "x" {hex = false, isSigned = array<i32: 1, 1>} : %5, %6 : tensor<128xf32, #a>, tensor<128xf32, #b>
    %7 = tt.addptr %q, %step : tensor<128x!tt.ptr<f32>, #b>, tensor<128xi32, #b>
    scf.yield %7 : tensor<128x!tt.ptr<f32>, #b>
  }
  tt.return
}

// Both arms of a branch.
// CHECK-LABEL: @branch
// CHECK: scf.if {{.*}} -> (tensor<128xi32, #[[$A]]>)
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @branch(%c: i1, %n: i32) -> tensor<128xi32, #a> {
  %0 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #b>
  %1 = scf.if %c -> (tensor<128xi32, #b>) {
    %2 = tt.splat %n : i32 -> tensor<128xi32, #b>
    %3 = arith.addi %0, %2 : tensor<128xi32, #b>
    scf.yield %3 : tensor<128xi32, #b>
  } else {
    scf.yield %0 : tensor<128xi32, #b>
  }
  %4 = ttg.convert_layout %1 : tensor<128xi32, #b> -> tensor<128xi32, #a>
  tt.return %4 : tensor<128xi32, #a>
}

// What does not change in a loop is converted before it.
// CHECK-LABEL: @invariant
// CHECK: %[[X:.+]] = tt.load
// CHECK: %[[Y:.+]] = ttg.convert_layout %[[X]]
// CHECK: scf.for
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @invariant(%p: tensor<128x!tt.ptr<f32>, #b>, %q: tensor<128x!tt.ptr<f32>, #a>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tt.load %p : tensor<128x!tt.ptr<f32>, #b>
  scf.for %i = %zero to %n step %one : i32 {
    %y = ttg.convert_layout %x : tensor<128xf32, #b> -> tensor<128xf32, #a>
    tt.store %q, %y : tensor<128x!tt.ptr<f32>, #a>
  }
  tt.return
}

// The narrow type is converted, not the wide one.
// CHECK-LABEL: @extension
// CHECK: %[[X:.+]] = tt.load
// CHECK: %[[Y:.+]] = ttg.convert_layout %[[X]] : tensor<128xi8, #{{.+}}> -> tensor<128xi8, #[[$A]]>
// CHECK: arith.extsi %[[Y]]
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @extension(%p: tensor<128x!tt.ptr<i8>, #b>) -> tensor<128xi32, #a> {
  %x = tt.load %p : tensor<128x!tt.ptr<i8>, #b>
  %y = arith.extsi %x : tensor<128xi8, #b> to tensor<128xi32, #b>
  %z = ttg.convert_layout %y : tensor<128xi32, #b> -> tensor<128xi32, #a>
  tt.return %z : tensor<128xi32, #a>
}

// Dividing again costs more than moving, since the quotient is needed here too.
// CHECK-LABEL: @expensive
// CHECK: %[[X:.+]] = arith.divf
// CHECK: ttg.convert_layout
// CHECK: tt.return
tt.func @expensive(%p: tensor<128x!tt.ptr<f32>, #b>, %q: tensor<128x!tt.ptr<f32>, #b>) -> tensor<128xf32, #a> {
  %x = tt.load %p : tensor<128x!tt.ptr<f32>, #b>
  %y = arith.divf %x, %x : tensor<128xf32, #b>
  tt.store %q, %y : tensor<128x!tt.ptr<f32>, #b>
  %z = ttg.convert_layout %y : tensor<128xf32, #b> -> tensor<128xf32, #a>
  tt.return %z : tensor<128xf32, #a>
}

// A volatile load is done once, in the layout that is wanted.
// CHECK-LABEL: @volatile
// CHECK: tt.load
// CHECK-NOT: tt.load
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @volatile(%p: !tt.ptr<f32>) -> tensor<16xf32, #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (0); warp: ; block: } -> (dim0: 16)">> {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #ttg.layout<"{register: ; lane: (0) (1) (2) (4) (8); warp: ; block: } -> (dim0: 16)">>
  %1 = tt.load %0 isVolatile = true : tensor<16x!tt.ptr<f32>, #ttg.layout<"{register: ; lane: (0) (1) (2) (4) (8); warp: ; block: } -> (dim0: 16)">>
  %2 = ttg.convert_layout %1 : tensor<16xf32, #ttg.layout<"{register: ; lane: (0) (1) (2) (4) (8); warp: ; block: } -> (dim0: 16)">> -> tensor<16xf32, #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (0); warp: ; block: } -> (dim0: 16)">>
  tt.return %2 : tensor<16xf32, #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (0); warp: ; block: } -> (dim0: 16)">>
}
}

// -----

#tile = #ttg.layout<"{register: (0,1) (0,2) (0,4) (16,0) (32,0); lane: (1,0) (2,0) (4,0) (8,0) (0,0); warp: ; block: } -> (dim0: 64, dim1: 8)">
#other = #ttg.layout<"{register: (1,0) (2,0) (4,0) (8,0) (0,4); lane: (0,1) (0,2) (16,0) (32,0) (0,0); warp: ; block: } -> (dim0: 64, dim1: 8)">
#slice = #ttg.layout<"{register: (16) (32); lane: (1) (2) (4) (8) (0); warp: ; block: } -> (dim0: 64)">
#column = #ttg.layout<"{register: (16,0) (32,0); lane: (1,0) (2,0) (4,0) (8,0) (0,0); warp: ; block: } -> (dim0: 64, dim1: 1)">
module attributes {"ttg.num-warps" = 1 : i32} {
// Before it is repeated, a tile is small.
// CHECK-LABEL: @broadcast
// CHECK: %[[X:.+]] = tt.load
// CHECK: tt.expand_dims %[[X]]
// CHECK-NEXT: ttg.convert_layout %{{.+}} : tensor<64x1xf32, #{{.+}}> -> tensor<64x1xf32, #{{.+}}>
// CHECK-NOT: convert_layout
// CHECK: tt.return
tt.func @broadcast(%p: tensor<64x!tt.ptr<f32>, #slice>) -> tensor<64x8xf32, #other> {
  %0 = tt.load %p : tensor<64x!tt.ptr<f32>, #slice>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xf32, #slice> -> tensor<64x1xf32, #column>
  %2 = tt.broadcast %1 : tensor<64x1xf32, #column> -> tensor<64x8xf32, #tile>
  %3 = ttg.convert_layout %2 : tensor<64x8xf32, #tile> -> tensor<64x8xf32, #other>
  tt.return %3 : tensor<64x8xf32, #other>
}
}
