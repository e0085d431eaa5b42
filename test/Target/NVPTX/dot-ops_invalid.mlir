// RUN: despina-opt %s --split-input-file --verify-diagnostics

#c = #ttg.layout<"{register: (0,1) (8,0) (0,8); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: ; block: } -> (dim0: 16, dim1: 16)">
#b = #ttg.layout<"{register: (1,0) (8,0) (0,8); lane: (2,0) (4,0) (0,1) (0,2) (0,4); warp: ; block: } -> (dim0: 16, dim1: 16)">
#wrong = #ttg.layout<"{register: (1,0) (8,0) (0,8); lane: (4,0) (2,0) (0,1) (0,2) (0,4); warp: ; block: } -> (dim0: 16, dim1: 16)">
tt.func @placesDiffer(%a: tensor<16x16xf16, #c>, %b: tensor<16x16xf16, #wrong>, %c: tensor<16x16xf32, #c>) {
  // expected-error @below {{needs operands and an accumulator in layouts of mma.sync that belong together}}
  %d = ttng.mma %a, %b, %c {instrShape = array<i32: 16, 8, 16>} : tensor<16x16xf16, #c> * tensor<16x16xf16, #wrong> -> tensor<16x16xf32, #c>
  tt.return
}

// -----

tt.func @noLayout(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{needs tiles with layouts, not 'tensor<16x16xf16>'}}
  %d = ttng.mma %a, %a, %c {instrShape = array<i32: 16, 8, 16>} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @shapes(%a: tensor<16x16xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{multiplies 'tensor<16x16xf16>' and 'tensor<32x16xf16>' into 'tensor<16x16xf32>'}}
  %d = ttng.mma %a, %b, %c {instrShape = array<i32: 16, 8, 16>} : tensor<16x16xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @depth(%a: tensor<16x8xf16>, %b: tensor<8x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{has 8 elements along K for instructions of 16}}
  %d = ttng.mma %a, %b, %c {instrShape = array<i32: 16, 8, 16>} : tensor<16x8xf16> * tensor<8x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @instruction(%a: tensor<16x16xf16>, %c: tensor<16x16xf32>) {
  // expected-error @below {{needs the extents M, N and K of an instruction}}
  %d = ttng.mma %a, %a, %c {instrShape = array<i32: 16, 8>} : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.return
}

// -----

#acc = #ttg.layout<"{register: (0,1) (8,0); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (16,0) (32,0); block: } -> (dim0: 64, dim1: 8)">
#rows = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (1,0) (2,0) (4,0) (8,0); block: } -> (dim0: 16, dim1: 8)">
#turned = #ttg.layout<"{offset: (1,0) (2,0) (0,1) (0,2) (0,4) (4,0) (8,0); block: } -> (dim0: 16, dim1: 8)">
#a = #ttg.layout<"{register: (0,1) (8,0) (0,8); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (16,0) (32,0); block: } -> (dim0: 64, dim1: 16)">
#other = #ttg.layout<"{register: (0,1) (8,0) (0,8); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (32,0) (16,0); block: } -> (dim0: 64, dim1: 16)">
tt.func @groups(%a: tensor<64x16xf16, #a>, %other: tensor<64x16xf16, #other>, %b: !ttg.memdesc<16x8xf16, #rows>,
                %turned: !ttg.memdesc<16x8xf16, #turned>, %c: tensor<64x8xf32, #acc>) {
  %0 = ttng.warp_group_dot %a, %b, %c {instrShape = array<i32: 64, 8, 16>} : tensor<64x16xf16, #a> * <16x8xf16, #rows> -> tensor<64x8xf32, #acc>
  // expected-error @below {{for b, which wgmma cannot read}}
  %1 = ttng.warp_group_dot %a, %turned, %c {instrShape = array<i32: 64, 8, 16>} : tensor<64x16xf16, #a> * <16x8xf16, #turned> -> tensor<64x8xf32, #acc>
  tt.return
}

// -----

#acc = #ttg.layout<"{register: (0,1) (8,0); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (16,0) (32,0); block: } -> (dim0: 64, dim1: 8)">
#rows = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (1,0) (2,0) (4,0) (8,0); block: } -> (dim0: 16, dim1: 8)">
#other = #ttg.layout<"{register: (0,1) (8,0) (0,8); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (32,0) (16,0); block: } -> (dim0: 64, dim1: 16)">
tt.func @groups(%other: tensor<64x16xf16, #other>, %b: !ttg.memdesc<16x8xf16, #rows>, %c: tensor<64x8xf32, #acc>) {
  // expected-error @below {{needs a in registers in the layout of wgmma}}
  %0 = ttng.warp_group_dot %other, %b, %c {instrShape = array<i32: 64, 8, 16>} : tensor<64x16xf16, #other> * <16x8xf16, #rows> -> tensor<64x8xf32, #acc>
  tt.return
}

// -----

#acc = #ttg.layout<"{register: (0,1) (8,0); lane: (0,4) (0,2) (1,0) (2,0) (4,0); warp: (16,0) (32,0); block: } -> (dim0: 64, dim1: 8)">
#rows = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (1,0) (2,0) (4,0) (8,0); block: } -> (dim0: 16, dim1: 8)">
#a = #ttg.layout<"{register: (0,1) (8,0) (0,8); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (16,0) (32,0); block: } -> (dim0: 64, dim1: 16)">
tt.func @groups(%a: tensor<64x16xf16, #a>, %b: !ttg.memdesc<16x8xf16, #rows>, %c: tensor<64x8xf32, #acc>) {
  // expected-error @below {{needs an accumulator in the layout of wgmma}}
  %0 = ttng.warp_group_dot %a, %b, %c {instrShape = array<i32: 64, 8, 16>} : tensor<64x16xf16, #a> * <16x8xf16, #rows> -> tensor<64x8xf32, #acc>
  tt.return
}
