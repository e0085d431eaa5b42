"""Launches on CUDA devices, against a stand-in for the driver that records what it is asked."""

import concurrent.futures
import contextvars
import os
import pickle
import re
import subprocess
import sys
import types

import numpy as np
import pytest

import despina as triton
import despina.language as tl
from despina import _native
from despina.backends.compiler import GPUTarget
from despina.compiler import ASTSource
from despina.runtime.driver import CPUDriver, CUDADriver, _Driver, driver
from despina.runtime.errors import PTXASError

from helpers import RawPointer
from stub_cuda import FakeTorch, InterfaceArray, StubCUDA, Tensor

pytestmark = [pytest.mark.stub_cuda]


@pytest.fixture
def stub():
    control = StubCUDA()
    control.reset()
    yield control
    control.reset()


@pytest.fixture
def on_gpu():
    driver.set_active_to_gpu()
    yield
    driver.reset_active()


@pytest.fixture
def torch_streams():
    FakeTorch.install()
    yield FakeTorch.streams
    FakeTorch.streams.clear()


@pytest.fixture
def copy():
    """A kernel of its own for each test: nothing is compiled or loaded yet. The stand-in runs no code, so there is
    none."""

    @triton.jit
    def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK > 0)

    return copy_kernel


def tensors(dtype=np.float32, device=0):
    return Tensor(64, dtype, device), Tensor(64, dtype, device)


@triton.jit
def scalars(out_ptr, a, b, c, d: tl.float64, e: tl.int16, f):
    tl.static_assert(d.dtype == tl.float64)


def test_parameters_are_in_order_and_complete(stub):
    out = Tensor(1, np.float64)
    stub.expect_parameters([8, 4, 8, 4, 8, 2, 1, 8])
    scalars[(1,)](out, -5, 2**40, 1.5, 0.1, -3, True)
    launch = stub.only_launch()
    expected = [out.data_ptr(), -5, 2**40, 1.5, 0.1, -3, True, 0]
    assert launch.values("Qiqfdh?Q") == expected


def test_grid_block_and_device(stub, copy):
    x, y = tensors(device=1)
    kernel = copy[(3, 4, 5)](x, y, 64, BLOCK=64, num_warps=8)
    launch = stub.only_launch()
    assert (launch.grid, launch.block, launch.device) == ((3, 4, 5), (256, 1, 1), 1)
    assert launch.attributes == {}
    assert launch.shared == kernel.metadata.shared
    assert kernel.metadata.target == GPUTarget("cuda", 90, 32)


def test_an_empty_grid_launches_nothing_and_compiles(stub, copy):
    kernel = copy[(0, 4)](*tensors(), 64, BLOCK=64)
    assert stub.launches() == []
    assert kernel.asm["cubin"][:4] == b"\x7fELF"


def test_the_second_launch_neither_compiles_nor_loads(stub, copy):
    x, y = tensors()
    for _ in range(3):
        copy[(1,)](x, y, 64, BLOCK=64)
    assert len(stub.launches()) == 3
    assert len(stub.calls("cuModuleLoadDataEx")) == 1


def test_devices_of_one_kind_share_what_is_compiled(stub, copy):
    kernels = {copy[(1,)](*tensors(device=device), 64, BLOCK=64) for device in (0, 1, 0)}
    assert len(kernels) == 1
    assert len(stub.calls("cuModuleLoadDataEx")) == 2
    assert [launch.device for launch in stub.launches()] == [0, 1, 0]


def test_the_cpu_and_a_gpu_have_kernels_of_their_own(stub, copy):
    x, y = np.ones((2, 64), np.float32)
    on_cpu = copy[(1,)](x, y, 64, BLOCK=64)
    on_gpu = copy[(1,)](*tensors(), 64, BLOCK=64)
    assert (on_cpu.metadata.target.backend, on_gpu.metadata.target.backend) == ("cpu", "cuda")
    assert len(stub.launches()) == 1


