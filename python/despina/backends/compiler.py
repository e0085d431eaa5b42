"""Descriptions of targets."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CPU", "GPUTarget", "cuda_target"]


@dataclass(frozen=True)
class GPUTarget:
    """A target to compile for.

    `GPUTarget("cpu", "", 1)` is this machine's processor, `GPUTarget("cuda", 90, 32)` a GPU of compute
    capability 9.0.
    """

    backend: str
    arch: int | str
    warp_size: int

    def _native(self):
        return (self.backend, str(self.arch), int(self.warp_size))


CPU = GPUTarget("cpu", "", 1)


def cuda_target(capability):
    """NVIDIA GPUs of a compute capability times 10."""
    return GPUTarget("cuda", capability, 32)
