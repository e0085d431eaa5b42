"""Shape functions, reductions and scans over random shapes of one to four dimensions."""

import functools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers import NUMPY, RANDOM_FACTOR, assert_same, module_from, poisoned, random_values, wide

DTYPES = ["int1", "int8", "uint16", "float16", "bfloat16", "float32", "int64", "float64"]
SHAPES = st.lists(st.sampled_from([1, 2, 4, 8]), min_size=1, max_size=4)
SEEDS = st.integers(0, 2**32 - 1)

TEMPLATE = """
{before}
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr):
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, {count})), {shape})
    y = tl.reshape(tl.load(y_ptr + tl.arange(0, {count})), {shape})
    result = {expression}
    tl.static_assert(len(result.shape) == {rank})
    tl.store(out_ptr + tl.arange(0, {size}), tl.reshape(result, ({size},)))
"""


@functools.lru_cache(maxsize=None)
def kernel_of(expression, shape, out_shape, before):
    count, size = int(np.prod(shape)), int(np.prod(out_shape))
    text = TEMPLATE.format(
        expression=expression, shape=shape, count=count, size=size, rank=len(out_shape), before=before
    )
    return module_from(text).kernel


def run(expression, x, y, out_shape, out_dtype, before=""):
    out = poisoned(out_shape, NUMPY[out_dtype])
    kernel_of(expression, x.shape, tuple(out_shape), before)[(1,)](x, y, out)
    return out


def two(seed, shape, dtype):
    return random_values(np.random.default_rng(seed), (2, *shape), dtype)


@settings(max_examples=30 * RANDOM_FACTOR, deadline=None)
@given(shape=SHAPES, dtype=st.sampled_from(DTYPES), seed=SEEDS, data=st.data())
def test_permute(shape, dtype, seed, data):
    x, y = two(seed, shape, dtype)
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    name = data.draw(st.sampled_from(["permute", "trans"]))
    expected = np.ascontiguousarray(x.transpose(order))
    assert_same(run(f"tl.{name}(x, {', '.join(map(str, order))})", x, y, expected.shape, dtype), expected)


@settings(max_examples=20 * RANDOM_FACTOR, deadline=None)
@given(shape=SHAPES, dtype=st.sampled_from(DTYPES), seed=SEEDS)
def test_trans_without_dimensions(shape, dtype, seed):
    assume(len(shape) > 1)
    x, y = two(seed, shape, dtype)
    expected = np.ascontiguousarray(np.swapaxes(x, -1, -2))
    assert_same(run("tl.trans(x)", x, y, expected.shape, dtype), expected)


@settings(max_examples=30 * RANDOM_FACTOR, deadline=None)
@given(
    shape=SHAPES, dtype=st.sampled_from(DTYPES), seed=SEEDS,
    name=st.sampled_from(["join", "interleave", "split", "cat", "ravel"]),
)  # fmt: skip
def test_join_interleave_split_cat(shape, dtype, seed, name):
    shape = (*shape, 2) if name == "split" else shape
    assume(len(shape) <= 4 and np.prod(shape) <= 512 and (name != "cat" or len(shape) == 1))
    assume(name != "split" or len(shape) > 1)
    x, y = two(seed, shape, dtype)
    expression, expected = {
        "join": ("tl.join(x, y)", lambda: np.stack([x, y], -1)),
        "interleave": ("tl.interleave(x, y)", lambda: np.stack([x, y], -1).reshape(*shape[:-1], 2 * shape[-1])),
        "split": ("tl.split(x)[1]", lambda: x[..., 1]),
        "cat": ("tl.cat(x, y, can_reorder=True)", lambda: np.concatenate([x, y])),
        "ravel": ("tl.ravel(x)", lambda: x.ravel()),
    }[name]
    expected = np.ascontiguousarray(expected())
    out = run(expression, x, y, expected.shape, dtype)
    if name == "cat":  # the order is open
        out, expected = np.sort(out), np.sort(expected)
        if dtype in ("float16", "bfloat16"):
            out, expected = np.sort(wide(out)), np.sort(wide(expected))
    assert_same(out, expected)


