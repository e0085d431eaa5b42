"""Matrix products of every dtype."""

import ml_dtypes
import numpy as np
import pytest

from helpers import NUMPY, assert_same, assert_within, module_from, poisoned, random_values, wide

MODULE = module_from("""
    @triton.jit
    def dot(a_ptr, b_ptr, c_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, HAS_ACC: tl.constexpr):
        rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
        place = rows[:, None] * N + columns[None, :]
        if HAS_ACC:
            result = tl.dot(a, b, tl.load(c_ptr + place))
        else:
            result = tl.dot(a, b)
        tl.store(out_ptr + place, result)

    @triton.jit
    def chained(a_ptr, b_ptr, c_ptr, out_ptr, S: tl.constexpr):
        i = tl.arange(0, S)
        place = i[:, None] * S + i[None, :]
        a, b, c = tl.load(a_ptr + place), tl.load(b_ptr + place), tl.load(c_ptr + place)
        acc = tl.dot(a, b)
        acc += tl.dot(b, c)
        acc = tl.dot(tl.trans(a), c, acc)
        tl.store(out_ptr + place, acc)

    @triton.jit
    def precise(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
        rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
        tl.store(out_ptr + rows[:, None] * N + columns[None, :], tl.dot(a, b, input_precision=PRECISION))

    @triton.jit
    def batched(a_ptr, b_ptr, out_ptr, B: tl.constexpr, S: tl.constexpr):
        i = tl.arange(0, S)
        place = tl.arange(0, B)[:, None, None] * S * S + i[None, :, None] * S + i[None, None, :]
        tl.store(out_ptr + place, tl.dot(tl.load(a_ptr + place), tl.load(b_ptr + place)))
""")


def product(a, b):
    """In a type wide enough for every dtype of the tests."""
    return a.astype(np.longdouble) @ b.astype(np.longdouble)


ACCUMULATOR = {"int8": "int32", "float16": "float32", "bfloat16": "float32", "float32": "float32", "float64": "float64"}


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("shape", [(16, 16, 16), (32, 64, 16), (64, 16, 128), (16, 32, 32)])
@pytest.mark.parametrize("dtype", ACCUMULATOR)
def test_dot(dtype, shape, accumulate, rng):
    M, N, K = shape
    if dtype == "int8" and K < 32:
        K = 32  # The least that matrix units of GPUs multiply.
    result_type = ACCUMULATOR[dtype]
    if dtype == "int8":
        a, b = random_values(rng, (M, K), dtype), random_values(rng, (K, N), dtype)
        c = random_values(rng, (M, N), "int32", -1000, 1000)
        exact = a.astype(np.int64) @ b.astype(np.int64) + (c if accumulate else 0)
    else:
        a, b = (rng.standard_normal(s).astype(NUMPY[dtype]) for s in ((M, K), (K, N)))
        c = rng.standard_normal((M, N)).astype(NUMPY[result_type])
        exact = product(a, b) + (c if accumulate else 0)
    out = poisoned((M, N), NUMPY[result_type])
    MODULE.dot[(1,)](a, b, c, out, M=M, N=N, K=K, HAS_ACC=accumulate)
    if dtype == "int8":
        assert_same(out, exact.astype(np.int32))
        return
    unit = np.finfo(NUMPY[result_type]).eps
    assert_within(out, exact, (product(np.abs(a), np.abs(b)) + np.abs(c)) * unit * K)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("size", [16, 64])
def test_chained_dots_share_an_accumulator(size, dtype, rng):
    a, b, c = (rng.standard_normal((size, size)).astype(NUMPY[dtype]) for _ in range(3))
    out = poisoned((size, size), np.float32)
    MODULE.chained[(1,)](a, b, c, out, S=size)
    terms = lambda a, b, c: product(a, b) + product(b, c) + product(a.T, c)  # noqa: E731
    bound = terms(*map(np.abs, (a, b, c))) * 2.0**-23 * size * 2
    assert_within(out, terms(a, b, c), bound)


