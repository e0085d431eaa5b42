"""Arithmetic, comparisons, bit operations, casts and mathematics of every dtype, against NumPy."""

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
    SIGNED,
    UNSIGNED,
    assert_fused,
    assert_same,
    assert_ulps,
    exp_limit,
    module_from,
    on_gpu,
    poisoned,
    random_values,
    rounded,
    run_pointwise,
    wide,
)

N = 203


def quiet(function, *args):
    with np.errstate(all="ignore"):
        return function(*args)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_arithmetic(op, dtype, rng):
    x, y = random_values(rng, (2, N), dtype)
    function = {"+": np.add, "-": np.subtract, "*": np.multiply}[op]
    result = run_pointwise(f"x {op} y", [x, y], dtype)
    if dtype in INTEGERS:
        assert_same(result, quiet(function, x, y))
    elif dtype == "float64":
        assert_same(result, function(x, y))
    else:
        assert_same(result, rounded(function(wide(x), wide(y)), dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division_truncates(dtype, rng):
    x, y = random_values(rng, (2, N), dtype)
    y = np.where(y == 0, 3, y).astype(x.dtype)
    if dtype in SIGNED:  # The one quotient that does not fit is undefined.
        y = np.where((y == -1), 7, y).astype(x.dtype)
    quotients = [abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x, y)]
    exact = np.array(quotients, dtype=object)
    assert_same(run_pointwise("x // y", [x, y], dtype), exact.astype(x.dtype))
    left = np.array([int(a) - q * int(b) for a, q, b in zip(x, quotients, y)], dtype=object)
    assert_same(run_pointwise("x % y", [x, y], dtype), left.astype(x.dtype))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_true_division(dtype, rng):
    x, y = random_values(rng, (2, N), dtype)
    y = np.where(wide(y) == 0, 3, y).astype(x.dtype)
    result_type = "float64" if dtype == "float64" else "float32"
    kind = NUMPY[result_type]
    expected = x.astype(kind) / y.astype(kind)
    # A GPU divides fp32 with an error of up to 2 units; tl.div_rn rounds correctly.
    assert_ulps(run_pointwise("x / y", [x, y], result_type), wide(expected), 2 if on_gpu() else 1)


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_remainder_has_the_sign_of_the_dividend(dtype, rng):
    x, y = random_values(rng, (2, N), dtype)
    y = np.where(np.abs(wide(y)) < 0.25, 0.75, y).astype(x.dtype)
    result_type = "float64" if dtype == "float64" else "float32"
    expected = np.fmod(wide(x), wide(y)).astype(NUMPY[result_type])
    assert_same(run_pointwise("x % y", [x, y], result_type), expected)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons(op, dtype, rng):
    x, y = random_values(rng, (2, N), dtype)
    x[::3] = y[::3]
    if dtype in FLOATS:
        x[::7] = np.nan
        y[::11] = np.nan
        x[1], y[1] = 0.0, -0.0
    function = {
        "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
    }[op]  # fmt: skip
    assert_same(run_pointwise(f"x {op} y", [x, y], "int1"), quiet(function, wide(x), wide(y)))


@pytest.mark.parametrize("dtype", ["int1"] + INTEGERS)
@pytest.mark.parametrize("op", ["&", "|", "^"])
def test_bit_operations(op, dtype, rng):
    x, y = random_values(rng, (2, N), dtype)
    function = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}[op]
    assert_same(run_pointwise(f"x {op} y", [x, y], dtype), function(x, y))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", ["<<", ">>"])
def test_shifts(op, dtype, rng):
    x = random_values(rng, N, dtype)
    bits = x.dtype.itemsize * 8
    y = rng.integers(0, bits, N).astype(x.dtype)
    function = {"<<": np.left_shift, ">>": np.right_shift}[op]
    assert_same(run_pointwise(f"x {op} y", [x, y], dtype), function(x, y))


@pytest.mark.parametrize("dtype", ["int1"] + INTEGERS)
def test_invert(dtype, rng):
    x = random_values(rng, N, dtype)
    assert_same(run_pointwise("~x", [x], dtype), np.invert(x))


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED + FLOATS)
def test_negate(dtype, rng):
    x = random_values(rng, N, dtype)
    x[0] = 0
    result = run_pointwise("-x", [x], dtype)
    assert_same(result, quiet(np.negative, x))
    if dtype in FLOATS:
        assert np.signbit(wide(result)[0])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_abs(dtype, rng):
    x = random_values(rng, N, dtype)
    assert_same(run_pointwise("tl.abs(x)", [x], dtype), quiet(np.abs, x))


