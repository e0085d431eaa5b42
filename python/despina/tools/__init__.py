"""`triton.tools`: what host programs use beside kernels. The command line tools are in `build/bin`."""
