"""Memory that kernels need beside their arguments."""

from __future__ import annotations

from contextvars import ContextVar

__all__ = ["NullAllocator", "set_allocator", "set_profile_allocator"]


class NullAllocator:
    """Stands for the allocator that was not set."""

    def __call__(self, size, alignment, stream):
        raise RuntimeError(
            "Kernel requires a runtime memory allocation, but no allocator was set. "
            "Use triton.set_allocator to specify an allocator."
        )


_null_allocator = NullAllocator()
_allocator: ContextVar = ContextVar("_allocator", default=None)
_profile_allocator: ContextVar = ContextVar("_profile_allocator", default=None)


def set_allocator(allocator):
    """Sets the function that gives kernels scratch memory: `allocator(size, alignment, stream)` returns an object whose
    `data_ptr()` is an address on the GPU. It counts for the current thread (or context). On GPUs with tensor maps,
    kernels need it that make descriptors of what they compute, and use these in loops."""
    _allocator.set(allocator)


def set_profile_allocator(allocator):
    """Sets the function that gives profilers memory. No kernel asks for any yet."""
    _profile_allocator.set(allocator)


def allocate_scratch(size, alignment, stream):
    """(owner, address) of scratch memory for one launch."""
    allocator = _allocator.get() or _null_allocator
    owner = allocator(size, alignment, stream)
    address = owner.data_ptr()
    if not address or address % alignment:
        raise ValueError(
            f"the allocator gave the address {address:#x} for {size} bytes; it must be a multiple of {alignment}"
        )
    return owner, address
