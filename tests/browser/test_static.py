"""The player as a file: no server, no kernel, no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_edu as ad
from browser.following import Expected, Shown


def diamond() -> ad.Trace:
    a = ad.Variable([1.0, 2.0], name="a")
    with ad.trace("diamond") as traced:
        with ad.GradientTape() as tape:
            b = a + a
            c = b + b
            total = np.sum(c)
        gradient = tape.gradient(total, a)
    assert np.array_equal(gradient, [4.0, 4.0])
    return traced


def broadcasting() -> ad.Trace:
    x, y = ad.Variable(np.arange(6.0).reshape(2, 3), name="x"), ad.Variable([1.0, 2.0, 3.0], name="y")
    with ad.trace("broadcasting") as traced:
        with ad.GradientTape() as tape:
            total = np.sum(np.sin(x) * y)
        gradient = tape.gradient(total, y)
    assert gradient.shape == (3,)
    return traced


def two_tapes() -> ad.Trace:
    x = ad.Variable(2.0, name="x")
    with ad.trace("two tapes") as traced:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                y = x * x * x
            first = inner.gradient(y, x)
        second = outer.gradient(first, x)
    assert (float(first), float(second)) == (12.0, 12.0)
    return traced


def nested() -> ad.Trace:
    x = ad.Variable(2.0, name="x")
    with ad.trace("three tapes") as traced:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as middle:
                with ad.GradientTape() as inner:
                    y = x * x * x
                first = inner.gradient(y, x)
            second = middle.gradient(first, x)
        third = outer.gradient(second, x)
    assert (float(first), float(second), float(third)) == (12.0, 12.0, 6.0)
    return traced


def network() -> ad.Trace:
    first, second = ad.nn.Dense(3, np.tanh), ad.nn.Dense(1)
    x = np.array([[0.5, -1.0], [1.0, 2.0], [0.0, 0.5], [2.0, 1.0]])
    with ad.trace("a network of two layers") as traced:
        with ad.GradientTape() as tape:
            loss = np.mean(second(first(x)) ** 2)
        tape.gradient(loss, [*first.trainable_variables, *second.trainable_variables])
    return traced


def stopped() -> ad.Trace:
    """What is computed in the pause is a constant to the tape, and so is what stop_gradient gives."""
    x, y = ad.Variable(3.0, name="x"), ad.Variable(2.0, name="y")
    with ad.trace("a stopped recording") as traced:
        with ad.GradientTape() as tape:
            a = x * x
            with tape.stop_recording():
                b = a * y
            z = ad.stop_gradient(a) * b + y * a
        gradients = tape.gradient(z, [x, y])
    assert [float(gradient) for gradient in gradients] == [12.0, 9.0]
    return traced


def two_passes() -> ad.Trace:
    """Everything else that a step can be: skipped, cut, a pause, an assignment, a way out to NumPy, a reset."""
    x, fixed = ad.Variable(2.0, name="x"), ad.constant(3.0, name="fixed")
    with ad.trace("two passes") as traced:
        with ad.GradientTape(persistent=True) as tape:
            x * 3.0
            tape.reset()
            nine = fixed * fixed
            with tape.stop_recording():
                x * 2.0
            y = x * x + nine + np.floor(x)
            z = y * np.sqrt(y.numpy())
        tape.gradient(z, x)
        x.assign(5.0)
        tape.gradient(y, x)
    return traced


def side_by_side() -> ad.Trace:
    """One tape records what the other skips, for it watches only w."""
    x, w = ad.Variable(2.0, name="x"), ad.Variable(3.0, name="w")
    with ad.trace("side by side") as traced:
        with ad.GradientTape() as left, ad.GradientTape(watch_accessed_variables=False) as right:
            right.watch(w)
            y = x * x
            z = w * y
        left.gradient(y, x)
        right.gradient(z, w)
    return traced


HOSTILE = '<img src=x onerror="window.hacked = true">'


def hostile() -> ad.Trace:
    x = ad.Variable(2.0, name=HOSTILE)
    with ad.trace(f"</title></script><script>window.hacked = true</script>{HOSTILE}") as traced:
        with ad.GradientTape() as tape:
            y = (
                x * x
            )  # </pre></script><script>window.hacked = true</script><img src=x onerror="window.hacked = true"><!--
        tape.gradient(y, x)
    return traced


FIVE = [diamond, broadcasting, network, two_tapes, stopped]
EXAMPLES = [*FIVE, two_passes, side_by_side, hostile]


def read(traced: ad.Trace) -> Expected:
    return Expected(traced.document())


def saved(traced: ad.Trace, folder: Path) -> str:
    """Write the page, and give its address."""
    path = folder / "player.html"
    path.write_text(ad.play(traced).page(), encoding="utf-8")
    return path.as_uri()


def only(tab: Any) -> Shown:
    return Shown(tab.page.locator("section.player"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_step_shows_what_the_trace_says_with_the_mouse(example: Any, open_tab: Any, tmp_path: Path) -> None:
    traced = example()
    tab = open_tab(saved(traced, tmp_path))
    player = only(tab)
    player.walks(read(traced), lambda: player.click("next"), lambda: player.click("previous"))
    player.click("last")
    player.agrees(read(traced), len(traced) - 1)
    player.click("first")
    player.agrees(read(traced), 0)
    tab.is_quiet()
    assert len(tab.requests) == 1  # the file


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_step_shows_what_the_trace_says_with_the_keys(example: Any, open_tab: Any, tmp_path: Path) -> None:
    traced = example()
    tab = open_tab(saved(traced, tmp_path), color_scheme="dark")  # and with the mouse, in a light one
    player = only(tab)
    player.root.focus()
    player.walks(read(traced), lambda: player.press("ArrowRight"), lambda: player.press("ArrowLeft"))
    player.press("End")
    player.agrees(read(traced), len(traced) - 1)
    player.press("Home")
    player.agrees(read(traced), 0)
    tab.is_quiet()


def test_play_walks_to_the_end_and_pauses(open_tab: Any, tmp_path: Path) -> None:
    traced = diamond()
    tab = open_tab("about:blank")
    tab.page.clock.install()
    tab.page.goto(saved(traced, tmp_path))
    player = only(tab)
    player.click("play")
    tab.page.clock.run_for(2500)
    player.agrees(read(traced), 2)
    player.press("Space")  # on the button that was clicked: pause
    tab.page.clock.run_for(5000)
    player.agrees(read(traced), 2)
    player.click("play")
    tab.page.clock.run_for(1000 * len(traced))
    player.agrees(read(traced), len(traced) - 1)
    tab.is_quiet()


def test_scrubber_and_entries_go_where_they_say(open_tab: Any, tmp_path: Path) -> None:
    traced = diamond()
    expected = read(traced)
    player = only(open_tab(saved(traced, tmp_path)))
    player.root.locator("input[type=range]").fill("9")
    player.agrees(expected, 9)
    player.root.locator('li[data-entry="0"]').click()
    player.agrees(
        expected, next(n for n, step in enumerate(expected.steps) if step["kind"] == "pull back" and step["entry"] == 0)
    )


def test_two_players_on_a_page_leave_each_other_alone(open_tab: Any, tmp_path: Path) -> None:
    traces = [diamond(), broadcasting(), diamond()]
    path = tmp_path / "several.html"
    fragments = "".join(ad.play(traced).html() for traced in traces)
    path.write_text(f'<!DOCTYPE html><meta charset="utf-8"><title>several</title>{fragments}', encoding="utf-8")
    tab = open_tab(path.as_uri())
    roots = tab.page.locator("section.player")
    players = [Shown(roots.nth(index)) for index in range(3)]
    players[1].click("next")
    players[2].root.focus()
    for _ in range(3):
        players[2].press("ArrowRight")
    for player, traced, number in zip(players, traces, (0, 1, 3), strict=True):
        player.agrees(read(traced), number)
    assert roots.count() == 3
    tab.is_quiet()


def test_names_and_code_are_text_and_never_markup(open_tab: Any, tmp_path: Path) -> None:
    traced = hostile()
    tab = open_tab(saved(traced, tmp_path))
    player = only(tab)
    for number in range(len(traced)):
        player.stands_at(number)
        assert player.root.locator("img, script").count() == 0
        player.click("next")
    assert HOSTILE in player.root.text_content()
    assert tab.page.title() == traced.title
    assert tab.page.locator('img:not([src^="data:image/svg+xml;base64,"])').count() == 0
    assert tab.page.evaluate("window.hacked") is None
    assert len(tab.requests) == 1
    tab.is_quiet()


@pytest.mark.parametrize("width", [375, 900])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_page_and_is_legible(width: int, scheme: str, open_tab: Any, tmp_path: Path) -> None:
    traced = nested()
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    tab = open_tab(saved(traced, tmp_path), **options)
    player = only(tab)
    for number in range(len(traced)):
        player.stands_at(number)
        player.fits()
        player.legible(dark=scheme == "dark")
        if number == len(traced) * 2 // 3:
            player.picture(f"static-{width}-{scheme}")
        player.click("next")


def test_wide_values_fit_a_narrow_page(open_tab: Any, tmp_path: Path) -> None:
    for traced in (broadcasting(), hostile()):
        player = only(open_tab(saved(traced, tmp_path), viewport={"width": 375, "height": 800}))
        for number in range(len(traced)):
            player.stands_at(number)
            player.fits()
            player.click("next")


def test_the_transcript_is_there_where_scripts_do_not_run(open_tab: Any, tmp_path: Path) -> None:
    for traced in (diamond(), hostile()):
        tab = open_tab(saved(traced, tmp_path), java_script_enabled=False)
        assert tab.page.locator("pre").text_content() == traced.transcript()
