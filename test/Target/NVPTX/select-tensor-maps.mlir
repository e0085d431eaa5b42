// RUN: despina-opt %s --split-input-file --nvptx-select-tensor-maps | FileCheck %s

// Lists go from the innermost axis outwards. A value is a pair: the argument and 0, or -1 and a constant. A row of
// 32 halves is 64 bytes, so is the swizzle; 6 is CU_TENSOR_MAP_DATA_TYPE_FLOAT16.
// CHECK: module attributes {ttng.tensor_maps = [{
// CHECK-SAME: base = array<i64: 0, 0>
// CHECK-SAME: box = array<i32: 32, 16>
// CHECK-SAME: dataType = 6 : i32
// CHECK-SAME: elementBytes = 2 : i32
// CHECK-SAME: extents = array<i64: -1, 4096, 1, 0>
// CHECK-SAME: nanFill = false
// CHECK-SAME: strides = array<i64: -1, 1, 2, 0>
// CHECK-SAME: swizzleBytes = 64 : i32
// CHECK-SAME: }]}

// Loads from a tensor without rows start at a negative one; nothing is written to it.
// CHECK-LABEL: tt.func public @accesses
// CHECK-SAME: %[[ROWS:[a-z0-9]+]]: i32,
// CHECK-NOT: tt.make_tensor_descriptor
// CHECK: %[[MAP:.*]] = ttng.tensor_map_argument 0 : <i8>
// CHECK: %[[EMPTY:.*]] = arith.cmpi sle, %[[ROWS]], %c0_i32 : i32
// CHECK-NOT: tt.descriptor
// CHECK: %[[Y:.*]] = arith.select %[[EMPTY]], %c-1073741824_i32, %{{.*}} : i32
// CHECK: %[[V:.*]] = ttng.tma_load %[[MAP]][%[[Y]], %[[X:.*]]] : <i8> -> tensor<16x32xf16>
// CHECK: %[[SOME:.*]] = arith.xori %[[EMPTY]], %true
// CHECK: scf.if %[[SOME]] {
// CHECK-NEXT: ttng.tma_store %[[MAP]][%[[YW:.*]], %[[X]]], %[[V]] : <i8>, tensor<16x32xf16>
// CHECK-NEXT: }
// CHECK: scf.if
// CHECK-NEXT: ttng.tma_reduce add, %[[MAP]][%[[YW]], %[[X]]], %[[V]] : <i8>, tensor<16x32xf16>
// CHECK-NEXT: }
// CHECK: tt.return
tt.func public @accesses(%p: !tt.ptr<f16>, %rows: i32, %stride: i64) {
  %one = arith.constant 1 : i64
  %columns = arith.constant 4096 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %i = tt.get_program_id x : i32
  %y = arith.muli %i, %c16 : i32
  %x = arith.muli %i, %c32 : i32
  %d = tt.make_tensor_descriptor %p, [%rows, %columns], [%stride, %one] : <f16>, <tensor<16x32xf16>>
  %0 = tt.descriptor_load %d[%y, %x] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  tt.descriptor_store %d[%y, %x], %0 : !tt.tensordesc<tensor<16x32xf16>>, tensor<16x32xf16>
  tt.descriptor_reduce add, %d[%y, %x], %0 : !tt.tensordesc<tensor<16x32xf16>>, tensor<16x32xf16>
  tt.return
}

// -----

// Writes at a position that may be negative, and to rows that may end inside of 16 bytes: what the run finds decides.
// Reductions that only the hardware has take it as it is.
// CHECK-LABEL: tt.func public @edges
// CHECK-SAME: %[[P:[a-z0-9]+]]: !tt.ptr<f16>, %[[N:[a-z0-9]+]]: i32, %[[Y:[a-z0-9]+]]: i32
// CHECK: %[[MAP:.*]] = ttng.tensor_map_argument 0
// CHECK: %[[DESC:.*]] = tt.make_tensor_descriptor
// CHECK: %[[POSITIVE:.*]] = arith.cmpi sge, %[[Y]], %c0_i32
// CHECK: %[[REST:.*]] = arith.andi %[[N]], %c7_i32
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %c32_i32
// CHECK: %[[ENDS:.*]] = arith.cmpi eq, %[[REST]], %c0_i32
// CHECK: %[[BEFORE:.*]] = arith.cmpi sle, %[[X:.*]], %[[LAST]]
// CHECK: %[[ROW:.*]] = arith.ori %[[ENDS]], %[[BEFORE]]
// CHECK: %[[BOTH:.*]] = arith.andi %[[POSITIVE]], %[[ROW]]
// CHECK: scf.if
// CHECK-NEXT: ttng.tma_store %[[MAP]][%[[Y]], %[[X]]]
// CHECK-NEXT: } else {
// CHECK-NEXT: tt.descriptor_store %[[DESC]][%[[Y]], %[[X]]]
// CHECK-NEXT: }
// CHECK: scf.if
// CHECK-NEXT: ttng.tma_reduce max
// CHECK-NEXT: }
tt.func public @edges(%p: !tt.ptr<f16>, %n: i32, %y: i32, %v: tensor<16x32xf16>) {
  %one = arith.constant 1 : i64
  %stride = arith.constant 4096 : i64
  %c32 = arith.constant 32 : i32
  %i = tt.get_program_id x : i32
  %x = arith.muli %i, %c32 : i32
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %one] : <f16>, <tensor<16x32xf16>>
  tt.descriptor_store %d[%y, %x], %v : !tt.tensordesc<tensor<16x32xf16>>, tensor<16x32xf16>
  tt.descriptor_reduce max, %d[%y, %x], %v : !tt.tensordesc<tensor<16x32xf16>>, tensor<16x32xf16>
  tt.return
}

