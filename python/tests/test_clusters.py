"""Programs of several blocks: `num_ctas` of a cluster share each tile, and exchange what they need of each other.

The CPU accepts the option and has nothing to do for it; what blocks exchange is seen on a GPU.
"""

import ml_dtypes
import numpy as np
import pytest

from helpers import NUMPY, assert_same, assert_within, module_from, poisoned, random_values

MODULE = module_from("""
    @triton.jit
    def axpy(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)

    @triton.jit
    def reductions(x_ptr, rows_ptr, columns_ptr, all_ptr, M: tl.constexpr, N: tl.constexpr):
        i, j = tl.arange(0, M), tl.arange(0, N)
        x = tl.load(x_ptr + i[:, None] * N + j[None, :])
        tl.store(rows_ptr + i, tl.sum(x, 1))
        tl.store(columns_ptr + j, tl.max(x, 0))
        tl.store(all_ptr, tl.sum(x))

    @triton.jit
    def arg_extremes(x_ptr, least_ptr, most_ptr, M: tl.constexpr, N: tl.constexpr):
        i, j = tl.arange(0, M), tl.arange(0, N)
        x = tl.load(x_ptr + i[:, None] * N + j[None, :])
        tl.store(least_ptr + i, tl.argmin(x, 1))
        tl.store(most_ptr + j, tl.argmax(x, 0))

    @triton.jit
    def scans(x_ptr, down_ptr, along_ptr, M: tl.constexpr, N: tl.constexpr):
        place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
        x = tl.load(x_ptr + place)
        tl.store(down_ptr + place, tl.cumsum(x, 0))
        tl.store(along_ptr + place, tl.cumsum(x, 1, reverse=True))

    @triton.jit
    def transpose(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
        i, j = tl.arange(0, M), tl.arange(0, N)
        x = tl.load(x_ptr + i[:, None] * N + j[None, :])
        tl.store(out_ptr + j[:, None] * M + i[None, :], tl.trans(x))

    @triton.jit
    def gather(x_ptr, i_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, axis: tl.constexpr):
        place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
        tl.store(out_ptr + place, tl.load(x_ptr + place).gather(tl.load(i_ptr + place), axis))

    @triton.jit
    def histogram(x_ptr, out_ptr, n, N: tl.constexpr, BINS: tl.constexpr):
        at = tl.arange(0, N)
        counts = tl.histogram(tl.load(x_ptr + at), BINS, mask=at < n)
        tl.store(out_ptr + tl.arange(0, BINS), counts)

    @triton.jit
    def swap_halves(x_ptr, out_ptr, N: tl.constexpr):
        \"\"\"A step of a sorting network for each bit of the index.\"\"\"
        x = tl.load(x_ptr + tl.arange(0, N))
        pairs = tl.reshape(x, (2, N // 2))
        low, high = tl.split(tl.trans(pairs))
        x = tl.reshape(tl.trans(tl.join(tl.maximum(low, high), tl.minimum(low, high))), (N,))
        pairs = tl.reshape(x, (N // 2, 2))
        low, high = tl.split(pairs)
        tl.store(out_ptr + tl.arange(0, N), tl.reshape(tl.join(high, low), (N,)))

    @triton.jit
    def atomics(sum_ptr, counts_ptr, old_ptr, first_ptr, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.atomic_add(sum_ptr, 1)
        tl.atomic_add(counts_ptr + at, at)
        old = tl.atomic_add(sum_ptr + 1, 1)
        tl.store(old_ptr + tl.program_id(0) * N + at, tl.zeros((N,), tl.int32) + old)
        tl.atomic_add(sum_ptr + 2 + at % 2, 1)
        seen = tl.atomic_cas(first_ptr, -1, tl.program_id(0))
        tl.store(first_ptr + 1 + tl.program_id(0), seen)

    @triton.jit
    def through_memory(x_ptr, scratch_ptr, out_ptr, N: tl.constexpr):
        \"\"\"What one block has written, others read.\"\"\"
        at = tl.arange(0, N)
        tl.store(scratch_ptr + at, tl.load(x_ptr + at) + 1)
        tl.debug_barrier()
        tl.store(out_ptr + at, tl.load(scratch_ptr + (N - 1 - at)))

    @triton.jit
    def loop(x_ptr, out_ptr, n, N: tl.constexpr):
        \"\"\"Exchanges in a loop, in a branch and behind them.\"\"\"
        at = tl.arange(0, N)
        x = tl.load(x_ptr + at)
        total = 0
        for step in range(n):
            total += tl.sum(x)
            if step % 2 == 0:
                x = tl.cumsum(x, 0)
            x = x % 1000
        tl.store(out_ptr + at, x + total)

    @triton.jit
    def checked(x_ptr, out_ptr, N: tl.constexpr):
        at = tl.arange(0, N)
        x = tl.load(x_ptr + at)
        tl.device_assert(x < 1000, "too large")
        tl.store(out_ptr + at, x)

    @triton.jit
    def dot(a_ptr, b_ptr, c_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
        rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
        place = rows[:, None] * N + columns[None, :]
        tl.store(out_ptr + place, tl.dot(a, b, tl.load(c_ptr + place), input_precision=PRECISION))

    @triton.jit
    def square(x_ptr, out_ptr, M: tl.constexpr, K: tl.constexpr):
        \"\"\"One tile is both factors.\"\"\"
        rows, inner = tl.arange(0, M), tl.arange(0, K)
        x = tl.load(x_ptr + rows[:, None] * K + inner[None, :])
        tl.store(out_ptr + rows[:, None] * M + rows[None, :], tl.dot(x, tl.trans(x)))

    @triton.jit
    def batched(a_ptr, b_ptr, out_ptr, B: tl.constexpr, S: tl.constexpr):
        i = tl.arange(0, S)
        place = tl.arange(0, B)[:, None, None] * S * S + i[None, :, None] * S + i[None, None, :]
        tl.store(out_ptr + place, tl.dot(tl.load(a_ptr + place), tl.load(b_ptr + place)))

    @triton.jit
    def matmul(a_ptr, b_ptr, bias_ptr, out_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        rows = tl.program_id(0) * BM + tl.arange(0, BM)
        columns = tl.program_id(1) * BN + tl.arange(0, BN)
        inner = tl.arange(0, BK)
        acc = tl.zeros((BM, BN), tl.float32)
        for start in range(0, K, BK):
            k = start + inner
            a = tl.load(a_ptr + rows[:, None] * K + k[None, :], (rows[:, None] < M) & (k[None, :] < K), 0)
            b = tl.load(b_ptr + k[:, None] * N + columns[None, :], (k[:, None] < K) & (columns[None, :] < N), 0)
            acc = tl.dot(a, b, acc)
        acc += tl.load(bias_ptr + columns, columns < N, 0)[None, :]
        tl.store(out_ptr + rows[:, None] * N + columns[None, :], acc, (rows[:, None] < M) & (columns[None, :] < N))

    @triton.jit
    def attention(q_ptr, k_ptr, v_ptr, out_ptr, S, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
        rows, columns, depth = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
        q = tl.load(q_ptr + rows[:, None] * D + depth[None, :])
        most = tl.full((M,), float("-inf"), tl.float32)
        total = tl.zeros((M,), tl.float32)
        acc = tl.zeros((M, D), tl.float32)
        for start in range(0, S, N):
            k = tl.load(k_ptr + (start + columns)[:, None] * D + depth[None, :])
            v = tl.load(v_ptr + (start + columns)[:, None] * D + depth[None, :])
            scores = tl.dot(q, tl.trans(k))
            larger = tl.maximum(most, tl.max(scores, 1))
            p = tl.exp(scores - larger[:, None])
            shrink = tl.exp(most - larger)
            total = total * shrink + tl.sum(p, 1)
            acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
            most = larger
        tl.store(out_ptr + rows[:, None] * D + depth[None, :], acc / total[:, None])

    @triton.jit
    def copy_block(source, target, M: tl.constexpr, N: tl.constexpr):
        x = source.load([tl.program_id(0) * M, tl.program_id(1) * N])
        target.store([tl.program_id(0) * M, tl.program_id(1) * N], x + x)
""")

