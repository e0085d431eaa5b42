"""Writes docs/compatibility.md from the raw results of the harness."""

from __future__ import annotations

import argparse
import collections
import json
import re

from .harness import PACKAGES

TARGETS = {"cpu": "CPU", "sm_90a": "sm_90a"}
HEAD = """\
# Compatibility

What becomes of kernels that others wrote. `make compat` writes this page: it installs
{packages} from the package index into
an environment of its own, imports all their modules with `triton` being this project, and takes each
`@triton.jit` function that this makes. The packages' own functions are called with small inputs (torch's samples of
each operator for FlagGems), their launches are recorded, compiled for the CPU and for sm_90a up to a cubin, and run
on the CPU. The results are compared with torch, or with the package's own reference in plain torch. What no call
launches is compiled with a guessed signature, and counted apart.

torch {torch} is told that there is a GPU of compute capability 9.0; tensors stay in this machine's memory.
"""


class Results:
    """What one or more runs of the harness wrote. Each run counts its kernels from 0."""

    def __init__(self, paths):
        self.found, self.imports, self.modules = {}, [], collections.Counter()
        self.compiled = collections.defaultdict(list)  # (kernel, target) -> records
        self.inside = {target: set() for target in TARGETS}
        self.generated = {target: [] for target in TARGETS}
        self.cases, self.deaths = [], []
        self.versions = {}
        for path in paths:
            base = len(self.found)
            with open(path, encoding="utf-8") as file:
                for line in file:
                    self._take(json.loads(line), base)

    def _take(self, event, base):
        kind = event.pop("event")
        for name in ("index", "place"):
            if isinstance(event.get(name), int):
                event[name] += base
        if "reached" in event:
            event["reached"] = [index + base for index in event["reached"]]
        if kind == "found":
            self.found[event["index"]] = event
        elif kind == "import":
            self.imports.append(event)
        elif kind == "modules":
            self.modules[event["package"]] += event["count"]
        elif kind == "versions":
            self.versions = event
        elif kind == "case":
            self.cases.append(event)
        elif kind == "death":
            self.deaths.append(event)
        elif kind == "compiled":
            self._take_compiled(event)

    def _take_compiled(self, event):
        target = event["target"]
        if isinstance(event["place"], int):
            self.compiled[event["place"], target].append(event)
        else:
            self.generated[target].append(event)
        if event["ok"]:
            self.inside[target] |= set(event["reached"]) - {event["place"]}

    def state(self, index, target):
        """How a kernel was compiled: by a recorded launch, inside another kernel, by a guess, or not."""
        records = self.compiled[index, target]
        recorded = [r for r in records if r["origin"] == "recorded"]
        if any(r["ok"] for r in recorded):
            return "recorded"
        if index in self.inside[target]:
            return "inside"
        if not recorded and any(r["ok"] for r in records):
            return "guessed"
        return "failed"

    def packages(self):
        """Those that were looked at."""
        return [(package, shown) for package, shown in PACKAGES.items() if self.of(package)]

    def of(self, package):
        return [i for i, f in self.found.items() if f["package"] == package]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def percent(part, whole):
    return f"{part} ({100 * part / whole:.1f} %)" if whole else "0"


def kernels(results):
    rows = []
    for package, shown in [*results.packages(), (None, "all")]:
        indices = results.of(package) if package else list(results.found)
        for target, name in TARGETS.items():
            states = collections.Counter(results.state(i, target) for i in indices)
            done = len(indices) - states["failed"]
            rows.append(
                [shown, len(indices), name, percent(done, len(indices)), states["recorded"], states["inside"]]
                + [states["guessed"], states["failed"]]
            )
    head = [
        "package",
        "found",
        "target",
        "compiled",
        "by a recorded launch",
        "inside another kernel",
        "by a guess",
        "not",
    ]
    return "## Kernels\n\n" + table(head, rows)


def launches(results):
    rows = []
    for package, shown in [*results.packages(), (None, "made at run time")]:
        row = [shown]
        for target in TARGETS:
            if package:
                records = [
                    r for i in results.of(package) for r in results.compiled[i, target] if r["origin"] == "recorded"
                ]
            else:
                records = results.generated[target]
            row += [len(records), sum(r["ok"] for r in records)]
        rows.append(row)
    text = (
        "\nEach kernel is compiled for every specialisation that was launched. FlagGems writes kernels at run time:"
        "\nthey are no functions found by import, and are counted in the last row.\n\n"
    )
    return text + table(["specialisations", "CPU", "compiled", "sm_90a", "compiled"], rows)


