// RUN: despina-opt %s --cpu-lower-tiles=vector-bytes=64 | FileCheck %s --check-prefix=FMA
// RUN: despina-opt %s --cpu-lower-tiles="vector-bytes=64 amx=true" | FileCheck %s --check-prefix=AMX

// Products of bf16 use tiles of AMX where the machine has it; otherwise they are widened and accumulate in fp32
// registers.

// FMA-LABEL: llvm.func @dot(
// FMA-NOT: amx
// FMA: math.fma %{{.*}} : vector<16xf32>
// FMA-NOT: amx
// FMA: llvm.return

// AMX-LABEL: llvm.func @dot(
// AMX-NOT: math.fma
// AMX: "llvm.x86.tileloadd64.internal"
// AMX: "llvm.x86.tdpbf16ps.internal"
// AMX: "llvm.x86.tilestored64.internal"
// AMX-NOT: math.fma
// AMX: llvm.return
tt.func public @dot(%x: !tt.ptr<bf16>, %y: !tt.ptr<bf16>, %out: !tt.ptr<f32>) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r = tt.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %c = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %stride = arith.constant dense<32> : tensor<32x1xi32>
  %rows = arith.muli %r, %stride : tensor<32x1xi32>
  %rb = tt.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %cb = tt.broadcast %c : tensor<1x32xi32> -> tensor<32x32xi32>
  %o = arith.addi %rb, %cb : tensor<32x32xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<32x32x!tt.ptr<bf16>>
  %px = tt.addptr %xs, %o : tensor<32x32x!tt.ptr<bf16>>, tensor<32x32xi32>
  %a = tt.load %px : tensor<32x32x!tt.ptr<bf16>>
  %ys = tt.splat %y : !tt.ptr<bf16> -> tensor<32x32x!tt.ptr<bf16>>
  %py = tt.addptr %ys, %o : tensor<32x32x!tt.ptr<bf16>>, tensor<32x32xi32>
  %b = tt.load %py : tensor<32x32x!tt.ptr<bf16>>
  %d = tt.dot %a, %b, %zero : tensor<32x32xbf16> * tensor<32x32xbf16> -> tensor<32x32xf32>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %pout = tt.addptr %outs, %o : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %pout, %d : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
