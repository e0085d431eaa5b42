import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


@pytest.fixture
def rng(request):
    """Random numbers, new ones for each run; the seed is printed with a failure."""
    seed = int(np.random.SeedSequence().entropy % 2**32)
    print(f"seed of the random inputs: {seed}")
    return np.random.default_rng(seed)
