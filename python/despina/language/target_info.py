"""`triton.language.target_info`: what a kernel may ask of the target it is compiled for.

Kernels get the answers for their target from the compiler; on the host they are those for the active target.
"""


def _of_language(function):
    function.__triton_builtin__ = True
    function.__despina_path__ = f"triton.language.target_info.{function.__name__}"
    return function


@_of_language
def current_target():
    """The target of kernels that are launched now."""
    from ..runtime.driver import driver

    return driver.active.get_current_target()


@_of_language
def is_cuda():
    """Whether that is a GPU of NVIDIA."""
    target = current_target()
    return target is not None and target.backend == "cuda"


@_of_language
def cuda_capability_geq(major, minor=0):
    """Whether that is a GPU of NVIDIA of this compute capability or a newer one."""
    return is_cuda() and divmod(int(current_target().arch), 10) >= (major, minor)


@_of_language
def is_hip():
    """Whether that is a GPU of AMD."""
    return False


@_of_language
def is_hip_cdna3():
    """Whether that is a GPU of AMD's CDNA3."""
    return False


@_of_language
def is_hip_cdna4():
    """Whether that is a GPU of AMD's CDNA4."""
    return False


@_of_language
def is_hip_gfx1250():
    """Whether that is AMD's gfx1250."""
    return False
