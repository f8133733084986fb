"""Sliders on the arguments of a function: what is shown, and what follows."""

import re
import subprocess
import sys

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.course.tools.differences import same_html
from autodiff_edu.explorer import explore
from autodiff_edu.explorer.tangent import Curve


def wave(x, w):
    return np.sin(w * x)


def root(x):
    if x < 0:
        raise ArithmeticError("<b>no root</b> of a negative number")
    return np.sqrt(x)


def title_and_values(explorer):
    trace = explorer.look.player._content["trace"]
    return trace["title"], {t["name"]: t["value"]["data"] for t in trace["tensors"] if t["kind"] == "watched"}


def test_a_range_begins_in_its_middle_or_where_it_is_told():
    assert repr(explore(wave, x=(-1.0, 3.0), w=2)) == "Explorer('wave(x, w)', x = 1, w = 2)"
    assert repr(explore(wave, x=(-1.0, 3.0, -1.0), w=2)) == "Explorer('wave(x, w)', x = -1, w = 2)"


def test_value_and_gradient_are_those_of_the_function():
    look = explore(wave, x=(-1.0, 3.0, 0.5), w=2.0).look
    assert float(look.value) == pytest.approx(np.sin(1.0))
    assert {name: float(part) for name, part in look.gradient.items()} == pytest.approx(
        {"x": 2 * np.cos(1.0), "w": 0.5 * np.cos(1.0)}
    )
    assert look.words().splitlines()[0] == "value 0.841471"


def test_moving_traces_again():
    view = explore(wave, x=(-1.0, 3.0), w=2.0)
    assert title_and_values(view) == ("wave(x, w)", {"x": 1.0, "w": 2.0})
    view.move(x=0.0)
    assert title_and_values(view) == ("wave(x, w)", {"x": 0.0, "w": 2.0})
    assert float(view.look.gradient["x"]) == 2.0
    assert "at x = 0, of slope 2" in view.look.picture.about


def test_inputs_may_come_in_another_order_than_the_arguments():
    assert float(explore(lambda a, b: a - b, b=1.0, a=(2.0, 4.0)).look.value) == 2.0


def test_an_array_is_fixed_and_has_its_gradient():
    look = explore(lambda x, w: np.sum(w * x), x=(0.0, 2.0), w=np.array([1.0, 2.0])).look
    assert np.array_equal(look.gradient["w"], [1.0, 1.0])
    assert look.picture is not None


def test_a_result_of_several_numbers_has_no_tangent():
    look = explore(lambda x: x * np.ones(3), x=(0.0, 2.0)).look
    assert look.picture is None
    assert look.player is not None


def test_the_secant_turns_into_the_tangent():
    view = explore(lambda x: x**3, x=1.0, h=(1e-3, 1.0, 1.0), secant="h")
    assert view.look.slope == pytest.approx(7.0)
    view.move(h=1e-3)
    assert view.look.slope == pytest.approx(3.003, abs=1e-5)
    assert float(view.look.gradient["x"]) == 3.0
    assert "the secant through x = 1 and 1.001" in view.look.picture.about


def test_an_error_of_the_function_is_shown_and_goes_away():
    view = explore(root, x=(-1.0, 3.0))
    assert view.look.error == ""
    view.move(x=-0.5)
    assert "With x = -0.5 there is nothing to show. ArithmeticError: <b>no root</b>" in view.look.error
    assert "<b>no root" not in view.html()
    assert "&lt;b&gt;no root" in view.html()
    view.move(x=1.0)
    assert float(view.look.value) == 1.0
    assert "nothing to show" in explore(root, x=(-2.0, -1.0)).html()


def test_what_is_not_finite_is_shown_without_warnings(recwarn):
    view = explore(lambda x: np.sin(x) / x, x=(-1.0, 1.0))
    assert "value nan" in view.look.words()
    assert view.html()
    assert not recwarn.list


@pytest.mark.parametrize(
    ("inputs", "error", "words"),
    [
        ({"x": (3.0, 1.0)}, ValueError, "from a smaller number to a larger"),
        ({"x": (0.0, 1.0, 2.0)}, ValueError, "x starts at 2"),
        ({"y": 1.0}, TypeError, "missing a required argument: 'x'"),
        ({}, TypeError, "missing a required argument"),
        ({"x": 1.0, "z": 1.0}, TypeError, "unexpected keyword argument 'z'"),
        ({"x": 1.0, "secant": "h"}, ValueError, r"pass it too, as h="),
        ({"x": 1.0, "h": 0.0, "secant": "h"}, ValueError, "other than 0"),
        ({"x": np.ones(2), "h": 1.0, "secant": "h"}, ValueError, "an input that is a number"),
    ],
)
def test_what_cannot_be_explored_is_refused_in_words(inputs, error, words):
    with pytest.raises(error, match=words):
        explore(root, **inputs)


def test_what_is_not_a_function_or_takes_names_alone_is_refused():
    with pytest.raises(TypeError, match="not a function"):
        explore(3.0, x=1.0)
    with pytest.raises(TypeError, match="x by name only"):
        explore(lambda *, x: x, x=1.0)


