// RUN: despina-opt %s --split-input-file --nvptx-localize-blocks | FileCheck %s

// Blocks have rows of the tile, and of the buffer: nothing is converted. Columns of the tile must move.
#rows = #ttg.layout<"{register: (0,1) (0,2); lane: (0,4) (0,8) (1,0) (2,0) (4,0); warp: ; block: (8,0)} -> (dim0: 16, dim1: 16)">
#columns = #ttg.layout<"{register: (0,1) (0,2); lane: (0,4) (1,0) (2,0) (4,0) (8,0); warp: ; block: (0,8)} -> (dim0: 16, dim1: 16)">
#memory = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,0); block: (8,0)} -> (dim0: 16, dim1: 16)">

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 2 : i32} {
  // CHECK-DAG: #[[$ROWS:.*]] = #ttg.layout<"{register: (0,1) (0,2); lane: (0,4) (0,8) (1,0) (2,0) (4,0); warp:; block: (8,0)} -> (dim0: 16, dim1: 16)">
  // CHECK-DAG: #[[$COLUMNS:.*]] = #ttg.layout<"{register: (0,1) (0,2); lane: (0,4) (1,0) (2,0) (4,0) (8,0); warp:; block: (0,8)} -> (dim0: 16, dim1: 16)">
  // CHECK-LABEL: @buffers
  // CHECK-NEXT: ttg.local_alloc %{{.*}} : (tensor<16x16xf32, #[[$ROWS]]>)
  // CHECK-NEXT: %[[MOVED:.*]] = ttg.convert_layout %{{.*}} : tensor<16x16xf32, #[[$COLUMNS]]> -> tensor<16x16xf32, #[[$ROWS]]>
  // CHECK-NEXT: %[[BUFFER:.*]] = ttg.local_alloc %[[MOVED]]
  // CHECK-NEXT: %[[READ:.*]] = ttg.local_load %[[BUFFER]] : {{.*}} -> tensor<16x16xf32, #[[$ROWS]]>
  // CHECK-NEXT: %[[BACK:.*]] = ttg.convert_layout %[[READ]] : tensor<16x16xf32, #[[$ROWS]]> -> tensor<16x16xf32, #[[$COLUMNS]]>
  // CHECK-NEXT: tt.return %[[BACK]]
  tt.func @buffers(%a: tensor<16x16xf32, #rows>, %b: tensor<16x16xf32, #columns>) -> tensor<16x16xf32, #columns> {
    %0 = ttg.local_alloc %a : (tensor<16x16xf32, #rows>) -> !ttg.memdesc<16x16xf32, #memory>
    %1 = ttg.local_alloc %b : (tensor<16x16xf32, #columns>) -> !ttg.memdesc<16x16xf32, #memory>
    %2 = ttg.local_load %1 : !ttg.memdesc<16x16xf32, #memory> -> tensor<16x16xf32, #columns>
    tt.return %2 : tensor<16x16xf32, #columns>
  }

  // The product's blocks share rows: so do those of a, and b is whole in each of them.
  // CHECK-LABEL: @factors
  // CHECK-NEXT: %[[B:.*]] = ttg.convert_layout %{{.*}} : tensor<16x16xf32, #[[$COLUMNS]]> -> tensor<16x16xf32, #[[WHOLE:.*]]>
  // CHECK-NEXT: tt.dot %{{.*}}, %[[B]], %{{.*}} : tensor<16x16xf32, #[[$ROWS]]> * tensor<16x16xf32, #[[WHOLE]]> -> tensor<16x16xf32, #[[$ROWS]]>
  tt.func @factors(%a: tensor<16x16xf32, #rows>, %b: tensor<16x16xf32, #columns>) -> tensor<16x16xf32, #rows> {
    %0 = tt.dot %a, %b, %a : tensor<16x16xf32, #rows> * tensor<16x16xf32, #columns> -> tensor<16x16xf32, #rows>
    tt.return %0 : tensor<16x16xf32, #rows>
  }

  // CHECK-LABEL: @barrier
  // CHECK-NEXT: ttng.cluster_barrier
  tt.func @barrier() {
    tt.barrier
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  // CHECK-LABEL: @one_block
  // CHECK-NEXT: tt.barrier
  tt.func @one_block() {
    tt.barrier
    tt.return
  }
}
