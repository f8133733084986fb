"""Learn automatic differentiation: write NumPy, record it on a tape, and watch both passes step by step.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.Variable(2.0, name="x")
>>> with ad.GradientTape() as tape:
...     y = x * np.sin(x)
>>> tape.gradient(y, x)
Tensor(0.077004)
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import rules
from .core.active import listen_everywhere
from .core.entry import Entry
from .core.tensor import Tensor, constant
from .core.variable import Variable
from .derivatives.steps import Contribution, Step
from .explain.journal import journal
from .gradient_tape import GradientTape
from .options import options
from .text.ipython import find_shell
from .trace import Trace, sources, trace
from .trace.hook import hook
from .trace.scopes import scope
from .trace.warning_places import show_at_the_line

if TYPE_CHECKING:
    from . import nn, plots
    from .compiled import compile
    from .custom import custom_gradient, register_gradient, stop_gradient
    from .custom.checkpoint import checkpoint
    from .derivatives.corners import Corner
    from .derivatives.nudge import Nudge
    from .explain.explanation import Explanation, UnconnectedError
    from .explorer import explore
    from .nonfinite import Nonfinite
    from .player import Player
    from .player.compare import compare
    from .player.descend import descend
    from .player.drill import drill
    from .player.play import play
    from .player.print.frames import Frames
    from .player.sweep import sweep
    from .saving import load, save
    from .transforms.blocks import BlockMatrix
    from .transforms.checks import check_gradients
    from .transforms.forward import jvp, linearize
    from .transforms.gradients import grad, value_and_grad, vjp
    from .transforms.matrices import hessian, hvp, jacobian

__version__ = "0.2.0"

listen_everywhere(journal)


def _follow_pytorch(trace: Trace) -> Any:
    """Return what sees for a trace what PyTorch computes; None if PyTorch has not been imported."""
    if "torch" not in sys.modules:
        return None
    from .frameworks.pytorch import TorchRecorder

    return TorchRecorder(trace)


sources.append(_follow_pytorch)

__all__ = [
    "BlockMatrix",
    "Contribution",
    "Corner",
    "Entry",
    "Explanation",
    "Frames",
    "GradientTape",
    "Nonfinite",
    "Nudge",
    "Player",
    "Step",
    "Tensor",
    "Trace",
    "UnconnectedError",
    "Variable",
    "check_gradients",
    "checkpoint",
    "compare",
    "compile",
    "constant",
    "custom_gradient",
    "descend",
    "drill",
    "explore",
    "grad",
    "hessian",
    "hook",
    "hvp",
    "jacobian",
    "jvp",
    "linearize",
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
    "BlockMatrix": "transforms.blocks",
    "Player": "player",
    "check_gradients": "transforms.checks",
    "Frames": "player.print.frames",
    "play": "player.play",
    "load_ipython_extension": "player.magic",
    "compare": "player.compare",
    "sweep": "player.sweep",
    "descend": "player.descend",
    "drill": "player.drill",
    "explore": "explorer",
    "Nonfinite": "nonfinite",
    "Nudge": "derivatives.nudge",
    "Corner": "derivatives.corners",
    "Explanation": "explain.explanation",
    "UnconnectedError": "explain.explanation",
    "checkpoint": "custom.checkpoint",
    "custom_gradient": "custom",
    "register_gradient": "custom",
    "stop_gradient": "custom",
    "load": "saving",
    "save": "saving",
    "compile": "compiled",
    **dict.fromkeys(("jvp", "linearize"), "transforms.forward"),
    **dict.fromkeys(("grad", "value_and_grad", "vjp"), "transforms.gradients"),
    **dict.fromkeys(("hessian", "hvp", "jacobian"), "transforms.matrices"),
}


def __getattr__(name: str) -> Any:
    """Import on first use what recording and differentiating do not need, so that importing the package is quick."""
    if name in ("nn", "plots"):
        return import_module(f"{__name__}.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return value


def _register_magic() -> None:
    """Register `%%play` in IPython, unless it knows another."""
    ipython = find_shell()
    if ipython is not None and "play" not in ipython.magics_manager.magics["cell"]:
        import_module(f"{__name__}.player.magic").load_ipython_extension(ipython)


_register_magic()
if find_shell() is not None:
    show_at_the_line()


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__") and name.endswith("__"))})
