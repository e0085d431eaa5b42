"""`tl.gather` and `tl.histogram` against NumPy."""

import numpy as np
import pytest

from helpers import NUMPY, module_from

KERNELS = """\
@triton.jit
def gather(x_ptr, i_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, I: tl.constexpr, J: tl.constexpr, axis: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    places = tl.arange(0, I)[:, None] * J + tl.arange(0, J)[None, :]
    tl.store(o_ptr + places, x.gather(tl.load(i_ptr + places), axis))

@triton.jit
def histogram(x_ptr, o_ptr, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(o_ptr + tl.arange(0, BINS), tl.histogram(tl.load(x_ptr + tl.arange(0, N)), BINS))

@triton.jit
def masked_histogram(x_ptr, o_ptr, n, N: tl.constexpr, BINS: tl.constexpr):
    at = tl.arange(0, N)
    counts = tl.load(x_ptr + at, mask=at < n, other=0).histogram(BINS, mask=at < n)
    tl.store(o_ptr + tl.arange(0, BINS), counts)
"""
module = module_from(KERNELS)


@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("dtype", ["int8", "int16", "float16", "bfloat16", "float32", "int64", "float64"])
@pytest.mark.parametrize("shape, axis, extent", [((4, 32), 1, 64), ((4, 32), -1, 8), ((32, 8), 0, 16), ((1, 16), 0, 2)])
def test_gather(shape, axis, extent, dtype, index, rng):
    x = rng.integers(-100, 100, shape).astype(NUMPY[dtype])
    result = list(shape)
    result[axis] = extent
    i = rng.integers(0, shape[axis], result).astype(index)
    out = np.full(result, 77, dtype=x.dtype)
    module.gather[(1,)](x, i, out, *shape, *result, axis)
    np.testing.assert_array_equal(out, np.take_along_axis(x, i.astype(np.int64), axis))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("n, bins", [(1, 2), (64, 16), (1024, 128), (2048, 1)])
def test_histogram(n, bins, dtype, rng):
    x = rng.integers(0, bins, n).astype(dtype)
    out = np.full(bins, -7, dtype=np.int32)
    module.histogram[(1,)](x, out, n, bins)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=bins))


@pytest.mark.parametrize("n", [0, 1, 37, 128])
def test_masked_histogram(n, rng):
    x = rng.integers(0, 32, 128).astype(np.int32)
    out = np.full(32, -7, dtype=np.int32)
    module.masked_histogram[(1,)](x, out, n, 128, 32)
    np.testing.assert_array_equal(out, np.bincount(x[:n], minlength=32))


def test_histogram_of_all_bytes(rng):
    x = rng.integers(0, 256, 4096).astype(np.uint8)
    out = np.full(256, -7, dtype=np.int32)
    module.histogram[(1,)](x, out, 4096, 256)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=256))
