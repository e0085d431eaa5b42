# A descriptor made by the host is its leaves: base, extents, strides but the last.
#
# RUN: despina compile %s --signature "x=tensordesc<fp16[16, 32]>:nan,o=tensordesc<fp16[16, 32]>" --emit tt | FileCheck %s
# RUN: not despina compile %s --signature "tensordesc<fp16[16, 33]>,*fp16" 2>&1 | FileCheck %s --check-prefix=BLOCK
#
# CHECK: tt.func public @kernel(%[[X:.*]]: !tt.ptr<f16> {tt.divisibility = 16 : i32}{{.*}}, %[[M:.*]]: i32{{.*}}, %[[N:.*]]: i32{{.*}}, %[[S:.*]]: i64 {tt.divisibility = 8 : i32}{{.*}}, %{{.*}}: !tt.ptr<f16>
# CHECK: %[[D:.*]] = tt.make_tensor_descriptor %[[X]], [%[[M]], %[[N]]], [%[[S]], %{{.*}}] {padding = 2 : i32} : <f16>, <tensor<16x32xf16>>
# CHECK: tt.make_tensor_descriptor {{.*}} : <f16>, <tensor<16x32xf16>>
# CHECK: %[[V:.*]] = tt.descriptor_load %[[D]][
# CHECK: tt.descriptor_store %{{.*}}, %[[V]] :
# BLOCK: 'tensordesc<fp16[16, 33]>' of parameter 'x' is unknown

import triton
import triton.language as tl


@triton.jit
def kernel(x, o):
    o.store([0, 0], x.load([tl.program_id(0), 0]))
