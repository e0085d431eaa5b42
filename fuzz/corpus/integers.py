import triton
import triton.language as tl


@triton.jit
def k(i_ptr, n, B: tl.constexpr):
    o = tl.arange(0, B)
    a = tl.load(i_ptr + o)
    b = (a << 3) ^ (a >> 1) & 0xFF | ~a
    c = a.to(tl.uint8) + 200
    d = tl.minimum(a, n) if n > 3 else tl.maximum(a, -n)
    tl.store(i_ptr + o, b + c.to(tl.int32) + d)
