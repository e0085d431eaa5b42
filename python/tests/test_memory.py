"""Loads, stores, masks, block pointers and atomics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import ALL, FLOATS, NUMPY, RANDOM_FACTOR, assert_same, module_from, poisoned, random_values, wide

COPY = module_from("""
    @triton.jit
    def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)

    @triton.jit
    def load_other(x_ptr, out_ptr, n, other, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n, other=other))

    @triton.jit
    def load_masked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n))

    @triton.jit
    def strided(x_ptr, out_ptr, rows, columns, stride_r, stride_c, R: tl.constexpr, C: tl.constexpr):
        r = tl.program_id(0) * R + tl.arange(0, R)
        c = tl.program_id(1) * C + tl.arange(0, C)
        mask = (r[:, None] < rows) & (c[None, :] < columns)
        x = tl.load(x_ptr + r[:, None] * stride_r + c[None, :] * stride_c, mask=mask)
        tl.store(out_ptr + r[:, None] * columns + c[None, :], x, mask=mask)

    @triton.jit
    def gather(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        index = tl.load(index_ptr + offsets, mask=offsets < n, other=0)
        tl.store(out_ptr + offsets, tl.load(x_ptr + index, mask=offsets < n), mask=offsets < n)

    @triton.jit
    def scatter(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        index = tl.load(index_ptr + offsets, mask=offsets < n, other=0)
        tl.store(out_ptr + index, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)

    @triton.jit
    def scalar(x_ptr, out_ptr):
        tl.store(out_ptr, tl.load(x_ptr) + 1)

    @triton.jit
    def programs(out_ptr):
        x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
        place = x + tl.num_programs(0) * (y + tl.num_programs(1) * z)
        tl.store(out_ptr + place, place * 10 + tl.num_programs(2))
""")


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("dtype", ALL)
def test_copy(dtype, n, rng):
    x = random_values(rng, n, dtype)
    out = poisoned(n + 80, NUMPY[dtype])
    tail = out[n:].copy()
    COPY.copy[(-(-n // 64),)](x, out, n, BLOCK=64)
    assert_same(out[:n], x)
    assert out[n:].tobytes() == tail.tobytes()


@pytest.mark.parametrize("dtype", ALL)
def test_other_fills_masked_lanes(dtype, rng):
    x = random_values(rng, 50, dtype)
    out = poisoned(128, NUMPY[dtype])
    COPY.load_other[(1,)](x, out, 50, 1 if dtype == "int1" else 3, BLOCK=128)
    assert_same(out, np.concatenate([x, np.full(78, 3, NUMPY[dtype])]))


@pytest.mark.parametrize("dtype", ALL)
def test_masked_lanes_without_other_read_zero(dtype, rng):
    x = random_values(rng, 50, dtype)
    out = poisoned(128, NUMPY[dtype])
    COPY.load_masked[(1,)](x, out, 50, BLOCK=128)
    assert_same(out, np.concatenate([x, np.zeros(78, NUMPY[dtype])]))


def test_masked_lanes_touch_no_memory():
    """The array ends where a page that cannot be read begins."""
    import ctypes
    import mmap

    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(ctypes.c_void_p(address + page), page, 0) == 0
    for n in (1, 3, 17, 100):
        x = np.frombuffer((ctypes.c_float * n).from_address(address + page - 4 * n), np.float32)
        x[:] = np.arange(n)
        out = poisoned(n, np.float32)
        COPY.copy[(1,)](x, out, n, BLOCK=128)
        assert_same(out, np.arange(n, dtype=np.float32))
        x[:] = 0
        COPY.copy[(1,)](np.ones(n, np.float32), x, n, BLOCK=128)
        assert_same(x.copy(), np.ones(n, np.float32))


@settings(max_examples=15 * RANDOM_FACTOR, deadline=None)
@given(
    rows=st.integers(1, 70),
    columns=st.integers(1, 70),
    transposed=st.booleans(),
    blocks=st.sampled_from([(1, 64), (16, 16), (32, 2), (8, 128)]),
    dtype=st.sampled_from(["int8", "float16", "float32", "float64"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_strided_matrices(rows, columns, transposed, blocks, dtype, seed):
    shape = (columns, rows) if transposed else (rows, columns)
    x = random_values(np.random.default_rng(seed), shape, dtype)
    x = x.T if transposed else x
    out = poisoned((rows, columns), NUMPY[dtype])
    strides = [stride // x.itemsize for stride in x.strides]
    R, C = blocks
    COPY.strided[(-(-rows // R), -(-columns // C))](x, out, rows, columns, *strides, R=R, C=C)
    assert_same(out, np.ascontiguousarray(x))


@pytest.mark.parametrize("index_type", [np.int32, np.int64, np.uint32, np.uint8])
def test_gather_and_scatter(index_type, rng):
    x = random_values(rng, 200, "float32")
    index = rng.permutation(200)[:100].astype(index_type)
    out = poisoned(100, np.float32)
    COPY.gather[(1,)](x, index, out, 100, BLOCK=128)
    assert_same(out, x[index])
    target = np.zeros(200, np.float32)
    COPY.scatter[(1,)](x, index, target, 100, BLOCK=128)
    expected = np.zeros(200, np.float32)
    expected[index] = x[:100]
    assert_same(target, expected)


def test_scalars_and_program_ids():
    x, out = np.array([41], np.int32), poisoned(1, np.int32)
    COPY.scalar[(1,)](x, out)
    assert out[0] == 42
    places = poisoned(2 * 3 * 5, np.int32)
    COPY.programs[(2, 3, 5)](places)
    assert_same(places, np.arange(30, dtype=np.int32) * 10 + 5)


def test_large_grids_are_complete():
    counts = np.zeros(100_003, np.int32)
    module = module_from("""
        @triton.jit
        def count(out_ptr):
            place = out_ptr + tl.program_id(0)
            tl.store(place, tl.load(place) + 1)
    """)
    module.count[(counts.size,)](counts)
    assert (counts == 1).all()


BLOCKS = module_from("""
    @triton.jit
    def copy(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
        x = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (tl.program_id(0) * R, 0), (R, C), (1, 0))
        out = tl.make_block_ptr(out_ptr, (rows, columns), (columns, 1), (tl.program_id(0) * R, 0), (R, C), (1, 0))
        for _ in range(0, columns, C):
            value = tl.load(x, boundary_check=(0, 1), padding_option="zero")
            tl.store(out, value, boundary_check=(0, 1))
            x = tl.advance(x, (0, C))
            out = tl.advance(out, (0, C))

    @triton.jit
    def pad(x_ptr, out_ptr, n, BLOCK: tl.constexpr, PADDING: tl.constexpr):
        x = tl.make_block_ptr(x_ptr, (n,), (1,), (-3,), (BLOCK,), (0,))
        tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x, boundary_check=(0,), padding_option=PADDING))
