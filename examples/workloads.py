"""The examples as workloads: inputs, the launch of our kernel, NumPy's way to the same result, a reference.

Used by `run.py`, which checks them, and by the benchmark, which measures them.
"""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

import despina as triton


def _kernels(name):
    """The module examples/kernels/NAME.py."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels", f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"despina_examples_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Workload:
    """One example at one size. `ours` and `numpy` compute; the others look at what they computed."""

    name: str
    size: str
    ours: Callable  # runs our kernel
    numpy: Callable  # runs NumPy's expression
    outputs: Callable  # -> arrays that `ours` wrote
    reference: Callable  # -> the same in higher precision
    tolerance: float
    poison: list = field(default_factory=list)

    def check(self):
        """Poisons the outputs, runs our kernel, and gives the largest error, relative where values exceed 1."""
        for array in self.poison:
            array.fill(np.nan)
        self.ours()
        worst = 0.0
        for result, expected in zip(self.outputs(), self.reference(), strict=True):
            error = np.abs(result.astype(np.float64) - expected) / np.maximum(1.0, np.abs(expected))
            worst = max(worst, float(np.max(np.where(np.isnan(error), np.inf, error))))
        return worst


def vector_add(n, rng):
    kernel = _kernels("add").add_kernel
    x, y = rng.standard_normal((2, n), dtype=np.float32)
    out, out_numpy = np.empty_like(x), np.empty_like(x)

    def ours():
        kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=8192)

    return Workload(
        "vector add",
        f"{n:,}",
        ours,
        lambda: np.add(x, y, out=out_numpy),
        lambda: [out],
        lambda: [(x + y).astype(np.float64)],
        0.0,
        [out],
    )


def numpy_softmax(x, out):
    """NumPy's best vectorised expression: in place, one buffer."""
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, out.sum(axis=1, keepdims=True), out=out)
    return out


def softmax(rows, columns, rng):
    kernel = _kernels("softmax").softmax_kernel
    x = rng.standard_normal((rows, columns), dtype=np.float32) * 4
    out, out_numpy = np.empty_like(x), np.empty_like(x)
    block = triton.next_power_of_2(columns)

    def ours():
        kernel[(rows,)](out, x, x.shape[1], out.shape[1], columns, BLOCK=block)

    def reference():
        wide = x.astype(np.float64)
        return [numpy_softmax(wide, np.empty_like(wide))]

    return Workload(
        "softmax", f"{rows}x{columns}", ours, lambda: numpy_softmax(x, out_numpy), lambda: [out], reference, 2e-6, [out]
    )


def numpy_layer_norm(x, weight, bias, eps):
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    rstd = 1 / np.sqrt(np.mean(centred * centred, axis=1, keepdims=True) + eps)
    return centred * rstd * weight + bias, mean[:, 0], rstd[:, 0]


def layer_norm(rows, columns, rng):
    kernel = _kernels("layer_norm").layer_norm_kernel
    x = rng.standard_normal((rows, columns), dtype=np.float32) * 2 + 1
    weight, bias = rng.standard_normal((2, columns), dtype=np.float32)
    out = np.empty_like(x)
    mean, rstd = np.empty((2, rows), dtype=np.float32)
    eps = 1e-5
    block = min(triton.next_power_of_2(columns), 1024)

    def ours():
        kernel[(rows,)](x, out, weight, bias, mean, rstd, columns, columns, eps, BLOCK=block)

    def reference():
        wide = (x.astype(np.float64), weight.astype(np.float64), bias.astype(np.float64))
        return list(numpy_layer_norm(*wide, eps))

    return Workload(
        "layer norm",
        f"{rows}x{columns}",
        ours,
        lambda: numpy_layer_norm(x, weight, bias, np.float32(eps)),
        lambda: [out, mean, rstd],
        reference,
        2e-5,
        [out, mean, rstd],
    )


def matmul(m, n, k, rng, activation="leaky_relu", bias=True):
    kernel = _kernels("matmul").matmul_kernel
    a = rng.standard_normal((m, k), dtype=np.float32)
    b = rng.standard_normal((k, n), dtype=np.float32)
    offset = rng.standard_normal(n, dtype=np.float32) if bias else None
    out, out_numpy = np.empty((m, n), np.float32), np.empty((m, n), np.float32)

    def ours():
        grid = lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)  # noqa: E731
        kernel[grid](a, b, offset, out, m, n, k, k, 1, n, 1, n, 1,
                     BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=4, ACTIVATION=activation)  # fmt: skip

    def epilogue(product):
        if bias:
            product += offset
        if activation:
            np.multiply(product, 0.01, out=product, where=product < 0)
        return product

    scale = float(np.sqrt(k))
    return Workload(
        "matmul" + (" + bias + leaky_relu" if activation else ""),
        f"{m}x{n}x{k}",
        ours,
        lambda: epilogue(np.matmul(a, b, out=out_numpy)),
        lambda: [out / scale],
        lambda: [epilogue(a.astype(np.float64) @ b.astype(np.float64)) / scale],
        1e-5,
        [out],
    )


def numpy_attention(q, k, v, scale, causal):
    """NumPy's way: the scores of every pair in memory."""
    scores = np.matmul(q, k.swapaxes(1, 2))
    scores *= scale
    if causal:
        hidden = np.triu(np.ones(scores.shape[1:], dtype=bool), 1)
        np.copyto(scores, -np.inf, where=hidden)
    scores -= scores.max(axis=2, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=2, keepdims=True)
    return np.matmul(scores, v)


def attention(heads, length, head, causal, rng):
    kernel = _kernels("attention").attention_kernel
    q, k, v = rng.standard_normal((3, heads, length, head), dtype=np.float32)
    out = np.empty_like(q)
    scale = float(1 / np.sqrt(head))
    block = 64

    def ours():
        kernel[(triton.cdiv(length, block), heads)](
            q, k, v, out, length * head, head, length, scale,
            BLOCK_M=block, BLOCK_N=block, HEAD=head, CAUSAL=causal,
        )  # fmt: skip

    def reference():
        wide = (array.astype(np.float64) for array in (q, k, v))
        return [numpy_attention(*wide, scale, causal)]

    return Workload(
        "attention" + (", causal" if causal else ""),
        f"{heads}x{length}x{head}",
        ours,
        lambda: numpy_attention(q, k, v, np.float32(scale), causal),
        lambda: [out],
        reference,
        1e-5,
        [out],
    )
