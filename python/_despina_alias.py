"""Answers `import triton` with Despina.

A module of its own beside the package, because a Python that starts with DESPINA_AS_TRITON=1 installs the finder at
once (despina-alias.pth) and should not pay for the compiler before a script asks for it.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys

# What `triton.__version__` says: the version whose interface is answered.
TRITON_VERSION = "3.8.0"

_ALIAS, _OWN = "triton", "despina"


class _Loader(importlib.abc.Loader):
    """Gives the module of the same place in this package, the same object."""

    def __init__(self, own):
        self._own = own
        self._spec = None

    def create_module(self, spec):
        module = importlib.import_module(self._own)
        sys.modules[_OWN].__version__ = TRITON_VERSION
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        # The import system has put the alias's spec on the module: it stays what it was.
        module.__spec__ = self._spec


class _Distribution(importlib.metadata.Distribution):
    """What `importlib.metadata` says of the alias."""

    def read_text(self, filename):
        if filename == "METADATA":
            return f"Metadata-Version: 2.1\nName: {_ALIAS}\nVersion: {TRITON_VERSION}\n"
        return None

    def locate_file(self, path):
        return os.path.join(os.path.dirname(__file__), _OWN, path)


class AliasFinder(importlib.abc.MetaPathFinder):
    """Finds `triton` and `triton.*`."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != _ALIAS and not fullname.startswith(_ALIAS + "."):
            return None
        own = _OWN + fullname[len(_ALIAS) :]
        if importlib.util.find_spec(own) is None:
            return None
        is_package = importlib.util.find_spec(own).submodule_search_locations is not None
        return importlib.machinery.ModuleSpec(fullname, _Loader(own), is_package=is_package)

    def find_distributions(self, context=None):
        if context is not None and getattr(context, "name", None) in (_ALIAS, None):
            return [_Distribution()]
        return []


def install():
    """From now on `import triton` is `import despina`, here and in child processes."""
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder())
    for name in [name for name in sys.modules if name == _ALIAS or name.startswith(_ALIAS + ".")]:
        del sys.modules[name]
    os.environ["DESPINA_AS_TRITON"] = "1"
