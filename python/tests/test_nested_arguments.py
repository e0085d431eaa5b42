"""Tuples and lists as arguments: how deep they may be, and what tells them apart."""

import collections

import numpy as np
import pytest

from helpers import module_from, poisoned

KERNELS = module_from("""
    @triton.jit
    def ignore(out_ptr, value: tl.constexpr):
        tl.store(out_ptr, 1)

    @triton.jit
    def ignore_runtime(out_ptr, value):
        tl.store(out_ptr, 1)

    @triton.jit
    def store_first(out_ptr, pair: tl.constexpr):
        tl.store(out_ptr, pair.first / 2)
""")


def nested(depth):
    value = (7,)
    for _ in range(depth - 1):
        value = (value,)
    return value


@pytest.mark.cpu_only("the copies for a GPU are made by a recursion")
@pytest.mark.parametrize("kernel", ["ignore", "ignore_runtime"])
@pytest.mark.parametrize("depth", [101, 1_000_000])
def test_tuples_have_a_limit(kernel, depth):
    with pytest.raises(RecursionError, match="a tuple argument is nested over 100 levels deep"):
        getattr(KERNELS, kernel)[(1,)](np.zeros(1, np.int32), nested(depth))


def test_tuples_within_the_limit():
    out = poisoned(1, "int32")
    KERNELS.ignore[(1,)](out, nested(90))
    assert out[0] == 1


def test_a_list_that_holds_itself():
    value = [1]
    value.append(value)
    out = poisoned(1, "int32")
    KERNELS.ignore[(1,)](out, value)
    assert out[0] == 1


@pytest.mark.compiled_only("looks at compiled kernels")
def test_equal_named_tuples_of_other_types_are_other_constants():
    pair = collections.namedtuple("pair", "first")
    out = poisoned(1, "float32")
    kernels = [KERNELS.store_first[(1,)](out, pair(value)) for value in (3, 3.0, True)]
    assert len({id(kernel) for kernel in kernels}) == 3
