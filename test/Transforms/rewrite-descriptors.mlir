// RUN: despina-opt %s --tt-rewrite-descriptors --canonicalize | FileCheck %s

// CHECK-NOT: tensordesc
// CHECK-LABEL: tt.func @load
// CHECK-SAME: %[[P:.*]]: !tt.ptr<f16> {{.*}}, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[S:.*]]: i64, %[[I:.*]]: i32, %[[J:.*]]: i32
tt.func @load(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i32, %n: i32, %s: i64, %i: i32, %j: i32) -> tensor<8x16xf16> {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f16>, <tensor<8x16xf16>>
  // CHECK-DAG: %[[R0:.*]] = tt.make_range {end = 8 : i32, start = 0 : i32}
  // CHECK-DAG: arith.extsi %[[R0]] : tensor<8xi32> to tensor<8xi64>
  // CHECK-DAG: %[[I64:.*]] = arith.extsi %[[I]] : i32 to i64
  // CHECK: arith.muli {{.*}} : tensor<8x1xi64>
  // CHECK: %[[ROWS:.*]] = tt.addptr
  // CHECK: arith.cmpi sge
  // CHECK: arith.cmpi slt
  // CHECK: %[[INSIDE:.*]] = arith.andi {{.*}} : tensor<8x1xi1>
  // CHECK: %[[PTR:.*]] = tt.addptr {{.*}} : tensor<8x16x!tt.ptr<f16>>, tensor<8x16xi64>
  // CHECK: %[[MASK:.*]] = arith.andi {{.*}} : tensor<8x16xi1>
  // CHECK: tt.load %[[PTR]], %[[MASK]] evictionPolicy = evict_first : tensor<8x16x!tt.ptr<f16>>
  %v = tt.descriptor_load %d[%i, %j] evictionPolicy = evict_first : !tt.tensordesc<tensor<8x16xf16>> -> tensor<8x16xf16>
  tt.return %v : tensor<8x16xf16>
}

// CHECK-LABEL: tt.func @nan
tt.func @nan(%p: !tt.ptr<f32>, %m: i32, %i: i32) -> tensor<16xf32> {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m], [%one] {padding = 2 : i32} : <f32>, <tensor<16xf32>>
  // CHECK: %[[NAN:.*]] = arith.constant dense<0x7FC00000> : tensor<16xf32>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %[[NAN]] : tensor<16x!tt.ptr<f32>>
  %v = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<16xf32>> -> tensor<16xf32>
  tt.return %v : tensor<16xf32>
}

// CHECK-LABEL: tt.func @store
tt.func @store(%p: !tt.ptr<f32>, %m: i32, %i: i32, %v: tensor<16xf32>) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m], [%one] : <f32>, <tensor<16xf32>>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<16x!tt.ptr<f32>>
  tt.descriptor_store %d[%i], %v : !tt.tensordesc<tensor<16xf32>>, tensor<16xf32>
  tt.return
}

// CHECK-LABEL: tt.func @reduce
tt.func @reduce(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %m: i32, %i: i32, %v: tensor<16xf32>, %w: tensor<16xi32>) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m], [%one] : <f32>, <tensor<16xf32>>
  %u = tt.make_tensor_descriptor %q, [%m], [%one] : <i32>, <tensor<16xui32>>
  %s = tt.make_tensor_descriptor %q, [%m], [%one] : <i32>, <tensor<16xsi32>>
  // CHECK: tt.atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
  tt.descriptor_reduce add, %d[%i], %v : !tt.tensordesc<tensor<16xf32>>, tensor<16xf32>
  // CHECK: tt.atomic_rmw umax
  tt.descriptor_reduce max, %u[%i], %w : !tt.tensordesc<tensor<16xui32>>, tensor<16xi32>
  // CHECK: tt.atomic_rmw min
  tt.descriptor_reduce min, %s[%i], %w : !tt.tensordesc<tensor<16xsi32>>, tensor<16xi32>
  // CHECK: tt.atomic_rmw xor
  tt.descriptor_reduce xor, %s[%i], %w : !tt.tensordesc<tensor<16xsi32>>, tensor<16xi32>
  tt.return
}

// CHECK-LABEL: tt.func @rows
// CHECK-SAME: %{{.*}}: !tt.ptr<f32>, %{{.*}}: i32, %{{.*}}: i64, %[[X:.*]]: tensor<8xi16>
tt.func @rows(%p: !tt.ptr<f32>, %m: i32, %s: i64, %x: tensor<8xi16>, %y: i32) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m, %m], [%s, %one] : <f32>, <tensor<1x16xf32>>
  // CHECK: arith.extsi %[[X]] : tensor<8xi16> to tensor<8xi64>
  // CHECK: %[[V:.*]] = tt.load %{{.*}}, %{{.*}} : tensor<8x16x!tt.ptr<f32>>
  %v = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<tensor<1x16xf32>>, tensor<8xi16>, i32) -> tensor<8x16xf32>
  // CHECK: tt.store %{{.*}}, %[[V]], %{{.*}} : tensor<8x16x!tt.ptr<f32>>
  tt.descriptor_scatter %d[%x, %y], %v : !tt.tensordesc<tensor<1x16xf32>>, tensor<8xi16>, i32, tensor<8x16xf32>
  tt.return
}

