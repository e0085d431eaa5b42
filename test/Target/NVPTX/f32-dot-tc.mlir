// RUN: despina-opt %s --nvptx-f32-dot-tc=arch=sm_80 | FileCheck %s
// RUN: despina-opt %s --nvptx-f32-dot-tc=arch=sm_75 | FileCheck %s --check-prefix=OLD

// The small parts are what is left without the 13 low bits; the largest product comes last.
// CHECK-LABEL: tt.func @tf32x3(
// CHECK-SAME: %[[A:.*]]: tensor<16x16xf32>, %[[B:.*]]: tensor<16x16xf32>, %[[C:.*]]: tensor<16x16xf32>)
// CHECK: %[[MASK:.*]] = arith.constant dense<-8192> : tensor<16x16xi32>
// CHECK: %[[MASKED:.*]] = arith.andi
// CHECK: %[[A0:.*]] = tt.bitcast %[[MASKED]]
// CHECK: %[[A1:.*]] = arith.subf %[[A]], %[[A0]]
// CHECK: %[[B0:.*]] = tt.bitcast {{.*}} -> tensor<16x16xf32>
// CHECK: %[[B1:.*]] = arith.subf %[[B]], %[[B0]]
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : tensor<16x16xf32>
// CHECK: %[[SUM1:.*]] = tt.dot %[[A0]], %[[B1]], %[[ZERO]], inputPrecision = tf32
// CHECK: %[[SUM2:.*]] = tt.dot %[[A1]], %[[B0]], %[[SUM1]], inputPrecision = tf32
// CHECK: %[[ORD:.*]] = arith.cmpf ord, %[[SUM2]], %[[SUM2]]
// CHECK: %[[CLEAN:.*]] = arith.select %[[ORD]], %[[SUM2]]
// CHECK: %[[ALL:.*]] = arith.addf %[[C]], %[[CLEAN]]
// CHECK: tt.dot %[[A0]], %[[B0]], %[[ALL]], inputPrecision = tf32
// CHECK-NOT: tt.dot
// OLD-LABEL: tt.func @tf32x3(
// OLD: tt.dot {{.*}}inputPrecision = tf32x3
// OLD-NEXT: tt.return
tt.func @tf32x3(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// What bf16 would round to infinity is cut instead.
// CHECK-LABEL: tt.func @bf16x3(
// CHECK: arith.constant dense<2139062272>
// CHECK: arith.subi
// CHECK: arith.constant dense<32768>
// CHECK: arith.cmpi ult
// CHECK: arith.constant dense<-65536>
// CHECK: arith.select
// CHECK-COUNT-4: arith.truncf {{.*}} to tensor<16x16xbf16>
// CHECK-COUNT-3: tt.dot {{.*}} : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
// CHECK-NOT: tt.dot
tt.func @bf16x3(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x3 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// CHECK-LABEL: tt.func @bf16x6(
// CHECK-COUNT-6: arith.truncf {{.*}} to tensor<16x16xbf16>
// CHECK-COUNT-6: tt.dot {{.*}} : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
// CHECK-NOT: tt.dot
tt.func @bf16x6(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x6 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// Other precisions and types stay.
// CHECK-LABEL: tt.func @others(
// CHECK: tt.dot {{.*}}inputPrecision = tf32 :
// CHECK: tt.dot %{{[^:]*}} : tensor<16x16xf16>
// CHECK: tt.return
tt.func @others(%a: tensor<16x16xf32>, %h: tensor<16x16xf16>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %a, %a, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %e = tt.dot %h, %h, %d : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.return %e : tensor<16x16xf32>
}
