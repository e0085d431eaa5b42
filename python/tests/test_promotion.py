"""The type of every binary operation over every pair of dtypes, as the language's rules give it."""

import itertools

import numpy as np
import pytest

import despina as triton
import despina.language as tl
from despina.backends.compiler import GPUTarget

from helpers import ALL, FLOATS, INTEGERS, NUMPY, SIGNATURE, module_from

pytestmark = pytest.mark.cpu_only("types that the front end finds")

WIDTH = {name: 1 if name == "int1" else int("".join(c for c in name if c.isdigit())) for name in ALL}
RANK = {"bfloat16": 0, "float16": 1, "float32": 2, "float64": 3}


def is_signed(name):
    return name.startswith("int") and name != "int1"


def integer_result(a, b):
    if is_signed(a) == is_signed(b):
        return a if WIDTH[a] >= WIDTH[b] else b
    unsigned, signed = (b, a) if is_signed(a) else (a, b)
    return unsigned if WIDTH[unsigned] >= WIDTH[signed] else signed


def result_of(op, a, b):
    """The dtype of `a op b`, or None where the language refuses."""
    division = op in ("/", "//", "%")
    floats = [name for name in (a, b) if name in FLOATS]
    if op == "//" and floats:
        return None
    if op in ("&", "|", "^", "<<", ">>") and floats:
        return None
    if not floats:
        if division and is_signed(a) != is_signed(b) and op != "/":
            return None
        return "float32" if op == "/" else integer_result(a, b)
    if "float64" in floats:
        return "float64"
    if "float32" in floats:
        return "float32"
    if "float16" in floats:
        return "float32" if division else "float16"
    if a == b == "bfloat16":
        return "float32" if division else "bfloat16"
    return "float32"


TEMPLATE = """
@triton.jit
def kernel(a_ptr, b_ptr, EXPECTED: tl.constexpr):
    a = tl.load(a_ptr)
    b = tl.load(b_ptr)
    c = a {op} b
    tl.static_assert(c.dtype == EXPECTED)
"""
OPERATORS = ["+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "=="]
KERNELS = {op: module_from(TEMPLATE.format(op=op)).kernel for op in OPERATORS}


def compile_pair(op, a, b, expected):
    signature = {"a_ptr": "*" + SIGNATURE[a], "b_ptr": "*" + SIGNATURE[b], "EXPECTED": "constexpr"}
    source = triton.compiler.ASTSource(KERNELS[op], signature, {"EXPECTED": expected})
    return triton.compile(source, target=GPUTarget("cpu", "", 1))


@pytest.mark.parametrize("op", OPERATORS)
def test_result_type_of_every_pair(op):
    failures = []
    for a, b in itertools.product(ALL, ALL):
        # Signed and unsigned integers under "/" are refused too: spec 1.3, rule 3.
        result = "int1" if op in ("<", "==") else result_of(op, a, b)
        if op == "/" and a not in FLOATS and b not in FLOATS and is_signed(a) != is_signed(b):
            result = None
        try:
            compile_pair(op, a, b, getattr(tl, result or "float32"))
            outcome = result if result else "compiled"
        except triton.compiler.CompileTimeAssertionFailure:
            outcome = "another type"
        except triton.CompilationError:
            outcome = None
        if outcome != result:
            failures.append(f"{a} {op} {b}: expected {result}, got {outcome}")
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_weak_numbers(dtype):
    """A Python number does not widen a tensor of at least its kind."""
    result = dtype if dtype in FLOATS else "float32"
    module = module_from("""
        @triton.jit
        def kernel(a_ptr, SAME: tl.constexpr, REAL: tl.constexpr):
            a = tl.load(a_ptr)
            tl.static_assert((a + 1).dtype == SAME)
            tl.static_assert((1 + a).dtype == SAME)
            tl.static_assert((a * 2).dtype == SAME)
            tl.static_assert((a * 2.5).dtype == REAL)
    """)
    x = np.zeros(1, NUMPY[dtype])
    module.kernel[(1,)](x, SAME=getattr(tl, dtype), REAL=getattr(tl, result))


def test_arguments_are_not_weak():
    module = module_from("""
        @triton.jit
        def kernel(a_ptr, alpha, beta, TYPE: tl.constexpr):
            a = tl.load(a_ptr)
            tl.static_assert((a * alpha).dtype == TYPE)
            tl.static_assert(beta.dtype == tl.int32)
    """)
    module.kernel[(1,)](np.zeros(1, np.float16), 2.5, 7, TYPE=tl.float32)
