// RUN: despina-opt %s --split-input-file --tt-loop-unroll --canonicalize | FileCheck %s

// CHECK-LABEL: @constant_bounds
// CHECK-SAME: %[[X:.*]]: f32
tt.func @constant_bounds(%x: f32) -> f32 {
  // Ten steps by four: two iterations of four, and one loop of the two left over.
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
  // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
  // CHECK-DAG: %[[C10:.*]] = arith.constant 10 : i32
  // CHECK: %[[M:.*]] = scf.for %{{.*}} = %[[C0]] to %[[C8]] step %[[C4]] iter_args(%[[A:.*]] = %[[X]]) -> (f32) : i32 {
  // CHECK-COUNT-4: arith.addf
  // CHECK: scf.yield
  // CHECK: } {tt.num_stages = 3 : i32}
  // CHECK: %[[R:.*]] = scf.for %{{.*}} = %[[C8]] to %[[C10]] step %[[C1]] iter_args(%{{.*}} = %[[M]]) -> (f32) : i32 {
  // CHECK-NEXT: %{{.*}} = arith.sitofp
  // CHECK-NEXT: %{{.*}} = arith.addf
  // CHECK-NEXT: scf.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: tt.return %[[R]]
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%acc = %x) -> (f32) : i32 {
    %f = arith.sitofp %i : i32 to f32
    %s = arith.addf %acc, %f : f32
    scf.yield %s : f32
  } {tt.loop_unroll_factor = 4 : i32, tt.num_stages = 3 : i32}
  tt.return %r : f32
}

// -----

// CHECK-LABEL: @exact
tt.func @exact(%p: !tt.ptr<i32>) {
  // No steps left over: no second loop.
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
  // CHECK: tt.store %{{.*}}, %[[I]]
  // CHECK: %[[J:.*]] = arith.addi %[[I]], %{{.*}} : i32
  // CHECK: tt.store %{{.*}}, %[[J]]
  // CHECK-NOT: scf.for
  // CHECK: tt.return
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 3 : i32
  %c12 = arith.constant 12 : i32
  scf.for %i = %c0 to %c12 step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}

// -----

// CHECK-LABEL: @run_time_bounds
// CHECK-SAME: %[[L:.*]]: i32, %[[U:.*]]: i32
tt.func @run_time_bounds(%l: i32, %u: i32, %p: !tt.ptr<i32>) {
  // CHECK: %[[RUNS:.*]] = arith.cmpi ult, %[[L]], %[[U]]
  // CHECK: %[[TRIPS:.*]] = arith.select %[[RUNS]], %{{.*}}, %{{.*}} : i32
  // CHECK: %[[LEFT:.*]] = arith.remui %[[TRIPS]], %{{.*}}
  // CHECK: %[[END:.*]] = arith.select %{{.*}}, %[[U]], %{{.*}} : i32
  // CHECK: scf.for unsigned %{{.*}} = %[[L]] to %[[END]]
  // CHECK: scf.for unsigned %{{.*}} = %[[END]] to %[[U]]
  %c1 = arith.constant 1 : i32
  scf.for unsigned %i = %l to %u step %c1 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}

// -----

