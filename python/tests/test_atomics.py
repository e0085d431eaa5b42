"""Atomics of every kind and dtype: duplicates, masks, and the values that were there before."""

import numpy as np
import pytest

from helpers import FLOATS, NUMPY, assert_same, module_from, poisoned, random_values

import despina as triton
import despina.language as tl

WIDE = ["int32", "int64", "uint32", "uint64"]
TEMPLATE = """
    @triton.jit
    def kernel(x_ptr, index_ptr, mask_ptr, target_ptr, old_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = offsets < n
        mask = inside & (tl.load(mask_ptr + offsets, mask=inside, other=0) != 0)
        x = tl.load(x_ptr + offsets, mask=inside)
        index = tl.load(index_ptr + offsets, mask=inside)
        old = tl.atomic_{name}(target_ptr + index, x, mask=mask{more})
        tl.store(old_ptr + offsets, old, mask=mask)
"""
KERNELS = {}


def run(name, x, index, mask, target, more=""):
    """The old values; those of masked lanes stay as they were poisoned."""
    key = name, more
    if key not in KERNELS:
        KERNELS[key] = module_from(TEMPLATE.format(name=name, more=more)).kernel
    old = poisoned(x.size, x.dtype)
    before = old.copy()
    KERNELS[key][(-(-x.size // 64),)](x, index, mask, target, old, x.size, BLOCK=64)
    assert old[~mask].tobytes() == before[~mask].tobytes()
    return old


def inputs(rng, n, places):
    return rng.integers(0, places, n).astype(np.int32), rng.integers(0, 3, n) > 0


FUNCTIONS = {"add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or}
FUNCTIONS["xor"] = np.bitwise_xor


@pytest.mark.parametrize("dtype", WIDE)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_integers(name, dtype, rng):
    n = 777
    x = random_values(rng, n, dtype)
    index, mask = inputs(rng, n, 11)
    start = random_values(rng, 11, dtype)
    target, expected = start.copy(), start.copy()
    old = run(name, x, index, mask, target)
    with np.errstate(all="ignore"):
        FUNCTIONS[name].at(expected, index[mask], x[mask])
        after = FUNCTIONS[name](old, x)
    assert_same(target, expected)
    # Old and new values are links of a chain from the start to the end, for each place.
    for place in range(11):
        chosen = mask & (index == place)
        left = sorted([*old[chosen].tolist(), target[place].item()])
        right = sorted([*after[chosen].tolist(), start[place].item()])
        assert left == right


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_of_floats(dtype, rng):
    n = 501
    x = rng.integers(0, 2, n).astype(NUMPY[dtype])  # sums stay exact even in bfloat16
    index, mask = inputs(rng, n, 5)
    target = np.zeros(5, NUMPY[dtype])
    old = run("add", x, index, mask, target)
    expected = np.bincount(index[mask], x[mask].astype(np.float64), minlength=5)
    assert_same(target, expected.astype(NUMPY[dtype]))
    for place in range(5):
        chosen = mask & (index == place) & (x == np.ones((), x.dtype))
        assert sorted(old[chosen].astype(int).tolist()) == list(range(int(expected[place])))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_floats(name, dtype, rng):
    n = 300
    x = (rng.standard_normal(n) * 100).astype(dtype)
    x[::17], x[5::31] = np.inf, -np.inf
    index, mask = inputs(rng, n, 3)
    for start in (-0.0, 0.0, -1e30, 1e30):
        target = np.full(4, start, dtype)
        expected = target.copy()
        FUNCTIONS[name].at(expected, index[mask], x[mask])
        run(name, x, index, mask, target)
        assert_same(target, expected)


@pytest.mark.parametrize("dtype", [*WIDE, "float32", "float64"])
def test_exchange(dtype, rng):
    n = 321
    x = random_values(rng, n, dtype)
    index, mask = inputs(rng, n, 4)
    start = random_values(rng, 4, dtype)
    target = start.copy()
    old = run("xchg", x, index, mask, target)
    for place in range(4):
        chosen = mask & (index == place)
        left = sorted([*old[chosen].tolist(), target[place].item()])
        assert left == sorted([*x[chosen].tolist(), start[place].item()])


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_compare_and_swap_of_duplicates(dtype):
    """Of all lanes that want the one change, one makes it."""
    module = module_from("""
        @triton.jit
        def kernel(target_ptr, old_ptr, x_ptr, BLOCK: tl.constexpr):
            lanes = tl.arange(0, BLOCK)
            x = tl.load(x_ptr + lanes)
            old = tl.atomic_cas(target_ptr + lanes % 2, x * 0, x)
            tl.store(old_ptr + lanes, old)
    """)
    x = np.arange(1, 65).astype(dtype)
    target, old = np.zeros(2, dtype), poisoned(64, dtype)
    module.kernel[(1,)](target, old, x, BLOCK=64)
    for place in (0, 1):
        mine = old[place::2]
        assert (mine == 0).sum() == 1
        assert set(mine.tolist()) == {0, target[place].item()}
        assert target[place] in x[place::2]


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("scope", ["gpu", "cta", "sys"])
def test_orders_and_scopes(sem, scope, rng):
    x = random_values(rng, 100, "int32")
    index, mask = inputs(rng, 100, 3)
    target, expected = np.zeros(3, np.int32), np.zeros(3, np.int32)
    run("add", x, index, mask, target, f', sem="{sem}", scope="{scope}"')
    with np.errstate(all="ignore"):
        np.add.at(expected, index[mask], x[mask])
    assert_same(target, expected)


@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64"])
def test_scalars_of_many_programs(dtype):
    module = module_from("""
        @triton.jit
        def kernel(target_ptr, old_ptr, flag):
            ticket = tl.atomic_add(target_ptr, 1, mask=flag > 0)
            if flag > 0:
                tl.store(old_ptr + tl.program_id(0), ticket)
    """)
    target, old = np.zeros(1, dtype), poisoned(1000, dtype)
    module.kernel[(1000,)](target, old, 1)
    assert target[0] == 1000 and sorted(old.astype(int).tolist()) == list(range(1000))
    module.kernel[(1000,)](target, old, 0)
    assert target[0] == 1000


REFUSED = [(name, kind) for name in (*FUNCTIONS, "xchg") for kind in ("int8", "uint8", "int16", "uint16")]
REFUSED += [(name, kind) for name in ("max", "min", "xchg") for kind in ("float16", "bfloat16")]
REFUSED += [(name, kind) for name in ("and", "or", "xor") for kind in FLOATS]


@pytest.mark.parametrize("name, dtype", REFUSED)
def test_refused_types(name, dtype):
    module = module_from(f"@triton.jit\ndef kernel(x_ptr):\n    tl.atomic_{name}(x_ptr, 1)\n")
    x = np.zeros(1, NUMPY[dtype])
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)](x)
    assert f"atomic_{name} does not support" in str(caught.value) and isinstance(caught.value.__cause__, ValueError)


@pytest.mark.parametrize("name", [*FUNCTIONS, "xchg", "cas"])
def test_const_pointers(name):
    more = "1, 1" if name == "cas" else "1"
    module = module_from(f"@triton.jit\ndef kernel(x_ptr: tl.const):\n    tl.atomic_{name}(x_ptr, {more})\n")
    with pytest.raises(triton.CompilationError, match="Cannot store to a constant pointer"):
        module.kernel[(1,)](np.zeros(1, np.int32))


@pytest.mark.parametrize("word", ['sem="weak"', 'scope="world"'])
def test_unknown_orders(word):
    module = module_from(f"@triton.jit\ndef kernel(x_ptr):\n    tl.atomic_add(x_ptr, 1, {word})\n")
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)](np.zeros(1, np.int32))
    assert word.split('"')[1] + " not supported" in str(caught.value)


@triton.jit
def accumulate_product(x_ptr, y_ptr, sum_ptr, out_ptr):
    rows, columns = tl.arange(0, 32), tl.arange(0, 32)
    places = rows[:, None] * 32 + columns[None, :]
    x = tl.load(x_ptr + places)
    product = tl.dot(x, tl.load(y_ptr + places), input_precision="ieee")
    tl.atomic_add(sum_ptr + places, product, mask=rows[:, None] < 30)
    tl.store(out_ptr + places, x + 1.0)


def test_a_product_is_added_while_a_load_is_still_to_come():
    """The load must happen before the atomic, and the product live until after it."""
    rng = np.random.default_rng()
    x, y = (rng.integers(-8, 9, (32, 32)).astype(np.float32) for _ in range(2))
    total, out = np.ones((32, 32), np.float32), np.full((32, 32), np.nan, np.float32)
    accumulate_product[(1,)](x, y, total, out)
    want = np.ones((32, 32), np.float32)
    want[:30] += (x @ y)[:30]
    assert (total == want).all() and (out == x + 1).all()