@settings(max_examples=25 * RANDOM_FACTOR, deadline=None)
@given(shape=SHAPES, dtype=st.sampled_from(DTYPES), seed=SEEDS, data=st.data())
def test_expand_dims_and_broadcast_to(shape, dtype, seed, data):
    assume(len(shape) < 4)
    x, y = two(seed, shape, dtype)
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    extent = data.draw(st.sampled_from([1, 2, 8]))
    expanded = np.expand_dims(x, axis)
    target = list(expanded.shape)
    target[axis] = extent
    expected = np.ascontiguousarray(np.broadcast_to(expanded, target))
    expression = f"tl.broadcast_to(tl.expand_dims(x, {axis}), {tuple(target)})"
    assert_same(run(expression, x, y, target, dtype), expected)


@settings(max_examples=25 * RANDOM_FACTOR, deadline=None)
@given(shape=SHAPES, dtype=st.sampled_from(["int32", "float32", "int8"]), seed=SEEDS, data=st.data())
def test_where_of_broadcast_operands(shape, dtype, seed, data):
    x, y = two(seed, shape, dtype)
    axis = data.draw(st.integers(0, len(shape) - 1))
    least = tuple(1 if i == axis else extent for i, extent in enumerate(shape))
    row = f"tl.broadcast_to(tl.zeros({least}, x.dtype), {tuple(shape)})"
    assert_same(run(f"tl.where(x > y, x, {row})", x, y, shape, dtype), np.where(x > y, x, np.zeros((), x.dtype)))


BEFORE = """
@triton.jit
def first(a, b):
    return a

@triton.jit
def last(a, b):
    return b

@triton.jit
def total(a, b):
    return a + b

@triton.jit
def larger(a, b):
    return tl.maximum(a, b)

@triton.jit
def moments(n, a, s, m, b, t):
    return n + m, a + b, s + t

@triton.jit
def best(a, i, b, j):
    take = (a > b) | ((a == b) & (i < j))
    return tl.where(take, a, b), tl.where(take, i, j)
"""
COMBINED = {
    "first": lambda x, axis: np.take(x, [0], axis).squeeze(axis),
    "last": lambda x, axis: np.take(x, [-1], axis).squeeze(axis),
    "total": lambda x, axis: x.sum(axis=axis, dtype=x.dtype),
    "larger": lambda x, axis: x.max(axis=axis),
}


@settings(max_examples=50 * RANDOM_FACTOR, deadline=None)
@given(
    shape=SHAPES, dtype=st.sampled_from(["int32", "uint64", "int64", "float32", "float64"]), seed=SEEDS,
    name=st.sampled_from([*COMBINED]), data=st.data(),
)  # fmt: skip
def test_reduce(shape, dtype, seed, name, data):
    assume(len(shape) > 1)
    x = np.random.default_rng(seed).integers(0, 100, (2, *shape)).astype(NUMPY[dtype])[0]
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    keep = data.draw(st.booleans())
    expected = COMBINED[name](x, axis)
    expected = np.ascontiguousarray(np.expand_dims(expected, axis) if keep else expected)
    out = run(f"tl.reduce(x, {axis}, {name}, keep_dims={keep})", x, x, expected.shape, dtype, BEFORE)
    assert_same(out, expected)