// CHECK-LABEL: @left_alone
tt.func @left_alone(%l: i32, %u: i32, %s: i32, %p: !tt.ptr<i8>, %v: i8) {
  // A step that is no constant; a factor of one; a wide step that does not fit the type.
  // CHECK-COUNT-3: scf.for
  // CHECK-NOT: scf.for
  scf.for %i = %l to %u step %s : i32 {
    tt.store %p, %v : !tt.ptr<i8>
  } {tt.loop_unroll_factor = 2 : i32}
  %c1 = arith.constant 1 : i32
  scf.for %i = %l to %u step %c1 : i32 {
    tt.store %p, %v : !tt.ptr<i8>
  } {tt.loop_unroll_factor = 1 : i32}
  %large = arith.constant 1073741824 : i32
  scf.for %i = %l to %u step %large : i32 {
    tt.store %p, %v : !tt.ptr<i8>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}

// -----

// CHECK-LABEL: @nested
tt.func @nested(%p: !tt.ptr<i32>) {
  // CHECK-COUNT-4: tt.store
  // CHECK-NOT: tt.store
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    scf.for %j = %c0 to %c2 step %c1 : i32 {
      %s = arith.addi %i, %j : i32
      tt.store %p, %s : !tt.ptr<i32>
    } {tt.loop_unroll_factor = 2 : i32}
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}

// -----

// Six steps from a negative bound: four in one iteration, from -5, and two from 3.
// CHECK-LABEL: @negative_bounds
tt.func @negative_bounds(%p: !tt.ptr<i32>) {
  // CHECK-DAG: %[[M5:.*]] = arith.constant -5 : i32
  // CHECK-DAG: %[[M3:.*]] = arith.constant -3 : i32
  // CHECK-DAG: %[[M1:.*]] = arith.constant -1 : i32
  // CHECK-DAG: %[[P1:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[P3:.*]] = arith.constant 3 : i32
  // CHECK-DAG: %[[P6:.*]] = arith.constant 6 : i32
  // CHECK: tt.store %{{.*}}, %[[M5]]
  // CHECK-NEXT: tt.store %{{.*}}, %[[M3]]
  // CHECK-NEXT: tt.store %{{.*}}, %[[M1]]
  // CHECK-NEXT: tt.store %{{.*}}, %[[P1]]
  // CHECK-NEXT: scf.for %{{.*}} = %[[P3]] to %[[P6]] step
  %l = arith.constant -5 : i32
  %u = arith.constant 6 : i32
  %s = arith.constant 2 : i32
  scf.for %i = %l to %u step %s : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 4 : i32}
  tt.return
}

// -----

// CHECK-LABEL: @empty
tt.func @empty(%p: !tt.ptr<i32>) {
  // CHECK-NEXT: tt.return
  %l = arith.constant 5 : i32
  %u = arith.constant -2147483648 : i32
  %s = arith.constant 1 : i32
  scf.for %i = %l to %u step %s : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 4 : i32}
  tt.return
}

// -----

// lower + trips * step would wrap around.
// CHECK-LABEL: @end_of_type
tt.func @end_of_type(%p: !tt.ptr<i32>) {
  // CHECK-DAG: %[[A:.*]] = arith.constant 2147483000 : i32
  // CHECK-DAG: %[[B:.*]] = arith.constant 2147483500 : i32
  // CHECK: tt.store %{{.*}}, %[[A]]
  // CHECK-NEXT: tt.store %{{.*}}, %[[B]]
  // CHECK-NEXT: tt.return
  %l = arith.constant 2147483000 : i32
  %u = arith.constant 2147483647 : i32
  %s = arith.constant 500 : i32
  scf.for %i = %l to %u step %s : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}

// -----

// An unsigned bound beyond the signed range.
// CHECK-LABEL: @unsigned_bounds
tt.func @unsigned_bounds(%p: !tt.ptr<i32>) {
  // CHECK-DAG: %[[A:.*]] = arith.constant 2147483647 : i32
  // CHECK-DAG: %[[B:.*]] = arith.constant -2147483648 : i32
  // CHECK-DAG: %[[C:.*]] = arith.constant -2147483647 : i32
  // CHECK: tt.store %{{.*}}, %[[A]]
  // CHECK-NEXT: tt.store %{{.*}}, %[[B]]
  // CHECK-NEXT: tt.store %{{.*}}, %[[C]]
  // CHECK-NEXT: tt.return
  %l = arith.constant 2147483647 : i32
  %u = arith.constant -2147483646 : i32
  %s = arith.constant 1 : i32
  scf.for unsigned %i = %l to %u step %s : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  } {tt.loop_unroll_factor = 2 : i32}
  tt.return
}

// -----

// A factor beyond all sense is no reason to fill the memory.
// CHECK-LABEL: @too_large
// CHECK: scf.for
// CHECK-COUNT-1: arith.addf
// CHECK-NOT: arith.addf
// CHECK: tt.return
tt.func @too_large(%x: f32, %n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (f32) : i32 {
    %s = arith.addf %acc, %x : f32
    scf.yield %s : f32
  } {tt.loop_unroll_factor = 1000000000 : i32}
  tt.return %r : f32
}
