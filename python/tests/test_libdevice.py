"""Functions of math libraries and inline assembly: binding, types, and what the CPU target answers.

Numbers of the former are in test_libdevice_numbers.py.
"""

import numpy as np
import pytest

import despina as triton
from helpers import HEADER, module_from


def kernel_of(expression, result="x"):
    return module_from(f"""\
@triton.jit
def kernel(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(o_ptr + at, {expression})
""").kernel


def run(expression, x, dtype=None):
    out = np.full(x.shape, 77, dtype=dtype or x.dtype)
    kernel_of(expression)[(1,)](x, out, x.size)
    return out


REFERENCES = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "floor": np.floor, "ceil": np.ceil, "abs": np.abs,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("module", ["extra.libdevice", "extra.cuda.libdevice"])
def test_functions_that_every_target_has(module, name, dtype, rng):
    x = rng.uniform(0.1, 20, 64).astype(dtype)
    wanted = REFERENCES[name](x.astype(np.float64))
    np.testing.assert_allclose(run(f"tl.{module}.{name}(x)", x), wanted, rtol=2e-6 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("name", ["fast_expf", "fast_logf", "fast_log2f", "fast_sinf", "fast_cosf"])
def test_fast_functions(name, rng):
    x = rng.uniform(0.1, 3, 64).astype(np.float32)
    wanted = REFERENCES[name[5:-1]](x.astype(np.float64))
    np.testing.assert_allclose(run(f"tl.extra.libdevice.{name}(x)", x), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_isnan(dtype):
    x = np.array([0, np.nan, np.inf, -np.nan, 1, -np.inf, 2, np.nan], dtype=dtype)
    np.testing.assert_array_equal(run("tl.extra.libdevice.isnan(x)", x, np.int32), np.isnan(x))


def refusal(expression, x):
    with pytest.raises(triton.CompilationError) as caught:
        run(expression, x)
    return str(caught.value)


@pytest.mark.parametrize("module", ["extra", "extra.cuda"])
def test_imported_by_name(module, rng):
    """As kernels in the wild write it."""
    header = f"{HEADER.rstrip()}\nfrom despina.language.{module} import libdevice\n\n\n"
    kernel = module_from(
        """
        @triton.jit
        def kernel(x_ptr, o_ptr, N: tl.constexpr):
            at = tl.arange(0, N)
            tl.store(o_ptr + at, libdevice.tanh(tl.load(x_ptr + at)))
        """,
        header,
    ).kernel
    x = rng.standard_normal(64).astype(np.float32)
    out = np.full(64, 77, np.float32)
    kernel[(1,)](x, out, 64)
    np.testing.assert_allclose(out, np.tanh(x.astype(np.float64)), rtol=1e-6)


def test_types_that_no_overload_takes():
    said = refusal("tl.extra.libdevice.tanh(x)", np.ones(16, np.float16))
    assert "input arg type does not match.Expect one of [(triton.language.float32,), (triton." in said
    assert "(triton.language.float64,)]" in said
    assert "got (triton.language.float16,)" in said


@pytest.mark.compiled_only("the interpreter has more")
@pytest.mark.cpu_only("the GPU has an assembler")
def test_the_cpu_has_no_inline_assembly():
    call = "tl.inline_asm_elementwise('mov.b32 $0, $1;', '=r,r', [x], dtype=tl.int32, is_pure=True, pack=1)"
    assert "inline assembly is not available on the CPU target" in refusal(call, np.ones(16, np.int32))


@pytest.mark.parametrize(
    "arguments, text",
    {
        "pack": ("'', '=r,r', [x], dtype=tl.int32, is_pure=True, pack=3", "pack must divide the number of elements"),
        "dtype": ("'', '=r,r', [x], dtype=(), is_pure=True, pack=1", "at least one output"),
        "text": ("x, '=r,r', [x], dtype=tl.int32, is_pure=True, pack=1", "asm must be a constexpr string"),
        "type": ("'', '=r,r', [x], dtype=3, is_pure=True, pack=1", "dtype must be a dtype"),
    }.values(),
)
def test_inline_assembly_checks(arguments, text):
    assert text in refusal(f"tl.inline_asm_elementwise({arguments})", np.ones(16, np.int32))
