"""Kernels that are large, deep or odd: a clear result, or a clear error, and never a crash or a hang."""

import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import despina as triton
import despina.language as tl
from despina.backends.compiler import GPUTarget
from despina.compiler.compiler import ASTSource

from helpers import module_from

pytestmark = pytest.mark.cpu_only("limits of the front end, and GPUs to compile for")

UNSUPPORTED = "UnsupportedLanguageConstruct"


def run(text, *args, **kwargs):
    """Launches `kernel` of a module's text with one program."""
    module_from(text).kernel[(1,)](*args, **kwargs)


def error_of(text, *args):
    """The innermost error, and what `rendered` shows of it."""
    with pytest.raises(triton.CompilationError) as caught:
        run(text, *args)
    error = caught.value
    while isinstance(error.__cause__, triton.CompilationError):
        error = error.__cause__
    return error


def output():
    return np.full(1, -1, np.int32)


# Size.


def long_kernel(lines, last):
    body = "".join(f"    y{i % 7} = x + {i}\n" for i in range(lines))
    return f"@triton.jit\ndef kernel(x_ptr):\n    x = tl.load(x_ptr)\n{body}    {last}\n"


def test_kernel_of_6000_lines():
    x = np.full(1, 5, np.int32)
    run(long_kernel(6000, f"tl.store(x_ptr, y{5999 % 7})"), x)
    assert x[0] == 5 + 5999


def test_error_behind_6000_lines():
    error = error_of(long_kernel(6000, "tl.store(x_ptr, nowhere)"), output())
    assert error.error_message == "nowhere is not defined"
    assert str(error).startswith("at 6003:20:\n") and str(error).count("\n") == 14
    assert len(error.rendered) < 400


def test_chain_of_6000_dependent_statements():
    body = "    x = x * 3 + 1\n" * 6000
    x = np.full(1, 5, np.int32)
    run(f"@triton.jit\ndef kernel(x_ptr):\n    x = tl.load(x_ptr)\n{body}    tl.store(x_ptr, x)\n", x)
    expected = 5
    for _ in range(6000):
        expected = (expected * 3 + 1) % 2**32
    assert x.view(np.uint32)[0] == expected


def many_arguments(count, value="{}"):
    names = [f"a{i}" for i in range(count)]
    body = "".join(f"    x += {value.format(name)}\n" for name in names)
    return f"@triton.jit\ndef kernel(out_ptr, {', '.join(names)}):\n    x = 0\n{body}    tl.store(out_ptr, x)\n"


def test_1000_numbers_as_arguments(rng):
    numbers = rng.integers(-1000, 1000, 1000)
    out = output()
    run(many_arguments(1000), out, *map(int, numbers))
    assert out[0] == numbers.sum()


def test_1000_arrays_as_arguments(rng):
    arrays = [rng.integers(-1000, 1000, 1, dtype=np.int32) for _ in range(1000)]
    out = output()
    run(many_arguments(1000, "tl.load({})"), out, *arrays)
    assert out[0] == np.sum(arrays)


def compile_for_gpu(count, kind, arch, stage="cubin"):
    kernel = module_from(many_arguments(count)).kernel
    signature = {name: kind for name in kernel.arg_names} | {"out_ptr": "*i64"}
    return triton.compile(ASTSource(kernel, signature), target=GPUTarget("cuda", arch, 32)).asm[stage]


@pytest.mark.parametrize("arch", [75, 80, 90])
@pytest.mark.parametrize("kind", ["i32", "i64"])
def test_1000_arguments_of_a_gpu(arch, kind):
    assert compile_for_gpu(1000, kind, arch)[:4] == b"\x7fELF"


def test_more_arguments_than_a_gpu_takes():
    with pytest.raises(triton.CompilationError) as caught:
        compile_for_gpu(4100, "i64", 90)
    expected = r"the arguments of the kernel take 328\d\d bytes, but a launch can pass 32764 at most: pass fewer"
    assert re.search(expected, str(caught.value))


@pytest.mark.parametrize("size", [1000, 65_000])
def test_large_tuples(size):
    numbers = ", ".join(map(str, range(size)))
    out = output()
    run(f"@triton.jit\ndef kernel(out_ptr):\n    t: tl.constexpr = ({numbers})\n    tl.store(out_ptr, t[-1])\n", out)
    assert out[0] == size - 1


