// RUN: despina-opt %s -cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// Memory that is contiguous along dimension 0 is read along it, and 8x8 blocks are transposed in registers.

// CHECK-LABEL: llvm.func @columns(
// CHECK-NOT: gather
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK-COUNT-8: llvm.store %{{.*}} : vector<8xf32>, !llvm.ptr
// CHECK-NOT: gather
tt.func public @columns(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %range = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %stride = arith.constant dense<32> : tensor<1x32xi32>
  %scaled = arith.muli %columns, %stride : tensor<1x32xi32>
  %a = tt.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %b = tt.broadcast %scaled : tensor<1x32xi32> -> tensor<32x32xi32>
  %offsets = arith.addi %a, %b : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %px = tt.addptr %xs, %offsets : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %v = tt.load %px : tensor<32x32x!tt.ptr<f32>>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %d = tt.dot %v, %v, %zero : tensor<32x32xf32> * tensor<32x32xf32> -> tensor<32x32xf32>
  %sum = "tt.reduce"(%d) <{axis = 1 : i32}> ({
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    tt.reduce.return %s : f32
  }) : (tensor<32x32xf32>) -> tensor<32xf32>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %pout = tt.addptr %outs, %range : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %pout, %sum : tensor<32x!tt.ptr<f32>>
  tt.return
}
