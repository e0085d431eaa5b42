// RUN: despina-opt %s --cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// Loads, selections and stores move bf16 as integers: LLVM rounds the lanes of a masked move of bf16, and NaNs change.

// CHECK-LABEL: llvm.func @choose(
// CHECK: llvm.intr.masked.load {{.*}} -> vector<[[LANES:[0-9]+]]xi16>
// CHECK: arith.bitcast %{{.*}} : vector<[[LANES]]xi16> to vector<[[LANES]]xbf16>
// CHECK: llvm.load {{.*}} -> vector<[[LANES]]xi16>
// CHECK: arith.select {{.*}} : vector<[[LANES]]xi1>, vector<[[LANES]]xi16>
// CHECK: llvm.intr.masked.store {{.*}} : vector<[[LANES]]xi16>, vector<[[LANES]]xi1> into !llvm.ptr
tt.func public @choose(%x: !tt.ptr<bf16>, %y: !tt.ptr<bf16>, %n: i32) {
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %limit = tt.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %range, %limit : tensor<64xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
  %px = tt.addptr %xs, %range : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
  %a = tt.load %px, %mask : tensor<64x!tt.ptr<bf16>>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<64x!tt.ptr<bf16>>
  %py = tt.addptr %ys, %range : tensor<64x!tt.ptr<bf16>>, tensor<64xi32>
  %b = tt.load %py : tensor<64x!tt.ptr<bf16>>
  %chosen = arith.select %mask, %a, %b : tensor<64xi1>, tensor<64xbf16>
  tt.store %py, %chosen, %mask : tensor<64x!tt.ptr<bf16>>
  tt.return
}