BLOCKS = pytest.mark.parametrize("num_ctas", [2, 4])
SHAPES = pytest.mark.parametrize("shape", [(64, 64), (2, 512), (512, 2), (1, 1024), (16, 8)])


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("num_ctas", [2, 4, 8])
def test_elementwise(num_ctas, num_warps, rng):
    n = 5000
    x, y = random_values(rng, (2, n), "float32")
    out = poisoned(n + 100, np.float32)
    end = out[n:].copy()
    MODULE.axpy[(5,)](x, y, out[:n], n, BLOCK=1024, num_ctas=num_ctas, num_warps=num_warps)
    assert_within(out[:n], 2.0 * x.astype(np.float64) + y, (2 * np.abs(x) + np.abs(y)) * 2e-7)
    assert_same(out[n:], end)


@BLOCKS
@SHAPES
def test_reductions(shape, num_ctas, rng):
    x = random_values(rng, shape, "int32", -1000, 1000)
    rows, columns, total = poisoned(shape[0], np.int32), poisoned(shape[1], np.int32), poisoned(1, np.int32)
    MODULE.reductions[(1,)](x, rows, columns, total, *shape, num_ctas=num_ctas)
    assert_same(rows, x.sum(1, dtype=np.int32))
    assert_same(columns, x.max(0))
    assert_same(total, np.array([x.sum()], np.int32))


