// RUN: not despina-opt %s --split-input-file --nvptx-emit-threads=arch=sm_90a 2>&1 | FileCheck %s

#a = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: (64); block: } -> (dim0: 128)">
#b = #ttg.layout<"{register: (64); lane: (1) (2) (4) (8) (16); warp: (32); block: } -> (dim0: 128)">
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @unplaced(%x: f32) {
    %s = tt.splat %x : f32 -> tensor<128xf32, #a>
    // CHECK: :[[@LINE+1]]:10: error: 'ttg.convert_layout' op has no scratch memory although it needs it
    %t = ttg.convert_layout %s : tensor<128xf32, #a> -> tensor<128xf32, #b>
    tt.return
  }
}

// -----

#a = #ttg.layout<"{register: (1); lane: (2) (4) (8) (16) (32); warp: (64); block: } -> (dim0: 128)">
#b = #ttg.layout<"{register: (64); lane: (1) (2) (4) (8) (16); warp: (32) (0); block: } -> (dim0: 128)">
module attributes {"ttg.num-warps" = 2 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.num-ctas" = 1 : i32} {
  tt.func public @warps(%x: f32) {
    %s = tt.splat %x : f32 -> tensor<128xf32, #a>
    // CHECK: :[[@LINE+1]]:10: error: 'ttg.convert_layout' op has layouts between which no conversion is known: 'tensor<128xf32,
    %t = ttg.convert_layout %s : tensor<128xf32, #a> -> tensor<128xf32, #b>
    tt.return
  }
}
