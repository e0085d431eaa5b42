// RUN: despina-opt %s --nvptx-emit-threads --split-input-file | FileCheck %s

// Four bytes share a register; each float has its own.
// CHECK-LABEL: llvm.func @packed
// CHECK: %[[BYTES:.+]] = llvm.bitcast %{{.+}} : vector<4xi8> to i32
// CHECK: %[[OUT:.+]] = llvm.inline_asm asm_dialect = att "text $0 $1 $2 $3 $4;", "=f,=f,=f,=f,r" %[[BYTES]] : (i32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK-COUNT-4: llvm.extractvalue %[[OUT]]
#tile = #ttg.layout<"{register: (1) (2); lane: (4) (8) (16) (32) (64); warp: (128) (256); block: } -> (dim0: 512)">
tt.func public @packed() {
  %x = arith.constant dense<3> : tensor<512xi8, #tile>
  %y = tt.elementwise_inline_asm "text $0 $1 $2 $3 $4;" {constraints = "=f, =f, =f, =f, r", packed_element = 4 : i32, pure = true} %x : tensor<512xi8, #tile> -> tensor<512xf32, #tile>
  tt.return
}

// -----

// A scalar in a text for two; two results.
// CHECK-LABEL: llvm.func @scalar
// CHECK-SAME: (%[[X:[^:]+]]: f16
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "text;", "=r,=l,=l,r,~{memory}" %{{.+}} : (i32) -> !llvm.struct<(i32, i64, i64)>
// CHECK: llvm.call @__nv_fabsf(%[[Y:[^)]+]]) : (f32) -> f32
tt.func public @scalar(%x: f16, %y: f32) {
  %a, %b = tt.elementwise_inline_asm "text;" {constraints = "=r,=l,=l,r,~{memory}", packed_element = 2 : i32, pure = false} %x : f16 -> f16, i64
  %c = tt.extern_elementwise %y {libname = "libdevice", libpath = "", symbol = "__nv_fabsf", pure = true} : (f32) -> f32
  tt.return
}