@BLOCKS
@SHAPES
def test_places_of_extremes(shape, num_ctas, rng):
    x = rng.permutation(shape[0] * shape[1]).reshape(shape).astype(np.float32)
    least, most = poisoned(shape[0], np.int32), poisoned(shape[1], np.int32)
    MODULE.arg_extremes[(1,)](x, least, most, *shape, num_ctas=num_ctas)
    assert_same(least, x.argmin(1).astype(np.int32))
    assert_same(most, x.argmax(0).astype(np.int32))


@BLOCKS
@SHAPES
def test_scans(shape, num_ctas, rng):
    x = random_values(rng, shape, "int32", -1000, 1000)
    down, along = poisoned(shape, np.int32), poisoned(shape, np.int32)
    MODULE.scans[(1,)](x, down, along, *shape, num_ctas=num_ctas)
    assert_same(down, x.cumsum(0, dtype=np.int32))
    assert_same(along, np.flip(np.flip(x, 1).cumsum(1, dtype=np.int32), 1))


@BLOCKS
@pytest.mark.parametrize("dtype", ["int8", "float16", "int64"])
@SHAPES
def test_transpose(shape, dtype, num_ctas, rng):
    x = random_values(rng, shape, dtype)
    out = poisoned(shape[::-1], NUMPY[dtype])
    MODULE.transpose[(1,)](x, out, *shape, num_ctas=num_ctas)
    assert_same(out, np.ascontiguousarray(x.T))


@BLOCKS
@pytest.mark.parametrize("axis", [0, 1])
@SHAPES
def test_gather(shape, axis, num_ctas, rng):
    x = random_values(rng, shape, "float32")
    i = rng.integers(0, shape[axis], shape).astype(np.int32)
    out = poisoned(shape, np.float32)
    MODULE.gather[(1,)](x, i, out, *shape, axis, num_ctas=num_ctas)
    assert_same(out, np.take_along_axis(x, i, axis))


@BLOCKS
@pytest.mark.parametrize("n, bins", [(2000, 16), (1, 256), (37, 1024)])
def test_histogram(n, bins, num_ctas, rng):
    x = rng.integers(0, bins, 2048).astype(np.int32)
    out = poisoned(bins, np.int32)
    MODULE.histogram[(1,)](x, out, n, 2048, bins, num_ctas=num_ctas)
    assert_same(out, np.bincount(x[:n], minlength=bins).astype(np.int32))


