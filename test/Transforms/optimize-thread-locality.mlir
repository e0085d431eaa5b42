// RUN: despina-opt %s --ttg-optimize-thread-locality --test-verify-layouts --split-input-file | FileCheck %s

#tile = #ttg.layout<"{register: (0,1) (0,2) (0,64); lane: (0,4) (0,8) (0,16) (0,32) (1,0); warp: (2,0) (0,0); block: } -> (dim0: 4, dim1: 128)">
#row = #ttg.layout<"{register: ; lane: (0) (0) (0) (0) (1); warp: (2) (0); block: } -> (dim0: 4)">
module attributes {"ttg.num-warps" = 4 : i32} {
// Three bits of the axis are in registers, four in lanes: each iteration reduces to 16 partial results per row.
// CHECK-LABEL: @sum
// CHECK: %[[INIT:.+]] = arith.constant dense<-0.000000e+00> : tensor<4x16xf32, #[[$PART:.+]]>
// CHECK: %[[LOOP:.+]] = scf.for {{.*}} iter_args(%[[ACC:.+]] = %[[INIT]]) -> (tensor<4x16xf32, #[[$PART]]>)
// CHECK:   %[[CUT:.+]] = tt.reshape %{{.*}} : tensor<4x128xf32, #{{.+}}> -> tensor<4x2x2x2x2x2x2x2xf32, #{{.+}}>
// CHECK:   tt.trans %[[CUT]] {order = array<i32: 0, 2, 3, 4, 5, 1, 6, 7>}
// CHECK:   %[[JOINED:.+]] = tt.reshape %{{.*}} -> tensor<4x16x8xf32, #{{.+}}>
// CHECK:   %[[PARTIAL:.+]] = tt.reduce(%[[JOINED]]) attributes {axis = 2 : i32}
// CHECK:   %[[NEXT:.+]] = arith.addf %[[ACC]], %[[PARTIAL]] : tensor<4x16xf32, #[[$PART]]>
// CHECK:   scf.yield %[[NEXT]]
// CHECK: %[[REST:.+]] = tt.reduce(%[[LOOP]]) attributes {axis = 1 : i32}
// CHECK: %[[TOTAL:.+]] = arith.addf %{{.*}}, %[[REST]] : tensor<4xf32, #{{.+}}>
// CHECK: tt.return %[[TOTAL]]
tt.func @sum(%p: tensor<4x128x!tt.ptr<f32>, #tile>, %n: i32) -> tensor<4xf32, #row> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant dense<1.0> : tensor<4xf32, #row>
  %0 = scf.for %i = %zero to %n step %one iter_args(%acc = %init) -> (tensor<4xf32, #row>) : i32 {
    %x = tt.load %p : tensor<4x128x!tt.ptr<f32>, #tile>
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<4x128xf32, #tile>) -> tensor<4xf32, #row>
    %next = arith.addf %acc, %s : tensor<4xf32, #row>
    scf.yield %next : tensor<4xf32, #row>
  }
  tt.return %0 : tensor<4xf32, #row>
}

// A scalar: the maximum of integers, beside another value that the loop carries.
// CHECK-LABEL: @max
// CHECK: arith.constant dense<-2147483648> : tensor<128xi32, #{{.+}}>
// CHECK: %[[LOOP:.+]]:2 = scf.for {{.*}} -> (i32, tensor<128xi32, #{{.+}}>)
// CHECK: %[[REST:.+]] = tt.reduce(%[[LOOP]]#1)
// CHECK: arith.maxsi %[[REST]], %{{.*}} : i32
tt.func @max(%p: tensor<128x!tt.ptr<i32>, #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">>, %n: i32) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0:2 = scf.for %i = %zero to %n step %one iter_args(%k = %n, %acc = %zero) -> (i32, i32) : i32 {
    %x = tt.load %p : tensor<128x!tt.ptr<i32>, #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">>
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %c = arith.maxsi %a, %b : i32
      tt.reduce.return %c : i32
    }) : (tensor<128xi32, #ttg.layout<"{register: ; lane: (1) (2) (4) (8) (16); warp: (32) (64); block: } -> (dim0: 128)">>) -> i32
    %next = arith.maxsi %s, %acc : i32
    %l = arith.addi %k, %one : i32
    scf.yield %l, %next : i32, i32
  }
  tt.return %0#0, %0#1 : i32, i32
}

// The total is looked at in the loop, or combined otherwise than the elements: as it was.
// CHECK-LABEL: @no
// CHECK: scf.for {{.*}} -> (f32, f32)
// CHECK-NOT: tt.trans
tt.func @no(%p: tensor<4x128x!tt.ptr<f32>, #tile>, %n: i32) -> (f32, f32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %init = arith.constant 1.0 : f32
  %0:2 = scf.for %i = %zero to %n step %one iter_args(%acc = %init, %bcc = %init) -> (f32, f32) : i32 {
    %x = tt.load %p : tensor<4x128x!tt.ptr<f32>, #tile>
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<4x128xf32, #tile>) -> tensor<4xf32, #row>
    %s = "tt.reduce"(%r) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<4xf32, #row>) -> f32
    %next = arith.addf %acc, %s : f32
    tt.print "x" {hex = false, isSigned = array<i32: 1>} : %acc : f32
    %t = "tt.reduce"(%r) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<4xf32, #row>) -> f32
    %other = arith.mulf %bcc, %t : f32
    scf.yield %next, %other : f32, f32
  }
  tt.return %0#0, %0#1 : f32, f32
}
}
