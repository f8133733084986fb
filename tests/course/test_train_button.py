"""The button that trains: it hears Stop, draws what it has, and leaves nothing behind."""

import asyncio

import pytest

from autodiff_edu.course.chapters.train_button import TrainButton


def falling():
    return (3.0 / (1.0 + turn / 100) for turn in range(300))


def button():
    return TrainButton(falling, lambda turn: f"<name {turn}>", turns=300, know_nothing=3.3)


def test_it_trains_to_the_end_and_shows_names_each_hundred_turns():
    shown = button()
    pictures = list(shown.train())
    assert len(pictures) == len(shown.points) == 15
    assert shown.points[0] > shown.points[-1]
    html = pictures[-1]
    assert [f"&lt;name {n}&gt;" in html for n in (100, 200, 300, 400)] == [True, True, True, False]
    assert "after 20 turns" in pictures[0]
    assert "after 300 turns" in html


def test_stop_is_heard_between_two_points_and_train_begins_anew():
    shown = button()

    async def press():
        shown._press()
        first = shown.task
        shown._press()
        assert shown.task is first, "it is already training"
        await asyncio.sleep(0.02)
        shown._stop()
        await shown.task
        stopped_at = len(shown.points)
        shown._press()
        await shown.task
        return stopped_at

    assert 0 < asyncio.run(press()) < 15
    assert len(shown.points) == 15


def test_its_buttons_follow_and_a_cell_that_is_run_again_leaves_none():
    widgets = pytest.importorskip("ipywidgets").widgets.widget._instances
    before = len(widgets)
    shown = button()
    assert "data-autodiff-frame" in shown._repr_mimebundle_()["text/html"]
    _, _, train, stop, picture = shown._widget

    async def press():
        train.click()
        assert train.disabled
        assert not stop.disabled
        await asyncio.sleep(0.02)
        stop.click()
        await shown.task
        await asyncio.sleep(0)

    asyncio.run(press())
    assert not train.disabled
    assert stop.disabled
    assert "The loss: " in picture.value
    shown._release()
    assert len(widgets) == before


def test_without_a_kernel_it_says_what_would_be_here(monkeypatch):
    monkeypatch.setattr(TrainButton, "_live", lambda self: None)
    assert "Train and Stop" in button()._repr_mimebundle_()["text/html"]
    assert repr(button()) == "Two buttons, Train and Stop, for 300 turns."
