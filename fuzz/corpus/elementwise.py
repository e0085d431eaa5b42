import triton
import triton.language as tl


@triton.jit
def k(x_ptr, y_ptr, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(x_ptr + i, mask=m, other=0.0)
    y = tl.where(x > 0, x * alpha, -x) + tl.exp(x) / (1 + tl.abs(x)) - x // 2 % 3
    tl.store(y_ptr + i, y.to(tl.float16).to(tl.float32), mask=m)
