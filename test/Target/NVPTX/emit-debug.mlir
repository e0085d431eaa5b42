// RUN: despina-opt %s "--nvptx-emit-threads=arch=sm_90a debug=true" | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | FileCheck %s --check-prefix=RELEASE
// RUN: despina-opt %s "--nvptx-emit-threads=arch=sm_90a debug=true" | despina-ptx --arch=sm_90a --cubin -o %t

#row = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: (0) (0); block: } -> (dim0: 64)">

// CHECK-DAG: "pid (%u, %u, %u) hello 100%%\0A\00"
// CHECK-DAG: "pid (%u, %u, %u) x: (operand 0) 0x%08x\0A\00"
// CHECK-DAG: "pid (%u, %u, %u) x: (operand 1) 0x%016llx\0A\00"
// CHECK-DAG: "pid (%u, %u, %u) idx (%u) y: %d\0A\00"
// CHECK-DAG: "pid (%u, %u, %u) h: %f\0A\00"
// CHECK-DAG: "pid (%u, %u, %u) p: %p\0A\00"
// CHECK-DAG: "too big\00"
// CHECK-DAG: "kernel.py\00"
// CHECK-LABEL: llvm.func @kernel
// CHECK: llvm.call @vprintf(%{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> i32
// CHECK: llvm.call @__assertfail(%{{.*}}) : (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64) -> ()
// CHECK: nvvm.barrier
// RELEASE-NOT: assertfail
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @kernel(%x: i32, %l: f64, %p: !tt.ptr<f32>, %h: f16) {
    tt.print "hello 100%" {hex = false, isSigned = array<i32>}
    tt.print "x" {hex = true, isSigned = array<i32: 1, 0>} : %x, %l : i32, f64
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #row>
    tt.print " y: " {hex = false, isSigned = array<i32: 1>} : %r : tensor<64xi32, #row>
    tt.print "h:" {hex = false, isSigned = array<i32: 0>} : %h : f16
    tt.print "p" {hex = false, isSigned = array<i32: 0>} : %p : !tt.ptr<f32>
    %b = tt.splat %x : i32 -> tensor<64xi32, #row>
    %c = arith.cmpi slt, %r, %b : tensor<64xi32, #row>
    tt.assert %c, "too big" : tensor<64xi1, #row> loc("kernel.py":12:3)
    tt.return
  }
}
