"""What kernels do with tensor descriptors, their own and the host's, against NumPy."""

import numpy as np
import pytest

import despina as triton
from despina.tools.tensor_descriptor import TensorDescriptor
from helpers import DESCRIPTOR_REDUCTION_TYPES, DESCRIPTOR_REDUCTIONS, NUMPY, module_from, on_gpu

module = module_from("""\
@triton.jit
def copy(x_ptr, o_ptr, M, N, stride, i, j, pad: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [stride, 1], [BM, BN], padding_option=pad)
    tl.static_assert(x.block_shape[0] == BM and x.block_shape[1] == BN and len(x.shape) == 2)
    tl.static_assert(x.dtype == x_ptr.dtype.element_ty and isinstance(x, tl.tensor_descriptor))
    o = tl.make_tensor_descriptor(o_ptr, [BM, BN], [BN, 1], [BM, BN])
    o.store([0, 0], x.load([i, j]))

@triton.jit
def write(o_ptr, v_ptr, M, N, stride, i, j, BM: tl.constexpr, BN: tl.constexpr):
    o = tl.make_tensor_descriptor(o_ptr, (M, N), (stride, 1), (BM, BN))
    v = tl.load(v_ptr + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
    tl.store_tensor_descriptor(o, [i, j], v)

@triton.jit
def rank(x_ptr, o_ptr, RANK: tl.constexpr):
    shape: tl.constexpr = (3, 3, 3, 3, 20)
    strides: tl.constexpr = (3 * 3 * 3 * 32, 3 * 3 * 32, 3 * 32, 32, 1)
    block: tl.constexpr = (2, 2, 2, 2, 16)
    x = tl.make_tensor_descriptor(x_ptr, shape[5 - RANK:], strides[5 - RANK:], block[5 - RANK:])
    zeros = (1, 2, 0, 1, 8)
    v = tl.load_tensor_descriptor(x, zeros[5 - RANK:]).ravel()
    tl.store(o_ptr + tl.arange(0, 16 * 2 ** (RANK - 1)), v)

@triton.jit
def reduce(x_ptr, v_ptr, M, i, kind: tl.constexpr, B: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M], [1], [B])
    v = tl.load(v_ptr + tl.arange(0, B))
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
def rows(x_ptr, r_ptr, o_ptr, M, N, y, ROWS: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, BN])
    o = tl.make_tensor_descriptor(o_ptr, [M, N], [N, 1], [1, BN])
    r = tl.load(r_ptr + tl.arange(0, ROWS))
    o.scatter(x.gather(r, y), r, y)

@triton.jit
def carried(a_ptr, b_ptr, o_ptr, n, flag, B: tl.constexpr):
    x = tl.make_tensor_descriptor(a_ptr, [n], [1], [B])
    total = tl.zeros([B], tl.float32)
    for i in range(4):
        total += x.load([i * B])
        if i == flag:
            x = tl.make_tensor_descriptor(b_ptr, [n - B], [1], [B])
    tl.store(o_ptr + tl.arange(0, B), total + x.shape[0] + x.strides[0])

@triton.jit
def helper(x, i):
    return x.load([i, 0]), x

@triton.jit
def passed(x_ptr, o, M, N: tl.constexpr, B: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [B, N])
    v, same = helper(x, 2)
    w, same = helper(same, 3)
    o.store([0, 0], v + w)

@triton.jit
def host(x, o, i):
    tl.static_assert(x.block_shape[0] == o.block_shape[0])
    o.store([0, 0], x.load([i, 0]) + x.shape[0] + x.strides[0])

@triton.jit
def host_tuple(pair, i):
    pair[1].store([0, 0], pair[0].load([i, 0]))
""")


def numbers(rng, shape, dtype):
    return rng.integers(-50, 50, shape).astype(NUMPY[dtype])


