// RUN: despina-opt %s --split-input-file --nvptx-allocate-shared-memory | FileCheck %s

// `#line` is 512 bytes of f32 in memory, `#short` 128.

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#short = #ttg.layout<"{offset: (1) (2) (4) (8) (16); block: } -> (dim0: 32)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">

// The module has room for the function that needs most.
// CHECK: module attributes {{.*}}ttg.shared = 1152 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// In use side by side: one behind the other.
// CHECK-LABEL: tt.func public @sideBySide
// CHECK: ttg.local_alloc {ttg.offset = 0 : i32} : () -> !ttg.memdesc<128xf32,
// CHECK: ttg.local_alloc {ttg.offset = 512 : i32} : () -> !ttg.memdesc<32xf32,
// CHECK: ttg.local_alloc {ttg.offset = 640 : i32} : () -> !ttg.memdesc<128xf32,
tt.func public @sideBySide() {
  %a = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<32xf32, #short, mutable>
  %c = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_dealloc %a : !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_dealloc %b : !ttg.memdesc<32xf32, #short, mutable>
  ttg.local_dealloc %c : !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// What is to last keeps its bytes when it is not used any more, but what was before may have had them.
// CHECK-LABEL: tt.func public @lasting
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 0 : i32}
// CHECK: ttg.local_alloc {ttg.lasts, ttg.offset = 0 : i32}
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 128 : i32}
tt.func public @lasting(%x: tensor<128xf32, #tile>) {
  %a = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %0 = ttg.local_load %a : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  %kept = ttg.local_alloc {ttg.lasts} : () -> !ttg.memdesc<32xf32, #short, mutable>
  ttg.local_dealloc %kept : !ttg.memdesc<32xf32, #short, mutable>
  %b = ttg.local_alloc %0 : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %1 = ttg.local_load %b : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  tt.return
}

// The bytes of one that is dead are taken; the one that is in use all the time keeps its own.
// CHECK-LABEL: tt.func public @reused
// CHECK: ttg.local_alloc {ttg.offset = 0 : i32} : () -> !ttg.memdesc<32xf32,
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 128 : i32}
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 128 : i32}
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 128 : i32}
// CHECK: tt.return
tt.func public @reused(%x: tensor<128xf32, #tile>) {
  %long = ttg.local_alloc : () -> !ttg.memdesc<32xf32, #short, mutable>
  %a = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %0 = ttg.local_load %a : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  %b = ttg.local_alloc %0 : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %1 = ttg.local_load %b : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  %c = ttg.local_alloc %1 : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %2 = ttg.local_load %c : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  ttg.local_dealloc %long : !ttg.memdesc<32xf32, #short, mutable>
  tt.return
}

// A buffer that nobody uses is in use where it is made.
// CHECK-LABEL: tt.func public @unused
// CHECK: ttg.local_alloc {ttg.offset = 512 : i32} : () -> !ttg.memdesc<32xf32,
tt.func public @unused(%x: tensor<128xf32, #tile>) {
  %a = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %b = ttg.local_alloc : () -> !ttg.memdesc<32xf32, #short, mutable>
  %0 = ttg.local_load %a : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  tt.return
}

}

// -----

#memory = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (1,0) (2,0) (4,0) (8,0); block: } -> (dim0: 16, dim1: 8)">
#turned = #ttg.layout<"{offset: (1,0) (2,0) (4,0) (0,1) (0,2) (0,4) (0,8); block: } -> (dim0: 8, dim1: 16)">
#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#part = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (0); block: } -> (dim0: 64)">

