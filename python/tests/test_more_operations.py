"""Operations on the types and in the forms that the other files leave out."""

import numpy as np
import pytest

from helpers import (
    ALL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    NUMPY,
    SIGNED,
    UNSIGNED,
    assert_same,
    assert_softmax,
    assert_ulps,
    exp_limit,
    module_from,
    poisoned,
    random_values,
    run_pointwise,
    wide,
)

import despina as triton

N = 203


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_umulhi(dtype, rng):
    x, y = random_values(rng, (2, N), dtype)
    bits = x.itemsize * 8
    mask = (1 << bits) - 1
    high = [((int(a) & mask) * (int(b) & mask)) >> bits for a, b in zip(x, y)]
    expected = np.array(high, f"uint{bits}").view(dtype)
    assert_same(run_pointwise("tl.umulhi(x, y)", [x, y], dtype), expected)


@pytest.mark.parametrize("expression, limit", [("tl.fdiv(x, y)", 2.5), ("tl.div_rn(x, y)", 0.5)])
def test_divisions_of_fp32(expression, limit, rng):
    x, y = random_values(rng, (2, N), "float32")
    y[y == 0] = 1
    assert_ulps(run_pointwise(expression, [x, y], "float32"), wide(x) / wide(y), limit)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_division_that_rounds_correctly(dtype, rng):
    """fp16 and bf16 divide as fp32."""
    x, y = random_values(rng, (2, N), dtype)
    y[y == 0] = 1
    result = "float64" if dtype == "float64" else "float32"
    expected = (wide(x).astype(NUMPY[result]) / wide(y).astype(NUMPY[result])).astype(NUMPY[result])
    assert_same(run_pointwise("tl.fdiv(x, y, ieee_rounding=True)", [x, y], result), expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_clamp_spreads_nan_on_demand(dtype, rng):
    x, low = random_values(rng, (2, N), dtype)
    high = (wide(low) + 3).astype(low.dtype)
    x[::3] = np.nan
    plain = np.minimum(np.fmax(wide(x), wide(low)), wide(high)).astype(NUMPY[dtype])
    assert_same(run_pointwise("tl.clamp(x, y, z)", [x, low, high], dtype), plain)
    spread = np.where(np.isnan(wide(x)), np.nan, plain).astype(NUMPY[dtype])
    call = "tl.clamp(x, y, z, propagate_nan=tl.PropagateNan.ALL)"
    assert_same(run_pointwise(call, [x, low, high], dtype), spread)


@pytest.mark.parametrize(
    "dtypes", [("float16",) * 3, ("float16", "float16", "float32"), ("bfloat16", "float16", "float32")]
)
def test_fma_of_narrow_types(dtypes, rng):
    """One rounding in the type that the three promote to."""
    x, y, z = (random_values(rng, N, dtype) for dtype in dtypes)
    exact = wide(x) * wide(y) + wide(z)
    assert_ulps(run_pointwise("tl.fma(x, y, z)", [x, y, z], dtypes[2]), exact, 0.5001)


MATH = ["exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "floor", "ceil", "abs"]


@pytest.mark.parametrize("name", MATH)
def test_math_has_the_same_functions(name, rng):
    x = rng.uniform(0.1, 10, N).astype(np.float32)
    expected = run_pointwise(f"tl.{name}(x)", [x], "float32")
    assert_same(run_pointwise(f"tl.math.{name}(x)", [x], "float32"), expected)
    assert_same(run_pointwise(f"x.{name}()", [x], "float32"), expected)


@pytest.mark.cpu_only("what the front end refuses")
@pytest.mark.parametrize("name", [*MATH[:-1], "sqrt_rn"])
def test_math_of_narrow_types_is_refused(name):
    allowed = "['fp32']" if name == "sqrt_rn" else "['fp32', 'fp64']"
    for dtype in ("fp16", "bf16"):
        x = np.ones(N, NUMPY[{"fp16": "float16", "bf16": "bfloat16"}[dtype]])
        with pytest.raises(triton.CompilationError) as caught:
            run_pointwise(f"tl.{name}(x)", [x], "float32")
        assert f"Expected dtype {allowed} but got {dtype}" in str(caught.value)


def test_sqrt_rn(rng):
    x = rng.uniform(0, 1e6, N).astype(np.float32)
    assert_same(run_pointwise("tl.sqrt_rn(x)", [x], "float32"), np.sqrt(x))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sigmoid(dtype, rng):
    x = rng.uniform(-30, 30, N).astype(dtype)
    assert_ulps(run_pointwise("tl.sigmoid(x)", [x], dtype), 1 / (1 + np.exp(-x.astype(np.longdouble))), exp_limit(x, 8))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_cdiv(dtype, rng):
    x, y = random_values(rng, N, dtype, 0, 60), random_values(rng, N, dtype, 1, 60)
    expected = -(-x.astype(np.int64) // y.astype(np.int64))
    assert_same(run_pointwise("tl.cdiv(x, y)", [x, y], dtype), expected.astype(dtype))
    assert [triton.cdiv(int(a), int(b)) for a, b in zip(x, y)] == expected.tolist()


def test_cdiv_and_next_power_of_2_of_constants():
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, n, N: tl.constexpr):
            SIZE: tl.constexpr = triton.next_power_of_2(N)
            tl.static_assert(SIZE >= N)
            offsets = tl.arange(0, SIZE)
            tl.store(out_ptr + offsets, tl.cdiv(N, 7) + tl.cdiv(n, 7) * 1000 + offsets * 0, mask=offsets < N)
    """)
    for n in (1, 2, 3, 31, 64, 65, 1000):
        assert triton.next_power_of_2(n) == 1 << (n - 1).bit_length()
        out = poisoned(n, np.int32)
        module.kernel[(1,)](out, n, N=n)
        assert (out == -(-n // 7) * 1001).all()


@pytest.mark.parametrize("name, symbol", [("add", "+"), ("sub", "-"), ("mul", "*")])
@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "float16", "float64"])
def test_functions_for_operators(name, symbol, dtype, rng):
    x, y = random_values(rng, (2, N), dtype)
    assert_same(run_pointwise(f"tl.{name}(x, y)", [x, y], dtype), run_pointwise(f"x {symbol} y", [x, y], dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_fma_of_halves(dtype, rng):
    x, y, z = random_values(rng, (3, N), dtype)
    exact = wide(x) * wide(y) + wide(z)
    assert_ulps(run_pointwise("tl.fma(x, y, z)", [x, y, z], dtype), exact, 0.51)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("left", [True, False])
def test_places_of_extremes(name, dtype, left, rng):
    """Ties are the rule; the first counts, or with tie_break_left=False any."""
    kernel = module_from(f"""
        @triton.jit
        def kernel(x_ptr, out_ptr):
            x = tl.load(x_ptr + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :])
            tl.store(out_ptr + tl.arange(0, 16), tl.{name}(x, axis=1, tie_break_left={left}))
    """).kernel
    x = random_values(rng, (16, 32), dtype, -2, 2) if dtype in INTEGERS else rng.integers(-2, 3, (16, 32))
    x = x.astype(NUMPY[dtype])
    out = poisoned(16, np.int32)
    kernel[(1,)](x, out)
    if left:
        assert_same(out, getattr(np, name)(wide(x), axis=1).astype(np.int32))
    else:
        best = {"argmax": np.max, "argmin": np.min}[name](wide(x), axis=1)
        assert (wide(x)[np.arange(16), out] == best).all()


@pytest.mark.parametrize("dtype", ALL)
def test_cumsum_and_cumprod_of_vectors(dtype, rng):
    kernel = module_from("""
        @triton.jit
        def kernel(x_ptr, sum_ptr, product_ptr, BLOCK: tl.constexpr):
            offsets = tl.arange(0, BLOCK)
            x = tl.load(x_ptr + offsets)
            tl.store(sum_ptr + offsets, tl.cumsum(x, 0).to(sum_ptr.dtype.element_ty))
            tl.store(product_ptr + offsets, tl.cumprod(x.to(product_ptr.dtype.element_ty), 0))
    """).kernel
    x = rng.integers(0, 2, 64).astype(NUMPY[dtype])
    signs = np.where(x.astype(np.int64) == 1, 1, 0).astype(np.int64)
    sums, products = poisoned(64, np.int64), poisoned(64, np.int64)
    kernel[(1,)](x, sums, products, BLOCK=64)
    assert_same(sums, np.cumsum(signs))
    assert_same(products, np.cumprod(signs))


@pytest.mark.parametrize("dtype", ["int1", *INTEGERS])
@pytest.mark.parametrize("name, function", [("xor_sum", np.bitwise_xor), ("reduce_or", np.bitwise_or)])
def test_reductions_of_bits(name, function, dtype, rng):
    kernel = module_from(f"""
        @triton.jit
        def kernel(x_ptr, out_ptr):
            x = tl.load(x_ptr + tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :])
            tl.store(out_ptr + tl.arange(0, 8), tl.{name}(x, 1))
    """).kernel
    x, out = random_values(rng, (8, 16), dtype), poisoned(8, NUMPY[dtype])
    kernel[(1,)](x, out)
    assert_same(out, function.reduce(x, axis=1))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float16", "bfloat16", "float32"])
@pytest.mark.parametrize("wider", ["int64", "float32", "float64"])
def test_sum_in_another_type(dtype, wider, rng):
    kernel = module_from(f"""
        @triton.jit
        def kernel(x_ptr, out_ptr):
            tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, 256)), axis=0, dtype=tl.{wider}))
    """).kernel
    x = rng.integers(0, 100, 256).astype(NUMPY[dtype])
    out = poisoned(1, NUMPY[wider])
    kernel[(1,)](x, out)
    assert out[0] == wide(x).astype(np.float64).sum()


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 1, 1), (1, 4, 2), (5, 3, 2)])
def test_ids_of_programs(shape):
    module = module_from("""
        @triton.jit
        def kernel(out_ptr):
            x, y, z = tl.program_id(axis=0), tl.program_id(axis=1), tl.program_id(axis=2)
            X, Y, Z = tl.num_programs(axis=0), tl.num_programs(axis=1), tl.num_programs(axis=2)
            base = out_ptr + (x + X * (y + Y * z)) * 6
            tl.store(base, x)
            tl.store(base + 1, y)
            tl.store(base + 2, z)
            tl.store(base + 3, X)
            tl.store(base + 4, Y)
            tl.store(base + 5, Z)
    """)
    X, Y, Z = shape
    out = poisoned((Z, Y, X, 6), np.int32)
    module.kernel[shape](out)
    z, y, x = np.indices((Z, Y, X))
    expected = np.stack([x, y, z, *(np.full_like(x, extent) for extent in shape)], -1)
    assert_same(out, expected.astype(np.int32))


HINTS = [("multiple_of", "[1, 1]"), ("multiple_of", "(8, 1)"), ("max_contiguous", "[1, 1]")]
HINTS += [("max_constancy", "[1, 1]"), ("max_constancy", "(4, 2)"), ("max_constancy", "(8, 16)")]


@pytest.mark.parametrize("hint, values", HINTS)
def test_hints_on_matrices(hint, values, rng):
    """Hints that hold change nothing; barriers and assumptions in loops do not either."""
    module = module_from(f"""
        @triton.jit
        def kernel(x_ptr, out_ptr, n):
            r, c = tl.arange(0, 8)[:, None], tl.arange(0, 16)[None, :]
            place = r * 16 + c
            zero = tl.{hint}(place * 0, {values})
            x = tl.zeros((8, 16), tl.float32)
            for i in range(n):
                tl.assume(i >= 0)
                x += tl.load(x_ptr + place + zero)
                tl.debug_barrier()
            tl.store(out_ptr + place, x)
    """)
    x, out = random_values(rng, (8, 16), "float32"), poisoned((8, 16), np.float32)
    module.kernel[(1,)](x, out, 2)
    assert_same(out, x + x)


@pytest.mark.parametrize("hint", ["multiple_of", "max_contiguous", "max_constancy"])
def test_hints_of_another_rank(hint):
    module = module_from(f"@triton.jit\ndef kernel():\n    x = tl.{hint}(tl.arange(0, 16), (2, 2))\n")
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)]()
    assert f"Shape of input to {hint} does not match the length of values" in str(caught.value)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("options", ["cache_modifier='.cg'", "eviction_policy='evict_first'", "volatile=True"])
def test_options_of_loads(options, dtype, rng):
    kernel = module_from(f"""
        @triton.jit
        def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
            offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + offsets, mask=offsets < n, {options})
            tl.store(out_ptr + offsets, x, mask=offsets < n, cache_modifier=".wb", eviction_policy="evict_last")
    """).kernel
    x = random_values(rng, N, dtype)
    out = poisoned(N + 64, x.dtype)
    tail = out[N:].copy()
    kernel[(4,)](x, out, N, BLOCK=64)
    assert_same(out[:N], x)
    assert out[N:].tobytes() == tail.tobytes()


@pytest.mark.parametrize("mask", [True, False])
def test_masks_that_are_constants(mask, rng):
    kernel = module_from(f"""
        @triton.jit
        def kernel(x_ptr, out_ptr):
            offsets = tl.arange(0, 32)
            tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask={mask}, other=3.0))
            tl.store(out_ptr + 32 + offsets, 5.0, mask={mask})
    """).kernel
    x, out = random_values(rng, 32, "float32"), np.full(64, 9, np.float32)
    kernel[(1,)](x, out)
    assert_same(out[:32], x if mask else np.full(32, 3, np.float32))
    assert (out[32:] == (5 if mask else 9)).all()


def test_static_print_of_every_kind(capfd):
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, N: tl.constexpr):
            x = tl.load(x_ptr + tl.arange(0, N))
            tl.static_print("text", N, (N, 2.5), None, True, x.dtype, x.shape, sep="|", end="!\\n")
            tl.static_print(f"N = {N}")
            tl.static_print("tensor", x)
    """)
    module.kernel[(1,)](np.zeros(16, np.float16), N=16)
    said = capfd.readouterr().out
    assert "N = 16" in said and "text" in said and "16" in said and "2.5" in said and "fp16[" in said
    module.kernel[(1,)](np.zeros(16, np.float16), N=16)
    assert capfd.readouterr().out == "", "printed again although nothing was compiled"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim", [0, 1])
