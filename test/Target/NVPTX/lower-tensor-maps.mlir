// RUN: despina-opt %s --nvptx-lower-tensor-maps | FileCheck %s
// RUN: despina-opt %s --nvptx-lower-tensor-maps --nvptx-insert-fences --nvptx-allocate-shared-memory --nvptx-insert-barriers | FileCheck %s --check-prefix=ORDER
// RUN: despina-opt %s --nvptx-lower-tensor-maps | FileCheck %s --check-prefix=SCRATCH

#tile = #ttg.layout<"{register: (0,1) (0,2) (0,4); lane: (0,8) (0,16) (1,0) (2,0) (4,0); warp: (8,0) (0,0); block: } -> (dim0: 16, dim1: 32)">
// What a copy with a swizzle of 64 bytes makes of rows of 64 bytes.
// CHECK-DAG: #[[$SWIZZLED:.*]] = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,8) (4,16) (8,0); block:}
#swizzled = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,8) (4,16) (8,0); block: } -> (dim0: 16, dim1: 32)">
// CHECK-DAG: #[[$PLAIN:.*]] = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,0) (4,0) (8,0); block:}
#plain = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,0) (4,0) (8,0); block: } -> (dim0: 16, dim1: 32)">
#line = #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// 16 x 32 halves are 1024 bytes; the swizzle's pattern repeats every 512.
// CHECK-LABEL: tt.func public @load
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !tt.ptr<i8>, %[[Y:[a-z0-9]+]]: i32, %[[X:[a-z0-9]+]]: i32
// CHECK-NEXT: %[[BAR:.*]] = ttg.local_alloc {ttg.lasts} : () -> !ttg.memdesc<1xi64, #{{.*}}, mutable>
// CHECK-NEXT: ttng.init_barrier %[[BAR]], 1 :
// CHECK-NEXT: %[[BUF:.*]] = ttg.local_alloc {alignment = 512 : i32} : () -> !ttg.memdesc<16x32xf16, #[[$SWIZZLED]], mutable>
// CHECK-NEXT: ttng.barrier_expect %[[BAR]], 1024 :
// CHECK-NEXT: ttng.async_tma_copy_global_to_local %[[MAP]][%[[Y]], %[[X]]] %[[BUF]], %[[BAR]] :
// CHECK-NEXT: ttng.wait_barrier %[[BAR]] filled %[[BUF]] :
// CHECK-NEXT: %[[V:.*]] = ttg.local_load %[[BUF]]
// CHECK-NEXT: arith.addf %[[V]], %[[V]]
// CHECK-NEXT: tt.return
tt.func public @load(%map: !tt.ptr<i8>, %y: i32, %x: i32) {
  %0 = ttng.tma_load %map[%y, %x] : !tt.ptr<i8> -> tensor<16x32xf16, #tile>
  %1 = arith.addf %0, %0 : tensor<16x32xf16, #tile>
  tt.return
}

// One row has no swizzle.
// CHECK-LABEL: tt.func public @row
// CHECK: ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<128xi32,
// CHECK-NEXT: ttng.barrier_expect %{{.*}}, 512 :
tt.func public @row(%map: !tt.ptr<i8>, %x: i32) {
  %0 = ttng.tma_load %map[%x] : !tt.ptr<i8> -> tensor<128xi32, #line>
  %1 = arith.addi %0, %0 : tensor<128xi32, #line>
  tt.return
}

