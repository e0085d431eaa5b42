"""Control flow, functions, constants and tuples: what a kernel computes, against Python."""

import enum

import numpy as np
import pytest

import despina as triton
import despina.language as tl

from helpers import assert_same, module_from, poisoned

SCALE = tl.constexpr(3)


@triton.jit
def double(x):
    return x + x


@triton.jit
def both(x, y, FLIP: tl.constexpr = False):
    if FLIP:
        return y, x
    else:
        return x, y


@triton.constexpr_function
def next_square(n):
    import math

    root = math.isqrt(n)
    return (root + (root * root < n)) ** 2


def run_scalar(kernel, *args, out=1, **kwargs):
    result = poisoned(out, np.int32)
    kernel[(1,)](result, *args, **kwargs)
    return result.tolist() if out > 1 else int(result[0])


@triton.jit
def collatz(out_ptr, n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    tl.store(out_ptr, steps)


@pytest.mark.parametrize("n", [2, 7, 27, 96])
def test_while_and_if(n):
    value, steps = n, 0
    while value > 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        steps += 1
    assert run_scalar(collatz, n) == steps


@triton.jit
def nested_loops(out_ptr, n, STEP: tl.constexpr):
    total = 0
    for i in range(0, n, STEP):
        for j in tl.range(i):
            total += i * j
    for k in range(10, 0, -2):
        total += k
    tl.store(out_ptr, total)


@pytest.mark.parametrize("n, step", [(0, 1), (7, 1), (20, 3)])
def test_for(n, step):
    expected = sum(i * j for i in range(0, n, step) for j in range(i)) + sum(range(10, 0, -2))
    assert run_scalar(nested_loops, n, STEP=step) == expected


@triton.jit
def unrolled(out_ptr, COUNT: tl.constexpr):
    total = 0
    for i in tl.static_range(COUNT):
        if i % 2 == 0:
            total += i * i
    tl.store(out_ptr, total)


def test_static_range():
    assert run_scalar(unrolled, COUNT=9) == sum(i * i for i in range(0, 9, 2))


@triton.jit
def early_return(out_ptr, n):
    tl.store(out_ptr, 1)
    if n > 5:
        tl.store(out_ptr, 2)
        return
    tl.store(out_ptr, 3)


def test_early_return():
    assert run_scalar(early_return, 9) == 2
    assert run_scalar(early_return, 4) == 3


@triton.jit
def ternary(out_ptr, n, FLAG: tl.constexpr):
    a = 10 if n > 3 else 20
    b = a + 1 if FLAG else undefined_name  # noqa: F821 (the arm that is not taken is not looked at)
    tl.store(out_ptr, b)


def test_ternary():
    assert run_scalar(ternary, 4, FLAG=True) == 11
    assert run_scalar(ternary, 2, FLAG=True) == 21


@triton.jit
def calls(out_ptr, x):
    a, b = both(double(x), x, FLIP=True)
    c = both(a, b)
    tl.store(out_ptr, a)
    tl.store(out_ptr + 1, b)
    tl.store(out_ptr + 2, c[0] * SCALE)


def test_calls_defaults_and_tuples():
    assert run_scalar(calls, 7, out=3) == [7, 14, 21]


@triton.jit
def constants(out_ptr, SIZE: tl.constexpr, NAME: tl.constexpr, TYPE: tl.constexpr, SHAPE: tl.constexpr):
    half: tl.constexpr = SIZE // 2 - 1
    tl.static_assert(next_square(SIZE) == 144, "a constexpr_function runs in Python")
    tl.static_assert(triton.cdiv(SIZE, 7) == 19)
    tl.static_assert(triton.next_power_of_2(SIZE) == 256)
    tl.static_assert(-7 // 2 == -4)
    tl.static_assert(f"{NAME}_{SIZE}" == "relu_133")
    if NAME == "relu":
        value = tl.zeros(SHAPE, TYPE) + half
    else:
        value = broken(SHAPE)  # noqa: F821
    tl.static_assert(value.dtype == tl.int64)
    tl.static_assert(value.shape[1] == 8)
    tl.store(out_ptr, tl.sum(tl.sum(value, 1), 0).to(tl.int32))


def test_constants():
    assert run_scalar(constants, SIZE=133, NAME="relu", TYPE=tl.int64, SHAPE=(4, 8)) == 32 * 65


@triton.jit
def optional(out_ptr, bias_ptr, n, stride):
    value = n
    if bias_ptr is not None:
        value += tl.load(bias_ptr)
    if stride == 1:
        value += 100
    tl.store(out_ptr, value)


def test_none_and_one_are_constants():
    bias = np.array([5], np.int32)
    assert run_scalar(optional, None, 2, 1) == 102
    assert run_scalar(optional, bias, 2, 1) == 107
    assert run_scalar(optional, bias, 2, 7) == 7


@triton.jit
def higher_order(out_ptr, x, FUNCTION: tl.constexpr):
    tl.store(out_ptr, FUNCTION(x))


def test_functions_as_constants():
    assert run_scalar(higher_order, 21, FUNCTION=double) == 42


def make_kernel(factor):
    factor = tl.constexpr(factor)

    @triton.jit
    def scaled(out_ptr, x):
        tl.store(out_ptr, x * factor)

    return scaled


def test_closures():
    first, second = make_kernel(3), make_kernel(5)
    assert run_scalar(first, 7) == 21
    assert run_scalar(second, 7) == 35
    assert run_scalar(first, 8) == 24


@triton.jit
def logic(out_ptr, a, b):
    flags = 0
    if a > 0 and b > 0:
        flags += 1
    if a > 0 or b > 0:
        flags += 2
    if not (a > 0):
        flags += 4
    tl.store(out_ptr, flags)


@pytest.mark.parametrize("a, b", [(2, 2), (2, -2), (-2, 2), (-2, -2)])
def test_and_or_not(a, b):
    assert run_scalar(logic, a, b) == (a > 0 and b > 0) + 2 * (a > 0 or b > 0) + 4 * (not a > 0)


def test_division_differs_between_constants_and_values():
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, a, C: tl.constexpr):
            tl.store(out_ptr, a // 2)
            tl.store(out_ptr + 1, C // 2)
            tl.store(out_ptr + 2, a % 3)
            tl.store(out_ptr + 3, C % 3)
    """)
    assert run_scalar(module.kernel, -7, C=-7, out=4) == [-3, -4, -1, 2]


def test_recursion_over_constants():
    module = module_from("""
        @triton.jit
        def total(x, N: tl.constexpr):
            if N == 1:
                return tl.sum(x, 0)
            else:
                a, b = tl.split(tl.reshape(x, (N // 2, 2)))
                return total(a + b, N // 2)

        @triton.jit
        def kernel(out_ptr):
            tl.store(out_ptr, total(tl.arange(0, 64), 64))
    """)
    assert run_scalar(module.kernel) == 2016


def test_noinline():
    module = module_from("""
        @triton.jit(noinline=True)
        def add(a, b):
            return a + b

        @triton.jit
        def kernel(out_ptr, n):
            tl.store(out_ptr, add(n, add(n, 2)))
    """)
    assert run_scalar(module.kernel, 20) == 42


def test_static_print(capsys):
    module = module_from("""
        @triton.jit
        def kernel(out_ptr, N: tl.constexpr):
            tl.static_print("N is", N)
            tl.store(out_ptr, N)
    """)
    assert run_scalar(module.kernel, N=17) == 17
    assert "N is 17" in capsys.readouterr().out


def test_random_programs_of_integers(rng):
    """Random expressions over int32: the kernel and Python (with wrapping) agree."""
    operators = ["+", "-", "*", "&", "|", "^"]
    for _ in range(8):
        expression = "x"
        for _ in range(6):
            operator, other = rng.choice(operators), rng.choice(["x", "y", str(int(rng.integers(-99, 99)))])
            expression = f"({expression} {operator} ({other}))"
        module = module_from(f"""
            @triton.jit
            def kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
                place = tl.arange(0, BLOCK)
                x, y = tl.load(x_ptr + place), tl.load(y_ptr + place)
                tl.store(out_ptr + place, {expression})
        """)
        x, y = rng.integers(-(2**31), 2**31, (2, 64)).astype(np.int32)
        out = poisoned(64, np.int32)
        module.kernel[(1,)](x, y, out, BLOCK=64)
        with np.errstate(all="ignore"):
            assert_same(out, eval(expression, {"x": x, "y": y}).astype(np.int32))


class Activation(enum.IntEnum):
    NONE = 0
    RELU = 1


class Flags(enum.IntFlag):
    SCALE = 1
    BIAS = 2


class Mode(str, enum.Enum):
    SUM = "sum"
    MAX = "max"


RELU = tl.constexpr(Activation.RELU)


@triton.jit
def enum_kernel(out_ptr, ACTIVATION: tl.constexpr, FLAGS: tl.constexpr, MODE: tl.constexpr):
    if ACTIVATION == RELU:
        tl.store(out_ptr, 1)
    else:
        tl.store(out_ptr, 2)
    tl.store(out_ptr + 1, ACTIVATION + 10)
    if FLAGS & 2:
        tl.store(out_ptr + 2, 3)
    if ACTIVATION:
        tl.store(out_ptr + 3, 4)
    if MODE == "max":
        tl.store(out_ptr + 4, 5)


def test_enumerations_with_values():
    """Members of enumerations that are numbers or strings act as those."""
    for activation in Activation:
        for flags in (Flags(0), Flags.SCALE, Flags.BIAS, Flags.SCALE | Flags.BIAS):
            for mode in Mode:
                out = np.full(5, -7, np.int32)
                enum_kernel[(1,)](out, activation, flags, mode)
                expected = [1 if activation is Activation.RELU else 2, 10 + int(activation)]
                expected += [3 if flags & 2 else -7, 4 if activation else -7, 5 if mode is Mode.MAX else -7]
                assert out.tolist() == expected


SCOPES = """
    import types

    LOG = []

    class Scope:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            LOG.append("enter " + self.name)
            return len(self.name)

        def __exit__(self, *exception):
            LOG.append("exit " + self.name + " " + str(exception))

    scopes = types.ModuleType("scopes")
    scopes.scope = Scope
"""


@pytest.mark.compiled_only("the interpreter enters each time that it runs")
@pytest.mark.compiles_once("it counts what compiling does")
def test_with_enters_and_leaves_while_compiling():
    module = module_from(
        SCOPES
        + """
    @triton.jit
    def kernel(x_ptr, n):
        x = 0
        with scopes.scope("outer") as five, scopes.scope("in"):
            x += five
            for i in range(n):
                with scopes.scope("loop") as four:
                    x += four
        tl.store(x_ptr, x)
    """
    )
    x = np.zeros(1, np.int32)
    module.kernel[(1,)](x, 3)
    assert x[0] == 5 + 3 * 4
    left = " (None, None, None)"
    entered = ["enter outer", "enter in", "enter loop"]
    assert module.LOG == [*entered, f"exit loop{left}", f"exit in{left}", f"exit outer{left}"]


def test_assignments_in_a_comprehension_stay():
    x = np.zeros(2, np.int32)
    module_from("""
        @triton.jit
        def kernel(x_ptr):
            last = 0
            squares = [(last := a * a) for a in (2, 3, 4)]
            tl.store(x_ptr, last)
            tl.store(x_ptr + 1, squares[0] + squares[1] + squares[2])
    """).kernel[(1,)](x)
    assert x.tolist() == [16, 29]


OVERFLOWS = {
    "add": ("x + 1", "int32 overflow detected for operation add"),
    "sub": ("-2 - x", "int32 overflow detected for operation sub"),
    "mul": ("x * 2", "int32 overflow detected for operation mul"),
    "narrow": ("x.to(tl.uint8) + x.to(tl.uint8)", "uint8 overflow detected for operation add"),
    "function": ("tl.add(x, x)", "int32 overflow detected for operation add"),
    "wide": ("x.to(tl.int64) * x", None),
    "unchecked": ("tl.add(x, x, sanitize_overflow=False)", None),
}


@pytest.mark.cpu_only("a failed assertion leaves a GPU unusable")
@pytest.mark.compiled_only("the interpreter leaves overflows to its sanitizer")
@pytest.mark.parametrize("name", OVERFLOWS)
def test_overflow_is_found_where_asked(name):
    expression, text = OVERFLOWS[name]
    kernel = module_from(f"""
        @triton.jit
        def kernel(x_ptr):
            x = tl.load(x_ptr)
            tl.store(x_ptr, {expression})
    """).kernel
    for options in ({}, {"debug": True}, {"sanitize_overflow": True}):
        kernel[(1,)](np.full(1, 2**31 - 1, np.int32), **options)
    checked = {"debug": True, "sanitize_overflow": True}
    kernel[(1,)](np.full(1, 3, np.int32), **checked)
    if text:
        with pytest.raises(RuntimeError, match=text):
            kernel[(1,)](np.full(1, 2**31 - 1, np.int32), **checked)
    else:
        kernel[(1,)](np.full(1, 2**31 - 1, np.int32), **checked)
