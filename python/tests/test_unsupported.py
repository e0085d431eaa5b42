"""What this version lacks says so by name; the list of names is the specification's, not the registry's."""

import numpy as np
import pytest

import despina as triton
import despina.language as tl

from helpers import module_from
from test_api import NAMES

pytestmark = pytest.mark.cpu_only("what the front end refuses")

UNSUPPORTED = """
dot_scaled sort topk bitonic_merge map_elementwise philox philox_impl rand rand4x randint randint4x randn randn4x
pair_uniform_to_normal uint_to_uniform_float flip
""".split()
ELSEWHERE = """
extra.cuda.globaltimer extra.cuda.smid target_info.current_target target_info.is_cuda random.rand
""".split()
MEMBERS = "sort flip".split()


def refusal(body):
    module = module_from(f"@triton.jit\ndef kernel(x_ptr):\n    x = tl.load(x_ptr + tl.arange(0, 16))\n    {body}\n")
    x = np.zeros(16, np.float32)
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)](x)
    assert isinstance(caught.value.__cause__, NotImplementedError), caught.value
    assert str(caught.value).startswith("at 3:8:\n")
    return str(caught.value).rstrip().split("\n")[-1]


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_functions(name):
    for call in ("()", "(x)", "(x, x, 1)"):
        assert refusal(f"y = tl.{name}{call}") == f"'tl.{name}' is not supported yet"


@pytest.mark.parametrize("name", ELSEWHERE)
def test_functions_of_submodules(name):
    said = refusal(f"y = tl.{name}(x)")
    assert said.endswith("is not supported yet") and name.rsplit(".", 1)[1] + "'" in said


@pytest.mark.parametrize("name", MEMBERS)
def test_members(name):
    assert refusal(f"y = x.{name}(0)") == f"'tl.{name}' is not supported yet"


def test_everything_else_is_there():
    """Each public name is either on the list above or says what it does."""
    said = {name for name in NAMES if "not supported yet" in (getattr(getattr(tl, name), "__doc__", "") or "").lower()}
    assert said == set(UNSUPPORTED)


@pytest.mark.compiled_only("the interpreter has all types")
@pytest.mark.parametrize("name", ["float8e4b15"])
def test_small_floats(name):
    module = module_from(f"@triton.jit\ndef kernel():\n    x = tl.zeros((16,), tl.{name})\n")
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)]()
    assert f"type {getattr(tl, name).name} not supported in this architecture" in str(caught.value)


def test_a_name_that_never_existed():
    module = module_from("@triton.jit\ndef kernel():\n    x = tl.no_such_thing(1)\n")
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)]()
    assert "no_such_thing" in str(caught.value) and "supported yet" not in str(caught.value)
