// RUN: despina-opt %s --split-input-file --nvptx-select-tensor-maps=arch=sm_90a --cse --canonicalize | FileCheck %s
// RUN: despina-opt %s --split-input-file --nvptx-select-tensor-maps=arch=sm_90 --cse --canonicalize | FileCheck %s --check-prefix=PLAIN

// Maps that programs make. sm_90 without its `a` lacks the instructions.
// PLAIN-NOT: ttng.make_tensor_map

// The base is computed; the loop reads through the map again and again. Lists go from the innermost axis outwards.
// CHECK-LABEL: tt.func public @before
// CHECK-SAME: %[[P:[a-z0-9]+]]: !tt.ptr<f16>, %[[ROWS:[a-z0-9]+]]: i32, %[[STRIDE:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: i32
// CHECK-DAG: %[[Q:.*]] = tt.addptr %[[P]]
// CHECK: %[[MAP:.*]] = ttng.make_tensor_map %[[Q]], [%c4096_i32, %[[ROWS]]], [%[[STRIDE]]]
// CHECK-SAME: box = array<i32: 32, 16>, dataType = 6 : i32, elementBytes = 2 : i32, swizzleBytes = 64 : i32
// CHECK-NOT: slot
// CHECK: %[[EMPTY:.*]] = arith.cmpi sle, %[[ROWS]], %c0_i32
// The row does not change in the loop, so it is what tells that the tensor is empty.
// CHECK: scf.for
// CHECK-NEXT: %[[Y:.*]] = arith.select %[[EMPTY]], %c-1073741824_i32, %{{.*}}
// CHECK-NEXT: ttng.tma_load %[[MAP]][%[[Y]], %{{.*}}]
// CHECK-NEXT: %[[SOME:.*]] = arith.cmpi sgt, %[[ROWS]], %c0_i32
// CHECK-NEXT: scf.if %[[SOME]] {
// CHECK-NEXT: ttng.tma_store %[[MAP]][%{{.*}}, %{{.*}}]
// CHECK-NEXT: }
// PLAIN-LABEL: tt.func public @before
// PLAIN: tt.descriptor_load
tt.func public @before(%p: !tt.ptr<f16>, %rows: i32, %stride: i64, %n: i32) {
  %one = arith.constant 1 : i64
  %columns = arith.constant 4096 : i32
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %i = tt.get_program_id x : i32
  %q = tt.addptr %p, %i : !tt.ptr<f16>, i32
  %d = tt.make_tensor_descriptor %q, [%rows, %columns], [%stride, %one] : <f16>, <tensor<16x32xf16>>
  scf.for %x = %c0 to %n step %c32 : i32 {
    %0 = tt.descriptor_load %d[%i, %x] : !tt.tensordesc<tensor<16x32xf16>> -> tensor<16x32xf16>
    tt.descriptor_store %d[%i, %x], %0 : !tt.tensordesc<tensor<16x32xf16>>, tensor<16x32xf16>
  }
  tt.return
}

// -----

// What is the same in each iteration is made before the loop, also where it is written inside.
// CHECK-LABEL: tt.func public @invariant
// CHECK: %[[MAP:.*]] = ttng.make_tensor_map
// CHECK: scf.for
// CHECK: ttng.tma_load %[[MAP]]
tt.func public @invariant(%p: !tt.ptr<f32>, %n: i32) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %i = tt.get_program_id x : i32
  scf.for %x = %c0 to %n step %c64 : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    %d = tt.make_tensor_descriptor %q, [%n], [%one] : <f32>, <tensor<64xf32>>
    %0 = tt.descriptor_load %d[%x] : !tt.tensordesc<tensor<64xf32>> -> tensor<64xf32>
    tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %0 : tensor<64xf32>
  }
  tt.return
}

// -----

// Made for each group, used in a loop in it; a while loop counts as one too.
// CHECK-LABEL: tt.func public @groups
// CHECK: scf.for
// CHECK: %[[A:.*]] = ttng.make_tensor_map
// CHECK: scf.for
// CHECK: ttng.tma_load %[[A]]
// CHECK: %[[B:.*]] = ttng.make_tensor_map
// CHECK: scf.while
// CHECK: ttng.tma_reduce add, %[[B]]
tt.func public @groups(%p: !tt.ptr<i32>, %n: i32, %v: tensor<16xi32>) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  scf.for %g = %c0 to %n step %c16 : i32 {
    %q = tt.addptr %p, %g : !tt.ptr<i32>, i32
    %a = tt.make_tensor_descriptor %q, [%n], [%one] : <i32>, <tensor<16xsi32>>
    scf.for %i = %c0 to %n step %c16 : i32 {
      %0 = tt.descriptor_load %a[%i] : !tt.tensordesc<tensor<16xsi32>> -> tensor<16xi32>
      tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %0 : tensor<16xi32>
    }
    %b = tt.make_tensor_descriptor %q, [%g], [%one] : <i32>, <tensor<16xsi32>>
    %end = scf.while (%i = %c0) : (i32) -> i32 {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      tt.descriptor_reduce add, %b[%i], %v : !tt.tensordesc<tensor<16xsi32>>, tensor<16xi32>
      %next = arith.addi %i, %c16 : i32
      scf.yield %next : i32
    }
  }
  tt.return
}

// -----

// Only the unit that copies has a minimum of halves, so even one access takes a map.
// CHECK-LABEL: tt.func public @onlyMaps
// CHECK: %[[MAP:.*]] = ttng.make_tensor_map
// CHECK: ttng.tma_reduce min, %[[MAP]]
tt.func public @onlyMaps(%p: !tt.ptr<f16>, %n: i32, %v: tensor<16xf16>) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %q = tt.addptr %p, %n : !tt.ptr<f16>, i32
  %d = tt.make_tensor_descriptor %q, [%n], [%one] : <f16>, <tensor<16xf16>>
  tt.descriptor_reduce min, %d[%c0], %v : !tt.tensordesc<tensor<16xf16>>, tensor<16xf16>
  tt.return
}

