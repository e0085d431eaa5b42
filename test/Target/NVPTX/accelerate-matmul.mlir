// RUN: despina-opt %s --convert-to-ttg --nvptx-accelerate-matmul=arch=sm_90a | FileCheck %s --check-prefixes=CHECK,SM90A
// RUN: despina-opt %s --convert-to-ttg --nvptx-accelerate-matmul=arch=sm_89 | FileCheck %s --check-prefixes=CHECK,SM89
// RUN: despina-opt %s --convert-to-ttg --nvptx-accelerate-matmul=arch=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: despina-opt %s --convert-to-ttg --nvptx-accelerate-matmul=arch=sm_75 | FileCheck %s --check-prefixes=CHECK,SM75

// The layouts: warps side by side for the small result, one below the other for the tall one.
// SM80-DAG: #[[$ACC:layout[0-9]*]] = #ttg.layout<"{register: (0,1) (8,0){{.*}}; lane: (0,2) (0,4) (1,0) (2,0) (4,0); warp: (0,8) (16,0); block:} -> (dim0: 64, dim1: 64)">

// CHECK-LABEL: tt.func public @half
// SM90A: %[[A:.*]] = ttg.local_alloc %{{.*}} {alignment = 1024 : i32} : (tensor<64x64xf16, #{{.*}}>) -> !ttg.memdesc<64x64xf16, #{{.*}}>
// SM90A: %[[B:.*]] = ttg.local_alloc
// SM90A: %[[FALSE:.*]] = arith.constant false
// SM90A: ttng.warp_group_dot %[[A]], %[[B]], %{{.*}} useC %[[FALSE]] {instrShape = array<i32: 64, 64, 16>}
// SM89: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 16>
// SM80: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 16>{{.*}} -> tensor<64x64xf32, #[[$ACC]]>
// SM75: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 8>
tt.func public @half(%pa: tensor<64x64x!tt.ptr<f16>>, %pb: tensor<64x64x!tt.ptr<f16>>, %pc: tensor<64x64x!tt.ptr<f32>>) {
  %a = tt.load %pa : tensor<64x64x!tt.ptr<f16>>
  %b = tt.load %pb : tensor<64x64x!tt.ptr<f16>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %c = tt.dot %a, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tt.store %pc, %c : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// What bulk copies bring is read where it is.
// CHECK-LABEL: tt.func public @bulk
// SM90A: %[[A:.*]] = ttg.local_alloc
// SM90A: %[[B:.*]] = ttg.local_alloc
// SM90A: ttng.warp_group_dot %[[A]], %[[B]],
tt.func public @bulk(%ma: !tt.ptr<i8>, %mb: !tt.ptr<i8>, %i: i32, %c: tensor<64x64xf32>) {
  %a = ttng.tma_load %ma[%i, %i] : !tt.ptr<i8> -> tensor<64x64xf16>
  %b = ttng.tma_load %mb[%i, %i] : !tt.ptr<i8> -> tensor<64x64xf16>
  %d = tt.dot %a, %b, %c : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tt.return
}

// fp8 is widened where no unit has it.
// CHECK-LABEL: tt.func public @float8
// SM90A: ttng.warp_group_dot {{.*}}instrShape = array<i32: 64, 64, 32>
// SM89-NOT: tt.fp_to_fp
// SM89: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 32>
// SM80-COUNT-2: tt.fp_to_fp
// SM80: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 16>
// SM75-COUNT-2: tt.fp_to_fp
// SM75: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 8>
tt.func public @float8(%pa: tensor<64x64x!tt.ptr<f8E4M3FN>>, %pb: tensor<64x64x!tt.ptr<f8E5M2>>, %pc: tensor<64x64x!tt.ptr<f32>>) {
  %a = tt.load %pa : tensor<64x64x!tt.ptr<f8E4M3FN>>
  %b = tt.load %pb : tensor<64x64x!tt.ptr<f8E5M2>>
  %c = tt.load %pc : tensor<64x64x!tt.ptr<f32>>
  %d = tt.dot %a, %b, %c : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E5M2> -> tensor<64x64xf32>
  tt.store %pc, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// f32 only where tf32 is allowed.
// CHECK-LABEL: tt.func public @float
// SM90A: ttng.warp_group_dot {{.*}}inputPrecision = tf32 {{.*}}instrShape = array<i32: 64, 64, 8>
// SM80: ttng.mma {{.*}}inputPrecision = tf32 {{.*}}instrShape = array<i32: 16, 8, 8>
// SM75: tt.dot {{.*}}inputPrecision = tf32
// CHECK: tt.dot
tt.func public @float(%pa: tensor<64x64x!tt.ptr<f32>>, %pb: tensor<64x64x!tt.ptr<f32>>) {
  %a = tt.load %pa : tensor<64x64x!tt.ptr<f32>>
  %b = tt.load %pb : tensor<64x64x!tt.ptr<f32>>
  %c = tt.dot %a, %b, %a, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  %d = tt.dot %a, %c, %b : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  tt.store %pb, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: tt.func public @integers
// SM90A: ttng.warp_group_dot {{.*}}instrShape = array<i32: 64, 32, 32>
// SM80: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 32>
// SM75: tt.dot
tt.func public @integers(%pa: tensor<64x32x!tt.ptr<i8>>, %pb: tensor<32x32x!tt.ptr<i8>>, %pc: tensor<64x32x!tt.ptr<i32>>) {
  %a = tt.load %pa : tensor<64x32x!tt.ptr<i8>>
  %b = tt.load %pb : tensor<32x32x!tt.ptr<i8>>
  %c = tt.load %pc : tensor<64x32x!tt.ptr<i32>>
  %d = tt.dot %a, %b, %c : tensor<64x32xi8> * tensor<32x32xi8> -> tensor<64x32xi32>
  tt.store %pc, %d : tensor<64x32x!tt.ptr<i32>>
  tt.return
}

// What wgmma lacks, mma.sync may have: f64, batches, few rows.
// CHECK-LABEL: tt.func public @others
// SM90A: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 4>
// SM80: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 4>
// SM75: tt.dot
// SM90A: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 16>{{.*}} -> tensor<2x64x16xf32
// SM80: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 16>{{.*}} -> tensor<2x64x16xf32
// SM90A: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 16>{{.*}} -> tensor<1x16xf16
// SM75: ttng.mma {{.*}}instrShape = array<i32: 16, 8, 8>{{.*}} -> tensor<1x16xf16
tt.func public @others(%pa: tensor<64x4x!tt.ptr<f64>>, %pb: tensor<4x64x!tt.ptr<f64>>, %pc: tensor<64x64x!tt.ptr<f64>>,
                       %pd: tensor<2x64x16x!tt.ptr<f16>>, %pe: tensor<2x16x16x!tt.ptr<f16>>, %pf: tensor<2x64x16x!tt.ptr<f32>>,
                       %pg: tensor<1x16x!tt.ptr<f16>>, %ph: tensor<16x16x!tt.ptr<f16>>) {
  %a = tt.load %pa : tensor<64x4x!tt.ptr<f64>>
  %b = tt.load %pb : tensor<4x64x!tt.ptr<f64>>
  %c = tt.load %pc : tensor<64x64x!tt.ptr<f64>>
  %0 = tt.dot %a, %b, %c : tensor<64x4xf64> * tensor<4x64xf64> -> tensor<64x64xf64>
  tt.store %pc, %0 : tensor<64x64x!tt.ptr<f64>>
  %d = tt.load %pd : tensor<2x64x16x!tt.ptr<f16>>
  %e = tt.load %pe : tensor<2x16x16x!tt.ptr<f16>>
  %f = tt.load %pf : tensor<2x64x16x!tt.ptr<f32>>
  %1 = tt.dot %d, %e, %f : tensor<2x64x16xf16> * tensor<2x16x16xf16> -> tensor<2x64x16xf32>
  tt.store %pf, %1 : tensor<2x64x16x!tt.ptr<f32>>
  %g = tt.load %pg : tensor<1x16x!tt.ptr<f16>>
  %h = tt.load %ph : tensor<16x16x!tt.ptr<f16>>
  %2 = tt.dot %g, %h, %g : tensor<1x16xf16> * tensor<16x16xf16> -> tensor<1x16xf16>
  tt.store %pg, %2 : tensor<1x16x!tt.ptr<f16>>
  tt.return
}

// Attention: what is computed stays in registers, and rows stay in warps. K is read transposed.
// CHECK-LABEL: tt.func public @chained
// SM90A-DAG: ttg.local_alloc
// SM90A: %[[S:.*]] = ttng.warp_group_dot {{.*}} : !ttg.memdesc<64x64xf16, #{{.*}}> * <64x64xf16, #{{.*}}> -> tensor<64x64xf32, #{{.*}}>
// SM90A: arith.truncf
// SM90A: ttng.warp_group_dot {{.*}} : tensor<64x64xf16, #{{.*}}> * <64x64xf16, #{{.*}}> -> tensor<64x64xf32, #{{.*}}>
// SM80: ttng.mma {{.*}} -> tensor<64x64xf32, #[[ROWS:layout[0-9]*]]>
// SM80: ttng.mma {{.*}} -> tensor<64x64xf32, #[[ROWS]]>
tt.func public @chained(%pq: tensor<64x64x!tt.ptr<f16>>, %pk: tensor<64x64x!tt.ptr<f16>>, %pv: tensor<64x64x!tt.ptr<f16>>, %po: tensor<64x64x!tt.ptr<f32>>) {
  %q = tt.load %pq : tensor<64x64x!tt.ptr<f16>>
  %k = tt.load %pk : tensor<64x64x!tt.ptr<f16>>
  %v = tt.load %pv : tensor<64x64x!tt.ptr<f16>>
  %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = tt.dot %q, %kt, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
  %scaled = arith.mulf %s, %s : tensor<64x64xf32>
  %o = tt.dot %p, %v, %scaled : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tt.store %po, %o : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
