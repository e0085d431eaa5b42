import triton
import triton.language as tl


@triton.jit
def k(x_ptr, n, N: tl.constexpr):
    acc = tl.zeros((N,), dtype=tl.float32)
    for i in range(0, n, 2):
        acc += tl.load(x_ptr + i + tl.arange(0, N))
    for j in tl.static_range(4):
        acc *= j + 1
    for i in tl.range(n, num_stages=2):
        acc -= i
    k = 0
    while k < n:
        k += 1
        acc = acc + k
    tl.store(x_ptr + tl.arange(0, N), acc)
