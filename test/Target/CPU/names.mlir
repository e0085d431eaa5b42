// RUN: despina-opt %s --cpu-lower-tiles=vector-bytes=32 | FileCheck %s

// A kernel with the name of a function that generated code may call gets another symbol.

// CHECK: llvm.func @memcpy.kernel(
tt.func public @memcpy() {
  tt.return
}
