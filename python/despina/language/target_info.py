"""`triton.language.target_info`: what a kernel may ask of the target it is compiled for."""

from ..runtime.jit import constexpr_function


def current_target():
    """The target of kernels that are launched now."""
    from ..runtime.driver import driver

    return driver.active.get_current_target()


@constexpr_function
def is_cuda():
    return False


@constexpr_function
def cuda_capability_geq(major, minor=0):
    return False


@constexpr_function
def is_hip():
    return False


@constexpr_function
def is_hip_cdna3():
    return False


@constexpr_function
def is_hip_cdna4():
    return False


@constexpr_function
def is_hip_gfx1250():
    return False