def cast_reference(x, source, target):
    if target == "int1":
        return x != 0
    if source in FLOATS and target in INTEGERS:
        return np.trunc(wide(x)).astype(NUMPY[target])
    if source in ("int1", *INTEGERS) and target in INTEGERS:
        return x.astype(NUMPY[target])
    if source in INTEGERS and target in ("float16", "bfloat16"):
        # Integers up to 2048 are exact in both directions of rounding: the tests stay there.
        return x.astype(np.float64).astype(NUMPY[target])
    if source == "float64" and target in ("float16", "bfloat16"):
        # Rounding twice would be wrong next to a tie. Through fp32 rounded to odd, which is no tie, once is enough.
        single = x.astype(np.float32)
        towards = np.where(x > single, np.inf, -np.inf).astype(np.float32)
        good = (single == x) | (single.view(np.uint32) & 1 == 1)
        return np.where(good, single, np.nextafter(single, towards)).astype(NUMPY[target])
    return x.astype(NUMPY[target])


@pytest.mark.parametrize("target", ALL)
@pytest.mark.parametrize("source", ALL)
def test_cast(source, target, rng):
    if source in FLOATS and target in INTEGERS:
        low, high = (0 if target in UNSIGNED else -120), 120
    elif source in INTEGERS and target in FLOATS:
        low, high = -2000, 2000
    else:
        low, high = None, None
    x = random_values(rng, N, source, low, high)
    x[::5] = 0
    with np.errstate(all="ignore"):
        expected = cast_reference(x, source, target)
    assert_same(run_pointwise(f"x.to(tl.{target})", [x], target), expected)


@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_narrowing_from_float64_rounds_once(target, rng):
    """Next to the ties of the narrow type, closer than fp32 can tell."""
    bits = {"float16": 11, "bfloat16": 8}[target]
    ties = (rng.integers(2**bits, 2 ** (bits + 1), N) + 0.5) * 2.0 ** rng.integers(-20, 3, N)
    x = ties * (1 + rng.choice([-1, 0, 1], N) * 2.0 ** -rng.integers(26, 50, N)) * rng.choice([-1, 1], N)
    assert_same(run_pointwise(f"x.to(tl.{target})", [x], target), cast_reference(x, "float64", target))


