"""`explore`: sliders on the arguments of a function; the trace, the tangent and the numbers follow.

>>> view = explore(lambda x: x * x, x=(-3.0, 3.0, 1.0))
>>> view
Explorer('<lambda>(x)', x = 1)
>>> view.move(x=2.0)
>>> view.look.gradient["x"]
Tensor(4.)
"""

from __future__ import annotations

import html
import inspect
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

from ..arrays.structures import as_array
from ..core.tensor import Tensor, constant
from ..options import shows_widgets
from ..player.cells import release_replaced
from ..player.files import save
from ..player.html import image, page
from ..player.play import play
from ..plots import check_range
from ..text.formatting import short_value
from ..text.frames import here
from ..text.functions import name_of
from ..text.places import call_from
from ..transforms.gradients import value_and_grad
from .look import Look, is_steep, table
from .tangent import Curve, Picture

FRAMES = 5
"""How many tangents are shown side by side when no slider can move."""
COLUMNS = "repeat(auto-fit, minmax(min(100%, 340px), 1fr))"


def explore(f: Callable[..., Any], /, secant: str | None = None, **inputs: Any) -> Explorer:
    """Show a function with a slider for each argument that has a range.

    Parameters
    ----------
    f : callable
        A function of the inputs, by name; returns a tensor.
    secant : str, optional
        The name of one more slider, such as "h", that is not an argument of `f`: the picture then shows the secant
        through x and x + h, where x is the first input that is a number.
    **inputs
        The arguments of `f`. A range is `(low, high)`, where the slider starts in the middle, or `(low, high, start)`;
        anything else, such as a number or an array, is fixed.

    Returns
    -------
    Explorer
        The value of a notebook cell shows it: the sliders, the numbers, the tangent and the player. Without ipywidgets
        or a kernel, it shows them for the starting values.

    Raises
    ------
    TypeError
        If `f` does not have these arguments, or needs others.
    ValueError
        If a range goes from a larger to a smaller number, or starts outside itself, or a secant has no input that is a
        number.

    Examples
    --------
    >>> import autodiff_edu as ad
    >>> explore(lambda x, w: np.sin(w * x), x=(-3.0, 3.0), w=2.0)
    Explorer('<lambda>(x, w)', x = 0, w = 2)
    >>> print(explore(lambda x: x**3, x=1.0, h=(0.001, 1.0, 0.5), secant="h").look.words())
    value 1
    df/dx 3
    slope of the secant 4.75
    """
    return Explorer(f, secant, inputs)


