// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a --split-input-file --verify-diagnostics

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @bytes(%p: !tt.ptr<i8>, %x: i8) {
    // expected-error @+1 {{'add' of 'i8' is not supported on CUDA}}
    %0 = tt.atomic_rmw add, relaxed, gpu, %p, %x : (!tt.ptr<i8>, i8) -> i8
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @bytes(%p: !tt.ptr<i8>, %x: i8) {
    // expected-error @+1 {{of 'i8' is not supported on CUDA; 16, 32 and 64 bits are}}
    %0 = tt.atomic_cas relaxed, gpu, %p, %x, %x : (!tt.ptr<i8>, i8, i8) -> i8
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @shared(%p: !tt.ptr<f32, 3>) {
    // expected-error @+1 {{through pointers of address space 3 is not supported on CUDA; only global memory (1) is}}
    %0 = tt.load %p : !tt.ptr<f32, 3>
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @unplaced(%p: !tt.ptr<i32>, %x: i32) {
    // expected-error @+1 {{has no scratch memory for its result}}
    %0 = tt.atomic_rmw add, relaxed, gpu, %p, %x : (!tt.ptr<i32>, i32) -> i32
    tt.store %p, %0 : !tt.ptr<i32>
    tt.return
  }
}
