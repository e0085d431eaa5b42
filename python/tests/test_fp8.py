"""8-bit floats: every pattern decoded, rounding and saturation of conversions, products of matrices."""

import ml_dtypes
import numpy as np
import pytest

import despina as triton
import despina.language as tl
from helpers import NUMPY, module_from, poisoned

FORMATS = {
    "float8e5": ml_dtypes.float8_e5m2,
    "float8e4nv": ml_dtypes.float8_e4m3fn,
    "float8e5b16": ml_dtypes.float8_e5m2fnuz,
    "float8e4b8": ml_dtypes.float8_e4m3fnuz,
}
OCP = ["float8e5", "float8e4nv"]

module = module_from("""\
@triton.jit
def convert(x_ptr, o_ptr, n, BLOCK: tl.constexpr, rounding: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(o_ptr + at, x.to(o_ptr.dtype.element_ty, fp_downcast_rounding=rounding), mask=at < n)

@triton.jit
def convert_bits(x_ptr, o_ptr, n, BLOCK: tl.constexpr, source: tl.constexpr, target: tl.constexpr,
                 rounding: tl.constexpr = None):
    # Types that NumPy lacks travel as bytes.
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = x.to(source, bitcast=True).to(target, fp_downcast_rounding=rounding)
    tl.store(o_ptr + at, y.to(o_ptr.dtype.element_ty, bitcast=True), mask=at < n)

@triton.jit
def move(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    x = tl.where(at % 2 == 0, x, tl.reshape(tl.trans(tl.reshape(x, (BLOCK // 2, 2))), (BLOCK,)))
    tl.store(o_ptr + at, x, mask=at < n)

@triton.jit
def add(x_ptr, o_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(o_ptr + at, (x + x).to(tl.float32))

@triton.jit
def constant(o_ptr, BLOCK: tl.constexpr):
    tl.store(o_ptr + tl.arange(0, BLOCK), tl.full((BLOCK,), 1.5, o_ptr.dtype.element_ty))

@triton.jit
def dot(a_ptr, b_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(o_ptr + m[:, None] * N + n[None, :], tl.dot(a, b))
""")


def run(x, dtype, rounding=None):
    out = np.zeros(x.shape, dtype=dtype)
    out.view(f"u{out.itemsize}")[...] = 0x5A
    module.convert[(triton.cdiv(x.size, 256),)](x, out, x.size, 256, rounding)
    return out


def every(name):
    return np.arange(256, dtype=np.uint8).view(FORMATS[name])


AMD = pytest.mark.cpu_only("AMD's formats")


@pytest.fixture(params=[pytest.param(name, marks=[] if name in OCP else AMD) for name in FORMATS])
def name(request):
    return request.param


@pytest.mark.parametrize("wide", ["float16", "bfloat16", "float32"])
def test_every_pattern_widens(name, wide):
    x = every(name)
    np.testing.assert_array_equal(run(x, NUMPY[wide]).astype(np.float64), x.astype(np.float64))
    signs = np.signbit(run(x, NUMPY[wide]).astype(np.float64))
    numbers = ~np.isnan(x.astype(np.float64))
    np.testing.assert_array_equal(signs[numbers], np.signbit(x.astype(np.float64))[numbers])


def narrowed(x, name):
    """To nearest even; what is too large becomes the largest finite number, NaN stays.

    By hand: ml_dtypes goes through float32, and so rounds float64 twice.
    """
    values = every(name)[:128].astype(np.float64)
    values = values[np.isfinite(values)]
    x = x.astype(np.float64)
    magnitude = np.minimum(np.abs(x), values[-1])
    above = np.clip(np.searchsorted(values, np.nan_to_num(magnitude)), 1, len(values) - 1)
    below = above - 1
    to_above, to_below = values[above] - magnitude, magnitude - values[below]
    is_above = (to_above < to_below) | ((to_above == to_below) & (above % 2 == 0))
    result = np.copysign(values[np.where(is_above, above, below)], x)
    return np.where(np.isnan(x), np.nan, result).astype(FORMATS[name])


def candidates(name, wide, rng):
    """Each value, the middles between neighbours and their neighbours, what is too large, infinities, NaN."""
    values = np.unique(every(name).astype(np.float64))
    values = values[np.isfinite(values)]
    middles = (values[1:] + values[:-1]) / 2
    near = [values, middles, rng.standard_normal(512) * 100, [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e9, -6e4]]
    with np.errstate(over="ignore"):
        x = np.concatenate(near).astype(NUMPY[wide])
        up, down = np.nextafter(x, NUMPY[wide].type(np.inf)), np.nextafter(x, NUMPY[wide].type(-np.inf))
    return np.concatenate([x, up, down])


