import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def pick(a, i, b, j):
    take = a > b or (a == b and i < j)
    return tl.where(take, a, b), tl.where(take, i, j)


@triton.jit
def k(x_ptr, i_ptr, N: tl.constexpr):
    o = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + o)
    s = tl.reduce(x, 1, add)
    t = tl.associative_scan(x, 0, add)
    v, w = tl.reduce((x, o), 0, pick)
    tl.store(x_ptr + tl.arange(0, N), s + tl.sum(x, axis=0) + tl.max(t, axis=1) + v)
    tl.store(i_ptr + tl.arange(0, N), w + tl.argmax(x, axis=1))
    tl.store(x_ptr, tl.sum(tl.cumsum(x, axis=1)))