// A loop that carries a descriptor carries its leaves; the loop's own attributes stay.
// CHECK-LABEL: tt.func @loop
tt.func @loop(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %m: i32, %n: i32, %v: tensor<16xf32>) {
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %d = tt.make_tensor_descriptor %p, [%m], [%one] : <f32>, <tensor<16xf32>>
  // CHECK: scf.for unsigned {{.*}} iter_args({{.*}}) -> (!tt.ptr<f32>, i32)
  %last = scf.for unsigned %i = %zero to %n step %step iter_args(%e = %d) -> (!tt.tensordesc<tensor<16xf32>>) : i32 {
    tt.descriptor_store %e[%i], %v : !tt.tensordesc<tensor<16xf32>>, tensor<16xf32>
    %next = tt.make_tensor_descriptor %q, [%i], [%one] : <f32>, <tensor<16xf32>>
    scf.yield %next : !tt.tensordesc<tensor<16xf32>>
  // CHECK: } {tt.num_stages = 3 : i32}
  } {tt.num_stages = 3 : i32}
  // CHECK: tt.store
  tt.descriptor_store %last[%m], %v : !tt.tensordesc<tensor<16xf32>>, tensor<16xf32>
  tt.return
}

// Which padding a chosen descriptor has is known at run time only.
// CHECK-LABEL: tt.func @branch
// CHECK-SAME: %[[C:.*]]: i1
tt.func @branch(%c: i1, %p: !tt.ptr<f32>, %m: i32, %x: i1) -> tensor<16xf32> {
  %one = arith.constant 1 : i64
  %d = scf.if %c -> !tt.tensordesc<tensor<16xf32>> {
    %a = tt.make_tensor_descriptor %p, [%m], [%one] {padding = 2 : i32} : <f32>, <tensor<16xf32>>
    scf.yield %a : !tt.tensordesc<tensor<16xf32>>
  } else {
    %b = tt.make_tensor_descriptor %p, [%m], [%one] : <f32>, <tensor<16xf32>>
    scf.yield %b : !tt.tensordesc<tensor<16xf32>>
  }
  %e = ub.poison : !tt.tensordesc<tensor<16xf32>>
  %f = arith.select %x, %d, %e : !tt.tensordesc<tensor<16xf32>>
  // CHECK: %[[OTHER:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<16xf32>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %[[OTHER]]
  %v = tt.descriptor_load %f[%m] : !tt.tensordesc<tensor<16xf32>> -> tensor<16xf32>
  tt.return %v : tensor<16xf32>
}

// CHECK-LABEL: tt.func @while
tt.func @while(%p: !tt.ptr<f32>, %m: i32) {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m], [%one] : <f32>, <tensor<16xf32>>
  // CHECK: scf.while
  %r:2 = scf.while (%e = %d, %i = %m) : (!tt.tensordesc<tensor<16xf32>>, i32) -> (!tt.tensordesc<tensor<16xf32>>, i32) {
    %more = arith.cmpi sgt, %i, %m : i32
    scf.condition(%more) %e, %i : !tt.tensordesc<tensor<16xf32>>, i32
  } do {
  ^bb0(%e: !tt.tensordesc<tensor<16xf32>>, %i: i32):
    %v = tt.descriptor_load %e[%i] : !tt.tensordesc<tensor<16xf32>> -> tensor<16xf32>
    tt.descriptor_store %e[%m], %v : !tt.tensordesc<tensor<16xf32>>, tensor<16xf32>
    %next = tt.make_tensor_descriptor %p, [%i], [%one] : <f32>, <tensor<16xf32>>
    scf.yield %next, %i : !tt.tensordesc<tensor<16xf32>>, i32
  }
  tt.return
}

// CHECK-LABEL: tt.func private @callee
// CHECK-SAME: (%{{.*}}: i32 {tt.divisibility = 16 : i32}, %{{.*}}: !tt.ptr<f32>, %{{.*}}: i32, %{{.*}}: i64, %{{.*}}: i1, %{{.*}}: i32 {tt.divisibility = 8 : i32}) -> (!tt.ptr<f32>, i32, i64, i1)
tt.func private @callee(%a: i32 {tt.divisibility = 16 : i32}, %d: !tt.tensordesc<tensor<16xf32>>, %b: i32 {tt.divisibility = 8 : i32}) -> !tt.tensordesc<tensor<16xf32>> attributes {noinline = true} {
  tt.return %d : !tt.tensordesc<tensor<16xf32>>
}

// CHECK-LABEL: tt.func @caller
tt.func @caller(%p: !tt.ptr<f32>, %m: i32) -> tensor<16xf32> {
  %one = arith.constant 1 : i64
  %d = tt.make_tensor_descriptor %p, [%m], [%one] : <f32>, <tensor<16xf32>>
  // CHECK: tt.call @callee({{.*}}) : (i32, !tt.ptr<f32>, i32, i64, i1, i32) -> (!tt.ptr<f32>, i32, i64, i1)
  %e = tt.call @callee(%m, %d, %m) : (i32, !tt.tensordesc<tensor<16xf32>>, i32) -> !tt.tensordesc<tensor<16xf32>>
  %v = tt.descriptor_load %e[%m] : !tt.tensordesc<tensor<16xf32>> -> tensor<16xf32>
  tt.return %v : tensor<16xf32>
}
