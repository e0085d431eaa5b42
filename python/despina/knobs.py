"""Settings. A knob follows its environment variable until it is set from Python; `del` gives it back.

A variable whose name says TRITON has a twin that says DESPINA, which wins.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

_TRUE = {"1", "y", "on", "yes", "true"}


def getenv(name, default=None):
    """The value of a variable or of its DESPINA_ twin."""
    if name.startswith("TRITON_"):
        twin = os.environ.get("DESPINA_" + name[len("TRITON_") :])
        if twin is not None:
            return twin
    return os.environ.get(name, default)


class env_bool:
    """A knob that is on for 1, y, on, yes and true."""

    def __init__(self, variable, default=False):
        self.variable, self.default = variable, default

    def __set_name__(self, owner, name):
        self.name = name

    def read(self):
        text = getenv(self.variable)
        return self.default if text is None else text.lower() in _TRUE

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return instance.__dict__[self.name] if self.name in instance.__dict__ else self.read()

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value

    def __delete__(self, instance):
        instance.__dict__.pop(self.name, None)


class env_str(env_bool):
    """A knob with a text value."""

    def read(self):
        return getenv(self.variable, self.default)


class env_int(env_bool):
    """A knob with a number."""

    def read(self):
        text = getenv(self.variable)
        return self.default if text is None else int(text)


class env_path(env_str):
    """A knob with a path below the `.triton` folder of `TRITON_HOME`."""

    def read(self):
        text = getenv(self.variable)
        home = getenv("TRITON_HOME", os.path.expanduser("~"))
        return text if text else os.path.join(home, ".triton", self.default)


class HookChain:
    """Functions called one after the other; the chain is a function too."""

    def __init__(self, reversed=False):
        self.calls = []
        self.reversed = reversed

    def add(self, function):
        if function not in self.calls:
            self.calls.append(function)

    def remove(self, function):
        if function in self.calls:
            self.calls.remove(function)

    def __call__(self, *args, **kwargs):
        for function in self.calls[::-1] if self.reversed else [*self.calls]:
            function(*args, **kwargs)

    def __bool__(self):
        return bool(self.calls)


class base_knobs:
    """A group of knobs."""

    @property
    def knobs(self):
        """All knobs of the group with their values."""
        return {name: getattr(self, name) for name, knob in vars(type(self)).items() if isinstance(knob, env_bool)}

    def reset(self):
        self.__dict__.clear()
        self.__init__()
        return self

    @contextmanager
    def scope(self):
        """Restores the group's values at the end of a `with` block."""
        saved = dict(self.__dict__)
        try:
            yield self
        finally:
            self.__dict__.clear()
            self.__dict__.update(saved)


class compilation_knobs(base_knobs):
    front_end_debugging = env_bool("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = env_bool("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    # Kernels are kept in memory alone, where a source compiles anew in each process anyhow.
    always_compile = env_bool("TRITON_ALWAYS_COMPILE")
    listener = None


class build_knobs(base_knobs):
    cc = env_str("CC")
    impl = None


class cache_knobs(base_knobs):
    """Where `triton.runtime.cache` keeps files."""

    home_dir = env_str("TRITON_HOME", os.path.expanduser("~"))
    dir = env_path("TRITON_CACHE_DIR", "cache")
    dump_dir = env_path("TRITON_DUMP_DIR", "dump")
    override_dir = env_path("TRITON_OVERRIDE_DIR", "override")
    manager_class = env_str("TRITON_CACHE_MANAGER")
    remote_manager_class = env_str("TRITON_REMOTE_CACHE_BACKEND")


class language_knobs(base_knobs):
    fp32_default = env_str("TRITON_F32_DEFAULT")
    default_fp_fusion = env_bool("TRITON_DEFAULT_FP_FUSION", True)


class nvidia_knobs(base_knobs):
    ptxas = env_str("TRITON_PTXAS_PATH")
    cuobjdump = env_str("TRITON_CUOBJDUMP_PATH")
    libcuda_path = env_str("TRITON_LIBCUDA_PATH")


class autotuning_knobs(base_knobs):
    print = env_bool("TRITON_PRINT_AUTOTUNING")
    listener = None


# The chains are objects of the module: the native launcher looks at their lists.
_enter_hooks = HookChain()
_exit_hooks = HookChain(reversed=True)


class runtime_knobs(base_knobs):
    debug = env_bool("TRITON_DEBUG")
    interpret = env_bool("TRITON_INTERPRET")
    sanitize = env_bool("DESPINA_SANITIZE")
    sanitize_order = env_str("DESPINA_SANITIZE_ORDER")
    jit_cache_hook = None
    jit_post_compile_hook = None

    @property
    def launch_enter_hook(self):
        return _enter_hooks

    @launch_enter_hook.setter
    def launch_enter_hook(self, hook):
        _replace(_enter_hooks, hook)

    @property
    def launch_exit_hook(self):
        return _exit_hooks

    @launch_exit_hook.setter
    def launch_exit_hook(self, hook):
        _replace(_exit_hooks, hook)


def _replace(chain, hook):
    calls = [] if hook is None else hook.calls if isinstance(hook, HookChain) else [hook]
    chain.calls[:] = calls


build = build_knobs()
cache = cache_knobs()
language = language_knobs()
nvidia = nvidia_knobs()
compilation = compilation_knobs()
autotuning = autotuning_knobs()
runtime = runtime_knobs()
