import triton
import triton.language as tl


@triton.jit
def k(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N * N))
    y = tl.reshape(x, (N, N)).T
    z = tl.join(y, y + 1)
    a, b = z.split()
    c = tl.permute(z, (2, 0, 1)).reshape(2 * N * N)
    d = tl.interleave(x, x)
    e = tl.cat(x, x, can_reorder=True)
    f = tl.expand_dims(x, 0).broadcast_to(2, N * N)
    g = tl.trans(a) + tl.view(b, [N, N]) + tl.ravel(y).reshape([N, N])
    tl.store(x_ptr + tl.arange(0, 2 * N * N), c + d + e + tl.ravel(f))
    tl.store(x_ptr + tl.arange(0, N * N), tl.ravel(g))