def test_the_current_stream_of_torch_is_used(stub, copy, torch_streams):
    torch_streams.update({0: 0x2010, 1: 0x2021})
    copy[(1,)](*tensors(device=1), 64, BLOCK=64)
    copy[(1,)](*tensors(device=0), 64, BLOCK=64)
    assert [launch.stream for launch in stub.launches()] == [0x2021, 0x2010]


def test_cluster_cooperative_and_dependent_launches(stub, copy):
    x, y = tensors()
    copy[(3,)](x, y, 64, BLOCK=64, num_ctas=2)
    copy[(3,)](x, y, 64, BLOCK=64, launch_cooperative_grid=True)
    copy[(3,)](x, y, 64, BLOCK=64, launch_pdl=True)
    copy[(3,)](x, y, 64, BLOCK=64)
    cluster, cooperative, dependent, plain = stub.launches()
    assert cluster.grid == (6, 1, 1) and cluster.attributes[4] == (2, 1, 1)
    assert cooperative.attributes[2][0] == 1 and cooperative.grid == (3, 1, 1)
    assert dependent.attributes[6][0] == 1
    assert plain.attributes == {}


def test_objects_with_a_cuda_array_interface(stub, copy):
    x, y = InterfaceArray(64, np.int32, 1), InterfaceArray(64, np.int32, 1)
    stub.expect_parameters([8, 8])
    copy[(1,)](x, y, 64, BLOCK=64)
    launch = stub.only_launch()
    assert launch.device == 1
    assert launch.values("QQ") == [x.__cuda_array_interface__["data"][0], y.__cuda_array_interface__["data"][0]]


def test_reinterpreted_tensors(stub, copy):
    x = Tensor(64, np.uint8, 1)
    y = InterfaceArray(64, np.int16, 1)
    kernel = copy[(1,)](triton.reinterpret(x, tl.float8e5), triton.reinterpret(y, tl.float16), 64, BLOCK=64)
    assert stub.only_launch().device == 1
    assert (kernel.src.signature["x_ptr"], kernel.src.signature["y_ptr"]) == ("*fp8e5", "*fp16")


def test_addresses_as_integers(stub, on_gpu):
    @triton.jit
    def raw(x_ptr: "*fp32", y_ptr: "*ki16", n):  # noqa: F722
        tl.static_assert(x_ptr.dtype.element_ty == tl.float32)
        tl.static_assert(y_ptr.dtype.element_ty == tl.int16)

    x = Tensor(64, np.float32)
    stub.expect_parameters([8, 8, 4])
    kernel = raw[(1,)](x.data_ptr(), x.data_ptr() + 2, 5)
    assert stub.only_launch().values("QQi") == [x.data_ptr(), x.data_ptr() + 2, 5]
    assert kernel.src.signature == {"x_ptr": "*fp32", "y_ptr": "*ki16", "n": "i32"}


def test_the_driver_knows_where_a_bare_address_lies(stub, copy):
    x, y = tensors(device=1)
    copy[(1,)](RawPointer(x.data_ptr() + 128), RawPointer(y.data_ptr()), 64, BLOCK=64)
    assert stub.only_launch().device == 1
    host = np.ones((2, 64), np.float32)
    copy[(1,)](RawPointer(host[0].ctypes.data), RawPointer(host[1].ctypes.data), 64, BLOCK=64)
    assert len(stub.launches()) == 1


def test_without_pointers_the_active_driver_decides(stub, copy, on_gpu):
    @triton.jit
    def no_pointers(n):
        tl.device_assert(n > 0)

    no_pointers[(1,)](5)
    assert stub.only_launch().device == 0
    driver.set_active_to_cpu()
    no_pointers[(1,)](5)
    assert len(stub.launches()) == 1
    driver.set_active_to_gpu()
    _native.cuda_set_current_device(1)
    try:
        no_pointers[(1,)](5)
    finally:
        _native.cuda_set_current_device(0)
    assert stub.launches()[-1].device == 1


