"""Launches on a real GPU: memory and streams of torch and without it, resources, and what goes wrong there."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import despina as triton
import despina.language as tl
from despina import _native
from despina.runtime.driver import CUDADriver, driver
from gpu import without_copies
from helpers import RawPointer

pytestmark = [pytest.mark.cuda_only]
with_torch = pytest.mark.needs_torch


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


class Array:
    """Memory of the device without torch: `__cuda_array_interface__` alone."""

    def __init__(self, values):
        self.values = values
        self.memory = _native.cuda_allocate(0, values.nbytes)
        self.memory.copy_from(values)
        self.__cuda_array_interface__ = {
            "shape": values.shape, "typestr": values.dtype.str, "data": (self.memory.address, False), "version": 3,
        }  # fmt: skip

    def numpy(self):
        result = np.empty_like(self.values)
        self.memory.copy_to(result)
        return result


def test_without_torch(rng):
    n = 1003
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    out = Array(np.full(n, np.nan, np.float32))
    kernel = add[(triton.cdiv(n, 256),)](Array(x), Array(y), out, n, BLOCK=256)
    _native.cuda_synchronize(0)
    assert np.array_equal(out.numpy(), x + y)
    assert kernel.metadata.target == driver.active.get_current_target()
    assert kernel.n_regs > 0 and kernel.n_spills == 0 and kernel.n_max_threads >= 128


def test_a_driver_without_torch(rng):
    active = CUDADriver()
    properties = active.utils.get_device_properties(0)
    assert properties["warpSize"] == 32 and properties["multiprocessor_count"] > 0
    major, minor = active.get_device_capability(0)
    assert active.get_current_target().arch == major * 10 + minor
    x = Array(rng.standard_normal(1 << 20).astype(np.float32))
    time = triton.testing.do_bench(lambda: add[(1 << 10,)](x, x, x, 1 << 20, BLOCK=1024), warmup=5, rep=20)
    assert 0 < time < 1000


def test_the_options_of_a_launch(rng):
    n = 5000
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    options = [{"num_warps": w} for w in (1, 2, 8, 16)]
    options += [{"launch_pdl": True}, {"launch_cooperative_grid": True}, {"maxnreg": 32}]
    if driver.active.get_device_capability(0) >= (9, 0):
        options += [{"num_ctas": 2}]
    for option in options:
        out = Array(np.full(n, np.nan, np.float32))
        add[(triton.cdiv(n, 512),)](Array(x), Array(y), out, n, BLOCK=512, **option)
        _native.cuda_synchronize(0)
        assert np.array_equal(out.numpy(), x + y), option


def test_threads_launch_at_once(rng):
    failures = []

    def work(seed):
        x = np.random.default_rng(seed).standard_normal(777).astype(np.float32)
        for _ in range(20):
            out = Array(np.full(777, np.nan, np.float32))
            add[(13,)](Array(x), Array(x), out, 777, BLOCK=64)
            _native.cuda_synchronize(0)
            if not np.array_equal(out.numpy(), x + x):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in rng.integers(0, 1 << 30, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_autotuning(rng):
    @triton.autotune([triton.Config({"BLOCK": 64}, num_warps=warps) for warps in (64, 4, 2)], key=["n"])
    @triton.jit
    def tuned(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2, mask=offsets < n)

    x = rng.standard_normal(1000).astype(np.float32)
    out = Array(np.full(1000, np.nan, np.float32))
    tuned[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](Array(x), out, 1000)
    _native.cuda_synchronize(0)
    assert np.array_equal(out.numpy(), x * 2)
    assert tuned.best_config.num_warps in (2, 4), "64 warps are more threads than there can be"


#
# Bad input
#


@triton.jit
def product(x_ptr, y_ptr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    at = i[:, None] * SIZE + i[None, :]
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.dot(x, x, input_precision="ieee"))


def check_that_all_is_well(rng):
    x = rng.standard_normal(100).astype(np.float32)
    out = Array(np.full(100, np.nan, np.float32))
    add[(1,)](Array(x), Array(x), out, 100, BLOCK=128)
    _native.cuda_synchronize(0)
    assert np.array_equal(out.numpy(), x + x)


def test_too_much_shared_memory(rng):
    x = Array(rng.standard_normal((256, 256)).astype(np.float32))
    with pytest.raises(triton.OutOfResources) as caught:
        product[(1,)](x, x, SIZE=256, num_warps=8)
    assert caught.value.name == "shared memory"
    assert caught.value.required > caught.value.limit >= 48 * 1024
    check_that_all_is_well(rng)


def test_too_many_threads(rng):
    x = Array(rng.standard_normal(64).astype(np.float32))
    with pytest.raises(triton.OutOfResources, match="threads, Required: 2048, Hardware limit: 1024"):
        add[(1,)](x, x, x, 64, BLOCK=64, num_warps=64)
    check_that_all_is_well(rng)


@pytest.mark.parametrize("options", [{"num_warps": 1, "maxnreg": 32}, {"num_warps": 32}])
def test_fewer_registers_than_a_kernel_needs(rng, options):
    x = rng.integers(-8, 8, (64, 64)).astype(np.float32)
    out = Array(np.full((64, 64), np.nan, np.float32))
    kernel = product[(1,)](Array(x), out, SIZE=64, **options)
    _native.cuda_synchronize(0)
    assert np.array_equal(out.numpy(), x @ x), "integers of this size have no rounding"
    assert kernel.n_regs <= options.get("maxnreg", 64)


def test_memory_of_the_host(rng):
    x, host = Array(rng.standard_normal(64).astype(np.float32)), np.zeros(64, np.float32)
    for argument in (host, RawPointer(host.ctypes.data)):
        with (
            without_copies(),
            pytest.raises(ValueError, match=r"Pointer argument cannot be accessed from Triton \(cpu tensor\?\)"),
        ):
            add[(1,)](x, argument, x, 64, BLOCK=64)
    check_that_all_is_well(rng)


@pytest.mark.needs_two_gpus
def test_memory_and_streams_of_another_device(rng):
    x = Array(rng.standard_normal(64).astype(np.float32))
    far = _native.cuda_allocate(1, 256)
    with pytest.raises(ValueError, match="the pointer lies on CUDA device 1, but the kernel runs on device 0"):
        add[(1,)](x, RawPointer(far.address), x, 64, BLOCK=64)
    kernel = add[(1,)](x, x, x, 64, BLOCK=64)
    stream = _native.cuda_create_stream(1)
    with pytest.raises(ValueError, match="the stream belongs to CUDA device 1, but the kernel runs on device 0"):
        kernel[(1, 1, 1)](x, x, x, 64, 64, stream=stream)
    check_that_all_is_well(rng)


#
# torch
#


@with_torch
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int32", "int64", "uint8"])
def test_tensors_of_torch(dtype):
    import torch

    dtype = getattr(torch, dtype)
    x, y = (torch.randint(0, 100, (1003,), device="cuda").to(dtype) for _ in range(2))
    out = torch.full_like(x, 77)
    add[(8,)](x, y, out, x.numel(), BLOCK=128)
    assert torch.equal(out, x + y)
    out = torch.full_like(x, 77)
    add[(8,)](x[3:], y[1:], out[5:], 900, BLOCK=128)
    assert torch.equal(out[5:905], x[3:903] + y[1:901]) and (out[905:] == 77).all()


@with_torch
def test_the_current_stream_of_torch():
    """A graph takes up what is launched in the stream that is captured, and nothing else."""
    import torch

    x, y = torch.randn(2, 1000, device="cuda")
    out = torch.zeros_like(x)
    add[(8,)](x, y, out, 1000, BLOCK=128)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        add[(8,)](x, y, out, 1000, BLOCK=128)
    out.zero_()
    torch.cuda.synchronize()
    assert (out == 0).all()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, x + y)


@with_torch
def test_memory_of_the_host_with_torch():
    import torch

    x = torch.randn(64, device="cuda")
    with pytest.raises(ValueError, match=r"Pointer argument cannot be accessed from Triton \(cpu tensor\?\)"):
        add[(1,)](x, torch.randn(64), x, 64, BLOCK=64)
    pinned = torch.randn(64).pin_memory()
    out = torch.zeros_like(x)
    add[(1,)](x, pinned, out, 64, BLOCK=64)
    assert torch.equal(out, x + pinned.cuda())


@with_torch
def test_measuring_with_torch():
    import torch

    x = torch.randn(1 << 22, device="cuda")
    times = triton.testing.do_bench(
        lambda: add[(1 << 12,)](x, x, x, 1 << 22, BLOCK=1024), warmup=5, rep=20, quantiles=[0.2, 0.8]
    )
    assert 0 < times[0] <= times[1] < 1000


#
# What ends a context: each in a process of its own
#

SCRIPT = """
import sys
import numpy as np
import despina as triton, despina.language as tl
from despina import _native

