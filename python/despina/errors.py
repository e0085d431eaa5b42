"""The root of the package's exceptions."""


class TritonError(Exception):
    """Root of the exceptions that compiling and running kernels raise."""
