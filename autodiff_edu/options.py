"""Settings for the whole package: `ad.options`.

>>> from autodiff_edu.options import options
>>> options
Options(player='auto', most_bytes=1000000000)
>>> options.player = "html"
>>> options.player = "Html"
Traceback (most recent call last):
    ...
ValueError: options.player is 'auto', 'widget' or 'html', not 'Html'
>>> options.player = "auto"
"""

from __future__ import annotations

import os
import sys
from typing import Any

from .text.ipython import find_shell

CHOICES = {"player": ("auto", "widget", "html")}
DEFAULTS = {"player": "auto", "most_bytes": 1_000_000_000}


class Options:
    """Settings that hold until they are changed; `ad.options` is the only instance.

    Attributes
    ----------
    player : {"auto", "widget", "html"}
        Whether the player in a cell is connected to Python. It always runs in the page by itself; as a *widget* it also
        shares its step with Python, as *HTML* it does not. "auto", the default, is "html" in Google Colab (the module
        `google.colab` is loaded) and in VS Code (its kernels have `VSCODE_PID` or `VSCODE_CWD` among their environment
        variables), and "widget" everywhere else. Without anywidget it is always HTML.
    most_bytes : int
        How much of the memory a trace may take for copies of another library's tensors, such as PyTorch's.

    Raises
    ------
    AttributeError
        If there is no such option.
    ValueError
        If an option cannot have that value; it then stays as it was.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> ad.options.player
    'auto'
    >>> ad.options.player = "html"
    >>> ad.options
    Options(player='html', most_bytes=1000000000)
    >>> ad.options.player = "auto"
    """

    player: str
    most_bytes: int

    def __init__(self) -> None:
        for name, value in DEFAULTS.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in DEFAULTS:
            raise AttributeError(f"no option is called {name!r}; the options are {', '.join(DEFAULTS)}")
        if name in CHOICES and (not isinstance(value, str) or value not in CHOICES[name]):
            *others, last = map(repr, CHOICES[name])
            raise ValueError(f"options.{name} is {', '.join(others)} or {last}, not {value!r:.60}")
        if name not in CHOICES and (type(value) is not int or value < 0):
            raise ValueError(f"options.{name} is a number of bytes, such as {DEFAULTS[name]}, not {value!r:.60}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"options.{name} cannot be deleted; set it to {DEFAULTS.get(name)!r}")

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={getattr(self, name)!r}' for name in DEFAULTS)})"


options = Options()


def shows_widgets() -> bool:
    """Return whether what a cell shows is connected to the kernel."""
    if options.player == "auto":
        return "google.colab" not in sys.modules and not {"VSCODE_PID", "VSCODE_CWD"} & os.environ.keys()
    return options.player == "widget"


def makes_widgets() -> bool:
    """Return whether a player is a widget: in a notebook, and wherever ipywidgets has been imported."""
    if "google.colab" in sys.modules:  # where the first widget loads a script from the network
        return options.player == "widget"
    return "ipywidgets" in sys.modules or find_shell() is not None
