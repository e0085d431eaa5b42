"""Files kept on disk by key, for code that stores its own: kernels themselves stay in memory.

A manager's files lie in a folder named by the key. Each is written beside its place and renamed, so that a reader sees
a whole file or none, whichever process wrote it.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import uuid
from abc import ABC, abstractmethod

from .. import knobs
from ..compiler.compiler import triton_key

__all__ = [
    "CacheManager",
    "FileCacheManager",
    "RemoteCacheBackend",
    "RemoteCacheManager",
    "default_cache_dir",
    "get_cache_key",
    "get_cache_manager",
    "get_dump_manager",
    "get_override_manager",
    "triton_key",
]


def default_cache_dir():
    """Where files are kept unless TRITON_CACHE_DIR or TRITON_HOME say otherwise."""
    return os.path.join(os.path.expanduser("~"), ".triton", "cache")


class CacheManager(ABC):
    """The files of one key."""

    def __init__(self, key, override=False, dump=False):  # noqa: B027 (what implementations take)
        pass

    @abstractmethod
    def get_file(self, filename):
        """The path of a file, or None."""

    @abstractmethod
    def put(self, data, filename, binary=True):
        """Stores a file and returns its path."""

    @abstractmethod
    def get_group(self, filename):
        """The paths of a group's files by name, or None where one of them is missing."""

    @abstractmethod
    def put_group(self, filename, group):
        """Stores which files belong together: `group` maps names to paths."""


class FileCacheManager(CacheManager):
    """The files of one key in a folder of this machine."""

    def __init__(self, key, override=False, dump=False):
        self.key = key
        self.lock_path = None
        folder = knobs.cache.dump_dir if dump else knobs.cache.override_dir if override else knobs.cache.dir
        if not folder:
            raise RuntimeError("Could not create or locate cache dir")
        self.cache_dir = os.path.join(folder, key)
        if not override:
            self.lock_path = os.path.join(self.cache_dir, "lock")
            os.makedirs(self.cache_dir, exist_ok=True)

    def _make_path(self, filename):
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename):
        """Whether the file is there."""
        return os.path.exists(self._make_path(filename))

    def get_file(self, filename):
        return self._make_path(filename) if self.has_file(filename) else None

    def put(self, data, filename, binary=True):
        # Bytes are written as they are, whatever `binary` says, and text where bytes were announced as text.
        data = data if isinstance(data, (bytes, bytearray, memoryview)) else str(data).encode()
        path = self._make_path(filename)
        # A folder of its own: no other writer has it, and its name says who left it if the process dies.
        place = os.path.join(self.cache_dir, f"tmp.pid_{os.getpid()}_{uuid.uuid4()}")
        os.makedirs(place)
        try:
            temporary = os.path.join(place, os.path.basename(filename))
            with open(temporary, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return path

    def get_group(self, filename):
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        try:
            with open(path, encoding="utf-8") as file:
                children = json.load(file).get("child_paths", {})
        except (OSError, ValueError):
            return None
        return children if all(os.path.exists(child) for child in children.values()) else None

    def put_group(self, filename, group):
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)


class RemoteCacheBackend(ABC):
    """A store of files elsewhere, by name."""

    def __init__(self, key):  # noqa: B027 (what implementations take)
        pass

    @abstractmethod
    def get(self, filenames):
        """The contents of those files that there are: name -> bytes."""

    @abstractmethod
    def put(self, filename, data):
        """Stores a file."""


class RemoteCacheManager(CacheManager):
    """Files kept by the backend that TRITON_REMOTE_CACHE_BACKEND names, with copies on this machine."""

    def __init__(self, key, override=False, dump=False):
        backend = knobs.cache.remote_manager_class
        if not backend:
            raise RuntimeError("TRITON_REMOTE_CACHE_BACKEND names no class (module:Class)")
        self._backend = _load_class(backend)(key)
        self._files = FileCacheManager(key, override=override, dump=dump)

    def get_file(self, filename):
        content = self._backend.get([filename]).get(filename)
        return None if content is None else self._files.put(content, filename)

    def put(self, data, filename, binary=True):
        path = self._files.put(data, filename, binary)
        with open(path, "rb") as file:
            self._backend.put(filename, file.read())
        return path

    def get_group(self, filename):
        content = self._backend.get([f"__grp__{filename}"]).get(f"__grp__{filename}")
        if content is None:
            return None
        names = list(json.loads(content)["child_paths"])
        found = self._backend.get(names)
        if len(found) < len(names):
            return None
        return {name: self._files.put(data, name) for name, data in found.items()}

    def put_group(self, filename, group):
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)


def _load_class(name):
    module, separator, attribute = name.partition(":")
    if not separator:
        raise RuntimeError(f"{name!r} names no class: write it as module:Class")
    return getattr(importlib.import_module(module), attribute)


def _manager(key, **how):
    name = knobs.cache.manager_class
    return (_load_class(name) if name else FileCacheManager)(key, **how)


def get_cache_manager(key):
    """The files of a key."""
    return _manager(key)


def get_override_manager(key):
    """The files that are read in place of a key's own."""
    return _manager(key, override=True)


def get_dump_manager(key):
    """Where the stages of a key's kernel are written for people."""
    return _manager(key, dump=True)


def get_cache_key(src, backend, backend_options, env_vars):
    """Digest of a source, a target's compiler, options and environment variables."""
    text = f"{triton_key()}-{src.hash()}-{backend.hash()}-{backend_options}-{sorted(dict(env_vars).items())}"
    return hashlib.sha256(text.encode()).hexdigest()
