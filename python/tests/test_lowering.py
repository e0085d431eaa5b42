"""Kernels that a careless lowering gets wrong: aliasing arguments, wrapping indices, deep expressions, names."""

import numpy as np
import pytest

import despina as triton
from helpers import module_from, poisoned

KERNELS = module_from("""
    @triton.jit
    def reverse(x_ptr, out_ptr, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(out_ptr + (BLOCK - 1 - offsets), tl.load(x_ptr + offsets))

    @triton.jit
    def transpose(x_ptr, out_ptr, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        places = offsets[:, None] * BLOCK + offsets[None, :]
        tl.store(out_ptr + places, tl.trans(tl.load(x_ptr + places)))

    @triton.jit
    def add_row(x_ptr, row_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
        columns = tl.arange(0, COLUMNS)
        places = tl.arange(0, ROWS)[:, None] * COLUMNS + columns[None, :]
        tl.store(out_ptr + places, tl.load(x_ptr + places) + tl.load(row_ptr + columns)[None, :])

    @triton.jit
    def hash_index(out_ptr, start, factor, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, (start + offsets) * factor % n)

    @triton.jit
    def hash_mask(out_ptr, start, factor, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, offsets, mask=(start + offsets) * factor < n)

    @triton.jit
    def entangled(x_ptr, out_ptr, k, STEPS: tl.constexpr, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        place = offsets
        mask = offsets < BLOCK
        for _ in tl.static_range(STEPS):
            place = place + place * k
            mask = mask & (mask | (place < BLOCK))
        total = tl.zeros((BLOCK,), tl.float32)
        for _ in range(2):
            total += tl.load(x_ptr + place % BLOCK, mask=mask)
        tl.store(out_ptr + offsets, total)

    @triton.jit
    def memcpy(x_ptr, out_ptr, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        for _ in range(4):
            total = tl.cumsum(total + tl.load(x_ptr + offsets))
        tl.store(out_ptr + offsets, total)

    @triton.jit
    def expf(x_ptr, out_ptr, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, tl.exp(tl.load(x_ptr + offsets)))
""")


@pytest.mark.parametrize("block", [4, 64, 1024])
def test_reverses_in_place(block, rng):
    x = rng.standard_normal(block).astype(np.float32)
    expected = x[::-1].copy()
    KERNELS.reverse[(1,)](x, x, BLOCK=block)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("block", [4, 32, 128])
def test_transposes_in_place(block, rng):
    x = rng.standard_normal((block, block)).astype(np.float32)
    expected = x.T.copy()
    KERNELS.transpose[(1,)](x, x, BLOCK=block)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("row", [0, 3, 7])
def test_adds_a_row_of_the_array_it_writes(row, rng):
    x = rng.standard_normal((8, 64)).astype(np.float32)
    expected = x + x[row]
    KERNELS.add_row[(1,)](x, x[row], x, ROWS=8, COLUMNS=64)
    np.testing.assert_array_equal(x, expected)


def wrapped(start, factor, block):
    return ((start + np.arange(block, dtype=np.int64)) * factor).astype(np.int32)


# Products inside the type, across its end, and so far beyond that they come back to positive numbers.
STARTS = [(5, 3), (2**20, 2047), (2**20, 2048), (1_000_003, 7919), (-1_000_003, 7919), (2**29, 8)]


@pytest.mark.parametrize("start, factor", STARTS)
def test_an_index_wraps_before_a_remainder(start, factor):
    n, out = 2_000_000_000, poisoned(16, "int32")
    KERNELS.hash_index[(1,)](out, start, factor, n, BLOCK=16)
    np.testing.assert_array_equal(out, np.fmod(wrapped(start, factor, 16), np.int32(n)))


@pytest.mark.parametrize("start, factor", STARTS)
def test_an_index_wraps_before_a_comparison(start, factor):
    n, out = 1_500_000_000, np.full(16, -1, np.int32)
    KERNELS.hash_mask[(1,)](out, start, factor, n, BLOCK=16)
    inside = wrapped(start, factor, 16) < n
    np.testing.assert_array_equal(out, np.where(inside, np.arange(16), -1))


def test_shared_expressions_are_lowered_once(rng):
    # Every step uses the one before twice: work that doubles with each would not end.
    x, out = rng.standard_normal(64).astype(np.float32), poisoned(64, "float32")
    KERNELS.entangled[(1,)](x, out, 0, STEPS=60, BLOCK=64)
    np.testing.assert_array_equal(out, 2 * x)


def test_kernels_may_have_names_of_library_functions(rng):
    x = rng.random(64).astype(np.float32)
    out = poisoned(64, "float32")
    KERNELS.expf[(1,)](x, out, BLOCK=64)
    np.testing.assert_allclose(out, np.exp(x.astype(np.float64)), rtol=1e-6)
    KERNELS.memcpy[(1,)](x, out, BLOCK=64)
    expected = np.zeros(64)
    for _ in range(4):
        expected = np.cumsum(expected + x)
    np.testing.assert_allclose(out, expected, rtol=1e-4)


@pytest.mark.cpu_only("scratch memory of the CPU")
@pytest.mark.compiled_only("scratch memory of the CPU")
def test_too_much_scratch_memory_is_an_error():
    source = """
        @triton.jit
        def hoard(x_ptr, out_ptr, TILES: tl.constexpr, BLOCK: tl.constexpr):
            offsets = tl.arange(0, BLOCK)
            total = tl.zeros((BLOCK,), tl.float64)
            tiles = ()
            for i in tl.static_range(TILES):
                tiles = tiles + (tl.cumsum(tl.load(x_ptr + i * BLOCK + offsets)),)
            for i in tl.static_range(TILES):
                total = tl.cumsum(total + tiles[TILES - 1 - i])
            tl.store(out_ptr + offsets, total)
    """
    with pytest.raises(triton.CompilationError, match="tiles of over 1 GiB alive at once"):
        x = np.zeros(1, np.float64)
        module_from(source).hoard.warmup(x, x, TILES=160, BLOCK=2**20, grid=(1,))
