#!/usr/bin/env python3
"""check_exports.py NM LIBRARY: fails unless the library's exported symbols are the public API alone."""

import re
import subprocess
import sys

nm, library = sys.argv[1:]
listing = subprocess.run([nm, "-D", "--defined-only", "-C", library], check=True, capture_output=True, text=True)
names = [line.split(" ", 2)[2] for line in listing.stdout.splitlines() if line]
allowed = re.compile(r"(despina_\w+|despina::.*)$")
# Names of the library's own insides would be a leak as well.
inside = re.compile(r"\b(llvm|mlir)::|despina::(cpu|ast|tt|sema|codegen)::")
wrong = [name for name in names if not allowed.match(name) or inside.search(name)]
for name in wrong:
    print(f"exported, but not public API: {name}")
for needed in ("despina::version()", "despina::compileFile(", "despina::Kernel::launch(", "despina::host::compile("):
    if not any(name.startswith(needed) for name in names):
        wrong.append(needed)
        print(f"not exported: {needed}")
print(f"{len(names)} exported symbols, {len(wrong)} wrong")
sys.exit(bool(wrong))
