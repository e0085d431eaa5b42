"""Which public names a test uses: for `--results`, hence for the conformance table.

Nobody declares them. Each kernel that a test compiles knows its names and the types of their data (`names_used`), and
what Python code reads from the package's modules is noted here.
"""

from __future__ import annotations

import sys
import types

import despina.language  # noqa: F401 (one of the modules that are watched)
from despina import _native
from despina.compiler import compiler as compiler_module
from despina.runtime import jit as jit_module

# Functions of the language work in kernels alone, and kernels know which they used.
MODULES = {"despina": "", "despina.language": "language."}


class Touched:
    """Collects for one test after another."""

    def __init__(self):
        self.now = set()
        self.passed = {}

    def install(self):
        compile_arguments = compiler_module.compile_arguments

        def compile_and_note(*args):
            kernel = compile_arguments(*args)
            self.now.update(kernel._kernel.names_used)
            return kernel

        compiler_module.compile_arguments = jit_module.compile_arguments = compile_and_note
        check = _native.check  # what the interpreter does in place of compiling

        def check_and_note(function, arguments):
            names = []
            used = check(function, arguments, names)
            self.now.update(names)
            return used

        _native.check = check_and_note
        for name, prefix in MODULES.items():
            sys.modules[name].__class__ = self._noting(prefix)

    def _noting(self, prefix):
        """A class of modules that notes what is read from outside of the package."""
        touched = self

        class NotingModule(types.ModuleType):
            def __getattribute__(self, name):
                value = super().__getattribute__(name)
                caller = sys._getframe(1).f_globals.get("__name__") or ""
                if not name.startswith("__") and caller.partition(".")[0] != "despina":
                    touched.note(prefix + name, value)
                return value

        return NotingModule

    def note(self, path, value):
        if not getattr(value, "__triton_builtin__", False) or not path.startswith("language."):
            self.now.add(path)

    def start(self):
        self.now = set()

    def keep(self):
        """The test passed."""
        for entry in self.now:
            name, _, dtype = entry.partition(":")
            self.passed.setdefault(name, set()).update([dtype] if dtype else [])

    def names(self):
        """Name -> types of data, for all names that exist; None where no test that passed has used it."""
        known = {path for path, _, _, _, _ in _native.builtin_docs() if not path.startswith(("builtins.", "dtype."))}
        known |= self.passed.keys()
        return {name: sorted(self.passed[name]) if name in self.passed else None for name in sorted(known)}
