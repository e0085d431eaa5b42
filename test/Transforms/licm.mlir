// RUN: despina-opt %s --split-input-file --tt-licm | FileCheck %s

// CHECK-LABEL: @pure
tt.func @pure(%x: f32, %n: i32, %p: tensor<8x!tt.ptr<f32>>) {
  // CHECK: tt.splat
  // CHECK: math.exp
  // CHECK: scf.for
  // CHECK-NEXT: tt.store
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = tt.splat %x : f32 -> tensor<8xf32>
    %1 = math.exp %0 : tensor<8xf32>
    tt.store %p, %1 : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// Division by an unknown value may trap, so it waits for the loop to run.
// CHECK-LABEL: @division
tt.func @division(%x: i32, %y: i32, %n: i32, %p: !tt.ptr<i32>) {
  // CHECK: scf.for
  // CHECK-NEXT: arith.divsi
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = arith.divsi %x, %y : i32
    tt.store %p, %0 : !tt.ptr<i32>
  }
  tt.return
}

// -----

// CHECK-LABEL: @disabled
tt.func @disabled(%x: f32, %n: i32, %p: tensor<8x!tt.ptr<f32>>) {
  // CHECK: scf.for
  // CHECK-NEXT: tt.splat
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = tt.splat %x : f32 -> tensor<8xf32>
    tt.store %p, %0 : tensor<8x!tt.ptr<f32>>
  } {tt.disable_licm}
  tt.return
}

// -----

// A load moves, and with it what depends on it, if the loop runs and writes nothing.
// CHECK-LABEL: @load
tt.func @load(%p: !tt.ptr<f32>, %x: f32) -> f32 {
  // CHECK: tt.load
  // CHECK-NEXT: math.exp
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: arith.addf
  // CHECK-NEXT: scf.yield
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %x) -> (f32) : i32 {
    %0 = tt.load %p : !tt.ptr<f32>
    %1 = math.exp %0 : f32
    %2 = arith.addf %acc, %1 : f32
    scf.yield %2 : f32
  }
  tt.return %r : f32
}

// -----

// CHECK-LABEL: @load_may_not_run
tt.func @load_may_not_run(%p: !tt.ptr<f32>, %x: f32, %n: i32) -> f32 {
  // CHECK: scf.for
  // CHECK-NEXT: tt.load
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (f32) : i32 {
    %0 = tt.load %p : !tt.ptr<f32>
    %1 = arith.addf %acc, %0 : f32
    scf.yield %1 : f32
  }
  tt.return %r : f32
}

// -----

// CHECK-LABEL: @load_beside_write
tt.func @load_beside_write(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %c: i1) {
  // CHECK: scf.for
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: scf.if
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  scf.for %i = %c0 to %c8 step %c1 : i32 {
    %0 = tt.load %p : !tt.ptr<f32>
    scf.if %c {
      tt.store %q, %0 : !tt.ptr<f32>
    }
  }
  tt.return
}

// -----

// CHECK-LABEL: @load_in_branch
tt.func @load_in_branch(%p: !tt.ptr<f32>, %x: f32, %c: i1) -> f32 {
  // CHECK: scf.for
  // CHECK-NEXT: scf.if
  // CHECK-NEXT: tt.load
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %x) -> (f32) : i32 {
    %1 = scf.if %c -> f32 {
      %0 = tt.load %p : !tt.ptr<f32>
      scf.yield %0 : f32
    } else {
      scf.yield %acc : f32
    }
    scf.yield %1 : f32
  }
  tt.return %r : f32
}