@triton.jit
def store_at(x_ptr: "*fp32", at, BLOCK: tl.constexpr):
    tl.store(x_ptr + at + tl.arange(0, BLOCK), 1.0)

@triton.jit
def check(n):
    tl.device_assert(n > 5, "n is too small")

@triton.jit
def say(n):
    tl.device_print("n is", n)

def attempt(what):
    try:
        what()
        _native.cuda_synchronize(0)
        print("fine")
    except RuntimeError as error:
        print(str(error).splitlines()[0])
"""


def run_script(body):
    script = SCRIPT + body
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"despina-device-{os.getpid()}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(script)
    try:
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    finally:
        os.remove(path)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def test_an_illegal_address():
    said, _ = run_script("""
memory = _native.cuda_allocate(0, 1024)
attempt(lambda: store_at[(1,)](memory.address, 1 << 40, BLOCK=32))
attempt(lambda: store_at[(1,)](memory.address, 0, BLOCK=32))
host = np.zeros(32, np.float32)
triton.runtime.driver.set_active_to_cpu()
store_at[(1,)](host, 0, BLOCK=32)
print(host.sum())
""")
    wanted = "Triton Error [CUDA]: an illegal memory access was encountered"
    assert said == [wanted, wanted, "32.0"]


def test_an_illegal_address_in_mid_run():
    """It shows where it is first waited for, and from then on nothing works but the CPU."""
    said, _ = run_script("""
