import triton
import triton.language as tl


@triton.jit
def k(x_ptr, i_ptr, N: tl.constexpr):
    o = tl.arange(0, N)
    a = tl.atomic_add(x_ptr + o, 1.0, mask=o < 3, sem='relaxed', scope='gpu')
    b = tl.atomic_cas(i_ptr, 0, 1)
    c = tl.atomic_max(i_ptr + o, b)
    tl.atomic_xchg(i_ptr + o, tl.atomic_and(i_ptr + o, c) | tl.atomic_or(i_ptr + o, 1))
    tl.store(x_ptr + o, a)
