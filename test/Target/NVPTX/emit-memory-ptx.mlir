// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx --arch=sm_90a | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx --arch=sm_90a --cubin -o %t
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 | despina-ptx --arch=sm_80 | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 | despina-ptx --arch=sm_80 --cubin -o %t
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_75 | despina-ptx --arch=sm_75 --cubin -o %t

#row = #ttg.layout<"{register: (1) (2) (512); lane: (4) (8) (16) (32) (64); warp: (128) (256); block: } -> (dim0: 1024)">
#col = #ttg.layout<"{register: (1, 0) (2, 0) (4, 0); lane: (8, 0) (16, 0) (32, 0) (0, 1) (0, 2); warp: (0, 4) (0, 8); block: } -> (dim0: 64, dim1: 16)">
#rows = #ttg.layout<"{register: (1) (2) (4); lane: (8) (16) (32) (0) (0); warp: (0) (0); block: } -> (dim0: 64)">
#cols = #ttg.layout<"{register: (0) (0) (0); lane: (0) (0) (0) (1) (2); warp: (4) (8); block: } -> (dim0: 16)">

// CHECK-LABEL: .entry kernel
// CHECK-DAG: @%p{{[0-9]+}} ld.global.L1::evict_first{{(.L2::cache_hint)?}}.v4.b32
// CHECK-DAG: ld.global.v4.{{[bf]}}32 {{.*}}, [%rd{{[0-9]+}}]
// CHECK-DAG: ld.global.v4.{{[bf]}}32 {{.*}}, [%rd{{[0-9]+}}+2048]
// CHECK-DAG: st.global.v4.{{[bf]}}32
// CHECK-DAG: st.global.cg.v4.b32
// CHECK-DAG: @%p{{[0-9]+}} st.global.wt.b64
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @kernel(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                         %n: i32 {tt.divisibility = 16 : i32}, %w: !tt.ptr<i64>, %f: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #row>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #row>
    %a = tt.addptr %s, %r : tensor<1024x!tt.ptr<f32>, #row>, tensor<1024xi32, #row>
    %x = tt.load %a : tensor<1024x!tt.ptr<f32>, #row>
    %b = tt.splat %n : i32 -> tensor<1024xi32, #row>
    %m = arith.cmpi slt, %r, %b : tensor<1024xi32, #row>
    %y = tt.load %a, %m evictionPolicy = evict_first : tensor<1024x!tt.ptr<f32>, #row>
    %z = arith.addf %x, %y : tensor<1024xf32, #row>
    tt.store %a, %z : tensor<1024x!tt.ptr<f32>, #row>
    // Columns next to each other in memory.
    %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #rows>
    %j = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #cols>
    %c64 = arith.constant dense<64> : tensor<16xi32, #cols>
    %j64 = arith.muli %j, %c64 : tensor<16xi32, #cols>
    %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #rows> -> tensor<64x1xi32, #ttg.layout<"{register: (1, 0) (2, 0) (4, 0); lane: (8, 0) (16, 0) (32, 0) (0, 0) (0, 0); warp: (0, 0) (0, 0); block: } -> (dim0: 64, dim1: 1)">>
    %je = tt.expand_dims %j64 {axis = 0 : i32} : tensor<16xi32, #cols> -> tensor<1x16xi32, #ttg.layout<"{register: (0, 0) (0, 0) (0, 0); lane: (0, 0) (0, 0) (0, 0) (0, 1) (0, 2); warp: (0, 4) (0, 8); block: } -> (dim0: 1, dim1: 16)">>
    %ib = tt.broadcast %ie : tensor<64x1xi32, #ttg.layout<"{register: (1, 0) (2, 0) (4, 0); lane: (8, 0) (16, 0) (32, 0) (0, 0) (0, 0); warp: (0, 0) (0, 0); block: } -> (dim0: 64, dim1: 1)">> -> tensor<64x16xi32, #col>
    %jb = tt.broadcast %je : tensor<1x16xi32, #ttg.layout<"{register: (0, 0) (0, 0) (0, 0); lane: (0, 0) (0, 0) (0, 0) (0, 1) (0, 2); warp: (0, 4) (0, 8); block: } -> (dim0: 1, dim1: 16)">> -> tensor<64x16xi32, #col>
    %o = arith.addi %ib, %jb : tensor<64x16xi32, #col>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x16x!tt.ptr<f16>, #col>
    %qa = tt.addptr %qs, %o : tensor<64x16x!tt.ptr<f16>, #col>, tensor<64x16xi32, #col>
    %h = tt.load %qa : tensor<64x16x!tt.ptr<f16>, #col>
    tt.store %qa, %h cacheModifier = cg : tensor<64x16x!tt.ptr<f16>, #col>
    %v = tt.load %w : !tt.ptr<i64>
    tt.store %w, %v cacheModifier = wt : !tt.ptr<i64>
    %fs = tt.splat %f : !tt.ptr<f8E4M3FN> -> tensor<1024x!tt.ptr<f8E4M3FN>, #row>
    %fa = tt.addptr %fs, %r : tensor<1024x!tt.ptr<f8E4M3FN>, #row>, tensor<1024xi32, #row>
    %fx = tt.load %fa, %m : tensor<1024x!tt.ptr<f8E4M3FN>, #row>
    tt.store %fa, %fx, %m : tensor<1024x!tt.ptr<f8E4M3FN>, #row>
    tt.return
  }
}
