"""A box of widgets in a cell: its HTML stays without a kernel, and once closed, it leaves no widget behind."""

import pytest


def test_a_box_stands_in_its_cell_as_html_with_its_key_and_closes_with_all_that_it_holds():
    ipywidgets = pytest.importorskip("ipywidgets")
    from autodiff_edu.player.frame import StoredBox, close_all

    before = len(ipywidgets.widgets.widget._instances)
    box = ipywidgets.VBox([ipywidgets.FloatSlider(), ipywidgets.HTML("3")])
    frame = StoredBox(box=box, key=box.model_id)
    shown = frame.enclose("<p>3</p>")
    assert f'data-autodiff-frame="{box.model_id}">\n<p>3</p>\n' in shown
    for widget in (frame, box):
        close_all(widget)
    assert len(ipywidgets.widgets.widget._instances) == before
