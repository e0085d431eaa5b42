"""Descriptors that kernels make of what they compute, and use in loops: on GPUs with tensor maps, each program makes a
map for itself."""

import numpy as np
import pytest

from helpers import DESCRIPTOR_REDUCTION_TYPES, DESCRIPTOR_REDUCTIONS, NUMPY, module_from, on_gpu, poisoned

module = module_from("""\
@triton.jit
def copy(x_ptr, o_ptr, skip, M, N, stride, BM: tl.constexpr, BN: tl.constexpr, pad: tl.constexpr):
    # `skip` and the program decide where the tensor begins.
    first = skip + tl.program_id(0) * stride * 2
    x = tl.make_tensor_descriptor(x_ptr + first, [M, N], [stride, 1], [BM, BN], padding_option=pad)
    o = tl.make_tensor_descriptor(o_ptr + first, [M, N], [stride, 1], [BM, BN])
    for i in range(0, 2, BM):
        for j in range(0, N, BN):
            o.store([i, j], x.load([i, j]))

@triton.jit
def padded(x_ptr, o_ptr, skip, M, N, stride, pad: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr + skip, [M, N], [stride, 1], [BM, BN], padding_option=pad)
    at = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    for i in range(3):
        tl.store(o_ptr + i * BM * BN + at, x.load([i * BM - 2, BN]))

@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # A batch of products on a grid of any size: one descriptor for each batch, tiles one after the other.
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    batch = tl.program_id(1)
    a = tl.make_tensor_descriptor(a_ptr + batch * M * K, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr + batch * N * K, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr + batch * M * N, [M, N], [N, 1], [BM, BN])
    for tile in range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
        m, n = tile // tiles_n * BM, tile % tiles_n * BN
        acc = tl.zeros([BM, BN], tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc, input_precision="ieee")
        c.store([m, n], acc.to(c.dtype))

@triton.jit
def grouped(x_ptr, o_ptr, sizes_ptr, groups, stride, B: tl.constexpr, N: tl.constexpr):
    first = 0
    for g in range(groups):
        M = tl.load(sizes_ptr + g)
        x = tl.make_tensor_descriptor(x_ptr + first * stride, [M, N], [stride, 1], [B, N])
        o = tl.make_tensor_descriptor(o_ptr + first * stride, [M, N], [stride, 1], [B, N])
        for i in range(0, M, B):
            o.store([i, 0], x.load([i, 0]) + g)
        first += M

@triton.jit
def reduce(x_ptr, v_ptr, skip, M, kind: tl.constexpr, B: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr + skip, [M], [1], [B])
    for i in range(0, M, B):
        v = tl.load(v_ptr + i + tl.arange(0, B))
        if kind == "add":
            x.atomic_add([i], v)
        elif kind == "min":
            x.atomic_min([i], v)
        elif kind == "max":
            x.atomic_max([i], v)
        elif kind == "and":
            x.atomic_and([i], v)
        elif kind == "or":
            x.atomic_or([i], v)
        else:
            x.atomic_xor([i], v)

@triton.jit
def chosen(x_ptr, o_ptr, skip, n, flag, B: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [n], [1], [B])
    y = tl.make_tensor_descriptor(x_ptr + skip, [n - B], [1], [B])
    if flag > 1:
        x = y
    for i in range(4):
        tl.store(o_ptr + i * B + tl.arange(0, B), x.load([i // 2 * B]))
        x, y = y, x

@triton.jit
def written(x_ptr, skip, n, B: tl.constexpr):
    at = x_ptr + skip + tl.arange(0, B)
    x = tl.make_tensor_descriptor(x_ptr + skip, [n], [1], [B])
    for i in range(3):
        tl.store(at, x.load([0]) * 2)
        tl.debug_barrier()
    last = x.load([0])
    tl.store(at + B, last + 1)

@triton.jit
def host_made(x_ptr, o_ptr, M, N: tl.constexpr, B: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [B, N])
    o = tl.make_tensor_descriptor(o_ptr, [M, N], [N, 1], [B, N])
    for i in range(0, 3 * B, B):
        o.store([i, 0], x.load([i, 0]) + 1)

@triton.jit
def edges(x_ptr, o_ptr, M, N, stride, down, right, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [BM, BN], [BN, 1], [BM, BN])
    o = tl.make_tensor_descriptor(o_ptr, [M, N], [stride, 1], [BM, BN])
    o.store([down, right * 16], x.load([0, 0]))
    o.atomic_add([down, right * 16], x.load([0, 0]))
""")

ALL = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
ALL += ["float16", "bfloat16", "float32", "float64"]


def numbers(rng, shape, dtype, low=-50, high=50):
    low = 0 if dtype.startswith("u") else low
    return rng.integers(low, high, shape).astype(NUMPY[dtype])


@pytest.mark.parametrize("columns, block", [(77, 16), (64, 64), (40, 128)])
@pytest.mark.parametrize("dtype", ALL)
def test_copies(dtype, columns, block, rng):
    x = numbers(rng, 32 + 12 * 96, dtype)
    out = numbers(rng, x.shape, dtype)
    wanted = out.copy()
    for program in range(5):
        for row in range(2):
            first = 32 + (2 * program + row) * 96
            wanted[first : first + columns] = x[first : first + columns]
    module.copy[(5,)](x, out, 32, 2, columns, 96, 2, block, "zero")
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("pad, dtype", [("zero", "int16"), ("nan", "float16"), ("nan", "bfloat16"), ("nan", "float32")])
def test_padding(pad, dtype, rng):
    x = numbers(rng, 16 + 9 * 64, dtype)
    out = poisoned((3, 4, 32), NUMPY[dtype])
    module.padded[(1,)](x, out, 16, 9, 45, 64, pad, 4, 32)
    view = np.full((12, 32), np.nan if pad == "nan" else 0, dtype=np.float64)
    view[2:11, :13] = x[16:].reshape(9, 64)[:, 32:45].astype(np.float64)
    np.testing.assert_array_equal(out.astype(np.float64), view.reshape(3, 4, 32))


