// RUN: despina-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a layout such as}}
#bad = #ttg.layout<"register 1">

// -----

#places = #ttg.layout<"{lane: (1); register: (2); warp: ; block: } -> (dim0: 4)">
// expected-error @+1 {{the layout of a tile has inputs register, lane, warp, block, in this order}}
tt.func @places(%x: tensor<4xf32, #places>) {
  tt.return
}

// -----

#line = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
// expected-error @+1 {{the layout has 1 axes, the tile 2}}
tt.func @rank(%x: tensor<2x2xf32, #line>) {
  tt.return
}

// -----

#line = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
// expected-error @+1 {{the layout does not give axis 0 extent 8}}
tt.func @extent(%x: tensor<8xf32, #line>) {
  tt.return
}

// -----

#holes = #ttg.layout<"{register: (1); lane: (0); warp: ; block: } -> (dim0: 4)">
// expected-error @+1 {{the layout does not cover the tile}}
tt.func @cover(%x: tensor<4xf32, #holes>) {
  tt.return
}

// -----

#a = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
tt.func @convert(%x: tensor<4xf32, #a>) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = ttg.convert_layout %x : tensor<4xf32, #a> -> tensor<4xf16, #a>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
// expected-error @+1 {{a buffer has floats, signless integers or pointers, not 'index'}}
tt.func @element(%x: !ttg.memdesc<4xindex, #buffer>) {
  tt.return
}

// -----

#tile = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
// expected-error @+1 {{the layout of a buffer has inputs offset and block, in this order}}
tt.func @buffer_places(%x: !ttg.memdesc<4xf32, #tile>) {
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (0,1) (1,0); block: } -> (dim0: 2, dim1: 2)">
// expected-error @+1 {{the buffer, its allocation and its layout have 1, 1 and 2 axes}}
tt.func @buffer_rank(%x: !ttg.memdesc<4xf32, #buffer>) {
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
// expected-error @+1 {{a window of extent 8 in an allocation of extent 4}}
tt.func @window(%x: !ttg.memdesc<8xf32, #buffer, 4>) {
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
// expected-error @+1 {{the layout does not give axis 0 extent 8}}
tt.func @buffer_extent(%x: !ttg.memdesc<8xf32, #buffer>) {
  tt.return
}

// -----

#tile = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @alloc_window(%x: tensor<4xf32, #tile>) {
  // expected-error @+1 {{makes a whole buffer, not a window of one}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<2xf32, #buffer, mutable, 4>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @alloc_constant() {
  // expected-error @+1 {{makes a buffer that nobody can write}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<4xf32, #buffer>
  tt.return
}

// -----

#tile = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @alloc_type(%x: tensor<4xf32, #tile>) {
  // expected-error @+1 {{which differ in shape or element type}}
  %0 = ttg.local_alloc %x : (tensor<4xf32, #tile>) -> !ttg.memdesc<4xf16, #buffer>
  tt.return
}

// -----

#tile = #ttg.layout<"{register: ; lane: (1); warp: ; block: } -> (dim0: 2)">
#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @load_shape(%b: !ttg.memdesc<4xf32, #buffer>) {
  // expected-error @+1 {{which differ in shape or element type}}
  %0 = ttg.local_load %b : !ttg.memdesc<4xf32, #buffer> -> tensor<2xf32, #tile>
  tt.return
}

// -----

#tile = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @store_constant(%x: tensor<4xf32, #tile>, %b: !ttg.memdesc<4xf32, #buffer>) {
  // expected-error @+1 {{writes a buffer that is not mutable}}
  ttg.local_store %x, %b : tensor<4xf32, #tile> -> !ttg.memdesc<4xf32, #buffer>
  tt.return
}

// -----

#tile = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @store_type(%x: tensor<4xf16, #tile>, %b: !ttg.memdesc<4xf32, #buffer, mutable>) {
  // expected-error @+1 {{which differ in shape or element type}}
  ttg.local_store %x, %b : tensor<4xf16, #tile> -> !ttg.memdesc<4xf32, #buffer, mutable>
  tt.return
}

// -----

#tile = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @copy_constant(%p: tensor<4x!tt.ptr<f32>, #tile>, %b: !ttg.memdesc<4xf32, #buffer>) {
  // expected-error @+1 {{writes a buffer that is not mutable}}
  %0 = ttg.async_copy_global_to_local %p, %b : tensor<4x!tt.ptr<f32>, #tile> -> !ttg.memdesc<4xf32, #buffer>
  tt.return
}

