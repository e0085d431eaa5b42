"""Which device kernels run on."""

from __future__ import annotations

import os
import sys

from .. import _native
from ..backends.compiler import CPU, cuda_target
from ..knobs import getenv

__all__ = ["driver"]


class _CPUUtils:
    @staticmethod
    def get_device_properties(device=0):
        """The properties that tuning code asks for."""
        return {
            "max_shared_mem": 1 << 20,
            "max_num_regs": 32,
            "multiprocessor_count": os.cpu_count() or 1,
            "warpSize": 1,
            "sm_clock_rate": 0,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
        }


class CPUDriver:
    """Runs kernels on this machine's processor."""

    utils = _CPUUtils()

    def get_current_target(self):
        return CPU

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        if device != 0:
            raise ValueError(f"the CPU target has the one device 0, not {device}")

    def get_current_stream(self, device=0):
        return 0

    def get_device_capability(self, device=0):
        return (0, 0)

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")

    def get_benchmarker(self):
        from ..testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        import numpy

        return numpy.empty(64 << 20, dtype=numpy.int8)

    def clear_cache(self, cache):
        cache.fill(0)


def _torch():
    """torch, if the program uses it with CUDA."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and hasattr(torch, "cuda") and torch.cuda.is_initialized() else None


class _CUDAUtils:
    @staticmethod
    def get_device_properties(device):
        """The properties that tuning code asks for."""
        found = _native.cuda_properties(device)
        return {**found, "warpSize": found["warp_size"]}


class CUDAEvent:
    """A mark in a stream that knows when it was passed."""

    def __init__(self, enable_timing=True):
        self._device = _native.cuda_current_device()
        self._handle = _native.cuda_create_event(self._device)

    def record(self, stream=None):
        if stream is None:
            stream = _native.cuda_current_stream(self._device)
        _native.cuda_record_event(self._device, self._handle, stream)

    def elapsed_time(self, end):
        """Milliseconds from this event to another."""
        return _native.cuda_elapsed(self._device, self._handle, end._handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            _native.cuda_destroy_event(self._device, self._handle)


class CUDAInterface:
    """What measuring code asks of a device, for programs without torch."""

    Event = CUDAEvent

    @staticmethod
    def current_device():
        return _native.cuda_current_device()

    @staticmethod
    def set_device(device):
        _native.cuda_set_current_device(device)

    @staticmethod
    def synchronize(device=None):
        _native.cuda_synchronize(_native.cuda_current_device() if device is None else device)


class _CUDACache:
    """Memory that fills the L2 cache when it is zeroed."""

    def __init__(self, size):
        self._device = _native.cuda_current_device()
        self._memory = _native.cuda_allocate(self._device, size)

    def zero_(self):
        self._memory.fill_async(0, _native.cuda_current_stream(self._device))


class CUDADriver:
    """Runs kernels on NVIDIA GPUs."""

    utils = _CUDAUtils()

    @staticmethod
    def is_active():
        """Whether there is a GPU that can be used."""
        try:
            return _native.cuda_device_count() > 0
        except RuntimeError:
            return False

    def get_current_target(self):
        major, minor = self.get_device_capability(self.get_current_device())
        return cuda_target(major * 10 + minor)

    def get_current_device(self):
        torch = _torch()
        return torch.cuda.current_device() if torch else _native.cuda_current_device()

    def set_current_device(self, device):
        torch = _torch()
        if torch:
            torch.cuda.set_device(device)
        else:
            _native.cuda_set_current_device(device)

    def get_current_stream(self, device=None):
        return _native.cuda_current_stream(self.get_current_device() if device is None else device)

    def get_device_capability(self, device=0):
        return _native.cuda_properties(device)["capability"]

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda", self.get_current_device())

    def get_device_interface(self):
        torch = _torch()
        return torch.cuda if torch else CUDAInterface

    def get_benchmarker(self):
        from ..testing import do_bench

        return do_bench

    def get_empty_cache_for_benchmark(self):
        size = 256 << 20
        torch = _torch()
        return torch.empty(size // 4, dtype=torch.int, device="cuda") if torch else _CUDACache(size)

    def clear_cache(self, cache):
        cache.zero_()


class _Driver:
    """`driver.active`, `driver.default`, `driver.set_active`.

    The default is CUDA where a GPU can be used, else the CPU; TRITON_DEFAULT_BACKEND ("cpu", "nvidia" or "cuda")
    decides otherwise. It is looked for on first use: a program that only compiles never starts CUDA.
    """

    def __init__(self):
        self._default = None
        self._active = None

    @property
    def default(self):
        if self._default is None:
            wanted = getenv("TRITON_DEFAULT_BACKEND", "")
            if wanted not in ("", "cpu", "nvidia", "cuda"):
                raise RuntimeError(f"TRITON_DEFAULT_BACKEND is {wanted!r}, but the backends are 'cpu' and 'nvidia'")
            use_cuda = wanted in ("nvidia", "cuda") or (not wanted and CUDADriver.is_active())
            self._default = CUDADriver() if use_cuda else CPUDriver()
        return self._default

    @property
    def active(self):
        return self.default if self._active is None else self._active

    def set_active(self, new):
        self._active = new

    def reset_active(self):
        self._active = None

    def set_active_to_cpu(self):
        self._active = CPUDriver()

    def set_active_to_gpu(self):
        self._active = CUDADriver()


driver = _Driver()


def __getattr__(name):
    # `import triton.runtime.driver` puts this module where `triton.runtime` had the object of the same name.
    if name in ("active", "default", "set_active", "reset_active", "set_active_to_cpu", "set_active_to_gpu"):
        return getattr(driver, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def active_device():
    """The number of the active driver's CUDA device, or -1: where a launch goes whose arguments do not tell."""
    active = driver.active
    return active.get_current_device() if active.get_current_target().backend == "cuda" else -1