def assert_same_values(actual, wanted):
    actual, wanted = actual.astype(np.float64), wanted.astype(np.float64)
    np.testing.assert_array_equal(actual, wanted)
    numbers = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(actual)[numbers], np.signbit(wanted)[numbers])


@pytest.mark.parametrize("wide", ["float16", "bfloat16", "float32", "float64"])
def test_narrowing_rounds_to_nearest_even_and_saturates(name, wide, rng):
    x = candidates(name, wide, rng)
    assert_same_values(run(x, FORMATS[name]), narrowed(x, name))


@pytest.mark.parametrize("wide", ["float16", "bfloat16", "float32", "float64"])
def test_narrowing_toward_zero(name, wide, rng):
    x = candidates(name, wide, rng)
    x = x[np.isfinite(x)]
    values = np.unique(every(name).astype(np.float64))
    values = values[np.isfinite(values) & (values >= 0)]
    places = np.searchsorted(values, np.abs(x.astype(np.float64)), side="right") - 1
    wanted = np.copysign(values[places], x.astype(np.float64))
    assert_same_values(run(x, FORMATS[name], "rtz"), wanted.astype(FORMATS[name]))


def test_narrowing_from_float64_rounds_once(name):
    """Next to a tie by less than float32 can tell."""
    values = np.unique(every(name).astype(np.float64))
    values = values[np.isfinite(values)]
    middles = (values[1:] + values[:-1]) / 2
    middles = middles[middles != 0]
    x = np.concatenate([middles * (1 + 2.0**-40), middles * (1 - 2.0**-40), middles])
    assert_same_values(run(x, FORMATS[name]), narrowed(x, name))


@pytest.mark.parametrize("target", OCP)
def test_from_one_format_to_another(name, target):
    x = every(name)
    wanted = narrowed(x.astype(np.float32), target)
    if name == target:
        wanted = x
    assert_same_values(run(x, FORMATS[target]), wanted)


def bits(x, out_dtype, source, target, rounding=None):
    out = poisoned(x.shape, out_dtype)
    module.convert_bits[(triton.cdiv(x.size, 256),)](x, out, x.size, 256, source, target, rounding)
    return out


def e4b15_values():
    """Bias 15, no infinity and no NaN; the last code is read as the one before it."""
    code = np.minimum(np.arange(256) & 0x7F, 0x7E)
    exponent, mantissa = code >> 3, code & 7
    magnitude = np.where(exponent == 0, mantissa * 2.0**-17, (8 + mantissa) * 2.0 ** (exponent - 18.0))
    return np.where(np.arange(256) < 128, magnitude, -magnitude)


@pytest.mark.parametrize("wide", ["float16", "bfloat16", "float32", "float64"])
def test_every_pattern_of_e4b15(wide):
    result = bits(np.arange(256, dtype=np.uint8), NUMPY[wide], tl.float8e4b15, getattr(tl, wide))
    assert_same_values(result, e4b15_values())


@pytest.mark.parametrize("wide", ["float16", "float32", "float64"])
def test_narrowing_to_e4b15(wide, rng):
    """Through fp16, cut off; then ties away from zero; NaN becomes 1.75."""
    x = np.concatenate([e4b15_values(), rng.uniform(-2, 2, 500), rng.uniform(-0.01, 0.01, 500)])
    with np.errstate(over="ignore"):
        x = np.concatenate([x, [1e9, -1e9, np.inf, -np.inf, np.nan]]).astype(NUMPY[wide])
    result = bits(x, np.uint8, getattr(tl, wide), tl.float8e4b15)
    with np.errstate(over="ignore", invalid="ignore"):
        half = x.astype(np.float16)
        back = half.astype(x.dtype)
        half = np.where(np.abs(back) > np.abs(x), np.nextafter(half, np.float16(0)), half)
    magnitude = np.minimum(half.view(np.uint16) & 0x7FFF, 0x3F00)
    wanted = (((magnitude + 0x40) >> 7) | (half.view(np.uint16) >> 8 & 0x80)).astype(np.uint8)
    wanted[-1] &= 0x7F
    result[-1] &= 0x7F
    np.testing.assert_array_equal(result, wanted)


def refusal(body):
    text = f"@triton.jit\ndef kernel():\n    x = tl.zeros((16,), tl.float32)\n    y = {body}\n"
    with pytest.raises(triton.CompilationError) as caught:
        module_from(text).kernel[(1,)]()
    return str(caught.value)


