"""Compiles every kernel of some packages with this compiler, runs the packages' functions, and counts.

scripts/compat [--packages liger_kernel,fla,flag_gems] [--only TEXT] [--no-guess]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time

from . import environment

PACKAGES = {
    "liger_kernel": "liger-kernel",
    "fla": "flash-linear-attention",
    "flag_gems": "flag-gems",
}
CASE_LIMIT = 60  # seconds without a word from a child
GUESS_LIMIT = 30


def _arguments():
    parser = argparse.ArgumentParser(prog="scripts/compat", description=__doc__)
    parser.add_argument("--packages", default=",".join(PACKAGES))
    parser.add_argument("--only", help="cases and kernels whose name holds this text")
    parser.add_argument("--no-guess", action="store_true", help="recorded launches alone")
    parser.add_argument("--minutes", type=float, default=600, help="no new case begins after this time")
    parser.add_argument("--no-cases", action="store_true", help="guessed signatures alone")
    parser.add_argument("--results", default="build/compat/results.jsonl", help="where the raw results go")
    return parser.parse_args()


class Session:
    """The packages, their kernels, and a file of what became of them."""

    def __init__(self, options):
        from . import guessing, recording
        from .discovery import Discovery

        self.options = options
        self.torch = environment.prepare(os.path.abspath(options.results) + ".flaggems")
        recording.Reached.install()
        self.discovery = Discovery(options.packages.split(","))
        self.discovery.install()
        self.guesser = guessing.Guesser()
        os.makedirs(os.path.dirname(options.results) or ".", exist_ok=True)
        self.out = open(options.results, "w", encoding="utf-8")
        self.log = options.results + ".log"
        self.settled = {"cpu": set(), "sm_90a": set()}  # the kernels that a target has compiled
        self.digests = set()

    def write(self, event, **fields):
        self.out.write(json.dumps({"event": event, **fields}, default=str) + "\n")
        self.out.flush()

    def wanted(self, name):
        return not self.options.only or self.options.only in name

    def discover(self):
        begin = time.time()
        with environment.place_mode(self.torch):
            self.discovery.import_all()
        self._check_classes()
        self._write_versions()
        for found in self.discovery.found:
            self.write("found", index=found.index, package=found.package, name=found.name, line=found.line)
        for failure in self.discovery.failures:
            self.write("import", **vars(failure))
        for package, count in self.discovery.modules.items():
            self.write("modules", package=package, count=count)
        print(f"{len(self.discovery.found)} kernels, {len(self.discovery.failures)} modules that cannot be imported,"
              f" in {time.time() - begin:.0f} s", flush=True)  # fmt: skip

    def _write_versions(self):
        from importlib import metadata

        versions = {name: metadata.version(name) for name in (*PACKAGES.values(), "torch")}
        self.write("versions", **versions)

    def _check_classes(self):
        import triton

        assert triton.__file__.endswith("despina/__init__.py"), triton.__file__
        for found in self.discovery.found:
            for kind in type(found.function).__mro__[:-1]:
                assert kind.__module__.startswith("despina.") or kind.__module__.split(".")[0] in PACKAGES, kind
            assert isinstance(found.function, triton.JITFunction)

    def handle(self, event):
        """Notes what a child tells."""
        if event["event"] == "compiled":
            self.digests.add(event["digest"])
            if event["ok"]:
                places = {event["place"], *event["reached"]}
                self.settled[event["target"]] |= {p for p in places if isinstance(p, int)}
        if event["event"] != "at":
            self.write(**event)

    def run_cases(self, cases):
        from . import children

        end_of_time = time.time() + 60 * self.options.minutes
        for number, case in enumerate(cases):
            if not self.wanted(case.name) or time.time() > end_of_time:
                continue
            begin = time.time()
            result = children.run(lambda emit: self._run_case(case, emit), CASE_LIMIT, self.log, self.handle)  # noqa: B023
            end = next((e for e in result.events if e["event"] == "case"), None)
            if end is None:
                last = result.last_place
                broken = next((e for e in result.events if e["event"] == "broken"), {})
                death = result.death or broken.get("error", "ended without a word")
                self.write(
                    "case", package=case.package, name=case.name, ok=False, death=death, at=last,
                    output=result.output[-1500:], trace=broken.get("trace"),
                )  # fmt: skip
            state = "died" if end is None else end["state"]
            if state != "skipped":
                print(
                    f"{number + 1}/{len(cases)} {case.package} {case.name}: {state} ({time.time() - begin:.1f} s)",
                    flush=True,
                )

    def _run_case(self, case, emit):
        from .cases import Check
        from .recording import Compiler, Recorder

        compiler = Compiler(self.discovery, emit)
        compiler.done = set(self.digests)
        recorder = Recorder(compiler)
        recorder.install()
        check = Check()
        self.torch.manual_seed(3)
        record = {"package": case.package, "name": case.name, "state": "correct"}
        try:
            with environment.place_mode(self.torch):
                case.run(check)
        except Exception as error:  # noqa: BLE001 (whatever a case raises is a finding)
            import traceback

            record |= {"state": "failed", "kind": type(error).__name__, "error": str(error)[:500]}
            record["trace"] = traceback.format_exc()[-2500:]
            if type(error).__name__ == "NotReplaced":
                record["state"] = "skipped"
        if record["state"] == "correct":
            if recorder.failed:
                record["state"] = "not compiled"
            elif check.wrong:
                record |= {"state": "wrong", "error": "; ".join(check.wrong)[:600]}
            elif not check.compared:
                record["state"] = "ran"
        emit("case", **record, launches=recorder.launches, failed=recorder.failed, compared=check.compared, ok=True)

    def guess(self):
        """Compiles what no recorded launch has."""
        from . import children

        left = [f for f in self.discovery.found if self.wanted(f.name)]
        left = [f for f in left if any(f.index not in done for done in self.settled.values())]
        print(f"{len(left)} kernels have no recorded launch", flush=True)
        while left:
            batch = left[:100]
            result = children.run(lambda emit: self._guess(batch, emit), GUESS_LIMIT, self.log, self.handle)  # noqa: B023
            started = [e["index"] for e in result.events if e["event"] == "start"]
            if result.death:
                self.write("death", place=started[-1] if started else None, death=result.death, at=result.last_place)
                print("died:", result.death, result.last_place, flush=True)
            gone = set(started) if result.death else {f.index for f in batch}
            left = [f for f in left if f.index not in gone]
            print(f"{len(left)} left", flush=True)

    def _guess(self, batch, emit):
        from .recording import Compiler

        compiler = Compiler(self.discovery, emit)
        for found in batch:
            emit("start", index=found.index)
            for target in self.settled:
                if found.index not in self.settled[target]:
                    self._guess_one(compiler, found, target)

    def _guess_one(self, compiler, found, target):
        """Signatures one after the other until one compiles: of the function as a kernel, then as what kernels call."""
        from . import guessing

        usage = self.guesser.usage(found.function)
        if not usage.returns:
            for flavour in guessing.FLAVOURS:
                arguments, options = self.guesser.arguments(found.function, flavour)
                if not isinstance(compiler.compile(found.function, arguments, options, target, "guessed"), Exception):
                    return
        with tempfile.TemporaryDirectory() as folder:
            for caller in guessing.callers(found.function, usage, folder):
                arguments = [("out", "*fp32", None, 16, None)]
                kernel = compiler.compile(caller, arguments, {}, target, "guessed", place=found.index)
                if not isinstance(kernel, Exception):
                    return


def main():
    options = _arguments()
    session = Session(options)
    session.discover()
    if not options.no_cases:
        session.run_cases(_cases(session))
    if not options.no_guess:
        session.guess()
    session.write("done")
    return 0


def _cases(session):
    from .cases import REGISTRY

    packages = session.discovery.packages
    if "liger_kernel" in packages:
        from . import cases_liger  # noqa: F401 (registers its cases)
    if "fla" in packages:
        from . import cases_fla

        cases_fla.add_op_cases()
        cases_fla.add_layer_cases()
    if "flag_gems" in packages:
        from . import cases_flag_gems

        REGISTRY.extend(cases_flag_gems.sample_cases())
    return REGISTRY


if __name__ == "__main__":
    sys.exit(main())
