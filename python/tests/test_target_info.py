"""What kernels may ask of their target, and `tl.extra.cuda`."""

import numpy as np
import pytest

import despina as triton
import despina.language as tl
from despina.backends.compiler import GPUTarget
from despina.compiler import ASTSource
from despina.language.extra import cuda
from helpers import assert_same, module_from, on_gpu, poisoned

KERNELS = """\
from despina.language.extra.cuda import gdc_launch_dependents, gdc_wait, globaltimer, num_threads, smid

@triton.jit
def ask(o_ptr):
    target: tl.constexpr = tl.target_info.current_target()
    if tl.target_info.is_cuda():
        tl.store(o_ptr, 1)
        tl.static_assert(target.backend == "cuda")
    else:
        tl.store(o_ptr, 0)
        tl.static_assert(target.backend == "cpu")
    tl.store(o_ptr + 1, tl.target_info.is_hip() or tl.target_info.is_hip_cdna3() or tl.target_info.is_hip_cdna4())
    tl.store(o_ptr + 2, tl.target_info.cuda_capability_geq(7, 5))
    tl.store(o_ptr + 3, tl.target_info.cuda_capability_geq(8))
    tl.store(o_ptr + 4, tl.target_info.cuda_capability_geq(9, 0))
    tl.store(o_ptr + 5, tl.target_info.cuda_capability_geq(10))

@triton.jit
def capabilities(A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr, ARCH: tl.constexpr):
    tl.static_assert(tl.target_info.is_cuda() and not tl.target_info.is_hip_gfx1250())
    tl.static_assert(tl.target_info.current_target().arch == ARCH, "the architecture")
    tl.static_assert(tl.target_info.cuda_capability_geq(7, 5) == A, "not of 7.5")
    tl.static_assert(tl.target_info.cuda_capability_geq(8) == B, "not of 8.0")
    tl.static_assert(tl.target_info.cuda_capability_geq(9, minor=0) == C, "not of 9.0")
    tl.static_assert(tl.target_info.cuda_capability_geq(10) == D, "not of 10.0")

@triton.jit
def registers(o_ptr):
    before = globaltimer()
    tl.store(o_ptr + 1, smid().to(tl.int64))
    tl.store(o_ptr + 2, num_threads())
    tl.store(o_ptr + 3, tl.extra.cuda.num_warps())
    tl.debug_barrier()
    tl.store(o_ptr, globaltimer() - before)

@triton.jit
def dependent(x_ptr, o_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    gdc_wait()
    x = tl.load(x_ptr + at)
    gdc_launch_dependents()
    tl.store(o_ptr + at, x + 1)

@triton.jit
def call(NAME: tl.constexpr):
    x = tl.zeros((16,), tl.float32)
    if NAME == "globaltimer":
        tl.extra.cuda.globaltimer()
    elif NAME == "smid":
        tl.extra.cuda.smid()
    elif NAME == "num_threads":
        tl.extra.cuda.num_threads()
    elif NAME == "num_warps":
        tl.extra.cuda.num_warps()
    elif NAME == "gdc_wait":
        tl.extra.cuda.gdc_wait()
    elif NAME == "gdc_launch_dependents":
        tl.extra.cuda.gdc_launch_dependents()
    elif NAME == "convert_custom_float8_sm70":
        tl.extra.cuda.convert_custom_float8_sm70(x, tl.float16)
    else:
        tl.extra.cuda.convert_custom_float8_sm80(x, tl.float16)

@triton.jit
def convert(x_ptr, o_ptr, back_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    small = tl.extra.cuda.convert_custom_float8_sm80(tl.load(x_ptr + at), tl.float8e4b15, "rtz")
    tl.store(o_ptr + at, small.to(tl.int8, bitcast=True))
    tl.store(back_ptr + at, tl.extra.cuda.convert_custom_float8_sm70(small, tl.float16))
"""
module = module_from(KERNELS)


def compiled(kernel, arch, **signature):
    constants = {name: value for name, value in signature.items() if not isinstance(value, str)}
    types = {name: value if isinstance(value, str) else "constexpr" for name, value in signature.items()}
    source = ASTSource(fn=kernel, signature=types, constexprs=constants)
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": 2})