def test_tuples_that_are_too_large():
    numbers = ", ".join(["1"] * 70_000)
    error = error_of(f"@triton.jit\ndef kernel(out_ptr):\n    t = ({numbers})\n", output())
    assert error.error_message == "the tuple is too large (more than 65536 values)"


def test_large_tuple_argument(rng):
    out, numbers = output(), tuple(map(int, rng.integers(2, 1000, 800)))
    text = """
        @triton.jit
        def kernel(out_ptr, numbers):
            x = 0
            for i in tl.static_range(len(numbers)):
                x += numbers[i]
            tl.store(out_ptr, x)
    """
    run(text, out, numbers)
    assert out[0] == sum(numbers)


HUGE = """
    @triton.jit
    def kernel(out_ptr, N: tl.constexpr):
        tl.store(out_ptr, N % 1000)
"""


def test_huge_constants():
    out = output()
    run(HUGE, out, 10**4000 + 123)
    assert out[0] == 123
    error = error_of(HUGE.replace("N % 1000", "N"), out, 10**4000)
    assert "Nonrepresentable integer 1000" in str(error)


def test_huge_string_constants():
    out = output()
    run(HUGE.replace("N % 1000", "len(N)"), out, "x" * 1_000_000)
    assert out[0] == 1_000_000


# Depth.


def test_recursion_names_the_function():
    error = error_of(
        """
        @triton.jit
        def again(x):
            return again(x) + 1

        @triton.jit
        def kernel(out_ptr):
            tl.store(out_ptr, again(tl.load(out_ptr)))
        """,
        output(),
    )
    assert type(error).__name__ == UNSUPPORTED
    assert str(error).endswith("`again` calls itself with the same argument types and constants (again -> again)")
    assert "help: a jit function may call itself only where a compile-time `if` ends the recursion" in error.rendered


def test_mutual_recursion_names_the_cycle():
    error = error_of(
        """
        @triton.jit
        def even(x):
            return odd(x - 1)

        @triton.jit
        def odd(x):
            return third(x - 1)

        @triton.jit
        def third(x):
            return even(x - 1)

        @triton.jit
        def kernel(out_ptr):
            tl.store(out_ptr, even(tl.load(out_ptr)))
        """,
        output(),
    )
    assert str(error).endswith(
        "`even` calls itself with the same argument types and constants (even -> odd -> third -> even)"
    )


def test_recursion_with_ever_new_constants():
    error = error_of(
        """
        @triton.jit
        def up(N: tl.constexpr):
            return down(N + 1)

        @triton.jit
        def down(N: tl.constexpr):
            return up(N + 1)

        @triton.jit
        def kernel(out_ptr):
            tl.store(out_ptr, up(0))
        """,
        output(),
    )
    assert str(error).endswith("maximum call depth (128) exceeded in call of `up` (up -> down -> up)")
    assert len(error.rendered) < 20_000


def test_kernel_that_calls_itself():
    error = error_of("@triton.jit\ndef kernel(out_ptr):\n    kernel(out_ptr)\n", output())
    assert "(kernel -> kernel)" in str(error)


def test_recursion_in_a_combine_function():
    error = error_of(
        """
        @triton.jit
        def add(a, b):
            return add(a, b)

        @triton.jit
        def kernel(out_ptr):
            tl.store(out_ptr, tl.reduce(tl.arange(0, 16), 0, add))
        """,
        output(),
    )
    assert str(error).endswith("exceeded in call of `add` (add -> add)")


def test_recursion_that_ends_at_compile_time():
    out = output()
    run(
        """
        @triton.jit
        def factorial(N: tl.constexpr):
            if N <= 1:
                return 1
            else:
                return N * factorial(N - 1)

        @triton.jit
        def kernel(out_ptr):
            tl.store(out_ptr, factorial(10))
        """,
        out,
    )
    assert out[0] == 3628800


def test_100_calls_deep():
    functions = "".join(f"@triton.jit\ndef f{i}(x):\n    return f{i + 1}(x) + {i}\n\n\n" for i in range(100))
    last = "@triton.jit\ndef f100(x):\n    return x\n\n\n"
    out = np.full(1, 3, np.int32)
    run(f"{functions}{last}@triton.jit\ndef kernel(out_ptr):\n    tl.store(out_ptr, f0(tl.load(out_ptr)))\n", out)
    assert out[0] == 3 + sum(range(100))


