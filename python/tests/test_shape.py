"""Creation and shape: every function against NumPy, for small and for wide element types."""

import numpy as np
import pytest

from helpers import ALL, NUMPY, assert_same, module_from, poisoned, random_values

# name: (expression of x [8, 16] and y [8, 16], NumPy's way to it)
CASES = {
    "reshape": ("tl.reshape(x, (4, 32))", lambda x, y: x.reshape(4, 32)),
    "reshape of three": ("x.reshape(2, 4, 16)", lambda x, y: x.reshape(2, 4, 16)),
    "ravel": ("tl.ravel(x)", lambda x, y: x.ravel()),
    "trans": ("tl.trans(x)", lambda x, y: x.T),
    "T": ("x.T", lambda x, y: x.T),
    "permute": ("tl.permute(x.reshape(2, 4, 16), (2, 0, 1))", lambda x, y: x.reshape(2, 4, 16).transpose(2, 0, 1)),
    "trans of three": ("tl.trans(x.reshape(2, 4, 16), 1, 2, 0)", lambda x, y: x.reshape(2, 4, 16).transpose(1, 2, 0)),
    "expand_dims": ("tl.expand_dims(x, 1)", lambda x, y: x[:, None, :]),
    "expand_dims from the end": ("tl.expand_dims(x, -1)", lambda x, y: x[:, :, None]),
    "expand_dims twice": ("tl.expand_dims(x, (0, -1))", lambda x, y: x[None, :, :, None]),
    "index None": ("x[None, :, None, :]", lambda x, y: x[None, :, None, :]),
    "broadcast_to": (
        "tl.broadcast_to(tl.expand_dims(x, 1), (8, 4, 16))", lambda x, y: np.broadcast_to(x[:, None], (8, 4, 16)),
    ),
    "join": ("tl.join(x, y)", lambda x, y: np.stack([x, y], -1)),
    "interleave": ("tl.interleave(x, y)", lambda x, y: np.stack([x, y], -1).reshape(8, 32)),
    "split": ("tl.split(x.reshape(8, 8, 2))[1]", lambda x, y: x.reshape(8, 8, 2)[..., 1]),
    "split of join": ("tl.split(tl.join(x, y))[0]", lambda x, y: x),
    "zeros_like": ("tl.zeros_like(x)", lambda x, y: np.zeros_like(x)),
    "zeros": ("tl.zeros((4, 4), x.dtype)", lambda x, y: np.zeros((4, 4), x.dtype)),
    "full": ("tl.full((4, 4), 1, x.dtype)", lambda x, y: np.ones((4, 4), x.dtype)),
    "broadcast": ("tl.broadcast(x, y)[0]", lambda x, y: x),
    "cat": ("tl.cat(tl.ravel(x), tl.ravel(y))", lambda x, y: np.concatenate([x.ravel(), y.ravel()])),
}  # fmt: skip

TEMPLATE = """
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr):
    offsets = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    result = {expression}
    flat = tl.reshape(result, ({size},))
    tl.store(out_ptr + tl.arange(0, {size}), flat)
"""
KERNELS = {}


def kernel_of(name, size):
    if name not in KERNELS:
        KERNELS[name] = module_from(TEMPLATE.format(expression=CASES[name][0], size=size)).kernel
    return KERNELS[name]


@pytest.mark.parametrize("dtype", ["int1", "int8", "bfloat16", "float32", "int64"])
@pytest.mark.parametrize("name", CASES)
def test_shape(name, dtype, rng):
    x, y = random_values(rng, (2, 8, 16), dtype)
    expected = np.ascontiguousarray(CASES[name][1](x, y))
    out = poisoned(expected.size, NUMPY[dtype])
    kernel_of(name, expected.size)[(1,)](x, y, out)
    assert_same(out, expected.ravel())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_view_keeps_the_elements(rng):
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, out_ptr):
            x = tl.load(x_ptr + tl.arange(0, 64))
            tl.store(out_ptr + tl.arange(0, 64), tl.view(tl.view(x, (8, 8)), (64,)))
    """)
    x, out = random_values(rng, 64, "int32"), poisoned(64, np.int32)
    module.kernel[(1,)](x, out)
    assert_same(np.sort(out), np.sort(x))


@pytest.mark.parametrize("start, end", [(0, 1), (0, 128), (5, 37), (-64, 64), (2**31 - 9, 2**31 - 1)])
def test_arange(start, end):
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, START: tl.constexpr, END: tl.constexpr):
            tl.store(out_ptr + tl.arange(0, END - START), tl.arange(START, END))
    """)
    out = poisoned(end - start, np.int32)
    module.kernel[(1,)](out, START=start, END=end)
    assert_same(out, np.arange(start, end, dtype=np.int32))


@pytest.mark.parametrize("dtype", ALL)
def test_full_of_a_runtime_value(dtype):
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, value):
            tl.store(out_ptr + tl.arange(0, 32), tl.full((32,), value, out_ptr.dtype.element_ty))
    """)
    out = poisoned(32, NUMPY[dtype])
    module.kernel[(1,)](out, 17)
    assert_same(out, np.full(32, 17, np.int32).astype(NUMPY[dtype]))


def test_join_and_split_of_scalars():
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, out_ptr):
            pair = tl.join(tl.load(x_ptr), tl.load(x_ptr + 1))
            a, b = tl.split(pair)
            tl.store(out_ptr, b)
            tl.store(out_ptr + 1, a)
            tl.store(out_ptr + 2 + tl.arange(0, 2), pair)
    """)
    x, out = np.array([3, 8], np.int32), poisoned(4, np.int32)
    module.kernel[(1,)](x, out)
    assert out.tolist() == [8, 3, 3, 8]


def test_hints_change_nothing(rng):
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, out_ptr, n):
            tl.assume(n > 0)
            offsets = tl.max_contiguous(tl.multiple_of(tl.arange(0, 64), 64), 64)
            value = tl.load(x_ptr + offsets)
            tl.debug_barrier()
            row = tl.max_constancy(tl.full((64,), 1, tl.float32), 64)
            tl.store(out_ptr + offsets, value * row)
    """)
    x, out = random_values(rng, 64, "float32"), poisoned(64, np.float32)
    module.kernel[(1,)](x, out, 64)
    assert_same(out, x)


def test_bitonic_network_of_splits_and_joins(rng):
    """Each step reads the step before at two indices; the compiler must not follow all of them back to the input."""
    kernel = module_from("""
        @triton.jit
        def kernel(x_ptr, STEPS: tl.constexpr, BLOCK: tl.constexpr):
            offsets = tl.arange(0, BLOCK)
            v = tl.load(x_ptr + offsets)
            for s in tl.static_range(1, STEPS + 1):
                for j in tl.static_range(s):
                    d: tl.constexpr = 1 << (s - 1 - j)
                    low, high = tl.split(tl.permute(tl.reshape(v, (BLOCK // (2 * d), 2, d)), (0, 2, 1)))
                    up = ((tl.arange(0, BLOCK // (2 * d)) * 2 * d) >> s & 1)[:, None] == 0
                    small = tl.minimum(low, high)
                    large = tl.maximum(low, high)
                    pairs = tl.join(tl.where(up, small, large), tl.where(up, large, small))
                    v = tl.reshape(tl.permute(pairs, (0, 2, 1)), (BLOCK,))
            tl.store(x_ptr + offsets, v)
    """).kernel
    x = rng.integers(-1000, 1000, 256).astype(np.int32)
    expected = np.sort(x)
    kernel[(1,)](x, 8, BLOCK=256)
    np.testing.assert_array_equal(x, expected)
