"""TLE, the extensions of the Triton language. Not part of this version yet."""

raise ImportError(
    "TLE (despina.experimental.tle) is not part of this version of Despina yet; "
    "kernels that use only the Triton language run"
)
