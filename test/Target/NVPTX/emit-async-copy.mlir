// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx --arch=sm_90a | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_90a | despina-ptx --arch=sm_90a --cubin -o %t
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 | despina-ptx --arch=sm_80 | FileCheck %s
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_80 | despina-ptx --arch=sm_80 --cubin -o %t
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_75 | despina-ptx --arch=sm_75 | FileCheck %s --check-prefix=SM75
// RUN: despina-opt %s --nvptx-emit-threads=arch=sm_75 | despina-ptx --arch=sm_75 --cubin -o %t

#line = #ttg.layout<"{offset: (1) (2) (4) (8) (16) (32) (64) (128); block: } -> (dim0: 256)">
#wide = #ttg.layout<"{register: (1) (2) (4); lane: (8) (16) (32) (64) (128); warp: (0); block: } -> (dim0: 256)">
#pairs = #ttg.layout<"{register: (1) (128); lane: (2) (4) (8) (16) (32); warp: (64); block: } -> (dim0: 256)">

module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32, ttg.shared = 1024 : i32} {
  // CHECK-LABEL: .entry kernel
  // SM75-LABEL: .entry kernel
  // SM75-NOT: cp.async
  tt.func public @kernel(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16>, %out: !tt.ptr<f16>) {
    %b = ttg.local_alloc {ttg.offset = 0 : i32} : () -> !ttg.memdesc<256xf16, #line, mutable>
    %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #wide>
    %s = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #wide>
    %a = tt.addptr %s, %r : tensor<256x!tt.ptr<f16>, #wide>, tensor<256xi32, #wide>
    %limit = tt.splat %n : i32 -> tensor<256xi32, #wide>
    %m = arith.cmpi slt, %r, %limit : tensor<256xi32, #wide>

    // Whole lines go past the first cache. The second warp has copies of what the first has.
    // CHECK: @%[[FIRST:p[0-9]+]] cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16;
    // SM75: ld.global.v4
    // SM75: st.shared.v4
    %t0 = ttg.async_copy_global_to_local %a, %b : tensor<256x!tt.ptr<f16>, #wide> -> !ttg.memdesc<256xf16, #line, mutable>
    // A mask is the number of bytes that are read; what is missing becomes 0.
    // CHECK: selp.b32 %[[SIZE:r[0-9]+]], 16, 0, %p{{[0-9]+}};
    // CHECK: @%[[FIRST]] cp.async.ca.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %[[SIZE]];
    %t1 = ttg.async_copy_global_to_local %a, %b mask %m {cache = 2 : i32} : tensor<256x!tt.ptr<f16>, #wide> -> !ttg.memdesc<256xf16, #line, mutable>, tensor<256xi1, #wide>
    // CHECK: @%[[FIRST]] cp.async.cg.shared.global.L2::cache_hint [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %[[SIZE]], %rd{{[0-9]+}};
    %zero = arith.constant dense<0.0> : tensor<256xf16, #wide>
    %t2 = ttg.async_copy_global_to_local %a, %b mask %m other %zero {evict = 2 : i32} : tensor<256x!tt.ptr<f16>, #wide> -> !ttg.memdesc<256xf16, #line, mutable>, tensor<256xi1, #wide>, tensor<256xf16, #wide>
    // Other values are stored.
    // CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16;
    // CHECK: st.shared.v4.b32
    %one = arith.constant dense<1.0> : tensor<256xf16, #wide>
    %t3 = ttg.async_copy_global_to_local %a, %b mask %m other %one : tensor<256x!tt.ptr<f16>, #wide> -> !ttg.memdesc<256xf16, #line, mutable>, tensor<256xi1, #wide>, tensor<256xf16, #wide>
    // CHECK: cp.async.commit_group;
    %g = ttg.async_commit_group tokens %t0, %t1, %t2, %t3

    // Two halves make the 4 bytes that a copy needs at least.
    // CHECK-COUNT-2: cp.async.ca.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}{{.*}}], 4;
    %r2 = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #pairs>
    %s2 = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #pairs>
    %a2 = tt.addptr %s2, %r2 : tensor<256x!tt.ptr<f16>, #pairs>, tensor<256xi32, #pairs>
    %t4 = ttg.async_copy_global_to_local %a2, %b : tensor<256x!tt.ptr<f16>, #pairs> -> !ttg.memdesc<256xf16, #line, mutable>
    // One by one they are read and stored.
    // CHECK-NOT: cp.async.c
    // CHECK-COUNT-4: ld.global.b16
    // CHECK: {{st.shared|stmatrix}}
    %s3 = tt.splat %q : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #pairs>
    %a3 = tt.addptr %s3, %r2 : tensor<256x!tt.ptr<f16>, #pairs>, tensor<256xi32, #pairs>
    %t5 = ttg.async_copy_global_to_local %a3, %b : tensor<256x!tt.ptr<f16>, #pairs> -> !ttg.memdesc<256xf16, #line, mutable>
    // CHECK: cp.async.commit_group;
    // CHECK: cp.async.wait_group 1;
    // CHECK: cp.async.wait_group 0;
    %g2 = ttg.async_commit_group tokens %t4, %t5
    %w = ttg.async_wait tokens %g {num = 1 : i32}
    %w2 = ttg.async_wait {num = 0 : i32}
    tt.barrier
    // CHECK: bar.sync 0;
    // CHECK: bar.warp.sync -1;
    ttg.warp_barrier
    %v = ttg.local_load %b token %w2 : !ttg.memdesc<256xf16, #line, mutable> -> tensor<256xf16, #pairs>
    %warp = ttg.warp_id
    %so = tt.addptr %out, %warp : !tt.ptr<f16>, i32
    %so2 = tt.splat %so : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>, #pairs>
    %ao = tt.addptr %so2, %r2 : tensor<256x!tt.ptr<f16>, #pairs>, tensor<256xi32, #pairs>
    tt.store %ao, %v : tensor<256x!tt.ptr<f16>, #pairs>
    tt.return
  }
}
