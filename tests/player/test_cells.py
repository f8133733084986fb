"""A cell that is run again releases what it showed, and one that draws for long says so meanwhile."""

import gc
import itertools
from weakref import ref

import pytest

import autodiff_edu as ad
from autodiff_edu.player.cells import announce_drawing


def square(x):
    return x * x


def joined(**options):
    """A player as it is in a notebook."""
    pytest.importorskip("anywidget")
    return ad.play(square, 3.0, **options)


class Shell:
    """IPython's shell in a notebook whose frontend says which cell it runs."""

    kernel = None

    def __init__(self):
        self.parent = {}

    def get_parent(self):
        return self.parent

    def execute(self, cell, number, *shown):
        self.parent = {"metadata": {"cellId": cell}, "header": {"msg_id": number}}
        for one in shown:
            one._repr_mimebundle_()


@pytest.fixture
def notebook(monkeypatch):
    shell = Shell()
    monkeypatch.setattr("autodiff_edu.player.cells.find_shell", lambda: shell)
    return shell


def test_a_cell_that_is_run_again_releases_what_it_showed_before(notebook):
    widgets = pytest.importorskip("ipywidgets").widgets.widget._instances
    before = len(widgets)
    kept, *gone = (joined() for _ in range(3))
    others = [ref(player) for player in gone]
    notebook.execute("a", 1, gone[0], gone[1], kept)
    notebook.execute("b", 2, joined())
    notebook.execute("a", 3, kept)
    assert kept._whole is not None, "the same player, shown again"
    assert [player._whole for player in gone] == [None, None]
    del gone
    gc.collect()
    assert [other() for other in others] == [None, None]
    notebook.execute("a", 4, joined())
    assert kept._whole is None
    for cell in "ab":
        notebook.execute(cell, 5, ad.play(square, 1.0))
    assert len(widgets) == before + 4
    for widget in [*widgets.values()][before:]:
        widget.close()


def test_running_a_cell_ten_times_keeps_the_trace_of_one(notebook):
    out = []
    sizes = []
    for number in range(8):
        player = ad.play(lambda x: sum(x * k for k in range(200)), 1.0)
        notebook.execute("a", number, player)
        out.append(player)  # as IPython's Out does
        del player
        gc.collect()
        sizes.append(len(gc.get_objects()))
    grown = [after - before for before, after in itertools.pairwise(sizes[2:])]
    assert max(grown) < 500, f"one trace alone is {len(out[-1]._content['trace']['steps'])} steps"
    for player in out:
        player._release()


def test_what_takes_long_says_so_and_leaves_nothing_to_see(notebook, monkeypatch):
    said = []

    class Handle:
        def update(self, data, raw):
            said.append(data)

    monkeypatch.setattr("IPython.display.display", lambda data, **how: said.append(data) or Handle())
    with announce_drawing(5000):
        assert said == []
    with announce_drawing(20_004):
        assert said[0] == {"text/plain": "Drawing 20,004 steps …", "text/html": "<p>Drawing 20,004 steps …</p>"}
    assert set(said[-1].values()) == {""}
    with announce_drawing(20_004, lambda: "<img>"):
        assert said[-1]["text/html"].endswith("</p><img>")
