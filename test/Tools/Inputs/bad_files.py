"""Writes the files that compile-bad-files.test gives to the compiler."""

import os
import sys

HEAD = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef k(p):\n"
NESTED = "".join(" " * (4 + depth) + "if 1:\n" for depth in range(10_000)) + " " * 10_100 + "pass\n"
FILES = {
    "latin.py": b"# caf\xe9\n" + HEAD.encode() + b"    tl.store(p, 1.0)\n",
    "empty.py": b"",
    "truncated.py": HEAD + "    tl.store(p, (1.0 +",
    "string.py": HEAD + "    tl.static_print('''never ends\n",
    "nul.py": HEAD + "    x = \0\n",
    "brackets.py": HEAD + "    x = " + "(" * 10_000 + "1" + ")" * 10_000 + "\n",
    "unary.py": HEAD + "    x = " + "-" * 10_000 + "1\n",
    "blocks.py": HEAD + NESTED,
    "sum.py": HEAD + "    x = " + "+".join(["1"] * 5_000_000) + "\n",
    "long.py": HEAD + "    # ten megabytes\n" * 520_000 + "    tl.store(p, 1.0)\n",
}

os.makedirs(sys.argv[1], exist_ok=True)
for name, text in FILES.items():
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
