"""The version of the package, and the version of Triton whose interface it answers with."""

__version__ = "0.1.0"

# What `triton.__version__` says when scripts import Despina under that name.
TRITON_VERSION = "3.8.0"
