"""A player in a notebook is a widget: it stands in boxes, can be linked, and has a model only while it is shown."""

import subprocess
import sys

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.player.unpacking import content_of


def square(x):
    return x * x


def joined(**options):
    """A player as it is in a notebook."""
    pytest.importorskip("anywidget")
    return ad.play(square, 3.0, **options)


def test_a_player_is_a_widget_and_its_traits_can_be_observed():
    player, heard = joined(), []
    assert player._choose_slide() == [6], "nobody has moved it"
    player.observe(lambda change: heard.append((change["name"], change["new"])), ["step", "playing", "predict"])
    player.step = 2
    player.set_state({"step": 4, "playing": True})
    player.predict = True
    assert heard == [("step", 2), ("step", 4), ("playing", True), ("predict", True)]
    assert player._choose_slide() == [player.step] == [4]
    assert "data-predict" in player.html()
    for wrong, error in ((len(player) + 1, IndexError), (0, IndexError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error):
            player.step = wrong
    for far, nearest in ((1000, len(player)), (0, 1)):  # of a slider in the page that is linked to it
        player.set_state({"step": far})
        assert player.step == nearest


def test_a_player_stands_in_a_box_and_can_be_linked():
    ipywidgets = pytest.importorskip("ipywidgets")
    player, slider = joined(), ipywidgets.IntSlider()
    box = ipywidgets.HBox([slider, player])
    assert box.get_state()["children"] == [f"IPY_MODEL_{each.model_id}" for each in (slider, player)]
    link = ipywidgets.jslink((player, "step"), (slider, "value"))
    assert link.get_state()["source"] == [f"IPY_MODEL_{player.model_id}", "step"]
    for widget in (link, box, slider, player):
        widget.close()


def test_only_a_box_gets_the_player_as_a_view():
    player = joined()
    assert "data-model" not in player.html()
    player._repr_mimebundle_()
    assert player.get_state()["fragment"] == ""
    player._handle_custom_msg("fragment", [])
    assert content_of(player.fragment) == player._content
    assert f'data-model="{player.key}"' in player.fragment
    other = ad.play(lambda x: np.sin(x), 1.0)
    player.step = len(player)
    player.draw(other)
    assert content_of(player.fragment) == other._content
    assert player.step == len(other)


def test_a_player_that_nobody_shows_has_no_model():
    widgets = pytest.importorskip("ipywidgets").widgets.widget._instances
    before = len(widgets)
    player = joined()
    player.step = 2
    assert player.html()
    assert len(widgets) == before
    assert "data-model" in player._repr_mimebundle_()["text/html"]
    assert len(widgets) == before + 2, "itself and its layout"
    player._release()
    assert len(widgets) == before


def test_a_player_that_was_replaced_is_small_and_still_plays():
    player = joined()
    page, content = player.html(), player._content
    player._repr_mimebundle_()
    player._release()
    assert player._whole is None
    assert player._content == content
    assert player.html() == page
    player.step = 3
    shown = player._repr_mimebundle_()["text/html"]
    assert f'data-model="{player.key}"' in shown, "shown again, it has a model again"
    player._release()


def test_without_anywidget_the_player_is_html():
    code = (
        "import sys; sys.modules['anywidget'] = None; import ipywidgets, numpy as np, autodiff_edu as ad\n"
        "player = ad.play(lambda x: x * x, 3.0); player.step = 2; player.predict = np.True_; player.playing = True\n"
        "bundle = player._repr_mimebundle_(); assert 'data-start=\"1\" data-predict' in bundle['text/html']\n"
        "print(*sorted(bundle), 'data-model' in bundle['text/html'], player)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "text/html text/plain False Player('<lambda>(x)', 7 steps)"


def test_outside_of_notebooks_a_player_imports_no_widgets():
    code = (
        "import sys, autodiff_edu as ad; ad.play(lambda x: x * x, 3.0)\n"
        "print({'anywidget', 'ipywidgets', 'IPython'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_first_view_alone_is_told_to_open_on_stage(monkeypatch):
    def told(**options):
        widget = joined(**options)
        assert widget.model_id
        said = []
        monkeypatch.setattr(type(widget), "send", lambda self, content, buffers=None: said.append(content))
        for _ in range(2):
            widget._handle_custom_msg("mounted", [])
        assert "stage" not in widget.get_state()  # or a saved page would open over everything
        return said

    assert told(stage=True) == ["stage"]
    assert told() == []
