// RUN: despina-opt %s --split-input-file --test-print-axis-info --verify-diagnostics -o %t

tt.func @sources(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  // expected-remark @+1 {{contiguity = [1], divisibility = [8], constancy = [1], constant = 24}}
  %c24 = arith.constant 24 : i32
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [2, 2], constancy = [4, 8], constant = 6}}
  %c6 = arith.constant dense<6> : tensor<4x8xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [8]}}
  %f = arith.constant dense<1.0> : tensor<8xf32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %list = arith.constant dense<[0, 4]> : tensor<2xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [4611686018427387904], constancy = [1]}}
  %r0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [4], constancy = [1]}}
  %r4 = tt.make_range {end = 20 : i32, start = 4 : i32} : tensor<16xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %pid = tt.get_program_id x : i32
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [2, 4]}}
  %ptrs = tt.splat %p : !tt.ptr<f16> -> tensor<2x4x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %l = tt.load %p : !tt.ptr<f16>
  tt.return
}

// -----

// A vector add: pid * 1024 + range(1024), below n.
tt.func @vector_add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark @+1 {{constant = 1024}}
  %c = arith.constant 1024 : i32
  // expected-remark @+1 {{divisibility = [1]}}
  %pid = tt.get_program_id x : i32
  // expected-remark @+1 {{contiguity = [1], divisibility = [1024], constancy = [1]}}
  %start = arith.muli %pid, %c : i32
  // expected-remark @+1 {{contiguity = [1024]}}
  %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1024], constancy = [1024]}}
  %starts = tt.splat %start : i32 -> tensor<1024xi32>
  // expected-remark @+1 {{contiguity = [1024], divisibility = [1024], constancy = [1]}}
  %offsets = arith.addi %starts, %range : tensor<1024xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [1024]}}
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  // The mask changes only at multiples of 16.
  // expected-remark @+1 {{constancy = [16]}}
  %mask = arith.cmpi slt, %offsets, %ns : tensor<1024xi32>
  // expected-remark @+1 {{constancy = [16]}}
  %swapped = arith.cmpi sgt, %ns, %offsets : tensor<1024xi32>
  // expected-remark @+1 {{constancy = [1]}}
  %not = arith.cmpi sle, %offsets, %ns : tensor<1024xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [1024]}}
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  // expected-remark @+1 {{contiguity = [1024], divisibility = [16], constancy = [1]}}
  %ptrs = tt.addptr %xs, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.return
}

// -----

// Rows of a matrix: row * stride + column.
tt.func @matrix(%stride: i32 {tt.divisibility = 16 : i32}, %p: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  // expected-remark @+1 {{contiguity = [8]}}
  %rows = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  // expected-remark @+1 {{contiguity = [16]}}
  %cols = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  // expected-remark @+1 {{contiguity = [8, 1], divisibility = [4611686018427387904, 1], constancy = [1, 1]}}
  %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [8, 1]}}
  %s = tt.splat %stride : i32 -> tensor<8x1xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [1, 1]}}
  %rs = arith.muli %r, %s : tensor<8x1xi32>
  // expected-remark @+1 {{contiguity = [1, 16]}}
  %c = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [1, 16]}}
  %rb = tt.broadcast %rs : tensor<8x1xi32> -> tensor<8x16xi32>
  // expected-remark @+1 {{contiguity = [1, 16], divisibility = [1, 4611686018427387904], constancy = [8, 1]}}
  %cb = tt.broadcast %c : tensor<1x16xi32> -> tensor<8x16xi32>
  // expected-remark @+1 {{contiguity = [1, 16], divisibility = [1, 16], constancy = [1, 1]}}
  %o = arith.addi %rb, %cb : tensor<8x16xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [8, 16]}}
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<8x16x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [1, 16], divisibility = [2, 16], constancy = [1, 1]}}
  %a = tt.addptr %ps, %o : tensor<8x16x!tt.ptr<f16>>, tensor<8x16xi32>
  // expected-remark @+1 {{contiguity = [16, 1], divisibility = [16, 2], constancy = [1, 1]}}
  %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<8x16x!tt.ptr<f16>> -> tensor<16x8x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [1, 8], divisibility = [2, 16], constancy = [1, 1]}}
  %half = tt.reshape %a : tensor<8x16x!tt.ptr<f16>> -> tensor<16x8x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [8], divisibility = [16], constancy = [1]}}
  %flat = tt.reshape %half : tensor<16x8x!tt.ptr<f16>> -> tensor<128x!tt.ptr<f16>>
  tt.return
}

// -----

