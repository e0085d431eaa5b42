"""Reductions and scans with users' functions: several operands, branches, loops, functions that do not commute."""

import math

import numpy as np
import pytest

from helpers import assert_same, module_from, poisoned, random_values

KERNELS = """\
@triton.jit
def gcd(a, b):
    while b != 0:
        rest = a % b
        a = b
        b = rest
    return a

@triton.jit
def better(a, i, b, j):
    if a > b:
        value, index = a, i
    else:
        if a == b:
            value, index = a, tl.minimum(i, j)
        else:
            value, index = b, j
    return value, index

@triton.jit
def early(a, b):
    if a < b:
        return a
    return b

@triton.jit
def matrix(a, b, c, d, e, f, g, h):
    return (a * e + b * g) & 65535, (a * f + b * h) & 65535, (c * e + d * g) & 65535, (c * f + d * h) & 65535

@triton.jit
def later(a, b):
    return b

@triton.jit
def power(a, b):
    # a * b by additions of at most three bits of b at a time: 0 to 7 turns.
    result = a * 0
    for _ in range(0, b & 7):
        result += a
    return result & 7

@triton.jit
def load(p, M: tl.constexpr, N: tl.constexpr):
    return tl.load(p + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])

@triton.jit
def reduce_one(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, F: tl.constexpr, SIZE: tl.constexpr):
    y = tl.reduce(load(x_ptr, M, N), AXIS, F)
    tl.store(o_ptr + tl.arange(0, SIZE), y)

@triton.jit
def reduce_gcd(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, SIZE: tl.constexpr):
    reduce_one(x_ptr, o_ptr, M, N, AXIS, gcd, SIZE)

@triton.jit
def reduce_early(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, SIZE: tl.constexpr):
    reduce_one(x_ptr, o_ptr, M, N, AXIS, early, SIZE)

@triton.jit
def reduce_power(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, SIZE: tl.constexpr):
    reduce_one(x_ptr, o_ptr, M, N, AXIS, power, SIZE)

@triton.jit
def reduce_better(x_ptr, o_ptr, i_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, SIZE: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    value, index = tl.reduce((tl.load(x_ptr + places), places), AXIS, better)
    tl.store(o_ptr + tl.arange(0, SIZE), value)
    tl.store(i_ptr + tl.arange(0, SIZE), index)

@triton.jit
def scan_matrix(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    size: tl.constexpr = M * N
    parts = (tl.load(x_ptr + places), tl.load(x_ptr + size + places), tl.load(x_ptr + 2 * size + places),
             tl.load(x_ptr + 3 * size + places))
    scanned = tl.associative_scan(parts, AXIS, matrix, reverse=REVERSE)
    for i in tl.static_range(4):
        tl.store(o_ptr + i * size + places, scanned[i])

@triton.jit
def scan_gcd(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o_ptr + places, tl.associative_scan(tl.load(x_ptr + places), AXIS, gcd, reverse=REVERSE))

@triton.jit
def scan_later(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o_ptr + places, tl.associative_scan(tl.load(x_ptr + places), AXIS, later, reverse=REVERSE))
"""
module = module_from(KERNELS)
AXES = pytest.mark.parametrize("axis", [0, 1])


@AXES
def test_a_loop_in_a_reduction(axis, rng):
    x = (rng.integers(1, 40, (8, 16)) * 6).astype(np.int32)
    out = poisoned(x.shape[1 - axis], np.int32)
    module.reduce_gcd[(1,)](x, out, 8, 16, axis, out.size)
    assert_same(out, np.gcd.reduce(x, axis=axis))


@AXES
def test_a_counted_loop_in_a_reduction(axis, rng):
    x = rng.integers(0, 8, (4, 32)).astype(np.int64)
    out = poisoned(x.shape[1 - axis], np.int64)
    module.reduce_power[(1,)](x, out, 4, 32, axis, out.size)
    assert_same(out, np.multiply.reduce(x & 7, axis=axis) & 7)


@AXES
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float64"])
def test_a_return_in_a_branch(dtype, axis, rng):
    x = random_values(rng, (16, 8), dtype)
    out = poisoned(x.shape[1 - axis], x.dtype)
    module.reduce_early[(1,)](x, out, 16, 8, axis, out.size)
    assert_same(out, x.min(axis=axis))


@AXES
@pytest.mark.parametrize("dtype", ["int8", "uint32", "float16", "float32", "float64"])
def test_branches_with_several_operands(dtype, axis, rng):
    x = random_values(rng, (8, 32), dtype, low=0, high=9) if dtype != "float16" else rng.integers(0, 9, (8, 32))
    x = np.floor(x.astype(np.float64)).astype(dtype)
    out, index = poisoned(x.shape[1 - axis], x.dtype), poisoned(x.shape[1 - axis], np.int32)
    module.reduce_better[(1,)](x, out, index, 8, 32, axis, out.size)
    assert_same(out, x.max(axis=axis))
    first = x.argmax(axis=axis)
    assert_same(index, (np.arange(8) * 32 + first if axis else first * 32 + np.arange(32)).astype(np.int32))


def scanned(x, axis, reverse, combine):
    """The scan of an array whose first dimension holds the operands."""
    lines = np.moveaxis(x.copy(), axis + 1, 0)
    order = range(lines.shape[0] - 2, -1, -1) if reverse else range(1, lines.shape[0])
    for i in order:
        lines[i] = combine(lines[i + 1 if reverse else i - 1], lines[i])
    return np.moveaxis(lines, 0, axis + 1)


@AXES
@pytest.mark.parametrize("reverse", [False, True])
def test_products_of_matrices(reverse, axis, rng):
    x = rng.integers(0, 2**16, (4, 8, 32)).astype(np.int64)
    out = poisoned(x.shape, np.int64)
    module.scan_matrix[(1,)](x, out, 8, 32, axis, reverse)

    def product(a, b):
        rows = [[a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j] for j in range(2)] for i in range(2)]
        return np.stack(rows[0] + rows[1]) & 65535

    assert_same(out, scanned(x, axis, reverse, product))


@AXES
@pytest.mark.parametrize("reverse", [False, True])
def test_a_loop_in_a_scan(reverse, axis, rng):
    x = (rng.integers(1, 9, (8, 16)) * math.factorial(6)).astype(np.int32)
    out = poisoned(x.shape, np.int32)
    module.scan_gcd[(1,)](x, out, 8, 16, axis, reverse)
    assert_same(out, scanned(x[None], axis, reverse, lambda a, b: np.gcd(a, b))[0])


@AXES
@pytest.mark.parametrize("reverse", [False, True])
def test_the_later_operand(reverse, axis, rng):
    x = rng.standard_normal((4, 64)).astype(np.float32)
    out = poisoned(x.shape, np.float32)
    module.scan_later[(1,)](x, out, 4, 64, axis, reverse)
    assert_same(out, x)