def test_error_100_calls_deep():
    functions = "".join(f"@triton.jit\ndef f{i}(x):\n    return f{i + 1}(x)\n\n\n" for i in range(100))
    last = "@triton.jit\ndef f100(x):\n    return x.nothing\n\n\n"
    error = error_of(
        f"{functions}{last}@triton.jit\ndef kernel(out_ptr):\n    tl.store(out_ptr, f0(tl.load(out_ptr)))\n", output()
    )
    assert error.error_message == "'tensor' object has no attribute 'nothing'"
    assert len(error.notes) == 101


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 90 + "x" + ")" * 90,
        "x" + " + (x" * 90 + ")" * 90,
        "x" + " + 1" * 900,
        "-" * 900 + "x",
        "x" + ".to(tl.int32)" * 450,
        " if x > 0 else ".join(["x"] * 60),
        "tl.abs(" * 90 + "x" + ")" * 90,
        "(" * 90 + "x" + ",)" * 90 + "[0]" * 90,
    ],
    ids=lambda expression: f"{len(expression)} characters {expression[:12]}",
)
def test_deep_expressions(expression):
    out = np.full(1, 3, np.int32)
    run(f"@triton.jit\ndef kernel(out_ptr):\n    x = tl.load(out_ptr)\n    tl.store(out_ptr, {expression})\n", out)
    scope = {"x": 3}
    if "tl." not in expression:
        assert out[0] == eval(expression, scope)
    else:
        assert out[0] == 3


@pytest.mark.parametrize("depth", [18, 95])
@pytest.mark.parametrize("header", ["if x > {}:", "for j{} in range(1):", "if {} < 100:"])
def test_deep_blocks(header, depth):
    if depth > 20 and header.startswith("for"):
        depth = 20  # as many as Python takes
    lines = [" " * (i + 1) + header.format(i) for i in range(depth)]
    body = "\n".join(" " + line for line in lines) + "\n" + " " * (depth + 2) + "x += 1000"
    out = np.full(1, 500, np.int32)
    run(f"@triton.jit\ndef kernel(out_ptr):\n  x = tl.load(out_ptr)\n{body}\n  tl.store(out_ptr, x)\n", out)
    assert out[0] == 1500


def test_long_elif_chain():
    arms = "".join(f"    elif x == {i}:\n        y = {i * i}\n" for i in range(1, 400))
    out = np.full(1, 321, np.int32)
    text = f"    if x == 0:\n        y = 7\n{arms}    else:\n        y = 8\n"
    run(f"@triton.jit\ndef kernel(out_ptr):\n    x = tl.load(out_ptr)\n{text}    tl.store(out_ptr, y)\n", out)
    assert out[0] == 321 * 321


# Text.


def test_unicode():
    out = np.full(1, 4, np.int32)
    run(
        """
        @triton.jit
        def kernel(größe_ptr, 係数: tl.constexpr):  # кириллица 🙂 \u202e right to left
            '''Dokumentation mit Ümlauten, 🙂 und \u200b Breite null.'''
            x = tl.load(größe_ptr)
            名前: tl.constexpr = "🙂é\u0301"
            tl.static_assert(len(名前) > 0, "größe")
            tl.store(größe_ptr, x * 係数)
        """,
        out,
        5,
    )
    assert out[0] == 20


def test_caret_behind_wide_characters():
    error = error_of("@triton.jit\ndef kernel(p):\n    s: tl.constexpr = ('漢字🙂', wo)\n", output())
    line, caret = error.rendered.split("\n")[1:3]
    assert line.endswith("('漢字🙂', wo)")
    # Each of the three takes two columns of a terminal.
    assert caret.index("^") == line.index("wo") + 3
    assert "NameError('wo is not defined')" in str(error)


@pytest.mark.parametrize("text", ["tab\there", "nul \\x00", "form \x0c feed", "\ufeff", "\u2028 line", "ends in \\\\"])
def test_odd_characters_in_strings(text):
    out = output()
    run(f"@triton.jit\ndef kernel(out_ptr):\n    s: tl.constexpr = '{text}'\n    tl.store(out_ptr, 7)\n", out)
    assert out[0] == 7


