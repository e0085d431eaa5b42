"""`triton.compiler`: compiling without launching."""

from .compiler import ASTSource, CompiledKernel, compile, make_backend
from .errors import CompilationError, CompileTimeAssertionFailure, UnsupportedLanguageConstruct

__all__ = [
    "ASTSource",
    "CompilationError",
    "CompileTimeAssertionFailure",
    "CompiledKernel",
    "UnsupportedLanguageConstruct",
    "compile",
    "make_backend",
]
