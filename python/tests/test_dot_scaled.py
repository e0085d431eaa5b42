"""Matrix products whose operands have few bits and scales for groups along K."""

import ml_dtypes
import numpy as np
import pytest

import despina as triton
from helpers import assert_within, module_from, poisoned

MODULE = module_from("""
    @triton.jit
    def block(ptr, R: tl.constexpr, C: tl.constexpr):
        return tl.load(ptr + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])

    @triton.jit
    def scaled(a_ptr, as_ptr, b_ptr, bs_ptr, c_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
               G: tl.constexpr, A: tl.constexpr, B: tl.constexpr, A_K: tl.constexpr, B_K: tl.constexpr,
               FAST: tl.constexpr = False):
        PA: tl.constexpr = 2 if A == "e2m1" else 1
        PB: tl.constexpr = 2 if B == "e2m1" else 1
        if A_K:
            a = block(a_ptr, M, K // PA)
        else:
            a = block(a_ptr, M // PA, K)
        if B_K:
            b = block(b_ptr, K // PB, N)
        else:
            b = block(b_ptr, K, N // PB)
        if as_ptr is not None:
            a_scale = block(as_ptr, M, K // G)
        else:
            a_scale: tl.constexpr = None
        if bs_ptr is not None:
            b_scale = block(bs_ptr, N, K // G)
        else:
            b_scale: tl.constexpr = None
        place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
        if c_ptr is not None:
            result = tl.dot_scaled(a, a_scale, A, b, b_scale, B, tl.load(c_ptr + place), FAST, A_K, B_K)
        else:
            result = tl.dot_scaled(a, a_scale, A, b, b_scale, B, fast_math=FAST, lhs_k_pack=A_K, rhs_k_pack=B_K)
        tl.static_assert(result.dtype == tl.float32)
        tl.store(out_ptr + place, result)

    @triton.jit
    def batched(a_ptr, as_ptr, b_ptr, bs_ptr, out_ptr, S: tl.constexpr, K: tl.constexpr):
        x, y = tl.arange(0, 2)[:, None, None, None], tl.arange(0, 2)[None, :, None, None]
        batch, s = x * 2 + y, tl.arange(0, S)
        k, packed, group = tl.arange(0, K), tl.arange(0, K // 2), tl.arange(0, K // 32)
        a = tl.load(a_ptr + (batch * S + s[:, None]) * (K // 2) + packed[None, :])
        a_scale = tl.load(as_ptr + (batch * S + s[:, None]) * (K // 32) + group[None, :])
        b = tl.load(b_ptr + (batch * K + k[:, None]) * S + s[None, :])
        b_scale = tl.load(bs_ptr + (batch * S + s[:, None]) * (K // 32) + group[None, :])
        result = tl.dot_scaled(a, a_scale, "e2m1", b, b_scale, "e5m2")
        tl.store(out_ptr + (batch * S + s[:, None]) * S + s[None, :], result)
""")

NATIVE = {
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "bf16": ml_dtypes.bfloat16, "fp16": np.float16,
}  # fmt: skip
FORMATS = ["e2m1", *NATIVE]


def values(codes, name):
    """Codes as numbers."""
    if name != "e2m1":
        return codes.view(NATIVE[name]).astype(np.float64)
    return codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)


def random_codes(rng, shape, name):
    if name == "e2m1":
        return rng.integers(0, 16, shape, np.uint8)
    return (rng.standard_normal(shape) * 4).astype(NATIVE[name]).view("u1" if name.startswith("e") else "u2")


def packed(codes, axis):
    """Two codes in a byte along the axis, the first lower."""
    first, second = np.moveaxis(codes, axis, 0)[0::2], np.moveaxis(codes, axis, 0)[1::2]
    return np.ascontiguousarray(np.moveaxis(first | second << 4, 0, axis))


def factors(scale, group):
    if scale.dtype == np.uint8:
        with np.errstate(invalid="ignore"):
            wide = np.where(scale == 255, np.nan, np.exp2(scale.astype(np.float64) - 127))
    else:
        wide = scale.astype(np.float64)
    return np.repeat(wide, group, axis=-1)


def random_scale(rng, shape, group):
    if group == 16:
        return (rng.random(shape) * 8 - 2).astype(ml_dtypes.float8_e4m3fn)
    return rng.integers(117, 138, shape, np.uint8)


def as_multiplied(x, scale, group, is_half):
    """bf16 unless fp16 has everything."""
    if is_half:
        return x
    x = x.astype(ml_dtypes.bfloat16).astype(np.float64)
    if scale is not None:
        x = (x * factors(scale, group)).astype(ml_dtypes.bfloat16).astype(np.float64)
    return x