// A ring of 3 slices of 512 bytes and a buffer of 512 bytes.
// CHECK: module attributes {{.*}}ttg.shared = 2048 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// A buffer lives until the last use of a view of a view of it.
// CHECK-LABEL: tt.func public @views
// CHECK: ttg.local_alloc {ttg.offset = 0 : i32} : () -> !ttg.memdesc<3x16x8xf32,
// CHECK: ttg.local_alloc {ttg.offset = 1536 : i32} : () -> !ttg.memdesc<128xf32,
// CHECK: ttg.local_load
// CHECK: ttg.local_alloc {ttg.offset = 0 : i32} : () -> !ttg.memdesc<128xf32,
tt.func public @views(%i: i32) {
  %ring = ttg.local_alloc : () -> !ttg.memdesc<3x16x8xf32, #memory, mutable>
  %slice = ttg.memdesc_index %ring[%i] : !ttg.memdesc<3x16x8xf32, #memory, mutable> -> !ttg.memdesc<16x8xf32, #memory, mutable>
  %flat = ttg.memdesc_reshape %slice : !ttg.memdesc<16x8xf32, #memory, mutable> -> !ttg.memdesc<128xf32, #line, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %half = ttg.memdesc_subslice %flat [64] : !ttg.memdesc<128xf32, #line, mutable> -> !ttg.memdesc<64xf32, #line, mutable, 128>
  %0 = ttg.local_load %half : !ttg.memdesc<64xf32, #line, mutable, 128> -> tensor<64xf32, #part>
  %c = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// CHECK-LABEL: tt.func public @transposed
// CHECK: ttg.local_alloc {ttg.offset = 0 : i32}
// CHECK: ttg.local_alloc {ttg.offset = 512 : i32}
tt.func public @transposed() {
  %a = ttg.local_alloc : () -> !ttg.memdesc<16x8xf32, #memory, mutable>
  %t = ttg.memdesc_trans %a [1, 0] : !ttg.memdesc<16x8xf32, #memory, mutable> -> !ttg.memdesc<8x16xf32, #turned, mutable>
  %b = ttg.local_alloc : () -> !ttg.memdesc<16x8xf32, #memory, mutable>
  ttg.local_dealloc %t : !ttg.memdesc<8x16xf32, #turned, mutable>
  tt.return
}

}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">

// CHECK: module attributes {{.*}}ttg.shared = 1024 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// What a loop reads from outside is read again in its next iteration: no buffer in the loop may take the bytes,
// also behind the read. Buffers in the loop share theirs. Behind the loop all bytes are free.
// CHECK-LABEL: tt.func public @loop
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 0 : i32}
// CHECK: scf.for
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 512 : i32}
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 512 : i32}
// CHECK: ttg.local_alloc {ttg.offset = 0 : i32}
tt.func public @loop(%x: tensor<128xf32, #tile>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %outer = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = ttg.local_load %outer : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
    %a = ttg.local_alloc %0 : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
    %1 = ttg.local_load %a : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
    %b = ttg.local_alloc %1 : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
    %2 = ttg.local_load %b : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  }
  %c = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

// What is carried around a loop is in use all the time, also before its first read and behind its last. The loop's
// result is that buffer.
// CHECK-LABEL: tt.func public @carried
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 0 : i32}
// CHECK: scf.for
// CHECK-NEXT: ttg.local_alloc %{{.*}} {ttg.offset = 512 : i32}
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 512 : i32}
// CHECK: }
// CHECK-NEXT: ttg.local_alloc %{{.*}} {ttg.offset = 512 : i32}
// CHECK-NEXT: ttg.local_dealloc
// CHECK-NEXT: ttg.local_alloc %{{.*}} {ttg.offset = 0 : i32}
tt.func public @carried(%x: tensor<128xf32, #tile>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (!ttg.memdesc<128xf32, #line>) : i32 {
    %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
    %0 = ttg.local_load %p : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
    %c = ttg.local_alloc %0 : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
    scf.yield %p : !ttg.memdesc<128xf32, #line>
  }
  %d = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  ttg.local_dealloc %r : !ttg.memdesc<128xf32, #line>
  %e = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  tt.return
}

