// RUN: despina-opt %s --convert-to-ttg --ttg-coalesce --test-verify-layouts --split-input-file | FileCheck %s

// Eight f16 fill 128 bits; the mask is uniform over them.
// CHECK: #[[$WIDE:.+]] = #ttg.layout<"{register: (1) (2) (4) (1024); lane: (8) (16) (32) (64) (128); warp: (256) (512); block:} -> (dim0: 2048)">
// CHECK-LABEL: @half
// CHECK: tt.load %{{.*}}, %{{.*}} : tensor<2048x!tt.ptr<f16>, #[[$WIDE]]>
// CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<2048x!tt.ptr<f16>, #[[$WIDE]]>
tt.func @half(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32>
  %1 = tt.splat %n : i32 -> tensor<2048xi32>
  %m = arith.cmpi slt, %0, %1 : tensor<2048xi32>
  %2 = tt.splat %p : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
  %3 = tt.addptr %2, %0 : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>
  %4 = tt.load %3, %m : tensor<2048x!tt.ptr<f16>>
  tt.store %3, %4, %m : tensor<2048x!tt.ptr<f16>>
  tt.return
}

// -----

// A mask that may change at any element allows no wide access: then neighbours go to neighbouring lanes.
// CHECK: #[[$NARROW:.+]] = #ttg.layout<"{register: (128) (256) (512) (1024); lane: (1) (2) (4) (8) (16); warp: (32) (64); block:} -> (dim0: 2048)">
// CHECK-LABEL: @mask
// CHECK: tt.load %{{.*}}, %{{.*}} : tensor<2048x!tt.ptr<f16>, #[[$NARROW]]>
tt.func @mask(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<2048xf16> {
  %0 = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32>
  %1 = tt.splat %n : i32 -> tensor<2048xi32>
  %m = arith.cmpi slt, %0, %1 : tensor<2048xi32>
  %2 = tt.splat %p : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
  %3 = tt.addptr %2, %0 : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>
  %4 = tt.load %3, %m : tensor<2048x!tt.ptr<f16>>
  tt.return %4 : tensor<2048xf16>
}

// -----

// Pointers of unknown alignment.
// CHECK: #[[$NARROW:.+]] = #ttg.layout<"{register: (128) (256) (512) (1024); lane: (1)
// CHECK-LABEL: @unaligned
// CHECK: tt.load %{{.*}} : tensor<2048x!tt.ptr<f32>, #[[$NARROW]]>
tt.func @unaligned(%p: !tt.ptr<f32>) -> tensor<2048xf32> {
  %0 = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32>
  %2 = tt.splat %p : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
  %3 = tt.addptr %2, %0 : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
  %4 = tt.load %3 : tensor<2048x!tt.ptr<f32>>
  tt.return %4 : tensor<2048xf32>
}

// -----

// No more elements in a thread than there are for each.
// CHECK: #[[$FEW:.+]] = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: (64) (128); block:} -> (dim0: 256)">
// CHECK-LABEL: @few
// CHECK: tt.load %{{.*}} : tensor<256x!tt.ptr<f16>, #[[$FEW]]>
tt.func @few(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}) -> tensor<256xf16> {
  %0 = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %2 = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %3 = tt.addptr %2, %0 : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %4 = tt.load %3 : tensor<256x!tt.ptr<f16>>
  tt.return %4 : tensor<256xf16>
}

// -----

