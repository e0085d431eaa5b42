"""Which device kernels run on."""

from __future__ import annotations

import os

from ..backends.compiler import GPUTarget

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
        return GPUTarget("cpu", "", 1)

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


class _Driver:
    """`driver.active`, `driver.default`, `driver.set_active`."""

    def __init__(self):
        self.default = CPUDriver()
        self.active = self.default

    def set_active(self, new):
        self.active = new

    def reset_active(self):
        self.active = self.default

    def set_active_to_cpu(self):
        self.active = self.default


driver = _Driver()