// Only one of the branches runs: they share. What both read is apart from both.
// CHECK-LABEL: tt.func public @branches
// CHECK: ttg.local_alloc {ttg.offset = 0 : i32}
// CHECK: scf.if
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 512 : i32}
// CHECK: } else {
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 512 : i32}
tt.func public @branches(%x: tensor<128xf32, #tile>, %c: i1) {
  %a = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  scf.if %c {
    %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
    %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  } else {
    %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
    %0 = ttg.local_load %b : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  }
  %1 = ttg.local_load %a : !ttg.memdesc<128xf32, #line, mutable> -> tensor<128xf32, #tile>
  tt.return
}

}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">
#turned = #ttg.layout<"{register: ; lane: (4) (8) (16) (32) (64); warp: (1) (2); block: } -> (dim0: 128)">

// The small one does not push the aligned one to 1024: it comes behind it.
// CHECK: module attributes {{.*}}ttg.shared = 520 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// CHECK-LABEL: tt.func public @aligned
// CHECK: ttg.local_alloc {ttg.offset = 512 : i32} : () -> !ttg.memdesc<1xi64,
// CHECK: ttg.local_alloc {alignment = 1024 : i32, ttg.offset = 0 : i32}
tt.func public @aligned() {
  %a = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, mutable>
  %b = ttg.local_alloc {alignment = 1024 : i32} : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_dealloc %a : !ttg.memdesc<1xi64, #one, mutable>
  ttg.local_dealloc %b : !ttg.memdesc<128xf32, #line, mutable>
  tt.return
}

}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">

// Two aligned ones must lie apart. Everything starts at a multiple of 16.
// CHECK: module attributes {{.*}}ttg.shared = 1536 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// CHECK-LABEL: tt.func public @apart
// CHECK-DAG: ttg.local_alloc {alignment = 1024 : i32, ttg.offset = 0 : i32}
// CHECK-DAG: ttg.local_alloc {alignment = 1024 : i32, ttg.offset = 1024 : i32}
// CHECK-DAG: ttg.local_alloc {ttg.offset = 512 : i32} : () -> !ttg.memdesc<1xi64,
// CHECK-DAG: ttg.local_alloc {alignment = 8 : i32, ttg.offset = 528 : i32} : () -> !ttg.memdesc<1xi64,
tt.func public @apart() {
  %a = ttg.local_alloc {alignment = 1024 : i32} : () -> !ttg.memdesc<128xf32, #line, mutable>
  %b = ttg.local_alloc {alignment = 1024 : i32} : () -> !ttg.memdesc<128xf32, #line, mutable>
  %c = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #one, mutable>
  %d = ttg.local_alloc {alignment = 8 : i32} : () -> !ttg.memdesc<1xi64, #one, mutable>
  ttg.local_dealloc %a : !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_dealloc %b : !ttg.memdesc<128xf32, #line, mutable>
  ttg.local_dealloc %c : !ttg.memdesc<1xi64, #one, mutable>
  ttg.local_dealloc %d : !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">
#turned = #ttg.layout<"{register: ; lane: (4) (8) (16) (32) (64); warp: (1) (2); block: } -> (dim0: 128)">
#lanes = #ttg.layout<"{register: ; lane: (2) (1) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">

// CHECK: module attributes {{.*}}ttg.shared = 1024 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// Scratch memory is in use during its operation only: apart from what lives across it, the same as what is dead.
// A conversion in a warp needs none.
// CHECK-LABEL: tt.func public @scratch
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 0 : i32}
// CHECK: ttg.convert_layout %{{.*}} {ttg.offset = 512 : i32}
// CHECK: ttg.convert_layout %{{.*}} {ttg.offset = 512 : i32}
// CHECK-NEXT: ttg.convert_layout %{{[0-9a-z]+}} :
// CHECK: ttg.local_load
// CHECK: ttg.convert_layout %{{.*}} {ttg.offset = 0 : i32}
tt.func public @scratch(%x: tensor<128xf32, #tile>) {
  %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %0 = ttg.convert_layout %x : tensor<128xf32, #tile> -> tensor<128xf32, #turned>
  %1 = ttg.convert_layout %0 : tensor<128xf32, #turned> -> tensor<128xf32, #tile>
  %2 = ttg.convert_layout %1 : tensor<128xf32, #tile> -> tensor<128xf32, #lanes>
  %3 = ttg.local_load %b : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #turned>
  %4 = ttg.convert_layout %3 : tensor<128xf32, #turned> -> tensor<128xf32, #tile>
  tt.return
}

}

