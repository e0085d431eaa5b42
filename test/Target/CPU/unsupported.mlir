// RUN: despina-opt %s -cpu-lower-tiles=vector-bytes=64 -split-input-file -verify-diagnostics

tt.func public @fp8(%x: !tt.ptr<f8E5M2>) {
  // expected-error @+1 {{'tt.load' op on 'f8E5M2' is not supported on the CPU target yet}}
  %v = tt.load %x : !tt.ptr<f8E5M2>
  tt.return
}

// -----

tt.func public @tan(%x: f32) {
  // expected-error @+1 {{'math.tan' op is not supported on the CPU target yet}}
  %v = math.tan %x : f32
  tt.return
}

// -----

tt.func public @first() {
  tt.return
}
// expected-error @+1 {{a module for the CPU target has one kernel; this is the second}}
tt.func public @second() {
  tt.return
}

// -----

// expected-error @+1 {{the module has no kernel}}
module {
}
