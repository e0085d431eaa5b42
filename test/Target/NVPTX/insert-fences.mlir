// RUN: despina-opt %s --split-input-file --nvptx-insert-fences | FileCheck %s
// RUN: despina-opt %s --split-input-file --nvptx-insert-fences --nvptx-allocate-shared-memory --nvptx-insert-barriers | FileCheck %s --check-prefix=ORDER

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">
#turned = #ttg.layout<"{register: ; lane: (4) (8) (16) (32) (64); warp: (1) (2); block: } -> (dim0: 128)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// Threads write, the unit that copies reads. The barrier comes behind the fence. One fence is for all that follow.
// CHECK-LABEL: tt.func public @afterWrite
// CHECK: ttg.local_alloc
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: ttng.async_tma_store_wait
// CHECK-NEXT: ttng.async_tma_reduce
// CHECK-NEXT: tt.return
// ORDER-LABEL: tt.func public @afterWrite
// ORDER: ttg.local_alloc
// ORDER-NEXT: ttng.fence_async_shared
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttng.async_tma_copy_local_to_global
tt.func public @afterWrite(%x: tensor<128xf32, #tile>, %map: !tt.ptr<i8>, %i: i32) {
  %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  ttng.async_tma_copy_local_to_global %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line>
  ttng.async_tma_store_wait 0
  ttng.async_tma_reduce add, %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line>
  tt.return
}

// Threads read, then the unit writes the same bytes.
// CHECK-LABEL: tt.func public @afterRead
// CHECK: ttg.local_load
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: tt.return
// ORDER-LABEL: tt.func public @afterRead
// ORDER: ttg.local_load
// ORDER-NEXT: ttng.fence_async_shared
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttng.async_tma_copy_global_to_local
tt.func public @afterRead(%map: !tt.ptr<i8>, %i: i32) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, mutable>
  %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  ttng.async_tma_copy_global_to_local %map[%i] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// Nothing was touched: a buffer without a tile, and arithmetic.
// CHECK-LABEL: tt.func public @untouched
// CHECK-NOT: ttng.fence_async_shared
// CHECK: tt.return
tt.func public @untouched(%map: !tt.ptr<i8>, %i: i32, %x: tensor<128xf32, #tile>) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, mutable>
  %0 = arith.addf %x, %x : tensor<128xf32, #tile>
  ttng.async_tma_copy_global_to_local %map[%i] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// Scratch memory is touched by threads, and its bytes may become the buffer's.
// CHECK-LABEL: tt.func public @scratch
// CHECK: ttg.convert_layout
// CHECK: ttg.local_alloc
// CHECK: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
tt.func public @scratch(%map: !tt.ptr<i8>, %i: i32, %x: tensor<128xf32, #tile>) {
  %0 = ttg.convert_layout %x : tensor<128xf32, #tile> -> tensor<128xf32, #turned>
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, mutable>
  ttng.async_tma_copy_global_to_local %map[%i] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// A fence that is there is enough, for what came before it.
// CHECK-LABEL: tt.func public @given
// CHECK: ttg.local_alloc
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: ttg.local_alloc
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: tt.return
tt.func public @given(%x: tensor<128xf32, #tile>, %map: !tt.ptr<i8>, %i: i32) {
  %a = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  ttng.fence_async_shared
  ttng.async_tma_copy_local_to_global %map[%i] %a : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line>
  %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  ttng.async_tma_copy_local_to_global %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line>
  tt.return
}

// A copy of threads counts as theirs.
// CHECK-LABEL: tt.func public @copies
// CHECK: ttg.async_wait
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
tt.func public @copies(%p: tensor<128x!tt.ptr<f32>, #tile>, %map: !tt.ptr<i8>, %i: i32) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %0 = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  %1 = ttg.async_commit_group tokens %0
  %2 = ttg.async_wait tokens %1 {num = 0 : i32}
  ttng.async_tma_copy_local_to_global %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// One branch has touched memory: what follows may need the fence.
// CHECK-LABEL: tt.func public @branch
// CHECK: scf.if
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: }
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: tt.return
tt.func public @branch(%x: tensor<128xf32, #tile>, %map: !tt.ptr<i8>, %i: i32, %c: i1) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  scf.if %c {
    ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  }
  ttng.async_tma_copy_local_to_global %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// The fence of a branch is none for the way around it.
// CHECK-LABEL: tt.func public @fenceInBranch
// CHECK: ttg.local_alloc
// CHECK-NEXT: scf.if
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: } else {
// CHECK-NEXT: }
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: tt.return
tt.func public @fenceInBranch(%x: tensor<128xf32, #tile>, %map: !tt.ptr<i8>, %i: i32, %c: i1) {
  %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  scf.if %c {
    ttng.async_tma_copy_local_to_global %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line>
  } else {
  }
  ttng.async_tma_copy_local_to_global %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line>
  tt.return
}

// Nobody touches memory in the loop: one fence before it will do.
// CHECK-LABEL: tt.func public @before
// CHECK: ttng.fence_async_shared
// CHECK-NEXT: scf.for
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: }
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: tt.return
tt.func public @before(%x: tensor<128xf32, #tile>, %map: !tt.ptr<i8>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  scf.for %i = %c0 to %n step %c1 : i32 {
    ttng.async_tma_copy_local_to_global %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line>
  }
  ttng.async_tma_copy_local_to_global %map[%n] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line>
  tt.return
}