// -----

// CHECK: module attributes {{.*}}ttg.shared = 0 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK-LABEL: tt.func public @none
// CHECK-NOT: ttg.offset
// CHECK: tt.return
tt.func public @none(%p: !tt.ptr<f32>) {
  %0 = tt.load %p : !tt.ptr<f32>
  tt.return
}
}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// A buffer that a branch hands on lives until the last use of the result: the third is apart from both.
// CHECK-LABEL: tt.func public @handedOn
// CHECK: scf.if
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = [[THEN:[0-9]+]] : i32}
// CHECK: } else {
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = [[ELSE:[0-9]+]] : i32}
// CHECK: }
// CHECK-NOT: ttg.offset = [[THEN]] : i32
// CHECK-NOT: ttg.offset = [[ELSE]] : i32
// CHECK: ttg.local_dealloc
tt.func public @handedOn(%x: tensor<128xf32, #tile>, %c: i1) {
  %p = scf.if %c -> !ttg.memdesc<128xf32, #line> {
    %a = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
    scf.yield %a : !ttg.memdesc<128xf32, #line>
  } else {
    %a = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
    scf.yield %a : !ttg.memdesc<128xf32, #line>
  }
  %b = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  ttg.local_dealloc %p : !ttg.memdesc<128xf32, #line>
  tt.return
}

}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">

// Partitions run at the same time as the first region: all buffers in them are apart.
// CHECK: module attributes {{.*}}ttg.shared = 1536 : i32
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// CHECK-LABEL: tt.func public @partitions
// CHECK-DAG: {ttg.offset = 0 : i32}
// CHECK-DAG: {ttg.offset = 512 : i32}
// CHECK-DAG: {ttg.offset = 1024 : i32}
// CHECK: tt.return
tt.func public @partitions() {
  %c = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  ttg.warp_specialize(%c) default {
    %a = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
    ttg.warp_yield
  }
  partition(%p: !ttg.memdesc<128xf32, #line, mutable>) num_warps(2) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
    ttg.warp_return
  } : (!ttg.memdesc<128xf32, #line, mutable>) -> ()
  tt.return
}

}

// -----

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
#tile = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// A buffer that copies may still write is not given to another: it lives until they are waited for.
// CHECK-LABEL: tt.func public @underway
// CHECK: ttg.local_alloc {ttg.offset = 0 : i32}
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 512 : i32}
// CHECK: ttg.async_wait
// CHECK: ttg.local_alloc %{{.*}} {ttg.offset = 0 : i32}
tt.func public @underway(%a: tensor<128x!tt.ptr<f32>, #tile>, %x: tensor<128xf32, #tile>) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<128xf32, #line, mutable>
  %t = ttg.async_copy_global_to_local %a, %b : tensor<128x!tt.ptr<f32>, #tile> -> !ttg.memdesc<128xf32, #line, mutable>
  %g = ttg.async_commit_group tokens %t
  %c = ttg.local_alloc %x : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  %0 = ttg.local_load %c : !ttg.memdesc<128xf32, #line> -> tensor<128xf32, #tile>
  %w = ttg.async_wait tokens %g {num = 0 : i32}
  %d = ttg.local_alloc %0 : (tensor<128xf32, #tile>) -> !ttg.memdesc<128xf32, #line>
  tt.return
}

}