@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_narrowing_rounds_to_nearest_even(target):
    # Every fp32 with a 16-bit pattern in its upper half, and the neighbours of the half-way points.
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    x = np.concatenate([upper + d for d in (0, 1, 0x7FFF, 0x8000, 0x8001, 0x1000, 0x0FFF, 0x1001)]).view(np.float32)
    result = run_pointwise(f"x.to(tl.{target})", [x], target, block=1024)
    with np.errstate(all="ignore"):
        assert_same(result, x.astype(NUMPY[target]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_widening_is_exact(dtype):
    x = np.arange(1 << 16, dtype=np.uint16).view(NUMPY[dtype])
    assert_same(run_pointwise("x.to(tl.float32)", [x], "float32", block=1024), x.astype(np.float32))


@pytest.mark.parametrize(
    "source, target",
    [("float32", "int32"), ("int32", "float32"), ("float16", "int16"), ("int16", "bfloat16"), ("float64", "uint64"),
     ("int8", "uint8"), ("bfloat16", "float16")],
)  # fmt: skip
def test_bitcast(source, target, rng):
    x = random_values(rng, N, source)
    result = run_pointwise(f"x.to(tl.{target}, bitcast=True)", [x], target)
    assert result.tobytes() == x.tobytes()


SIGNALING = {"float16": 0x7D01, "bfloat16": 0x7F81, "float32": 0x7F800001, "float64": 0x7FF0000000000001}
MOVES = """
@triton.jit
def vectors(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside)
    tl.store(out_ptr + i, x, mask=inside)
    tl.store(out_ptr + BLOCK + i * 3, tl.load(x_ptr + tl.load(index_ptr + i), mask=inside), mask=inside)
    tl.store(out_ptr + 4 * BLOCK + i, tl.where(inside, tl.load(x_ptr + i), x))
    turned = tl.trans(tl.reshape(x, (8, BLOCK // 8)))
    tl.store(out_ptr + 5 * BLOCK + i, tl.ravel(tl.trans(turned)), mask=inside)
    tl.store(out_ptr + 6 * BLOCK + i, tl.ravel(turned))

@triton.jit
def scalars(x_ptr, out_ptr, flag):
    x = tl.load(x_ptr)
    tl.store(out_ptr, x)
    tl.store(out_ptr + 1, tl.load(x_ptr + 1, mask=flag > 0))
    tl.store(out_ptr + 2, tl.load(x_ptr + 2), mask=flag > 0)
    tl.store(out_ptr + 3, x if flag > 0 else tl.load(x_ptr + 1))
    tl.store(out_ptr + 4 + tl.arange(0, 16), tl.broadcast_to(x, (16,)), mask=tl.arange(0, 16) < 4 * flag - 1)
"""


@pytest.mark.parametrize("dtype", SIGNALING)
def test_moves_keep_every_bit(dtype, rng):
    """Also of signaling NaNs, which arithmetic would make quiet."""
    word = np.dtype(f"uint{8 * NUMPY[dtype].itemsize}")
    kernels = module_from(MOVES)
    BLOCK, n = 64, 43
    bits = np.full(BLOCK, SIGNALING[dtype], word)
    bits[::3] |= word.type(1 << (word.itemsize * 8 - 1))
    index = rng.permutation(BLOCK).astype(np.int32)
    out = np.zeros(7 * BLOCK, word)
    kernels.vectors[(1,)](bits.view(NUMPY[dtype]), index, out.view(NUMPY[dtype]), n, BLOCK=BLOCK)
    assert_same(out[:n], bits[:n])
    assert_same(out[BLOCK : BLOCK + 3 * n : 3], bits[index][:n])
    assert_same(out[4 * BLOCK : 5 * BLOCK][:n], bits[:n])
    assert_same(out[5 * BLOCK : 5 * BLOCK + n], bits[:n])
    loaded = np.where(np.arange(BLOCK) < n, bits, word.type(0))
    assert_same(out[6 * BLOCK :], np.ascontiguousarray(loaded.reshape(8, -1).T).ravel())
    out = np.zeros(20, word)
    kernels.scalars[(1,)](bits.view(NUMPY[dtype]), out.view(NUMPY[dtype]), 3)
    assert_same(out[:15], np.concatenate([bits[:3], np.full(12, bits[0])]))


@pytest.mark.parametrize("dtype", ALL)
def test_where(dtype, rng):
    condition = rng.integers(0, 2, N).astype(np.bool_)
    x, y = random_values(rng, (2, N), dtype)
    assert_same(run_pointwise("tl.where(x, y, z)", [condition, x, y], dtype), np.where(condition, x, y))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_maximum_and_minimum(name, dtype, rng):
    x, y = random_values(rng, (2, N), dtype)
    if dtype in FLOATS:
        x[::5], y[::7] = np.nan, np.nan
    result_type = "float32" if dtype == "bfloat16" else dtype
    ignoring = {"maximum": np.fmax, "minimum": np.fmin}[name]
    assert_same(
        run_pointwise(f"tl.{name}(x, y)", [x, y], result_type), ignoring(wide(x), wide(y)).astype(NUMPY[result_type])
    )
    if dtype in FLOATS:
        spreading = {"maximum": np.maximum, "minimum": np.minimum}[name]
        result = run_pointwise(f"tl.{name}(x, y, propagate_nan=tl.PropagateNan.ALL)", [x, y], result_type)
        assert_same(result, spreading(wide(x), wide(y)).astype(NUMPY[result_type]))


@pytest.mark.parametrize("dtype", FLOATS)
def test_clamp(dtype, rng):
    x, low = random_values(rng, (2, N), dtype)
    high = (wide(low) + 3).astype(low.dtype)
    result_type = "float32" if dtype == "bfloat16" else dtype
    expected = np.minimum(np.maximum(wide(x), wide(low)), wide(high)).astype(NUMPY[result_type])
    assert_same(run_pointwise("tl.clamp(x, y, z)", [x, low, high], result_type), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fma(dtype, rng):
    x, y, z = random_values(rng, (3, N), dtype)
    z[::2] = -x[::2] * y[::2]  # What is left is the rounding of the product.
    assert_fused(run_pointwise("tl.fma(x, y, z)", [x, y, z], dtype), x, y, z)


# function, domain, limit in ULP.
MATH = [
    ("exp", np.exp, (-80, 80), 2), ("exp2", np.exp2, (-120, 120), 2), ("log", np.log, (1e-3, 1e4), 2),
    ("log2", np.log2, (1e-3, 1e4), 2), ("sin", np.sin, (-30, 30), 4), ("cos", np.cos, (-30, 30), 4),
    ("sqrt", np.sqrt, (0, 1e6), 1),
    ("rsqrt", lambda v: 1 / np.sqrt(v), (1e-4, 1e6), 2), ("floor", np.floor, (-99, 99), 0),
    ("ceil", np.ceil, (-99, 99), 0),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name, function, domain, limit", MATH, ids=[entry[0] for entry in MATH])
def test_math(name, function, domain, limit, dtype, rng):
    x = random_values(rng, 4099, dtype, *domain)
    reference = function(x.astype(np.longdouble)).astype(np.float64)
    if dtype == "float64":
        limit += 1
    if name == "exp":
        limit = exp_limit(x, limit)
    elif name == "sqrt" and on_gpu():
        limit = 2  # sqrt.approx; tl.sqrt_rn rounds correctly.
    assert_ulps(run_pointwise(f"tl.{name}(x)", [x], dtype, block=256), reference, limit)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_erf(dtype, rng):
    import math

    x = random_values(rng, 1001, dtype, -5, 5)
    reference = np.array([math.erf(float(v)) for v in x])
    assert_ulps(run_pointwise("tl.erf(x)", [x], dtype), reference, 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "floor", "ceil"])
def test_math_of_special_values(name, dtype):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 1e-40, -1.0], NUMPY[dtype])
    function = (lambda v: 1 / np.sqrt(v)) if name == "rsqrt" else getattr(np, name)
    with np.errstate(all="ignore"):
        reference = wide(function(x))
    result = wide(run_pointwise(f"tl.{name}(x)", [x], dtype))
    if on_gpu() and name in ("sqrt", "rsqrt", "log", "log2"):
        # The approximations of fp32 count a subnormal as 0.
        normal = (x == 0) | ~(np.abs(x) < np.finfo(x.dtype).tiny)
        x, reference, result = x[normal], reference[normal], result[normal]
    special = ~np.isfinite(reference)
    assert np.array_equal(np.isnan(result), np.isnan(reference))
    assert np.array_equal(result[special & ~np.isnan(reference)], reference[special & ~np.isnan(reference)])
    assert np.allclose(result[~special], reference[~special], rtol=1e-5, atol=1e-30)


@settings(max_examples=15 * RANDOM_FACTOR, deadline=None)
@given(
    n=st.integers(1, 700),
    block=st.sampled_from([1, 2, 16, 128, 1024]),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from(["int8", "int32", "float16", "float32", "float64"]),
)
def test_any_length_and_block(n, block, seed, dtype):
    x, y = random_values(np.random.default_rng(seed), (2, n), dtype, -50, 50)
    result = run_pointwise("x - y", [x, y], dtype, block=block)
    expected = quiet(np.subtract, x, y) if dtype.startswith("int") else rounded(wide(x) - wide(y), dtype)
    assert_same(result, expected)


def test_unaligned_arrays(rng):
    x = random_values(rng, N + 1, "float32")[1:]
    out = poisoned(N + 1, np.float32)[1:]
    from helpers import pointwise

    pointwise("x + x", 1)[(4,)](x, out, N, BLOCK=64)
    assert_same(out, x + x)


def test_weak_scalars_keep_the_tensor_type(rng):
    x = random_values(rng, N, "float16")
    assert_same(run_pointwise("x * 1.5", [x], "float16"), rounded(wide(x) * 1.5, "float16"))
    y = random_values(rng, N, "uint8")
    assert_same(run_pointwise("x + 3", [y], "uint8"), y + np.uint8(3))
    assert_same(run_pointwise("x > 0.5", [x], "int1"), wide(x) > 0.5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sine_and_cosine_of_one_scalar(dtype, rng):
    """LLVM makes one call of both."""
    kernel = module_from("""
        @triton.jit
        def kernel(x_ptr, out_ptr):
            x = tl.load(x_ptr)
            tl.store(out_ptr, tl.sin(x))
            tl.store(out_ptr + 1, tl.cos(x))
    """).kernel
    x = rng.uniform(-3, 3, 1).astype(dtype)
    out = poisoned(2, dtype)
    kernel[(1,)](x, out)
    reference = np.array([np.sin(wide(x[0]).astype(np.longdouble)), np.cos(wide(x[0]).astype(np.longdouble))])
    assert_ulps(out, reference.astype(np.float64), 5)
