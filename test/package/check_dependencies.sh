#!/bin/bash
# check_dependencies.sh FILE...: fails if a file needs a shared LLVM, MLIR or Python, what only
# unused parts of LLVM need, or a library that is missing.
set -euo pipefail
for file in "$@"; do
  needed=$(ldd "$file")
  echo "$file"
  echo "$needed"
  if grep -E 'libLLVM|libMLIR|libpython|libz3|libxml2|libcurl|not found' <<<"$needed"; then
    echo "$file must not need the libraries above" >&2
    exit 1
  fi
done
