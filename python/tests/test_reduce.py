"""Reductions and scans against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import (
    RANDOM_FACTOR,
    ALL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    NUMPY,
    UNSIGNED,
    assert_same,
    assert_softmax,
    assert_within,
    module_from,
    poisoned,
    random_values,
    wide,
)


def reduced_type(name, dtype):
    """The dtype of sum, max and min: spec 1.10."""
    if dtype == "int1":
        return "uint32" if name == "sum" else "int32"
    if dtype in INTEGERS:
        narrow = NUMPY[dtype].itemsize < 4
        if not narrow:
            return dtype
        return "uint32" if dtype in UNSIGNED and name == "sum" else "int32"
    if name == "sum":
        return dtype
    return "float32" if dtype in ("bfloat16", "float16") else dtype


REDUCE = """
@triton.jit
def kernel(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, AXIS: tl.constexpr, SIZE: tl.constexpr):
    offsets = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    result = {expression}
    tl.store(out_ptr + tl.arange(0, SIZE), tl.reshape(result, (SIZE,)))
"""
KERNELS = {}


def kernel_of(expression):
    if expression not in KERNELS:
        text = REDUCE.format(expression=expression.replace("x,", "tl.load(x_ptr + offsets),", 1))
        KERNELS[expression] = module_from(text).kernel
    return KERNELS[expression]


def reduce(expression, x, axis, out_dtype, size):
    out = poisoned(size, NUMPY[out_dtype])
    kernel_of(expression)[(1,)](x, out, A=x.shape[0], B=x.shape[1], AXIS=axis, SIZE=size)
    return out


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ALL)
def test_sum(dtype, axis, rng):
    x = random_values(rng, (16, 32), dtype)
    if dtype in FLOATS:  # Whole numbers whose sums are exact in every type and order.
        x = rng.integers(-3, 4, (16, 32)).astype(NUMPY[dtype])
    result_type = reduced_type("sum", dtype)
    expected = x.astype(NUMPY[result_type]) if dtype not in FLOATS else wide(x)
    with np.errstate(all="ignore"):
        expected = expected.sum(axis=axis, dtype=expected.dtype).astype(NUMPY[result_type])
    assert_same(reduce("tl.sum(x, axis=AXIS)", x, axis, result_type, expected.size), expected)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dtype", NUMBERS)
def test_max_and_min(name, dtype, axis, rng):
    x = random_values(rng, (8, 64), dtype)
    if dtype in FLOATS:
        x[:, ::9] = np.nan
    result_type = reduced_type(name, dtype)
    function = {"max": np.fmax, "min": np.fmin}[name]
    expected = function.reduce(wide(x), axis=axis).astype(NUMPY[result_type])
    assert_same(reduce(f"tl.{name}(x, axis=AXIS)", x, axis, result_type, expected.size), expected)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float16", "float32", "float64"])
def test_argmax_and_argmin(name, dtype, axis, rng):
    x = random_values(rng, (16, 16), dtype, -3, 3)  # Few values: ties are the rule.
    expected = getattr(np, name)(wide(x), axis=axis).astype(np.int32)
    assert_same(reduce(f"tl.{name}(x, axis=AXIS)", x, axis, "int32", 16), expected)


def test_argmax_skips_nan():
    x = np.array([[np.nan, 6, 8, 1], [3, 5, np.nan, 2]], np.float32)
    assert reduce("tl.argmax(x, axis=AXIS)", x, 1, "int32", 2).tolist() == [2, 1]


def test_max_with_indices(rng):
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, value_ptr, index_ptr):
            offsets = tl.arange(0, 8)[:, None] * 32 + tl.arange(0, 32)[None, :]
            value, index = tl.max(tl.load(x_ptr + offsets), axis=1, return_indices=True)
            tl.store(value_ptr + tl.arange(0, 8), value)
            tl.store(index_ptr + tl.arange(0, 8), index)
    """)
    x = random_values(rng, (8, 32), "float32")
    value, index = poisoned(8, np.float32), poisoned(8, np.int32)
    module.kernel[(1,)](x, value, index)
    assert_same(value, x.max(axis=1))
    assert_same(index, x.argmax(axis=1).astype(np.int32))


