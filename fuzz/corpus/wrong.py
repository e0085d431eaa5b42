import triton
import triton.language as tl


@triton.jit
def k(x_ptr, n, B: tl.constexpr):
    x = tl.arange(0, 3)
    for i in range(n):
        y = x[0:1]
        x = x.to(tl.float32)
    import os
    lambda: (yield)
    z = {1: 2, **{}}
    x.a = [q for q in range(3) if q]
    with nothing as w:
        return missing + tl.load(x_ptr, other=0) + "a" @ x
    try:
        raise x
    finally:
        del x
