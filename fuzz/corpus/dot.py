import triton
import triton.language as tl


@triton.jit
def k(h_a_ptr, h_b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, BK)
    acc = tl.zeros([M, N], tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        a = tl.load(h_a_ptr + m[:, None] * K + k[None, :], mask=k[None, :] < K - i * BK, other=0)
        b = tl.load(h_b_ptr + k[:, None] * N + n)
        acc = tl.dot(a, b, acc, input_precision='ieee')
        h_a_ptr += BK
        h_b_ptr += BK * N
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc)
