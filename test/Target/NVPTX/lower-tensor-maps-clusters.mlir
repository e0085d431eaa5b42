// RUN: despina-opt %s --nvptx-lower-tensor-maps --nvptx-localize-blocks | FileCheck %s

// Two blocks share a tile of 32 x 32 halves: 16 rows of 64 bytes are a box.
#rows = #ttg.layout<"{register: (0,1) (0,2) (0,4) (8,0); lane: (0,8) (0,16) (1,0) (2,0) (4,0); warp: ; block: (16,0)} -> (dim0: 32, dim1: 32)">
#columns = #ttg.layout<"{register: (0,1) (0,2) (0,4) (0,8); lane: (1,0) (2,0) (4,0) (8,0) (16,0); warp: ; block: (0,16)} -> (dim0: 32, dim1: 32)">
#copies = #ttg.layout<"{register: (0,1) (0,2) (0,4) (8,0) (16,0); lane: (0,8) (0,16) (1,0) (2,0) (4,0); warp: ; block: (0,0)} -> (dim0: 32, dim1: 32)">
// CHECK-DAG: #[[$HALF:.*]] = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,8) (4,16) (8,0); block: (16,0)}
#half = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,8) (4,16) (8,0); block: (16,0)} -> (dim0: 32, dim1: 32)">
// CHECK-DAG: #[[$WHOLE:.*]] = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,8) (4,16) (8,0) (16,0); block: (0,0)}
#whole = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (0,16) (1,0) (2,8) (4,16) (8,0) (16,0); block: (0,0)} -> (dim0: 32, dim1: 32)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 2 : i32, ttg.target = "cuda:90"} {

// Each block waits for its half.
// CHECK-LABEL: tt.func public @load
// CHECK: %[[BUF:.*]] = ttg.local_alloc {alignment = 512 : i32} : () -> !ttg.memdesc<32x32xf16, #[[$HALF]], mutable>
// CHECK-NEXT: ttng.barrier_expect %{{.*}}, 1024 :
// CHECK: %[[V:.*]] = ttg.local_load %[[BUF]]
// CHECK-NEXT: arith.addf %[[V]], %[[V]]
tt.func public @load(%map: !tt.ptr<i8>, %y: i32, %x: i32) {
  %0 = ttng.tma_load %map[%y, %x] : !tt.ptr<i8> -> tensor<32x32xf16, #rows>
  %1 = arith.addf %0, %0 : tensor<32x32xf16, #rows>
  tt.return
}

// A factor that all blocks need is whole in each of them.
// CHECK-LABEL: tt.func public @into_buffer
// CHECK: %[[BUF:.*]] = ttg.local_alloc {alignment = 512 : i32} : () -> !ttg.memdesc<32x32xf16, #[[$WHOLE]], mutable>
// CHECK-NEXT: ttng.barrier_expect %{{.*}}, 2048 :
// CHECK: ttg.local_dealloc %[[BUF]]
tt.func public @into_buffer(%map: !tt.ptr<i8>, %y: i32, %x: i32) {
  %0 = ttng.tma_load %map[%y, %x] : !tt.ptr<i8> -> tensor<32x32xf16, #rows>
  %1 = ttg.local_alloc %0 : (tensor<32x32xf16, #rows>) -> !ttg.memdesc<32x32xf16, #whole>
  ttg.local_dealloc %1 : !ttg.memdesc<32x32xf16, #whole>
  tt.return
}

// 16 columns are half of a box: the tile is whole in each block, and what one has of it goes through all of them.
// CHECK-LABEL: tt.func public @columns
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<32x32xf16
// CHECK: %[[MOVED:.*]] = ttg.convert_layout %[[T]]
// CHECK-NEXT: ttg.local_alloc %[[MOVED]] {alignment = 512 : i32} : {{.*}} -> !ttg.memdesc<32x32xf16, #[[$WHOLE]], mutable>
tt.func public @columns(%map: !tt.ptr<i8>, %t: tensor<32x32xf16, #columns>, %y: i32, %x: i32) {
  ttng.tma_store %map[%y, %x], %t : !tt.ptr<i8>, tensor<32x32xf16, #columns>
  tt.return
}

// CHECK-LABEL: tt.func public @store_copies
// CHECK: ttg.local_alloc %{{.*}} {alignment = 512 : i32} : {{.*}} -> !ttg.memdesc<32x32xf16, #[[$WHOLE]], mutable>
tt.func public @store_copies(%map: !tt.ptr<i8>, %t: tensor<32x32xf16, #copies>, %y: i32, %x: i32) {
  ttng.tma_store %map[%y, %x], %t : !tt.ptr<i8>, tensor<32x32xf16, #copies>
  tt.return
}
}