@pytest.mark.cpu_only("what the front end refuses")
@pytest.mark.parametrize(
    "body, text",
    {
        "mode": (
            "x.to(tl.float8e5, fp_downcast_rounding='rtn')",
            "Invalid rounding mode: rtn. Supported rounding modes are 'rtne' and 'rtz'.",
        ),
        "widening": (
            "x.to(tl.float64, fp_downcast_rounding='rtz')",
            "fp_downcast_rounding should be set only for truncating fp conversions. "
            "Source scalar type is fp32 and destination type is fp64",
        ),
        "to an integer": (
            "x.to(tl.int8, fp_downcast_rounding='rtne')",
            "fp_downcast_rounding should be set only for truncating fp conversions. "
            "Source scalar type is fp32 and destination type is int8",
        ),
        "fp8 to an integer": ("x.to(tl.float8e5).to(tl.int32)", "cannot cast fp8e5[16] to"),
        "integer to fp8": ("x.to(tl.int32).to(tl.float8e5)", "cannot cast int32[16] to"),
        "bits": (
            "x.to(tl.float8e5, bitcast=True)",
            "Cannot bitcast data-type of size 32 to data-type of size 8",
        ),
    }.values(),
)
def test_errors(body, text):
    assert text in refusal(body)


def test_bitcasts_keep_every_bit(name):
    x = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(bits(x, np.uint8, getattr(tl, name), getattr(tl, name)), x)


def test_bitcasts_of_e4b15_keep_every_bit():
    source = "float8e4b15"
    x = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(bits(x, np.uint8, getattr(tl, source), getattr(tl, source)), x)


@pytest.mark.parametrize("n", [1, 37, 64])
def test_moves_keep_every_bit(name, n, rng):
    x = rng.permutation(np.arange(256, dtype=np.uint8))[:64].view(FORMATS[name])
    out = np.full(64, 0x5A, dtype=np.uint8)
    module.move[(1,)](x, out.view(FORMATS[name]), n, 64)
    bits = np.where(np.arange(64) < n, x.view(np.uint8), 0)
    wanted = np.where(np.arange(64) % 2 == 0, bits, bits.reshape(32, 2).T.reshape(64))
    np.testing.assert_array_equal(out[:n], wanted[:n])
    np.testing.assert_array_equal(out[n:], 0x5A)


def test_constant(name):
    out = np.full(16, 0x5A, dtype=np.uint8)
    module.constant[(1,)](out.view(FORMATS[name]), 16)
    np.testing.assert_array_equal(out.view(FORMATS[name]).astype(np.float32), 1.5)


@pytest.mark.cpu_only("GPUs have no arithmetic on these types")
def test_arithmetic(name, rng):
    x = (rng.integers(-8, 8, 32) / 4).astype(FORMATS[name])
    out = poisoned(32, np.float32)
    module.add[(1,)](x, out, 32)
    np.testing.assert_array_equal(out, x.astype(np.float32) * 2)


def test_dot_of_e4b15(rng):
    """fp16 holds all of it exactly."""
    kernel = module_from("""
        @triton.jit
        def kernel(a_ptr, b_ptr, o_ptr, S: tl.constexpr):
            i = tl.arange(0, S)
            place = i[:, None] * S + i[None, :]
            a = tl.load(a_ptr + place).to(tl.float8e4b15, bitcast=True)
            b = tl.load(b_ptr + place).to(tl.float8e4b15, bitcast=True)
            tl.store(o_ptr + place, tl.dot(a, b))
    """).kernel
    a, b = (rng.integers(0, 256, (32, 32), np.uint8) for _ in range(2))
    out = poisoned((32, 32), np.float32)
    kernel[(1,)](a, b, out, 32)
    x, y = e4b15_values()[a], e4b15_values()[b]
    assert (np.abs(out - x @ y) <= np.abs(x) @ np.abs(y) * 2.0**-18).all()


@pytest.mark.parametrize("shape", [(16, 16, 32), (64, 32, 64), (128, 128, 128)])
@pytest.mark.parametrize("rhs", OCP)
@pytest.mark.parametrize("lhs", OCP)
def test_dot(lhs, rhs, shape, rng):
    M, N, K = shape
    a = rng.standard_normal((M, K)).astype(FORMATS[lhs])
    b = rng.standard_normal((K, N)).astype(FORMATS[rhs])
    out = poisoned((M, N), np.float32)
    module.dot[(1,)](a, b, out, M, N, K)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    # Tensor cores keep about 14 bits of a partial sum of 8-bit products.
    assert (np.abs(out - exact) <= bound * 2.0**-12).all()
