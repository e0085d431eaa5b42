#!/bin/bash
# check_dependencies.sh FILE...: fails if a file needs a shared LLVM, MLIR or Python, or a library that is missing.
set -euo pipefail
for file in "$@"; do
  needed=$(ldd "$file")
  echo "$file"
  echo "$needed"
  if grep -E 'libLLVM|libMLIR|libpython|not found' <<<"$needed"; then
    echo "$file must not need the libraries above" >&2
    exit 1
  fi
done