def test_warmup_compiles_for_the_active_driver(stub, copy, on_gpu):
    kernel = copy.warmup(np.dtype(np.float16), np.dtype(np.float16), 64, BLOCK=64, grid=(1,))
    assert kernel.metadata.target == GPUTarget("cuda", 90, 32)
    assert ".visible .entry copy_kernel(" in kernel.asm["ptx"]
    assert stub.launches() == []


#
# Scratch memory
#


@triton.jit
def rows_of(x_ptr, first, rows, BLOCK: tl.constexpr):
    """Each program makes a tensor map for itself."""
    x = tl.make_tensor_descriptor(x_ptr + first, [rows, BLOCK], [BLOCK, 1], [16, BLOCK])
    for i in range(0, rows, 16):
        x.store([i, 0], x.load([i, 0]) + 1)


class Allocator:
    """Remembers what it was asked, and what was launched by then."""

    def __init__(self, stub, shift=0):
        self.stub, self.shift, self.asked, self.given = stub, shift, [], []

    def __call__(self, size, alignment, stream):
        self.asked.append((size, alignment, stream, len(self.stub.launches())))
        memory = Tensor(size + 256, np.int8)
        address = -(-memory.data_ptr() // 256) * 256 + self.shift
        self.given.append(address)
        return types.SimpleNamespace(data_ptr=lambda: address, memory=memory)


def test_scratch_memory_comes_from_the_allocator(stub, torch_streams):
    allocator = Allocator(stub)
    triton.set_allocator(allocator)
    x, _ = tensors()
    torch_streams[0] = 0x2010
    stub.expect_parameters([8, 4, 4, 8])
    kernel = rows_of[(2, 3, 4)](x, 4, 64, BLOCK=32)
    assert (kernel.metadata.global_scratch_size, kernel.metadata.global_scratch_align) == (128, 128)
    kernel[(5, 1, 1)](x, 4, 64, 32, stream=0x2020)
    assert allocator.asked == [(128 * 24, 128, 0x2010, 0), (128 * 5, 128, 0x2020, 1)]
    assert [launch.values("QiiQ")[3] for launch in stub.launches()] == allocator.given
    assert stub.calls("cuMemAllocAsync") == []


def test_kernels_without_need_ask_for_nothing(stub, copy):
    triton.set_allocator(None)
    kernel = copy[(1,)](*tensors(), 64, BLOCK=64)
    assert (kernel.metadata.global_scratch_size, kernel.metadata.global_scratch_align) == (0, 1)
    rows_of[(0,)](tensors()[0], 4, 64, BLOCK=32)
    assert len(stub.launches()) == 1


def test_no_allocator(stub):
    def launch():
        with pytest.raises(RuntimeError, match="Kernel requires a runtime memory allocation, but no allocator was set"):
            rows_of[(1,)](tensors()[0], 4, 64, BLOCK=32)

    triton.set_allocator(Allocator(stub))
    # An allocator counts for the thread that has set it.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        pool.submit(launch).result()
    contextvars.Context().run(launch)
    assert stub.launches() == []
    rows_of[(1,)](tensors()[0], 4, 64, BLOCK=32)
    assert len(stub.launches()) == 1


def fails(size, alignment, stream):
    raise MemoryError("no more")


@pytest.mark.parametrize(
    "allocator, kind, text",
    [
        (fails, MemoryError, "no more"),
        (lambda size, alignment, stream: 5, AttributeError, "data_ptr"),
        (lambda size, alignment, stream: RawPointer(0x1040), ValueError, "address 0x1040 .* must be a multiple of 128"),
        (lambda size, alignment, stream: RawPointer(0), ValueError, "address 0x0 for 128 bytes"),
    ],
)
def test_allocators_that_fail(stub, allocator, kind, text):
    triton.set_allocator(allocator)
    with pytest.raises(kind, match=text):
        rows_of[(1,)](tensors()[0], 4, 64, BLOCK=32)
    assert stub.launches() == []


def test_scratch_memory_forbids_an_overlap(stub):
    """A kernel that starts before the one before it has ended would write memory that is still in use."""
    triton.set_allocator(Allocator(stub))
    rows_of[(1,)](tensors()[0], 4, 64, BLOCK=32, launch_pdl=True)
    assert stub.only_launch().attributes == {}


@triton.jit
def described(x_ptr, rows, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, BLOCK], [BLOCK, 1], [16, BLOCK])
    x.store([0, 0], x.load([0, 0]) + 1)


