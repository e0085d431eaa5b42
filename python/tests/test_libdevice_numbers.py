"""Every function of `tl.extra.libdevice` on every type it has, against references of higher precision."""

import math
from fractions import Fraction

import numpy as np
import pytest

import despina.language as tl
from despina.language.extra import libdevice
from helpers import NUMPY, assert_same, on_gpu, random_values, run_pointwise
from libdevice_references import (
    ELEMENTARY, MODES, NAMES, SEVERAL, evaluate, is_rounding, rounded_integer,
)  # fmt: skip

FLOATS = ["float32", "float64"]
# ULP: docs/numerics.md. On a GPU the library is NVIDIA's, which states up to 10 for these ranges.
LIMITS = {"float32": 1, "float64": 2}
GPU_LIMIT = 12


def call(name, *arguments, dtype):
    text = ", ".join("xyz"[i] for i in range(len(arguments)))
    return run_pointwise(f"tl.extra.libdevice.{name}({text})", list(arguments), dtype)


def check_ulps(result, reference, limit):
    spacing = np.spacing(np.abs(reference.astype(result.dtype))).astype(np.longdouble)
    distance = np.abs(result.astype(np.longdouble) - reference) / spacing
    worst = int(np.argmax(distance))
    assert distance[worst] <= limit, f"{distance[worst]} ULP: got {result[worst]}, expected {reference[worst]}"


@pytest.mark.cpu_only("about names alone")
@pytest.mark.parametrize("name", NAMES)
def test_every_name_exists(name):
    assert callable(getattr(libdevice, name))
    assert callable(getattr(tl.extra.libdevice, name))
    assert callable(getattr(tl.extra.cuda.libdevice, name))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary(name, dtype, rng):
    if name.startswith("fast_") and dtype == "float64":
        dtype = "float32"  # The only type they have; other numbers.
    function, low, high = ELEMENTARY[name]
    x = np.concatenate([rng.uniform(low, high, 60), rng.uniform(max(low, -0.1), min(max(low, 0.1), high), 20)])
    x = np.clip(x, low, high).astype(NUMPY[dtype])
    limit = GPU_LIMIT if on_gpu() else LIMITS[dtype]
    if name == "tanh":
        limit += 1  # Our own, as vector code.
    result = call(name, x, dtype=dtype)
    reference = evaluate(function, x)
    if name.startswith("fast_"):
        bound = np.abs(reference) * 2.0**-16 + 2.0**-20  # Fast sines have an absolute error.
        assert (np.abs(result - reference) <= bound).all(), name
        return
    if name in ("exp", "exp2", "log", "log2", "sin", "cos", "erf", "rsqrt", "sqrt") and not on_gpu():
        limit = 2
    check_ulps(result, reference, limit)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", SEVERAL)
def test_of_several_arguments(name, dtype, rng):
    if name.startswith("fast_") and dtype == "float64":
        dtype = "float32"
    function, *ranges = SEVERAL[name]
    arguments = [rng.uniform(low, high, 80).astype(NUMPY[dtype]) for low, high in ranges]
    result, reference = call(name, *arguments, dtype=dtype), evaluate(function, *arguments)
    if name.startswith("fast_"):
        assert (np.abs(result - reference) <= np.abs(reference) * 2.0**-16).all()
        return
    check_ulps(result, reference, GPU_LIMIT if on_gpu() else LIMITS[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["norm4d", "rnorm4d"])
def test_four_arguments(name, dtype, rng):
    x, y, z = (rng.standard_normal(64).astype(NUMPY[dtype]) for _ in range(3))
    result = run_pointwise(f"tl.extra.libdevice.{name}(x, y, z, x)", [x, y, z], dtype)
    wide = [v.astype(np.longdouble) for v in (x, y, z, x)]
    reference = np.sqrt(sum(v * v for v in wide))
    check_ulps(result, reference if name == "norm4d" else 1 / reference, GPU_LIMIT if on_gpu() else 2)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["jn", "yn"])
