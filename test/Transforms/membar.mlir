// RUN: despina-opt %s --split-input-file --nvptx-allocate-shared-memory --nvptx-insert-barriers | FileCheck %s

// `#line` is 512 bytes of f32 in memory; `#tile` and `#turned` have one element for each of 128 threads.

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">
#turned = #ttg.layout<"{register: ; lane: (4) (8) (16) (32) (64); warp: (1) (2); block: } -> (dim0: 128)">
#half = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (0); block: } -> (dim0: 64)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// A read waits for a write, also for that of an allocation with a tile. Two reads do not wait for each other.
// CHECK-LABEL: tt.func public @readAfterWrite
// CHECK: ttg.local_alloc %
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @readAfterWrite(%x: tensor<128xf32, #tile>) {
  %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  %1 = ttg.local_load %b : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #turned>
  tt.return
}

// CHECK-LABEL: tt.func public @writeAfterRead
// CHECK: ttg.local_alloc {
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: tt.return
tt.func public @writeAfterRead(%x: tensor<128xf32, #tile>) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// CHECK-LABEL: tt.func public @writeAfterWrite
// CHECK: ttg.local_store
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: tt.return
tt.func public @writeAfterWrite(%x: tensor<128xf32, #tile>, %y: tensor<128xf32, #turned>) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %y, %b : tensor<128xf32, #turned> -> !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// A barrier that is there counts; it counts for what came before it only.
// CHECK-LABEL: tt.func public @givenBarrier
// CHECK: ttg.local_store
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: tt.return
tt.func public @givenBarrier(%x: tensor<128xf32, #tile>) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  tt.barrier
  %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// Buffers that live side by side have no byte in common: one barrier is for both.
// CHECK-LABEL: tt.func public @disjoint
// CHECK: ttg.local_store
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @disjoint(%x: tensor<128xf32, #tile>) {
  %a = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %x, %a : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  %0 = ttg.local_load %a : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  %1 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  tt.return
}

// Another buffer in the bytes of one that is dead: its first write waits for the last read.
// CHECK-LABEL: tt.func public @reused
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 0 : i32}
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: %[[Y:.*]] = ttg.local_load
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_alloc %[[Y]] {ttg.offset = 0 : i32}
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @reused(%x: tensor<128xf32, #tile>) {
  %a = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %y = ttg.local_load %a : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #turned>
  %b = ttg.local_alloc %y : (tensor<128xf32, #turned>) -> !ttg.memdesc<128xf32, #line>
  %z = ttg.local_load %b : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  tt.return
}

// A view is its buffer. Which slice of a ring it is does not count.
// CHECK-LABEL: tt.func public @views
// CHECK: ttg.local_store
// CHECK-NEXT: ttg.memdesc_subslice
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @views(%x: tensor<128xf32, #tile>, %i: i32) {
  %ring = ttg.local_alloc : () -> !ttg.memdesc<2x128xf32, #line, mutable>
  %a = ttg.memdesc_index %ring[%i] : !ttg.memdesc<2x128xf32, #line, mutable> -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %x, %a : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  %b = ttg.memdesc_subslice %a [64] : !ttg.memdesc<128xf32, #line, mutable> -> !ttg.memdesc<64xf32, #line, mutable, 128>
  %0 = ttg.local_load %b : !ttg.memdesc<64xf32, #line, mutable, 128> -> tensor<64xf32, #half>
  tt.return
}

}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// The write of an iteration waits for the read of the one before; nothing waits before the loop.
// CHECK-LABEL: tt.func public @loopCarried
// CHECK: ttg.local_alloc {
// CHECK-NEXT: scf.for
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: }
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: tt.return
tt.func public @loopCarried(%x: tensor<128xf32, #tile>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  scf.for %i = %c0 to %n step %c1 : i32 {
    ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
    %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  }
  ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// Only reads in the loop: they wait for the write before it, in the loop, since that is where the first one is.
// What follows waits for the last read; the loop may have had no iteration, so it waits for the write as well.
// CHECK-LABEL: tt.func public @readsInLoop
// CHECK: ttg.local_store
// CHECK-NEXT: scf.for
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: }
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @readsInLoop(%x: tensor<128xf32, #tile>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  }
  %1 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  tt.return
}

// Through an inner loop: its first write waits for the read at the end of the outer one.
// CHECK-LABEL: tt.func public @nested
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: }
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
tt.func public @nested(%x: tensor<128xf32, #tile>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
    }
    %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  }
  tt.return
}

