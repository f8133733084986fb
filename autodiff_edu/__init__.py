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
from .tape import GradientTape
from .tensor import Tensor, constant
from .trace import Trace, trace
from .variable import Variable

if TYPE_CHECKING:
    from .blocks import BlockMatrix
    from .checks import check_gradients
    from .control import register_gradient
    from .player import Player
    from .player.play import play
    from .transforms import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp

__version__ = "0.1.0"

__all__ = [
    "BlockMatrix",
    "Contribution",
    "Entry",
    "GradientTape",
    "Player",
    "Step",
    "Tensor",
    "Trace",
    "Variable",
    "check_gradients",
    "constant",
    "grad",
    "hessian",
    "hook",
    "hvp",
    "jacobian",
    "jvp",
    "play",
    "register_gradient",
    "rules",
    "trace",
    "value_and_grad",
    "vjp",
]


_LATER = {
    "BlockMatrix": "blocks",
    "Player": "player",
    "check_gradients": "checks",
    "register_gradient": "control",
    "play": "player.play",
} | dict.fromkeys(("grad", "hessian", "hvp", "jacobian", "jvp", "value_and_grad", "vjp"), "transforms")


def __getattr__(name: str) -> Any:
    """Import on first use what recording and differentiating can do without, so that importing the package is quick."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