@pytest.mark.parametrize("rows", [0, -7])
def test_a_tensor_without_elements(stub, on_gpu, rows):
    x, _ = tensors()
    described[(1,)](x, rows, BLOCK=32)
    described[(1,)](RawPointer(0), rows, BLOCK=32)
    maps = stub.calls("cuTensorMapEncodeTiled")
    assert len(maps) == 2 and len(stub.launches()) == 2
    # What they describe is of no account: the kernel sees to it that nothing is accessed.
    for line, address in zip(maps, (x.data_ptr(), 1 << 21)):
        assert f" address {address} " in line and line.endswith(" 1/32 1/16@64")


#
# The compiled kernel
#


@triton.jit
def add_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)


def test_what_a_compiled_kernel_knows(stub):
    kernel = add_one[(1,)](*tensors(), 64, BLOCK=64, maxnreg=32)
    assert 0 < kernel.n_regs <= 32
    assert kernel.n_spills == 0
    assert kernel.n_max_threads == 512 and kernel.function == 0x4000 and kernel.module == 0x3000
    metadata = kernel.metadata
    assert (metadata.num_warps, metadata.num_ctas, metadata.maxnreg) == (4, 1, 32)
    assert metadata.cluster_dims == (1, 1, 1)
    assert kernel.packed_metadata == (4, 1, metadata.shared)
    assert [*kernel.asm.keys()] == ["source", "ttir", "ttgir", "llir", "ptx", "cubin"]
    assert "tt.load" in kernel.asm["ttir"] and "ttg" in kernel.asm["ttgir"]
    assert "define" in kernel.asm["llir"] and ".target sm_90a" in kernel.asm["ptx"]
    assert kernel.kernel == kernel.asm["cubin"]
    assert kernel.asm.get("amdgcn") is None
    with pytest.raises(KeyError, match="Unknown key: 'amdgcn'"):
        kernel.asm["amdgcn"]


@pytest.mark.parametrize("variable", [None, "TRITON_DISABLE_LINE_INFO", "DESPINA_DISABLE_LINE_INFO"])
def test_lines_of_the_program(monkeypatch, variable):
    if variable:
        monkeypatch.setenv(variable, "1")
    source = ASTSource(add_one, {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}, {"BLOCK": 64})
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    first = add_one.fn.__code__.co_firstlineno
    lines = {int(line) for line in re.findall(r"\.loc\s+1 (\d+) ", kernel.asm["ptx"])}
    wanted = set() if variable else {first + 2, first + 3}  # behind the decorator and the head
    assert wanted <= lines <= (wanted and wanted | {first, first + 1})
    assert (f'"{__file__}"' in kernel.asm["ptx"]) != bool(variable)
    assert (b".debug_line" in kernel.asm["cubin"]) != bool(variable)


def test_launching_a_compiled_kernel(stub, copy, torch_streams):
    x, y = tensors()
    kernel = copy[(1,)](x, y, 64, BLOCK=64)
    torch_streams[0] = 0x2010
    kernel[(7, 1, 1)](x, y, 64, 64)
    kernel[(7, 1, 1)](x, y, 64, 64, stream=0x2020)
    with pytest.raises(ValueError, match="the stream belongs to CUDA device 1, but the kernel runs on device 0"):
        kernel[(7, 1, 1)](x, y, 64, 64, stream=0x2021)
    kernel.run(9, 1, 1, 0x2030, kernel.function, kernel.packed_metadata, None, None, None, x, y, 64, 64)
    launches = stub.launches()[1:]
    assert [(launch.grid[0], launch.stream) for launch in launches] == [(7, 0x2010), (7, 0x2020), (9, 0x2030)]
    with pytest.raises(ValueError, match=r"Pointer argument cannot be accessed from Triton \(cpu tensor\?\)"):
        kernel[(1, 1, 1)](np.ones(64, np.float32), y, 64, 64)


