// RUN: despina-opt %s --tt-pipeline --cpu-uniform-carries --cpu-lower-tiles=vector-bytes=32 --cpu-convert-to-llvm \
// RUN:   | FileCheck %s

// An accumulator of 128 x 256 fp32 stays in memory: no vector of the output is wider than the machine's.

// CHECK-LABEL: llvm.func @accumulate(
// CHECK-NOT: vector<{{(9|[1-9][0-9]+)}}xf32>
// CHECK-NOT: !llvm.array
// CHECK: llvm.intr.fma({{.*}}vector<8xf32>
// CHECK-NOT: vector<{{(9|[1-9][0-9]+)}}xf32>
// CHECK-NOT: !llvm.array
// CHECK: llvm.return
tt.func public @accumulate(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %out: !tt.ptr<f32>, %steps: i32) {
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %n = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %mc = tt.expand_dims %m {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %nr = tt.expand_dims %n {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %kc = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %kr = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %c32 = arith.constant dense<32> : tensor<128x1xi32>
  %c256 = arith.constant dense<256> : tensor<32x1xi32>
  %w256 = arith.constant dense<256> : tensor<128x1xi32>
  %ar = arith.muli %mc, %c32 : tensor<128x1xi32>
  %arb = tt.broadcast %ar : tensor<128x1xi32> -> tensor<128x32xi32>
  %acb = tt.broadcast %kr : tensor<1x32xi32> -> tensor<128x32xi32>
  %ao = arith.addi %arb, %acb : tensor<128x32xi32>
  %br = arith.muli %kc, %c256 : tensor<32x1xi32>
  %brb = tt.broadcast %br : tensor<32x1xi32> -> tensor<32x256xi32>
  %bcb = tt.broadcast %nr : tensor<1x256xi32> -> tensor<32x256xi32>
  %bo = arith.addi %brb, %bcb : tensor<32x256xi32>
  %cr = arith.muli %mc, %w256 : tensor<128x1xi32>
  %crb = tt.broadcast %cr : tensor<128x1xi32> -> tensor<128x256xi32>
  %ccb = tt.broadcast %nr : tensor<1x256xi32> -> tensor<128x256xi32>
  %co = arith.addi %crb, %ccb : tensor<128x256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x32x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<32x256x!tt.ptr<f32>>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>>
  %pa = tt.addptr %xs, %ao : tensor<128x32x!tt.ptr<f32>>, tensor<128x32xi32>
  %pb = tt.addptr %ys, %bo : tensor<32x256x!tt.ptr<f32>>, tensor<32x256xi32>
  %pc = tt.addptr %outs, %co : tensor<128x256x!tt.ptr<f32>>, tensor<128x256xi32>
  %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
    %a = tt.load %pa : tensor<128x32x!tt.ptr<f32>>
    %b = tt.load %pb : tensor<32x256x!tt.ptr<f32>>
    %d = tt.dot %a, %b, %acc : tensor<128x32xf32> * tensor<32x256xf32> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  tt.store %pc, %sum : tensor<128x256x!tt.ptr<f32>>
  tt.return
}
