// RUN: despina-ptx %s --arch=sm_70 | FileCheck %s -DPTX=7.8 -DARCH=sm_70
// RUN: despina-ptx %s --arch=sm_75 | FileCheck %s -DPTX=7.8 -DARCH=sm_75
// RUN: despina-ptx %s --arch=sm_80 | FileCheck %s -DPTX=7.8 -DARCH=sm_80
// RUN: despina-ptx %s --arch=sm_89 | FileCheck %s -DPTX=8.4 -DARCH=sm_89
// RUN: despina-ptx %s --arch=sm_90 | FileCheck %s -DPTX=8.3 -DARCH=sm_90
// RUN: despina-ptx %s --arch=sm_90a | FileCheck %s -DPTX=8.3 -DARCH=sm_90a
// RUN: despina-ptx %s --arch=sm_100a | FileCheck %s -DPTX=8.6 -DARCH=sm_100a
// RUN: despina-ptx %s --arch=sm_120f | FileCheck %s -DPTX=8.8 -DARCH=sm_120f
// RUN: despina-ptx %s --arch=sm_80 --ptx-version=70 | FileCheck %s -DPTX=7.0 -DARCH=sm_80
// RUN: despina-ptx %s --arch=sm_80 --ptx-version=79 | FileCheck %s -DPTX=7.8 -DARCH=sm_80
// RUN: despina-ptx %s --arch=sm_80 --ptx-version=95 | FileCheck %s -DPTX=9.0 -DARCH=sm_80
// RUN: not despina-ptx %s --arch=sm_80 --ptx-version=64 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not despina-ptx %s --arch=sm_85 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not despina-ptx %s --arch=sm_80a 2>&1 | FileCheck %s --check-prefix=VARIANT
// RUN: not despina-ptx %s --arch=sm_60 2>&1 | FileCheck %s --check-prefix=ANCIENT
// RUN: not despina-ptx %s --arch=gfx942 2>&1 | FileCheck %s --check-prefix=FOREIGN

// CHECK: .version [[PTX]]
// CHECK: .target [[ARCH]]
// OLD: error: PTX 6.4 does not have sm_80; it needs PTX 7.0 or newer
// NONE: error: code for sm_85 cannot be generated; known architectures: sm_70, sm_72, sm_75, sm_80,
// VARIANT: error: there is no architecture sm_80a; use sm_80
// ANCIENT: error: {{.*}}sm_60
// FOREIGN: error: {{.*}}gfx942
llvm.func @kernel() attributes {nvvm.kernel} {
  llvm.return
}
