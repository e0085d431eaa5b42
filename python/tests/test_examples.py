"""The examples at small and odd sizes."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import workloads  # noqa: E402

MAKERS = {
    "add": lambda rng: workloads.vector_add(98_432, rng),
    "add of one": lambda rng: workloads.vector_add(1, rng),
    "softmax": lambda rng: workloads.softmax(97, 781, rng),
    "softmax of a column": lambda rng: workloads.softmax(5, 1, rng),
    "layer norm": lambda rng: workloads.layer_norm(53, 1_531, rng),
    "matmul": lambda rng: workloads.matmul(131, 69, 203, rng),
    "matmul without bias": lambda rng: workloads.matmul(64, 64, 64, rng, activation="", bias=False),
    "attention": lambda rng: workloads.attention(2, 131, 64, False, rng),
    "causal attention": lambda rng: workloads.attention(2, 131, 32, True, rng),
}


@pytest.mark.parametrize("name", MAKERS)
def test_example(name, rng):
    work = MAKERS[name](rng)
    assert work.check() <= work.tolerance


@pytest.mark.parametrize("name", ["add", "softmax", "matmul", "causal attention"])
def test_numpy_expressions_agree(name, rng):
    """The benchmark compares with expressions that compute the same."""
    import numpy as np

    work = MAKERS[name](rng)
    result = work.numpy()
    scale = 1 if not name.startswith("matmul") else np.sqrt(203)
    assert np.allclose(np.asarray(result) / scale, work.reference()[0], atol=1e-4, rtol=1e-4)
