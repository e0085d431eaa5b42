// RUN: despina-opt %s | despina-opt | FileCheck %s

// CHECK-DAG: #[[$ROWS:.+]] = #ttg.layout<"{register: (0,1); lane: (0,2) (1,0) (2,0) (4,0) (8,0); warp: (16,0) (0,0); block:} -> (dim0: 32, dim1: 4)">
#rows = #ttg.layout<"{register: (0,1); lane: (0,2) (1,0) (2,0) (4,0) (8,0); warp: (16,0) (0,0); block: } -> (dim0: 32, dim1: 4)">
// CHECK-DAG: #[[$COLUMNS:.+]] = #ttg.layout<"{register: (1,0); lane: (2,0) (4,0) (8,0) (16,0) (0,1); warp: (0,2) (0,0); block:} -> (dim0: 32, dim1: 4)">
#columns = #ttg.layout<"{register: (1,0); lane: (2,0) (4,0) (8,0) (16,0) (0,1); warp: (0,2) (0,0); block: } -> (dim0: 32, dim1: 4)">
// CHECK-DAG: #[[$BUFFER:.+]] = #ttg.layout<"{offset: (0,1) (0,2) (1,0) (2,0) (4,0) (8,0) (16,0); block:} -> (dim0: 32, dim1: 4)">
#buffer = #ttg.layout<"{offset: (0,1) (0,2) (1,0) (2,0) (4,0) (8,0) (16,0); block: } -> (dim0: 32, dim1: 4)">
#turned = #ttg.layout<"{offset: (1,0) (2,0) (0,1) (0,2) (0,4) (0,8) (0,16); block: } -> (dim0: 4, dim1: 32)">
#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">

// CHECK: module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {

// CHECK-LABEL: @conversion
tt.func @conversion(%x: tensor<32x4xf32, #rows>) {
  // CHECK: ttg.convert_layout %{{.*}} : tensor<32x4xf32, #[[$ROWS]]> -> tensor<32x4xf32, #[[$COLUMNS]]>
  %0 = ttg.convert_layout %x : tensor<32x4xf32, #rows> -> tensor<32x4xf32, #columns>
  tt.return
}

