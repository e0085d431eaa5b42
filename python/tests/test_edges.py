"""Values that hardware traps on or leaves open do not end the process, and spoil no other lane."""

import numpy as np
import pytest

from helpers import FLOATS, INTEGERS, NUMPY, SIGNED, UNSIGNED, assert_same, module_from, poisoned, run_pointwise

import despina as triton

N = 203


def truncated(op, x, y):
    """C's division of integers, which NumPy lacks."""
    x, y = x.astype(object), y.astype(object)
    quotient = np.array([abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x, y)], object)
    return quotient if op == "//" else x - quotient * y


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", ["//", "%"])
def test_division_by_zero_and_of_the_smallest(op, dtype, rng):
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, N, dtype=dtype, endpoint=True)
    y = rng.integers(info.min, info.max, N, dtype=dtype, endpoint=True)
    y[::3] = 0
    x[1::3] = info.min
    if dtype in SIGNED:
        y[1::6] = -1
    defined = y != 0
    if dtype in SIGNED:
        defined &= ~((x == info.min) & (y == -1))
    assert 50 < defined.sum() < N - 50
    out = run_pointwise(f"x {op} y", [x, y], dtype)
    assert_same(out[defined], truncated(op, x[defined], y[defined]).astype(dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_division_of_scalars(dtype):
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, y_ptr, out_ptr):
            x, y = tl.load(x_ptr), tl.load(y_ptr)
            tl.store(out_ptr, x // y)
            tl.store(out_ptr + 1, x % y)
            tl.store(out_ptr + 2, x)
    """)
    pairs = [(5, 0), (np.iinfo(dtype).min, np.iinfo(dtype).max)] + [(np.iinfo(dtype).min, -1)] * (dtype in SIGNED)
    for x, y in pairs:
        out = poisoned(3, dtype)
        module.kernel[(1,)](np.array([x], dtype), np.array([y], dtype), out)
        assert out[2] == x
    out = poisoned(3, dtype)
    module.kernel[(1,)](np.array([17], dtype), np.array([5], dtype), out)
    assert out.tolist() == [3, 2, 17]


@pytest.mark.parametrize("op", ["//", "%"])
def test_masked_lanes_do_not_divide(op, rng):
    """The lanes beyond the end hold zeros: they must not trap even where the division is not masked."""
    x, y = rng.integers(-1000, 1000, 5).astype(np.int64), rng.integers(1, 9, 5).astype(np.int64)
    assert_same(run_pointwise(f"x {op} y", [x, y], "int64"), truncated(op, x, y).astype(np.int64))


@pytest.mark.parametrize("op", ["//", "%", "/"])
def test_constants_divided_by_zero(op):
    module = module_from(f"""
        @triton.jit
        def kernel(out_ptr, N: tl.constexpr):
            x: tl.constexpr = N {op} (N - N)
            tl.store(out_ptr, x)
    """)
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)](np.zeros(1, np.int32), N=5)
    assert "ZeroDivisionError" in str(caught.value) and "zero" in str(caught.value)


@pytest.mark.parametrize("op", ["//", "%"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32", "int64"])
def test_divided_by_a_zero_that_is_known(op, dtype, rng):
    """Folding must be as quiet as the machine."""
    x = rng.integers(1, 100, 40).astype(dtype)
    before = x.copy()
    run_pointwise(f"x {op} tl.full((64,), 0, tl.{dtype})", [x], dtype)
    assert_same(x, before)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", ["<<", ">>"])
def test_shifts_beyond_the_width(op, dtype, rng):
    info = np.iinfo(dtype)
    bits = NUMPY[dtype].itemsize * 8
    x = rng.integers(info.min, info.max, N, dtype=dtype, endpoint=True)
    y = rng.integers(0, bits, N).astype(dtype)
    y[::3] = rng.integers(bits, info.max, y[::3].size, dtype=dtype, endpoint=True)
    if dtype in SIGNED:
        y[1::5] = -1
    out = run_pointwise(f"x {op} y", [x, y], dtype)
    inside = (y >= 0) & (y < bits)
    function = {"<<": np.left_shift, ">>": np.right_shift}[op]
    assert_same(out[inside], function(x[inside], y[inside]))


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_out_of_the_range_of_integers(source, target, rng):
    x = (rng.standard_normal(N) * 50).astype(NUMPY[source])
    if target in UNSIGNED:
        x = np.abs(x)
    with np.errstate(all="ignore"):
        x = np.clip(x.astype(np.float64), -100, 100).astype(NUMPY[source])
        odd = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 3e38, -7.5, 300.0, 70000.0]).astype(NUMPY[source])
    x[3 : 3 + 9 * 20 : 20] = odd
    usual = np.ones(N, bool)
    usual[3 : 3 + 9 * 20 : 20] = False
    out = run_pointwise(f"x.to(tl.{target})", [x], target)
    assert_same(out[usual], x[usual].astype(np.float64).astype(target))


@pytest.mark.parametrize("source", FLOATS)
def test_floats_to_booleans(source):
    x = np.array([0.0, -0.0, 0.25, -3.0, np.inf, -np.inf, np.nan, 1.0]).astype(NUMPY[source])
    out = run_pointwise("x.to(tl.int1)", [x], "int1")
    assert out.tolist() == [False, False, True, True, True, True, True, True]


def test_gathered_lanes_of_loops_that_never_run():
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, out_ptr, n, step):
            total = 0
            for i in range(0, n, step):
                total += tl.load(x_ptr + i)
            tl.store(out_ptr, total)
    """)
    x = np.arange(10, dtype=np.int32)
    for n, step, expected in ((0, 1, 0), (-5, 1, 0), (10, 3, 18), (10, 2**31 - 1, 0)):
        out = poisoned(1, np.int32)
        module.kernel[(1,)](x, out, n, step)
        assert out[0] == expected
