// RUN: despina-opt %s | despina-opt | FileCheck %s

// CHECK-LABEL: tt.func public @kernel(
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %[[N:.*]]: i32) attributes {noinline = false}
tt.func public @kernel(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
  // CHECK: %[[R:.*]]:2 = tt.call @twice(%[[N]]) : (i32) -> (i32, i32)
  %r:2 = tt.call @twice(%n) : (i32) -> (i32, i32)
  // CHECK: tt.call @nothing() : () -> ()
  tt.call @nothing() : () -> ()
  // CHECK: tt.get_program_id x : i32
  %x = tt.get_program_id x : i32
  // CHECK: tt.get_program_id y : i32
  %y = tt.get_program_id y : i32
  // CHECK: tt.get_num_programs z : i32
  %z = tt.get_num_programs z : i32
  // CHECK: tt.return
  tt.return
}

// CHECK: tt.func private @twice(%{{.*}}: i32) -> (i32, i32) {
tt.func private @twice(%a: i32) -> (i32, i32) {
  // CHECK: tt.return %{{.*}}, %{{.*}} : i32, i32
  tt.return %a, %a : i32, i32
}

// CHECK: tt.func private @nothing() attributes {noinline = true} {
tt.func private @nothing() attributes {noinline = true} {
  tt.return
}

// CHECK: tt.func private @external(tensor<16xf32>) -> tensor<16xf32>
tt.func private @external(tensor<16xf32>) -> tensor<16xf32>