memory = _native.cuda_allocate(0, 1024)
host = np.zeros(32, np.float32)
attempt(lambda: store_at[(1,)](memory.address, 0, BLOCK=32))
attempt(lambda: store_at[(1 << 10,)](memory.address, -(1 << 44), BLOCK=32))
attempt(lambda: memory.copy_to(host))
attempt(lambda: _native.cuda_allocate(0, 1024))
attempt(lambda: say[(1,)](5))
triton.runtime.driver.set_active_to_cpu()
store_at[(1,)](host, 0, BLOCK=32)
print(host.sum())
""")
    assert said[0] == "fine" and said[-1] == "32.0"
    assert len(said) == 6 and all("an illegal memory access was encountered" in line for line in said[1:5]), said


def test_without_an_assembler_the_driver_makes_the_code():
    said, _ = run_script("""
import os
for tool in ("PTXAS", "PTXAS_BLACKWELL", "NVJITLINK"):
    os.environ[f"DESPINA_{tool}_PATH"] = "/nowhere"
memory = _native.cuda_allocate(0, 128)
host = np.zeros(32, np.float32)
attempt(lambda: store_at[(1,)](memory.address, 0, BLOCK=32))
memory.copy_to(host)
print(host.sum())
""")
    assert said == ["fine", "32.0"]


def test_a_failed_assertion():
    said, errors = run_script("""
attempt(lambda: check[(1,)](7, debug=True))
attempt(lambda: check[(1,)](2))
attempt(lambda: check[(1,)](2, debug=True))
""")
    assert said[:2] == ["fine", "fine"] and "device-side assert triggered" in said[2]
    assert "n is too small" in errors + "\\n".join(said)


def test_printing():
    said, _ = run_script("attempt(lambda: say[(2,)](42))")
    assert sum("n is" in line and "42" in line for line in said) >= 2
