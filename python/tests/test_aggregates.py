"""Users' own classes in kernels (`triton.aggregate`) and users' own builtins (`tl.core.builtin`)."""

import numpy as np
import pytest

import despina as triton
import despina.language as tl
from helpers import assert_refused, assert_same, assert_ulps, module_from, poisoned

CLASSES = """\
@triton.aggregate
class Pair:
    first: tl.tensor
    second: tl.tensor

    @triton.jit
    def sum(self):
        return self.first + self.second

    @triton.jit
    def scaled(self, factor):
        return Pair(self.first * factor, second=self.second * factor)

    @staticmethod
    @triton.jit
    def load(x_ptr, at, n):
        return Pair(tl.load(x_ptr + at), tl.load(x_ptr + n + at))


@triton.aggregate
class Tile:
    base: tl.tensor
    row: tl.tensor
    ROWS: tl.constexpr
    COLUMNS: tl.constexpr

    def __init__(self, base, row, rows, columns):
        self.base = base
        self.row = row
        self.ROWS = tl.constexpr(rows)
        self.COLUMNS = tl.constexpr(columns)

    @triton.constexpr_function
    def size(self):
        return 1

    @triton.jit
    def pointers(self):
        rows = self.row + tl.arange(0, self.ROWS)
        return self.base + rows[:, None] * self.COLUMNS + tl.arange(0, self.COLUMNS)[None, :]

    @triton.jit
    def next(self):
        return tl.aggregate_replace(self, row=self.row + self.ROWS)


@triton.aggregate
class Sized(Tile):
    count: tl.constexpr = 3


@triton.aggregate
class Nested:
    pair: Pair
    scale: tl.constexpr = 2

    @triton.jit
    def value(self):
        return self.pair.scaled(self.scale).sum()


@tl.core._aggregate
class Old:
    value: tl.tensor

    @triton.constexpr_function
    def __init__(self, value):
        self.value = value


@triton.jit
def add(p: Pair, n: tl.constexpr):
    return p.sum() + n


@triton.jit
def pairs(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    p = Pair.load(x_ptr, at, N)
    tl.static_assert(isinstance(p, Pair))
    tl.static_assert(not isinstance(p, Nested))
    q = Nested(p)
    tl.store(o_ptr + at, p.sum())
    tl.store(o_ptr + N + at, add(p.scaled(3), 1))
    tl.store(o_ptr + 2 * N + at, q.value())
    tl.store(o_ptr + 3 * N + at, Old(p.first).value + Nested(scale=5, pair=p).value())


@triton.jit
def loops(x_ptr, o_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    tile = Tile(x_ptr, tl.to_tensor(0), ROWS, columns=COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for _ in range(n):
        total += tl.load(tile.pointers())
        tile = tile.next()
    if n > 2:
        tile = tl.aggregate_replace(tile, row=tl.to_tensor(7))
    tl.store(Tile(o_ptr, tl.to_tensor(0), ROWS, COLUMNS).pointers(), total)
    tl.store(o_ptr + ROWS * COLUMNS, tile.row.to(tl.float32))
    sized = Sized(x_ptr, tile.row, ROWS, COLUMNS)
    tl.static_assert(sized.count == 3 and isinstance(sized, Sized) and not isinstance(sized, Tile))
"""
BUILTINS = """\
@tl.core.builtin
def twice(x, _semantic=None):
    return tl.add(x, x, _semantic=_semantic)


@tl.core.extern
def weighted(x, y, weight: tl.constexpr = 2, _semantic=None, _generator=None):
    weight = tl.core._unwrap_if_constexpr(weight)
    return tl.fma(x, weight, twice(y, _semantic=_semantic), _semantic=_semantic)


@triton.jit
def kernel(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(o_ptr + at, twice(x))
    tl.store(o_ptr + N + at, weighted(x, 1.0, weight=4.0))
"""


compiled_only = pytest.mark.compiled_only("Python's own objects stand in the interpreter, which knows no such class")


@compiled_only
def test_pairs(rng):
    module = module_from(CLASSES)
    x = rng.integers(-50, 50, (2, 64)).astype(np.float32)
    out = poisoned((4, 64), np.float32)
    module.pairs[(1,)](x, out, 64)
    a, b = x
    assert_same(out, np.stack([a + b, 3 * (a + b) + 1, 2 * (a + b), a + 5 * (a + b)]))


