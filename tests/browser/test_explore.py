"""The sliders of `explore` in JupyterLab."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from browser.test_lab import KNOWN, Notebook

CELLS = [
    "import numpy as np\nfrom autodiff_edu.explorer import explore",
    "def f(x, w):\n    if x < -1:\n        raise ValueError('too small')\n    return np.sin(w * x)",
    "view = explore(f, x=(-2.0, 2.0, 1.0), w=2.0)\nview",
]


@pytest.fixture
def notebook(lab: Any, open_tab: Any) -> Notebook:
    cells = [nbformat.v4.new_code_cell(cell, id=f"cell-{i}") for i, cell in enumerate(CELLS)]
    document = nbformat.v4.new_notebook(cells=cells)
    document.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(document, lab.root / "explore.ipynb")
    opened = Notebook(open_tab(lab.address("explore.ipynb")))
    opened.run_all()
    return opened


def test_moving_a_slider_traces_again(notebook: Notebook) -> None:
    page = notebook.page
    player = notebook.player("f(x, w)")
    player.click("next")
    value = page.locator(".jp-OutputArea-output td").first
    assert value.text_content() == "0.909297"
    about = page.locator('.jp-OutputArea-output img[alt*="tangent at x = 1,"]')
    about.wait_for()
    handle = page.locator(".jp-OutputArea-output .noUi-handle")
    handle.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.locator('.jp-OutputArea-output img[alt*="tangent at x = 0.9,"]').wait_for()
    assert value.text_content() == "0.973848"
    player.stands_at(1)  # where the reader was
    page.wait_for_function(
        """() => [...document.querySelectorAll(".jp-OutputArea-output *")].some((host) =>
          host.shadowRoot?.querySelector('[data-tensor="0"] title')?.textContent.startsWith("x: 0.9"))"""
    )
    assert notebook.ask("float(view.look.value)") == pytest.approx(0.973848, abs=1e-6)
    page.keyboard.press("Home")
    page.get_by_text("ValueError: too small").wait_for()
    notebook.tab.is_quiet(*KNOWN)
