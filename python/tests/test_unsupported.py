"""No public name of the language lacks a body, and names that never existed are errors that name them."""

import pytest

import despina as triton
import despina.language as tl

from helpers import module_from
from public_names import language_names

pytestmark = pytest.mark.cpu_only("what the front end refuses")


def test_nothing_is_missing():
    """Each public name says what it does."""
    documents = {name: getattr(getattr(tl, name), "__doc__", "") or "" for name in language_names()}
    assert [name for name, text in documents.items() if "not supported yet" in text.lower()] == []


def test_a_name_that_never_existed():
    module = module_from("@triton.jit\ndef kernel():\n    x = tl.no_such_thing(1)\n")
    with pytest.raises(triton.CompilationError) as caught:
        module.kernel[(1,)]()
    assert "no_such_thing" in str(caught.value) and "supported yet" not in str(caught.value)
