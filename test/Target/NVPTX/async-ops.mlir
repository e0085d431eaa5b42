// RUN: despina-opt %s | despina-opt | FileCheck %s

#one = #ttg.layout<"{offset: ; block: } -> (dim0: 1)">
#rows = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (1,0) (2,0) (4,0) (8,0); block: } -> (dim0: 16, dim1: 8)">
#tile = #ttg.layout<"{register: ; lane: (0,1) (0,2) (0,4) (1,0) (2,0); warp: (4,0) (8,0); block: } -> (dim0: 16, dim1: 8)">

module attributes {"ttg.num-warps" = 4 : i32} {

// CHECK-LABEL: tt.func @barriers
// CHECK-SAME: %[[BAR:.*]]: !ttg.memdesc<1xi64, #[[$ONE:.*]], mutable>, %[[BUF:.*]]: !ttg.memdesc<16x8xf32, #[[$ROWS:.*]], mutable>, %[[PHASE:.*]]: i32
tt.func @barriers(%bar: !ttg.memdesc<1xi64, #one, mutable>, %buf: !ttg.memdesc<16x8xf32, #rows, mutable>, %phase: i32) {
  // CHECK-NEXT: ttng.init_barrier %[[BAR]], 1 : <1xi64, #[[$ONE]], mutable>
  ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #one, mutable>
  // CHECK-NEXT: ttng.init_barrier %[[BAR]], 1048575 {test.attribute} : <1xi64, #[[$ONE]], mutable>
  ttng.init_barrier %bar, 1048575 {test.attribute} : <1xi64, #one, mutable>
  // CHECK-NEXT: ttng.fence_async_shared
  ttng.fence_async_shared
  // CHECK-NEXT: ttng.barrier_expect %[[BAR]], 512 : <1xi64, #[[$ONE]], mutable>
  ttng.barrier_expect %bar, 512 : !ttg.memdesc<1xi64, #one, mutable>
  // CHECK-NEXT: ttng.arrive_barrier %[[BAR]], 2 : <1xi64, #[[$ONE]], mutable>
  ttng.arrive_barrier %bar, 2 : !ttg.memdesc<1xi64, #one, mutable>
  // CHECK-NEXT: ttng.wait_barrier %[[BAR]] : <1xi64, #[[$ONE]], mutable>
  ttng.wait_barrier %bar : !ttg.memdesc<1xi64, #one, mutable>
  // CHECK-NEXT: ttng.wait_barrier %[[BAR]] phase %[[PHASE]] : <1xi64, #[[$ONE]], mutable>
  ttng.wait_barrier %bar phase %phase : !ttg.memdesc<1xi64, #one, mutable>
  // CHECK-NEXT: ttng.wait_barrier %[[BAR]] phase %[[PHASE]] filled %[[BUF]], %[[BUF]] : !ttg.memdesc<16x8xf32, #[[$ROWS]], mutable>, !ttg.memdesc<16x8xf32, #[[$ROWS]], mutable> : <1xi64, #[[$ONE]], mutable>
  ttng.wait_barrier %bar phase %phase filled %buf, %buf : !ttg.memdesc<16x8xf32, #rows, mutable>, !ttg.memdesc<16x8xf32, #rows, mutable> : !ttg.memdesc<1xi64, #one, mutable>
  // CHECK-NEXT: ttng.inval_barrier %[[BAR]] : <1xi64, #[[$ONE]], mutable>
  ttng.inval_barrier %bar : !ttg.memdesc<1xi64, #one, mutable>
  tt.return
}

// CHECK-LABEL: tt.func @tiles
// CHECK-SAME: %[[Y:.*]]: i32, %[[X:.*]]: i32, %[[S:.*]]: i64
tt.func @tiles(%y: i32, %x: i32, %s: i64) {
  // CHECK-NEXT: %[[MAP:.*]] = ttng.tensor_map_argument 3 : <i8>
  %map = ttng.tensor_map_argument 3 : !tt.ptr<i8>
  // CHECK-NEXT: ttng.make_tensor_map %[[MAP]], [%[[X]], %[[Y]]], [%[[S]]] {box = array<i32: 8, 16>, dataType = 7 : i32, elementBytes = 4 : i32, nanFill, swizzleBytes = 32 : i32} : <i8> -> <i8>
  %own = ttng.make_tensor_map %map, [%x, %y], [%s] {box = array<i32: 8, 16>, dataType = 7 : i32, elementBytes = 4 : i32, nanFill, swizzleBytes = 32 : i32} : !tt.ptr<i8> -> !tt.ptr<i8>
  // CHECK-NEXT: ttng.fence_async_global
  ttng.fence_async_global
  // CHECK-NEXT: %[[V:.*]] = ttng.tma_load %[[MAP]][%[[Y]], %[[X]]] : <i8> -> tensor<16x8xf32, #{{.*}}>
  %v = ttng.tma_load %map[%y, %x] : !tt.ptr<i8> -> tensor<16x8xf32, #tile>
  // CHECK-NEXT: ttng.tma_load %[[MAP]][%[[X]]] : <i8> -> tensor<64xi8>
  %w = ttng.tma_load %map[%x] : !tt.ptr<i8> -> tensor<64xi8>
  // CHECK-NEXT: ttng.tma_store %[[MAP]][%[[Y]], %[[X]]], %[[V]] : <i8>, tensor<16x8xf32, #{{.*}}>
  ttng.tma_store %map[%y, %x], %v : !tt.ptr<i8>, tensor<16x8xf32, #tile>
  // CHECK-NEXT: ttng.tma_reduce add, %[[MAP]][%[[Y]], %[[X]]], %[[V]] : <i8>, tensor<16x8xf32, #{{.*}}>
  ttng.tma_reduce add, %map[%y, %x], %v : !tt.ptr<i8>, tensor<16x8xf32, #tile>
  tt.return
}

// CHECK-LABEL: tt.func @buffers
// CHECK-SAME: %[[MAP:.*]]: !tt.ptr<i8>, %[[Y:.*]]: i32, %[[X:.*]]: i32, %[[BAR:.*]]: !ttg.memdesc<1xi64, {{.*}}>, %[[BUF:.*]]: !ttg.memdesc
tt.func @buffers(%map: !tt.ptr<i8>, %y: i32, %x: i32, %bar: !ttg.memdesc<1xi64, #one, mutable>, %buf: !ttg.memdesc<16x8xf32, #rows, mutable>) {
  // CHECK-NEXT: ttng.async_tma_copy_global_to_local %[[MAP]][%[[Y]], %[[X]]] %[[BUF]], %[[BAR]] : <i8>, <16x8xf32, #{{.*}}, mutable>, <1xi64, #{{.*}}, mutable>
  ttng.async_tma_copy_global_to_local %map[%y, %x] %buf, %bar : !tt.ptr<i8>, !ttg.memdesc<16x8xf32, #rows, mutable>, !ttg.memdesc<1xi64, #one, mutable>
  // CHECK-NEXT: ttng.async_tma_copy_local_to_global %[[MAP]][%[[Y]], %[[X]]] %[[BUF]] : <i8>, <16x8xf32, #{{.*}}, mutable>
  ttng.async_tma_copy_local_to_global %map[%y, %x] %buf : !tt.ptr<i8>, !ttg.memdesc<16x8xf32, #rows, mutable>
  // CHECK-NEXT: ttng.async_tma_reduce max, %[[MAP]][%[[Y]], %[[X]]] %[[BUF]] : <i8>, <16x8xf32, #{{.*}}, mutable>
  ttng.async_tma_reduce max, %map[%y, %x] %buf : !tt.ptr<i8>, !ttg.memdesc<16x8xf32, #rows, mutable>
  // CHECK-NEXT: ttng.async_tma_store_wait 0
  ttng.async_tma_store_wait 0
  // CHECK-NEXT: ttng.async_tma_store_wait 7
  ttng.async_tma_store_wait 7
  tt.return
}

}