// CHECK-LABEL: @buffers
tt.func @buffers(%x: tensor<32x4xf16, #rows>, %i: i32) {
  // CHECK: ttg.local_alloc %{{.*}} : (tensor<32x4xf16, #[[$ROWS]]>) -> !ttg.memdesc<32x4xf16, #[[$BUFFER]]>
  %0 = ttg.local_alloc %x : (tensor<32x4xf16, #rows>) -> !ttg.memdesc<32x4xf16, #buffer>
  // CHECK: ttg.local_alloc {alignment = 1024 : i32} : () -> !ttg.memdesc<3x32x4xf16, #[[$BUFFER]], mutable>
  %1 = ttg.local_alloc {alignment = 1024 : i32} : () -> !ttg.memdesc<3x32x4xf16, #buffer, mutable>
  // CHECK: ttg.local_load %{{.*}} : <32x4xf16, #[[$BUFFER]]> -> tensor<32x4xf16, #[[$COLUMNS]]>
  %2 = ttg.local_load %0 : !ttg.memdesc<32x4xf16, #buffer> -> tensor<32x4xf16, #columns>
  // CHECK: ttg.memdesc_index %{{.*}}[%{{.*}}] : <3x32x4xf16, #[[$BUFFER]], mutable> -> <32x4xf16, #[[$BUFFER]], mutable>
  %3 = ttg.memdesc_index %1[%i] : !ttg.memdesc<3x32x4xf16, #buffer, mutable> -> !ttg.memdesc<32x4xf16, #buffer, mutable>
  // CHECK: ttg.local_store %{{.*}}, %{{.*}} : tensor<32x4xf16, #[[$COLUMNS]]> -> <32x4xf16, #[[$BUFFER]], mutable>
  ttg.local_store %2, %3 : tensor<32x4xf16, #columns> -> !ttg.memdesc<32x4xf16, #buffer, mutable>
  // CHECK: ttg.memdesc_subslice %{{.*}} [16, 2] : <32x4xf16, #[[$BUFFER]], mutable> -> <16x2xf16, #[[$BUFFER]], mutable, 32x4>
  %4 = ttg.memdesc_subslice %3 [16, 2] : !ttg.memdesc<32x4xf16, #buffer, mutable> -> !ttg.memdesc<16x2xf16, #buffer, mutable, 32x4>
  // CHECK: ttg.memdesc_trans %{{.*}} [1, 0] : <32x4xf16, #[[$BUFFER]], mutable> -> <4x32xf16, #{{.*}}, mutable>
  %5 = ttg.memdesc_trans %3 [1, 0] : !ttg.memdesc<32x4xf16, #buffer, mutable> -> !ttg.memdesc<4x32xf16, #turned, mutable>
  // CHECK: ttg.memdesc_reshape %{{.*}} : <32x4xf16, #[[$BUFFER]], mutable> -> <128xf16, #{{.*}}, mutable>
  %6 = ttg.memdesc_reshape %3 : !ttg.memdesc<32x4xf16, #buffer, mutable> -> !ttg.memdesc<128xf16, #line, mutable>
  // CHECK: ttg.local_dealloc %{{.*}} : <3x32x4xf16, #[[$BUFFER]], mutable>
  ttg.local_dealloc %1 : !ttg.memdesc<3x32x4xf16, #buffer, mutable>
  tt.return
}

// CHECK-LABEL: @copies
tt.func @copies(%p: tensor<32x4x!tt.ptr<f16>, #rows>, %m: tensor<32x4xi1, #rows>, %o: tensor<32x4xf16, #rows>) {
  %0 = ttg.local_alloc : () -> !ttg.memdesc<32x4xf16, #buffer, mutable>
  // CHECK: ttg.async_copy_global_to_local %{{.*}}, %{{.*}} : tensor<32x4x!tt.ptr<f16>, #[[$ROWS]]> -> <32x4xf16, #[[$BUFFER]], mutable>
  %1 = ttg.async_copy_global_to_local %p, %0 : tensor<32x4x!tt.ptr<f16>, #rows> -> !ttg.memdesc<32x4xf16, #buffer, mutable>
  // CHECK: ttg.async_copy_global_to_local %{{.*}}, %{{.*}} mask %{{.*}} other %{{.*}} : tensor<32x4x!tt.ptr<f16>, #[[$ROWS]]> -> <32x4xf16, #[[$BUFFER]], mutable>, tensor<32x4xi1, #[[$ROWS]]>, tensor<32x4xf16, #[[$ROWS]]>
  %2 = ttg.async_copy_global_to_local %p, %0 mask %m other %o : tensor<32x4x!tt.ptr<f16>, #rows> -> !ttg.memdesc<32x4xf16, #buffer, mutable>, tensor<32x4xi1, #rows>, tensor<32x4xf16, #rows>
  // CHECK: ttg.async_commit_group tokens %{{.*}}, %{{.*}}
  %3 = ttg.async_commit_group tokens %1, %2
  // CHECK: ttg.async_wait tokens %{{.*}} {num = 0 : i32}
  %4 = ttg.async_wait tokens %3 {num = 0 : i32}
  // CHECK: ttg.local_load %{{.*}} token %{{.*}} : <32x4xf16, #[[$BUFFER]], mutable> -> tensor<32x4xf16, #[[$ROWS]]>
  %5 = ttg.local_load %0 token %4 : !ttg.memdesc<32x4xf16, #buffer, mutable> -> tensor<32x4xf16, #rows>
  // CHECK: ttg.async_commit_group
  %6 = ttg.async_commit_group
  // CHECK: ttg.async_wait {num = 2 : i32}
  %7 = ttg.async_wait {num = 2 : i32}
  tt.return
}

// CHECK-LABEL: @threads
tt.func @threads(%x: i32) {
  // CHECK: ttg.warp_barrier
  ttg.warp_barrier
  // CHECK: ttg.warp_id
  %0 = ttg.warp_id
  // CHECK: ttg.warp_specialize(%{{.*}}) attributes {requestedRegisters = array<i32: 24>} default {
  // CHECK:   ttg.warp_yield %{{.*}} : i32
  // CHECK: partition(%{{.*}}: i32) num_warps(2) {
  // CHECK:   ttg.warp_return
  // CHECK: } : (i32) -> i32
  %1 = ttg.warp_specialize(%x) attributes {requestedRegisters = array<i32: 24>} default {
    ttg.warp_yield %0 : i32
  }
  partition(%y: i32) num_warps(2) {
    ttg.warp_return
  } : (i32) -> i32
  tt.return
}

}
