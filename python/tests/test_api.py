"""compile, the objects of the language, the package's names, stubs, and `python -m despina run`."""

import copy
import inspect
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import despina as triton
import despina.language as tl
from despina.backends.compiler import GPUTarget
from despina.compiler import ASTSource

from helpers import module_from
from public_names import PACKAGE, language_names

pytestmark = pytest.mark.cpu_only("the package, and compiling for the CPU")

CPU = GPUTarget("cpu", "", 1)
NOT_YET = {"FutureKernel", "AsyncCompileMode", "aggregate"}  # of the package's public names


@triton.jit
def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Adds."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x + x, mask=offsets < n)


SIGNATURE = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}


def test_compile_and_launch():
    source = ASTSource(add_kernel, SIGNATURE, {"BLOCK": 64}, {(0,): [["tt.divisibility", 16]]})
    kernel = triton.compile(source, target=CPU, options={"num_warps": 8})
    assert kernel.metadata.num_warps == 8 and kernel.name == kernel.metadata.name
    x, y = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
    kernel[(2, 1, 1)](x, y, 100, 64)
    assert (y == 2 * x).all()


def test_stages():
    kernel = triton.compile(ASTSource(add_kernel, SIGNATURE, {"BLOCK": 64}), target=CPU)
    assert "tt.load" in kernel.asm["ttir"] and kernel.asm["tt"] == kernel.asm["ttir"]
    assert "define" in kernel.asm["llir"] and kernel.asm["llvm"] == kernel.asm["llir"]
    assert ".text" in kernel.asm["asm"]
    assert kernel.asm["obj"][:4] == b"\x7fELF"
    assert {"ttir", "llir", "asm", "obj"} <= set(kernel.asm)
    with pytest.raises(KeyError, match="Unknown key: 'sass'"):
        kernel.asm["sass"]


def test_the_same_source_gives_the_same_code():
    first, second = (triton.compile(ASTSource(add_kernel, SIGNATURE, {"BLOCK": 64}), target=CPU) for _ in range(2))
    for stage in ("ttir", "llir", "asm", "obj"):
        assert first.asm[stage] == second.asm[stage]
    assert first.hash == second.hash


def test_stage_times():
    kernel = triton.compile(ASTSource(add_kernel, SIGNATURE, {"BLOCK": 32}), target=CPU)
    assert kernel.stage_times and all(seconds >= 0 for _, seconds in kernel.stage_times)


def test_kernels_know_the_names_they_use():
    """The conformance table comes from here."""
    kernel = module_from("""
        @triton.jit
        def kernel(x_ptr: tl.const, out_ptr, B: tl.constexpr):
            offsets = tl.arange(0, B)
            x = tl.math.abs(tl.load(x_ptr + offsets))
            tl.store(out_ptr + offsets, tl.where(x > 0, x, triton.cdiv(7, 2)).to(tl.float64))
            tl.store(out_ptr + offsets, tl.softmax(x.to(tl.float32)), mask=x.sum() > 0)
    """).kernel
    source = ASTSource(kernel, {"x_ptr": "*kfp16", "out_ptr": "*fp64", "B": "constexpr"}, {"B": 16})
    names = triton.compile(source, target=CPU)._kernel.names_used
    assert names == sorted(names) and len(names) == len({*names})
    types = {"language.float16", "language.float32", "language.float64", "language.int32", "language.int1"}
    functions = """
        cdiv language.abs:float16 language.arange:int32 language.const language.constexpr language.load:float16
        language.softmax:float32 language.store:float64 language.sum:float16 language.where:float16
        tensor.to:float32 tensor.to:float64
        """.split()
    assert {*names} >= types | {*functions}
    assert not {name for name in names if name.startswith(("language.exp", "language.max", "language.fdiv"))}
    assert "language.where:int1" not in names and "language.int64" not in names


def test_constants_by_path():
    source = ASTSource(add_kernel, {"x_ptr": "*fp64", "y_ptr": "*fp64", "n": "i64"}, {(3,): 16})
    assert "f64" in triton.compile(source, target=CPU).asm["ttir"]


@pytest.mark.parametrize(
    "signature, constants, text",
    [
        ({"x_ptr": "*fp32", "y_ptr": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 64}, "'n'"),
        ({**SIGNATURE, "zz": "i32"}, {"BLOCK": 64}, "'zz'"),
        ({**SIGNATURE, "n": "nonsense"}, {"BLOCK": 64}, "nonsense"),
    ],
)
def test_wrong_signatures(signature, constants, text):
    with pytest.raises(Exception, match=text):
        triton.compile(ASTSource(add_kernel, signature, constants), target=CPU)