// Threads read at the end of an iteration; the copy of the next one writes. Nothing was touched before the loop.
// CHECK-LABEL: tt.func public @carried
// CHECK: scf.for
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: }
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: tt.return
tt.func public @carried(%map: !tt.ptr<i8>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, mutable>
  scf.for %i = %c0 to %n step %c1 : i32 {
    ttng.async_tma_copy_global_to_local %map[%i] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
    %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  }
  ttng.async_tma_copy_global_to_local %map[%n] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// A loop of threads' accesses alone counts like one.
// CHECK-LABEL: tt.func public @afterLoop
// CHECK: scf.for
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: }
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: tt.return
tt.func public @afterLoop(%x: tensor<128xf32, #tile>, %map: !tt.ptr<i8>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  scf.for %i = %c0 to %n step %c1 : i32 {
    ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  }
  ttng.async_tma_copy_local_to_global %map[%n] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// A loop ends behind its condition, and there threads have touched memory last.
// CHECK-LABEL: tt.func public @while
// CHECK: scf.while
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: scf.condition
// CHECK-NEXT: } do {
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: tt.return
tt.func public @while(%x: tensor<128xf32, #tile>, %map: !tt.ptr<i8>, %i: i32, %c: i1) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  scf.while : () -> () {
    ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
    scf.condition(%c)
  } do {
    ttng.async_tma_copy_local_to_global %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>
    scf.yield
  }
  ttng.async_tma_copy_local_to_global %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// Global memory. What threads have stored is seen by copies behind a fence and a barrier; shared memory was not touched.
// CHECK-LABEL: tt.func public @globalStore
// CHECK: tt.store
// CHECK-NEXT: ttng.fence_async_global
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: tt.return
tt.func public @globalStore(%map: !tt.ptr<i8>, %p: !tt.ptr<f32>, %v: f32, %i: i32) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, mutable>
  tt.store %p, %v : !tt.ptr<f32>
  ttng.async_tma_copy_global_to_local %map[%i] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  ttng.async_tma_copy_global_to_local %map[%i] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// An atomic operation may tell that another program has stored. Plain loads tell nothing; volatile ones may.
// CHECK-LABEL: tt.func public @globalAtomic
// CHECK: tt.load
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: tt.atomic_rmw
// CHECK: ttng.fence_async_global
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: tt.load {{.*}}isVolatile = true
// CHECK-NEXT: ttng.fence_async_global
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
tt.func public @globalAtomic(%map: !tt.ptr<i8>, %p: !tt.ptr<i32>, %v: i32, %i: i32) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, mutable>
  %0 = tt.load %p : !tt.ptr<i32>
  ttng.async_tma_copy_global_to_local %map[%i] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  %1 = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  ttng.async_tma_copy_global_to_local %map[%i] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  %2 = tt.load %p isVolatile = true : !tt.ptr<i32>
  ttng.async_tma_copy_global_to_local %map[%i] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// A copy out of shared memory: one barrier is for both fences. A store at the end needs none.
