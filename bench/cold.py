"""Compiles one example in a process of its own and prints, as JSON, what that took. Run by run.py.

cold.py add|attention
"""

from __future__ import annotations

import json
import os
import sys
import time

import numpy as np

import despina as triton
from despina.backends.compiler import GPUTarget
from despina.compiler import ASTSource

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
import workloads  # noqa: E402

HINT = [["tt.divisibility", 16]]
ADD = (
    "add_kernel",
    {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"},
    {"BLOCK": 8192},
    {(i,): HINT for i in range(4)},
)
ATTENTION = (
    "attention_kernel",
    {"q_ptr": "*fp32", "k_ptr": "*fp32", "v_ptr": "*fp32", "out_ptr": "*fp32", "stride_h": "i32", "stride_s": "i32",
     "length": "i32", "scale": "fp32", "BLOCK_M": "constexpr", "BLOCK_N": "constexpr", "HEAD": "constexpr",
     "CAUSAL": "constexpr"},
    {"BLOCK_M": 64, "BLOCK_N": 64, "HEAD": 64, "CAUSAL": True},
    {(i,): HINT for i in range(7)},
)  # fmt: skip


def peak_mib():
    """The most memory this program has had. (getrusage would count the process that started it, before exec.)"""
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def main(name):
    kernel_name, signature, constants, attrs = {"add": ADD, "attention": ATTENTION}[name]
    kernel = getattr(workloads._kernels(name), kernel_name)
    source = ASTSource(kernel, signature, constants, attrs)
    before = peak_mib()
    begin = time.perf_counter()
    compiled = triton.compile(source, target=GPUTarget("cpu", "", 1))
    total = time.perf_counter() - begin
    stages = [[stage, seconds * 1e3] for stage, seconds in compiled.stage_times]
    # A launch proves that the code was there.
    if name == "add":
        x = np.ones(100, np.float32)
        out = np.zeros_like(x)
        compiled[(1, 1, 1)](x, x, out, 100, 8192)
        assert (out == 2).all()
    print(json.dumps({"total_ms": total * 1e3, "stages_ms": stages, "peak_mib": peak_mib(), "before_mib": before}))


if __name__ == "__main__":
    main(sys.argv[1])
