"""A function of another file, for line-info.py."""

import triton


@triton.jit
def shifted(x, factor):
    return x - factor