def test_only_ranges_can_be_moved_and_only_within():
    view = explore(wave, x=(-1.0, 3.0), w=2.0)
    with pytest.raises(ValueError, match="w has no range"):
        view.move(w=1.0)
    with pytest.raises(ValueError, match="x goes from -1 to 3"):
        view.move(x=4.0)
    assert view.values["x"] == 1.0


def test_the_html_has_the_numbers_the_tangents_and_the_player():
    html = explore(wave, x=(-1.0, 3.0), w=2.0).html()
    assert "<td>0.909297</td>" in html
    slopes = re.findall(r"at x = ([-\d.]+), of slope", html)
    assert slopes == ["-1", "0", "1", "2", "3"]
    assert html.count("data-autodiff-player") >= 1


def test_the_same_explorer_gives_the_same_bytes():
    first, second = (explore(wave, x=(-1.0, 3.0), w=2.0) for _ in range(2))
    assert first.html() == second.html()
    shown, again = (view._repr_mimebundle_() for view in (first, second))
    assert shown["text/plain"] == again["text/plain"]
    assert shown["text/html"] != again["text/html"], "each names its own sliders"
    assert same_html(shown["text/html"], again["text/html"])


def test_sliders_move_the_function_and_the_player_keeps_its_step():
    pytest.importorskip("ipywidgets")
    view = explore(wave, x=(-1.0, 3.0), w=2.0)
    live = view._live()
    assert f'data-autodiff-frame="{live.frame.key}"' in view._repr_mimebundle_()["text/html"]
    live.player.step = 3
    live.sliders["x"].value = 0.0
    assert view.values["x"] == 0.0
    assert "<td>2</td>" in live.numbers.value
    assert live.player._content is view.look.player._content
    assert live.player.step == 3
    view.move(x=2.0)
    assert live.sliders["x"].value == 2.0


def test_a_sum_of_steps_that_is_almost_0_is_0():
    pytest.importorskip("ipywidgets")
    view = explore(wave, x=(-5.0, 5.0), w=2.0)
    slider = view._live().sliders["x"]
    assert slider.readout_format == ".3f"
    slider.value = -5.0 + 100 * 0.0499999999999999998 - 8.88e-16  # what a browser makes of the middle
    assert slider.value != 0.0 == view.values["x"]
    slider.value = 0.1 + 0.2
    assert view.values["x"] == 0.3 != slider.value, "moving on does not set the slider back"


@pytest.mark.parametrize(
    ("place", "form"),
    [
        ((0.0, 1000.0, 0.5), ".1f"),
        ((0.0, 1.0, 0.0005), ".4f"),
        ((-100.0, 100.0, 0.25), ".2f"),
        ((0.0, 2 * np.pi), ".5f"),
        ((1e6, 2e7), ".4g"),
        ((-1e300, 1e300), ".4g"),
        ((-1e-15, 1e-15), ".4g"),
    ],
)
def test_a_slider_writes_its_start_as_it_is_and_tells_its_steps_apart(place, form):
    pytest.importorskip("ipywidgets")
    assert explore(wave, x=place, w=2.0)._live().sliders["x"].readout_format == form


def test_an_explorer_whose_cell_is_run_again_leaves_no_widget_behind():
    widgets = pytest.importorskip("ipywidgets").widgets.widget._instances
    before = len(widgets)
    view = explore(wave, x=(-1.0, 3.0), w=2.0)
    view._repr_mimebundle_()
    assert len(widgets) > before + 10
    view._release()
    assert len(widgets) == before
    view.move(x=0.0)
    assert "data-autodiff-frame" in view._repr_mimebundle_()["text/html"], "shown again, it has sliders again"
    view._release()


def test_a_slider_never_raises():
    pytest.importorskip("ipywidgets")
    view = explore(root, x=(-1.0, 3.0))
    live = view._live()
    assert len(live.box.children) == 2
    live.sliders["x"].value = -0.5
    assert "no root" in live.numbers.value
    assert live.picture.value == ""
    assert len(live.box.children) == 1
    live.sliders["x"].value = 2.0
    assert len(live.box.children) == 2


def test_a_step_from_small_to_large_moves_by_factors():
    pytest.importorskip("ipywidgets")
    view = explore(lambda x: x**3, x=1.0, h=(1e-3, 1.0), secant="h")
    slider = view._live().sliders["h"]
    assert type(slider).__name__ == "FloatLogSlider"
    slider.value = slider.base**slider.min
    assert view.values["h"] == pytest.approx(1e-3)


def test_html_is_shown_where_widgets_are_not_wanted(monkeypatch):
    monkeypatch.setattr(ad.options, "player", "html")
    assert sorted(explore(wave, x=(-1.0, 3.0), w=2.0)._repr_mimebundle_()) == ["text/html", "text/plain"]


def test_a_cell_says_how_to_start_the_player():
    view = explore(wave, x=(-1.0, 3.0), w=2.0)
    hint = "▶ Choose Run → Run All Cells"
    assert hint in view._repr_mimebundle_()["text/html"]
    assert hint not in view.html(), "which has no cell"