@pytest.mark.parametrize("M, N", [(0, 45), (9, 0), (0, 0), (-1, 45)])
def test_tensors_without_elements(M, N, rng):
    x = numbers(rng, 16 + 9 * 64, "float32")
    out = poisoned((3, 4, 32), "float32")
    module.padded[(1,)](x, out, 16, M, N, 64, "zero", 4, 32)
    np.testing.assert_array_equal(out, 0)
    target = numbers(rng, 32 + 12 * 96, "float32")
    before = target.copy()
    module.copy[(5,)](numbers(rng, target.shape, "float32"), target, 32, M, N, 96, 2, 16, "zero")
    np.testing.assert_array_equal(target, before)


@pytest.mark.parametrize("rows", [0, 5])
def test_tensors_without_elements_of_the_host(rows, rng):
    x = numbers(rng, (24, 32), "float32")
    out = numbers(rng, (24, 32), "float32")
    wanted = out.copy()
    wanted[:rows] = x[:rows] + 1
    module.host_made[(1,)](x, out, rows, 32, 8)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("down, right", [(0, 0), (0, 2), (-5, 0), (3, -1), (-5, 1), (30, 3), (-9, -3), (4, 1)])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float16"])
@pytest.mark.parametrize("rows, columns", [(33, 77), (7, 45), (40, 64)])
def test_writes_at_edges(dtype, rows, columns, down, right, rng):
    """What lies beside the tensor in the same rows stays as it was, and blocks may begin before it."""
    x, out = numbers(rng, (8, 32), dtype), numbers(rng, (48, 96), dtype)
    wanted = out.copy()
    for i in range(8):
        for j in range(32):
            row, column = down + i, right * 16 + j
            if 0 <= row < rows and 0 <= column < columns:
                wanted[row, column] = 2 * x[i, j]
    module.edges[(1,)](x, out, rows, columns, 96, down, right, 8, 32)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("M, N, K", [(64, 64, 64), (200, 136, 72), (1, 8, 16)])
def test_persistent_matmul(dtype, M, N, K, rng):
    a, b = numbers(rng, (3, M, K), dtype, -4, 5), numbers(rng, (3, N, K), dtype, -4, 5)
    out = poisoned((3, M, N), NUMPY[dtype])
    module.matmul[(2, 3)](a, b, out, M, N, K, 64, 64, 32)
    wanted = np.einsum("bmk,bnk->bmn", a.astype(np.float64), b.astype(np.float64))
    # Sums of small integers are exact, and rounded once.
    np.testing.assert_array_equal(out, wanted.astype(out.dtype))


@pytest.mark.parametrize("dtype", ["float16", "int32"])
def test_groups(dtype, rng):
    sizes = np.array([40, 0, 7, 16, 1], dtype=np.int32)
    x = numbers(rng, (64, 48), dtype)
    out = numbers(rng, (64, 48), dtype)
    wanted = out.copy()
    group = np.repeat(np.arange(5), sizes)
    wanted[:, :32] = (x[:, :32] + group[:, None]).astype(x.dtype)
    module.grouped[(1,)](x, out, sizes, 5, 48, 16, 32)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("kind, dtype", DESCRIPTOR_REDUCTION_TYPES)
def test_reductions(kind, dtype, rng):
    x, value = numbers(rng, 128, dtype), numbers(rng, 64, dtype)
    wanted = x.copy()
    wanted[16:67] = DESCRIPTOR_REDUCTIONS[kind](x[16:67], value[:51])
    module.reduce[(1,)](x, value, 16, 51, kind, 16)
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.cuda_only
@pytest.mark.parametrize("kind", ["min", "max"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_reductions_that_only_maps_have(kind, dtype, rng):
    test_reductions(kind, dtype, rng)


@pytest.mark.parametrize("flag", [0, 3])
def test_descriptors_that_change_places(flag, rng):
    x = numbers(rng, 256, "float32")
    out = poisoned((4, 32), "float32")
    module.chosen[(1,)](x, out, 64, 50, flag, 32)
    first = np.where(np.arange(64) < 50, x[:64], 0)
    second = np.where(np.arange(64) < 18, x[64:128], 0)
    pair = (second, second) if flag else (first, second)
    for i in range(4):
        np.testing.assert_array_equal(out[i], pair[i % 2][i // 2 * 32 :][:32])


def test_what_threads_have_written(rng):
    x = numbers(rng, 8 + 512, "int32")
    wanted = x.copy()
    wanted[8:264] *= 8
    wanted[264:520] = wanted[8:264] + 1
    module.written[(1,)](x, 8, 256, 256)
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.cuda_only
def test_the_kernels_here_need_scratch_memory(rng):
    assert on_gpu()
    x = numbers(rng, 256, "float32")
    kernel = module.chosen[(1,)](x, x.copy(), 64, 50, 1, 32)
    if kernel.metadata.target.arch >= 90:
        # One map is the host's, the other the program's.
        assert (kernel.metadata.global_scratch_size, kernel.metadata.global_scratch_align) == (128, 128)
        assert "tensormap.cp_fenceproxy" in kernel.asm["ptx"]
