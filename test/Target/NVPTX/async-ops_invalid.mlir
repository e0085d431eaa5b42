// RUN: despina-opt %s --split-input-file --verify-diagnostics

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
tt.func @noArrivals(%bar: !ttg.memdesc<1xi64, #one, mutable>) {
  // expected-error @below {{'ttng.init_barrier' op counts 0 arrivals; barriers have 1 to 1048575}}
  ttng.init_barrier %bar, 0 : !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// -----

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
tt.func @manyArrivals(%bar: !ttg.memdesc<1xi64, #one, mutable>) {
  // expected-error @below {{counts 1048576 arrivals; barriers have 1 to 1048575}}
  ttng.init_barrier %bar, 1048576 : !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// -----

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
tt.func @negativeArrivals(%bar: !ttg.memdesc<1xi64, #one, mutable>) {
  // expected-error @below {{counts 4294967295 arrivals; barriers have 1 to 1048575}}
  ttng.init_barrier %bar, -1 : !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// -----

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
tt.func @initNarrow(%bar: !ttg.memdesc<1xi32, #one, mutable>) {
  // expected-error @below {{'ttng.init_barrier' op needs a barrier, a mutable buffer of one i64, not '!ttg.memdesc<1xi32,}}
  ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi32, #one, mutable>
  tt.return
}

// -----

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
tt.func @invalConstant(%bar: !ttg.memdesc<1xi64, #one>) {
  // expected-error @below {{'ttng.inval_barrier' op needs a barrier, a mutable buffer of one i64}}
  ttng.inval_barrier %bar : !ttg.memdesc<1xi64, #one>
  tt.return
}

// -----

#two = #ttg.layout<"{offset: (1); block: } -> (dim0: 2)">
tt.func @expectTwo(%bar: !ttg.memdesc<2xi64, #two, mutable>) {
  // expected-error @below {{'ttng.barrier_expect' op needs a barrier, a mutable buffer of one i64}}
  ttng.barrier_expect %bar, 16 : !ttg.memdesc<2xi64, #two, mutable>
  tt.return
}

// -----

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
tt.func @expectMuch(%bar: !ttg.memdesc<1xi64, #one, mutable>) {
  // The most is allowed.
  ttng.barrier_expect %bar, 1048575 : !ttg.memdesc<1xi64, #one, mutable>
  // expected-error @below {{'ttng.barrier_expect' op expects 1048576 bytes; a phase counts at most 1048575}}
  ttng.barrier_expect %bar, 1048576 : !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// -----

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
tt.func @arriveNever(%bar: !ttg.memdesc<1xi64, #one, mutable>) {
  // expected-error @below {{'ttng.arrive_barrier' op counts 0 arrivals; barriers have 1 to 1048575}}
  ttng.arrive_barrier %bar, 0 : !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// -----

// A ring of barriers is none; one of its slices is.
#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
tt.func @arriveRing(%ring: !ttg.memdesc<3x1xi64, #one, mutable>, %i: i32) {
  %bar = ttg.memdesc_index %ring[%i] : !ttg.memdesc<3x1xi64, #one, mutable> -> !ttg.memdesc<1xi64, #one, mutable>
  ttng.arrive_barrier %bar, 1 : !ttg.memdesc<1xi64, #one, mutable>
  // expected-error @below {{'ttng.arrive_barrier' op needs a barrier, a mutable buffer of one i64}}
  ttng.arrive_barrier %ring, 1 : !ttg.memdesc<3x1xi64, #one, mutable>
  tt.return
}

// -----

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
tt.func @waitFloat(%bar: !ttg.memdesc<1xf64, #one, mutable>) {
  // expected-error @below {{'ttng.wait_barrier' op needs a barrier, a mutable buffer of one i64}}
  ttng.wait_barrier %bar : !ttg.memdesc<1xf64, #one, mutable>
  tt.return
}

// -----

tt.func @loadCoordinates(%map: !tt.ptr<i8>, %x: i32) {
  // expected-error @below {{'ttng.tma_load' op has 1 coordinates for a block of 2 axes}}
  %0 = ttng.tma_load %map[%x] : !tt.ptr<i8> -> tensor<16x8xf32>
  tt.return
}

// -----

tt.func @loadAxes(%map: !tt.ptr<i8>, %x: i32) {
  // expected-error @below {{'ttng.tma_load' op moves a block of 6 axes; tensor maps have 1 to 5}}
  %0 = ttng.tma_load %map[%x, %x, %x, %x, %x, %x] : !tt.ptr<i8> -> tensor<1x1x1x1x1x8xf32>
  tt.return
}

// -----

tt.func @storeCoordinates(%map: !tt.ptr<i8>, %x: i32, %v: tensor<8xf32>) {
  // expected-error @below {{'ttng.tma_store' op has 2 coordinates for a block of 1 axes}}
  ttng.tma_store %map[%x, %x], %v : !tt.ptr<i8>, tensor<8xf32>
  tt.return
}

// -----

tt.func @reduceCoordinates(%map: !tt.ptr<i8>, %x: i32, %v: tensor<8xf32>) {
  // expected-error @below {{'ttng.tma_reduce' op has 0 coordinates for a block of 1 axes}}
  ttng.tma_reduce add, %map[], %v : !tt.ptr<i8>, tensor<8xf32>
  tt.return
}

// -----

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
#line = #ttg.layout<"{offset: (1) (2) (4); block: } -> (dim0: 8)">
tt.func @copyIntoConstant(%map: !tt.ptr<i8>, %x: i32, %bar: !ttg.memdesc<1xi64, #one, mutable>, %buf: !ttg.memdesc<8xf32, #line>) {
  // expected-error @below {{'ttng.async_tma_copy_global_to_local' op writes a buffer that is not mutable}}
  ttng.async_tma_copy_global_to_local %map[%x] %buf, %bar : !tt.ptr<i8>, !ttg.memdesc<8xf32, #line>, !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4); block: } -> (dim0: 8)">
tt.func @copyWithoutBarrier(%map: !tt.ptr<i8>, %x: i32, %buf: !ttg.memdesc<8xf32, #line, mutable>) {
  // expected-error @below {{'ttng.async_tma_copy_global_to_local' op needs a barrier, a mutable buffer of one i64}}
  ttng.async_tma_copy_global_to_local %map[%x] %buf, %buf : !tt.ptr<i8>, !ttg.memdesc<8xf32, #line, mutable>, !ttg.memdesc<8xf32, #line, mutable>
  tt.return
}

// -----

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
#line = #ttg.layout<"{offset: (1) (2) (4); block: } -> (dim0: 8)">
tt.func @copyCoordinates(%map: !tt.ptr<i8>, %x: i32, %bar: !ttg.memdesc<1xi64, #one, mutable>, %buf: !ttg.memdesc<8xf32, #line, mutable>) {
  // expected-error @below {{'ttng.async_tma_copy_global_to_local' op has 2 coordinates for a block of 1 axes}}
  ttng.async_tma_copy_global_to_local %map[%x, %x] %buf, %bar : !tt.ptr<i8>, !ttg.memdesc<8xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4); block: } -> (dim0: 8)">
tt.func @copyOutCoordinates(%map: !tt.ptr<i8>, %x: i32, %buf: !ttg.memdesc<8xf32, #line>) {
  // A buffer that is only read need not be mutable.
  ttng.async_tma_copy_local_to_global %map[%x] %buf : !tt.ptr<i8>, !ttg.memdesc<8xf32, #line>
  // expected-error @below {{'ttng.async_tma_copy_local_to_global' op has 2 coordinates for a block of 1 axes}}
  ttng.async_tma_copy_local_to_global %map[%x, %x] %buf : !tt.ptr<i8>, !ttg.memdesc<8xf32, #line>
  tt.return
}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4); block: } -> (dim0: 8)">
tt.func @asyncReduceCoordinates(%map: !tt.ptr<i8>, %x: i32, %buf: !ttg.memdesc<8xf32, #line>) {
  // expected-error @below {{'ttng.async_tma_reduce' op has 2 coordinates for a block of 1 axes}}
  ttng.async_tma_reduce min, %map[%x, %x] %buf : !tt.ptr<i8>, !ttg.memdesc<8xf32, #line>
  tt.return
}

// -----

tt.func @mapAxes(%p: !tt.ptr<f32>) {
  // expected-error @below {{'ttng.make_tensor_map' op has 0 extents; tensor maps have 1 to 5 axes}}
  %0 = ttng.make_tensor_map %p, [], [] {box = array<i32>, dataType = 7 : i32, elementBytes = 4 : i32, swizzleBytes = 0 : i32} : !tt.ptr<f32> -> !tt.ptr<i8>
  tt.return
}

// -----

tt.func @mapStrides(%p: !tt.ptr<f32>, %n: i32) {
  // expected-error @below {{'ttng.make_tensor_map' op has 0 strides for 2 axes; all but the innermost have one}}
  %0 = ttng.make_tensor_map %p, [%n, %n], [] {box = array<i32: 32, 8>, dataType = 7 : i32, elementBytes = 4 : i32, swizzleBytes = 128 : i32} : !tt.ptr<f32> -> !tt.ptr<i8>
  tt.return
}

// -----

tt.func @mapBox(%p: !tt.ptr<f32>, %n: i32, %s: i64) {
  // expected-error @below {{'ttng.make_tensor_map' op has a box of 1 axes in a tensor of 2}}
  %0 = ttng.make_tensor_map %p, [%n, %n], [%s] {box = array<i32: 32>, dataType = 7 : i32, elementBytes = 4 : i32, swizzleBytes = 128 : i32} : !tt.ptr<f32> -> !tt.ptr<i8>
  tt.return
}
