"""Learn automatic differentiation: write NumPy, record it on a tape, and watch both passes step by step.

>>> import numpy as np
>>> import autodiff_edu as ad
>>> x = ad.Variable(2.0, name="x")
>>> with ad.GradientTape() as tape:
...     y = x * np.sin(x)
>>> tape.gradient(y, x)
Tensor(0.077004)
"""

from . import rules
from .entry import Contribution, Entry, Step
from .events import hook
from .player import Player
from .player.play import play
from .tape import GradientTape
from .tensor import Tensor, constant
from .trace import Trace, trace
from .variable import Variable

__version__ = "0.1.0"

__all__ = [
    "Contribution",
    "Entry",
    "GradientTape",
    "Player",
    "Step",
    "Tensor",
    "Trace",
    "Variable",
    "constant",
    "hook",
    "play",
    "rules",
    "trace",
]
