# Programs of two and four blocks, as a cluster.
#
# The blocks of a product have rows each, of a and of the result, and all of b: nothing moves between them.
# RUN: despina compile %s:product -t cuda --arch sm_90a --num-ctas 2 -s "*fp16:16,*fp16:16,*fp32:16,i32:16" -c M=128 N=64 K=64 -e ptx | FileCheck %s --check-prefix=DOT
# DOT: %cluster_ctaid.x
# DOT-NOT: barrier.cluster
# DOT-NOT: mapa
# DOT: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
# DOT-NOT: barrier.cluster
# DOT: ret;
#
# 64 rows are for one group of warps: blocks have columns each.
# RUN: despina compile %s:product -t cuda --arch sm_90a --num-ctas 2 -s "*fp16:16,*fp16:16,*fp32:16,i32:16" -c M=64 N=128 K=64 -e ptx | FileCheck %s --check-prefix=DOT
#
# A sum over what the blocks have: each writes its part to its own memory, and reads the others'.
# RUN: despina compile %s:total -t cuda --arch sm_90a --num-ctas 4 -s "*fp32:16,*fp32" -c N=4096 -e ptx | FileCheck %s --check-prefix=SUM
# SUM: st.shared
# SUM: barrier.cluster.arrive.aligned;
# SUM-NEXT: barrier.cluster.wait.aligned;
# SUM: mapa.shared::cluster.u32
# SUM: ld.shared::cluster
# SUM: barrier.cluster.arrive.aligned;
# SUM: barrier.cluster.wait.aligned;
# SUM: ret;
#
# RUN: despina compile %s:product -t cuda --arch sm_90a --num-ctas 2 -s "*fp16:16,*fp16:16,*fp32:16,i32:16" -c M=128 N=64 K=64 -e cubin -o %t.product.cubin
# RUN: despina compile %s:total -t cuda --arch sm_90a --num-ctas 4 -s "*fp32:16,*fp32" -c N=4096 -e cubin -o %t.total.cubin

import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for k in range(0, n, K):
        a = tl.load(a_ptr + rows[:, None] * n + k + inner[None, :])
        b = tl.load(b_ptr + (k + inner)[:, None] * N + columns[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def total(x_ptr, out_ptr, N: tl.constexpr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, N))))