def runs(results):
    rows, wrong = [], []
    for package, shown in results.packages():
        cases = [c for c in results.cases if c["package"] == package and c.get("state") != "skipped"]
        states = collections.Counter(c.get("state", "died") for c in cases)
        ran = states["correct"] + states["ran"] + states["wrong"]
        rows.append(
            [shown, len(cases), ran, states["correct"], states["ran"], states["wrong"], states["not compiled"]]
            + [states["failed"], states["died"]]
        )
        for c in cases:
            if c.get("state") in ("wrong", "failed", None):
                text = c.get("error") or c.get("death") or ""
                wrong.append([shown, c["name"], c.get("state", "died"), one_line(f"{c.get('kind', '')} {text}")])
    head = [
        "package",
        "functions",
        "ran",
        "correct",
        "no reference",
        "wrong",
        "a kernel not compiled",
        "raised",
        "died",
    ]
    text = "\n## Functions on the CPU\n\n" + table(head, rows)
    if wrong:
        text += "\nThose that were wrong, raised or died:\n\n" + table(["package", "function", "", "what"], wrong)
    return text


def one_line(text, limit=160):
    text = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    return text if len(text) <= limit else text[: limit - 1] + "…"


def kind_of(record):
    """The error without what differs from kernel to kernel."""
    text = re.sub(r"^(\w+)\([\"'](.*)[\"']\)$", r"\1: \2", record["error"])
    if "not supported" not in text:
        text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "…", text)
    text = re.sub(r"<\[[^\]]*\], \w+>|\[[\d, ]*\]|\([\d, ]*\)", "…", text)
    return one_line(re.sub(r"\b\d+\b", "N", text), 140)


def failures(results):
    text = "\n## What does not compile\n"
    for target, name in TARGETS.items():
        groups = collections.defaultdict(list)
        for index in results.found:
            if results.state(index, target) != "failed":
                continue
            records = results.compiled[index, target]
            recorded = [r for r in records if r["origin"] == "recorded"]
            if recorded:
                groups[kind_of(recorded[0]), "recorded"].append(index)
            elif records:
                groups[kind_of(records[0]), "guessed"].append(index)
            else:
                died = any(d["place"] == index for d in results.deaths)
                groups["the compiler crashed or did not end" if died else "not tried", "guessed"].append(index)
        rows = []
        for (kind, origin), indices in sorted(groups.items(), key=lambda g: (g[0][1] != "recorded", -len(g[1]))):
            names = ", ".join(results.found[i]["name"].split(".", 1)[1] for i in indices[:2])
            rows.append([len(indices), origin, kind, one_line(names, 120)])
        text += f"\nOn {name}:\n\n" + (
            table(["kernels", "signature", "error", "for example"], rows) if rows else "Nothing.\n"
        )
    return text


def imports(results):
    groups = collections.Counter()
    example = {}
    for failure in results.imports:
        key = failure["package"], one_line(f"{failure['kind']}: {failure['message']}", 110)
        groups[key] += 1
        example.setdefault(key, failure["module"])
    rows = [[PACKAGES[p], n, kind, example[p, kind]] for (p, kind), n in groups.most_common()]
    total = sum(results.modules.values())
    return (
        f"\n## What cannot be imported\n\n{len(results.imports)} of {total} modules."
        " Most are back ends for other vendors' chips, which import\nthose vendors' own packages or extensions of"
        " Triton,"
        " or optional parts that need a package that is not\ninstalled.\n\n"
    ) + table(["package", "modules", "error", "for example"], rows)


def speed(results):
    records = [r for (_, target), rs in results.compiled.items() if target == "cpu" for r in rs if r["ok"]]
    records += [r for r in results.generated["cpu"] if r["ok"]]
    if not records:
        return ""
    wall = sum(r["seconds"] for r in records) / len(records)
    used = sum(r["processor"] for r in records) / len(records)
    text = (
        f"\n## Time to compile\n\n{len(records)} specialisations for the CPU, none of them kept from an earlier run,"
        " one at a"
        f" time: {wall:.2f} s each on\naverage, of which {used:.2f} s on a processor. The slowest ten, in seconds:\n\n"
    )
    slowest = sorted(records, key=lambda r: -r["seconds"])[:10]
    rows = []
    for r in slowest:
        name = results.found[r["place"]]["name"] if isinstance(r["place"], int) else r["place"]
        stages = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in r["stages"] if seconds >= 0.005)
        rows.append([name, f"{r['seconds']:.2f}", stages])
    return text + table(["kernel", "time", "stages"], rows)


def page(results):
    packages = ", ".join(f"{name} {version}" for name, version in results.versions.items() if name != "torch")
    text = HEAD.format(packages=packages or "the packages", torch=results.versions.get("torch", "")) + "\n"
    missing = [shown for package, shown in PACKAGES.items() if not results.of(package)]
    if missing:
        text += f"Not part of this run: {', '.join(missing)}.\n\n"
    text += kernels(results) + launches(results) + runs(results) + failures(results) + imports(results) + speed(results)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", nargs="+", default=["build/compat/results.jsonl"])
    parser.add_argument("--page", default="docs/compatibility.md")
    options = parser.parse_args()
    with open(options.page, "w", encoding="utf-8") as file:
        file.write(page(Results(options.results)))


if __name__ == "__main__":
    main()
