// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a --split-input-file | FileCheck %s

#row = #ttg.layout<"{register: (1) (2) (512); lane: (4) (8) (16) (32) (64); warp: (128) (256); block: } -> (dim0: 1024)">

// Whole runs of four; the second run of a thread is at a constant distance from the first.
// CHECK-LABEL: llvm.func @plain
// CHECK: %[[A:.*]] = llvm.load %[[P:.*]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][2048] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK: llvm.load %[[Q]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @plain(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #row>
    %a = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #row>, tensor<1024xi32, #row>
    %x = tt.load %a : tensor<1024x!tt.ptr<f32>, #row>
    tt.store %a, %x : tensor<1024x!tt.ptr<f32>, #row>
    tt.return
  }
}

// -----

#row = #ttg.layout<"{register: (1) (2) (4); lane: (8) (16) (32) (64) (128); warp: (256) (512); block: } -> (dim0: 1024)">

// A bound that is a multiple of 16 masks whole runs; half floats go as words.
// CHECK-LABEL: llvm.func @masked
// CHECK: "@$4 ld.global.v4.b32 {$0, $1, $2, $3}, [$5];", "=r,=r,=r,=r,b,l,0,1,2,3,~{memory}"
// CHECK: "@$0 st.global.v4.b32 [$1], {$2, $3, $4, $5};", "b,l,r,r,r,r,~{memory}"
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @masked(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #row>
    %a = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>, #row>, tensor<1024xi32, #row>
    %b = tt.splat %n : i32 -> tensor<1024xi32, #row>
    %m = arith.cmpi slt, %r, %b : tensor<1024xi32, #row>
    %x = tt.load %a, %m : tensor<1024x!tt.ptr<f16>, #row>
    tt.store %a, %x, %m : tensor<1024x!tt.ptr<f16>, #row>
    tt.return
  }
}

// -----

#row = #ttg.layout<"{register: (1) (2) (4); lane: (8) (16) (32) (64) (128); warp: (256) (512); block: } -> (dim0: 1024)">

// Any bound: element by element.
// CHECK-LABEL: llvm.func @unaligned
// CHECK-COUNT-8: "@$1 ld.global.b16 $0, [$2{{.*}}];"
// CHECK-NOT: ld.global
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @unaligned(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #row>
    %a = tt.addptr %s, %r : tensor<1024x!tt.ptr<f16>, #row>, tensor<1024xi32, #row>
    %b = tt.splat %n : i32 -> tensor<1024xi32, #row>
    %m = arith.cmpi slt, %r, %b : tensor<1024xi32, #row>
    %x = tt.load %a, %m : tensor<1024x!tt.ptr<f16>, #row>
    tt.return
  }
}

// -----

// Scalars: all read, one thread writes. Hints; pointers in memory; i1 as bytes.
// CHECK-LABEL: llvm.func @scalars
// CHECK: createpolicy.fractional.L2::evict_last.b64 $0, 1.0;
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK: llvm.inttoptr
// CHECK: "ld.global.L1::evict_last.L2::cache_hint.b32 $0, [$1], $2;"
// CHECK: llvm.load volatile %{{.*}} {alignment = 4 : i64}
// CHECK: "ld.global.cv.b32 $0, [$1];"
// CHECK: "@$0 st.global.cs.b32 [$1], $2;"
// CHECK: "@$0 st.global.b8 [$1], $2;", "b,l,h,~{memory}"
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @scalars(%pp: !tt.ptr<!tt.ptr<f32>>, %flag: !tt.ptr<i1>, %bit: i1) {
    %p = tt.load %pp : !tt.ptr<!tt.ptr<f32>>
    %x = tt.load %p evictionPolicy = evict_last : !tt.ptr<f32>
    %y = tt.load %p isVolatile = true : !tt.ptr<f32>
    %z = tt.load %p cacheModifier = cv : !tt.ptr<f32>
    tt.store %p, %x cacheModifier = cs : !tt.ptr<f32>
    tt.store %flag, %bit : !tt.ptr<i1>
    tt.return
  }
}