def test_bessel_functions_of_any_order(name, dtype, rng):
    import mpmath

    n = rng.integers(0, 6, 64).astype(np.int32)
    x = rng.uniform(4, 8, 64).astype(NUMPY[dtype])
    function = {"jn": mpmath.besselj, "yn": mpmath.bessely}[name]
    reference = evaluate(lambda order, v: function(int(order), v), n, x)
    bound = {"float32": 2e-5, "float64": 1e-12}[dtype] if on_gpu() else np.finfo(NUMPY[dtype]).eps
    assert (np.abs(call(name, n, x, dtype=dtype) - reference) <= bound * np.maximum(1, np.abs(reference))).all()


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e30, -1e30, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "name, reference",
    {
        "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "rint": np.rint, "nearbyint": np.rint,
        "round": lambda x: np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x), "abs": np.abs,
    }.items(),
)  # fmt: skip
def test_rounding_to_integers(name, reference, dtype, rng):
    x = np.concatenate([SPECIAL, rng.uniform(-100, 100, 50)]).astype(NUMPY[dtype])
    assert_same(call(name, x, dtype=dtype), reference(x))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "name, reference",
    {
        "copysign": np.copysign, "fmod": np.fmod, "nextafter": np.nextafter,
        "fdim": lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, np.maximum(x - y, 0)).astype(x.dtype),
        "remainder": lambda x, y: np.array([math.remainder(a, b) for a, b in zip(x.tolist(), y.tolist())], x.dtype),
    }.items(),
)  # fmt: skip
def test_exact_functions_of_two(name, reference, dtype, rng):
    x, y = (rng.uniform(-100, 100, 64).astype(NUMPY[dtype]) for _ in range(2))
    assert_same(call(name, x, y, dtype=dtype), reference(x, y))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "names, reference",
    [
        (["isnan", "isnan"], np.isnan), (["isinf", "isinf"], np.isinf), (["finitef", "isfinited"], np.isfinite),
        (["signbit", "signbit"], np.signbit),
    ],
)  # fmt: skip
def test_classification(names, reference, dtype, rng):
    x = np.concatenate([SPECIAL, rng.standard_normal(20)]).astype(NUMPY[dtype])
    result = call(names[FLOATS.index(dtype)], x, dtype="int32")
    np.testing.assert_array_equal(result != 0, reference(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_exponents(dtype, rng):
    x = (rng.standard_normal(64) * 2.0 ** rng.integers(-30, 30, 64)).astype(NUMPY[dtype])
    n = rng.integers(-40, 40, 64).astype(np.int32)
    exponents = np.frexp(x)[1] - 1
    assert_same(call("ilogb", x, dtype="int32"), exponents.astype(np.int32))
    assert_same(call("logb", x, dtype=dtype), exponents.astype(x.dtype))
    for name in ("ldexp", "scalbn"):
        assert_same(call(name, x, n, dtype=dtype), np.ldexp(x, n))


@pytest.mark.parametrize("dtype", FLOATS)
def test_nearest_long_integers(dtype, rng):
    x = np.concatenate([rng.uniform(-1e6, 1e6, 40), [0.5, 1.5, 2.5, -0.5, -1.5, 0.0]]).astype(NUMPY[dtype])
    assert_same(call("llrint", x, dtype="int64"), np.rint(x).astype(np.int64))
    halves_away = np.copysign(np.floor(np.abs(x.astype(np.float64)) + 0.5), x).astype(np.int64)
    assert_same(call("llround", x, dtype="int64"), halves_away)


@pytest.mark.parametrize("dtype", FLOATS)
def test_whole_powers(dtype, rng):
    x, n = rng.uniform(0.5, 2, 64).astype(NUMPY[dtype]), rng.integers(-8, 8, 64).astype(np.int32)
    reference = x.astype(np.longdouble) ** n.astype(np.longdouble)
    check_ulps(call("pow", x, n, dtype=dtype), reference, GPU_LIMIT if on_gpu() else 2)


def test_saturation():
    x = np.array([*SPECIAL, 0.25, 0.75], np.float32)
    assert_same(call("saturatef", x, dtype="float32"), np.nan_to_num(np.clip(x, 0, 1), nan=0.0).astype(np.float32))


# ---
# Rounding modes
# ---

ARITHMETIC = {
    "add": (2, lambda x, y: x + y), "sub": (2, lambda x, y: x - y), "mul": (2, lambda x, y: x * y),
    "div": (2, lambda x, y: x / y), "rcp": (1, lambda x: 1 / x), "fma": (3, lambda x, y, z: x * y + z),
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_in_each_mode(name, mode, dtype, rng):
    count, function = ARITHMETIC[name]
    arguments = [rng.uniform(-100, 100, 64).astype(NUMPY[dtype]) for _ in range(count)]
    result = call(f"{name}_{mode}", *arguments, dtype=dtype)
    for got, *values in zip(result, *arguments):
        exact = function(*(Fraction(float(v)) for v in values))
        assert is_rounding(got, exact, mode), (got, values)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mode", MODES)
def test_roots_in_each_mode(mode, dtype, rng):
    x = rng.uniform(0, 100, 64).astype(NUMPY[dtype])
    step = x.dtype.type
    for got, value in zip(call(f"sqrt_{mode}", x, dtype=dtype), x):
        square = lambda v: Fraction(float(v)) ** 2  # noqa: E731
        below, above, exact = np.nextafter(got, step(0)), np.nextafter(got, step(np.inf)), Fraction(float(value))
        middles = [(Fraction(float(got)) + Fraction(float(other))) / 2 for other in (below, above)]
        if mode == "rn":
            assert middles[0] ** 2 <= exact <= middles[1] ** 2
        elif mode == "ru":
            assert square(below) < exact <= square(got)
        else:
            assert square(got) <= exact < square(above)


def test_inverse_root_to_nearest(rng):
    x = rng.uniform(0.01, 100, 64).astype(np.float32)
    for got, value in zip(call("rsqrt_rn", x, dtype="float32"), x):
        near = [Fraction(float(np.nextafter(got, np.float32(to)))) for to in (0, np.inf)]
        middles = [(Fraction(float(got)) + other) / 2 for other in near]
        assert middles[0] ** 2 * Fraction(float(value)) <= 1 <= middles[1] ** 2 * Fraction(float(value))


TO_FLOATS = {
    "int2float": ("int32", "float32"), "uint2float": ("uint32", "float32"), "ll2float": ("int64", "float32"),
    "ull2float": ("uint64", "float32"), "ll2double": ("int64", "float64"), "ull2double": ("uint64", "float64"),
    "double2float": ("float64", "float32"),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", TO_FLOATS)
def test_conversions_to_floats(name, mode, rng):
    source, target = TO_FLOATS[name]
    x = random_values(rng, 64, source)
    for got, value in zip(call(f"{name}_{mode}", x, dtype=target), x.tolist()):
        assert is_rounding(got, Fraction(value), mode), (got, value)


TO_INTEGERS = {"int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target", TO_INTEGERS)
@pytest.mark.parametrize("source", ["float", "double"])
def test_conversions_to_integers(source, target, mode, rng):
    dtype = NUMPY[{"float": "float32", "double": "float64"}[source]]
    integer = NUMPY[TO_INTEGERS[target]]
    low = 0 if integer.kind == "u" else -1e6
    x = np.concatenate([rng.uniform(low, 1e6, 50), [0.5, 1.5, 2.5, 3.0]]).astype(dtype)
    result = call(f"{source}2{target}_{mode}", x, dtype=integer.name)
    assert_same(result, rounded_integer(x, mode).astype(integer))
    limits = np.iinfo(integer)
    x = np.array([1e30, -1e30, np.inf, -np.inf], dtype)
    wanted = np.array([limits.max, limits.min] * 2, integer)
    assert_same(call(f"{source}2{target}_{mode}", x, dtype=integer.name), wanted)


# ---
# Bits and integers
# ---


def bits(values, count):
    return [format(int(v) & (2**count - 1), f"0{count}b") for v in values]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_bits(dtype, rng):
    x = random_values(rng, 64, dtype) >> rng.integers(0, 31, 64).astype(dtype)
    x[:3] = 0, -1, 1
    texts = bits(x, x.dtype.itemsize * 8)
    zeros = np.array([len(t) - len(t.lstrip("0")) for t in texts], np.int32)
    assert_same(call("clz", x, dtype="int32"), zeros)
    assert_same(call("popc", x, dtype="int32"), np.array([t.count("1") for t in texts], np.int32))
    assert_same(call("ffs", x, dtype="int32"), np.array([t[::-1].find("1") + 1 for t in texts], np.int32))
    unsigned = np.array([int(t[::-1], 2) for t in texts], f"u{x.dtype.name}")
    assert_same(call("brev", x, dtype=dtype), unsigned.view(x.dtype))
    assert_same(call("abs", x, dtype=dtype), np.abs(x))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_high_half_of_products(dtype, rng):
    x, y = random_values(rng, 64, dtype), random_values(rng, 64, dtype)
    wanted = [a * b >> (x.dtype.itemsize * 8) for a, b in zip(x.tolist(), y.tolist())]
    assert_same(call("mulhi", x, y, dtype=dtype), np.array(wanted, x.dtype))


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_sums(dtype, rng):
    x, y, z = (random_values(rng, 64, name) for name in (dtype, dtype, "uint32"))
    a, b, c = (v.astype(object) for v in (x, y, z))
    wrap = lambda v: np.array([int(n) & 0xFFFFFFFF for n in v], np.uint32).view(NUMPY[dtype])  # noqa: E731
    assert_same(call("hadd", x, y, dtype=dtype), wrap((a + b) >> 1))
    assert_same(call("rhadd", x, y, dtype=dtype), wrap((a + b + 1) >> 1))
    assert_same(call("sad", x, y, z, dtype=dtype), wrap(abs(a - b) + c))
    low = lambda v: ((v & 0xFFFFFF) ^ 0x800000) - 0x800000 if dtype == "int32" else v & 0xFFFFFF  # noqa: E731
    assert_same(call("mul24", x, y, dtype=dtype), wrap(low(a) * low(b)))


def test_byte_permutation(rng):
    x, y = random_values(rng, 64, "int32"), random_values(rng, 64, "int32")
    selector = (random_values(rng, 64, "int32") & 0x7777).astype(np.int32)
    wanted = []
    for a, b, s in zip(x.view(np.uint32).tolist(), y.view(np.uint32).tolist(), selector.tolist()):
        pool = (b << 32 | a).to_bytes(8, "little")
        wanted.append(int.from_bytes(bytes(pool[s >> 4 * i & 7] for i in range(4)), "little"))
    assert_same(call("byte_perm", x, y, selector, dtype="int32"), np.array(wanted, np.uint32).view(np.int32))


VIEWS = {
    "float_as_int": ("float32", "int32"), "float_as_uint": ("float32", "uint32"),
    "int_as_float": ("int32", "float32"), "uint_as_float": ("uint32", "float32"),
    "double_as_longlong": ("float64", "int64"), "longlong_as_double": ("int64", "float64"),
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_bits(name, rng):
    source, target = VIEWS[name]
    x = random_values(rng, 64, source)
    assert_same(call(name, x, dtype=target), x.view(NUMPY[target]))


def test_halves_of_doubles(rng):
    x = random_values(rng, 64, "float64")
    high, low = (x.view(np.int64) >> 32).astype(np.int32), x.view(np.int64).astype(np.int32)
    assert_same(call("double2hiint", x, dtype="int32"), high)
    assert_same(call("double2loint", x, dtype="int32"), low)
    assert_same(call("hiloint2double", high, low, dtype="float64"), x)
    inverse = call("rcp64h", x, dtype="float64")
    assert (inverse.view(np.int64).astype(np.int32) == 0).all()
    np.testing.assert_allclose(inverse, 1 / x, rtol=2.0**-18)


@pytest.mark.parametrize("dtype", ["int32", "uint32"])
def test_integers_to_double(dtype, rng):
    x = random_values(rng, 64, dtype)
    assert_same(
        call({"int32": "int2double_rn", "uint32": "uint2double_rn"}[dtype], x, dtype="float64"), x.astype(np.float64)
    )


def test_every_name_has_a_test():
    """Names in the tests above, by hand where they are not in a table."""
    named = set(ELEMENTARY) | set(SEVERAL) | set(VIEWS)
    named |= {f"{name}_{mode}" for name in [*ARITHMETIC, *TO_FLOATS, "sqrt"] for mode in MODES}
    named |= {f"{source}2{to}_{mode}" for source in ("float", "double") for to in TO_INTEGERS for mode in MODES}
    named |= set(
        """
    norm4d rnorm4d jn yn ceil floor trunc rint nearbyint round abs copysign fmod nextafter fdim remainder isnan isinf
    finitef isfinited signbit ilogb logb ldexp scalbn llrint llround pow saturatef rsqrt_rn clz popc ffs brev mulhi hadd
    rhadd sad mul24 byte_perm double2hiint double2loint hiloint2double rcp64h int2double_rn uint2double_rn fma
    """.split()
    )
    assert set(NAMES) <= named, set(NAMES) - named


@pytest.mark.parametrize("dtype", FLOATS)
def test_fma(dtype, rng):
    x, y, z = (rng.standard_normal(64).astype(NUMPY[dtype]) for _ in range(3))
    for got, *values in zip(call("fma", x, y, z, dtype=dtype), x, y, z):
        a, b, c = (Fraction(float(v)) for v in values)
        assert is_rounding(got, a * b + c, "rn")


def test_a_call_in_a_reduction(rng):
    """Functions of the library work where combine functions call them."""
    from helpers import module_from

    module = module_from("""
        @triton.jit
        def longer(x, y):
            return tl.extra.libdevice.hypot(x, y)

        @triton.jit
        def kernel(x_ptr, out_ptr, N: tl.constexpr):
            tl.store(out_ptr, tl.reduce(tl.load(x_ptr + tl.arange(0, N)), 0, longer))
    """)
    x, out = rng.standard_normal(128).astype(np.float32), np.zeros(1, np.float32)
    module.kernel[(1,)](x, out, 128)
    np.testing.assert_allclose(out[0], np.sqrt((x.astype(np.float64) ** 2).sum()), rtol=1e-5)
