// RUN: despina-opt %s --ttg-reorder-instructions | FileCheck %s

#a = #ttg.layout<"{register: (1) (2); lane: (4) (8) (16) (32) (64); warp: ; block: } -> (dim0: 128)">
#b = #ttg.layout<"{register: (32) (64); lane: (1) (2) (4) (8) (16); warp: ; block: } -> (dim0: 128)">
#buffer = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64); block: } -> (dim0: 128)">
module attributes {"ttg.num-warps" = 1 : i32} {

// CHECK-LABEL: @sink
// CHECK: arith.mulf
// CHECK-NEXT: %[[Y:.+]] = ttg.convert_layout
// CHECK-NEXT: %[[Z:.+]] = ttg.convert_layout %[[Y]]
// CHECK-NEXT: tt.store %{{.*}}, %[[Z]]
tt.func @sink(%x: tensor<128xf32, #a>, %p: tensor<128x!tt.ptr<f32>, #a>) {
  %0 = ttg.convert_layout %x : tensor<128xf32, #a> -> tensor<128xf32, #b>
  %1 = ttg.convert_layout %0 : tensor<128xf32, #b> -> tensor<128xf32, #a>
  %2 = arith.mulf %x, %x : tensor<128xf32, #a>
  tt.store %p, %1 : tensor<128x!tt.ptr<f32>, #a>
  tt.store %p, %2 : tensor<128x!tt.ptr<f32>, #a>
  tt.return
}

// Not into a loop that uses it: there it would be done again and again.
// CHECK-LABEL: @loop
// CHECK: arith.mulf
// CHECK-NEXT: ttg.convert_layout
// CHECK-NEXT: scf.for
tt.func @loop(%x: tensor<128xf32, #a>, %p: tensor<128x!tt.ptr<f32>, #b>, %q: tensor<128x!tt.ptr<f32>, #a>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0 = ttg.convert_layout %x : tensor<128xf32, #a> -> tensor<128xf32, #b>
  %1 = arith.mulf %x, %x : tensor<128xf32, #a>
  scf.for %i = %zero to %n step %one : i32 {
    tt.store %p, %0 : tensor<128x!tt.ptr<f32>, #b>
  }
  tt.store %q, %1 : tensor<128x!tt.ptr<f32>, #a>
  tt.return
}

// A read passes stores to global memory, but none to shared memory.
// CHECK-LABEL: @read
// CHECK: tt.store
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: ttg.local_store
// CHECK: tt.store
tt.func @read(%x: tensor<128xf32, #a>, %p: tensor<128x!tt.ptr<f32>, #a>, %m: !ttg.memdesc<128xf32, #buffer, mutable>) {
  %0 = ttg.local_load %m : !ttg.memdesc<128xf32, #buffer, mutable> -> tensor<128xf32, #a>
  tt.store %p, %x : tensor<128x!tt.ptr<f32>, #a>
  ttg.local_store %x, %m : tensor<128xf32, #a> -> !ttg.memdesc<128xf32, #buffer, mutable>
  tt.store %p, %0 : tensor<128x!tt.ptr<f32>, #a>
  tt.return
}

// CHECK-LABEL: @hoist
// CHECK: %[[X:.+]] = tt.load
// CHECK-NEXT: ttg.local_alloc %[[X]]
// CHECK-NEXT: tt.load
tt.func @hoist(%p: tensor<128x!tt.ptr<f32>, #a>) {
  %0 = tt.load %p : tensor<128x!tt.ptr<f32>, #a>
  %1 = tt.load %p : tensor<128x!tt.ptr<f32>, #a>
  %2 = ttg.local_alloc %0 : (tensor<128xf32, #a>) -> !ttg.memdesc<128xf32, #buffer>
  tt.print "x" {hex = false, isSigned = array<i32: 1>} : %1 : tensor<128xf32, #a>
  tt.return
}
}