// -----

// Handed on, a descriptor is the address of its map, and the lowest bit says that the tensor is empty. One is made by
// the host, the other by the program.
// CHECK: ttng.tensor_maps = [{
// CHECK-LABEL: tt.func public @handedOn
// CHECK-SAME: %[[C:[a-z0-9]+]]: i1
// CHECK-DAG: %[[A:.*]] = ttng.tensor_map_argument 0
// CHECK-DAG: %[[HOST:.*]] = tt.ptr_to_int %[[A]] : !tt.ptr<i8> -> i64
// CHECK-DAG: %[[B:.*]] = ttng.make_tensor_map
// CHECK-DAG: %[[OWN:.*]] = tt.ptr_to_int %[[B]] : !tt.ptr<i8> -> i64
// CHECK-DAG: %[[NONE:.*]] = arith.cmpi sle
// CHECK-DAG: %[[BIT:.*]] = arith.extui %[[NONE]] : i1 to i64
// CHECK-DAG: %[[MARKED:.*]] = arith.ori %[[OWN]], %[[BIT]] : i64
// CHECK: %[[CHOSEN:.*]] = arith.select %[[C]], %[[HOST]], %[[MARKED]] : i64
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %[[CHOSEN]], %[[Y:.*]] = %[[HOST]]) -> (i64, i64)
// CHECK: %[[LOWEST:.*]] = arith.andi %[[X]], %c1_i64
// CHECK: %[[ADDRESS:.*]] = arith.xori %[[X]], %[[LOWEST]]
// CHECK: %[[EMPTY:.*]] = arith.trunci %[[LOWEST]] : i64 to i1
// CHECK: %[[MAP:.*]] = tt.int_to_ptr %[[ADDRESS]] : i64 -> !tt.ptr<i8>
// CHECK: %[[AT:.*]] = arith.select %[[EMPTY]], %c-1073741824_i32
// CHECK: ttng.tma_load %[[MAP]][%[[AT]]]
// CHECK: scf.yield %[[Y]], %[[X]] : i64, i64
tt.func public @handedOn(%p: !tt.ptr<f32>, %n: i32, %c: i1) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %a = tt.make_tensor_descriptor %p, [%c64], [%one] : <f32>, <tensor<64xf32>>
  %q = tt.addptr %p, %n : !tt.ptr<f32>, i32
  %b = tt.make_tensor_descriptor %q, [%n], [%one] : <f32>, <tensor<64xf32>>
  %chosen = scf.if %c -> (!tt.tensordesc<tensor<64xf32>>) {
    scf.yield %a : !tt.tensordesc<tensor<64xf32>>
  } else {
    scf.yield %b : !tt.tensordesc<tensor<64xf32>>
  }
  %r:2 = scf.for %i = %c0 to %n step %c64 iter_args(%x = %chosen, %y = %a) -> (!tt.tensordesc<tensor<64xf32>>, !tt.tensordesc<tensor<64xf32>>) : i32 {
    %0 = tt.descriptor_load %x[%i] : !tt.tensordesc<tensor<64xf32>> -> tensor<64xf32>
    tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %0 : tensor<64xf32>
    scf.yield %y, %x : !tt.tensordesc<tensor<64xf32>>, !tt.tensordesc<tensor<64xf32>>
  }
  tt.return
}

// -----

// One that a loop makes and carries would still be in use when the next one is made in its place.
// CHECK-NOT: ttng.
// CHECK-LABEL: tt.func public @carried
// CHECK-NOT: ttng.
// CHECK: tt.return
tt.func public @carried(%p: !tt.ptr<f32>, %n: i32) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %a = tt.make_tensor_descriptor %p, [%n], [%one] : <f32>, <tensor<64xf32>>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%x = %a) -> (!tt.tensordesc<tensor<64xf32>>) : i32 {
    %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
    %next = tt.make_tensor_descriptor %q, [%n], [%one] : <f32>, <tensor<64xf32>>
    scf.for %j = %c0 to %n step %c64 : i32 {
      %0 = tt.descriptor_load %x[%j] : !tt.tensordesc<tensor<64xf32>> -> tensor<64xf32>
      tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %0 : tensor<64xf32>
    }
    scf.yield %next : !tt.tensordesc<tensor<64xf32>>
  }
  tt.return
}

// -----

// Where it is handed on, one access that no map can follow is enough: here a column that may be any.
// CHECK-NOT: ttng.
// CHECK-LABEL: tt.func public @anyColumn
// CHECK-NOT: ttng.
// CHECK: tt.return
tt.func public @anyColumn(%p: !tt.ptr<f32>, %n: i32, %c: i1) {
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tt.make_tensor_descriptor %p, [%n], [%one] : <f32>, <tensor<64xf32>>
  %b = tt.make_tensor_descriptor %p, [%c1], [%one] : <f32>, <tensor<64xf32>>
  %x = arith.select %c, %a, %b : !tt.tensordesc<tensor<64xf32>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = tt.descriptor_load %x[%c0] : !tt.tensordesc<tensor<64xf32>> -> tensor<64xf32>
    %1 = tt.descriptor_load %x[%i] : !tt.tensordesc<tensor<64xf32>> -> tensor<64xf32>
    %2 = arith.addf %0, %1 : tensor<64xf32>
    tt.print " x: " {hex = false, isSigned = array<i32: 0>} : %2 : tensor<64xf32>
  }
  tt.return
}
