"""Finds the kernels of installed packages: imports all modules and notes each JITFunction that is made."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import importlib.util
import io
import os
import signal
import sys


@dataclasses.dataclass
class Found:
    """A kernel of a package."""

    index: int
    function: object
    package: str
    module: str
    qualname: str
    path: str
    line: int

    @property
    def name(self):
        return f"{self.module}.{self.qualname}"


@dataclasses.dataclass
class ImportFailure:
    package: str
    module: str
    kind: str
    message: str


class Discovery:
    """The kernels of some packages and what could not be imported."""

    def __init__(self, packages):
        self.packages = {name: os.path.dirname(importlib.util.find_spec(name).origin) for name in packages}
        self.found: list[Found] = []
        self.by_function: dict[int, Found] = {}
        self.failures: list[ImportFailure] = []
        self.modules: dict[str, int] = dict.fromkeys(packages, 0)
        self._places: dict[tuple, Found] = {}

    def _package_of(self, path):
        for name, folder in self.packages.items():
            if path.startswith(folder + os.sep):
                return name
        return None

    def note(self, function):
        """Called for each JITFunction that is made."""
        code = function.fn.__code__
        package = self._package_of(code.co_filename)
        if package is None:
            return
        place = (code.co_filename, code.co_firstlineno)
        # A file may be imported under two names: that is one kernel.
        found = self._places.get(place)
        if found is None:
            module = self._module_name(package, code.co_filename)
            found = Found(
                len(self.found), function, package, module, function.fn.__qualname__, code.co_filename, place[1]
            )
            self.found.append(found)
            self._places[place] = found
        self.by_function[id(function)] = found

    def _module_name(self, package, path):
        inner = os.path.relpath(path, self.packages[package]).removesuffix(".py").replace(os.sep, ".")
        return f"{package}.{inner}".removesuffix(".__init__")

    def install(self):
        """Listens to the making of kernels."""
        from despina.runtime.jit import JITFunction

        made = JITFunction.__init__
        discovery = self

        def init(self, *args, **kwargs):
            made(self, *args, **kwargs)
            discovery.note(self)

        JITFunction.__init__ = init

    def module_names(self, package):
        """All modules of a package by the files that it has."""
        folder, names = self.packages[package], []
        for place, folders, files in os.walk(folder):
            folders[:] = sorted(f for f in folders if f != "__pycache__" and not f.startswith("."))
            for file in sorted(files):
                if file.endswith(".py"):
                    names.append(self._module_name(package, os.path.join(place, file)))
        return names

    def import_all(self, limit=600):
        for package in self.packages:
            for name in self.module_names(package):
                self.modules[package] += 1
                self._import(package, name, limit)

    def _import(self, package, name, limit):
        def expired(signum, frame):
            raise TimeoutError(f"not imported within {limit} s")

        before = signal.signal(signal.SIGALRM, expired)
        signal.alarm(limit)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                importlib.import_module(name)
        except BaseException as error:  # noqa: BLE001 (whatever a module raises is a finding)
            if isinstance(error, KeyboardInterrupt):
                raise
            message = (str(error).strip().splitlines() or [""])[0]
            self.failures.append(ImportFailure(package, name, type(error).__name__, message))
            sys.modules.pop(name, None)
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
