"""The targets that kernels can be compiled for."""

from . import compiler

backends = {"cpu": None, "nvidia": None}

__all__ = ["backends", "compiler"]
