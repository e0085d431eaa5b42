// RUN: despina-opt %s --test-verify-layouts --split-input-file --verify-diagnostics

#a = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: (0) (0); block: } -> (dim0: 64)">
module attributes {"ttg.num-warps" = 4 : i32} {
tt.func @none(%x: tensor<64xf32, #a>) {
  // expected-error @+1 {{has a tile without a layout, 'tensor<64xi32>'}}
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  tt.return
}
}

// -----

#a = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: (0); block: } -> (dim0: 64)">
module attributes {"ttg.num-warps" = 4 : i32} {
tt.func @warps() {
  // expected-error @+1 {{has a tile over other threads than the 32 lanes of 4 warps of 1 blocks that the module has}}
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #a>
  tt.return
}
}

// -----

#a = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: ; block: } -> (dim0: 64)">
#b = #ttg.layout<"{register: (32); lane: (1) (2) (4) (8) (16); warp: ; block: } -> (dim0: 64)">
module attributes {"ttg.num-warps" = 1 : i32} {
tt.func @elementwise(%x: tensor<64x!tt.ptr<f16>, #a>) {
  // expected-error @+1 {{has a result in layout}}
  %0 = tt.ptr_to_int %x : tensor<64x!tt.ptr<f16>, #a> -> tensor<64xi64, #b>
  tt.return
}

tt.func @operands(%x: tensor<64xf32, #a>, %y: tensor<64xf32, #b>) {
  // expected-error @+1 {{has an operand in layout}}
  %0:2 = "tt.reduce"(%x, %y) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %i: f32, %b: f32, %j: f32):
    tt.reduce.return %a, %i : f32, f32
  }) : (tensor<64xf32, #a>, tensor<64xf32, #b>) -> (f32, f32)
  tt.return
}
}

// -----

#a = #ttg.layout<"{register: (0,1); lane: (0,2) (0,4) (0,8) (1,0) (2,0); warp: ; block: } -> (dim0: 4, dim1: 16)">
#row = #ttg.layout<"{register: (1); lane: (2) (4) (8) (0) (0); warp: ; block: } -> (dim0: 16)">
#slow = #ttg.layout<"{register: (8); lane: (1) (2) (4) (0) (0); warp: ; block: } -> (dim0: 16)">
#flat = #ttg.layout<"{register: (1); lane: (2) (4) (8) (32) (16); warp: ; block: } -> (dim0: 64)">
#one = #ttg.layout<"{register: (0,8); lane: (0,1) (0,2) (0,4) (0,0) (0,0); warp: ; block: } -> (dim0: 1, dim1: 16)">
module attributes {"ttg.num-warps" = 1 : i32} {
tt.func @reduce(%x: tensor<4x16xf32, #a>) {
  // expected-error @+1 {{where its rule asks for}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4x16xf32, #a>) -> tensor<16xf32, #slow>
  tt.return
}

tt.func @reshape(%x: tensor<4x16xf32, #a>) {
  // expected-error @+1 {{where its rule asks for}}
  %0 = tt.reshape %x : tensor<4x16xf32, #a> -> tensor<64xf32, #flat>
  tt.return
}

tt.func @broadcast(%x: tensor<1x16xf32, #one>) {
  // expected-error @+1 {{whose elements are not in the threads of the result's}}
  %0 = tt.broadcast %x : tensor<1x16xf32, #one> -> tensor<4x16xf32, #a>
  tt.return
}
}

// -----

#pairs = #ttg.layout<"{register: (1,0); lane: (0,1) (2,0) (4,0) (8,0) (16,0); warp: ; block: } -> (dim0: 32, dim1: 2)">
#half = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: ; block: } -> (dim0: 32)">
module attributes {"ttg.num-warps" = 1 : i32} {
tt.func @split(%x: tensor<32x2xf32, #pairs>) {
  // expected-error @+1 {{for which its rule has no answer}}
  %0, %1 = tt.split %x : tensor<32x2xf32, #pairs> -> tensor<32xf32, #half>
  tt.return
}
}
