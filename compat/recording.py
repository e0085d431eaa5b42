"""Records the launches that packages make, compiles each for the CPU and for sm_90a, and says what became of it."""

from __future__ import annotations

import contextlib
import hashlib
import time

from despina import _native
from despina.backends.compiler import CPU, GPUTarget
from despina.compiler import compiler as compiler_module
from despina.compiler.compiler import ASTSource, CompiledKernel
from despina.compiler.errors import CompilationError, CompileTimeAssertionFailure
from despina.runtime.autotuner import Autotuner
from despina.runtime.driver import driver
from despina.runtime.errors import OutOfResources, PTXASError
from despina.runtime.jit import JITCallable, JITFunction

SM90 = GPUTarget("cuda", "sm_90a", 32)
TARGETS = {"cpu": CPU, "sm_90a": SM90}


# What a tuner takes for a configuration that does not suit.
UNSUITABLE = (OutOfResources, CompileTimeAssertionFailure, PTXASError)


class LaunchFailed(Exception):
    """A launch whose kernel could not be compiled."""

    def __init__(self, error):
        super().__init__(str(error))
        self.error = error


class Reached:
    """The functions whose bodies the compiler looks into during a compilation."""

    active: set | None = None

    @classmethod
    def install(cls):
        def get(self):
            if cls.active is not None:
                cls.active.add(id(self))
            return self.__dict__["fn"]

        def put(self, value):
            self.__dict__["fn"] = value

        JITCallable.fn = property(get, put)

    @classmethod
    @contextlib.contextmanager
    def watch(cls):
        before, cls.active = cls.active, set()
        try:
            yield cls.active
        finally:
            cls.active = before


def _text(value):
    """A constant as text that is the same in each process."""
    if isinstance(value, JITCallable):
        return f"{value.__module__}.{value.__qualname__}"
    return repr(value)


def describe(arguments, options):
    """The specialisation as one text."""
    parts = []
    for name, kind, constant, divisibility, elements in arguments:
        if elements is not None:
            parts.append(f"{name}=({', '.join(str(e[1] or _text(e[2])) for e in elements)})")
        elif kind is None:
            parts.append(f"{name}={_text(constant)}")
        else:
            parts.append(f"{name}: {kind}{':16' if divisibility else ''}")
    parts += [f"{name}={options[name]}" for name in ("num_warps", "num_stages") if name in options]
    return ", ".join(parts)


def innermost(error):
    """An error in a function that a kernel calls is the cause of one at the call, which has no text of its own."""
    while isinstance(error.__cause__, CompilationError):
        error = error.__cause__
    return error


def last_line(error):
    """What an error says, without the source lines above it."""
    lines = [line.strip() for line in str(innermost(error)).splitlines() if line.strip()]
    return lines[-1][:400] if lines else type(error).__name__


class Compiler:
    """Compiles for one target and tells the parent."""

    def __init__(self, discovery, emit):
        self.discovery, self.emit = discovery, emit
        self.done = set()

    def place(self, function):
        """What the records call a function: its number, or a name where no package has it."""
        found = self.discovery.by_function.get(id(function))
        return found.index if found else f"{function.__module__}.{function.__qualname__}"

    def compile(self, function, arguments, options, target, origin, quiet=False, place=None):
        """Compiles and emits a record. Returns the kernel or the exception."""
        place = self.place(function) if place is None else place
        text = describe(arguments, options)
        digest = hashlib.sha256(f"{place} {text} {target}".encode()).hexdigest()[:16]
        self.emit("at", place=place, target=target, text=text[:2000], origin=origin)
        begin, used = time.perf_counter(), time.process_time()
        record = {"place": place, "target": target, "text": text[:2000], "origin": origin, "digest": digest}
        with Reached.watch() as reached:
            try:
                kernel = result = self._compile(function, arguments, options, TARGETS[target])
                record |= {"ok": True, "stages": kernel.stage_times}
            except Exception as error:  # noqa: BLE001 (whatever compiling raises is a finding)
                result = error
                record |= {"ok": False, "kind": type(error).__name__}
                record |= {"error": last_line(error), "full": str(innermost(error))[-3000:]}
        record["seconds"] = time.perf_counter() - begin
        record["processor"] = time.process_time() - used
        by_function = self.discovery.by_function
        record["reached"] = sorted({by_function[key].index for key in reached if key in by_function})
        self.done.add(digest)
        if not quiet or record["ok"]:
            self.emit("compiled", **record)
        return result

    @staticmethod
    def _compile(function, arguments, options, target):
        options = {**compiler_module.DEFAULT_OPTIONS, **options}
        source = ASTSource._from_arguments(function, arguments)
        arguments = [compiler_module._unwrap(argument) for argument in arguments]
        keep = ["cubin"] if target is SM90 else []
        native = compiler_module._native_options(options)
        kernel = _native.compile(function._handle, arguments, native, target._native(), keep)
        if target is SM90:
            assert kernel.text("cubin")[:4] == b"\x7fELF", "no cubin"
        return CompiledKernel(source, kernel, arguments, target, options)


