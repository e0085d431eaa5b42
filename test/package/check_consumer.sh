#!/bin/bash
# check_consumer.sh BUILD SOURCE COMPILER: installs the CMake package of BUILD, builds the project SOURCE
# against it and runs its program.
set -euo pipefail
build=$1 source=$2 compiler=$3
stage=$build/test/stage
consumer=$build/test/consumer
rm -rf "$stage" "$consumer"
cmake --install "$build" --prefix "$stage" --component development --strip >/dev/null
# Only the public headers are installed.
headers=$(cd "$stage/include" && find . -type f | sort | tr '\n' ' ')
[ "$headers" = "./despina/c.h ./despina/despina.h ./despina/device.h ./despina/host.h ./despina/interpreter.h " ] || {
  echo "unexpected installed headers: $headers" >&2
  exit 1
}
cmake -S "$source" -B "$consumer" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$stage"
cmake --build "$consumer"
"$consumer/consumer"
rm -rf "$stage"
