"""A function of another file, for line-info.py."""

import triton


@triton.jit
def scaled(x, factor):
    return x * factor