def test_unknown_target():
    with pytest.raises(Exception, match="zz80"):
        triton.compile(ASTSource(add_kernel, SIGNATURE, {"BLOCK": 64}), target=GPUTarget("zz80", 1, 1))


def test_attributes_of_jit_functions():
    assert add_kernel.__name__ == "add_kernel" and add_kernel.__doc__ == "Adds."
    assert add_kernel.arg_names == ["x_ptr", "y_ptr", "n", "BLOCK"] and add_kernel.constexprs == [3]
    parameter = add_kernel.params[3]
    assert parameter.is_constexpr and parameter.num == 3 and not parameter.has_default
    assert add_kernel.src.startswith("def add_kernel(x_ptr")
    assert add_kernel.raw_src[0].startswith("@triton.jit")
    assert repr(add_kernel) == f"JITFunction({__name__}:add_kernel)"
    assert len(add_kernel.cache_key) == 64 and hash(add_kernel) == hash(add_kernel.cache_key)
    assert isinstance(add_kernel, triton.JITFunction) and isinstance(add_kernel, triton.KernelInterface)


def test_cache_key_covers_callees_and_constants():
    text = """
        C = tl.constexpr({constant})

        @triton.jit
        def helper(x):
            return x + {number}

        @triton.jit
        def kernel(x_ptr):
            tl.store(x_ptr, helper(C))
    """
    keys = [
        module_from(text.format(constant=c, number=n)).kernel.cache_key for c, n in [(1, 1), (1, 1), (2, 1), (1, 2)]
    ]
    assert keys[0] == keys[1] and len(set(keys)) == 3


def test_unsafe_update_src():
    module = module_from("""
        @triton.jit
        def kernel(x_ptr):
            tl.store(x_ptr, 1)
    """)
    x = np.zeros(1, np.int32)
    module.kernel[(1,)](x)
    module.kernel._unsafe_update_src(module.kernel.src.replace("1", "2"))
    module.kernel[(1,)](x)
    assert x[0] == 2


# Objects of the language.


def test_dtypes():
    assert repr(tl.float32) == "triton.language.float32" and str(tl.float32) == "fp32"
    assert eval(repr(tl.bfloat16), {"triton": triton}) is tl.bfloat16
    assert tl.int8.primitive_bitwidth == 8 and tl.int1.itemsize == 1 and tl.float16.fp_mantissa_width == 10
    assert tl.uint32.is_int_unsigned() and tl.int32.is_int_signed() and tl.int1.is_bool() and tl.bfloat16.is_bf16()
    assert tl.float8e4nv.is_fp8() and tl.float8e4nv.is_fp8e4nv() and tl.float64.is_standard_floating()
    assert tl.int16.get_int_max_value() == 32767 and tl.int8.get_int_min_value() == -128
    assert tl.dtype("fp32") == tl.float32 and hash(tl.dtype("fp32")) == hash(tl.float32)
    assert tl.float32 == tl.constexpr(tl.float32) and tl.float32 != tl.float16
    with pytest.raises(AssertionError):
        tl.dtype("float32")
    assert tl.core.get_int_dtype(16, True) is tl.int16 or tl.core.get_int_dtype(16, True) == tl.int16


def test_pointers_and_blocks():
    pointer = tl.pointer_type(tl.float32)
    assert str(pointer) == "pointer<fp32>" and pointer.is_ptr() and pointer.element_ty == tl.float32
    assert pointer != tl.pointer_type(tl.float32, const=True) and pointer == tl.pointer_type(tl.float32)
    block = tl.block_type(tl.float32, [16, 32])
    assert str(block) == "<[16, 32], fp32>" and block.numel == 512 and block.scalar == tl.float32
    with pytest.raises(ValueError, match="Shape element 0 must be a power of 2"):
        tl.block_type(tl.float32, [3])
    with pytest.raises(ValueError, match="numel \\(2097152\\) exceeds triton maximum tensor numel \\(1048576\\)"):
        tl.block_type(tl.float32, [1 << 21])
    with pytest.raises(TypeError, match="0d block_type is forbidden"):
        tl.block_type(tl.float32, [])


@pytest.mark.parametrize(
    "value", [tl.float32, tl.int1, tl.pointer_type(tl.int8, const=True), tl.block_type(tl.int32, [4]), tl.constexpr(5)]
)
def test_objects_can_be_pickled_and_copied(value):
    for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert type(again) is type(value) and bool(again == value) and hash(again) == hash(value)