""")


@pytest.mark.parametrize("rows, columns", [(1, 1), (16, 32), (37, 45), (5, 100)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_block_pointers(rows, columns, rng):
    x = random_values(rng, (rows, columns), "float32")
    out = poisoned((rows, columns), np.float32)
    BLOCKS.copy[(-(-rows // 8),)](x, out, rows, columns, R=8, C=16)
    assert_same(out, x)


@pytest.mark.parametrize("padding, value", [("zero", 0.0), ("nan", np.nan)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_padding_of_block_pointers(padding, value, rng):
    x = random_values(rng, 9, "float32")
    out = poisoned(16, np.float32)
    BLOCKS.pad[(1,)](x, out, 9, BLOCK=16, PADDING=padding)
    expected = np.full(16, value, np.float32)
    expected[3:12] = x
    assert_same(out, expected)


ATOMIC = """
    @triton.jit
    def kernel(x_ptr, target_ptr, old_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        x = tl.load(x_ptr + offsets, mask=mask)
        old = tl.atomic_{name}(target_ptr + offsets % 7, x, mask=mask)
        tl.store(old_ptr + offsets, old, mask=mask)
"""
ATOMICS = {
    "add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip
WIDE_INTEGERS = ["int32", "int64", "uint32", "uint64"]


def atomic_cases():
    for name in ATOMICS:
        for dtype in WIDE_INTEGERS:
            yield name, dtype
    for dtype in FLOATS:
        yield "add", dtype
    for name in ("max", "min"):
        for dtype in ("float32", "float64"):
            yield name, dtype


@pytest.mark.parametrize("name, dtype", [*atomic_cases()])
def test_atomics(name, dtype, rng):
    kernel = module_from(ATOMIC.format(name=name)).kernel
    n = 1001
    # Small whole numbers: sums of floats are exact in any order.
    x = random_values(rng, n, dtype, 0, 3) if dtype in ("float16", "bfloat16") else random_values(rng, n, dtype)
    if dtype in FLOATS:
        x = np.round(wide(x) if dtype not in ("float16", "bfloat16") else wide(x) > 2.5).astype(NUMPY[dtype])
    target = np.full(7, 0 if dtype in FLOATS else 5, NUMPY[dtype])
    expected = target.copy()
    with np.errstate(all="ignore"):
        ATOMICS[name].at(expected, np.arange(n) % 7, x)
    old = poisoned(n, NUMPY[dtype])
    kernel[(-(-n // 64),)](x, target, old, n, BLOCK=64)
    assert_same(target, expected)


@pytest.mark.parametrize("dtype", WIDE_INTEGERS)
def test_exchange_and_compare_and_swap(dtype, rng):
    module = module_from("""
        @triton.jit
        def exchange(x_ptr, target_ptr, old_ptr, BLOCK: tl.constexpr):
            offsets = tl.arange(0, BLOCK)
            tl.store(old_ptr + offsets, tl.atomic_xchg(target_ptr + offsets, tl.load(x_ptr + offsets)))

        @triton.jit
        def swap(compare_ptr, x_ptr, target_ptr, old_ptr, BLOCK: tl.constexpr):
            offsets = tl.arange(0, BLOCK)
            compare, x = tl.load(compare_ptr + offsets), tl.load(x_ptr + offsets)
            tl.store(old_ptr + offsets, tl.atomic_cas(target_ptr + offsets, compare, x))
    """)
    x, start = random_values(rng, (2, 32), dtype)
    target, old = start.copy(), poisoned(32, NUMPY[dtype])
    module.exchange[(1,)](x, target, old, BLOCK=32)
    assert_same(target, x)
    assert_same(old, start)

    compare = np.where(rng.integers(0, 2, 32) == 1, start, x)
    target, old = start.copy(), poisoned(32, NUMPY[dtype])
    module.swap[(1,)](compare, x, target, old, BLOCK=32)
    assert_same(target, np.where(compare == start, x, start))
    assert_same(old, start)


def test_lock_of_compare_and_swap():
    module = module_from("""
        @triton.jit
        def count(lock_ptr, total_ptr):
            while tl.atomic_cas(lock_ptr, 0, 1) == 1:
                pass
            tl.store(total_ptr, tl.load(total_ptr) + 1)
            tl.atomic_xchg(lock_ptr, 0)
    """)
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int64)
    module.count[(500,)](lock, total)
    assert total[0] == 500 and lock[0] == 0


def test_ranges_below_zero(rng):
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, out_ptr, first_ptr, n, START: tl.constexpr, BLOCK: tl.constexpr):
            offsets = tl.arange(START, START + BLOCK)
            tl.store(out_ptr - START + offsets, tl.load(x_ptr + offsets, mask=offsets < n, other=-1.0))
            tl.store(first_ptr + offsets - START, offsets)
    """)
    x = rng.standard_normal(200).astype(np.float32)
    for start in (-64, -3, -1, 0, 5):
        for n in (-100, 2, 100):
            out, first = poisoned(16, np.float32), poisoned(16, np.int32)
            module.kernel[(1,)](x[64:], out, first, n, START=start, BLOCK=16)
            places = np.arange(start, start + 16, dtype=np.int32)
            assert_same(first, places)
            assert_same(out, np.where(places < n, x[64 + places], np.float32(-1)))