def test_softmax(dtype, dim, rng):
    kernel = module_from(f"""
        @triton.jit
        def kernel(x_ptr, out_ptr):
            place = tl.arange(0, 8)[:, None] * 32 + tl.arange(0, 32)[None, :]
            tl.store(out_ptr + place, tl.softmax(tl.load(x_ptr + place), dim={dim}, keep_dims=True))
    """).kernel
    x, out = random_values(rng, (8, 32), dtype), poisoned((8, 32), dtype)
    kernel[(1,)](x, out)
    assert_softmax(out, x, dim)


@pytest.mark.parametrize("dtype", SIGNED)
def test_absolute_value_of_the_smallest(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.min + 1, -1, 0, 1, info.max], dtype)
    with np.errstate(all="ignore"):
        assert_same(run_pointwise("tl.abs(x)", [x], dtype), np.abs(x))
        assert_same(run_pointwise("-x", [x], dtype), -x)


@pytest.mark.parametrize("dtype", UNSIGNED + FLOATS)
def test_clamp_and_extremes_with_scalars(dtype, rng):
    x = random_values(rng, N, dtype, 0, 90)
    kind = "float32" if dtype == "bfloat16" else dtype
    if dtype in FLOATS:
        out = run_pointwise("tl.clamp(x, 10.0, 20.0)", [x], "float32" if dtype != "float64" else dtype)
        assert_same(out, np.clip(wide(x), 10, 20).astype(out.dtype))
    else:
        out = run_pointwise("tl.minimum(tl.maximum(x, y), z)", [x, np.full_like(x, 10), np.full_like(x, 20)], kind)
        assert_same(out, np.clip(x, 10, 20))


