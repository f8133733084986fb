"""Functions that are recorded once and then run as plain NumPy programs."""

from .compiling import Compiled, compile
from .programs import Program

__all__ = ["Compiled", "Program", "compile"]
