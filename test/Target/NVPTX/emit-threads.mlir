// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | FileCheck %s
// RUN: not despina-opt %s --nvptx-emit-threads=arch=sm_9000z 2>&1 | FileCheck %s --check-prefix=BAD

// CHECK: llvm.mlir.global external @despina_shared() {addr_space = 3 : i32, alignment = 1024 : i64}
// CHECK: llvm.func @kernel(%{{.*}}: i32, %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<1>)
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 128>
// CHECK: nvvm.read.ptx.sreg.tid.x
// CHECK: nvvm.read.ptx.sreg.ctaid.y
// CHECK: llvm.return
// BAD: error: {{.*}}sm_9000z
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
  tt.func public @kernel(%x: i32, %pointer: !tt.ptr<f32>) {
    %program = tt.get_program_id y : i32
    tt.return
  }
}
