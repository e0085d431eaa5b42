"""How errors reach users: chains, places, tracebacks, pickles; wrong grids, and text that is no program.

The messages themselves are in test_error_messages.py.
"""

import pickle
import traceback

import numpy as np
import pytest

import despina as triton
import despina.language as tl
from despina.compiler.errors import CompileTimeAssertionFailure, UnsupportedLanguageConstruct

from helpers import module_from

pytestmark = pytest.mark.cpu_only("messages of the front end")

X = np.zeros(64, np.float32)


def launch(statement, before):
    """Launches a kernel of this statement."""
    module = module_from(f"{before}\n@triton.jit\ndef kernel(x_ptr):\n    {statement}\n")
    module.kernel[(1,)](X)


def test_globals_can_be_allowed(monkeypatch):
    monkeypatch.setenv("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "1")
    launch("tl.static_assert(LIMIT == 7)", before="LIMIT = 7")


def test_plain_functions_are_refused_as_they_are():
    with pytest.raises(RuntimeError, match="Unsupported function referenced: <function helper"):
        launch("x = helper(1)", before="def helper(x):\n    return x")


@triton.jit
def inner_kernel(x):
    return x + tl.undefined_function(x)


@triton.jit
def outer_kernel(x_ptr):
    x = tl.load(x_ptr)
    tl.store(x_ptr, inner_kernel(x))


def test_place_and_notes():
    with pytest.raises(triton.CompilationError) as caught:
        outer_kernel[(1,)](X)
    error = caught.value
    lines = open(__file__, encoding="utf-8").read().split("\n")
    assert error.file == __file__
    assert lines[error.line - 1][error.column - 1 :].startswith("inner_kernel(x)")
    assert str(error).endswith("inner_kernel(x))\n" + " " * (error.column - 1) + "^")
    inner = error.__cause__
    assert lines[inner.line - 1][inner.column - 1 :].startswith("tl.undefined_function")
    assert "has no attribute 'undefined_function'" in str(inner)
    assert error.notes == inner.notes == [("in the call of 'inner_kernel'", __file__, error.line, error.column)]
    assert error.rendered == inner.rendered
    assert "undefined_function" in error.rendered and "inner_kernel(x)" in error.rendered


def test_errors_in_called_functions_are_chained():
    module = module_from("""
        @triton.jit
        def innermost(x):
            return x + tl.arange(0, 3)

        @triton.jit
        def middle(x):
            return innermost(x)

        @triton.jit
        def kernel(x_ptr):
            middle(x_ptr)
    """)
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)](X)
    error = pickle.loads(pickle.dumps(caught.value))
    for outer in (caught.value, error):
        middle, inner = outer.__cause__, outer.__cause__.__cause__
        assert str(outer) == "at 2:4:\ndef kernel(x_ptr):\n    middle(x_ptr)\n    ^"
        assert str(middle) == "at 2:11:\ndef middle(x):\n    return innermost(x)\n           ^"
        assert str(inner).startswith("at 2:15:\n")
        assert str(inner).endswith("\narange's range must be a power of 2")
        assert isinstance(inner.__cause__, ValueError) and str(inner.__cause__) in str(inner)


def test_assertion_in_a_called_function():
    module = module_from("""
        @triton.jit
        def callee(N: tl.constexpr):
            tl.static_assert(N > 5, "N is too small")

        @triton.jit
        def kernel(N: tl.constexpr):
            callee(N)
    """)
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)](3)
    assert type(caught.value) is triton.CompilationError
    assert isinstance(caught.value.__cause__, CompileTimeAssertionFailure)
    assert str(caught.value.__cause__).endswith("N is too small")


def test_traceback_ends_on_the_kernel_line():
    with pytest.raises(triton.CompilationError) as caught:
        outer_kernel[(1,)](X)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno) == (__file__, caught.value.line)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert not any("despina/runtime" in frame.filename for frame in frames)


@triton.jit
def two_lines(x_ptr):
    x = tl.load(x_ptr)
    y = x + missing_name  # noqa: F821
    tl.store(x_ptr, y)


