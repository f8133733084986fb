"""The graph folds and unfolds, leads to steps, and shows what becomes of entries; so do the lanes of the tapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from moments import read_moment
from programs import diamond, einsum, loop, marks, nested, side_by_side, two_passes

import autodiff_edu as ad
from browser.player_page import Expected, only, read, save_page


def scoped() -> ad.Trace:
    x = ad.Variable(0.5, name="x")
    with ad.trace("scopes") as traced:
        with ad.GradientTape() as tape:
            y = x * 3.0
            with ad.scope("outer"):
                y = np.sin(y)
                with ad.scope("inner"):
                    y = y * y
                    y = np.exp(y)
            z = y + x
        tape.gradient(z, x)
    return traced


def step_of(expected: Expected, kind: str, entry: int, **more: Any) -> int:
    wanted = {"kind": kind, "entry": entry, **more}
    return next(n for n, step in enumerate(expected.steps) if wanted.items() <= step.items())


def button(player: Any, text: str) -> Any:
    return player.root.locator("button.group:visible", has_text=text)


def places(player: Any) -> dict[str, list[float]]:
    """Where the boxes are, from left to right and from top to bottom."""
    return player.root.evaluate("""root => Object.fromEntries([...root.querySelectorAll("[data-tensor]")].map((box) => {
      const { x, y } = box.getBoundingClientRect();
      return [box.dataset.tensor, [x, y]];
    }))""")


def test_a_contribution_flows_along_its_own_line_where_an_argument_before_it_is_a_text(
    visit: Any, tmp_path: Path
) -> None:
    traced = einsum()
    player = only(visit(save_page(traced, tmp_path)))
    flowing = "root => [...root.querySelectorAll('[data-edge][data-flow]')].map((edge) => edge.dataset.edge)"
    seen = player.at_every_step(flowing)
    sums = [seen[number] for number, step in enumerate(read(traced).steps) if step["kind"] == "accumulate"]
    assert sorted(sums) == [["0.0"], ["0.1"]]


def test_groups_fold_and_unfold_with_the_mouse(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(scoped(), tmp_path))
    player = only(tab)
    before = places(player)
    assert len(before) == 7
    outer = button(player, "outer")
    assert outer.get_attribute("aria-expanded") == "true"
    outer.click()
    assert outer.get_attribute("aria-expanded") == "false"
    after = places(player)
    assert set(after) < set(before)
    assert button(player, "inner").count() == 0
    ranks = [sorted(after, key=lambda k, where=where: where[k][1]) for where in (before, after)]
    assert ranks[0] == ranks[1], "what is left keeps its order"
    outer.click()
    assert places(player) == before
    tab.is_quiet()


def test_what_is_clicked_stays_under_the_hand_when_it_folds_and_unfolds(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(loop(60), tmp_path)))
    player.root.locator("input[type=range]").fill("90")
    turn = button(player, "turn 30")
    top = "button => button.getBoundingClientRect().top"
    for _ in range(3):
        before = turn.evaluate(top)
        turn.evaluate("button => button.click()")
        assert turn.evaluate(top) == pytest.approx(before, abs=6), "within its frame the button has a margin"


def test_of_a_long_loop_the_turns_of_the_step_are_unfolded(visit: Any, tmp_path: Path) -> None:
    traced = loop(60)
    document = traced.document()
    player = only(visit(save_page(traced, tmp_path)))
    assert button(player, "×60").get_attribute("aria-expanded") == "false"
    unfolded = """root => [[...root.querySelectorAll('.group[aria-expanded="true"] > .label')].map(
      (label) => label.textContent), root.querySelectorAll(".graph [data-tensor][data-now]").length]"""
    turns = [f"turn {turn}" for turn in range(1, 61) for _ in range(3)]  # of the entries
    for number, (labels, now) in enumerate(player.at_every_step(unfolded)):
        step = document["steps"][number]
        if step.get("entry") is None:
            continue
        assert now == 1, "it is seen by itself"
        assert turns[step["entry"]] in labels
        assert len(labels) - 1 <= 1 + (step["kind"] == "accumulate"), "besides, where a contribution goes"


def test_a_turn_of_a_training_is_open_from_its_beginning_to_its_updates(visit: Any, tmp_path: Path) -> None:
    w, b, x = ad.Variable(0.5, name="w"), ad.Variable(0.1, name="b"), np.arange(3.0)
    with ad.trace("training") as traced:
        for _ in range(60):
            with ad.GradientTape() as tape:
                loss = np.mean((w * x + b - 1.0) ** 2)
            gradients = tape.gradient(loss, [w, b])
            w.assign_sub(0.1 * gradients[0])
            b.assign_sub(0.1 * gradients[1])
    player = only(visit(save_page(traced, tmp_path)))
    slider, turn = player.root.locator("input[type=range]"), 0
    for number, step in enumerate(traced.document()["steps"]):
        turn += step["kind"] == "watch" and "watches w" in step["text"]
        if turn in (2, 31) and step["kind"] in ("record", "assign"):
            slider.fill("1000")  # of another turn
            slider.fill(str(number))
            opened = player.root.locator(f'.group[title="turn {turn}"][aria-expanded="true"]')
            assert opened.count() == 1, step["text"]
    assert turn == 60


def test_what_a_reader_folds_and_unfolds_stays_so(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(loop(60), tmp_path)))
    slider = player.root.locator("input[type=range]")
    slider.fill("90")
    button(player, "turn 30").click()
    button(player, "turn 31").click()
    for at in ("100", "90"):
        slider.fill(at)
        assert button(player, "turn 30").get_attribute("aria-expanded") == "false"
        assert button(player, "turn 31").get_attribute("aria-expanded") == "true"
    button(player, "×60").click()
    slider.fill("120")
    assert button(player, "×60").get_attribute("aria-expanded") == "false"
    assert "turn 40" in button(player, "×60").text_content(), "where the step is"


def test_groups_fold_and_unfold_with_the_keys(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(scoped(), tmp_path))
    player = only(tab)
    outer = button(player, "outer")
    outer.focus()
    for key, expanded in (("Enter", "false"), ("Space", "true"), ("Space", "false")):
        player.press(key)
        assert outer.get_attribute("aria-expanded") == expanded
        assert player.root.evaluate("root => root.getRootNode().activeElement.dataset.group") == "0"
    player.stands_at(0)  # and none of the keys went to the player
    tab.is_quiet()


def test_every_step_is_right_while_a_group_is_folded(visit: Any, tmp_path: Path) -> None:
    traced = scoped()
    expected = read(traced)
    player = only(visit(save_page(traced, tmp_path)))
    button(player, "outer").click()
    kept = set(places(player))
    seen = player.at_every_step("""root => [
      Object.fromEntries([...root.querySelectorAll("[data-tensor]")].map(
        (box) => [box.dataset.tensor, box.querySelector("title").textContent])),
      [...root.querySelectorAll("button.group")].find((box) => box.textContent.includes("outer")).dataset.state,
    ]""")
    for number, (titles, state) in enumerate(seen):
        assert titles == {key: text for key, text in expected.at(number)["boxes"].items() if key in kept}
        entry = expected.steps[number].get("entry")
        inside = entry is not None and expected.document["entries"][entry]["scope"] != []
        at_hand = state == "now"
        subject = expected.steps[number].get(
            "tensor", expected.document["entries"][entry]["output"] if inside else None
        )
        assert at_hand == (subject is not None and str(subject) not in kept)
    button(player, "outer").click()
    player.agrees(expected, len(expected) - 1)


def test_a_box_leads_to_its_step(visit: Any, tmp_path: Path) -> None:
    traced = diamond()
    expected = read(traced)
    player = only(visit(save_page(traced, tmp_path)))
    output = expected.document["entries"][1]["output"]
    player.root.locator(f'[data-tensor="{output}"]').click()
    player.agrees(expected, step_of(expected, "record", 1))
    player.click("last")
    player.root.locator(f'[data-tensor="{output}"]').click()
    player.agrees(expected, step_of(expected, "pull back", 1))


def test_an_edge_leads_to_the_use_it_stands_for(visit: Any, tmp_path: Path) -> None:
    traced = scoped()
    expected = read(traced)
    player = only(visit(save_page(traced, tmp_path)))
    arrives = player.root.locator(".link:has(.head) .hit")
    seen = set()
    last = len(expected.document["entries"]) - 1
    middle = """path => { const at = path.getPointAtLength(path.getTotalLength() * 0.7);
      return new DOMPoint(at.x, at.y).matrixTransform(path.getScreenCTM()); }"""
    for index in range(arrives.count()):
        arrives.nth(index).scroll_into_view_if_needed()
        point = arrives.nth(index).evaluate(middle)
        player.root.page.mouse.click(point["x"], point["y"])
        step = expected.steps[int(player.root.get_attribute("data-step"))]
        seen.add(step["entry"])
        assert step["kind"] == "record"
    assert seen == set(range(last + 1))
    player.click("last")
    player.root.locator(".link:has(.head) .hit").last.dispatch_event("click")
    assert expected.steps[int(player.root.get_attribute("data-step"))]["kind"] == "accumulate"


OTHERS = [pytest.param(example, marks=pytest.mark.exhaustive) for example in (nested, two_passes)]


@pytest.mark.parametrize("example", [side_by_side, *OTHERS])
def test_the_lanes_say_what_each_tape_has(example: Any, visit: Any, tmp_path: Path) -> None:
    traced = example()
    expected = read(traced)
    tapes = range(len(expected.document["tapes"]))
    player = only(visit(save_page(traced, tmp_path)))
    seen = player.at_every_step("""root => [
      [...root.querySelectorAll("li[data-entry]")].map(
        (item) => [...item.querySelectorAll(".lane")].map((lane) => lane.dataset.fate ?? "")),
      [...root.querySelectorAll("li[data-event]")].map((item) => [item.dataset.event, item.dataset.state]),
    ]""")
    for number, (lanes, events) in enumerate(seen):
        now = read_moment(expected.document, number)
        wanted = [[now.lanes.get((entry, tape), "") for tape in tapes] for entry in range(len(lanes))]
        assert lanes == (wanted if len(tapes) > 1 else [[]] * len(lanes)), f"step {number}"
        kinds = ("pause", "resume", "reset", "release")
        happened = [(at, step["kind"]) for at, step in enumerate(expected.steps) if step["kind"] in kinds]
        states = ["now" if at == number else "waiting" if at > number else "recorded" for at, _ in happened]
        assert events == [[kind, state] for (_, kind), state in zip(happened, states, strict=True)]


def test_a_pause_of_one_tape_is_drawn_where_another_records(visit: Any, tmp_path: Path) -> None:
    x = ad.Variable(2.0, name="x")
    with ad.trace("one pauses") as traced, ad.GradientTape(), ad.GradientTape() as inner:
        with inner.stop_recording():
            y = x * x
        y + x
    player = only(visit(save_page(traced, tmp_path)))
    player.click("last")
    lanes = player.root.locator('li[data-entry="0"] .lane')
    assert lanes.evaluate_all("cells => cells.map((cell) => cell.textContent)") == ["‖", "●"]
    output = traced.document()["entries"][0]["output"]
    assert player.root.locator(f'[data-tensor="{output}"]').get_attribute("data-mark") == "paused"


def test_cuts_skips_and_what_is_not_reached_are_marked(visit: Any, tmp_path: Path) -> None:
    traced = marks()
    d = traced.document()
    player = only(visit(save_page(traced, tmp_path)))
    boxes = {entry["text"]: player.root.locator(f'[data-tensor="{entry["output"]}"]') for entry in d["entries"]}
    cut = next(text for text in boxes if text.startswith("stop_gradient"))
    scissors = player.root.locator(".scissors")
    assert scissors.count() == 1
    place, box = scissors.bounding_box(), boxes[cut].locator("rect").first.bounding_box()
    assert abs(place["y"] + place["height"] - box["y"]) < 2, "on the operation, where no other line crosses"
    assert boxes["x * 5"].get_attribute("data-mark") is None
    player.click("last")
    assert boxes["fixed * fixed"].get_attribute("data-mark") == "skip"
    assert boxes["x * 5"].get_attribute("data-mark") == "unconnected"
    assert boxes[cut].get_attribute("data-state") == "cut" or boxes[cut].get_attribute("data-state") == "pulled"
    assert player.root.locator(f'[data-tensor="{d["entries"][-1]["output"]}"]').get_attribute("data-mark") is None


def test_an_explanation_lights_the_way_and_marks_the_cut(visit: Any, tmp_path: Path) -> None:
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = x * 2.0
        z = ad.stop_gradient(y)
    traced = tape.explain(z, x).trace()
    tab = visit(save_page(traced, tmp_path))
    player = only(tab)
    player.click("last")
    assert player.root.get_attribute("data-kind") == "explain"
    assert player.root.locator(".direction").inner_text() == "← walking back"
    assert player.root.locator(".scissors[data-known]").count() == 1
    assert player.root.locator("[data-cause]").evaluate_all("all => all.map((box) => box.dataset.tensor)") == [
        str(traced.document()["entries"][-1]["output"])
    ]
    tab.is_quiet()


def test_a_long_trace_opens_folded_and_is_right_wherever_one_looks(visit: Any, tmp_path: Path) -> None:
    traced = loop(200)
    expected = read(traced)
    tab = visit(save_page(traced, tmp_path))
    player = only(tab)
    assert player.root.locator("[data-tensor]").count() == 1
    assert button(player, "×200").get_attribute("aria-expanded") == "false"
    for number in (0, 300, 601, 602, 1500, len(expected) - 1, 450):
        player.root.locator("input[type=range]").fill(str(number))
        player.stands_at(number)
        states = player.root.evaluate("""root => [...root.querySelectorAll("li[data-entry]")].map(
          (item) => [Number(item.dataset.entry), item.dataset.state])""")
        assert states == [[entry, expected.at(number)["states"][entry]] for entry, _ in states]
        entry = expected.steps[number].get("entry")  # what came of it, the last step, is of no turn
        assert entry is None or entry in dict(states)
    assert player.root.locator("[data-tensor]").count() == 4  # x is far above, and not in the page
    # A sanity bound: benchmarks/player.py has the figures.
    spent = player.root.evaluate("""root => {
      const begin = performance.now();
      for (let k = 0; k < 50; k++) root.querySelector('button[data-action="next"]').click();
      return (performance.now() - begin) / 50;
    }""")
    assert spent < 500
    tab.is_quiet()


def test_a_step_about_no_tensor_shows_the_same_whichever_way_one_comes_there(visit: Any, tmp_path: Path) -> None:
    def chain(x: Any) -> Any:
        a = np.sin(x)
        b = np.exp(a)
        c = np.cos(b)
        count = len("four")
        d = np.exp(c)
        e = np.sin(d)
        f = np.cos(e)
        g = np.exp(f)
        count = count + 1
        h = np.sin(g)
        i = np.cos(h)
        count = count + 1
        return i * float(count)

    played = ad.play(chain, 0.5)
    steps = played.document()["steps"]
    about_none = [k for k, step in enumerate(steps) if "tensor" not in step and "entry" not in step and k > 1]
    assert len(about_none) >= 3
    played.save(tmp_path / "chain.html")
    player = only(visit((tmp_path / "chain.html").as_uri(), viewport={"width": 1280, "height": 720}))
    place = "root => ['scrollLeft', 'scrollTop'].map((side) => Math.round(root.querySelector('.graph')[side]))"
    slider = player.root.locator("input[type=range]")

    def place_at(number: int, *way: int) -> Any:
        for each in (*way, number):
            slider.fill(str(each))
        player.root.page.wait_for_timeout(350)  # until the motion is over
        return player.root.evaluate(place)

    stepped = [place_at(number, number - 1) for number in about_none]
    assert [place_at(number, 0) for number in about_none] == stepped
    assert any(place_at(0) != each for each in stepped)
