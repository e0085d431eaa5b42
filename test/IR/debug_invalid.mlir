// RUN: despina-opt %s --split-input-file --verify-diagnostics

tt.func @print(%x: i32) {
  // expected-error @+1 {{prints 1 values but has signs for 2}}
  tt.print "x" {hex = false, isSigned = array<i32: 1, 0>} : %x : i32
  tt.return
}

// -----

tt.func @assert(%x: i32) {
  // expected-error @+1 {{operand #0 must be i1 or tile of i1, but got 'i32'}}
  tt.assert %x, "message" : i32
  tt.return
}
