#!/bin/bash
# check_headers.sh INCLUDE_DIR CLANG++: each public header compiles by itself with nothing but INCLUDE_DIR on the
# path, with clang++ and with g++, and draws in neither MLIR nor LLVM nor one of the internal headers.
set -euo pipefail
include=$1
clang=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# check LANGUAGE-SUFFIX HEADER COMMAND...
check() {
  local source=$folder/header.$1 header=$2
  shift 2
  printf '#include <despina/%s>\n#include <despina/%s>\n' "$header" "$header" >"$source"
  "$@" -Wall -Wextra -Werror -pedantic -fsyntax-only -I "$include" "$source"
  # One path a line, with links resolved.
  local drawn
  drawn=$("$@" -M -I "$include" "$source" | tr -s ' \\' '\n\n' | sed '1d;/^$/d' | xargs realpath)
  if grep -E '/(llvm|mlir)(-c)?/|/despina/[A-Z]' <<<"$drawn"; then
    echo "despina/$header draws in the headers above" >&2
    exit 1
  fi
  grep -q "/despina/$header\$" <<<"$drawn" || { echo "the check of despina/$header saw no header" >&2; exit 1; }
}

for header in despina.h device.h host.h interpreter.h; do
  check cpp "$header" "$clang" -std=c++20
  check cpp "$header" g++ -std=c++20
  check cpp "$header" g++ -std=c++17
done
check c c.h gcc -std=c99
check cpp c.h g++ -std=c++17
check cpp c.h "$clang" -std=c++20 -Wno-c99-designator
echo "the public headers stand alone"