// Runs broken into shorter ones may start inside: the divisor follows.
tt.func @clamp(%m: i32 {tt.divisibility = 16 : i32}, %k: i32) {
  // expected-remark @+1 {{contiguity = [64]}}
  %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %ms = tt.splat %m : i32 -> tensor<64xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [16], constancy = [1]}}
  %rem = arith.remsi %range, %ms : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [16]}}
  %div = arith.divsi %range, %ms : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %ks = tt.splat %k : i32 -> tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [1], constancy = [1]}}
  %shifted = arith.addi %range, %ks : tensor<64xi32>
  // The sign of k is unknown, and division rounds towards zero.
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %rem2 = arith.remsi %shifted, %ms : tensor<64xi32>
  // expected-remark @+1 {{constant = 8}}
  %c8 = arith.constant dense<8> : tensor<64xi32>
  // expected-remark @+1 {{constant = 3}}
  %c3 = arith.constant dense<3> : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [8], constancy = [1]}}
  %mul = arith.muli %range, %c8 : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [8], constancy = [1]}}
  %shl = arith.shli %range, %c3 : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [8]}}
  %shr = arith.shrui %range, %c3 : tensor<64xi32>
  // expected-remark @+1 {{constant = 15}}
  %c15 = arith.constant dense<15> : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [16], constancy = [1]}}
  %and = arith.andi %range, %c15 : tensor<64xi32>
  // expected-remark @+1 {{constant = -8}}
  %high = arith.constant dense<-8> : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [8], constancy = [8]}}
  %cleared = arith.andi %range, %high : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [8], constancy = [1]}}
  %sub = arith.subi %range, %c8 : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %neg = arith.subi %c8, %range : tensor<64xi32>
  // expected-remark @+1 {{constancy = [8]}}
  %cond = arith.cmpi uge, %range, %c8 : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [8], divisibility = [8], constancy = [1]}}
  %sel = arith.select %cond, %range, %sub : tensor<64xi1>, tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [4611686018427387904], constancy = [1]}}
  %ext = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  tt.return
}

// -----

tt.func @hints(%x: i32, %y: tensor<32xi32>) {
  // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [1]}}
  %a = arith.addi %x, %x {tt.divisibility = dense<16> : tensor<1xi32>} : i32
  // A multiple of 24 is one of 8.
  // expected-remark @+1 {{contiguity = [1], divisibility = [8], constancy = [1]}}
  %b = arith.addi %x, %x {tt.divisibility = dense<24> : tensor<1xi32>} : i32
  // expected-remark @+1 {{constancy = [4, 8]}}
  %s = tt.splat %x : i32 -> tensor<4x8xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [32]}}
  %l = tt.reshape %s : tensor<4x8xi32> -> tensor<32xi32>
  // expected-remark @+1 {{contiguity = [1, 8], divisibility = [1, 8], constancy = [4, 1]}}
  %c = "tt.reshape"(%y) {tt.contiguity = dense<[1, 64]> : tensor<2xi32>, tt.divisibility = dense<[1, 8]> : tensor<2xi32>, tt.constancy = dense<[4, 1]> : tensor<2xi32>} : (tensor<32xi32>) -> tensor<4x8xi32>
  tt.return
}

// -----

// What a loop carries holds in every iteration.
tt.func @loop(%n: i32, %p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  // expected-remark @+1 {{constant = 0}}
  %c0 = arith.constant 0 : i32
  // expected-remark @+1 {{constant = 8}}
  %c8 = arith.constant 8 : i32
  // expected-remark @+1 {{contiguity = [32]}}
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  // expected-remark @+1 {{constancy = [32]}}
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  // expected-remark @+1 {{contiguity = [32], divisibility = [16], constancy = [1]}}
  %start = tt.addptr %ps, %range : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  // expected-remark @+1 {{constant = 2}}
  %step = arith.constant dense<2> : tensor<32xi32>
  // expected-remark @+3 {{contiguity = [32], divisibility = [8], constancy = [1]}}
  // expected-remark @+2 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  // expected-remark @+1 {{contiguity = [1], divisibility = [8], constancy = [1]}}
  %r:2 = scf.for %i = %c0 to %n step %c8 iter_args(%q = %start, %s = %c8) -> (tensor<32x!tt.ptr<f32>>, i32) : i32 {
    // expected-remark @+1 {{contiguity = [32], divisibility = [8], constancy = [1]}}
    %next = tt.addptr %q, %step : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
    %t = tt.get_program_id x : i32
    scf.yield %next, %t : tensor<32x!tt.ptr<f32>>, i32
  }
  tt.return
}
