"""`tl.map_elementwise`: functions of scalars, with branches and loops of their own, on blocks."""

import numpy as np
import pytest

from helpers import ALL, NUMPY, assert_refused, assert_same, module_from, poisoned, random_values

KERNELS = """\
@triton.jit
def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps

@triton.jit
def power(x, n):
    result = x * 0 + 1
    for _ in range(0, n):
        result *= x
    return result

@triton.jit
def order(x, y):
    if x < y:
        return x, y, x == y
    else:
        return y, x, x == y

@triton.jit
def sign(x):
    if x > 0:
        result = 1
    else:
        if x < 0:
            result = -1
        else:
            result = 0
    return result

@triton.jit
def divide(a0, a1, a2, a3, b0, b1, b2, b3):
    return a0 // b0, a1 // b1, a2 // b2, a3 // b3, a0 % b0, a1 % b1, a2 % b2, a3 % b3

@triton.jit
def neighbours(a0, a1):
    if a0 > a1:
        return a1, a0
    else:
        return a0, a1

@triton.jit
def identity(x):
    return x

@triton.jit
def one(f: tl.constexpr, x_ptr, o_ptr, N: tl.constexpr, PACK: tl.constexpr = 1):
    at = tl.arange(0, N)
    tl.store(o_ptr + at, tl.map_elementwise(f, tl.load(x_ptr + at), pack=PACK))

@triton.jit
def run_collatz(x_ptr, o_ptr, N: tl.constexpr):
    one(collatz, x_ptr, o_ptr, N)

@triton.jit
def run_sign(x_ptr, o_ptr, N: tl.constexpr):
    one(sign, x_ptr, o_ptr, N)

@triton.jit
def run_identity(x_ptr, o_ptr, N: tl.constexpr):
    one(identity, x_ptr, o_ptr, N)

@triton.jit
def run_neighbours(x_ptr, o_ptr, N: tl.constexpr):
    one(neighbours, x_ptr, o_ptr, N, 2)

@triton.jit
def run_power(x_ptr, n_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    y = tl.map_elementwise(power, tl.load(x_ptr + columns), tl.load(n_ptr + rows))
    tl.store(o_ptr + rows * N + columns, y)

@triton.jit
def run_order(x_ptr, y_ptr, o_ptr, same_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    low, high, same = tl.map_elementwise(order, tl.load(x_ptr + at), tl.load(y_ptr + at))
    tl.store(o_ptr + at, low)
    tl.store(o_ptr + N + at, high)
    tl.store(same_ptr + at, same)

@triton.jit
def run_divide(a_ptr, b_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    quotient, remainder = tl.map_elementwise(divide, tl.load(a_ptr + at), tl.load(b_ptr + at), pack=4)
    tl.store(o_ptr + at, quotient)
    tl.store(o_ptr + M * N + at, remainder)

@triton.jit
def run_scalars(o_ptr, x, y):
    low, high, same = tl.map_elementwise(order, x, y)
    tl.store(o_ptr, low)
    tl.store(o_ptr + 1, high)
    tl.store(o_ptr + 2, same.to(tl.int32))
"""
module = module_from(KERNELS)


def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@pytest.mark.parametrize("n", [1, 2, 64, 1024])
def test_loops_of_different_lengths(n, rng):
    x = rng.integers(1, 10000, n).astype(np.int64)
    out = poisoned(n, np.int32)
    module.run_collatz[(1,)](x, out, n)
    assert_same(out, np.array([collatz(int(v)) for v in x], np.int32))


def test_a_counted_loop_and_broadcasting(rng):
    x = rng.integers(-3, 4, 16).astype(np.float64)
    n = rng.integers(-2, 12, 8).astype(np.int32)
    out = poisoned((8, 16), np.float64)
    module.run_power[(1,)](x, n, out, 8, 16)
    assert_same(out, x[None, :] ** np.maximum(n, 0)[:, None])


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float16", "bfloat16", "float32", "float64"])
def test_branches(dtype, rng):
    x = random_values(rng, 128, dtype)
    x[:3] = 0
    out = poisoned(128, np.int32)
    module.run_sign[(1,)](x, out, 128)
    assert_same(out, np.sign(x.astype(np.float64)).astype(np.int32))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "int64", "float16", "bfloat16", "float32", "float64"])
def test_several_results(dtype, rng):
    x, y = random_values(rng, (2, 256), dtype)
    y[:5] = x[:5]
    out, same = poisoned((2, 256), x.dtype), poisoned(256, np.bool_)
    module.run_order[(1,)](x, y, out, same, 256)
    assert_same(out, np.stack([np.minimum(x, y), np.maximum(x, y)]))
    assert_same(same, x == y)


@pytest.mark.parametrize("dtype", ALL)
def test_types(dtype, rng):
    x = random_values(rng, 64, dtype)
    out = poisoned(64, NUMPY[dtype])
    module.run_identity[(1,)](x, out, 64)
    assert_same(out, x)


def test_packs_are_neighbours_in_memory(rng):
    x = rng.standard_normal(256).astype(np.float32)
    out = poisoned(256, np.float32)
    module.run_neighbours[(1,)](x, out, 256)
    assert_same(out, np.sort(x.reshape(128, 2), axis=1).reshape(256))


def test_packs_of_several_arguments_and_results(rng):
    a, b = rng.integers(0, 1000, (8, 32)).astype(np.int32), rng.integers(1, 30, (8, 32)).astype(np.int32)
    out = poisoned((2, 8, 32), np.int32)
    module.run_divide[(1,)](a, b, out, 8, 32)
    assert_same(out, np.stack([a // b, a % b]))


def test_scalars():
    out = poisoned(3, np.int32)
    module.run_scalars[(1,)](out, 9, 4)
    assert_same(out, np.array([4, 9, 0], np.int32))


FUNCTIONS = """
@triton.jit
def f(x):
    return x + 1

@triton.jit
def block(x):
    return x + tl.arange(0, 2)

@triton.jit
def nothing(x):
    return ()

@triton.jit
def kernel():
    x = tl.zeros((16,), tl.float32)
    y = {call}
"""


@pytest.mark.parametrize(
    "call, said",
    [
        ("tl.map_elementwise(f)", "map_elementwise needs at least one tensor"),
        ("tl.map_elementwise(f, x, x)", "f() takes 1 positional argument but 2 were given"),
        ("tl.map_elementwise(f, x, pack=3)", "pack must be a power of 2 that divides the number of elements (16)"),
        ("tl.map_elementwise(f, x, pack=32)", "pack must be a power of 2 that divides the number of elements (16)"),
        ("tl.map_elementwise(block, x)", "the function of map_elementwise must return scalars"),
        ("tl.map_elementwise(nothing, x)", "the function of map_elementwise must return at least one value"),
        ("tl.map_elementwise(1, x)", "object is not callable"),
    ],
)
@pytest.mark.cpu_only("what the front end refuses")
def test_refusals(call, said):
    module = module_from(FUNCTIONS.replace("{call}", call))
    assert_refused(module.kernel, said)