// -----

// A row of 64 floats is two boxes of 128 bytes. Missing elements are NaN; a stride that was widened is its argument.
// CHECK: base = array<i64: 0, 0>, box = array<i32: 32, 8>, dataType = 7 : i32, elementBytes = 4 : i32, extents = array<i64: 1, 0, 1, 0>, nanFill = true, strides = array<i64: -1, 1, 2, 0>, swizzleBytes = 128 : i32
// CHECK-LABEL: tt.func public @padding
// CHECK: ttng.tma_load
tt.func public @padding(%p: !tt.ptr<f32>, %n: i32, %s: i32) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %stride = arith.extsi %s : i32 to i64
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %one] {padding = 2 : i32} : <f32>, <tensor<8x64xf32>>
  %0 = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<tensor<8x64xf32>> -> tensor<8x64xf32>
  tt.return
}

// -----

// Each descriptor has a map of its own, which is the same in each iteration. The sign decides between INT32 (3) and
// UINT32 (2), also of a minimum.
// CHECK: ttng.tensor_maps = [
// CHECK-SAME: base = array<i64: 0, 0>, box = array<i32: 16>, dataType = 3 : i32
// CHECK-SAME: base = array<i64: 1, 0>, box = array<i32: 16>, dataType = 2 : i32
// CHECK-LABEL: tt.func public @signs
// CHECK: %[[A:.*]] = ttng.tensor_map_argument 0
// CHECK: %[[B:.*]] = ttng.tensor_map_argument 1
// CHECK: scf.for
// CHECK: %[[V:.*]] = ttng.tma_load %[[A]]
// CHECK: ttng.tma_reduce min, %[[B]]{{.*}}, %[[V]]
tt.func public @signs(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  scf.for %i = %c0 to %n step %c16 : i32 {
    %a = tt.make_tensor_descriptor %p, [%n], [%one] : <i32>, <tensor<16xsi32>>
    %b = tt.make_tensor_descriptor %q, [%n], [%one] : <i32>, <tensor<16xui32>>
    %0 = tt.descriptor_load %a[%i] : !tt.tensordesc<tensor<16xsi32>> -> tensor<16xi32>
    tt.descriptor_reduce min, %b[%i], %0 : !tt.tensordesc<tensor<16xui32>>, tensor<16xi32>
  }
  tt.return
}

// -----

// A copy must start at a multiple of 16 bytes in its row. 8 halves are known to be; 4 are not, nor is any number.
// CHECK: ttng.tensor_maps
// CHECK-LABEL: tt.func public @innermost
// CHECK: %[[MAP:.*]] = ttng.tensor_map_argument 0
// CHECK: %[[D:.*]] = tt.make_tensor_descriptor
// CHECK: ttng.tma_load %[[MAP]]
// CHECK: tt.descriptor_load %[[D]]
// CHECK: tt.descriptor_store %[[D]]
// CHECK: ttng.tma_load %[[MAP]]
tt.func public @innermost(%p: !tt.ptr<f16>, %n: i32, %stride: i64, %any: i32, %known: i32 {tt.divisibility = 16 : i32}) {
  %one = arith.constant 1 : i64
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %i = tt.get_program_id x : i32
  %by8 = arith.muli %i, %c8 : i32
  %by4 = arith.muli %i, %c4 : i32
  %d = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %one] : <f16>, <tensor<16x32xf16>>
  %0 = tt.descriptor_load %d[%any, %by8] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  %1 = tt.descriptor_load %d[%by8, %by4] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  tt.descriptor_store %d[%by8, %any], %0 : !tt.tensordesc<tensor<16x32xf16>>, tensor<16x32xf16>
  %2 = tt.descriptor_load %d[%by4, %known] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  tt.return
}

// -----