// Buffers that change places around a loop: each argument may be either. The read of one waits for the write of
// the other, though they are apart in the first iteration.
// CHECK-LABEL: tt.func public @swapped
// CHECK: scf.for
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: scf.yield
// CHECK: tt.return
tt.func public @swapped(%x: tensor<128xf32, #tile>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (!ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<128xf32, #line, mutable>) : i32 {
    ttg.local_store %x, %p : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
    %0 = ttg.local_load %q : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
    scf.yield %q, %p : !ttg.memdesc<128xf32, #line, mutable>, !ttg.memdesc<128xf32, #line, mutable>
  }
  tt.return
}

// One branch has waited, the other has not: what follows waits. A write of a branch is known behind it.
// CHECK-LABEL: tt.func public @branches
// CHECK: ttg.local_store
// CHECK-NEXT: scf.if
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: } else {
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: }
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @branches(%x: tensor<128xf32, #tile>, %c: i1) {
  %a = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %x, %a : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  scf.if %c {
    %0 = ttg.local_load %a : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  } else {
    ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  }
  %1 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  %2 = ttg.local_load %a : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  tt.return
}

// No else: what was pending before is so behind, whatever the one branch has waited for.
// CHECK-LABEL: tt.func public @oneBranch
// CHECK: ttg.local_store
// CHECK-NEXT: scf.if
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: }
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @oneBranch(%x: tensor<128xf32, #tile>, %c: i1) {
  %a = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %x, %a : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  scf.if %c {
    tt.barrier
  }
  %0 = ttg.local_load %a : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  tt.return
}

// Both branches have waited and read: the read behind them has nothing to wait for.
// CHECK-LABEL: tt.func public @bothBranches
// CHECK: } else {
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: }
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @bothBranches(%x: tensor<128xf32, #tile>, %c: i1) {
  %a = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %x, %a : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  scf.if %c {
    %0 = ttg.local_load %a : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  } else {
    tt.barrier
  }
  %1 = ttg.local_load %a : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  tt.return
}

// A buffer that a branch chooses may be either.
// CHECK-LABEL: tt.func public @chosen
// CHECK: ttg.local_store
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @chosen(%x: tensor<128xf32, #tile>, %c: i1) {
  %a = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  %p = scf.if %c -> !ttg.memdesc<128xf32, #line, mutable> {
    scf.yield %a : !ttg.memdesc<128xf32, #line, mutable>
  } else {
    scf.yield %b : !ttg.memdesc<128xf32, #line, mutable>
  }
  %0 = ttg.local_load %p : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  tt.return
}

// The condition is read after the body's write, and the body's write comes after the condition's read. It ends
// behind the condition: the read after the loop has nothing to wait for.
// CHECK-LABEL: tt.func public @while
// CHECK: scf.while
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: scf.condition
// CHECK-NEXT: } do {
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: tt.return
tt.func public @while(%x: tensor<128xf32, #tile>, %c: i1) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  scf.while : () -> () {
    %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
    scf.condition(%c)
  } do {
    ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
    scf.yield
  }
  %1 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  ttg.local_store %x, %b : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">
#turned = #ttg.layout<"{register: ; lane: (4) (8) (16) (32) (64); warp: (1) (2); block: } -> (dim0: 128)">
#lanes = #ttg.layout<"{register: ; lane: (2) (1) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// A conversion across warps writes its scratch memory and reads it. The first waits for nobody (its own barrier is
// inside); the next in the same bytes waits for the reads of the one before.
// CHECK-LABEL: tt.func public @scratch
// CHECK-NEXT: ttg.convert_layout %{{.*}} {ttg.offset = 0 : i32}
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.convert_layout %{{.*}} {ttg.offset = 0 : i32}
// CHECK-NEXT: tt.return
tt.func public @scratch(%x: tensor<128xf32, #tile>) {
  %0 = ttg.convert_layout %x : tensor<128xf32, #tile> -> tensor<128xf32, #turned>
  %1 = ttg.convert_layout %0 : tensor<128xf32, #turned> -> tensor<128xf32, #tile>
  tt.return
}

// Around a loop as well.
// CHECK-LABEL: tt.func public @scratchInLoop
// CHECK: scf.for
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.convert_layout{{.*$}}
// CHECK-NEXT: }
// CHECK-NEXT: tt.return
tt.func public @scratchInLoop(%x: tensor<128xf32, #tile>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = ttg.convert_layout %x : tensor<128xf32, #tile> -> tensor<128xf32, #turned>
  }
  tt.return
}

