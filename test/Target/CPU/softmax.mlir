// RUN: despina-opt %s -cpu-lower-tiles=vector-bytes=64 | FileCheck %s

// Three nests: the maximum, exponential with its sum (kept in scratch memory for the third), the quotient.

// CHECK-LABEL: llvm.func @softmax(
// CHECK: %[[BUFFER:.*]] = llvm.getelementptr inbounds %arg4[0]
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<64xf32>)
// CHECK: arith.maxnumf {{.*}} : vector<64xf32>
// CHECK: vector.shuffle
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>)
// CHECK: arith.addf {{.*}} : vector<32xf32>
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[BUFFER]]
// CHECK: llvm.store %{{.*}}, %[[PLACE]]
// CHECK: scf.for
// CHECK: llvm.getelementptr %[[BUFFER]]
// CHECK: arith.divf {{.*}} : vector<16xf32>
// CHECK-NOT: math.exp
tt.func public @softmax(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>) {
  %range = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %px = tt.addptr %xs, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %v = tt.load %px : tensor<1024x!tt.ptr<f32>>
  %max = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1024xf32>) -> f32
  %maxs = tt.splat %max : f32 -> tensor<1024xf32>
  %d = arith.subf %v, %maxs : tensor<1024xf32>
  %e = math.exp %d : tensor<1024xf32>
  %sum = "tt.reduce"(%e) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<1024xf32>) -> f32
  %sums = tt.splat %sum : f32 -> tensor<1024xf32>
  %q = arith.divf %e, %sums : tensor<1024xf32>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pout = tt.addptr %outs, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %pout, %q : tensor<1024x!tt.ptr<f32>>
  tt.return
}