@compiled_only
@pytest.mark.parametrize("n", [0, 1, 4])
def test_loops_and_branches(n, rng):
    module = module_from(CLASSES)
    x = rng.integers(-50, 50, (16, 8)).astype(np.float32)
    out = poisoned(33, np.float32)
    module.loops[(1,)](x, out, n, 4, 8)
    assert_same(out[:32].reshape(4, 8), x.reshape(4, 4, 8)[:n].sum(axis=0, dtype=np.float32))
    assert out[32] == (7 if n > 2 else 4 * n)


@compiled_only
def test_users_builtins(rng):
    module = module_from(BUILTINS)
    x = rng.integers(-50, 50, 32).astype(np.float32)
    out = poisoned((2, 32), np.float32)
    module.kernel[(1,)](x, out, 32)
    assert_same(out, np.stack([2 * x, 4 * x + 2]))


EXTERN = """\
@tl.core.extern
def exponential(x, _semantic=None):
    return tl.core.extern_elementwise(
        "libdevice", "", [x],
        {
            (tl.core.dtype("fp32"),): ("__nv_expf", tl.core.dtype("fp32")),
            (tl.core.dtype("fp64"),): ("__nv_exp", tl.core.dtype("fp64")),
        }, is_pure=True, _semantic=_semantic)


@triton.jit
def kernel(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(o_ptr + at, exponential(tl.load(x_ptr + at)))
"""


@compiled_only
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_functions_of_libraries(dtype, rng):
    module = module_from(EXTERN)
    x = rng.uniform(-2, 2, 32).astype(dtype)
    out = poisoned(32, dtype)
    module.kernel[(1,)](x, out, 32)
    assert_ulps(out, np.exp(x.astype(np.longdouble)).astype(np.float64), 4)


@pytest.mark.cpu_only("what the front end refuses")
def test_functions_of_libraries_have_types():
    module = module_from(EXTERN)
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)](np.zeros(32, np.int32), np.zeros(32, np.int32), 32)
    assert "input arg type does not match.Expect one of [" in str(caught.value.__cause__ or caught.value)


def test_on_the_host():
    assert tl.tuple_type([tl.int32, tl.float32]).name == "[int32,fp32]"
    assert str(tl.tuple_type([tl.int32], ["a"])) == "[a:int32]"
    with pytest.raises(ValueError, match="has no fields"):
        triton.aggregate(type("Empty", (), {}))


REFUSALS = (
    CLASSES
    + """

@triton.aggregate
class Forgets:
    x: tl.tensor
    y: tl.tensor

    def __init__(self, x):
        self.x = x


@triton.aggregate
class Invents:
    x: tl.tensor

    def __init__(self, x):
        self.z = x


@triton.jit
def kernel():
    x = tl.zeros((16,), tl.float32)
    p = Pair(x, x)
    {statement}
"""
)


@pytest.mark.cpu_only("what the front end refuses")
@pytest.mark.parametrize(
    "statement, said",
    [
        (
            "p.first = x",
            "cannot assign to field 'first' on immutable aggregate Pair; use aggregate_replace() to construct a "
            "modified copy",
        ),
        ("q = Forgets(x)", "constructor for Forgets did not initialize attribute 'y'"),
        ("q = Invents(x)", "Invents has no attribute 'z'"),
        (
            "q = Pair(x, None)",
            "Expected <class 'triton.language.core.tensor'> for attribute 'second', got "
            "<class 'triton.language.core.constexpr'>",
        ),
        ("q = Nested(x)", "for attribute 'pair', got <class 'triton.language.core.tensor'>"),
        ("q = Pair(x)", "Pair() missing a required argument: 'second'"),
        ("q = Pair(x, x, x)", "Pair() takes 2 fields but 3 were given"),
        ("q = Pair(x, x, first=x)", "Pair() got multiple values for argument 'first'"),
        ("q = Pair(x, third=x)", "Pair() got an unexpected keyword argument 'third'"),
        ("q = tl.aggregate_replace(p, third=x)", "Pair has no attribute 'third'"),
        ("q = tl.aggregate_replace(x)", "aggregate_replace() takes one aggregate and the changes to it"),
        ("q = p.third", "'Pair' object has no attribute 'third'"),
        ("x.y = x", "Attribute assignment is not supported in triton"),
    ],
)
def test_refusals(statement, said):
    module = module_from(REFUSALS.replace("{statement}", statement))
    assert_refused(module.kernel, said)