@pytest.mark.parametrize("missing", ["ipywidgets", "anywidget"])
def test_without_widgets_the_beginning_is_shown_with_a_sentence(missing):
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from autodiff_edu.explorer import explore; "
        "bundle = explore(lambda x: x * x, x=(0.0, 2.0))._repr_mimebundle_(); "
        "print(*sorted(bundle), 'there are sliders instead' in bundle['text/html'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["text/html", "text/plain", "True"]


def test_a_tangent_stays_in_the_frame_and_touches_the_curve():
    svg = Curve("x", lambda x: x * x, (-1.0, 1.0)).at(0.5, 1.0).svg
    numbers = [float(n) for d in re.findall(r' d="([^"]*)"', svg) for n in re.findall(r"-?\d+\.?\d*", d)]
    assert min(numbers) >= 0
    assert max(numbers) <= 600


def test_each_line_is_explained_above_the_frame():
    tangent, secant = (Curve("x", lambda x: x * x, (-1.0, 1.0)).at(0.5, 1.0, h).svg for h in (None, 0.3))
    for svg, lines in (
        (tangent, ["the function", "the tangent"]),
        (secant, ["the function", "the secant", "the tangent"]),
    ):
        assert [words for words in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if words.startswith("the ")] == lines
        samples = re.findall(r'<path d="M[\d.]+ 13h24"[^>]*stroke="(#\w+)"', svg)
        assert len(set(samples)) == len(lines)
        for colour in samples:
            assert svg.count(f'stroke="{colour}"') >= 2, "of the sample, and of the line"


@pytest.mark.parametrize(
    ("function", "jumps"),
    [
        (lambda x: np.where(x > 1, x + 2.0, x), [1.0]),
        (np.sign, [0.0, 0.0]),
        (lambda x: np.floor(x + 0.3), [-2.3, -1.3, -0.3, 0.7, 1.7, 2.7]),
        (lambda x: 1.0 / (x - 0.51), [0.51]),
        (lambda x: np.tanh(50.0 * x), []),
        (lambda x: np.tanh(1e5 * (x - 0.51)), []),
        (np.exp, []),
        (np.cbrt, []),
        (lambda x: np.sqrt(np.abs(x - 0.51)), []),
        (lambda x: np.maximum(x, 0.0), []),
        (lambda x: 5.0 * x, []),
    ],
)
def test_a_curve_has_a_gap_where_the_function_jumps_and_only_there(function, jumps):
    curve = Curve("x", function, (-3.0, 3.0))
    (gaps,) = np.nonzero(np.isnan(curve.ys))
    assert curve.xs[gaps] == pytest.approx(jumps, abs=1e-9)
    assert curve.xs[gaps + 1] == pytest.approx(jumps, abs=1e-9)
    assert np.all(np.diff(curve.xs) >= 0)


def test_a_curve_has_a_gap_where_the_function_is_not_finite():
    svg = Curve("x", lambda x: 1 / x, (-1.0, 1.0)).at(0.5, -4.0).svg
    _, curve = re.findall(r'd="([^"]*)"[^>]*stroke="#0b57b8"', svg)  # the first is in the legend
    assert curve.count("M") == 2
    flat = Curve("x", lambda x: 2.0, (-1.0, 1.0))
    assert flat.heights[0] < 2.0 < flat.heights[1]
    assert Curve("x", lambda x: float("nan"), (-1.0, 1.0)).at(0.0, float("nan")).svg


def test_a_player_shows_the_function_and_not_the_code_that_moves_the_slider():
    explorer = explore(wave, x=(-1.0, 3.0), w=2.0)
    scope = {"explorer": explorer}
    exec(compile("explorer.move(x=2.0)", "slider.py", "exec"), scope)
    document = explorer.look.player._content["trace"]
    assert {part["place"] for part in document["code"]} == {"test_explore.py"}
    assert {step["where"] is None for step in document["steps"] if step["kind"] in ("watch", "seed")} == {True}


def test_what_is_shown_is_saved_as_a_page(tmp_path):
    explorer = explore(wave, x=(-1.0, 3.0), w=2.0)
    explorer.save(tmp_path / "wave.html")
    page = (tmp_path / "wave.html").read_text(encoding="utf-8")
    assert "<title>wave(x, w)</title>" in page
    assert "wave(x, w) with x = 1, w = 2. In a notebook with a running kernel" in page
    assert "data-autodiff-player" in page
    with pytest.raises(ValueError, match=r"end it in \.html$"):
        explorer.save(tmp_path / "wave.png")


def test_the_picture_has_a_dark_form_of_each_of_its_colours():
    svg = explore(lambda x, h: x**3, x=(-1.0, 1.0), h=2.0).look.picture.svg
    style, _, drawing = svg.partition("</style>")
    assert "@media (prefers-color-scheme: dark)" in style
    used = set(re.findall(r'(?:fill|stroke)="(#\w+)"', drawing))
    assert len(used) >= 5
    for light in used:
        dark = re.search(rf'\[fill="{light}"\]{{fill:(#\w+)}}', style)[1]
        assert dark != light
