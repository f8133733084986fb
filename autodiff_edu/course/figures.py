"""Figures that say in words what they show, for readers who do not see them and for outputs that are compared."""

from __future__ import annotations

import io
from typing import Any

DPI = 160


class described:  # noqa: N801 (read as a function: the last line of a cell is described(figure, "..."))
    """A matplotlib figure with its alt text; the value of a notebook cell shows it.

    The picture is a PNG of fixed size. The words are the output's plain text, which comparisons and terminals read, and
    the alt text of the picture in published pages.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn at once and then closed, so that a notebook shows it once.
    alt : str
        What the figure shows.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, axes = plt.subplots(figsize=(3, 2))
    >>> described(figure, "Empty axes.")
    Figure: Empty axes.
    """

    def __init__(self, figure: Any, alt: str) -> None:
        from matplotlib import pyplot

        self.alt = " ".join(alt.split())
        self.width = round(figure.get_size_inches()[0] * 100)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=DPI, facecolor="white", metadata={"Software": None})
        self.png = picture.getvalue()
        pyplot.close(figure)

    def __repr__(self) -> str:
        return f"Figure: {self.alt}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        data = {"text/plain": repr(self), "image/png": self.png}
        return data, {"image/png": {"alt": self.alt, "width": self.width}}