// None of these has a form that bulk copies can follow, or is known at launch; and used once, none is worth a map that
// the program makes.
// CHECK-NOT: ttng.
// CHECK-LABEL: tt.func public @fallback
// CHECK-NOT: ttng.
// CHECK-COUNT-10: tt.descriptor_
// CHECK-NOT: ttng.
// CHECK: tt.return
tt.func public @fallback(%p: !tt.ptr<f16>, %n: i32, %stride: i64, %b: !tt.ptr<i8>, %f: !tt.ptr<f32>) {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  // A base that is computed.
  %q = tt.addptr %p, %n : !tt.ptr<f16>, i32
  %base = tt.make_tensor_descriptor %q, [%n, %n], [%stride, %one] : <f16>, <tensor<16x32xf16>>
  %0 = tt.descriptor_load %base[%c0, %c0] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  // An extent, a stride that is computed.
  %m = arith.addi %n, %c32 : i32
  %extent = tt.make_tensor_descriptor %p, [%m, %n], [%stride, %one] : <f16>, <tensor<16x32xf16>>
  %1 = tt.descriptor_load %extent[%c0, %c0] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  %twice = arith.muli %stride, %two : i64
  %computed = tt.make_tensor_descriptor %p, [%n, %n], [%twice, %one] : <f16>, <tensor<16x32xf16>>
  %2 = tt.descriptor_load %computed[%c0, %c0] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  // The stride of the innermost axis is an argument, or not 1.
  %runtime = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %stride] : <f16>, <tensor<16x32xf16>>
  %3 = tt.descriptor_load %runtime[%c0, %c0] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  %spread = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %two] : <f16>, <tensor<16x32xf16>>
  %4 = tt.descriptor_load %spread[%c0, %c0] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  // Rows that are no multiple of 16 bytes apart.
  %seven = arith.constant 7 : i64
  %odd = tt.make_tensor_descriptor %p, [%n, %n], [%seven, %one] : <f16>, <tensor<16x32xf16>>
  %5 = tt.descriptor_load %odd[%c0, %c0] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
  // Rows of a block of less than 16 bytes.
  %narrow = tt.make_tensor_descriptor %b, [%n, %n], [%stride, %one] : <i8>, <tensor<16x8xsi8>>
  %6 = tt.descriptor_load %narrow[%c0, %c0] : !tt.tensordesc<tensor<16x8xsi8>> -> tensor<16x8xi8>
  // Rows at any positions.
  %rows = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %row = tt.make_tensor_descriptor %p, [%n, %n], [%stride, %one] : <f16>, <tensor<1x32xf16>>
  %7 = tt.descriptor_gather %row[%rows, %c0] : (!tt.tensordesc<tensor<1x32xf16>>, tensor<16xi32>, i32) -> tensor<16x32xf16>
  tt.descriptor_scatter %row[%rows, %c0], %7 : !tt.tensordesc<tensor<1x32xf16>>, tensor<16xi32>, i32, tensor<16x32xf16>
  // No minimum of floats.
  %tile = arith.constant dense<0.0> : tensor<16x32xf32>
  %min = tt.make_tensor_descriptor %f, [%n, %n], [%stride, %one] : <f32>, <tensor<16x32xf32>>
  tt.descriptor_reduce min, %min[%c0, %c0], %tile : !tt.tensordesc<tensor<16x32xf32>>, tensor<16x32xf32>
  tt.return
}

// -----

// Eight-bit floats travel as UINT8, which has no NaN to fill with.
// CHECK: ttng.tensor_maps = [{
// CHECK-SAME: base = array<i64: 1, 0>{{.*}} dataType = 0 : i32{{.*}} nanFill = false
// CHECK-SAME: }]}
// CHECK-LABEL: tt.func public @smallFloats
// CHECK: tt.descriptor_load
// CHECK: ttng.tma_load
tt.func public @smallFloats(%p: !tt.ptr<f8E5M2>, %q: !tt.ptr<f8E5M2>, %n: i32) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %nan = tt.make_tensor_descriptor %p, [%n], [%one] {padding = 2 : i32} : <f8E5M2>, <tensor<32xf8E5M2>>
  %0 = tt.descriptor_load %nan[%c0] : !tt.tensordesc<tensor<32xf8E5M2>> -> tensor<32xf8E5M2>
  %zero = tt.make_tensor_descriptor %q, [%n], [%one] : <f8E5M2>, <tensor<32xf8E5M2>>
  %1 = tt.descriptor_load %zero[%c0] : !tt.tensordesc<tensor<32xf8E5M2>> -> tensor<32xf8E5M2>
  tt.return
}

// -----

// A pointer that a loop carries is not known at launch, and the descriptor is used as often as it is made.
// CHECK-NOT: ttng.
// CHECK-LABEL: tt.func public @carriedBase
// CHECK-NOT: ttng.
// CHECK: tt.return
tt.func public @carriedBase(%p: !tt.ptr<f16>, %n: i32) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p) -> (!tt.ptr<f16>) : i32 {
    %d = tt.make_tensor_descriptor %q, [%n], [%one] : <f16>, <tensor<32xf16>>
    %0 = tt.descriptor_load %d[%c0] : !tt.tensordesc<tensor<32xf16>> -> tensor<32xf16>
    %next = tt.addptr %q, %n : !tt.ptr<f16>, i32
    scf.yield %next : !tt.ptr<f16>
  }
  tt.return
}
