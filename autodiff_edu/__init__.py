"""Learn automatic differentiation: write NumPy, record it on a tape, and watch both passes step by step.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.Variable(2.0, name="x")
>>> with ad.GradientTape() as tape:
...     y = x * np.sin(x)
>>> tape.gradient(y, x)
Tensor(0.077004)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import rules
from .entry import Contribution, Entry, Step
from .events import hook
from .options import options
from .scopes import scope
from .tape import GradientTape
from .tensor import Tensor, constant
from .trace import Trace, trace
from .variable import Variable

if TYPE_CHECKING:
    from . import nn, plots
    from .blocks import BlockMatrix
    from .checks import check_gradients
    from .control import custom_gradient, register_gradient, stop_gradient
    from .explain import Explanation, UnconnectedError
    from .explorer import explore
    from .nonfinite import Nonfinite
    from .player import Player
    from .player.descend import descend
    from .player.frames import Frames
    from .player.play import play
    from .player.sweep import sweep
    from .saving import load, save
    from .transforms import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp

__version__ = "0.1.0"

__all__ = [
    "BlockMatrix",
    "Contribution",
    "Entry",
    "Explanation",
    "Frames",
    "GradientTape",
    "Nonfinite",
    "Player",
    "Step",
    "Tensor",
    "Trace",
    "UnconnectedError",
    "Variable",
    "check_gradients",
    "constant",
    "custom_gradient",
    "descend",
    "explore",
    "grad",
    "hessian",
    "hook",
    "hvp",
    "jacobian",
    "jvp",
    "load",
    "nn",
    "options",
    "play",
    "plots",
    "register_gradient",
    "rules",
    "save",
    "scope",
    "stop_gradient",
    "sweep",
    "trace",
    "value_and_grad",
    "vjp",
]


_LATER = {
    "BlockMatrix": "blocks",
    "Player": "player",
    "check_gradients": "checks",
    "Frames": "player.frames",
    "play": "player.play",
    "sweep": "player.sweep",
    "descend": "player.descend",
    "explore": "explorer",
    "Nonfinite": "nonfinite",
    "Explanation": "explain",
    "UnconnectedError": "explain",
    "custom_gradient": "control",
    "register_gradient": "control",
    "stop_gradient": "control",
    "load": "saving",
    "save": "saving",
} | dict.fromkeys(("grad", "hessian", "hvp", "jacobian", "jvp", "value_and_grad", "vjp"), "transforms")


def __getattr__(name: str) -> Any:
    """Import on first use what recording and differentiating can do without, so that importing the package is quick."""
    if name in ("nn", "plots"):
        return import_module(f"{__name__}.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
