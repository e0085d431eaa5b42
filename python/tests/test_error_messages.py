"""Every message of the language as users see it: text, class, cause, and the place that the caret points at.

The messages are data, in `messages/`. `str(error)` is the public form that users' tests match on; `error.rendered` is
the report with file, line, column and help.
"""

import re

import numpy as np
import pytest

import despina as triton

from despina.backends.compiler import GPUTarget
from despina.compiler.compiler import ASTSource

from helpers import module_from
from messages import Case, advice, cuda, functions, host, memory, newer, syntax, types

pytestmark = pytest.mark.cpu_only("messages of the front end")

CASES = types.CASES + functions.CASES + memory.CASES + newer.CASES + syntax.CASES

HEADER = "import despina as triton\nimport despina.language as tl\n\n\n"
PRELUDE = """\
    o = tl.arange(0, 16)
    x, i = tl.load(x_ptr + o), tl.load(i_ptr + o)
    f, n = tl.load(x_ptr), tl.load(i_ptr)
"""


def kernel_text(case):
    """The module, with the marks of the places."""
    prelude = PRELUDE if case.parameters == "x_ptr, i_ptr" else ""
    body = "".join(f"    {line}\n" for line in case.body.split("\n"))
    return f"{HEADER}{case.before}\n\n@triton.jit\ndef kernel({case.parameters}):\n{prelude}{body}"


def take_marks(text):
    """The text without its marks, and where they stood: (line, column), from 1 and 0."""
    marks = []
    while "$" in text:
        start = text[: text.index("$")]
        marks.append((start.count("\n") + 1, len(start) - start.rfind("\n") - 1))
        text = text.replace("$", "", 1)
    return text, marks


def chain(error):
    """The error and those in the functions that the kernel called, the innermost last."""
    errors = [error]
    while isinstance(errors[-1].__cause__, triton.CompilationError):
        errors.append(errors[-1].__cause__)
    return errors


def function_around(error, lines):
    """Line and indentation of the `def`; what is shown of a method is not indented as its class demands."""
    first = max(at for at, line in enumerate(lines[: error.line - 1], 1) if line.lstrip().startswith("def "))
    return first, lines[first - 1].index("def ")


def check_public_text(error, lines, message):
    """`at LINE:COL:` with LINE counted from the `def`, the source up to there, the caret, the message."""
    first, indent = function_around(error, lines)
    column = error.column - 1 - indent
    shown = [line[indent:] for line in lines[first - 1 : error.line]][-12:]
    expected = [f"at {error.line - first + 1}:{column}:", *shown, " " * column + "^"]
    assert str(error).split("\n") == expected + (message.split("\n") if message else [])


def check_rendered(error, lines):
    """FILE:LINE:COLUMN, the reason, the line and a caret under the token."""
    head, line, caret = error.rendered.split("\n")[:3]
    assert head.startswith(f"{error.file}:{error.line}:{error.column}: error: ")
    _, indent = function_around(error, lines)
    assert line == lines[error.line - 1][indent:]
    assert re.fullmatch(r" *\^~*", caret) and caret.index("^") == error.column - 1 - indent


def find_error(case, capability=0):
    """The error of the kernel on the CPU, or of its compilation for a GPU; the text; the places of the marks."""
    text, marks = take_marks(kernel_text(case))
    kernel = module_from(text, header="").kernel
    with pytest.raises(triton.CompilationError) as caught:
        if capability:
            source = ASTSource(kernel, {"x_ptr": "*fp32", "i_ptr": "*i32"})
            triton.compile(source, target=GPUTarget("cuda", capability, 32))
        else:
            kernel[(1,)](np.zeros(64, np.float32), np.zeros(64, np.int32))
    return caught.value, text.split("\n"), marks


def check(case, capability=0):
    error, lines, marks = find_error(case, capability)
    errors = chain(error)
    ours = [e for e in errors if e.file == error.file]  # others are in the library that is written in the language
    assert sorted((e.line, e.column - 1) for e in ours) == marks
    inner = errors[-1]
    for outer in ours:
        if outer is not inner:
            assert type(outer) is triton.CompilationError
            check_public_text(outer, lines, "")
    if inner in ours:
        check_public_text(inner, lines, case.message)
        check_rendered(inner, lines)
    assert str(inner).endswith("^\n" + case.message)
    assert type(inner).__name__ == case.kind
    assert type(inner.__cause__) is (case.cause or type(None))
    assert case.cause is None or str(inner.__cause__) == case.message


def short(message):
    return re.sub(r"[^\w .]+", "", message)[:60]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: short(case.message))
def test_of_a_kernel(case):
    check(case)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("body, text", advice.ADVICE, ids=lambda text: short(text))
def test_what_to_do(body, text):
    error, _, _ = find_error(Case("", body))
    assert f"\nhelp: {text}\n" in error.rendered


@pytest.mark.parametrize("case, capability", cuda.CASES, ids=lambda value: short(getattr(value, "message", str(value))))
def test_for_a_gpu(case, capability):
    check(case, capability)


@pytest.mark.parametrize("text, kind, capability, options", cuda.OPTIONS)
def test_of_options_for_a_gpu(text, kind, capability, options):
    source = ASTSource(host.kernels.nameless, {})
    with pytest.raises(kind) as caught:
        triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    assert str(caught.value) == text


@pytest.mark.parametrize("text, body", host.WARNINGS, ids=lambda text: short(text))
def test_of_a_warning(text, body):
    kernel = module_from(kernel_text(Case(text, body)), header="").kernel
    with pytest.warns(UserWarning) as caught:
        kernel[(1,)](np.zeros(64, np.float32), np.zeros(64, np.int32))
    (warning,) = caught
    assert str(warning.message) == text
    assert warning.filename == kernel.fn.__code__.co_filename
    first = kernel.starting_line_number + 1  # the line of the `def`
    assert warning.lineno == (first if body.startswith("return") else first + PRELUDE.count("\n") + 1)


@pytest.mark.parametrize("case", host.CASES, ids=lambda case: short(case.message))
def test_of_python_code(case):
    with pytest.raises(case.kind) as caught:
        case.call()
    assert str(caught.value) == case.message
    assert type(caught.value) is case.kind


def test_there_are_many():
    messages = [case.message for case in CASES + host.CASES] + [case.message for case, _ in cuda.CASES]
    messages += [text for text, *_ in cuda.OPTIONS + host.WARNINGS]
    assert len({*messages}) >= 160
