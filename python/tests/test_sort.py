"""`tl.sort`, `tl.topk`, `tl.bitonic_merge` and `tl.flip` against NumPy."""

import ml_dtypes
import numpy as np
import pytest

from helpers import ALL, FLOATS, NUMPY, assert_refused, assert_same, module_from, poisoned, random_values

KERNELS = """\
@triton.jit
def load(x_ptr, M: tl.constexpr, N: tl.constexpr):
    return tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])

@triton.jit
def sort(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, DOWN: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o_ptr + places, tl.sort(load(x_ptr, M, N), descending=DOWN))

@triton.jit
def sort_line(x_ptr, o_ptr, N: tl.constexpr, DOWN: tl.constexpr):
    places = tl.arange(0, N)
    tl.store(o_ptr + places, tl.load(x_ptr + places).sort(0, DOWN))

@triton.jit
def topk(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DOWN: tl.constexpr):
    y = tl.topk(load(x_ptr, M, N), K, descending=DOWN)
    tl.store(o_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :], y)

@triton.jit
def merge(x_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, DOWN: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(o_ptr + places, tl.bitonic_merge(load(x_ptr, M, N), 1, DOWN))

@triton.jit
def flip(x_ptr, o_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, DIM: tl.constexpr):
    places = (tl.arange(0, A)[:, None, None] * B + tl.arange(0, B)[None, :, None]) * C + tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + places)
    tl.store(o_ptr + places, tl.flip(x, DIM))
    tl.store(o_ptr + A * B * C + places, x.flip(DIM))
"""
module = module_from(KERNELS)
SMALL = {"float8e5": ml_dtypes.float8_e5m2, "float8e4nv": ml_dtypes.float8_e4m3fn}


def numbers(rng, shape, dtype):
    """Random values with repetitions and, of floats, with what is no number and both infinities."""
    if dtype in SMALL:
        return rng.integers(0, 256, shape).astype(np.uint8).view(SMALL[dtype])
    x = random_values(rng, shape, dtype)
    repeated = rng.integers(0, 4, shape) == 0
    x = np.where(repeated, x.flat[0], x).astype(NUMPY[dtype])
    if dtype in FLOATS:
        special = np.array([np.nan, np.inf, -np.inf, -np.nan, 0.0, -0.0]).astype(NUMPY[dtype])
        chosen = rng.integers(0, 40, shape)
        x = np.where(chosen < special.size, special[np.minimum(chosen, special.size - 1)], x)
    return x


def arranged(x, down):
    """Sorted rows. NaN is the largest, as it is for NumPy, which however puts ml_dtypes' types in another order."""
    wide = x.astype(np.float64) if x.dtype.kind not in "iub" else x
    order = np.argsort(wide, axis=-1, kind="stable")
    result = np.take_along_axis(x, order, axis=-1)
    return result[..., ::-1] if down else result


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("dtype", [*ALL, *SMALL])
def test_sort(dtype, down, rng):
    x = numbers(rng, (4, 64), dtype)
    out = poisoned(x.shape, np.uint8 if dtype in SMALL else x.dtype).view(x.dtype)
    module.sort[(1,)](x, out, *x.shape, down)
    assert_same(out, arranged(x, down))


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (8, 1), (2, 4), (16, 16), (1, 1024)])
def test_shapes(shape, rng):
    x = numbers(rng, shape, "float32")
    out = poisoned(shape, np.float32)
    module.sort[(1,)](x, out, *shape, False)
    assert_same(out, arranged(x, False))


@pytest.mark.parametrize("warps", [1, 8])
def test_a_line(warps, rng):
    x = numbers(rng, 512, "int16")
    out = poisoned(512, np.int16)
    module.sort_line[(1,)](x, out, 512, True, num_warps=warps)
    assert_same(out, arranged(x, True))


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("dtype", ["int8", "uint32", "int64", "float16", "bfloat16", "float32", "float64"])
def test_topk(dtype, down, rng):
    x = numbers(rng, (2, 64), dtype)
    out = poisoned((2, 8), x.dtype)
    module.topk[(1,)](x, out, 2, 64, 8, down)
    assert_same(out, arranged(x, down)[:, :8])


@pytest.mark.parametrize("n, k", [(1, 1), (2, 1), (64, 1), (64, 32), (32, 32), (256, 2)])
def test_topk_of_several_sizes(n, k, rng):
    x = numbers(rng, (4, n), "float32")
    out = poisoned((4, k), np.float32)
    module.topk[(1,)](x, out, 4, n, k, True)
    assert_same(out, arranged(x, True)[:, :k])


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "float64"])
def test_bitonic_merge(dtype, down, rng):
    x = numbers(rng, (4, 32), dtype)
    # A row that rises up to a random place and falls from there on.
    turned = arranged(x, False)
    for row in turned:
        turn = rng.integers(0, 33)
        row[:] = np.concatenate([row[:turn], row[turn:][::-1]]) if rng.integers(2) else np.roll(row, turn)
    out = poisoned(x.shape, x.dtype)
    module.merge[(1,)](turned, out, 4, 32, down)
    assert_same(out, arranged(x, down))


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_flip(dim, rng):
    x = rng.standard_normal((4, 8, 16)).astype(np.float32)
    out = poisoned((2, *x.shape), np.float32)
    module.flip[(1,)](x, out, *x.shape, dim)
    assert_same(out[0], np.flip(x, dim))
    assert_same(out[1], np.flip(x, dim))


@pytest.mark.parametrize("dtype", [name for name in ALL if name != "float32"])
def test_flip_of_types(dtype, rng):
    x = random_values(rng, (2, 4, 8), dtype)
    out = poisoned((2, *x.shape), x.dtype)
    module.flip[(1,)](x, out, *x.shape, 1)
    assert_same(out[1], np.flip(x, 1))


@pytest.mark.parametrize(
    "call, said",
    [
        ("tl.sort(x, 0)", "only minor dimension is currently supported"),
        ("tl.topk(x, 2, dim=0)", "only minor dimension is currently supported"),
        ("tl.bitonic_merge(x, -2)", "only minor dimension is currently supported"),
        ("tl.topk(x, 3)", "k must be a power of 2"),
        ("tl.topk(x, 64)", "k must not exceed the extent of the last dimension"),
        ("tl.sort(tl.sum(x))", "only blocks of at least one dimension can be sorted"),
        ("tl.flip(x)", "flip needs `dim`, the dimension to reverse"),
        ("x.flip(2)", "flip has a `dim` that the block does not have"),
    ],
)
@pytest.mark.cpu_only("what the front end refuses")
def test_refusals(call, said):
    module = module_from(f"@triton.jit\ndef kernel():\n    x = tl.zeros((4, 16), tl.float32)\n    y = {call}\n")
    assert_refused(module.kernel, said)
