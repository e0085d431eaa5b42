"""What users see when a kernel, a launch or an argument is wrong: class, text, place."""

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
I = np.zeros(64, np.int32)  # noqa: E741

VALUE_LIMIT = 7  # a global that kernels must not read


def launch(body, *args, parameters="x_ptr, i_ptr", before="", **kwargs):
    """Launches a kernel with this body."""
    lines = "\n".join("    " + line for line in body.strip("\n").split("\n"))
    module = module_from(f"{before}\n@triton.jit\ndef kernel({parameters}):\n{lines}\n")
    module.kernel[(1,)](*(args or (X, I)), **kwargs)


BLOCK = "o = tl.arange(0, 16)\n"
# id: (body, exception class, class of the cause or None, text)
CASES = {
    "unknown name": ("x = foo", "CompilationError", None, "NameError('foo is not defined')"),
    "unknown name of the language": ("x = tl.foo(1)", "CompilationError", None, "foo"),
    "global that is no constexpr": (
        "x = LIMIT", "CompilationError", None, "Cannot access global variable LIMIT from within @jit'ed function.",
    ),
    "shapes that do not broadcast": (
        "x = tl.arange(0, 16) + tl.arange(0, 32)", "CompilationError", None,
        "Cannot make_shape_compatible: incompatible dimensions at index 0: 16 and 32",
    ),
    "arange of a size that is no power of two": (
        "x = tl.arange(0, 17)", "CompilationError", "ValueError", "arange's range must be a power of 2",
    ),
    "arange backwards": (
        "x = tl.arange(8, 0)", "CompilationError", "ValueError",
        "arange's end argument must be greater than the start argument",
    ),
    "block extent that is no power of two": (
        "x = tl.zeros((3, 4), tl.float32)", "CompilationError", "ValueError", "Shape element 0 must be a power of 2",
    ),
    "block over 2^20 elements": (
        "x = tl.zeros((2048, 1024), tl.float32)", "CompilationError", "ValueError",
        "numel (2097152) exceeds triton maximum tensor numel (1048576)",
    ),
    "other without mask": (
        BLOCK + "x = tl.load(x_ptr + o, other=0)", "CompilationError", "ValueError",
        "`other` cannot be provided without `mask`",
    ),
    "load of no pointer": ("x = tl.load(5)", "CompilationError", "ValueError", "Unsupported ptr type"),
    "block mask of a scalar load": (
        BLOCK + "x = tl.load(x_ptr, mask=o < 3)", "CompilationError", "ValueError",
        "Mask argument cannot be block type if pointer argument is not a block",
    ),
    "block stored to a scalar": (
        BLOCK + "tl.store(x_ptr, o)", "CompilationError", "ValueError",
        "Value argument cannot be block type if pointer argument is not a block",
    ),
    "mask that is no boolean": (
        BLOCK + "tl.store(x_ptr + o, 1.0, mask=o)", "CompilationError", "ValueError",
        "Mask must have boolean scalar type",
    ),
    "unknown cache modifier": (
        BLOCK + "x = tl.load(x_ptr + o, cache_modifier='.zz')", "CompilationError", "ValueError",
        "Cache modifier .zz not supported",
    ),
    "unknown eviction policy": (
        BLOCK + "x = tl.load(x_ptr + o, eviction_policy='zz')", "CompilationError", "ValueError",
        "Eviction policy zz not supported",
    ),
    "sum of pointers": ("x = x_ptr + x_ptr", "CompilationError", None, "cannot add pointers together"),
    "pointer plus float": ("x = x_ptr + 1.5", "CompilationError", None, "invalid operands of type"),
    "exp of fp16": (
        "x = tl.exp(tl.load(x_ptr).to(tl.float16))", "CompilationError", "ValueError",
        "Expected dtype ['fp32', 'fp64'] but got fp16",
    ),
    "signedness of a division": (
        "x = tl.load(i_ptr) // tl.load(i_ptr).to(tl.uint32)", "CompilationError", None,
        "because they have different signedness;this is unlikely to result in a useful answer.",
    ),
    "invert of a float": ("x = ~tl.load(x_ptr)", "CompilationError", None, "wrong type argument to unary invert"),
    "negative number against unsigned": (
        "x = tl.load(i_ptr).to(tl.uint32) + (-1)", "CompilationError", None,
        "Cannot perform a binary operation between an unsigned tensor and a negative scalar.",
    ),
    "number out of range": (
        "x = tl.load(i_ptr).to(tl.int8) + 1000", "CompilationError", None, "Scalar 1000 is out of range for type int8",
    ),
    "axis of program_id": (
        "x = tl.program_id(3)", "CompilationError", "ValueError", "program_id axis must be 0, 1, or 2 but got 3",
    ),
    "reshape to another size": (
        BLOCK + "x = tl.reshape(o, (8,))", "CompilationError", "ValueError",
        "reshape() cannot change total number of elements in tensor",
    ),
    "expand_dims out of range": (
        BLOCK + "x = tl.expand_dims(o, 5)", "CompilationError", "ValueError", "invalid axis 5. Expected -2 <= axis < 2",
    ),
    "bitcast to another size": (
        "x = tl.load(x_ptr).to(tl.int8, bitcast=True)", "CompilationError", "ValueError",
        "Cannot bitcast data-type of size 32 to data-type of size 8",
    ),
    "index of a tensor": (BLOCK + "x = o[3]", "CompilationError", None, "unsupported tensor index"),
    "reduction dimensions of a dot": (
        "a = tl.zeros((16, 32), tl.float32)\nx = tl.dot(a, a)", "CompilationError", "AssertionError",
        "reduction dimension",
    ),
    "atomics of int8": (
        "x = tl.atomic_add(i_ptr.to(tl.pointer_type(tl.int8)), 1)", "CompilationError", "ValueError",
        "atomic_add does not support int8",
    ),
    "static_assert": (
        "tl.static_assert(1 == 2, 'one is not two')", "CompileTimeAssertionFailure", None, "one is not two",
    ),
    "static_assert of a runtime value": (
        "tl.static_assert(tl.load(i_ptr) == 2)", "CompilationError", "NotImplementedError",
        "Assertion condition could not be determined at compile-time.",
    ),
    "changed type of a loop-carried value": (
        "x = 0\nfor i in range(10):\n    x = x + 1.5", "CompilationError", None,
        "Loop-carried variable x has initial type int32 but is re-assigned to fp32 in loop! "
        "Please make sure that the type stays consistent.",
    ),
    "branches of different types": (
        "if tl.load(i_ptr) > 0:\n    x = 1\nelse:\n    x = 2.5", "CompilationError", None,
        "Mismatched type for x between then block (int32) and else block (fp32)",
    ),
    "ternary of different types": (
        "x = 1 if tl.load(i_ptr) > 0 else 2.5", "UnsupportedLanguageConstruct", None,
        "Ternary expression with dynamic condition has inconsistent types int32 and fp32",
    ),
    "truth of a block": (
        BLOCK + "if o > 3:\n    pass", "UnsupportedLanguageConstruct", None,
        "Boolean value of Tensor with more than one value is ambiguous",
    ),
    "break": (
        "for i in range(3):\n    break", "UnsupportedLanguageConstruct", None, "unsupported AST node type: Break",
    ),
    "lambda": ("f = lambda x: x", "UnsupportedLanguageConstruct", None, "unsupported AST node type: Lambda"),
    "import": ("import os", "UnsupportedLanguageConstruct", None, "unsupported AST node type: Import"),
    "try": (
        "try:\n    pass\nexcept E:\n    pass", "UnsupportedLanguageConstruct", None, "unsupported AST node type: Try",
    ),
    "dict": ("x = {1: 2}", "UnsupportedLanguageConstruct", None, "unsupported AST node type: Dict"),
    "nested function": (
        "def f():\n    pass", "UnsupportedLanguageConstruct", None,
        "nested function definitions are not allowed inside a @triton.jit kernel.",
    ),
    "chained comparison": (
        "x = 1 < tl.load(i_ptr) < 3", "UnsupportedLanguageConstruct", None,
        "simultaneous multiple comparison is not supported",
    ),
    "chained assignment": (
        "a = b = 1", "CompilationError", None, "Simultaneous multiple assignment is not supported.",
    ),
    "assignment to an attribute": (
        "x_ptr.y = 1", "CompilationError", None, "Attribute assignment is not supported in triton",
    ),
    "assignment to an item": ("x_ptr[0] = 1", "CompilationError", None, "__setitem__ is not supported in triton"),
    "string into a variable": ("x = 'text'", "CompilationError", None, "cannot convert"),
    "loop over a tuple": (
        "for i in (1, 2):\n    pass", "CompilationError", None,
        "Only `range` and `static_range` iterators are currently supported",
    ),
    "loop over floats": (
        "for i in range(0.5):\n    pass", "CompilationError", None, "For loop bounds and step must all be ints",
    ),
    "missing argument of a function": ("x = tl.load()", "CompilationError", "TypeError", "pointer"),
    "unknown keyword of a function": ("x = tl.load(x_ptr, maks=None)", "CompilationError", "TypeError", "maks"),
    "dropped result of advance": (
        "p = tl.make_block_ptr(x_ptr, (64,), (1,), (0,), (16,), (0,))\ntl.advance(p, (16,))", "CompilationError", None,
        "The result of tl.advance is not being used.",
    ),
    "what is not supported yet": (
        "x = tl.rand(1, tl.arange(0, 16))", "CompilationError", "NotImplementedError", "not supported yet",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_text_and_class(name):
    body, kind, cause, text = CASES[name]
    with pytest.raises(triton.CompilationError) as caught:
        launch(body, before="LIMIT = 7")
    error = caught.value
    assert type(error).__name__ == kind
    assert text in str(error)
    assert str(error).startswith("at ")
    assert (type(error.__cause__).__name__ if error.__cause__ else None) == cause


def test_store_through_const_pointer():
    body = "tl.store(x_ptr, 1.0)"
    with pytest.raises(triton.CompilationError, match="Cannot store to a constant pointer") as caught:
        launch(body, parameters="x_ptr: tl.const, i_ptr")
    assert isinstance(caught.value.__cause__, ValueError)


def test_global_message_is_complete():
    with pytest.raises(triton.CompilationError) as caught:
        launch("x = LIMIT", before="LIMIT = 7")
    assert (
        "Cannot access global variable LIMIT from within @jit'ed function. Triton kernels can only access global "
        "variables that are instanstiated as constexpr (`x = triton.language.constexpr(42)`). Note that this is "
        "different from annotating a variable as constexpr (`x: triton.language.constexpr = 42`), which is not "
        "supported.  Alternatively, set the envvar TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1, but we do not promise to "
        "support this forever."
    ) in str(caught.value)


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


@pytest.mark.parametrize(
    "args, kwargs, kind, text",
    [
        ((X,), {}, TypeError, "missing 1 required argument: 'n'"),
        ((), {}, TypeError, "missing 2 required arguments: 'x_ptr', 'n'"),
        ((X, 1, 2, 3), {}, TypeError, "takes 3 positional arguments but 4 were given"),
        ((X, 1), {"n": 2}, TypeError, "multiple values for argument 'n'"),
        ((X, 1), {"nope": 2}, KeyError, "Keyword argument nope was specified but unrecognised"),
        ((X, 1), {"stream": 0}, AssertionError, "stream option is deprecated"),
        ((object(), 1), {}, TypeError, "failed to specialize argument of type: object"),
        (("text", 1), {}, TypeError, "failed to specialize argument of type: str"),
        (([1], 1), {}, TypeError, "failed to specialize argument of type: list"),
        ((X.astype(np.complex64), 1), {}, TypeError, "failed to specialize argument of type: numpy.ndarray"),
        ((X.astype(">f4"), 1), {}, TypeError, "failed to specialize argument of type: numpy.ndarray"),
        ((X, 2**70), {}, OverflowError, "integer to be specialized too large to represent"),
        ((X, 2), {"num_warps": 3}, ValueError, "num_warps must be a power of 2"),
    ],
)
def test_wrong_arguments(args, kwargs, kind, text):
    with pytest.raises(kind) as caught:
        NOTHING[(1,)](*args, **kwargs)
    assert text in str(caught.value)


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


@pytest.mark.parametrize("grid", [(0,), (3, 0), [1, 1, 0], lambda meta: (0,)])
def test_grids_of_nothing(grid):
    assert NOTHING[grid](X, 1) is not None


def test_constexpr_in_do_not_specialize():
    with pytest.raises(triton.CompilationError, match="N marked as constexpr and listed in do_not_specialize"):

        @triton.jit(do_not_specialize=["N"])
        def kernel(x_ptr, N: tl.constexpr):
            pass


def test_kernels_are_not_called_from_python():
    with pytest.raises(RuntimeError, match="Cannot call @triton.jit'd outside of the scope of a kernel"):
        NOTHING(X, 1)


def test_functions_of_the_language_are_not_called_from_python():
    for function in (tl.load, tl.arange, tl.sum, tl.program_id):
        with pytest.raises(ValueError, match="Did you forget to add @triton.jit"):
            function(0)


def test_source_must_be_in_a_file():
    namespace = {"triton": triton}
    with pytest.raises(ValueError, match="@jit functions should be defined in a Python file"):
        exec("@triton.jit\ndef kernel(x):\n    pass", namespace)


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