@settings(max_examples=20 * RANDOM_FACTOR, deadline=None)
@given(shape=SHAPES, dtype=st.sampled_from(["int32", "int64", "float32", "float64"]), seed=SEEDS, data=st.data())
def test_reduce_of_three_operands(shape, dtype, seed, data):
    assume(len(shape) > 1)
    x = np.random.default_rng(seed).integers(-9, 9, shape).astype(NUMPY[dtype])
    axis, which = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.integers(0, 2))
    count = np.full_like(np.take(x, 0, axis), shape[axis])
    expected = [count, x.sum(axis=axis, dtype=x.dtype), (x * x).sum(axis=axis, dtype=x.dtype)][which]
    expression = f"tl.reduce((tl.zeros_like(x) + 1, x, x * x), {axis}, moments)[{which}]"
    assert_same(run(expression, x, x, expected.shape, dtype, BEFORE), np.ascontiguousarray(expected))


@settings(max_examples=40 * RANDOM_FACTOR, deadline=None)
@given(
    shape=SHAPES, dtype=st.sampled_from(["int32", "uint64", "float32", "float64"]), seed=SEEDS,
    name=st.sampled_from(["total", "larger", "first", "last"]), reverse=st.booleans(), data=st.data(),
)  # fmt: skip
def test_scan(shape, dtype, seed, name, reverse, data):
    x = np.random.default_rng(seed).integers(0, 50, shape).astype(NUMPY[dtype])
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    ordered = np.flip(x, axis) if reverse else x
    expected = {
        "total": lambda: np.cumsum(ordered, axis=axis, dtype=x.dtype),
        "larger": lambda: np.maximum.accumulate(ordered, axis=axis),
        "first": lambda: np.broadcast_to(np.take(ordered, [0], axis), shape),
        "last": lambda: ordered,
    }[name]()
    expected = np.ascontiguousarray(np.flip(expected, axis) if reverse else expected)
    out = run(f"tl.associative_scan(x, {axis}, {name}, reverse={reverse})", x, x, shape, dtype, BEFORE)
    assert_same(out, expected)


@settings(max_examples=20 * RANDOM_FACTOR, deadline=None)
@given(shape=SHAPES, seed=SEEDS, reverse=st.booleans(), data=st.data())
def test_scan_of_two_operands(shape, seed, reverse, data):
    """The best so far and where it was."""
    x = np.random.default_rng(seed).integers(0, 5, shape).astype(np.float32)
    axis = data.draw(st.integers(0, len(shape) - 1))
    place = np.broadcast_to(np.arange(x.size).reshape(shape), shape).astype(np.int32)
    expected = np.empty(shape, np.int32)
    lines, places, results = (np.moveaxis(a, axis, -1) for a in (x, place, expected))
    for at in np.ndindex(lines.shape[:-1]):
        for i in range(shape[axis]):
            seen = slice(i, None) if reverse else slice(0, i + 1)
            results[at][i] = places[at][seen][np.argmax(lines[at][seen])]
    index = f"tl.reshape(tl.arange(0, {x.size}), {tuple(shape)})"
    expression = f"tl.associative_scan((x, {index}), {axis}, best, reverse={reverse})[1]"
    assert_same(run(expression, x, x, shape, "int32", BEFORE), expected)


@settings(max_examples=30 * RANDOM_FACTOR, deadline=None)
@given(
    shape=SHAPES, seed=SEEDS, name=st.sampled_from(["sum", "max", "min", "argmax", "argmin"]),
    dtype=st.sampled_from(["int32", "int64", "uint32", "float32", "float64"]), data=st.data(),
)  # fmt: skip
def test_library_reductions(shape, seed, name, dtype, data):
    assume(len(shape) > 1)
    x = np.random.default_rng(seed).integers(0, 6, shape).astype(NUMPY[dtype])
    axis, keep = data.draw(st.integers(-len(shape), len(shape) - 1)), data.draw(st.booleans())
    expected = np.expand_dims(getattr(x, name)(axis=axis), axis) if keep else getattr(x, name)(axis=axis)
    kind = "int32" if name.startswith("arg") else dtype
    out = run(f"tl.{name}(x, axis={axis}, keep_dims={keep})", x, x, expected.shape, kind)
    assert_same(out, np.ascontiguousarray(expected.astype(NUMPY[kind])))


