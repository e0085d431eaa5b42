// RUN: despina-opt %s --nvptx-optimize-dot-operands | FileCheck %s

#x = #ttg.layout<"{register: (0,1) (0,2); lane: (0,4) (0,8) (1,0) (2,0) (4,0); warp: (8,0) (16,0); block: } -> (dim0: 32, dim1: 16)">
#t = #ttg.layout<"{register: (1,0) (2,0); lane: (4,0) (8,0) (0,1) (0,2) (0,4); warp: (0,8) (0,16); block: } -> (dim0: 16, dim1: 32)">
#o = #ttg.layout<"{register: (0,1) (0,2); lane: (0,4) (0,8) (0,16) (1,0) (2,0); warp: (4,0) (8,0); block: } -> (dim0: 16, dim1: 32)">
#mem = #ttg.layout<"{offset: (1,0) (2,0) (4,0) (8,0) (0,1) (0,2) (8,4) (0,8) (0,16); block: } -> (dim0: 16, dim1: 32)">

// CHECK-DAG: #[[$DIRECT:.+]] = #ttg.layout<"{offset: (0,1) (0,2) (0,4) (0,8) (1,0) (2,0) (4,8) (8,0) (16,0); block:} -> (dim0: 32, dim1: 16)">
// CHECK-DAG: #[[$VIEW:.+]] = #ttg.layout<"{offset: (1,0) (2,0) (4,0) (8,0) (0,1) (0,2) (8,4) (0,8) (0,16); block:} -> (dim0: 16, dim1: 32)">

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
// The buffer is filled from what was there before the transpose; conversions in between do not matter.
// CHECK-LABEL: tt.func @transposed(
// CHECK-SAME: %[[X:.+]]: tensor<32x16xf16
// CHECK: %[[BUFFER:.+]] = ttg.local_alloc %[[X]] {alignment = 256 : i32} : (tensor<32x16xf16, #{{.+}}>) -> !ttg.memdesc<32x16xf16, #[[$DIRECT]]>
// CHECK: %[[TURNED:.+]] = ttg.memdesc_trans %[[BUFFER]] [1, 0] : {{.+}} -> <16x32xf16, #[[$VIEW]]>
// CHECK: ttg.local_load %[[TURNED]]
tt.func @transposed(%x: tensor<32x16xf16, #x>) -> tensor<16x32xf16, #o> {
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x16xf16, #x> -> tensor<16x32xf16, #t>
  %o = ttg.convert_layout %t : tensor<16x32xf16, #t> -> tensor<16x32xf16, #o>
  %b = ttg.local_alloc %o {alignment = 256 : i32} : (tensor<16x32xf16, #o>) -> !ttg.memdesc<16x32xf16, #mem>
  %l = ttg.local_load %b : !ttg.memdesc<16x32xf16, #mem> -> tensor<16x32xf16, #o>
  tt.return %l : tensor<16x32xf16, #o>
}

// CHECK-LABEL: tt.func @plain(
// CHECK-NOT: ttg.memdesc_trans
// CHECK: tt.return
tt.func @plain(%o: tensor<16x32xf16, #o>) -> tensor<16x32xf16, #o> {
  %b = ttg.local_alloc %o : (tensor<16x32xf16, #o>) -> !ttg.memdesc<16x32xf16, #mem>
  %l = ttg.local_load %b : !ttg.memdesc<16x32xf16, #mem> -> tensor<16x32xf16, #o>
  tt.return %l : tensor<16x32xf16, #o>
}
}
