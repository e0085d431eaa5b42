import triton
import triton.language as tl


@triton.jit
def fib(n: tl.constexpr):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


@triton.jit(noinline=True)
def pair(x, y=2, *rest):
    return x + y, (x, rest)


@triton.jit
def k(x_ptr, n):
    a, b = pair(n, y=n * 2)
    c = pair(1, *(2, 3))[1][0]
    tl.store(x_ptr, a + fib(5) + c + b[0])