@pytest.mark.parametrize("keep", [False, True])
def test_all_axes_and_kept_axes(keep, rng):
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, out_ptr, KEEP: tl.constexpr):
            x = tl.load(x_ptr + tl.arange(0, 8)[:, None] * 4 + tl.arange(0, 4)[None, :])
            whole = tl.sum(x, axis=None, keep_dims=KEEP)
            rows = tl.sum(x, axis=1, keep_dims=True)
            if KEEP:
                tl.static_assert(whole.shape[0] == 1)
                tl.store(out_ptr + tl.arange(0, 1)[:, None] + tl.arange(0, 1)[None, :], whole)
            else:
                tl.store(out_ptr, whole)
            tl.store(out_ptr + 1 + tl.arange(0, 8)[:, None] + tl.arange(0, 1)[None, :], rows)
    """)
    x, out = random_values(rng, (8, 4), "int32"), poisoned(9, np.int32)
    module.kernel[(1,)](x, out, KEEP=keep)
    with np.errstate(all="ignore"):
        assert_same(out, np.concatenate([[x.sum(dtype=np.int32)], x.sum(axis=1, dtype=np.int32)]))


def test_own_combine_function(rng):
    module = module_from("""
        @triton.jit
        def larger_magnitude(a, i, b, j):
            take = (a * a > b * b) | ((a * a == b * b) & (i < j))
            return tl.where(take, a, b), tl.where(take, i, j)

        @triton.jit
        def kernel(x_ptr, value_ptr, index_ptr, BLOCK: tl.constexpr):
            offsets = tl.arange(0, BLOCK)
            value, index = tl.reduce((tl.load(x_ptr + offsets), offsets), 0, larger_magnitude)
            tl.store(value_ptr, value)
            tl.store(index_ptr, index)
    """)
    x = random_values(rng, 256, "float32")
    value, index = poisoned(1, np.float32), poisoned(1, np.int32)
    module.kernel[(1,)](x, value, index, BLOCK=256)
    assert index[0] == np.argmax(np.abs(x)) and value[0] == x[index[0]]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "int64", "float16", "bfloat16", "float32", "float64"])
def test_cumsum(dtype, axis, reverse, rng):
    x = random_values(rng, (8, 16), dtype)
    if dtype in FLOATS:
        x = rng.integers(-3, 4, (8, 16)).astype(NUMPY[dtype])
    result_type = "float32" if dtype == "bfloat16" else reduced_type("sum", dtype)
    kind = NUMPY[result_type]
    ordered = np.flip(x, axis) if reverse else x
    with np.errstate(all="ignore"):
        expected = np.cumsum(ordered.astype(np.float64 if dtype in FLOATS else kind), axis=axis).astype(kind)
    expected = np.flip(expected, axis) if reverse else expected
    expression = f"tl.cumsum(x, axis=AXIS, reverse={reverse})"
    assert_same(reduce(expression, x, axis, result_type, 128), np.ascontiguousarray(expected).ravel())


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_respects_order(reverse, rng):
    """A linear recurrence: associative, not commutative."""
    module = module_from("""
        @triton.jit
        def compose(a, b, c, d):
            return a * c, b * c + d

        @triton.jit
        def kernel(a_ptr, b_ptr, out_ptr, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
            offsets = tl.arange(0, BLOCK)
            pair = (tl.load(a_ptr + offsets), tl.load(b_ptr + offsets))
            _, result = tl.associative_scan(pair, 0, compose, reverse=REVERSE)
            tl.store(out_ptr + offsets, result)
    """)
    a, b = rng.uniform(-1, 1, (2, 128))
    out = poisoned(128, np.float64)
    module.kernel[(1,)](a, b, out, BLOCK=128, REVERSE=reverse)
    # In any order of composition the errors are below those of as many sums of magnitudes.
    state, size, expected, sizes = np.longdouble(0), 0.0, np.empty(128, np.longdouble), np.empty(128)
    for i in range(127, -1, -1) if reverse else range(128):
        state, size = state * a[i] + b[i], size * abs(a[i]) + abs(b[i])
        expected[i], sizes[i] = state, size
    assert_within(out, expected, sizes * 2 * 128 * 2.0**-53)


@settings(max_examples=10 * RANDOM_FACTOR, deadline=None)
@given(rows=st.sampled_from([1, 2, 16]), columns=st.sampled_from([1, 4, 256, 1024]), seed=st.integers(0, 2**32 - 1))
def test_float_sums_are_accurate(rows, columns, seed):
    x = random_values(np.random.default_rng(seed), (rows, columns), "float32")
    result = reduce("tl.sum(x, axis=AXIS)", x, 1, "float32", rows)
    bound = np.abs(x).sum(axis=1, dtype=np.float64) * 2**-23 * max(np.log2(columns), 1) * 2
    assert (np.abs(result - x.sum(axis=1, dtype=np.float64)) <= bound + 1e-30).all()


def test_softmax_of_rows(rng):
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, out_ptr):
            offsets = tl.arange(0, 16)[:, None] * 64 + tl.arange(0, 64)[None, :]
            tl.store(out_ptr + offsets, tl.softmax(tl.load(x_ptr + offsets), dim=1))
    """)
    x, out = random_values(rng, (16, 64), "float32"), poisoned((16, 64), np.float32)
    module.kernel[(1,)](x, out)
    assert_softmax(out, x, 1)
