"""Calls of the packages' own functions with small inputs, each compared with torch where torch has the same."""

from __future__ import annotations

import dataclasses
from typing import Callable


@dataclasses.dataclass
class Case:
    """One call. `run(check)` calls `check(got, want)` for each result that has a reference."""

    package: str
    name: str
    run: Callable


REGISTRY: list[Case] = []


def case(package, name):
    """Registers a function as a case."""

    def decorator(function):
        REGISTRY.append(Case(package, name, function))
        return function

    return decorator


class Check:
    """Compares results and remembers what was wrong."""

    def __init__(self):
        self.compared, self.wrong = 0, []

    def __call__(self, got, want, tolerance=2e-3, label="result"):
        import torch

        if isinstance(want, (tuple, list)):
            for i, (g, w) in enumerate(zip(got, want)):
                self(g, w, tolerance, f"{label}[{i}]")
            return
        if not isinstance(want, torch.Tensor):
            return
        self.compared += 1
        got, want = got.detach(), want.detach()
        if got.shape != want.shape:
            self.wrong.append(f"{label} has shape {tuple(got.shape)}, wanted {tuple(want.shape)}")
            return
        if want.numel() == 0:
            return
        if want.is_complex():
            got, want = torch.view_as_real(got), torch.view_as_real(want)
        if not (want.is_floating_point() and got.is_floating_point()):
            if not torch.equal(got.to(want.dtype), want):
                self.wrong.append(f"{label}: {int((got != want).sum())} of {want.numel()} differ")
            return
        got, want = got.double(), want.double()
        if not torch.equal(got.isnan(), want.isnan()):
            self.wrong.append(f"{label}: {int(got.isnan().sum())} NaN, wanted {int(want.isnan().sum())}")
            return
        finite = want.isfinite()
        if not torch.equal(got[~finite & ~want.isnan()], want[~finite & ~want.isnan()]):
            self.wrong.append(f"{label}: infinities differ")
            return
        scale = float(want[finite].abs().max()) if bool(finite.any()) else 1.0
        error = float((got - want)[finite].abs().max()) if bool(finite.any()) else 0.0
        if not error <= tolerance * max(scale, 1.0):
            self.wrong.append(f"{label} is off by {error:.3g} where the largest value is {scale:.3g}")


def gradients(function, inputs, seed=7):
    """The results of a function and the gradients of its inputs."""
    import torch

    inputs = [x.detach().clone().requires_grad_(x.is_floating_point()) if torch.is_tensor(x) else x for x in inputs]
    result = function(*inputs)
    outputs = [r for r in (result if isinstance(result, (tuple, list)) else [result]) if torch.is_tensor(r)]
    kept = [r.detach().clone() for r in outputs]
    generator = torch.Generator().manual_seed(seed)
    loss = 0
    for r in outputs:
        if r.requires_grad:
            loss = loss + (r * torch.randn(r.shape, generator=generator).to(r.dtype)).sum()
    leaves = [x for x in inputs if torch.is_tensor(x) and x.requires_grad]
    if torch.is_tensor(loss):
        loss.backward()
    return kept + [x.grad if x.grad is not None else torch.zeros_like(x) for x in leaves]


def compare(check, function, reference, inputs, tolerance=2e-3):
    """Forward and backward against a reference in torch."""
    want = gradients(reference, inputs)
    got = gradients(function, inputs)
    check(got, want, tolerance)