@settings(max_examples=15 * RANDOM_FACTOR, deadline=None)
@given(
    m=st.integers(1, 50), n=st.integers(1, 50), k=st.integers(1, 50), seed=SEEDS,
    dtype=st.sampled_from(["int8", "float16", "bfloat16", "float32", "float64"]),
)  # fmt: skip
def test_dots_of_odd_sizes(m, n, k, seed, dtype):
    rng = np.random.default_rng(seed)
    # Small whole numbers: every sum is exact, so the comparison is, too.
    a, b = (rng.integers(-4, 5, shape).astype(NUMPY[dtype]) for shape in ((m, k), (k, n)))
    kind = {"int8": "int32", "float64": "float64"}.get(dtype, "float32")
    out = poisoned((m, n), NUMPY[kind])
    DOT.kernel[(-(-m // 16), -(-n // 32))](a, b, out, m, n, k, BM=16, BN=32, BK=32, KIND=tl_type(kind))
    assert_same(out, (wide(a).astype(np.float64) @ wide(b).astype(np.float64)).astype(NUMPY[kind]))


def tl_type(name):
    import despina.language as tl

    return getattr(tl, name)


DOT = module_from("""
    @triton.jit
    def kernel(a_ptr, b_ptr, out_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
               KIND: tl.constexpr):
        rows = tl.program_id(0) * BM + tl.arange(0, BM)
        columns = tl.program_id(1) * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), KIND)
        for start in range(0, k, BK):
            inner = start + tl.arange(0, BK)
            a = tl.load(a_ptr + rows[:, None] * k + inner[None, :],
                        mask=(rows < m)[:, None] & (inner < k)[None, :], other=0)
            b = tl.load(b_ptr + inner[:, None] * n + columns[None, :],
                        mask=(inner < k)[:, None] & (columns < n)[None, :], other=0)
            total = tl.dot(a, b, total, out_dtype=KIND)
        mask = (rows < m)[:, None] & (columns < n)[None, :]
        tl.store(out_ptr + rows[:, None] * n + columns[None, :], total, mask=mask)
""")


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_block_pointers(rank, dtype, rng):
    """Every rank: steps along each dimension, a start before the array, an end beyond it."""
    extents = [int(n) for n in rng.integers(1, 9, rank)]
    block = [2, 4, 2, 8][:rank]
    names = "abcd"[:rank]
    strides = [int(np.prod(extents[i + 1 :])) for i in range(rank)]
    order = tuple(reversed(range(rank)))
    loop, indent, offsets = "", "    ", []
    for i, name in enumerate(names):
        loop += f"{indent}for {name} in range(0, {extents[i] + block[i]}, {block[i]}):\n"
        indent += "    "
        offsets.append(name)
    start = tuple(-(size // 2) for size in block)
    text = "@triton.jit\ndef kernel(x_ptr, out_ptr):\n"
    for pointer in ("x", "out"):
        text += (
            f"    {pointer} = tl.make_block_ptr({pointer}_ptr, {tuple(extents)}, {tuple(strides)}, {start}, "
            f"{tuple(block)}, {order})\n"
        )
    text += loop
    step = "(" + ", ".join(offsets) + ",)"
    checks = tuple(range(rank))
    text += f"{indent}value = tl.load(tl.advance(x, {step}), boundary_check={checks}, padding_option='zero')\n"
    text += f"{indent}tl.store(tl.advance(out, {step}), value + 1, boundary_check={checks})\n"
    x = random_values(rng, extents, dtype, -20, 20)
    out = poisoned(x.size + 64, NUMPY[dtype])
    before = out.copy()
    module_from(text).kernel[(1,)](x, out[32:-32])
    assert_same(out[32:-32].reshape(x.shape), (x + np.ones((), x.dtype)).astype(x.dtype))
    assert out[:32].tobytes() == before[:32].tobytes() and out[-32:].tobytes() == before[-32:].tobytes()
