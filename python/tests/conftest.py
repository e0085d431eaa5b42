import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import helpers  # noqa: E402

SEED = pytest.StashKey[int]()


def pytest_runtest_setup(item):
    """Each test draws from a seed of its own, new for each run unless DESPINA_TEST_SEED gives it."""
    given = os.environ.get("DESPINA_TEST_SEED")
    seed = int(given) if given else int(np.random.SeedSequence().entropy % 2**32)
    item.stash[SEED] = seed
    item.add_report_section("setup", "seed", f"To draw the same numbers again: DESPINA_TEST_SEED={seed}")
    helpers.poison.seed(seed)


@pytest.fixture
def rng(request):
    """Random numbers, new ones for each run; the seed is printed with a failure."""
    return np.random.default_rng(request.node.stash[SEED])