# What a product of two elements may be off by: both are cut to 11 bits, or to sums of parts of 11 or 8 bits.
PRECISIONS = {"tf32": 2.0**-9, "tf32x3": 2.0**-18, "bf16x3": 2.0**-16, "bf16x6": 2.0**-22, "ieee": 0.0}


@pytest.mark.parametrize("shape", [(16, 16, 16), (64, 32, 64)])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_input_precision(precision, shape, rng):
    M, N, K = shape
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((M, K), (K, N)))
    out = poisoned((M, N), np.float32)
    MODULE.precise[(1,)](a, b, out, M=M, N=N, K=K, PRECISION=precision)
    # Matrix units cut sums where others round them.
    bound = product(np.abs(a), np.abs(b)) * (PRECISIONS[precision] + 2.0**-22 * K)
    assert_within(out, product(a, b), bound)


@pytest.mark.parametrize("precision", ["tf32x3", "bf16x3", "bf16x6"])
def test_parts_of_infinities(precision, rng):
    """The small parts of an infinity are not numbers; the result must not see them."""
    a, b = np.ones((16, 16), np.float32), np.ones((16, 16), np.float32)
    a[3, 5], a[4, 7] = np.inf, np.nan
    out = poisoned((16, 16), np.float32)
    MODULE.precise[(1,)](a, b, out, M=16, N=16, K=16, PRECISION=precision)
    assert np.isposinf(out[3]).all() and np.isnan(out[4]).all()
    assert_same(np.delete(out, [3, 4], 0), np.full((14, 16), 16, np.float32))


@pytest.mark.parametrize("precision", ["tf32x3", "bf16x3", "bf16x6"])
def test_numbers_above_the_largest_bf16(precision, rng):
    """Numbers that bf16 would round to infinity have finite products."""
    largest = np.finfo(np.float32).max
    a = (rng.choice([-1, 1], (16, 16)) * largest * rng.uniform(0.9961, 1, (16, 16))).astype(np.float32)
    a[0, 0], a[1, 1] = largest, -largest
    b = (rng.standard_normal((16, 16)) * 2.0**-8).astype(np.float32)
    for x, y in ((a, b), (b, a)):
        out = poisoned((16, 16), np.float32)
        MODULE.precise[(1,)](x, y, out, M=16, N=16, K=16, PRECISION=precision)
        bound = product(np.abs(x), np.abs(y)) * (PRECISIONS[precision] * 2 + 2.0**-22 * 16)
        assert_within(out, product(x, y), bound)


@pytest.mark.parametrize("variable", ["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"])
def test_default_precision_from_the_environment(variable, rng, monkeypatch):
    monkeypatch.setenv("TRITON_F32_DEFAULT", variable)
    module = module_from("""
        @triton.jit
        def kernel(a_ptr, b_ptr, out_ptr, S: tl.constexpr):
            i = tl.arange(0, S)
            place = i[:, None] * S + i[None, :]
            tl.store(out_ptr + place, tl.dot(tl.load(a_ptr + place), tl.load(b_ptr + place)))
    """)
    a, b = (rng.standard_normal((32, 32)).astype(np.float32) for _ in range(2))
    out = poisoned((32, 32), np.float32)
    module.kernel[(1,)](a, b, out, S=32)
    assert_within(out, product(a, b), product(np.abs(a), np.abs(b)) * (PRECISIONS[variable] + 2.0**-22 * 32))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int8"])
@pytest.mark.parametrize("M, N", [(1, 1), (1, 16), (2, 8), (16, 1), (4, 64)])
def test_few_rows_and_columns(M, N, dtype, rng):
    K = 32
    if dtype == "int8":
        a, b = random_values(rng, (M, K), dtype), random_values(rng, (K, N), dtype)
        out = poisoned((M, N), np.int32)
    else:
        a, b = (rng.standard_normal(s).astype(NUMPY[dtype]) for s in ((M, K), (K, N)))
        out = poisoned((M, N), np.float32)
    MODULE.dot[(1,)](a, b, out, out, M=M, N=N, K=K, HAS_ACC=False)
    if dtype == "int8":
        assert_same(out, a.astype(np.int32) @ b.astype(np.int32))
        return
    assert_within(out, product(a, b), product(np.abs(a), np.abs(b)) * 2.0**-23 * K)


