// RUN: despina-opt %s --split-input-file --cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// Arguments may name one array: what is stored at another place than it was loaded from is loaded into a buffer
// first, in a loop nest of its own.

// CHECK-LABEL: llvm.func @reverse(
// CHECK-SAME: %[[SCRATCH:[a-z0-9]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias}
// CHECK: %[[BUFFER:.*]] = llvm.getelementptr inbounds %[[SCRATCH]][0]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[X:.*]] = llvm.load %{{.*}} -> vector<8xf32>
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[BUFFER]][
// CHECK: llvm.store %[[X]], %[[PLACE]]
// CHECK: scf.for
// CHECK: %[[FROM:.*]] = llvm.getelementptr %[[BUFFER]][
// CHECK: %[[Y:.*]] = llvm.intr.masked.gather
// CHECK: llvm.store %[[Y]]
// CHECK: llvm.return
tt.func public @reverse(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %px = tt.addptr %xs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %px : tensor<64x!tt.ptr<f32>>
  %square = tt.reshape %v : tensor<64xf32> -> tensor<8x8xf32>
  %turned = tt.trans %square {order = array<i32: 1, 0>} : tensor<8x8xf32> -> tensor<8x8xf32>
  %flat = tt.reshape %turned : tensor<8x8xf32> -> tensor<64xf32>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pout = tt.addptr %outs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %pout, %flat : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Stored where it was loaded: one loop, no buffer.

// CHECK-LABEL: llvm.func @copy(
// CHECK-NOT: getelementptr inbounds
// CHECK: %[[X:.*]] = llvm.load %{{.*}} -> vector<8xf32>
// CHECK-NEXT: llvm.store %[[X]]
// CHECK: llvm.return
tt.func public @copy(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %px = tt.addptr %xs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %px : tensor<64x!tt.ptr<f32>>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pout = tt.addptr %outs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %pout, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}

// -----

// Read and written in different orders, in one and the same nest: the load comes first.

// CHECK-LABEL: llvm.func @backwards(
// CHECK: %[[BUFFER:.*]] = llvm.getelementptr inbounds
// CHECK: llvm.load %{{.*}} -> vector<8xf32>
// CHECK: llvm.getelementptr %[[BUFFER]][
// CHECK: scf.for
// CHECK: llvm.getelementptr %[[BUFFER]][
// CHECK: llvm.intr.masked.scatter
tt.func public @backwards(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %last = arith.constant dense<63> : tensor<64xi32>
  %back = arith.subi %last, %range : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %px = tt.addptr %xs, %range : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  %v = tt.load %px : tensor<64x!tt.ptr<f32>>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %pout = tt.addptr %outs, %back : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %pout, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}
