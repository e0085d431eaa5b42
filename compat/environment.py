"""A machine that looks as if it had a GPU of compute capability 9.0, to packages that look for one at import.

Tensors stay in this machine's memory: whatever asks torch for the device "cuda" gets "cpu". Kernels that are launched
on such tensors run on the CPU target.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import types

PROPERTIES = {
    "name": "NVIDIA H200",
    "major": 9,
    "minor": 0,
    "total_memory": 140 << 30,
    "multi_processor_count": 132,
    "is_integrated": 0,
    "is_multi_gpu_board": 0,
    "max_threads_per_multi_processor": 2048,
    "max_threads_per_block": 1024,
    "regs_per_multiprocessor": 65536,
    "shared_memory_per_block": 49152,
    "shared_memory_per_block_optin": 232448,
    "shared_memory_per_multiprocessor": 233472,
    "warp_size": 32,
    "L2_cache_size": 50 << 20,
    "gcnArchName": "",
    "uuid": "0",
}
NVIDIA_SMI = "NVIDIA H200"


def install_alias():
    """`import triton` is ours from here on."""
    import _despina_alias

    _despina_alias.install()
    import triton

    assert triton.__file__.endswith("despina/__init__.py"), f"triton is {triton.__file__}"


class _Stream:
    cuda_stream = 0
    device = None

    def __init__(self, *args, **kwargs):
        pass

    def synchronize(self):
        pass

    def wait_stream(self, stream):
        pass

    def wait_event(self, event):
        pass

    def record_event(self, event=None):
        return event or _Event()

    def query(self):
        return True


class _Event:
    def __init__(self, *args, **kwargs):
        pass

    def record(self, stream=None):
        pass

    def wait(self, stream=None):
        pass

    def synchronize(self):
        pass

    def query(self):
        return True

    def elapsed_time(self, other):
        return 1.0


@contextlib.contextmanager
def _nothing(*args, **kwargs):
    yield


class _Device(contextlib.ContextDecorator):
    """torch.cuda.device and torch.cuda.stream as contexts that do nothing."""

    def __init__(self, *args, **kwargs):
        self.idx = 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


def _cuda_functions():
    properties = types.SimpleNamespace(**PROPERTIES)
    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "init": lambda: None,
        "_lazy_init": lambda: None,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "get_device_capability": lambda device=None: (9, 0),
        "get_device_properties": lambda device=None: properties,
        "get_device_name": lambda device=None: PROPERTIES["name"],
        "get_arch_list": lambda: ["sm_90"],
        "synchronize": lambda device=None: None,
        "current_stream": lambda device=None: _Stream(),
        "default_stream": lambda device=None: _Stream(),
        "set_stream": lambda stream: None,
        "stream": _Device,
        "device": _Device,
        "device_of": _Device,
        "Stream": _Stream,
        "Event": _Event,
        "empty_cache": lambda: None,
        "memory_allocated": lambda device=None: 0,
        "max_memory_allocated": lambda device=None: 0,
        "memory_reserved": lambda device=None: 0,
        "mem_get_info": lambda device=None: (100 << 30, 140 << 30),
        "reset_peak_memory_stats": lambda device=None: None,
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_current_stream_capturing": lambda: False,
        "can_device_access_peer": lambda a, b: False,
        "get_rng_state": lambda device=None: __import__("torch").get_rng_state(),
    }


class Generator:
    """A random generator of the device: two numbers of its state are all that kernels take."""

    def __init__(self, torch):
        self._torch = torch
        self._seed, self._offset = 42, 0

    def get_state(self):
        return self._torch.tensor([self._seed, self._offset], dtype=self._torch.int64).view(self._torch.uint8)

    def set_state(self, state):
        self._seed, self._offset = (int(v) for v in state.view(self._torch.int64)[:2])

    def initial_seed(self):
        return self._seed

    def manual_seed(self, seed):
        self._seed, self._offset = seed, 0
        return self

    def get_offset(self):
        return self._offset

    def set_offset(self, offset):
        self._offset = offset


def pretend_cuda():
    """Makes torch.cuda answer like a machine with one GPU."""
    import torch

    for name, value in _cuda_functions().items():
        setattr(torch.cuda, name, value)
    torch.cuda.default_generators = (Generator(torch),)
    torch._C._cuda_getCurrentRawStream = lambda device: 0
    torch.version.cuda = torch.version.cuda or "13.2"
    return torch


def pretend_nvidia_smi():
    """Packages that ask the system which GPU it has run `nvidia-smi`."""
    real = subprocess.run

    def run(command, *args, **kwargs):
        program = command[0] if isinstance(command, (list, tuple)) and command else str(command).split(" ")[0]
        if os.path.basename(program) == "nvidia-smi":
            text = NVIDIA_SMI if kwargs.get("text") or kwargs.get("universal_newlines") else NVIDIA_SMI.encode()
            return subprocess.CompletedProcess(command, 0, stdout=text, stderr=text[:0])
        return real(command, *args, **kwargs)

    subprocess.run = run


class _Utils:
    """What tuning code asks the driver for."""

    @staticmethod
    def get_device_properties(device=0):
        return {
            "max_shared_mem": PROPERTIES["shared_memory_per_block_optin"],
            "max_num_regs": 65536,
            "multiprocessor_count": PROPERTIES["multi_processor_count"],
            "warpSize": 32,
            "sm_clock_rate": 1980000,
            "mem_clock_rate": 3201000,
            "mem_bus_width": 6144,
        }


def pretend_driver():
    """Makes triton.runtime.driver.active a CUDA driver of compute capability 9.0 that measures nothing."""
    from despina.backends.compiler import CPU, GPUTarget
    from despina.runtime.driver import CPUDriver, driver

    class StubDriver(CPUDriver):
        utils = _Utils()
        launching = False  # kernels run on the CPU, whatever packages are told

        def get_current_target(self):
            return CPU if self.launching else GPUTarget("cuda", 90, 32)

        def get_device_capability(self, device=0):
            return (9, 0)

        def get_active_torch_device(self):
            import torch

            return torch.device("cuda", 0)

        def get_device_interface(self):
            import torch

            return torch.cuda

        def get_benchmarker(self):
            def bench(call, quantiles=None, **kwargs):
                call()
                return [1.0] * len(quantiles or (0,))

            return bench

    driver.set_active(StubDriver())
    driver._default = driver.active


def place_mode(torch):
    """A mode of torch under which the device "cuda" is this machine's memory."""
    from torch.overrides import TorchFunctionMode

    def is_cuda(value):
        if isinstance(value, torch.device):
            return value.type == "cuda"
        return isinstance(value, str) and (value == "cuda" or value.startswith("cuda:"))

    cpu, gpu = torch.device("cpu"), torch.device("cuda", 0)
    is_cuda_of, device_of = torch.Tensor.is_cuda.__get__, torch.Tensor.device.__get__

    class Place(TorchFunctionMode):
        def __torch_function__(self, function, kinds, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if function is torch.Tensor.cuda:
                return args[0]
            if function == is_cuda_of:
                return True
            if function == device_of:
                return gpu
            if is_cuda(kwargs.get("device")):
                kwargs["device"] = cpu
            if kwargs.get("generator") is not None and not isinstance(kwargs["generator"], torch.Generator):
                kwargs["generator"] = None
            if function is torch.Tensor.to or getattr(function, "__name__", "") in ("to", "pin_memory"):
                args = tuple(cpu if is_cuda(value) else value for value in args)
            return function(*args, **kwargs)

    return Place()


def prepare(folder):
    """All of it, before any of the packages is imported. What FlagGems keeps goes into `folder`, which begins empty."""
    shutil.rmtree(folder, ignore_errors=True)
    os.environ["FLAGGEMS_CACHE_DIR"] = folder
    sys.setrecursionlimit(10000)
    os.environ["TORCHDYNAMO_DISABLE"] = "1"  # torch.compile would ask for the GPU itself
    os.environ.setdefault("TRITON_F32_DEFAULT", "ieee")
    install_alias()
    torch = pretend_cuda()
    pretend_nvidia_smi()
    pretend_driver()
    return torch
