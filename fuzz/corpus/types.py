import triton
import triton.language as tl


@triton.jit
def k(x_ptr, h_ptr, i_ptr, n: 'i64', eps: 'fp64', T: tl.constexpr = tl.float64):
    a = tl.load(h_ptr).to(tl.float8e5).to(T)
    b = tl.load(i_ptr).to(tl.float32, bitcast=True)
    c = tl.cast(n, tl.pointer_type(tl.float32))
    d = tl.zeros((4,), tl.int1) | True
    e = tl.full((2, 2), eps, x_ptr.dtype.element_ty)
    if tl.constexpr(x_ptr.dtype.element_ty == tl.float32):
        tl.store(x_ptr, a + b + tl.load(c))
    tl.store(x_ptr + tl.arange(0, 4), d.to(tl.float32) * 2 ** 3)
    tl.static_assert(e.shape[0] == 2 and e.dtype.primitive_bitwidth == 32)
