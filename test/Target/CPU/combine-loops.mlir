// RUN: despina-opt %s --split-input-file -cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// Lanes would take different numbers of turns: a reduction whose function loops works on scalars.

// CHECK-LABEL: llvm.func @count
// CHECK-NOT: vector<
// CHECK: scf.for
// CHECK: scf.while
// CHECK: scf.condition
// CHECK-NOT: vector<
// CHECK: llvm.return
tt.func public @count(%p: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
  %range = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %at = tt.addptr %ps, %range : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %x = tt.load %at : tensor<16x!tt.ptr<i32>>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %zero = arith.constant 0 : i32
    %v:2 = scf.while (%u = %a, %w = %b) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %w, %zero : i32
      scf.condition(%go) %u, %w : i32, i32
    } do {
    ^bb0(%u: i32, %w: i32):
      %rest = arith.remsi %u, %w : i32
      scf.yield %w, %rest : i32, i32
    }
    tt.reduce.return %v#0 : i32
  }) : (tensor<16xi32>) -> i32
  tt.store %out, %r : !tt.ptr<i32>
  tt.return
}

// -----

// A branch without a loop stays on vectors.
// CHECK-LABEL: llvm.func @branch
// CHECK: arith.select {{.*}} : vector<8xi1>, vector<8xi32>
tt.func public @branch(%p: !tt.ptr<i32>, %out: !tt.ptr<i32>) {
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %at = tt.addptr %ps, %range : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %x = tt.load %at : tensor<64x!tt.ptr<i32>>
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %greater = arith.cmpi sgt, %a, %b : i32
    %v = scf.if %greater -> (i32) {
      scf.yield %a : i32
    } else {
      scf.yield %b : i32
    }
    tt.reduce.return %v : i32
  }) : (tensor<64xi32>) -> i32
  tt.store %out, %r : !tt.ptr<i32>
  tt.return
}