// A conversion in a warp takes no memory.
// CHECK-LABEL: tt.func public @noScratch
// CHECK-NOT: tt.barrier
// CHECK-NOT: ttg.offset
// CHECK: tt.return
tt.func public @noScratch(%x: tensor<128xf32, #tile>) {
  %0 = ttg.convert_layout %x : tensor<128xf32, #tile> -> tensor<128xf32, #lanes>
  %1 = ttg.convert_layout %0 : tensor<128xf32, #lanes> -> tensor<128xf32, #tile>
  tt.return
}

// A buffer that is in use keeps its bytes, so the conversion waits for nobody; nor does it stand for a barrier:
// the read behind it waits for the write before it.
// CHECK-LABEL: tt.func public @scratchIsNoBarrier
// CHECK: ttg.local_alloc %
// CHECK-NEXT: ttg.convert_layout
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @scratchIsNoBarrier(%x: tensor<128xf32, #tile>) {
  %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %0 = ttg.convert_layout %x : tensor<128xf32, #tile> -> tensor<128xf32, #turned>
  %1 = ttg.local_load %b : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  tt.return
}

// The bytes of a buffer that is dead: the conversion waits for its last read.
// CHECK-LABEL: tt.func public @scratchAfterBuffer
// CHECK: ttg.local_load
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.convert_layout %{{.*}} {ttg.offset = 0 : i32}
// CHECK-NEXT: tt.return
tt.func public @scratchAfterBuffer(%x: tensor<128xf32, #tile>) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  %1 = ttg.convert_layout %0 : tensor<128xf32, #tile> -> tensor<128xf32, #turned>
  tt.return
}

// Every reduction across warps takes scratch memory; its region is no part of the walk.
// CHECK-LABEL: tt.func public @reductions
// CHECK-NEXT: tt.reduce
// CHECK: } : (tensor
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: tt.reduce
// CHECK-NOT: tt.barrier
// CHECK: tt.return
tt.func public @reductions(%x: tensor<128xf32, #tile>, %y: tensor<128xf32, #tile>) {
  %0 = tt.reduce(%x) attributes {axis = 0 : i32} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  } : (tensor<128xf32, #tile>) -> f32
  %1 = tt.reduce(%y) attributes {axis = 0 : i32} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  } : (tensor<128xf32, #tile>) -> f32
  tt.return
}

// A thread waits for its own copies, the barrier behind is for those of the others. Copies are writes: they wait
// for reads of the bytes.
// CHECK-LABEL: tt.func public @copies
// CHECK: ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_commit_group
// CHECK-NEXT: ttg.async_wait
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_wait
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: tt.return
tt.func public @copies(%p: tensor<128x!tt.ptr<f32>, #tile>) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %0 = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  %1 = ttg.async_commit_group tokens %0
  %2 = ttg.async_wait tokens %1 {num = 0 : i32}
  %3 = ttg.local_load %b token %2 : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  %4 = ttg.async_copy_global_to_local %p, %b : tensor<128x!tt.ptr<f32>, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  %5 = ttg.async_wait tokens %4 {num = 0 : i32}
  // One that is there is enough.
  tt.barrier
  tt.return
}

}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// Behind a wait for copies comes a barrier, one only: each thread waits for its own. The copy of the next
// round waits for the read.
// CHECK-LABEL: tt.func public @copiesInLoop
// CHECK: ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_commit_group
// CHECK-NEXT: scf.for
// CHECK-NEXT: ttg.async_wait
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_commit_group
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: ttg.async_wait
// CHECK-NEXT: tt.barrier
// CHECK-NEXT: tt.return
tt.func public @copiesInLoop(%a: tensor<128x!tt.ptr<f32>, #tile>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %t = ttg.async_copy_global_to_local %a, %b : tensor<128x!tt.ptr<f32>, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  %g = ttg.async_commit_group tokens %t
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %g) -> (!ttg.token) : i32 {
    %w = ttg.async_wait tokens %before {num = 0 : i32}
    %0 = ttg.local_load %b token %w : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
    %t2 = ttg.async_copy_global_to_local %a, %b : tensor<128x!tt.ptr<f32>, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
    %g2 = ttg.async_commit_group tokens %t2
    scf.yield %g2 : !ttg.token
  }
  %w = ttg.async_wait tokens %last {num = 0 : i32}
  tt.return
}

}
