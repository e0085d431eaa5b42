"""`python -m despina run SCRIPT [ARGUMENTS]`: runs a script with `import triton` answered by Despina.

`python -m despina sanitize SCRIPT [ARGUMENTS]` does the same and looks for faults of its kernels.
"""

from __future__ import annotations

import os
import runpy
import sys

import _despina_alias

from ._version import __version__

_USAGE = """usage: python -m despina run SCRIPT [ARGUMENTS...]
       python -m despina run -m MODULE [ARGUMENTS...]
       python -m despina sanitize SCRIPT [ARGUMENTS...]
       python -m despina --version

`run` runs a Python script in which `import triton` gives Despina, also in the processes it starts. `sanitize` does so
too, interprets the kernels, and reports their faults by line; the exit status is 1 when there is one."""


def _start_sanitizer():
    from .runtime import sanitizer

    os.environ["DESPINA_SANITIZE"] = "1"
    sanitizer.mark_fresh_arrays()


def _found_faults():
    """1 when there are reports, which are printed when the process ends."""
    from .runtime import sanitizer

    return int(bool(sanitizer.reports))


def main(arguments):
    if arguments == ["--version"]:
        print(f"despina {__version__} (interface of Triton {_despina_alias.TRITON_VERSION})")
        return 0
    if len(arguments) < 2 or arguments[0] not in ("run", "sanitize") or arguments[1:] == ["-m"]:
        print(_USAGE, file=sys.stdout if arguments in (["-h"], ["--help"]) else sys.stderr)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    sanitizes = arguments[0] == "sanitize"
    _despina_alias.install()
    if sanitizes:
        _start_sanitizer()
    if arguments[1] == "-m":
        sys.argv = arguments[2:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[2], run_name="__main__", alter_sys=True)
        return _found_faults() if sanitizes else 0
    script = arguments[1]
    if not os.path.exists(script):
        print(f"despina {arguments[0]}: there is no file {script}", file=sys.stderr)
        return 2
    sys.argv = arguments[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")
    return _found_faults() if sanitizes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