// Loaded as f16, stored as f32: four elements, the most that one store takes, on both sides.
// CHECK: #[[$FOUR:.+]] = #ttg.layout<"{register: (1) (2) (512) (1024); lane: (4)
// CHECK-LABEL: @agreed
// CHECK: tt.load %{{.*}} : tensor<2048x!tt.ptr<f16>, #[[$FOUR]]>
// CHECK: tt.store %{{.*}}, %{{.*}} : tensor<2048x!tt.ptr<f32>, #[[$FOUR]]>
tt.func @agreed(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {start = 0 : i32, end = 2048 : i32} : tensor<2048xi32>
  %1 = tt.splat %p : !tt.ptr<f16> -> tensor<2048x!tt.ptr<f16>>
  %2 = tt.addptr %1, %0 : tensor<2048x!tt.ptr<f16>>, tensor<2048xi32>
  %3 = tt.load %2 : tensor<2048x!tt.ptr<f16>>
  %4 = arith.extf %3 : tensor<2048xf16> to tensor<2048xf32>
  %5 = tt.splat %q : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
  %6 = tt.addptr %5, %0 : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
  tt.store %6, %4 : tensor<2048x!tt.ptr<f32>>
  tt.return
}

// -----

// Columns are contiguous in the source, rows in the destination.
// CHECK-DAG: #[[$ROWS:.+]] = #ttg.layout<"{register: (0,1) (0,2) (8,0) (16,0) (32,0); lane: (0,4) (0,8) (0,16) (0,32) (1,0); warp: (2,0) (4,0); block:} -> (dim0: 64, dim1: 64)">
// CHECK-DAG: #[[$COLUMNS:.+]] = #ttg.layout<"{register: (1,0) (2,0) (0,8) (0,16) (0,32); lane: (4,0) (8,0) (16,0) (32,0) (0,1); warp: (0,2) (0,4); block:} -> (dim0: 64, dim1: 64)">
// CHECK-LABEL: @transposed
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f32>, #[[$COLUMNS]]>
// CHECK: tt.store %{{.*}}, %{{.*}} : tensor<64x64x!tt.ptr<f32>, #[[$ROWS]]>
tt.func @transposed(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %2 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<64x1xi32>
  %t = tt.splat %stride : i32 -> tensor<1x64xi32>
  %3 = arith.muli %1, %s : tensor<64x1xi32>
  %4 = arith.muli %2, %t : tensor<1x64xi32>
  %5 = tt.broadcast %3 : tensor<64x1xi32> -> tensor<64x64xi32>
  %6 = tt.broadcast %2 : tensor<1x64xi32> -> tensor<64x64xi32>
  %7 = arith.addi %5, %6 : tensor<64x64xi32>
  %8 = tt.broadcast %4 : tensor<1x64xi32> -> tensor<64x64xi32>
  %9 = tt.broadcast %1 : tensor<64x1xi32> -> tensor<64x64xi32>
  %10 = arith.addi %8, %9 : tensor<64x64xi32>
  %11 = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %12 = tt.addptr %11, %10 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %13 = tt.load %12 : tensor<64x64x!tt.ptr<f32>>
  %14 = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %15 = tt.addptr %14, %7 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %15, %13 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Blocks of descriptors are rows of memory.
// CHECK-DAG: #[[$WIDE:.+]] = #ttg.layout<"{register: (0,1) (0,2) (0,4) (16,0); lane: (0,8) (0,16) (0,32) (1,0) (2,0); warp: (4,0) (8,0); block:} -> (dim0: 32, dim1: 64)">
// CHECK-LABEL: @blocks
// CHECK: tt.descriptor_load %{{.*}} -> tensor<32x64xf16, #[[$WIDE]]>
// CHECK: tt.descriptor_store %{{.*}}, tensor<32x64xf16, #[[$WIDE]]>
// CHECK: tt.descriptor_gather %{{.*}} -> tensor<32x64xf16, #[[$WIDE]]>
tt.func @blocks(%d: !tt.tensordesc<tensor<32x64xf16>>, %r: !tt.tensordesc<tensor<1x64xf16>>, %i: i32) -> tensor<32x64xf16> {
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<32x64xf16>> -> tensor<32x64xf16>
  tt.descriptor_store %d[%i, %i], %0 : !tt.tensordesc<tensor<32x64xf16>>, tensor<32x64xf16>
  %1 = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %2 = tt.descriptor_gather %r[%1, %i] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32) -> tensor<32x64xf16>
  tt.return %2 : tensor<32x64xf16>
}