def test_form_of_the_text():
    with pytest.raises(triton.CompilationError) as caught:
        two_lines[(1,)](X)
    lines = str(caught.value).split("\n")
    assert lines[0] == "at 3:12:"
    assert lines[1] == "def two_lines(x_ptr):"
    assert lines[3].startswith("    y = x + missing_name")
    assert lines[4] == " " * 12 + "^"
    assert lines[5] == "NameError('missing_name is not defined')"


def test_errors_can_be_pickled():
    with pytest.raises(triton.CompilationError) as caught:
        two_lines[(1,)](X)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is triton.CompilationError
    assert (str(again), again.line, again.file) == (str(caught.value), caught.value.line, caught.value.file)


def test_an_error_is_not_remembered():
    """After a failure the kernel can be launched with other arguments."""
    module = module_from("""
        @triton.jit
        def kernel(x_ptr, GOOD: tl.constexpr):
            tl.static_assert(GOOD)
            tl.store(x_ptr, 1.0)
    """)
    x = np.zeros(1, np.float32)
    with pytest.raises(CompileTimeAssertionFailure):
        module.kernel[(1,)](x, GOOD=False)
    module.kernel[(1,)](x, GOOD=True)
    assert x[0] == 1.0


# Launches and arguments.

NOTHING = module_from("""
    @triton.jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr = 16):
        pass
""").kernel


@pytest.mark.parametrize("dtype", ["complex64", ">f4", "datetime64[s]", "object"])
def test_arrays_that_no_kernel_can_read(dtype):
    with pytest.raises(TypeError, match="failed to specialize argument of type: numpy.ndarray"):
        NOTHING[(1,)](X.astype(dtype), 1)


@pytest.mark.parametrize(
    "grid, kind, text",
    [
        ((-1,), ValueError, "grid extent 0 is -1; it must be between 0 and 2147483647"),
        ((1, 2**31), ValueError, "grid extent 1 is 2147483648"),
        ((1 << 16, 1 << 16), ValueError, "is over 2147483647 programs"),
        ((1, 1, 1, 1), ValueError, "one to three extents"),
        ((), ValueError, "one to three extents"),
        (7, TypeError, "must be a tuple"),
        ((1.5,), TypeError, "float"),
        (lambda meta: None, TypeError, "must be a tuple"),
    ],
)
def test_wrong_grids(grid, kind, text):
    with pytest.raises(kind) as caught:
        NOTHING[grid](X, 1)
    assert text in str(caught.value)


@pytest.mark.compiled_only("looks at compiled kernels")
@pytest.mark.parametrize("grid", [(0,), (3, 0), [1, 1, 0], lambda meta: (0,)])
def test_grids_of_nothing(grid):
    assert NOTHING[grid](X, 1) is not None


# Text that Python itself would refuse reaches the compiler through `_unsafe_update_src`.


def compile_text(body):
    module = module_from("""
        @triton.jit
        def kernel(x_ptr):
            pass
    """)
    module.kernel._unsafe_update_src("def kernel(x_ptr):\n" + body)
    module.kernel[(1,)](X)


@pytest.mark.parametrize(
    "body",
    [
        "    x = " + "(" * 10_000 + "1" + ")" * 10_000,
        "    x = " + "-" * 10_000 + "1",
        "    x = " + "not " * 10_000 + "1",
        "".join(" " * (4 + i) + "if 1:\n" for i in range(10_000)) + " " * 10_100 + "pass",
        "    x = " + " + ".join(["1"] * 1_000_000),
        "    x = (1 +",
        "    x = 'unterminated",
        "    x = 1 +\n",
        "",
        "  \n",
        "    x = \x00",
        "    x = 5 5",
        "    x = $",
        "      x = 1\n    y = 2",
    ],
    ids=lambda body: f"{len(body)} characters: {body[:16]!r}",
)
def test_text_that_is_no_program(body):
    with pytest.raises(triton.CompilationError) as caught:
        compile_text(body + "\n" if body else body)
    assert caught.value.line and len(caught.value.rendered) < 5_000
    compile_text("    pass\n")


def test_unsupported_construct_is_a_compilation_error():
    assert issubclass(UnsupportedLanguageConstruct, triton.CompilationError)
    assert issubclass(triton.CompilationError, triton.TritonError)
