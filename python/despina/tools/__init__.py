"""`triton.tools`: placeholder; its command line tools are in `build/bin`."""