@BLOCKS
@pytest.mark.parametrize("n", [32, 2048])
def test_exchange_of_halves(n, num_ctas, rng):
    x = random_values(rng, n, "int32")
    out = poisoned(n, np.int32)
    MODULE.swap_halves[(1,)](x, out, n, num_ctas=num_ctas)
    low, high = x[: n // 2], x[n // 2 :]
    sorted_halves = np.concatenate([np.maximum(low, high), np.minimum(low, high)])
    assert_same(out, np.ascontiguousarray(sorted_halves.reshape(-1, 2)[:, ::-1]).ravel())


@BLOCKS
@pytest.mark.parametrize("n", [2, 1024])
def test_atomics_happen_once(n, num_ctas):
    programs = 3
    sums, counts, old = np.zeros(4, np.int32), np.zeros(n, np.int32), poisoned((programs, n), np.int32)
    first = np.full(1 + programs, -1, np.int32)
    MODULE.atomics[(programs,)](sums, counts, old, first, n, num_ctas=num_ctas)
    assert_same(sums, np.array([programs, programs, programs * n // 2, programs * n // 2], np.int32))
    assert_same(counts, programs * np.arange(n, dtype=np.int32))
    assert_same(old, np.broadcast_to(old[:, :1], old.shape).copy())
    assert sorted(old[:, 0].tolist()) == list(range(programs))
    winner = first[0]
    assert 0 <= winner < programs
    assert_same(first[1:], np.where(np.arange(programs) == winner, -1, winner).astype(np.int32))


@BLOCKS
def test_what_blocks_write_to_memory(num_ctas, rng):
    x = random_values(rng, 4096, "int32", -1000, 1000)
    scratch, out = poisoned(4096, np.int32), poisoned(4096, np.int32)
    MODULE.through_memory[(1,)](x, scratch, out, 4096, num_ctas=num_ctas)
    assert_same(out, x[::-1] + np.int32(1))


@BLOCKS
@pytest.mark.parametrize("n", [0, 1, 5])
def test_exchanges_in_loops(n, num_ctas, rng):
    x = random_values(rng, 1024, "int32", 0, 1000)
    out = poisoned(1024, np.int32)
    MODULE.loop[(1,)](x, out, n, 1024, num_ctas=num_ctas)
    total = 0
    for step in range(n):
        total += int(x.sum())
        x = (x if step % 2 else x.cumsum(dtype=np.int32)) % np.int32(1000)
    assert_same(out, (x + total).astype(np.int32))


@BLOCKS
def test_assertions_that_hold(num_ctas, rng):
    x = random_values(rng, 1024, "int32", -1000, 999)
    out = poisoned(1024, np.int32)
    MODULE.checked[(1,)](x, out, 1024, num_ctas=num_ctas, debug=True)
    assert_same(out, x)


def product(a, b):
    return a.astype(np.longdouble) @ b.astype(np.longdouble)


DOTS = [
    ("float16", "ieee", np.float16),
    ("bfloat16", "ieee", ml_dtypes.bfloat16),
    ("float32", "ieee", np.float32),
    ("float32", "tf32", np.float32),
    ("float64", "ieee", np.float64),
    ("fp8", "ieee", ml_dtypes.float8_e5m2),
]


@BLOCKS
@pytest.mark.parametrize("shape", [(16, 16, 32), (64, 64, 64), (128, 128, 32), (256, 64, 64), (64, 256, 32), (32, 16, 128)])
@pytest.mark.parametrize("name, precision, dtype", DOTS, ids=[f"{name}-{precision}" for name, precision, _ in DOTS])
def test_dot(name, precision, dtype, shape, num_ctas, rng):
    M, N, K = shape
    a, b = (rng.standard_normal(s).astype(np.float32).astype(dtype) for s in ((M, K), (K, N)))
    result = np.float64 if name == "float64" else np.float32
    c, out = rng.standard_normal((M, N)).astype(result), poisoned((M, N), result)
    MODULE.dot[(1,)](a, b, c, out, M, N, K, precision, num_ctas=num_ctas)
    unit = 2.0**-9 if precision == "tf32" else 2.0**-12 if name == "fp8" else np.finfo(result).eps * K
    size = product(np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64))) + np.abs(c)
    assert_within(out, product(a, b) + c, size * unit)


@BLOCKS
@pytest.mark.parametrize("shape", [(16, 16, 32), (128, 64, 64), (64, 256, 32)])
def test_dot_of_integers(shape, num_ctas, rng):
    M, N, K = shape
    a, b = random_values(rng, (M, K), "int8"), random_values(rng, (K, N), "int8")
    c, out = random_values(rng, (M, N), "int32", -1000, 1000), poisoned((M, N), np.int32)
    MODULE.dot[(1,)](a, b, c, out, M, N, K, "ieee", num_ctas=num_ctas)
    assert_same(out, (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32))


@BLOCKS
@pytest.mark.parametrize("m, k", [(16, 16), (128, 64)])
def test_a_tile_times_itself(m, k, num_ctas, rng):
    x = rng.standard_normal((m, k)).astype(np.float16)
    out = poisoned((m, m), np.float32)
    MODULE.square[(1,)](x, out, m, k, num_ctas=num_ctas)
    assert_within(out, product(x, x.T), product(np.abs(x), np.abs(x.T)) * np.finfo(np.float32).eps * k)


@BLOCKS
@pytest.mark.parametrize("batch, size", [(1, 32), (4, 32), (8, 16)])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_batches(dtype, batch, size, num_ctas, rng):
    a, b = rng.standard_normal((2, batch, size, size)).astype(NUMPY[dtype])
    out = poisoned((batch, size, size), np.float32)
    MODULE.batched[(1,)](a, b, out, batch, size, num_ctas=num_ctas)
    assert_within(out, product(a, b), product(np.abs(a), np.abs(b)) * np.finfo(np.float32).eps * size)


@BLOCKS
@pytest.mark.parametrize("block", [(128, 128, 64), (64, 32, 32), (32, 128, 32)])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_matmul(dtype, block, num_ctas, rng):
    M, N, K = 200, 150, 100
    a, b = rng.standard_normal((M, K)).astype(NUMPY[dtype]), rng.standard_normal((K, N)).astype(NUMPY[dtype])
    bias = rng.standard_normal(N).astype(np.float32)
    out = poisoned((M, N), np.float32)
    BM, BN, BK = block
    MODULE.matmul[(-(-M // BM), -(-N // BN))](a, b, bias, out, M, N, K, BM, BN, BK, num_ctas=num_ctas)
    unit = np.finfo(np.float32).eps * K if dtype == "float16" else 2.0**-9
    assert_within(out, product(a, b) + bias, (product(np.abs(a), np.abs(b)) + np.abs(bias)) * unit)


@BLOCKS
@pytest.mark.parametrize("block", [(128, 64), (64, 64), (32, 32)])
def test_attention(block, num_ctas, rng):
    S, D = 256, 64
    M, N = block
    q, k, v = (rng.standard_normal((S, D)) / 4).astype(np.float16), *rng.standard_normal((2, S, D)).astype(np.float16)
    out = poisoned((S, D), np.float32)
    MODULE.attention[(S // M,)](q, k, v, out, S, M, N, D, num_ctas=num_ctas)
    scores = product(q, k.T)
    p = np.exp(scores - scores.max(1, keepdims=True))
    exact = p @ v.astype(np.longdouble) / p.sum(1, keepdims=True)
    # Weights are rounded to f16, and sum up to 1.
    assert_within(out, exact, np.full(out.shape, 2.0**-9 * np.abs(v.astype(np.float64)).max()))


@BLOCKS
def test_descriptors(num_ctas, rng):
    from despina.tools.tensor_descriptor import TensorDescriptor

    x = random_values(rng, (100, 200), "float32")
    out = poisoned((100, 200), np.float32)
    source, target = (TensorDescriptor.from_tensor(t, [32, 64]) for t in (x, out))
    MODULE.copy_block[(4, 4)](source, target, 32, 64, num_ctas=num_ctas)
    assert_same(out, x + x)