def test_views_and_squeezes(rng):
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, out_ptr):
            x = tl.load(x_ptr + tl.arange(0, 32))
            x = tl.unsqueeze(tl.reshape(x, (1, 32)), 2)
            tl.static_assert(x.shape[0] == 1 and x.shape[2] == 1)
            x = tl.squeeze(tl.squeeze(x, 2), 0)
            tl.static_assert(len(x.shape) == 1)
            one = tl.reshape(tl.load(x_ptr + tl.arange(0, 1)), (1, 1))
            tl.store(out_ptr + tl.arange(0, 32), x + one.item())
    """)
    x, out = random_values(rng, 32, "float64"), poisoned(32, np.float64)
    module.kernel[(1,)](x, out)
    assert_same(out, x + x[0])


@pytest.mark.parametrize("group", [1, 2, 3, 5])
def test_swizzle2d(group):
    rows, columns = 7, 4
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, rows, columns, G: tl.constexpr):
            i, j = tl.program_id(0), tl.program_id(1)
            a, b = tl.swizzle2d(i, j, rows, columns, G)
            tl.store(out_ptr + (i * columns + j) * 2, a)
            tl.store(out_ptr + (i * columns + j) * 2 + 1, b)
    """)
    out = poisoned((rows * columns, 2), np.int32)
    module.kernel[(rows, columns)](out, rows, columns, G=group)
    expected = []
    for first in range(0, rows, group):
        members = range(first, min(first + group, rows))
        expected += [(row, column) for column in range(columns) for row in members]
    assert_same(out, np.array(expected, np.int32))
