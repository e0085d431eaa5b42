import triton
import triton.language as tl


N = tl.constexpr(8)
NAMES = tl.constexpr(('a', 'b'))


@triton.constexpr_function
def twice(x):
    return [2 * i for i in range(x)][-1] if x > 1 else x ** 2


@triton.jit
def k(x_ptr, B: tl.constexpr = 32, T: tl.constexpr = 'fp32'):
    M: tl.constexpr = twice(B) + N // 3 % 5 - (7 & 3)
    tl.static_assert(B >= 2, f"B={B!r:>4} {M}")
    tl.static_print('x', B, NAMES[0], T)
    shape = (B, 2, *(1, 2))
    y = tl.full((B,), 1 << 3, tl.int64) + len(shape)
    a, (b, c) = 1, (2.5, None)
    if c is None and T == 'fp32':
        tl.store(x_ptr + tl.arange(0, B), y + a + b)