def test_line_ends_of_windows(tmp_path):
    text = "import despina as triton\nimport despina.language as tl\n@triton.jit\ndef kernel(p):\n    tl.store(p, 7)\n"
    (tmp_path / "windows.py").write_bytes(text.replace("\n", "\r\n").encode())
    (tmp_path / "bom.py").write_bytes(b"\xef\xbb\xbf" + text.encode())
    for name in ("windows", "bom"):
        out = output()
        scope = {"__name__": name}
        path = str(tmp_path / f"{name}.py")
        exec(compile((tmp_path / f"{name}.py").read_bytes(), path, "exec"), scope)
        scope["kernel"][(1,)](out)
        assert out[0] == 7


# Where the source is.


def test_source_that_is_not_there():
    for text in ("@triton.jit\ndef kernel(p):\n    pass\n", "kernel = triton.jit(lambda p: None)\n"):
        with pytest.raises(ValueError, match="@jit functions should be defined in a Python file"):
            exec(compile(text, "<nowhere>", "exec"), {"triton": triton})


@pytest.mark.parametrize("how", ["-c", "-"])
def test_source_in_an_interactive_python(how):
    program = "import despina as triton\n@triton.jit\ndef kernel(p):\n    pass\n"
    command = [sys.executable, "-c", program] if how == "-c" else [sys.executable, "-"]
    result = subprocess.run(command, input=program if how == "-" else "", capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.rstrip().endswith("ValueError: @jit functions should be defined in a Python file")


def test_source_in_linecache():
    """Notebooks put the text of a cell there."""
    import linecache

    text = "@triton.jit\ndef kernel(p):\n    tl.store(p, 7)\n"
    name = "<cell 7>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope = {"triton": triton, "tl": tl}
    exec(compile(text, name, "exec"), scope)
    out = output()
    scope["kernel"][(1,)](out)
    assert out[0] == 7


def test_lambdas_are_no_kernels():
    with pytest.raises(ValueError, match="@jit functions should be defined in a Python file with `def`: a lambda"):
        triton.jit(lambda p: tl.store(p, 7))


def test_functions_with_decorators():
    out = output()
    run(
        """
        import functools

        def tagged(tag):
            def decorate(fn):
                fn.tag = tag
                return fn
            return decorate

        @triton.jit
        @tagged("inner")
        @functools.lru_cache(maxsize=None)
        def cached(x):
            return x + 1

        @tagged("outer")
        @triton.jit(
            noinline=False,
        )
        # A comment between decorator and function.
        @tagged(
            tag="several lines",
        )
        def kernel(out_ptr):
            tl.store(out_ptr, 7)
        """,
        out,
    )
    assert out[0] == 7


def test_kernels_in_classes_and_functions():
    module = module_from("""
        class Outer:
            class Inner:
                @staticmethod
                @triton.jit
                def kernel(out_ptr):
                    tl.store(out_ptr, Helpers.plus(tl.load(out_ptr), 2))

        class Helpers:
            @staticmethod
            @triton.jit
            def plus(a, b):
                return a + b

        def factory(N):
            n = tl.constexpr(N)

            @triton.jit
            def kernel(out_ptr):
                tl.store(out_ptr, tl.load(out_ptr) * n)

            return kernel
    """)
    out = np.full(1, 3, np.int32)
    module.factory(5)[(1,)](out)
    module.factory(7)[(1,)](out)
    assert out[0] == 3 * 5 * 7
    with pytest.raises(triton.CompilationError, match="Cannot access global variable Helpers"):
        module.Outer.Inner.kernel[(1,)](out)


def test_error_in_an_indented_kernel():
    module = module_from("""
        class Outer:
            @triton.jit
            def kernel(out_ptr):
                tl.store(out_ptr,
                         nowhere)
    """)
    with pytest.raises(triton.CompilationError) as caught:
        module.Outer.kernel[(1,)](output())
    lines = textwrap.dedent("""
        def kernel(out_ptr):
            tl.store(out_ptr,
                     nowhere)
                     ^
        NameError('nowhere is not defined')""")
    assert str(caught.value) == "at 3:13:" + lines