// -----

#tile = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
#other = #ttg.layout<"{register: (2); lane: (1); warp: ; block: } -> (dim0: 4)">
#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @copy_mask(%p: tensor<4x!tt.ptr<f32>, #tile>, %b: !ttg.memdesc<4xf32, #buffer, mutable>, %m: tensor<4xi1, #other>) {
  // expected-error @+1 {{has mask}}
  %0 = ttg.async_copy_global_to_local %p, %b mask %m : tensor<4x!tt.ptr<f32>, #tile> -> !ttg.memdesc<4xf32, #buffer, mutable>, tensor<4xi1, #other>
  tt.return
}

// -----

#tile = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @copy_other(%p: tensor<4x!tt.ptr<f32>, #tile>, %b: !ttg.memdesc<4xf32, #buffer, mutable>, %m: tensor<4xi1, #tile>, %o: tensor<4xf16, #tile>) {
  // expected-error @+1 {{has other}}
  %0 = ttg.async_copy_global_to_local %p, %b mask %m other %o : tensor<4x!tt.ptr<f32>, #tile> -> !ttg.memdesc<4xf32, #buffer, mutable>, tensor<4xi1, #tile>, tensor<4xf16, #tile>
  tt.return
}

// -----

#tile = #ttg.layout<"{register: (1); lane: (2); warp: ; block: } -> (dim0: 4)">
#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @copy_type(%p: tensor<4x!tt.ptr<f16>, #tile>, %b: !ttg.memdesc<4xf32, #buffer, mutable>) {
  // expected-error @+1 {{which differ in shape or element type}}
  %0 = ttg.async_copy_global_to_local %p, %b : tensor<4x!tt.ptr<f16>, #tile> -> !ttg.memdesc<4xf32, #buffer, mutable>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @index_no_ring(%b: !ttg.memdesc<4xf32, #buffer>, %i: i32) {
  // expected-error @+1 {{needs a ring of slices}}
  %0 = ttg.memdesc_index %b[%i] : !ttg.memdesc<4xf32, #buffer> -> !ttg.memdesc<4xf32, #buffer>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @index_shape(%b: !ttg.memdesc<2x3x4xf32, #buffer>, %i: i32) {
  // expected-error @+1 {{gives a slice of}}
  %0 = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x3x4xf32, #buffer> -> !ttg.memdesc<4xf32, #buffer>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @index_mutable(%b: !ttg.memdesc<3x4xf32, #buffer>, %i: i32) {
  // expected-error @+1 {{changes whether the buffer can be written}}
  %0 = ttg.memdesc_index %b[%i] : !ttg.memdesc<3x4xf32, #buffer> -> !ttg.memdesc<4xf32, #buffer, mutable>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @subslice_alloc(%b: !ttg.memdesc<4xf32, #buffer>) {
  // expected-error @+1 {{gives a window of}}
  %0 = ttg.memdesc_subslice %b [0, 0] : !ttg.memdesc<4xf32, #buffer> -> !ttg.memdesc<2xf32, #buffer, 4>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @subslice_offset(%b: !ttg.memdesc<4xf32, #buffer>) {
  // expected-error @+1 {{offset 1 of a window of 2 is no multiple of it, or beyond the extent 4}}
  %0 = ttg.memdesc_subslice %b [1] : !ttg.memdesc<4xf32, #buffer> -> !ttg.memdesc<2xf32, #buffer, 4>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @subslice_beyond(%b: !ttg.memdesc<4xf32, #buffer>) {
  // expected-error @+1 {{offset 4 of a window of 2 is no multiple of it, or beyond the extent 4}}
  %0 = ttg.memdesc_subslice %b [4] : !ttg.memdesc<4xf32, #buffer> -> !ttg.memdesc<2xf32, #buffer, 4>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @subslice_element(%b: !ttg.memdesc<4xf32, #buffer>) {
  // expected-error @+1 {{changes the element type}}
  %0 = ttg.memdesc_subslice %b [0] : !ttg.memdesc<4xf32, #buffer> -> !ttg.memdesc<2xi32, #buffer, 4>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (0,1) (1,0); block: } -> (dim0: 2, dim1: 2)">
