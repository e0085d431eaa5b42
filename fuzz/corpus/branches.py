import triton
import triton.language as tl


@triton.jit
def helper(x, FLAG: tl.constexpr):
    if FLAG:
        return x + 1
    else:
        return x * 2.0


@triton.jit
def k(x_ptr, n, IS_A: tl.constexpr, B: tl.constexpr = None):
    x = tl.load(x_ptr)
    if n > 4:
        x = x + 1
    elif n < 0 and n != -3 or not n:
        x = helper(x, IS_A)
    else:
        return
    if IS_A and B is None:
        y = x
    else:
        y = x - 1
    tl.store(x_ptr, y if n else x)