class Recorder:
    """Puts itself between launches and the compiler."""

    def __init__(self, compiler):
        self.compiler = compiler
        self.tuners = []
        self.choosing = False  # within a tuner, as long as no configuration has run
        self.failed = 0
        self.launches = 0

    def install(self):
        recorder = self
        run = JITFunction.run

        def recorded_run(self, *args, grid, warmup=False, **kwargs):
            import torch

            recorder.launches += 1
            driver.active.launching = True
            # What follows a launch that failed has no sound input: it is only compiled.
            try:
                with torch._C.DisableTorchFunction():
                    return run(self, *args, grid=grid, warmup=warmup or recorder.failed > 0, **kwargs)
            except LaunchFailed as failure:
                if recorder.choosing and isinstance(failure.error, UNSUITABLE):
                    raise failure.error from None
                recorder.failed += 1
                return _NoKernel()
            finally:
                driver.active.launching = False

        def getitem(self, grid):
            return lambda *args, **kwargs: self.run(*args, grid=grid, warmup=False, **kwargs)

        def compile_once(self, key, arguments, options, target):
            return recorder.compile(self, key, arguments, options)

        JITFunction.run = recorded_run
        JITFunction.__getitem__ = getitem
        JITFunction._compile_once = compile_once
        self._wrap_tuner()

    def _wrap_tuner(self):
        """Tuners take the first of their configurations that compiles."""
        recorder = self
        run, prune, bench = Autotuner.run, Autotuner.prune_configs, Autotuner._bench
        unsuitable = [float("inf")] * 3

        def tuned(self, *args, **kwargs):
            recorder.tuners.append(self)
            try:
                return run(self, *args, **kwargs)
            finally:
                recorder.tuners.pop()

        def few(self, *args, **kwargs):
            return prune(self, *args, **kwargs)[:8]

        def first(self, *args, config, **meta):
            # Each run of a tuner has a dict of arguments of its own.
            if self.__dict__.get("_settled") is self.nargs:
                return unsuitable
            recorder.choosing = True
            recorder.tuners.append(self)
            try:
                times = bench(self, *args, config=config, **meta)
            finally:
                recorder.choosing = False
                recorder.tuners.pop()
            if times != unsuitable:
                self._settled = self.nargs
            return times

        Autotuner.run, Autotuner.prune_configs, Autotuner._bench = tuned, few, first

    def compile(self, function, key, arguments, options):
        arguments = list(arguments)
        kernel = function._kernels.get(key)
        if kernel is None:
            kernel = self.compiler.compile(function, arguments, options, "cpu", "recorded", quiet=self.choosing)
            if self.choosing and isinstance(kernel, UNSUITABLE):
                raise LaunchFailed(kernel)
            self._for_gpu(function, arguments, options)
            function._kernels[key] = kernel
        if isinstance(kernel, Exception):
            raise LaunchFailed(kernel)
        return kernel

    def _for_gpu(self, function, arguments, options):
        """For sm_90a, where a tuner goes on to its next configuration when one needs too much."""
        result = self.compiler.compile(function, arguments, options, "sm_90a", "recorded", quiet=bool(self.tuners))
        if not self.tuners or not isinstance(result, Exception):
            return
        for config in self.tuners[-1].configs[:8] if isinstance(result, OutOfResources) else ():
            chosen = config.all_kwargs()
            changed = [(n, t, chosen.get(n, c) if t is None else c, d, e) for n, t, c, d, e in arguments]
            again = {name: chosen.get(name, value) for name, value in options.items()}
            result = self.compiler.compile(function, changed, again, "sm_90a", "recorded", quiet=True)
            if not isinstance(result, OutOfResources):
                break
        if isinstance(result, Exception):
            self.compiler.compile(function, arguments, options, "sm_90a", "recorded")


class _NoKernel:
    """What a launch gives back whose kernel could not be compiled."""

    n_regs = n_spills = 0
    asm = {}

    def __getitem__(self, grid):
        def launch(*args, **kwargs):
            pass

        return launch