class Explorer:
    """A function, its inputs, and the numbers and pictures for them; created by `explore`.

    Attributes
    ----------
    look : Look
        The current numbers and pictures.
    """

    look: Look

    def __init__(self, f: Callable[..., Any], secant: str | None, inputs: dict[str, Any]) -> None:
        self.function = f
        self._where = here()
        self.ranges: dict[str, tuple[float, float]] = {}
        self.values: dict[str, Any] = {}
        for name, given in inputs.items():
            self.values[name] = self._start(name, given)
        if secant is not None and secant not in inputs:
            raise ValueError(f'secant="{secant}" names the step of the secant: pass it too, as {secant}=(0.001, 1.0)')
        self.secant = secant
        bound = {name: value for name, value in self.values.items() if name != secant}
        self.names = list(_bound(f, bound))
        scalars = [name for name in self.names if isinstance(self.values[name], float)]
        if secant is not None and not (scalars and isinstance(self.values[secant], float) and self.values[secant] != 0):
            raise ValueError("a secant needs an input that is a number, and a step that is a number other than 0")
        moving = [name for name in scalars if name in self.ranges]
        self.along = (moving or scalars or [""])[0]  # the input that the curve is drawn along
        self.title = f"{name_of(f)}({', '.join(self.names)})"
        self._curve: tuple[Any, Curve] | None = None
        self._widget: Any = None
        self._show_now()

    def __repr__(self) -> str:
        return f"Explorer({self.title!r}, {self._places()})"

    def _start(self, name: str, given: Any) -> Any:
        if isinstance(given, tuple) and len(given) in (2, 3) and all(isinstance(n, int | float) for n in given):
            low, high = self.ranges[name] = check_range(given[:2], name)
            start = float(given[2]) if len(given) == 3 else (low + high) / 2
            if not low <= start <= high:
                raise ValueError(f"{name} starts at {start:g}, which is not between {low:g} and {high:g}")
            return start
        if isinstance(given, int) and not isinstance(given, bool):
            return float(given)
        return as_array(given)

    def move(self, **values: float) -> None:
        """Move inputs that have a range to other values; everything shown follows.

        Raises
        ------
        ValueError
            If an input has no range, or the value is outside it.
        """
        for name, value in values.items():
            low, high = self.ranges.get(name, (np.inf, -np.inf))
            if not low <= value <= high:
                within = f"goes from {low:g} to {high:g}" if name in self.ranges else "has no range: it is fixed"
                raise ValueError(f"{name} {within}; it cannot be moved to {value!r:.40}")
        self.values |= {name: float(value) for name, value in values.items()}
        moved = [name for name in values if name in self.names]
        self.along = moved[-1] if moved and self.secant is None else self.along
        self._show_now()

    def _show_now(self) -> None:
        self.look = self._look()
        if self._widget is not None:
            self._widget.show(self)

    def _look(self) -> Look:
        """Run the function; an error is shown, because raising it from a slider would help nobody."""
        args = [self.values[name] for name in self.names]
        watched = [i for i, arg in enumerate(args) if _is_floating(arg)]
        look = Look()
        try:
            with np.errstate(all="ignore"):  # the numbers say it: nan, inf
                if watched:
                    look.value, gradient = value_and_grad(self.function, tuple(watched))(*args)
                    look.gradient = {self.names[i]: part for i, part in zip(watched, gradient, strict=True)}
                # a widget's code moves a slider, and the reader does not want to see that code
                look.player = call_from(self._where, lambda: play(self.function, *args))
                if isinstance(look.value, Tensor) and look.value.ndim == 0 and self.along in look.gradient:
                    self._draw(look, self.along)
        except Exception as error:
            return Look(error=f"With {self._places()} there is nothing to show. {type(error).__name__}: {error}")
        return look

    def _places(self) -> str:
        """Write the names and values of the inputs."""
        numeric = (bool, int, float, complex, np.ndarray, np.generic)
        texts = {name: short_value(np.asarray(v)) for name, v in self.values.items() if isinstance(v, numeric)}
        return ", ".join(f"{name} = {texts[name]}" if name in texts else name for name in self.values)

    def _draw(self, look: Look, name: str) -> None:
        x, slope = self.values[name], float(look.gradient[name])
        h = None if self.secant is None else self.values[self.secant]
        look.picture = self._along(name).at(x, slope, h)
        if h is not None:
            look.slope = (self._height(name, x + h) - float(look.value)) / h

    def _along(self, name: str) -> Curve:
        """Return the curve along an input, recomputed only if another input has moved."""
        others = repr([(other, value) for other, value in self.values.items() if other not in (name, self.secant)])
        if self._curve is None or self._curve[0] != (name, others):
            self._curve = ((name, others), Curve(name, lambda x: self._height(name, x), self._span(name)))
        return self._curve[1]

    def _span(self, name: str) -> tuple[float, float]:
        low, high = self.ranges.get(name, (self.values[name] - 1.0, self.values[name] + 1.0))
        if self.secant is None:
            return low, high
        ends = [*self.ranges.get(self.secant, ()), self.values[self.secant]]
        return min(low, low + 1.25 * min(ends)), max(high, high + 1.25 * max(ends))

    def _height(self, name: str, x: float) -> float:
        values = self.values | {name: x}
        return float(self.function(*(_tensor(values[each]) for each in self.names)))

    def html(self, in_cell: bool = False) -> str:
        """Return what is shown now as HTML that needs no kernel; if one input has a range, several tangents."""
        about = html.escape(f"{self.title} with {self._places()}")
        sliders = "In a notebook with a running kernel and ipywidgets, there are sliders instead."
        return self._html(f"<p>{about}. {sliders}</p>", self._strip() or [self.look.picture], in_cell)

    def now(self) -> str:
        """Return what is shown now as HTML, for a page whose own sliders call `move`."""
        return self._html("", [self.look.picture])

    def save(self, path: str | PathLike[str]) -> None:
        """Write what is shown now as a page that needs neither Python nor a network, and so has no sliders.

        Parameters
        ----------
        path
            A name that ends in .html.

        Raises
        ------
        ValueError
            If the name has another ending.
        """
        save(path, {".html": lambda: page(self.title, self.html()).encode(errors="replace")})

    def _html(self, about: str, pictures: list[Picture | None], in_cell: bool = False) -> str:
        several = len(pictures) > 1
        width = 280 if several else 600
        drawn = "".join(image(one.svg, one.about, width, fills=several) for one in pictures if one)
        if several:  # as large as there is room for
            drawn = f'<div style="display: grid; gap: 8px; grid-template-columns: {COLUMNS}">{drawn}</div>'
        player = "" if self.look.player is None else self.look.player.html(in_cell)
        return f"<div>\n{about}{table(self.look)}{drawn}{player}\n</div>"

    def _strip(self) -> list[Picture | None]:
        """Draw the picture at several positions of the only slider."""
        if len(self.ranges) != 1 or self.look.picture is None:
            return []
        ((name, (low, high)),) = self.ranges.items()
        before = self.values, self.along
        positions = np.geomspace(high, low, FRAMES) if is_steep(low, high) else np.linspace(low, high, FRAMES)
        pictures = []
        for position in positions:
            self.values = before[0] | {name: float(position)}
            pictures.append(self._look().picture)
        self.values, self.along = before
        return pictures

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        release_replaced(self)
        html = self.html(in_cell=True)
        if shows_widgets() and self._live() is not None:
            html = self._widget.enclose(html)
        return {"text/plain": f"{self!r}\n{self.look.words()}", "text/html": html}

    def _release(self) -> None:
        """Close the sliders: the cell has been run again."""
        if self._widget is not None:
            self._widget.close()
            self._widget = None

    def _live(self) -> Any:
        """Return the widgets, created when first shown; None if ipywidgets or anywidget is missing."""
        if self._widget is None:
            try:
                from .sliders import Sliders
            except ImportError:
                return None
            self._widget = Sliders(self)
            self._widget.show(self)
        return self._widget


def _is_floating(value: Any) -> bool:
    return isinstance(value, float) or (hasattr(value, "dtype") and value.dtype.kind in "fc")


def _tensor(value: Any) -> Any:
    return constant(value) if isinstance(value, float) else value


def _bound(f: Callable[..., Any], values: dict[str, Any]) -> list[str]:
    """Return the names of the inputs in the order of the function's arguments."""
    if not callable(f):
        raise TypeError(f"explore takes a function and its arguments by name, but {f!r:.60} is not a function")
    name = name_of(f)
    try:
        bound = inspect.signature(f).bind(**values)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"explore gives {name} the arguments {', '.join(values) or 'none'}: {error}. Pass each of its arguments by "
            "name, as a number or as a range (low, high)"
        ) from None
    if bound.kwargs:
        raise TypeError(
            f"explore passes arguments by position, but {name} takes {', '.join(bound.kwargs)} by name only"
        )
    return list(bound.arguments)