def test_machine_code_as_text(stub, copy, monkeypatch, tmp_path):
    tool = tmp_path / "cuobjdump"
    tool.write_text('#!/bin/sh\necho "$1: $(head -c 4 "$2" | tail -c 3)"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("DESPINA_CUOBJDUMP_PATH", str(tool))
    kernel = copy[(1,)](*tensors(), 64, BLOCK=64)
    assert kernel.asm["sass"] == "-sass: ELF\n"
    assert "sass" not in kernel.asm.keys()


@pytest.mark.parametrize("arch, named", [(80, "sm_80"), (89, "sm_89"), (90, "sm_90a"), ("sm_75", "sm_75")])
def test_compiling_for_an_architecture_without_a_gpu(stub, copy, arch, named):
    source = ASTSource(copy, {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}, {"BLOCK": 64})
    kernel = triton.compile(source, target=GPUTarget("cuda", arch, 32), options={"num_warps": 2})
    assert f".target {named}" in kernel.asm["ptx"]
    assert kernel.asm["cubin"][:4] == b"\x7fELF" and kernel.n_regs > 0
    assert stub.calls("cuModuleLoadDataEx") == []


def test_launch_hooks_see_the_stream(stub, copy, torch_streams):
    seen = []
    torch_streams[0] = 0x2010
    triton.knobs.runtime.launch_enter_hook.add(lambda metadata: seen.append(metadata.get()))
    try:
        copy[(2,)](*tensors(), 64, BLOCK=64)
    finally:
        triton.knobs.runtime.launch_enter_hook = None
    assert (seen[0]["name"], seen[0]["stream"], seen[0]["function"]) == ("copy_kernel", 0x2010, 0x4000)


#
# The driver
#


def test_what_the_active_driver_answers(stub, on_gpu, torch_streams):
    active = driver.active
    assert active.get_current_target() == GPUTarget("cuda", 90, 32)
    assert active.get_device_capability(1) == (9, 0)
    assert active.utils.get_device_properties(0)["max_shared_mem"] == 232448
    assert active.utils.get_device_properties(0)["multiprocessor_count"] == 132
    torch_streams[1] = 0x2011
    assert (active.get_current_device(), active.get_current_stream(1)) == (0, 0x2011)
    active.set_current_device(1)
    try:
        assert active.get_current_device() == 1
    finally:
        active.set_current_device(0)


def test_do_bench_measures_with_events(stub, copy, on_gpu):
    x, y = tensors()
    # The stand-in's clock: half a millisecond between any two events.
    assert triton.testing.do_bench(lambda: copy[(1,)](x, y, 64, BLOCK=64), warmup=1, rep=5) == 0.5
    records = len(stub.calls("cuEventRecord"))
    assert records >= 2 * 10
    assert len(stub.calls("cuMemsetD8Async")) >= 10, "the L2 cache is not flushed"
    assert len(stub.calls("cuEventCreate")) == len(stub.calls("cuEventDestroy_v2"))


def test_the_default_driver(monkeypatch):
    for value, kind in [("cpu", CPUDriver), ("nvidia", CUDADriver)]:
        monkeypatch.setenv("TRITON_DEFAULT_BACKEND", value)
        assert type(_Driver().active) is kind
    monkeypatch.setenv("TRITON_DEFAULT_BACKEND", "abacus")
    with pytest.raises(RuntimeError, match="'abacus', but the backends are 'cpu' and 'nvidia'"):
        _Driver().active  # noqa: B018
    monkeypatch.delenv("TRITON_DEFAULT_BACKEND")
    assert type(_Driver().active) is CUDADriver


#
# Bad input
#


def test_host_memory_among_device_memory(stub, copy):
    x, _ = tensors()
    host = np.ones(64, np.float32)
    with pytest.raises(
        ValueError, match=r"cannot be accessed from Triton \(cpu tensor\?\): argument 'y_ptr' lies in host"
    ):
        copy[(1,)](x, host, 64, BLOCK=64)
    with pytest.raises(ValueError, match="argument 'x_ptr' lies in host memory, and the kernel runs on CUDA device 0"):
        copy[(1,)](host, x, 64, BLOCK=64)
    assert stub.launches() == []


def test_memory_of_another_device(stub, copy):
    x, y = Tensor(64, np.float32, 0), Tensor(64, np.float32, 1)
    with pytest.raises(ValueError, match="the pointer lies on CUDA device 1, but the kernel runs on device 0"):
        copy[(1,)](x, y, 64, BLOCK=64)


def test_too_many_threads(stub, copy):
    x, y = tensors()
    # The stand-in says that the kernel may have 512 threads.
    with pytest.raises(triton.OutOfResources) as caught:
        copy[(1,)](x, y, 64, BLOCK=64, num_warps=32)
    error = caught.value
    assert (error.required, error.limit, error.name) == (1024, 512, "threads")
    assert str(error) == (
        "out of resource: threads, Required: 1024, Hardware limit: 512. Reducing block sizes or `num_stages` may help."
    )
    again = pickle.loads(pickle.dumps(error))
    assert (again.required, again.limit, again.name) == (1024, 512, "threads")
    with pytest.raises(triton.OutOfResources, match="Required: 2048, Hardware limit: 1024"):
        copy[(1,)](x, y, 64, BLOCK=64, num_warps=64)
    copy[(1,)](x, y, 64, BLOCK=64)
    assert len(stub.launches()) == 1


@triton.jit
def product(x_ptr, y_ptr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    at = i[:, None] * SIZE + i[None, :]
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.dot(x, x, input_precision="ieee"))


def test_too_much_shared_memory(stub, copy):
    x, y = tensors()
    # Both factors lie in shared memory: 2 * 256 * 256 * 4 bytes.
    with pytest.raises(triton.OutOfResources) as caught:
        product[(1,)](x, y, SIZE=256, num_warps=8)
    error = caught.value
    assert (error.name, error.limit) == ("shared memory", 232448) and error.required >= 2 * 256 * 256 * 4
    assert str(error).startswith(f"out of resource: shared memory, Required: {error.required}, Hardware limit: 232448")
    copy[(1,)](x, y, 64, BLOCK=64)
    assert len(stub.launches()) == 1


def test_fewer_registers_than_a_kernel_needs(stub):
    """Allowed: what does not fit is spilled."""
    x, y = tensors()
    few = product[(1,)](x, y, SIZE=64, num_warps=1, maxnreg=32)
    assert few.n_regs <= 32 and few.n_spills > 0
    many = product[(1,)](x, y, SIZE=64, num_warps=1, maxnreg=255)
    assert many.n_regs > 32 and many.n_spills < few.n_spills
    assert len(stub.launches()) == 2


def test_host_memory_by_its_address(stub, copy):
    x, _ = tensors()
    host = np.ones(64, np.float32)
    with pytest.raises(ValueError, match=r"\(cpu tensor\?\).*argument 'y_ptr'"):
        copy[(1,)](x, RawPointer(host.ctypes.data), 64, BLOCK=64)
    assert stub.launches() == []


def test_the_autotuner_passes_over_what_does_not_fit(stub):
    @triton.autotune([triton.Config({"BLOCK": 64}, num_warps=warps) for warps in (32, 64, 4)], key=["n"])
    @triton.jit
    def tuned(x_ptr, n, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK > 0)

    tuned[(1,)](Tensor(64, np.float32), 64)
    assert tuned.best_config.num_warps == 4
    timings = {config.num_warps: times for config, times in tuned.configs_timings.items()}
    assert timings[32] == timings[64] == [float("inf")] * 3


@pytest.mark.parametrize(
    "options, kind, text",
    [
        ({"num_ctas": 3}, ValueError, "num_ctas must be a power of 2 up to 16, not 3"),
        ({"maxnreg": 256}, ValueError, "maxnreg must be between 1 and 255, or 0 for no limit, not 256"),
        ({"num_warps": 3}, ValueError, "num_warps must be a power of 2, got 3"),
    ],
)
def test_options_that_make_no_sense(stub, copy, options, kind, text):
    with pytest.raises(kind, match=text):
        copy[(1,)](*tensors(), 64, BLOCK=64, **options)


def test_clusters_need_a_newer_chip(copy):
    source = ASTSource(copy, {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}, {"BLOCK": 64})
    with pytest.raises(ValueError, match="num_ctas > 1 needs clusters, which sm_90 brought: set num_ctas=1 for sm_80"):
        triton.compile(source, target=GPUTarget("cuda", 80, 32), options={"num_ctas": 2})


@pytest.mark.parametrize("arch, text", [("sm_30", "sm_30"), ("hopper", "hopper"), ("", None)])
def test_architectures_that_do_not_exist(stub, copy, arch, text):
    source = ASTSource(copy, {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}, {"BLOCK": 64})
    if text is None:
        # None named: that of the device at hand.
        assert ".target sm_90a" in triton.compile(source, target=GPUTarget("cuda", arch, 32)).asm["ptx"]
        return
    with pytest.raises(ValueError, match=text):
        triton.compile(source, target=GPUTarget("cuda", arch, 32))


def test_a_grid_that_is_too_large(stub, copy):
    x, y = tensors()
    with pytest.raises(ValueError, match=r"dimension 1 of the grid \(1, 65536, 1\) is larger than the 65535"):
        copy[(1, 65536)](x, y, 64, BLOCK=64)
    with pytest.raises(ValueError, match=r"2147483647 programs of 2 blocks each \(num_ctas\) is over 2\^31 - 1 blocks"):
        copy[(2**31 - 1,)](x, y, 64, BLOCK=64, num_ctas=2)


def test_an_illegal_address_in_an_earlier_kernel(stub, copy):
    x, y = tensors()
    copy[(1,)](x, y, 64, BLOCK=64)
    stub.fail("cuLaunchKernelEx", 700)
    with pytest.raises(RuntimeError) as caught:
        copy[(1,)](x, y, 64, BLOCK=64)
    text = str(caught.value)
    assert text.startswith("Triton Error [CUDA]: an illegal memory access was encountered\n")
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in text and "kernel copy_kernel" in text and "start a new one" in text
    with pytest.raises(RuntimeError, match=r"Triton Error \[CUDA\]"):
        copy[(1,)](x, y, 64, BLOCK=64)
    # The CPU is none the worse for it.
    host = np.ones((2, 64), np.float32)
    copy[(1,)](host[0], host[1], 64, BLOCK=64)
    stub.fail("cuLaunchKernelEx", 0)
    copy[(1,)](x, y, 64, BLOCK=64)


def test_an_error_that_shows_when_waiting(stub):
    stub.fail("cuStreamSynchronize", 700)
    with pytest.raises(RuntimeError, match="an illegal memory access was encountered"):
        _native.cuda_synchronize(0, 0)


def test_a_driver_that_does_not_take_the_code(stub, copy):
    x, y = tensors()
    stub.fail("cuModuleLoadDataEx", 222)
    with pytest.raises(RuntimeError, match="CUDA_ERROR_UNSUPPORTED_PTX_VERSION"):
        copy[(1,)](x, y, 64, BLOCK=64)
    stub.fail("cuModuleLoadDataEx", 0)
    copy[(1,)](x, y, 64, BLOCK=64)
    assert len(stub.launches()) == 1


@pytest.fixture
def no_assembler(monkeypatch, tmp_path):
    for tool in ("PTXAS", "PTXAS_BLACKWELL", "NVJITLINK"):
        monkeypatch.setenv(f"DESPINA_{tool}_PATH", str(tmp_path / "nowhere"))


def test_without_an_assembler_the_driver_gets_the_ptx(stub, copy, no_assembler):
    kernel = copy[(1,)](*tensors(), 64, BLOCK=64)
    (load,) = [call for call in stub.calls() if call.startswith("cuModuleLoadDataEx")]
    assert "\x7fELF" not in load and ".visible .entry copy_kernel" in "\n".join(stub.calls())
    assert len(stub.launches()) == 1
    assert kernel.n_regs == 42, "as the driver says"
    with pytest.raises(RuntimeError, match="nowhere"):
        kernel.asm["cubin"]


def test_neither_an_assembler_nor_a_driver_that_knows_the_ptx(stub, copy, no_assembler):
    stub.fail("cuModuleLoadDataEx", 222)
    with pytest.raises(RuntimeError, match="The driver got PTX, for want of an assembler: (.|\n)*nowhere"):
        copy[(1,)](*tensors(), 64, BLOCK=64)


def test_an_assembler_that_fails(stub, copy, monkeypatch, tmp_path):
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("#!/bin/sh\necho 'ptxas fatal : out of ideas' >&2\nexit 1\n")
    ptxas.chmod(0o755)
    monkeypatch.setenv("DESPINA_PTXAS_PATH", str(ptxas))
    with pytest.raises(PTXASError, match="PTXAS error: (.|\n)*out of ideas"):
        copy[(1,)](*tensors(), 64, BLOCK=64)


def test_memory_that_there_is_not(stub):
    stub.fail("cuMemAlloc_v2", 2)
    with pytest.raises(RuntimeError, match="cannot allocate 4096 bytes on CUDA device 0"):
        _native.cuda_allocate(0, 4096)
    with pytest.raises(ValueError, match="there is no CUDA device 7: devices are 0 to 1"):
        _native.cuda_allocate(7, 4096)


SCRIPT = """
import numpy as np
import despina as triton, despina.language as tl
from despina.backends.compiler import GPUTarget
from despina.runtime.driver import driver

@triton.jit
def kernel(n):
    tl.device_assert(n > 0)

@triton.jit
def fill(x_ptr, n):
    tl.store(x_ptr, n)

driver.set_active_to_gpu()
for attempt in (lambda: kernel[(1,)](5), lambda: driver.active.get_current_target(),
                lambda: triton.compile(triton.compiler.ASTSource(fill, {"x_ptr": "*i32", "n": "i32"}),
                                       target=GPUTarget("cuda", "", 32))):
    try:
        attempt()
    except RuntimeError as error:
        print(type(error).__name__, error)
driver.set_active_to_cpu()
x = np.zeros(1, np.int32)
fill[(1,)](x, 7)
print(x[0], type(driver.default).__name__)
"""


TOO_OLD = (
    """
import ctypes, os
ctypes.CDLL(os.environ["DESPINA_LIBCUDA_PATH"]).stubVersion(11040)
"""
    + SCRIPT
)


@pytest.mark.parametrize(
    "library, script, wanted",
    [
        ("/no/such/libcuda.so.1", SCRIPT, "no CUDA driver: cannot open"),
        ("libm.so.6", SCRIPT, "the NVIDIA driver is too old"),
        (None, TOO_OLD, "the NVIDIA driver is too old: it is for CUDA 11.4, and CUDA 11.8 (driver 520) or newer"),
    ],
    ids=["none", "not one", "too old"],
)
def test_a_driver_that_is_of_no_use(tmp_path, library, script, wanted):
    path = tmp_path / "script.py"
    path.write_text(script)
    environment = {**os.environ, "DESPINA_LIBCUDA_PATH": library or os.environ["DESPINA_LIBCUDA_PATH"]}
    environment.pop("TRITON_DEFAULT_BACKEND")
    done = subprocess.run([sys.executable, str(path)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *errors, last = done.stdout.splitlines()
    assert len(errors) == 3 and all(line.startswith("RuntimeError") and wanted in line for line in errors), errors
    assert "name its architecture" in errors[2]
    assert last == "7 CPUDriver"
