// One operation for each register that differs: copies, and registers with the same operands, share theirs.
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a --split-input-file | FileCheck %s

// Register bit 1 of the layout has no meaning: four registers, two values.
// CHECK-LABEL: llvm.func @copies
// CHECK-COUNT-4: llvm.inline_asm
// CHECK-NOT: llvm.inline_asm
// CHECK: llvm.mul
// CHECK: llvm.mul
// CHECK-NOT: llvm.mul
// CHECK: llvm.return
#copies = #ttg.layout<"{register: (1) (0); lane: (2) (4) (8) (16) (32); warp: (64) (128); block: } -> (dim0: 256)">
tt.func public @copies() {
  %x = tt.elementwise_inline_asm "mov.u32 $0, %clock;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> tensor<256xi32, #copies>
  %y = tt.elementwise_inline_asm "mov.u32 $0, %clock;" {constraints = "=r", packed_element = 1 : i32, pure = false} -> tensor<256xi32, #copies>
  %z = arith.muli %x, %y : tensor<256xi32, #copies>
  tt.return
}

// -----

// A constant is one value, and what depends on constants alone is computed once. The condition may be a scalar.
// CHECK-LABEL: llvm.func @same
// CHECK-SAME: (%[[CONDITION:[^:]+]]: i1, %[[X:[^:]+]]: i32
// CHECK: llvm.mlir.addressof @despina_shared
// CHECK-NEXT: %[[FIVE:.+]] = llvm.mlir.constant(5 : i32) : i32
// CHECK-NEXT: %[[SEVEN:.+]] = llvm.mlir.constant(7 : i32) : i32
// CHECK-NEXT: llvm.select %[[CONDITION]], %[[FIVE]], %[[SEVEN]] : i1, i32
// CHECK-NEXT: llvm.return
#tile = #ttg.layout<"{register: (1) (256); lane: (2) (4) (8) (16) (32); warp: (64) (128); block: } -> (dim0: 512)">
tt.func public @same(%condition: i1, %x: i32) {
  %five = arith.constant dense<5> : tensor<512xi32, #tile>
  %seven = arith.constant dense<7> : tensor<512xi32, #tile>
  %one = arith.select %condition, %five, %seven : tensor<512xi32, #tile>
  tt.return
}

// -----

// A tile of different constants is a table, in the order of its elements.
// CHECK: llvm.mlir.global internal constant @despina_table_0(dense<[4, 3, 2, 1, 0, -1, -2, -3, 9, 10, 11, 12, 13, 14, 15, 16]> : tensor<16xi32>) {addr_space = 1 : i32, alignment = 16 : i64} : !llvm.array<16 x i32>
// CHECK-LABEL: llvm.func @table
// CHECK: %[[TABLE:.+]] = llvm.mlir.addressof @despina_table_0 : !llvm.ptr<1>
// CHECK: %[[FIRST:.+]] = llvm.mlir.constant(0 : i32)
// CHECK: %[[INDEX:.+]] = llvm.xor %[[PLACE:.+]], %[[FIRST]]
// CHECK: %[[CELL:.+]] = llvm.getelementptr %[[TABLE]][%[[INDEX]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
// CHECK: llvm.load %[[CELL]] : !llvm.ptr<1> -> i32
// CHECK: %[[SECOND:.+]] = llvm.mlir.constant(8 : i32)
// CHECK: llvm.xor %[[PLACE]], %[[SECOND]]
// CHECK: llvm.load
// CHECK-NOT: llvm.load
// CHECK: llvm.return
#short = #ttg.layout<"{register: (8); lane: (1) (2) (4) (0) (0); warp: (0) (0); block: } -> (dim0: 16)">
tt.func public @table() {
  %t = arith.constant dense<[4, 3, 2, 1, 0, -1, -2, -3, 9, 10, 11, 12, 13, 14, 15, 16]> : tensor<16xi32, #short>
  tt.return
}

// -----

// Halves are added two at a time; a sum that is the same in all registers is one.
// CHECK-LABEL: llvm.func @pairs
// CHECK-SAME: (%[[A:[^:]+]]: f16, %[[B:[^:]+]]: f16
// CHECK: llvm.fadd %{{.+}}, %{{.+}} {{.*}} : vector<2xf16>
// CHECK: llvm.fadd %{{.+}}, %{{.+}} {{.*}} : f16
// CHECK-NOT: llvm.fadd
// CHECK: llvm.intr.fma(%{{.+}}, %{{.+}}, %{{.+}}) : (vector<2xbf16>, vector<2xbf16>, vector<2xbf16>) -> vector<2xbf16>
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.intr.maximum(%{{.+}}, %{{.+}}) : (vector<2xbf16>, vector<2xbf16>) -> vector<2xbf16>
// CHECK-NOT: llvm.intr.maximum
// CHECK: llvm.return
#pair = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: (64) (128); block: } -> (dim0: 256)">
tt.func public @pairs(%a: f16, %b: f16, %p: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %c: i1) {
  %x = tt.splat %a : f16 -> tensor<256xf16, #pair>
  %y = tt.splat %b : f16 -> tensor<256xf16, #pair>
  %z = tt.elementwise_inline_asm "mov.b16 $0, %clock;" {constraints = "=h", packed_element = 1 : i32, pure = false} -> tensor<256xf16, #pair>
  %s = arith.addf %z, %y : tensor<256xf16, #pair>
  %t = arith.addf %x, %y : tensor<256xf16, #pair>
  %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #pair>
  %sp = tt.splat %p : !tt.ptr<bf16> -> tensor<256x!tt.ptr<bf16>, #pair>
  %ap = tt.addptr %sp, %r : tensor<256x!tt.ptr<bf16>, #pair>, tensor<256xi32, #pair>
  %v = tt.load %ap : tensor<256x!tt.ptr<bf16>, #pair>
  %w = math.fma %v, %v, %v : tensor<256xbf16, #pair>
  %m = arith.maximumf %w, %v : tensor<256xbf16, #pair>
  tt.return
}