def block_of(x, i, j, rows, columns, fill=0):
    """Rows and columns from (i, j), with `fill` out of bounds."""
    out = np.full((rows, columns), fill, dtype=x.dtype)
    for r in range(rows):
        for c in range(columns):
            if 0 <= i + r < x.shape[0] and 0 <= j + c < x.shape[1]:
                out[r, c] = x[i + r, j + c]
    return out


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("i, j", [(0, 0), (3, 5), (-2, -7), (9, 30), (100, 0), (0, -100)])
def test_load(dtype, i, j, rng):
    x = numbers(rng, (13, 48), dtype)
    out = np.full((8, 16), 9, dtype=x.dtype)
    module.copy[(1,)](x, out, 13, 37, 48, i, j, "zero", 8, 16)
    np.testing.assert_array_equal(out, block_of(x[:, :37], i, j, 8, 16))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_load_pads_with_nan(dtype, rng):
    x = numbers(rng, (13, 48), dtype)
    out = np.full((8, 16), 9, dtype=x.dtype)
    module.copy[(1,)](x, out, 13, 37, 48, 9, 30, "nan", 8, 16)
    wanted = block_of(x[:, :37], 9, 30, 8, 16, np.nan)
    assert np.isnan(wanted.astype(np.float64)).any()
    np.testing.assert_array_equal(out.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("i, j", [(0, 0), (3, 5), (-2, -7), (9, 30), (100, 0)])
def test_store_drops_what_is_out_of_bounds(i, j, rng):
    value = numbers(rng, (8, 16), "float64")  # the descriptor converts
    out = numbers(rng, (13, 48), "float32")
    wanted = out.copy()
    for r in range(8):
        for c in range(16):
            if 0 <= i + r < 13 and 0 <= j + c < 37:
                wanted[i + r, j + c] = value[r, c]
    module.write[(1,)](out, value, 13, 37, 48, i, j, 8, 16)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_ranks(rank, rng):
    x = numbers(rng, (3, 3, 3, 3, 32), "float32")
    out = np.full(16 * 2 ** (rank - 1), 5, dtype=np.float32)
    module.rank[(1,)](x, out, rank)
    view = x
    for _ in range(5 - rank):
        view = view[0]
    padded = np.zeros([8] * (rank - 1) + [64], dtype=np.float32)
    padded[tuple(slice(0, 3) for _ in range(rank - 1)) + (slice(0, 20),)] = view[..., :20]
    start = (1, 2, 0, 1, 8)[5 - rank :]
    block = padded[tuple(slice(s, s + 2) for s in start[:-1]) + (slice(8, 24),)]
    np.testing.assert_array_equal(out, block.ravel())


@pytest.mark.parametrize("kind, dtype", DESCRIPTOR_REDUCTION_TYPES)
def test_reduce(kind, dtype, rng):
    x, value = numbers(rng, 40, dtype), numbers(rng, 16, dtype)
    wanted = x.copy()
    wanted[30:37] = DESCRIPTOR_REDUCTIONS[kind](x[30:37], value[:7])
    module.reduce[(1,)](x, value, 37, 30, kind, 16)
    np.testing.assert_array_equal(x, wanted)


REFUSED = [("add", "int64"), ("and", "float32"), ("max", "float32")]
if not on_gpu():
    REFUSED.append(("min", "float16"))  # GPUs of sm_90 have it.


@pytest.mark.parametrize("kind, dtype", REFUSED)
def test_reduce_refuses(kind, dtype, rng):
    with pytest.raises(triton.CompilationError, match="Unsupported dtype"):
        module.reduce[(1,)](numbers(rng, 40, dtype), numbers(rng, 16, dtype), 37, 30, kind, 16)


@pytest.mark.parametrize("offsets", ["int32", "int16"])
@pytest.mark.parametrize("dtype, columns", [("float32", 8), ("float16", 16), ("int8", 32)])
def test_gather_and_scatter(dtype, columns, offsets, rng):
    x, out = numbers(rng, (20, 64), dtype), numbers(rng, (20, 64), dtype)
    rows = rng.permutation(np.arange(-4, 28))[:8].astype(offsets)
    wanted = out.copy()
    inside = [r for r in rows if 0 <= r < 20]
    wanted[inside, 64 - columns // 2 :] = x[inside, 64 - columns // 2 :]
    module.rows[(1,)](x, rows, out, 20, 64, 64 - columns // 2, 8, columns)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("flag", [-1, 0, 2])
def test_loops_and_branches_carry_descriptors(flag, rng):
    a, b = numbers(rng, 64, "float32"), numbers(rng, 64, "float32")
    out = np.full(16, 7, dtype=np.float32)
    module.carried[(1,)](a, b, out, 60, flag, 16)
    limits = {"a": 60, "b": 44}
    wanted, name = np.zeros(16), "a"
    for i in range(4):
        source = np.where(np.arange(64) < limits[name], a if name == "a" else b, 0)
        wanted += source[i * 16 : i * 16 + 16]
        name = "b" if i == flag else name
    np.testing.assert_array_equal(out, wanted + limits[name] + 1)


def test_functions_take_and_return_descriptors(rng):
    x = numbers(rng, (9, 16), "float32")
    out = np.full((4, 16), 7, dtype=np.float32)
    module.passed[(1,)](x, TensorDescriptor.from_tensor(out, [4, 16]), 9, 16, 4)
    np.testing.assert_array_equal(out, x[2:6] + x[3:7])


@pytest.mark.parametrize("dtype", ["int32", "float16", "bfloat16", "float32"])
def test_host_descriptor(dtype, rng):
    x = numbers(rng, (9, 32), dtype)
    out = np.full((4, 16), 7, dtype=x.dtype)
    source = TensorDescriptor(x, [9, 16], [32, 1], [4, 16])
    for i in (0, 3, 7):
        module.host[(1,)](source, TensorDescriptor.from_tensor(out, [4, 16]), i)
        wanted = block_of(x[:, :16], i, 0, 4, 16).astype(np.float64) + 9 + 32
        np.testing.assert_array_equal(out.astype(np.float64), wanted)


def test_host_descriptor_changes(rng):
    x = numbers(rng, (8, 16), "float32")
    out = np.full((8, 16), 7, dtype=np.float32)
    source, target = TensorDescriptor.from_tensor(x, [4, 16]), TensorDescriptor.from_tensor(out, [4, 16])
    module.host[(1,)](source, target, 0)
    np.testing.assert_array_equal(out[:4], x[:4] + 8 + 16)
    source.block_shape = target.block_shape = [2, 16]
    out[:] = 7
    module.host[(1,)](source, target, 6)
    np.testing.assert_array_equal(out[:2], x[6:] + 8 + 16)
    np.testing.assert_array_equal(out[2:], 7)


def test_host_descriptor_in_a_tuple(rng):
    x = numbers(rng, (8, 16), "float32")
    out = np.full((4, 16), 7, dtype=np.float32)
    source = TensorDescriptor(x, [8, 9], [16, 1], [4, 16], padding="nan")
    module.host_tuple[(1,)]((source, TensorDescriptor.from_tensor(out, [4, 16])), 6)
    wanted = block_of(x[:, :9], 6, 0, 4, 16, np.nan)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.compiled_only("looks at compiled kernels")
def test_compiled_kernel_takes_a_host_descriptor(rng):
    x = numbers(rng, (8, 16), "float32")
    out = np.full((4, 16), 7, dtype=np.float32)
    source, target = TensorDescriptor.from_tensor(x, [4, 16]), TensorDescriptor.from_tensor(out, [4, 16])
    kernel = module.host.warmup(source, target, 2, grid=(1,))
    kernel[(1, 1, 1)](source, target, 2)
    np.testing.assert_array_equal(out, x[2:6] + 8 + 16)


ERRORS = {
    "rank": ("tl.make_tensor_descriptor(x_ptr, [1, 1, 1, 1, 1, 8], [1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 8])",
             "Expected 1 <= ndim <= 5 but got 6 dimensions"),
    "strides": ("tl.make_tensor_descriptor(x_ptr, [8, 8], [1], [8, 8])", "Expected 2 strides but got 1"),
    "block": ("tl.make_tensor_descriptor(x_ptr, [8], [1], [8, 8])",
              "Expected block_shape to have 1 dimensions but got 2"),
    "last": ("tl.make_tensor_descriptor(x_ptr, [8, 8], [8, 2], [8, 8])",
             "Tensor descriptor last dim must be 1 but got 2"),
    "padding": ("tl.make_tensor_descriptor(x_ptr, [8], [1], [8], 'edge')", "Padding option edge not supported"),
    "nan": ("tl.make_tensor_descriptor(x_ptr.to(tl.pointer_type(tl.int32)), [8], [1], [8], 'nan')",
            "Padding option `nan` is not supported for integer blocks"),
    "base": ("tl.make_tensor_descriptor(1, [8], [1], [8])", "Expected `base` to be a pointer"),
    "offsets": ("tl.make_tensor_descriptor(x_ptr, [8], [1], [8]).load([0, 0])", "expected 1 offsets, but got 2"),
    "wide": ("tl.make_tensor_descriptor(x_ptr, [8], [1], [8]).load([tl.program_id(0).to(tl.int64)])",
             r"add a `.to\\(tl.int32\\)`"),
    "value": ("tl.make_tensor_descriptor(x_ptr, [8], [1], [8]).store([0], tl.zeros([4], tl.float32))",
              "expected a block of shape"),
    "no descriptor": ("tl.load_tensor_descriptor(x_ptr, [0])", "Expected a tensor descriptor"),
    "index": ("tl.make_tensor_descriptor(x_ptr, [8], [1], [8])[0]", "'tensor_descriptor' object is not subscriptable"),
    "attribute": ("tl.make_tensor_descriptor(x_ptr, [8], [1], [8]).handle", "has no attribute 'handle'"),
    "gather rank": ("tl.make_tensor_descriptor(x_ptr, [8], [1], [8]).gather(tl.arange(0, 8), 0)",
                    "descriptor must be 2D"),
    "gather row": ("tl.make_tensor_descriptor(x_ptr, [8, 8], [8, 1], [8, 8]).gather(tl.arange(0, 8), 0)",
                   "descriptor block must have 1 row"),
    "gather few": ("tl.make_tensor_descriptor(x_ptr, [8, 8], [8, 1], [1, 8]).gather(tl.arange(0, 4), 0)",
                   "descriptor gather must have at least 8 rows"),
    "gather narrow": ("tl.make_tensor_descriptor(x_ptr, [8, 8], [8, 1], [1, 4]).gather(tl.arange(0, 8), 0)",
                      "descriptor gather of fp32 must have at least 8 columns, but got 4"),
    "scatter": ("tl.make_tensor_descriptor(x_ptr, [8, 8], [8, 1], [1, 8]).scatter(tl.zeros([8, 8], tl.float32), 0, 0)",
                "x offsets must be 1D"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Descriptor block shape")
@pytest.mark.parametrize("expression, text", ERRORS.values(), ids=ERRORS.keys())
def test_errors(expression, text):
    kernel = module_from(f"@triton.jit\ndef kernel(x_ptr):\n    y = {expression}\n").kernel
    with pytest.raises(triton.CompilationError, match=text.replace("\\\\", "\\")):
        kernel[(1,)](np.zeros(64, dtype=np.float32))


def test_narrow_block_warns():
    kernel = module_from("""\
@triton.jit
def kernel(x_ptr):
    y = tl.make_tensor_descriptor(x_ptr, [8], [1], [2])
""").kernel
    with pytest.warns(UserWarning, match="at least 16 bytes in the last dimension, but got 2 \\* 4 = 8 bytes"):
        kernel[(1,)](np.zeros(8, dtype=np.float32))