def test_batches_of_batches(rng):
    module = module_from("""
        @triton.jit
        def kernel(a_ptr, b_ptr, c_ptr, out_ptr, S: tl.constexpr):
            i = tl.arange(0, S)
            batch = tl.arange(0, 2)[:, None, None, None] * 4 + tl.arange(0, 4)[None, :, None, None]
            place = (batch * S + i[:, None]) * S + i[None, :]
            result = tl.dot(tl.load(a_ptr + place), tl.load(b_ptr + place), tl.load(c_ptr + place))
            tl.static_assert(len(result.shape) == 4)
            tl.store(out_ptr + place, result)
    """)
    a, b = (rng.standard_normal((2, 4, 16, 16)).astype(np.float16) for _ in range(2))
    c = rng.standard_normal((2, 4, 16, 16)).astype(np.float32)
    out = poisoned((2, 4, 16, 16), np.float32)
    module.kernel[(1,)](a, b, c, out, 16)
    exact, size = a.astype(np.float64) @ b.astype(np.float64) + c, np.abs(wide(a)) @ np.abs(wide(b)) + np.abs(c)
    assert_within(out, exact, size * 2.0**-23 * 16)


@pytest.mark.cuda_only
@pytest.mark.parametrize("shape", [(16, 16, 32), (64, 64, 128)])
@pytest.mark.parametrize("limit", [None, 32])
@pytest.mark.parametrize("kinds", [("float8_e4m3fn", "float8_e4m3fn"), ("float8_e5m2", "float8_e4m3fn")])
def test_fp8(kinds, limit, shape, rng):
    module = module_from("""
        @triton.jit
        def kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, LIMIT: tl.constexpr):
            rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
            a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
            b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
            result = tl.dot(a, b, max_num_imprecise_acc=LIMIT)
            tl.store(out_ptr + rows[:, None] * N + columns[None, :], result)
    """)
    M, N, K = shape
    a, b = (rng.standard_normal(s).astype(getattr(ml_dtypes, kind)) for s, kind in zip(((M, K), (K, N)), kinds))
    out = poisoned((M, N), np.float32)
    module.kernel[(1,)](a, b, out, M=M, N=N, K=K, LIMIT=limit)
    # The units align the products of one instruction to the largest and keep 13 bits behind its first.
    bound = product(np.abs(wide(a)), np.abs(wide(b))) * 2.0**-12 * K
    assert_within(out, product(wide(a), wide(b)), bound)


def test_batched_dot(rng):
    a, b = (rng.standard_normal((4, 16, 16)).astype(np.float32) for _ in range(2))
    out = poisoned((4, 16, 16), np.float32)
    MODULE.batched[(1,)](a, b, out, B=4, S=16)
    assert_within(out, product(a, b), product(np.abs(a), np.abs(b)) * 2.0**-23 * 16)


def test_half_precision_result(rng):
    module = module_from("""
        @triton.jit
        def kernel(a_ptr, b_ptr, out_ptr):
            i = tl.arange(0, 32)
            place = i[:, None] * 32 + i[None, :]
            result = tl.dot(tl.load(a_ptr + place), tl.load(b_ptr + place), out_dtype=tl.float16)
            tl.static_assert(result.dtype == tl.float16)
            tl.store(out_ptr + place, result)
    """)
    a, b = (rng.standard_normal((32, 32)).astype(np.float16) for _ in range(2))
    out = poisoned((32, 32), np.float16)
    module.kernel[(1,)](a, b, out)
    np.testing.assert_allclose(wide(out), wide(a) @ wide(b), rtol=2e-2, atol=5e-2)