def test_constexpr():
    five = tl.constexpr(5)
    assert repr(five) == "constexpr[5]" and tl.constexpr(five).value == 5
    for result, expected in [
        (five + 2, 7), (2 - five, -3), (five // 2, 2), (five**2, 25), (-five, -5), (five << 1, 10), (7 % five, 2),
        (five == 5, True), (five > 7, False), (~five, -6), (five & 4, 4), (five / 2, 2.5),
    ]:  # fmt: skip
        assert isinstance(result, tl.constexpr) and result.value == expected and type(result.value) is type(expected)
    assert bool(tl.constexpr(0)) is False and [10, 20, 30][tl.constexpr(1)] == 20
    assert tl.constexpr((1, 2))[1].value == 2 and [*tl.constexpr((1, 2))] == [1, 2]


def test_host_functions():
    assert triton.cdiv(10, 3) == 4 and triton.cdiv(np.int64(9), 3) == 3
    assert [triton.next_power_of_2(n) for n in (0, 1, 2, 3, 1000)] == [0, 1, 2, 4, 1024]

    @triton.constexpr_function
    def twice(x):
        return x * 2

    assert twice(4) == 8 and twice(tl.constexpr(4)) == 8


def test_ranges_are_for_kernels():
    for iterator in (tl.range(3), tl.static_range(3)):
        with pytest.raises(RuntimeError, match="can only be used in @triton.jit'd functions"):
            iter(iterator)


@pytest.mark.not_conformance("that a name exists")
@pytest.mark.parametrize("name", language_names())
def test_every_name_of_the_language_exists(name):
    assert hasattr(tl, name)


def test_functions_have_signatures_and_docstrings():
    signature = inspect.signature(tl.load)
    assert [*signature.parameters][:3] == ["pointer", "mask", "other"]
    assert "_semantic" in signature.parameters
    for name in ("load", "store", "arange", "sum", "dot", "exp", "where", "program_id", "cumsum"):
        function = getattr(tl, name)
        assert function.__doc__ and len(function.__doc__) > 10 and function.__name__ == name
        assert function.__triton_builtin__


@pytest.mark.not_conformance("that names exist")
def test_names_of_the_package():
    assert {name for name in PACKAGE.split() if not hasattr(triton, name)} <= NOT_YET
    from despina.runtime import driver
    from despina.runtime.jit import JITFunction  # noqa: F401
    from despina.runtime.autotuner import OutOfResources, PTXASError  # noqa: F401
    from despina.compiler.compiler import make_backend, triton_key  # noqa: F401
    from despina.language.standard import zeros_like  # noqa: F401
    from despina.language.math import rsqrt  # noqa: F401

    assert driver.active.get_current_target().backend == "cpu"


def test_out_of_resources():
    error = triton.OutOfResources(131072, 101376, "shared memory")
    assert str(error) == (
        "out of resource: shared memory, Required: 131072, Hardware limit: 101376. "
        "Reducing block sizes or `num_stages` may help."
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_stubs_are_complete_and_current():
    import despina

    folder = os.path.dirname(despina.__file__)
    assert os.path.exists(os.path.join(folder, "py.typed"))
    script = os.path.join(folder, "..", "..", "scripts", "generate-stubs")
    if not os.path.exists(script):
        pytest.fail("scripts/generate-stubs is missing from the checkout")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# `import triton`.

ALIAS_SCRIPT = """
import importlib.metadata, os, subprocess, sys
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime.jit import JITFunction
import triton.backends.compiler
import despina

assert triton is despina and tl is despina.language and sys.modules["triton.language"] is tl
assert importlib.metadata.version("triton") == triton.__version__ and triton.__version__[0] == "3"
assert triton.__name__ == "despina" and triton.__spec__.name == "despina"

@triton.jit
def kernel(x_ptr, N: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, N), tl.full((N,), triton.cdiv(N, 2), tl.int32))

x = np.zeros(8, np.int32)
kernel[(1,)](x, N=8)
assert (x == 4).all()
if "child" not in sys.argv:
    child = subprocess.run([sys.executable, "-c", "import triton; print(triton.__name__)"],
                           capture_output=True, text=True)
    assert child.stdout.strip() == "despina", child
print("done", sys.argv[1:], __name__)
"""


def test_run_answers_import_triton(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(ALIAS_SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "despina", "run", str(script), "--flag", "value"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done ['--flag', 'value'] __main__\n"


def test_run_of_wrong_arguments(tmp_path):
    for arguments, code in [([], 2), (["run"], 2), (["run", str(tmp_path / "none.py")], 2), (["--version"], 0)]:
        done = subprocess.run([sys.executable, "-m", "despina", *arguments], capture_output=True, text=True)
        assert done.returncode == code
        assert done.stdout if code == 0 else done.stderr