def check(rng, lhs, rhs, shape=(32, 16, 64), group=32, scales="both", packs=(True, True), native=True, acc=False):
    M, N, K = shape
    a, b = random_codes(rng, (M, K), lhs), random_codes(rng, (K, N), rhs)
    a_scale = random_scale(rng, (M, K // group), group) if scales in ("both", "lhs") else None
    b_scale = random_scale(rng, (N, K // group), group) if scales in ("both", "rhs") else None
    c = rng.standard_normal((M, N)).astype(np.float32) if acc else None
    is_half = "fp16" in (lhs, rhs) and "bf16" not in (lhs, rhs) and scales == "none"
    x = as_multiplied(values(a, lhs), a_scale, group, is_half)
    y = as_multiplied(values(b, rhs).T, b_scale, group, is_half).T
    given = []
    for codes, name, axis in ((a, lhs, 1 if packs[0] else 0), (b, rhs, 0 if packs[1] else 1)):
        if name == "e2m1":
            given.append(packed(codes, axis))
        else:
            given.append(codes.view(NATIVE[name]) if native else codes)
    out = poisoned((M, N), np.float32)
    MODULE.scaled[(1,)](given[0], a_scale, given[1], b_scale, c, out, M, N, K, group, lhs, rhs, *packs)
    c = 0 if c is None else c.astype(np.float64)
    assert_within(out, x @ y + c, (np.abs(x) @ np.abs(y) + np.abs(c)) * 2.0**-22 * K)


@pytest.mark.parametrize("scales", ["both", "lhs", "rhs", "none"])
@pytest.mark.parametrize("rhs", FORMATS)
@pytest.mark.parametrize("lhs", FORMATS)
def test_formats(lhs, rhs, scales, rng):
    check(rng, lhs, rhs, scales=scales)


@pytest.mark.parametrize("rhs", FORMATS)
@pytest.mark.parametrize("lhs", FORMATS)
def test_bits_in_unsigned_integers(lhs, rhs, rng):
    check(rng, lhs, rhs, native=False, acc=True)


@pytest.mark.parametrize("rhs", ["e2m1", "e4m3", "bf16"])
@pytest.mark.parametrize("lhs", ["e2m1", "e5m2", "fp16"])
def test_groups_of_16(lhs, rhs, rng):
    check(rng, lhs, rhs, group=16)


@pytest.mark.parametrize("packs", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("shape", [(16, 32, 128), (128, 64, 64)])
def test_packed_along_the_outer_dimension(shape, packs, rng):
    check(rng, "e2m1", "e2m1", shape, packs=packs)


@pytest.mark.parametrize("shape", [(16, 16, 32), (64, 128, 256), (128, 16, 128)])
def test_shapes(shape, rng):
    check(rng, "e2m1", "e4m3", shape, acc=True)


@pytest.mark.parametrize("fast", [False, True])
def test_largest_and_smallest_scales(fast):
    """2^-127 to 2^127 are factors like others."""
    a, b = np.ones((16, 64), ml_dtypes.bfloat16), np.ones((64, 16), ml_dtypes.bfloat16)
    scale = np.full((16, 2), 127, np.uint8)
    scale[3], scale[4], scale[5] = (0, 255 if not fast else 1), (254, 0), (254, 1)
    other = np.full((16, 2), 127, np.uint8)
    other[7] = 0, 254
    out = poisoned((16, 16), np.float32)
    MODULE.scaled[(1,)](a, scale, b, other, None, out, 16, 16, 64, 32, "bf16", "bf16", True, True, fast)
    expected = 32 * factors(scale, 1) @ factors(other, 1).T
    with np.errstate(over="ignore"):
        expected = expected.astype(np.float32)
    if fast:  # Subnormal bf16 may be 0 in matrix units; a factor of this size is far below the others.
        np.testing.assert_allclose(out, expected, rtol=1e-6, atol=2.0**-100)
        return
    assert np.isnan(out[3]).all()
    np.testing.assert_allclose(np.delete(out, 3, 0), np.delete(expected, 3, 0), rtol=1e-6)


def test_every_code_of_e2m1_and_every_exponent(rng):
    """Products with 1 show each element after scaling."""
    codes = np.broadcast_to(np.arange(16, dtype=np.uint8), (256, 16)).copy()
    a = np.zeros((256, 32), np.uint8)
    a[:, 0] = codes[np.arange(256), rng.integers(0, 16, 256)]
    scale = np.arange(256, dtype=np.uint8)[:, None]
    b = np.zeros((32, 16), ml_dtypes.bfloat16)
    b[0] = 1
    out = poisoned((256, 16), np.float32)
    MODULE.scaled[(1,)](packed(a, 1), scale, b, None, None, out, 256, 16, 32, 32, "e2m1", "bf16", True, True)
    with np.errstate(over="ignore"):
        expected = (values(a, "e2m1")[:, :1] * factors(scale, 1)).astype(ml_dtypes.bfloat16).astype(np.float64)
    with np.errstate(invalid="ignore"):
        nan = np.isnan(expected[:, 0]) | np.isinf(expected[:, 0])  # Infinity times 0 of the other columns.
    np.testing.assert_array_equal(out[~nan], np.broadcast_to(expected, (256, 16))[~nan])
    assert np.isnan(out[255]).all()


def test_batches(rng):
    S, K = 16, 64
    a, b = random_codes(rng, (4, S, K), "e2m1"), random_codes(rng, (4, K, S), "e5m2")
    a_scale, b_scale = random_scale(rng, (4, S, K // 32), 32), random_scale(rng, (4, S, K // 32), 32)
    out = poisoned((4, S, S), np.float32)
    MODULE.batched[(1,)](packed(a, 2), a_scale, b.view(NATIVE["e5m2"]), b_scale, out, S, K)
    x = values(a, "e2m1") * factors(a_scale, 32)
    y = values(b, "e5m2") * factors(b_scale, 32).swapaxes(1, 2)
    assert_within(out, x @ y, np.abs(x) @ np.abs(y) * 2.0**-22 * K)


# Per case: arguments of the call, and what it says.
A, B = "tl.zeros((16, 64), tl.uint8)", "tl.zeros((64, 16), tl.uint8)"
S = "tl.zeros((16, 2), tl.uint8)"
ERRORS = {
    "format": (f"{A}, {S}, 'e3m2', {B}, {S}, 'e4m3'", "NYI: lhs_format e3m2"),
    "rhs format": (f"{A}, {S}, 'e4m3', {B}, {S}, 'int8'", "NYI: rhs_format int8"),
    "format is no text": (f"{A}, {S}, 4, {B}, {S}, 'e4m3'", "lhs_format must be a constexpr string"),
    "scalar": (f"1, {S}, 'e4m3', {B}, {S}, 'e4m3'", "lhs must be a block"),
    "e2m1": (f"{A}.to(tl.int32), {S}, 'e2m1', {B}, {S}, 'e4m3'", "e2m1 format must be packed as uint8. Got int32"),
    "dtype": (f"{A}, {S}, 'e4m3', {B}.to(tl.uint16), {S}, 'e5m2'", "Unexpected dtype for e5m2. Got uint16"),
    "float": (f"{A}.to(tl.float32), {S}, 'bf16', {B}, {S}, 'e5m2'", "Unexpected dtype for bf16. Got fp32"),
    "rank": ("tl.zeros((16,), tl.uint8), None, 'e4m3', tl.zeros((16,), tl.uint8), None, 'e4m3'",
             "lhs must have at least 2 dimensions. Got [16]"),
    "ranks": (f"{A}[None], None, 'e4m3', {B}, None, 'e4m3'",
              "Both inputs must have the same rank; (lhs: [1, 16, 64] vs rhs: [64, 16])"),
    "k": (f"{A}, {S}, 'e4m3', {B}, {S}, 'e2m1'",
          "Reduction dimension should pack the same number of elements; (lhs: [16, 64] vs rhs: [64, 16])"),
    "batches": (f"{A}[None], None, 'e4m3', tl.zeros((2, 64, 16), tl.uint8), None, 'e4m3'",
                "Both inputs must have the same batch dimensions; (lhs: [1, 16, 64] vs rhs: [2, 64, 16])"),
    "packing": (f"{A}, {S}, 'e4m3', {B}, {S}, 'e4m3', lhs_k_pack=False",
                "only mxfp4 inputs can be packed along a dimension different than K"),
    "scale": (f"{A}, tl.zeros((16, 4), tl.uint8), 'e4m3', {B}, {S}, 'e4m3'",
              "lhs_scale must be a tensor of shape [..., 16, 2]. Got [16, 4]"),
    "transposed scale": (f"{A}, {S}, 'e4m3', {B}, tl.zeros((2, 16), tl.uint8), 'e4m3'",
                         "rhs_scale must be a tensor of shape [..., 16, 2]. Got [2, 16]"),
    "scale of 16": (f"{A}, {S}.to(tl.float8e4nv, bitcast=True), 'e4m3', {B}, {S}, 'e4m3'",
                    "lhs_scale must be a tensor of shape [..., 16, 4]. Got [16, 2]"),
    "scale dtype": (f"{A}, {S}.to(tl.float32), 'e4m3', {B}, {S}, 'e4m3'",
                    "lhs_scale must be of uint8 (exponents) or fp8e4nv. Got fp32"),
    "factors": (f"{A}, tl.zeros((16, 4), tl.uint8).to(tl.float8e4nv, bitcast=True), 'e4m3', {B}, {S}, 'e4m3'",
                "Operands must have the same scale factor; (lhs: 16 vs rhs: 32)"),
    "acc": (f"{A}, {S}, 'e4m3', {B}, {S}, 'e4m3', tl.zeros((16, 16), tl.float16)",
            "acc must have the type of the result, <[16, 16], fp32>, but has <[16, 16], fp16>"),
    "out_dtype": (f"{A}, {S}, 'e4m3', {B}, {S}, 'e4m3', out_dtype=tl.float16",
                  "Only float32 is supported for out_dtype at the moment. Got fp16"),
    "flag": (f"{A}, {S}, 'e4m3', {B}, {S}, 'e4m3', fast_math='yes'", "fast_math must be a constexpr bool"),
}  # fmt: skip


@pytest.mark.cpu_only("what the front end refuses")
@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    arguments, text = ERRORS[case]
    module = module_from(f"@triton.jit\ndef kernel():\n    x = tl.dot_scaled({arguments})\n")
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)]()
    assert text in str(caught.value)