tt.func @trans_order(%b: !ttg.memdesc<2x2xf32, #buffer>) {
  // expected-error @+1 {{has an order that is no permutation of the axes of its layout}}
  %0 = ttg.memdesc_trans %b [0, 2] : !ttg.memdesc<2x2xf32, #buffer> -> !ttg.memdesc<2x2xf32, #buffer>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (0,1) (1,0); block: } -> (dim0: 2, dim1: 2)">
tt.func @trans_ring(%b: !ttg.memdesc<3x2x2xf32, #buffer>) {
  // expected-error @+1 {{has an order that is no permutation of the axes of its layout}}
  %0 = ttg.memdesc_trans %b [0, 2, 1] : !ttg.memdesc<3x2x2xf32, #buffer> -> !ttg.memdesc<3x2x2xf32, #buffer>
  tt.return
}

// -----

#buffer = #ttg.layout<"{offset: (0,1) (1,0); block: } -> (dim0: 2, dim1: 2)">
tt.func @trans_layout(%b: !ttg.memdesc<2x2xf32, #buffer>) {
  // expected-error @+1 {{gives}}
  %0 = ttg.memdesc_trans %b [1, 0] : !ttg.memdesc<2x2xf32, #buffer> -> !ttg.memdesc<2x2xf32, #buffer>
  tt.return
}

// -----

#square = #ttg.layout<"{offset: (0,1) (1,0); block: } -> (dim0: 2, dim1: 2)">
#line = #ttg.layout<"{offset: (2) (1); block: } -> (dim0: 4)">
tt.func @reshape_moves(%b: !ttg.memdesc<2x2xf32, #square>) {
  // expected-error @+1 {{moves elements between}}
  %0 = ttg.memdesc_reshape %b : !ttg.memdesc<2x2xf32, #square> -> !ttg.memdesc<4xf32, #line>
  tt.return
}

// -----

#square = #ttg.layout<"{offset: (0,1) (1,0); block: } -> (dim0: 2, dim1: 2)">
#line = #ttg.layout<"{offset: (1) (2); block: } -> (dim0: 4)">
tt.func @reshape_window(%b: !ttg.memdesc<1x2xf32, #square, 2x2>) {
  // expected-error @+1 {{reshapes a whole buffer, no window or ring}}
  %0 = ttg.memdesc_reshape %b : !ttg.memdesc<1x2xf32, #square, 2x2> -> !ttg.memdesc<4xf32, #line>
  tt.return
}

// -----

tt.func @partition_registers() {
  // expected-error @+1 {{asks for registers of another number of partitions}}
  ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24, 24>} default {
    ttg.warp_yield
  }
  partition() num_warps(2) {
    ttg.warp_return
  } : () -> ()
  tt.return
}

// -----

tt.func @partition_counts() {
  // expected-error @+1 {{has 1 partitions and 2 numbers of warps}}
  "ttg.warp_specialize"() <{partitionNumWarps = array<i32: 2, 2>}> ({
    ttg.warp_yield
  }, {
    ttg.warp_return
  }) : () -> ()
  tt.return
}

// -----

tt.func @partition_warps() {
  // expected-error @+1 {{has a partition of 3 warps, no power of two}}
  ttg.warp_specialize() default {
    ttg.warp_yield
  }
  partition() num_warps(3) {
    ttg.warp_return
  } : () -> ()
  tt.return
}

// -----

tt.func @partition_results(%x: i32) {
  // expected-error @+1 {{has a first region that does not end by giving the results}}
  %0 = ttg.warp_specialize() default {
    ttg.warp_yield
  } : () -> i32
  tt.return
}

// -----

tt.func @partition_arguments(%x: i32) {
  // expected-error @+1 {{has a partition whose arguments are not the captures}}
  ttg.warp_specialize(%x) default {
    ttg.warp_yield
  }
  partition() num_warps(2) {
    ttg.warp_return
  } : (i32) -> ()
  tt.return
}

// -----

tt.func @partition_end() {
  // expected-error @+1 {{has a partition that does not end with ttg.warp_return}}
  ttg.warp_specialize() default {
    ttg.warp_yield
  }
  partition() num_warps(2) {
    ttg.warp_yield
  } : () -> ()
  tt.return
}

// -----

tt.func @outside() {
  // expected-error @+1 {{expects parent op 'ttg.warp_specialize'}}
  ttg.warp_return
}