// A buffer of the layout that the copy makes is the copy's buffer: the tile is never in registers.
// CHECK-LABEL: tt.func public @intoBuffer
// CHECK: %[[BUF:.*]] = ttg.local_alloc {alignment = 512 : i32} : () -> !ttg.memdesc<16x32xf16, #[[$SWIZZLED]], mutable>
// CHECK-NEXT: ttng.barrier_expect
// CHECK-NEXT: ttng.async_tma_copy_global_to_local
// CHECK-NEXT: ttng.wait_barrier
// CHECK-NEXT: ttg.local_dealloc %[[BUF]]
// CHECK-NEXT: tt.return
tt.func public @intoBuffer(%map: !tt.ptr<i8>, %y: i32, %x: i32) {
  %0 = ttng.tma_load %map[%y, %x] : !tt.ptr<i8> -> tensor<16x32xf16, #tile>
  %1 = ttg.local_alloc %0 : (tensor<16x32xf16, #tile>) -> !ttg.memdesc<16x32xf16, #swizzled>
  ttg.local_dealloc %1 : !ttg.memdesc<16x32xf16, #swizzled>
  tt.return
}

// Also where the tile is read as well.
// CHECK-LABEL: tt.func public @both
// CHECK: %[[BUF:.*]] = ttg.local_alloc {alignment = 512 : i32} :
// CHECK: %[[V:.*]] = ttg.local_load %[[BUF]]
// CHECK-NOT: ttg.local_alloc
// CHECK: ttg.local_dealloc %[[BUF]]
// CHECK: arith.addf %[[V]], %[[V]]
tt.func public @both(%map: !tt.ptr<i8>, %y: i32, %x: i32) {
  %0 = ttng.tma_load %map[%y, %x] : !tt.ptr<i8> -> tensor<16x32xf16, #tile>
  %1 = ttg.local_alloc %0 : (tensor<16x32xf16, #tile>) -> !ttg.memdesc<16x32xf16, #swizzled>
  ttg.local_dealloc %1 : !ttg.memdesc<16x32xf16, #swizzled>
  %2 = arith.addf %0, %0 : tensor<16x32xf16, #tile>
  tt.return
}

// Another layout, or another block: the tile is read and written.
// CHECK-LABEL: tt.func public @intoOther
// CHECK: ttng.wait_barrier
// CHECK-NEXT: %[[V:.*]] = ttg.local_load
// CHECK-NEXT: ttg.local_alloc %[[V]] : {{.*}} -> !ttg.memdesc<16x32xf16, #[[$PLAIN]]>
// CHECK: scf.if
// CHECK-NEXT: ttg.local_alloc %[[V]] : {{.*}} -> !ttg.memdesc<16x32xf16, #[[$SWIZZLED]], mutable>
tt.func public @intoOther(%map: !tt.ptr<i8>, %y: i32, %x: i32, %c: i1) {
  %0 = ttng.tma_load %map[%y, %x] : !tt.ptr<i8> -> tensor<16x32xf16, #tile>
  %1 = ttg.local_alloc %0 : (tensor<16x32xf16, #tile>) -> !ttg.memdesc<16x32xf16, #plain>
  scf.if %c {
    %2 = ttg.local_alloc %0 : (tensor<16x32xf16, #tile>) -> !ttg.memdesc<16x32xf16, #swizzled, mutable>
  }
  tt.return
}

// Writes wait at once, so the buffer may be used again.
// CHECK-LABEL: tt.func public @writes
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !tt.ptr<i8>, %[[Y:[a-z0-9]+]]: i32, %[[X:[a-z0-9]+]]: i32, %[[V:[a-z0-9]+]]: tensor
// CHECK-NEXT: %[[A:.*]] = ttg.local_alloc %[[V]] {alignment = 512 : i32} : {{.*}} -> !ttg.memdesc<16x32xf16, #[[$SWIZZLED]], mutable>
// CHECK-NEXT: ttng.async_tma_copy_local_to_global %[[MAP]][%[[Y]], %[[X]]] %[[A]]
// CHECK-NEXT: ttng.async_tma_store_wait 0
// CHECK-NEXT: %[[B:.*]] = ttg.local_alloc %[[V]] {alignment = 512 : i32}
// CHECK-NEXT: ttng.async_tma_reduce max, %[[MAP]][%[[Y]], %[[X]]] %[[B]]
// CHECK-NEXT: ttng.async_tma_store_wait 0
// CHECK-NEXT: tt.return
// ORDER-LABEL: tt.func public @writes
// ORDER-NEXT: ttg.local_alloc %{{.*}}ttg.offset = 0 : i32
// ORDER-NEXT: ttng.fence_async_shared
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttng.async_tma_copy_local_to_global
// ORDER-NEXT: ttng.async_tma_store_wait 0
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttg.local_alloc %{{.*}}ttg.offset = 0 : i32
// ORDER-NEXT: ttng.fence_async_shared
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttng.async_tma_reduce
// ORDER-NEXT: ttng.async_tma_store_wait 0
// ORDER-NEXT: tt.return
tt.func public @writes(%map: !tt.ptr<i8>, %y: i32, %x: i32, %v: tensor<16x32xf16, #tile>) {
  ttng.tma_store %map[%y, %x], %v : !tt.ptr<i8>, tensor<16x32xf16, #tile>
  ttng.tma_reduce max, %map[%y, %x], %v : !tt.ptr<i8>, tensor<16x32xf16, #tile>
  tt.return
}

// The barriers of a loop are made before it, one for each load. They keep their bytes as long as the loop runs.
// CHECK-LABEL: tt.func public @loop
// CHECK-COUNT-2: ttng.init_barrier
// CHECK: scf.for
// CHECK-NOT: ttng.init_barrier
// CHECK: ttng.barrier_expect %[[A:.*]], 1024
// CHECK: ttng.wait_barrier %[[A]] filled
// CHECK-NOT: ttng.barrier_expect %[[A]], 1024
// CHECK: ttng.barrier_expect %[[B:.*]], 1024
// CHECK: ttng.wait_barrier %[[B]] filled
// CHECK: ttng.async_tma_copy_local_to_global
// The copy of the next iteration waits until all have read, and until the copy out of the same bytes is done.
// ORDER-LABEL: tt.func public @loop
// ORDER: %[[B:.*]] = ttg.local_alloc {ttg.lasts, ttg.offset = 1024 : i32} : () -> !ttg.memdesc<1xi64,
// ORDER: %[[A:.*]] = ttg.local_alloc {ttg.lasts, ttg.offset = 1040 : i32} : () -> !ttg.memdesc<1xi64,
// ORDER: scf.for
// ORDER-NEXT: ttg.local_alloc {alignment = 512 : i32, ttg.offset = 0 : i32}
// ORDER-NEXT: ttng.barrier_expect %[[A]]
// ORDER-NEXT: ttng.fence_async_shared
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttng.async_tma_copy_global_to_local
// ORDER: ttng.wait_barrier %[[A]]
// ORDER-NEXT: ttg.local_load
// ORDER-NEXT: ttg.local_alloc {alignment = 512 : i32, ttg.offset = 0 : i32}
// ORDER-NEXT: ttng.barrier_expect %[[B]]
// ORDER-NEXT: ttng.fence_async_shared
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttng.async_tma_copy_global_to_local
// ORDER: ttng.wait_barrier %[[B]]
// ORDER-NEXT: ttg.local_load
// ORDER-NEXT: arith.addf
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttg.local_alloc %{{.*}}ttg.offset = 0 : i32
// ORDER-NEXT: ttng.fence_async_shared
// ORDER-NEXT: tt.barrier
// ORDER-NEXT: ttng.async_tma_copy_local_to_global
// ORDER-NEXT: ttng.async_tma_store_wait 0
// ORDER-NEXT: }
tt.func public @loop(%map: !tt.ptr<i8>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = ttng.tma_load %map[%i, %c0] : !tt.ptr<i8> -> tensor<16x32xf16, #tile>
    %1 = ttng.tma_load %map[%c0, %i] : !tt.ptr<i8> -> tensor<16x32xf16, #tile>
    %2 = arith.addf %0, %1 : tensor<16x32xf16, #tile>
    ttng.tma_store %map[%i, %i], %2 : !tt.ptr<i8>, tensor<16x32xf16, #tile>
  }
  tt.return
}

// Each map that programs make has a place of its own. (The attribute of the module is checked by the last RUN line.)
// SCRATCH: module attributes {{.*}}ttg.global_scratch_memory_size = 256 : i32
// CHECK-LABEL: tt.func public @ownMaps
// CHECK: ttng.make_tensor_map {{.*}}, slot = 0 : i32,
// CHECK: scf.for
// CHECK-NEXT: ttng.make_tensor_map {{.*}}, slot = 1 : i32,
// A map is drafted in shared memory: 128 bytes, aligned.
// ORDER-LABEL: tt.func public @ownMaps
// ORDER: ttng.make_tensor_map {{.*}} ttg.offset = 0 : i32}
tt.func public @ownMaps(%p: !tt.ptr<f16>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = ttng.make_tensor_map %p, [%n], [] {box = array<i32: 64>, dataType = 6 : i32, elementBytes = 2 : i32, swizzleBytes = 0 : i32} : !tt.ptr<f16> -> !tt.ptr<i8>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %b = ttng.make_tensor_map %p, [%i], [] {box = array<i32: 64>, dataType = 6 : i32, elementBytes = 2 : i32, swizzleBytes = 0 : i32} : !tt.ptr<f16> -> !tt.ptr<i8>
    %0 = ttng.tma_load %b[%c0] : !tt.ptr<i8> -> tensor<128xf16, #line>
    ttng.tma_store %a[%c0], %0 : !tt.ptr<i8>, tensor<128xf16, #line>
  }
  tt.return
}

}
