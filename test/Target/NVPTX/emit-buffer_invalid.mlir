// RUN: not despina-opt %s --nvptx-emit-threads=arch=sm_90a 2>&1 | FileCheck %s

#memory = #ttg.layout<"{offset: (1) (2) (4) (8) (16); block: } -> (dim0: 32)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @kernel() {
    // CHECK: :[[@LINE+1]]:10: error: 'ttg.local_alloc' op has no place in shared memory
    %b = ttg.local_alloc : () -> !ttg.memdesc<32xf32, #memory, mutable>
    tt.return
  }
}
