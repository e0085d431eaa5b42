"""What compiling for a target and running raise."""

from __future__ import annotations

from ..errors import TritonError

__all__ = ["OutOfResources", "PTXASError", "AutotunerError", "InterpreterError", "IntelGPUError"]


class InterpreterError(TritonError):
    """Interpreting a kernel failed."""

    def __init__(self, error_message=None):
        super().__init__(error_message)
        self.error_message = error_message

    def __str__(self):
        return self.error_message or ""


class OutOfResources(TritonError):
    """A kernel needs more of something than the target has."""

    def __init__(self, required, limit, name):
        super().__init__(required, limit, name)
        self.required, self.limit, self.name = required, limit, name
        self.message = None

    @classmethod
    def from_message(cls, message):
        """With the text of the compiler, which names what ran out."""
        error = cls(None, None, "")
        error.message = message
        return error

    def __str__(self):
        return self.message or (
            f"out of resource: {self.name}, Required: {self.required}, Hardware limit: {self.limit}. "
            "Reducing block sizes or `num_stages` may help."
        )


class PTXASError(TritonError):
    """The assembler of a target failed."""

    def __init__(self, error_message=None):
        super().__init__(error_message)
        self.error_message = error_message

    def __str__(self):
        return f"PTXAS error: {self.error_message or ''}"


class AutotunerError(TritonError):
    """Tuning found nothing to choose from."""

    def __init__(self, error_message=None):
        super().__init__(error_message)
        self.error_message = error_message

    def __str__(self):
        return f"Autotuner error: {self.error_message or ''}"


class IntelGPUError(TritonError):
    """Kept for code that names it in an `except` clause."""
