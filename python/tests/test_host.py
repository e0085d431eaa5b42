"""What kernels see of the Python around them: tuples, modules, classes, names imported in every way."""

import types
from typing import NamedTuple

import numpy as np
import pytest

import despina as triton
import despina.language as tl
from despina.language import constexpr, float32, int32, load
from despina.language import store as put
from despina.language.math import exp2 as power

from helpers import module_from, poisoned

other = types.ModuleType("other_module")
other.LIMIT = tl.constexpr(11)
other.plain = 13


class Point(NamedTuple):
    x: object
    y: object
    z: object = 3


@triton.jit
def names(out_ptr, x_ptr):
    value: constexpr = 2
    put(out_ptr, load(x_ptr) * value)
    put(out_ptr + 1, power(load(x_ptr)))
    tl.static_assert(load(x_ptr).dtype == float32)
    tl.static_assert(tl.core.program_id(0).dtype == int32)
    tl.static_assert(other.LIMIT == 11)
    tl.static_assert(other.plain == 13)
    tl.static_assert(out_ptr.dtype.element_ty == tl.float32)


def test_names_imported_in_every_way():
    out = poisoned(2, np.float32)
    names[(1,)](out, np.array([3], np.float32))
    assert out.tolist() == [6, 8]


@triton.jit
def with_tuple(out_ptr, values, TABLE: tl.constexpr):
    a, b, c = values
    result = a * 100 + c[1]
    if b is None:
        result += 1000
    tl.static_assert(len(c) == 2)
    tl.store(out_ptr, result + tl.load(c[0]) + TABLE[1])


def test_tuples_as_arguments():
    out = poisoned(1, np.int32)
    x = np.array([7], np.int32)
    with_tuple[(1,)](out, (2, None, (x, 5)), TABLE=(10, 20000))
    assert out[0] == 200 + 5 + 1000 + 7 + 20000
    with_tuple[(1,)](out, (3, x, (x, 1)), TABLE=(10, 20000))
    assert out[0] == 300 + 1 + 7 + 20000


@triton.jit
def with_named_tuple(out_ptr, point):
    moved = Point(point.x + 1, y=point.y * 2)
    tl.static_assert(moved.z == 3)
    tl.store(out_ptr, moved.x)
    tl.store(out_ptr + 1, moved[1])


def test_named_tuples():
    out = poisoned(2, np.int32)
    with_named_tuple[(1,)](out, Point(4, 21))
    assert out.tolist() == [5, 42]


@triton.jit
def variadic(out_ptr, *values):
    total = 0
    for i in tl.static_range(len(values)):
        total += values[i]
    tl.store(out_ptr, total)


@pytest.mark.parametrize("values", [(), (5,), (2, 3, 4), (1, 1, 1)])
def test_variadic_parameters(values):
    out = poisoned(1, np.int32)
    variadic[(1,)](out, *values)
    assert out[0] == sum(values)


@triton.constexpr_function
def pick(table, index, *, default=None):
    try:
        return table[index]
    except IndexError:
        return default


@triton.jit
def calls_python(out_ptr, T: tl.constexpr):
    tl.static_assert(pick(T, 1) == 8)
    tl.static_assert(pick(T, 9) is None)
    value: tl.constexpr = pick(T, 9, default=5)
    tl.store(out_ptr, value)


def test_constexpr_functions_are_python():
    out = poisoned(1, np.int32)
    calls_python[(1,)](out, T=(4, 8))
    assert out[0] == 5


@triton.constexpr_function
def fails(x):
    raise LookupError(f"no {x}")


@triton.jit
def calls_failing(out_ptr):
    tl.store(out_ptr, fails(3))


def test_exceptions_of_constexpr_functions():
    with pytest.raises(triton.CompilationError, match="no 3") as caught:
        calls_failing[(1,)](np.zeros(1, np.int32))
    assert caught.value.line and caught.value.file == __file__


def test_must_use_result():
    module = module_from("""
        @triton.must_use_result
        @triton.jit
        def plain(x):
            return x

        @triton.must_use_result("Give it a name.")
        @triton.jit
        def told(x):
            return x

        @triton.jit
        def kernel(out_ptr, WHICH: tl.constexpr):
            if WHICH:
                plain(1)
            else:
                told(1)
    """)
    for which, text in [(1, "The result of plain is not being used."), (0, "not being used. Give it a name.")]:
        with pytest.raises(triton.CompilationError) as caught:
            module.kernel[(1,)](np.zeros(1, np.int32), WHICH=which == 1)
        assert text in str(caught.value)


def test_plain_python_functions_of_modules_are_refused():
    module = module_from("import math\n\n@triton.jit\ndef kernel(out_ptr):\n    x = math.sqrt(4)\n")
    with pytest.raises(RuntimeError, match="Unsupported function referenced: <built-in function sqrt>"):
        module.kernel[(1,)](np.zeros(1, np.float32))


def test_warnings_name_the_kernel_line():
    module = module_from("""
        @triton.jit
        def kernel(out_ptr):
            o = tl.arange(0, 16)
            tl.store(out_ptr + o, tl.where(o, 1, 2))
    """)
    with pytest.warns(UserWarning, match="non-boolean condition") as caught:
        module.kernel[(1,)](poisoned(16, np.int32))
    assert any(warning.filename == module.__file__ for warning in caught)


def test_kernels_in_classes_and_functions():
    class Holder:
        @staticmethod
        @triton.jit
        def kernel(out_ptr, N: tl.constexpr = 3):
            """With a docstring, and
            an odd second line."""
            tl.store(out_ptr, N)  # and a comment

    out = poisoned(1, np.int32)
    Holder.kernel[(1,)](out)
    assert out[0] == 3


def test_decorators_and_layout_of_the_source():
    module = module_from("""
        @triton.jit(
            do_not_specialize=["n"],  # a comment
            debug=False,
        )

        # a comment between
        def kernel(
            out_ptr, n,
            N: tl.constexpr = (
                2 + 3
            ),
        ):
            tl.store(
                out_ptr,
                n
                + N,
            ); tl.store(out_ptr + 1, N)
    """)
    out = poisoned(2, np.int32)
    module.kernel[(1,)](out, 10)
    assert out.tolist() == [15, 5]