// CHECK-LABEL: tt.func public @bothMemories
// CHECK: ttg.local_alloc
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.fence_async_global
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttng.async_tma_reduce
// CHECK-NEXT: tt.store
// CHECK-NEXT: tt.return
// ORDER-LABEL: tt.func public @bothMemories
// ORDER: ttng.fence_async_global
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttng.async_tma_reduce
tt.func public @bothMemories(%x: tensor<128xf32, #tile>, %map: !tt.ptr<i8>, %p: !tt.ptr<f32>, %v: f32, %i: i32) {
  tt.store %p, %v : !tt.ptr<f32>
  %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  ttng.async_tma_reduce add, %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line>
  tt.store %p, %v : !tt.ptr<f32>
  tt.return
}

// As in a kernel that computes tile after tile: the fence is once for each, not in the inner loop.
// CHECK-LABEL: tt.func public @globalLoops
// CHECK: scf.for
// CHECK-NEXT: ttng.fence_async_global
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: scf.for
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: }
// CHECK-NEXT: tt.store
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
tt.func public @globalLoops(%map: !tt.ptr<i8>, %p: !tt.ptr<f32>, %v: f32, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, mutable>
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      ttng.async_tma_copy_global_to_local %map[%i] %b, %bar : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<1xi64, #one, mutable>
    }
    tt.store %p, %v : !tt.ptr<f32>
  }
  tt.return
}

}

// -----

#acc = #ttg.layout<"{register: (0,1) (8,0); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (16,0) (32,0); block: } -> (dim0: 64, dim1: 8)">
#rows = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (1,0) (2,0) (4,0) (8,0); block: } -> (dim0: 16, dim1: 8)">
#a = #ttg.layout<"{register: (0,1) (8,0) (0,8); lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (16,0) (32,0); block: } -> (dim0: 64, dim1: 16)">
#b = #ttg.layout<"{register: ; lane: (0,1) (0,2) (0,4) (1,0) (2,0); warp: (4,0) (8,0); block: } -> (dim0: 16, dim1: 8)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// The matrix unit of a warp group reads buffers the same way.
// CHECK-LABEL: tt.func public @dot
// CHECK: ttg.local_alloc
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.warp_group_dot
// CHECK-NEXT: tt.return
// ORDER-LABEL: tt.func public @dot
// ORDER: ttng.fence_async_shared
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttng.warp_group_dot
tt.func public @dot(%a: tensor<64x16xf16, #a>, %b: tensor<16x8xf16, #b>, %c: tensor<64x8xf32, #acc>) {
  %m = ttg.local_alloc %b : (tensor<16x8xf16, #b>) -> !ttg.memdesc<16x8xf16, #rows>
  %0 = ttng.warp_group_dot %a, %m, %c {instrShape = array<i32: 64, 8, 16>} : tensor<64x16xf16, #a> * <16x8xf16, #rows> -> tensor<64x8xf32, #acc>
  tt.return
}

}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// Copies of threads write until they are waited for: a fence before that is none for what they write later.
// CHECK-LABEL: tt.func public @copies
// CHECK: ttg.async_commit_group
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// CHECK-NEXT: ttg.async_wait
// CHECK-NEXT: ttng.fence_async_shared
// CHECK-NEXT: ttng.async_tma_copy_local_to_global
// ORDER-LABEL: tt.func public @copies
tt.func public @copies(%a: tensor<128x!tt.ptr<f32>, #tile>, %x: tensor<128xf32, #tile>, %map: !tt.ptr<i8>, %i: i32) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %c = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %t = ttg.async_copy_global_to_local %a, %b : tensor<128x!tt.ptr<f32>, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  %g = ttg.async_commit_group tokens %t
  ttng.async_tma_copy_local_to_global %map[%i] %c : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line>
  %w = ttg.async_wait tokens %g {num = 0 : i32}
  ttng.async_tma_copy_local_to_global %map[%i] %b : !tt.ptr<i8>, !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

}