def test_load_before_two_overlapping_stores(rng):
    module = module_from("""
        @triton.jit
        def twice_needed(x_ptr, BLOCK: tl.constexpr):
            r = tl.arange(0, BLOCK)
            a = tl.load(x_ptr + r * 3)
            tl.store(x_ptr + BLOCK - 1 - r, r)
            tl.store(x_ptr + 4 * BLOCK + r, a)

        @triton.jit
        def overlapping(x_ptr, BLOCK: tl.constexpr):
            r = tl.arange(0, BLOCK)
            a = tl.load(x_ptr + 57 + r * 3)
            tl.store(x_ptr + 56 + BLOCK - 1 - r, r)
            tl.store(x_ptr + 37 + BLOCK - 1 - r, a)
    """)
    for block in (8, 64, 512):
        r = np.arange(block)
        start = rng.integers(0, 1000, 8 * block + 100).astype(np.int32)
        x, expected = start.copy(), start.copy()
        expected[block - 1 - r] = r
        expected[4 * block + r] = start[r * 3]
        module.twice_needed[(1,)](x, BLOCK=block)
        assert_same(x, expected)
        x, expected = start.copy(), start.copy()
        expected[55 + block - r] = r
        expected[36 + block - r] = start[57 + r * 3]
        module.overlapping[(1,)](x, BLOCK=block)
        assert_same(x, expected)
