"""Descriptions of targets."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GPUTarget"]


@dataclass(frozen=True)
class GPUTarget:
    """A target to compile for. `GPUTarget("cpu", "", 1)` is this machine's processor."""

    backend: str
    arch: int | str
    warp_size: int

    def _native(self):
        return (self.backend, str(self.arch), int(self.warp_size))