def test_questions():
    out = poisoned(6, np.int32)
    module.ask[(1,)](out)
    assert out[0] == on_gpu() and out[1] == 0
    if on_gpu():
        arch = triton.runtime.driver.active.get_current_target().arch
        assert_same(out[2:], np.array([arch >= first for first in (75, 80, 90, 100)], np.int32))
    else:
        assert_same(out[2:], np.zeros(4, np.int32))


@pytest.mark.parametrize("arch", [75, 80, 86, 90, 100])
def test_capabilities(arch):
    compiled(module.capabilities, arch, A=arch >= 75, B=arch >= 80, C=arch >= 90, D=arch >= 100, ARCH=arch)
    with pytest.raises(triton.CompilationError, match="not of 8.0"):
        compiled(module.capabilities, arch, A=arch >= 75, B=arch < 80, C=arch >= 90, D=arch >= 100, ARCH=arch)


def test_on_the_host():
    assert tl.target_info.is_cuda() == on_gpu()
    assert tl.target_info.is_hip() is False
    assert tl.target_info.cuda_capability_geq(7) == on_gpu()
    assert tl.target_info.current_target().backend == ("cuda" if on_gpu() else "cpu")


def test_the_module_has_its_names():
    assert {"globaltimer", "smid", "num_threads", "num_warps", "gdc_wait", "libdevice"} <= set(dir(cuda))
    with pytest.raises(ValueError, match="Did you forget to add @triton.jit"):
        cuda.smid()


@pytest.mark.cuda_only("reads the GPU's registers")
def test_registers():
    out = poisoned(4, np.int64)
    module.registers[(1,)](out, num_warps=2)
    assert 0 <= out[0] < 10**9 and 0 <= out[1] < 1024 and out[2] == 64 and out[3] == 2


@pytest.mark.cuda_only("needs launches that depend on another")
def test_dependent_launches(rng):
    x = rng.standard_normal(256).astype(np.float32)
    middle, out = poisoned(256, np.float32), poisoned(256, np.float32)
    module.dependent[(1,)](x, middle, 256, launch_pdl=True)
    module.dependent[(1,)](middle, out, 256, launch_pdl=True)
    assert_same(out, x + 1 + 1)


def test_instructions():
    text = compiled(module.registers, 80, o_ptr="*i64").asm["ptx"]
    assert text.count("%globaltimer") == 2 and "%smid" in text
    text = compiled(module.dependent, 90, x_ptr="*fp32", o_ptr="*fp32", N=64).asm["ptx"]
    wait, launch = text.index("griddepcontrol.wait"), text.index("griddepcontrol.launch_dependents")
    assert wait < text.index("ld.global") < launch < text.index("st.global")


def test_older_chips_have_no_dependent_launches():
    with pytest.raises(triton.CompilationError, match="gdc_wait needs sm_90 or newer, and the target is sm_80"):
        compiled(module.dependent, 80, x_ptr="*fp32", o_ptr="*fp32", N=64)


@pytest.mark.cuda_only("float8e4b15 is a type of GPUs")
def test_conversion(rng):
    x = rng.uniform(-1.5, 1.5, 64).astype(np.float32)
    out, back = poisoned(64, np.int8), poisoned(64, np.float16)
    module.convert[(1,)](x, out, back, 64)
    assert (np.abs(back.astype(np.float32) - x) <= np.abs(x) / 8 + 2.0**-17).all()


def test_conversion_compiles():
    compiled(module.convert, 80, x_ptr="*fp32", o_ptr="*i8", back_ptr="*fp16", N=64)


NAMES = """globaltimer smid num_threads num_warps gdc_wait gdc_launch_dependents convert_custom_float8_sm70
convert_custom_float8_sm80""".split()


@pytest.mark.cpu_only("what the CPU target refuses")
@pytest.mark.parametrize("name", NAMES)
def test_the_cpu_has_none_of_it(name):
    with pytest.raises(triton.CompilationError) as caught:
        module.call[(1,)](NAME=name)
    assert f"tl.extra.cuda.{name} is not available on the cpu target" in str(caught.value)
