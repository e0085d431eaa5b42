"""Masked lanes touch no memory: arrays between two pages that nobody may touch."""

import ctypes
import mmap

import numpy as np
import pytest

from helpers import ALL, NUMPY, assert_same, module_from, poisoned, random_values

pytestmark = pytest.mark.cpu_only("pages of host memory that may not be touched")

PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)


def guarded(values, at_end):
    """A copy of the values that starts right after a page without access, or ends right before one."""
    values = np.ascontiguousarray(values)
    inner = -(-max(values.nbytes, 1) // PAGE) * PAGE
    memory = mmap.mmap(-1, inner + 2 * PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for page in (address, address + PAGE + inner):
        assert LIBC.mprotect(ctypes.c_void_p(page), PAGE, 0) == 0, ctypes.get_errno()
    offset = PAGE + (inner - values.nbytes if at_end else 0)
    array = np.frombuffer(memory, np.uint8, values.nbytes, offset).view(values.dtype).reshape(values.shape)
    array[...] = values
    return array


KERNELS = module_from("""
    @triton.jit
    def copy(x_ptr, out_ptr, first, last, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK - BLOCK + tl.arange(0, BLOCK)
        mask = (offsets >= first) & (offsets < last)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask, other=0), mask=mask)

    @triton.jit
    def copy_matrix(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr, TRANSPOSED: tl.constexpr):
        r = tl.program_id(0) * R - R + tl.arange(0, R)
        c = tl.program_id(1) * C - C + tl.arange(0, C)
        mask = ((r >= 0) & (r < rows))[:, None] & ((c >= 0) & (c < columns))[None, :]
        if TRANSPOSED:
            x = tl.load(x_ptr + r[:, None] + c[None, :] * rows, mask=mask)
        else:
            x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=mask)
        tl.store(out_ptr + r[:, None] * columns + c[None, :], x, mask=mask)

    @triton.jit
    def copy_chosen(x_ptr, mask_ptr, out_ptr, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        mask = tl.load(mask_ptr + offsets)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)

    @triton.jit
    def gather_scatter(x_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        index = tl.load(index_ptr + offsets)
        mask = (index >= 0) & (index < n)
        x = tl.load(x_ptr + index, mask=mask)
        tl.store(out_ptr + index, x, mask=mask)

    @triton.jit
    def add_chosen(x_ptr, target_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK) - BLOCK // 2
        mask = (offsets >= 0) & (offsets < n)
        x = tl.load(x_ptr + offsets, mask=mask, other=1)
        tl.atomic_add(target_ptr + offsets, x, mask=mask)

    @triton.jit
    def one(x_ptr, out_ptr, place, flag):
        x = tl.load(x_ptr + place, mask=flag != 0, other=7)
        tl.store(out_ptr, x)
        tl.store(x_ptr + place, x + 1, mask=flag != 0)

    @triton.jit
    def reduced(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        total = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, n, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            total += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
        tl.store(out_ptr, tl.sum(total, axis=0))

    @triton.jit
    def copy_block(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
        r, c = tl.program_id(0) * R - R // 2, -(C // 2)
        x = tl.make_block_ptr(x_ptr, (rows, columns), (columns, 1), (r, c), (R, C), (1, 0))
        out = tl.make_block_ptr(out_ptr, (rows, columns), (columns, 1), (r, c), (R, C), (1, 0))
        for _ in range(0, columns + C, C):
            tl.store(out, tl.load(x, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))
            x = tl.advance(x, (0, C))
            out = tl.advance(out, (0, C))
""")

BOTH_SIDES = pytest.mark.parametrize("at_end", [False, True], ids=["begin", "end"])


@BOTH_SIDES
@pytest.mark.parametrize("dtype", ALL)
def test_vectors(dtype, at_end, rng):
    for n in (1, 3, 63, 64, 65, 1000):
        values = random_values(rng, n, dtype)
        x, out = guarded(values, at_end), guarded(poisoned(n, NUMPY[dtype]), at_end)
        KERNELS.copy[(n // 64 + 3,)](x, out, 0, n, BLOCK=64)
        assert_same(out, values)


@BOTH_SIDES
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", ["int1", "int8", "bfloat16", "float32", "float64"])
def test_matrices(dtype, transposed, at_end, rng):
    for rows, columns in ((1, 1), (5, 33), (33, 5), (16, 32), (40, 70)):
        values = random_values(rng, (rows, columns), dtype)
        x = guarded(values.T if transposed else values, at_end)
        out = guarded(poisoned((rows, columns), NUMPY[dtype]), at_end)
        grid = (rows // 16 + 3, columns // 32 + 3)
        KERNELS.copy_matrix[grid](x, out, rows, columns, R=16, C=32, TRANSPOSED=transposed)
        assert_same(out, values)


@BOTH_SIDES
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
def test_masks_from_memory(dtype, at_end, rng):
    """Any lane may be off; those in the forbidden pages are."""
    n, block = 50, 4096
    values, keep = random_values(rng, n, dtype), rng.integers(0, 2, n).astype(bool)
    mask = np.zeros(block, bool)
    before = 0 if at_end else block - n
    mask[before : before + n] = keep
    x = guarded(values, at_end)
    start = poisoned(n, NUMPY[dtype])
    out = guarded(start, at_end)
    shift = before * x.itemsize

    class Shifted:
        """The array as a pointer to lanes before its begin."""

        def __init__(self, array):
            self.dtype, self.array = dtype, array

        def data_ptr(self):
            return self.array.ctypes.data - shift

    KERNELS.copy_chosen[(1,)](Shifted(x), mask, Shifted(out), BLOCK=block)
    assert_same(out, np.where(keep, values, start))


@BOTH_SIDES
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_gathers_and_scatters(index_type, at_end, rng):
    n = 100
    values = random_values(rng, n, "float32")
    index = rng.permutation(np.arange(-78, n + 78))[:256].astype(index_type)
    index[rng.integers(0, 256, 40)] = rng.integers(10**6, 2**31 - 1, 40)
    index[rng.integers(0, 256, 40)] = rng.integers(-(2**31), -(10**6), 40)
    start = poisoned(n, np.float32)
    x, out = guarded(values, at_end), guarded(start, at_end)
    KERNELS.gather_scatter[(1,)](x, index, out, n, BLOCK=256)
    chosen = np.isin(np.arange(n), index)
    assert 0 < chosen.sum() < n
    assert out[chosen].tobytes() == values[chosen].tobytes()
    assert out[~chosen].tobytes() == start[~chosen].tobytes()


@BOTH_SIDES
@pytest.mark.parametrize("dtype", ["int32", "uint64", "float16", "bfloat16", "float32", "float64"])
def test_atomics(dtype, at_end, rng):
    n = 37
    values = rng.integers(0, 8, n).astype(NUMPY[dtype])
    x, target = guarded(values, at_end), guarded(np.ones(n, NUMPY[dtype]), at_end)
    KERNELS.add_chosen[(1,)](x, target, n, BLOCK=256)
    assert_same(target, (values + np.ones(n, NUMPY[dtype])).astype(NUMPY[dtype]))


@pytest.mark.parametrize("dtype", ["int8", "int32", "float16", "float32", "float64"])
def test_scalars(dtype):
    x, out = guarded(np.array([3], NUMPY[dtype]), True), poisoned(1, NUMPY[dtype])
    for place in (1, -5000, 10**7, -(10**7)):
        KERNELS.one[(1,)](x, out, place, 0)
        assert out[0] == 7 and x[0] == 3
    KERNELS.one[(1,)](x, out, 0, 1)
    assert out[0] == 3 and x[0] == 4


def test_nothing_is_read_through_a_null_pointer():
    class Null:
        dtype = "float32"

        def data_ptr(self):
            return 0

    KERNELS.copy[(3,)](Null(), Null(), 0, 0, BLOCK=64)
    out = poisoned(1, np.float32)
    KERNELS.one[(1,)](Null(), out, 0, 0)
    assert out[0] == 7


@BOTH_SIDES
def test_loops(at_end, rng):
    for n in (1, 63, 64, 65, 1000, 4096):
        values = rng.integers(-9, 9, n).astype(np.float32)
        out = poisoned(1, np.float32)
        KERNELS.reduced[(1,)](guarded(values, at_end), out, n, BLOCK=64)
        assert out[0] == values.sum()


@BOTH_SIDES
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_block_pointers(dtype, at_end, rng):
    for rows, columns in ((1, 1), (3, 50), (16, 32), (41, 33)):
        values = random_values(rng, (rows, columns), dtype)
        x, out = guarded(values, at_end), guarded(poisoned((rows, columns), NUMPY[dtype]), at_end)
        KERNELS.copy_block[(rows // 16 + 2,)](x, out, rows, columns, R=16, C=32)
        assert_same(out, values)


@pytest.mark.compiled_only("the interpreter raises where a compiled kernel crashes")
def test_the_guards_work():
    """Without its mask the same access ends a process."""
    import subprocess
    import sys

    done = subprocess.run([sys.executable, __file__], capture_output=True, timeout=120)
    assert b"ready" in done.stdout and b"alive" not in done.stdout and done.returncode < 0, done


if __name__ == "__main__":
    inside = guarded(np.ones(64, np.float32), True)
    KERNELS.copy[(3,)](inside, np.empty(64, np.float32), 0, 64, BLOCK=64)
    print("ready", flush=True)
    KERNELS.copy[(3,)](inside, np.empty(5000, np.float32), 0, 70, BLOCK=64)
    print("alive", flush=True)
