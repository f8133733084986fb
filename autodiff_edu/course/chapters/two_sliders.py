"""A line to fit by hand: dots, and two sliders that move a line among them. It needs no kernel."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import numpy as np

from ...text.shared import colour

WIDTH, HEIGHT, LEFT, BOTTOM = 600.0, 330.0, 48.0, 44.0

FRAGMENT = """\
<div data-two-sliders data-numbers="{data}" data-lm-suppress-shortcuts="true" style="max-width: 600px; color: inherit">
<svg viewBox="0 0 600 330" role="img" aria-label="{alt}" style="width: 100%; height: auto; color: inherit">
<g fill="none" stroke="currentColor"><path d="{axes}"/><path d="{dots}" stroke-width="4.5" stroke-linecap="round" opacity="0.4"/></g>
<g fill="currentColor" font-size="13" font-family="sans-serif">{marks}</g>
<svg x="48" y="0" width="552" height="286" viewBox="48 0 552 286"><path class="line" d="{line}" fill="none" \
stroke="{stroke}" stroke-width="3"/></svg>
</svg>
{sliders}
{told}<script type="module">
for (const box of document.querySelectorAll("[data-two-sliders]:not([data-ready])")) {{
  box.dataset.ready = "";
  const data = JSON.parse(box.dataset.numbers);
  const [tilt, height] = box.querySelectorAll("input");
  const show = () => {{
    const [t, h] = [+tilt.value, +height.value];
    tilt.nextElementSibling.textContent = t.toFixed(2);
    height.nextElementSibling.textContent = h.toFixed(2);
    const ends = data.ends.map(([x, flipper]) => `${{x}} ${{data.scale[0] - data.scale[1] * (t * flipper + h)}}`);
    box.querySelector(".line").setAttribute("d", `M${{ends.join("L")}}`);
    const loss = box.querySelector(".loss");
    if (loss) {{
      const [ff, f, fm, mm, m] = data.means;
      loss.textContent = (t * t * ff + 2 * t * h * f + h * h - 2 * t * fm - 2 * h * m + mm).toFixed(4);
    }}
  }};
  tilt.addEventListener("input", show);
  height.addEventListener("input", show);
  show();
}}
</script>
</div>
"""

SLIDER = """\
<label style="display: flex; gap: 0.6em; align-items: center"><code style="width: 4em">{name}</code> \
<input type="range" min="{low}" max="{high}" step="0.01" value="{start}" style="flex: 1; min-width: 6em; height: 2em"> \
<output style="width: 3em">{start:.2f}</output></label>"""


class LineByHand:
    """A scatter plot with a line that two sliders move; the value of a notebook cell shows it.

    Parameters
    ----------
    flipper, mass : array_like
        What the dots show: centimetres beyond 20, and kilograms.
    loss : bool
        Whether the mean of the squared misses is shown beside the sliders.

    Examples
    --------
    >>> LineByHand([-1.0, 0.0, 2.0], [3.5, 4.0, 5.0], loss=True)
    Two sliders, tilt and height, and a line among 3 dots. At tilt 0 and height 4 the loss is 0.4167.
    """

    tilt = (-0.5, 1.5, 0.0)
    height = (3.0, 5.0, 4.0)

    def __init__(self, flipper: Any, mass: Any, loss: bool = False) -> None:
        self.flipper, self.mass = np.asarray(flipper, dtype=float), np.asarray(mass, dtype=float)
        self.loss = loss

    def __repr__(self) -> str:
        said = f"Two sliders, tilt and height, and a line among {len(self.mass)} dots."
        return said + (f" At tilt 0 and height 4 the loss is {self._start():.4f}." if self.loss else "")

    def _start(self) -> float:
        return float(np.mean((self.height[2] - self.mass) ** 2))

    def html(self) -> str:
        """Return the picture, the sliders and the script that moves the line, as HTML that needs no kernel."""
        low, high, bottom, top = -3.0, 3.2, 2.5, 6.5
        across = (WIDTH - LEFT - 10.0) / (high - low)
        up = (HEIGHT - BOTTOM - 10.0) / (top - bottom)
        zero = HEIGHT - BOTTOM + up * bottom

        def x(flipper: float) -> float:
            return round(LEFT + across * (flipper - low), 1)

        def y(mass: float) -> float:
            return round(zero - up * mass, 1)

        marks = [_mark(x(at - 20.0), HEIGHT - BOTTOM + 18.0, f"{at:g}") for at in range(17, 24)]
        marks += [_mark(LEFT - 14.0, y(at) + 4.0, f"{at:g}") for at in (3, 4, 5, 6)]
        marks.append(_mark(LEFT + (WIDTH - LEFT) / 2, HEIGHT - 6.0, "flipper, in centimetres"))
        turned = f'transform="rotate(-90)" x="{-(HEIGHT - BOTTOM) / 2:g}" y="14" text-anchor="middle"'
        marks.append(f"<text {turned}>mass, in kilograms</text>")
        floor, ceiling, right = y(bottom), y(top), x(high)
        f, m = self.flipper, self.mass
        means = [round(float(np.mean(each)), 9) for each in (f * f, f, f * m, m * m, m)]
        ends = [[x(end), end] for end in (low, high)]
        data = {"ends": ends, "scale": [round(zero, 3), round(up, 3)], "means": means}
        told = f'<p>loss <output class="loss">{self._start():.4f}</output></p>\n'
        return FRAGMENT.format(
            alt=escape(f"{len(m)} dots, mass against flipper, rising to the right, and a line that the sliders move"),
            axes=f"M{LEFT:g} {ceiling}V{floor}H{right}",
            dots="".join(f"M{x(each)} {y(of)}h0" for each, of in zip(f, m, strict=True)),
            marks="".join(marks),
            line=f"M{ends[0][0]} {y(self.height[2])}H{ends[1][0]}",
            stroke=colour("backward-accent"),
            sliders="\n".join(
                SLIDER.format(name=name, low=span[0], high=span[1], start=span[2])
                for name, span in (("tilt", self.tilt), ("height", self.height))
            ),
            told=told if self.loss else "",
            data=escape(json.dumps(data)),
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}


def _mark(x: float, y: float, text: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="middle">{text}</text>'
