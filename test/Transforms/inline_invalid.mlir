// RUN: despina-opt %s --verify-diagnostics --despina-inline

// Calls that double at each level: an error instead of all the machine's memory.

// expected-error @below {{has over 1048576 operations with its calls inlined}}
tt.func public @kernel(%x: i32) {
  %0 = tt.call @f0(%x) : (i32) -> i32
  tt.return
}
tt.func private @f0(%x: i32) -> i32 {
  %0 = tt.call @f1(%x) : (i32) -> i32
  %1 = tt.call @f1(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f1(%x: i32) -> i32 {
  %0 = tt.call @f2(%x) : (i32) -> i32
  %1 = tt.call @f2(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f2(%x: i32) -> i32 {
  %0 = tt.call @f3(%x) : (i32) -> i32
  %1 = tt.call @f3(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f3(%x: i32) -> i32 {
  %0 = tt.call @f4(%x) : (i32) -> i32
  %1 = tt.call @f4(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f4(%x: i32) -> i32 {
  %0 = tt.call @f5(%x) : (i32) -> i32
  %1 = tt.call @f5(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f5(%x: i32) -> i32 {
  %0 = tt.call @f6(%x) : (i32) -> i32
  %1 = tt.call @f6(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f6(%x: i32) -> i32 {
  %0 = tt.call @f7(%x) : (i32) -> i32
  %1 = tt.call @f7(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f7(%x: i32) -> i32 {
  %0 = tt.call @f8(%x) : (i32) -> i32
  %1 = tt.call @f8(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f8(%x: i32) -> i32 {
  %0 = tt.call @f9(%x) : (i32) -> i32
  %1 = tt.call @f9(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f9(%x: i32) -> i32 {
  %0 = tt.call @f10(%x) : (i32) -> i32
  %1 = tt.call @f10(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f10(%x: i32) -> i32 {
  %0 = tt.call @f11(%x) : (i32) -> i32
  %1 = tt.call @f11(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f11(%x: i32) -> i32 {
  %0 = tt.call @f12(%x) : (i32) -> i32
  %1 = tt.call @f12(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f12(%x: i32) -> i32 {
  %0 = tt.call @f13(%x) : (i32) -> i32
  %1 = tt.call @f13(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f13(%x: i32) -> i32 {
  %0 = tt.call @f14(%x) : (i32) -> i32
  %1 = tt.call @f14(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f14(%x: i32) -> i32 {
  %0 = tt.call @f15(%x) : (i32) -> i32
  %1 = tt.call @f15(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f15(%x: i32) -> i32 {
  %0 = tt.call @f16(%x) : (i32) -> i32
  %1 = tt.call @f16(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f16(%x: i32) -> i32 {
  %0 = tt.call @f17(%x) : (i32) -> i32
  %1 = tt.call @f17(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f17(%x: i32) -> i32 {
  %0 = tt.call @f18(%x) : (i32) -> i32
  %1 = tt.call @f18(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f18(%x: i32) -> i32 {
  %0 = tt.call @f19(%x) : (i32) -> i32
  %1 = tt.call @f19(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f19(%x: i32) -> i32 {
  %0 = tt.call @f20(%x) : (i32) -> i32
  %1 = tt.call @f20(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f20(%x: i32) -> i32 {
  %0 = tt.call @f21(%x) : (i32) -> i32
  %1 = tt.call @f21(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f21(%x: i32) -> i32 {
  %0 = tt.call @f22(%x) : (i32) -> i32
  %1 = tt.call @f22(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f22(%x: i32) -> i32 {
  %0 = tt.call @f23(%x) : (i32) -> i32
  %1 = tt.call @f23(%0) : (i32) -> i32
  tt.return %1 : i32
}
tt.func private @f23(%x: i32) -> i32 {
  %0 = arith.muli %x, %x : i32
  tt.return %0 : i32
}
