"""Functions that are recorded once and then run as plain NumPy programs."""

from .compiling import Compiled, compile

__all__ = ["Compiled", "compile"]
