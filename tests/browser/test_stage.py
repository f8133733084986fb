"""Stage mode: the player fills the screen, readable from the last row, and goes back to where it was."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import broadcasting, descent, diamond, einsum, network, rows, training

import autodiff_edu as ad
from browser.player_page import only, save_page, violations, violations_in_both_schemes

SCREEN = {"width": 1280, "height": 720}
REFUSE = "() => { Element.prototype.requestFullscreen = () => Promise.reject(new TypeError('refused')); }"


@pytest.fixture(params=["full screen", "refused"])
def stage(request: Any, visit: Any, tmp_path: Path) -> Any:
    tab = visit(save_page(broadcasting(), tmp_path), viewport=SCREEN)
    if request.param == "refused":
        tab.page.evaluate(REFUSE)
    tab.refused = request.param == "refused"
    return tab


def enter(tab: Any) -> Any:
    player = only(tab)
    player.root.focus()
    player.press("f")
    tab.page.wait_for_function(
        "() => document.fullscreenElement || document.querySelector('[data-autodiff-player]')"
        ".shadowRoot.querySelector('section').matches(':popover-open')"
    )
    return player


def test_it_fills_the_screen_and_leaves_as_it_came(stage: Any) -> None:
    player = only(stage)
    before = player.root.bounding_box()
    enter(stage)
    player.measures(x=0, y=0, **SCREEN)
    assert stage.page.evaluate("() => document.fullscreenElement === null") is stage.refused
    player.press("Escape")
    stage.page.wait_for_function("() => !document.fullscreenElement")
    assert player.root.get_attribute("data-stage") is None
    player.measures(x=before["x"], width=before["width"])
    stage.is_quiet()


def test_sentence_code_and_numbers_are_seen_together_at_every_step(stage: Any) -> None:
    player = enter(stage)
    player.measures(x=0, y=0, **SCREEN)
    read = """root => [
      [".sentence", ".code:not(.program)", ".panel"].map((part) => root.querySelector(part).getBoundingClientRect()),
      [".sentence", ".code [data-lit] code", ".panel .body .value", ".accumulator .array"].flatMap((part) =>
        [...root.querySelectorAll(part)].filter((shown) => shown.checkVisibility() && shown.getClientRects().length)
          .map((shown) => parseFloat(getComputedStyle(shown).fontSize))),
    ]"""
    for boxes, sizes in player.at_every_step(read):
        for box in boxes:
            assert box["left"] >= 0
            assert box["right"] <= SCREEN["width"]
            assert box["top"] >= 0
            assert box["bottom"] <= SCREEN["height"]
        assert len(sizes) > 1
        assert min(sizes) >= 19
    stage.is_quiet()


def chain(x: ad.Tensor) -> ad.Tensor:
    b = np.sin(x) * x
    d = np.exp(b) / (1 + x)
    return np.log(d) - b**2


LIT = """root => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const lit = root.querySelector(".formulas [data-now]");
  if (!lit) return done(null);
  const outer = root.querySelector(".at-hand").getBoundingClientRect();
  const drawn = [lit, ...lit.querySelectorAll("mi, mn, mo")].filter((part) => part.checkVisibility());
  const parts = drawn.map((part) => part.getBoundingClientRect());
  done(Math.max(...parts.flatMap((part) =>
    [outer.top - part.top, part.bottom - outer.bottom, outer.left - part.left, part.right - outer.right])));
})))"""


@pytest.mark.parametrize("made", [lambda: ad.play(chain, 1.3), lambda: ad.play(training(1))])
def test_the_formula_that_is_lit_is_seen_whole_on_stage(made: Any, visit: Any, tmp_path: Path) -> None:
    path = tmp_path / "chain.html"
    made().save(path)
    player = enter(visit(path.as_uri(), viewport=SCREEN))
    cut = []
    for _ in range(int(player.root.locator(".bar input[type=range]").get_attribute("max"))):
        player.press("ArrowRight")
        cut.append(player.root.evaluate(LIT))
    found = [over for over in cut if over is not None]
    assert len(found) > 5
    assert max(found) <= 1


def test_a_graph_a_little_too_wide_is_drawn_smaller_on_stage_and_nothing_is_cut(visit: Any, tmp_path: Path) -> None:
    def shapes(a: ad.Tensor, x: ad.Tensor) -> ad.Tensor:
        return np.sum(a @ x + np.ones(3))

    path = tmp_path / "shapes.html"
    with pytest.raises(ValueError, match="broadcast") as error:
        ad.play(shapes, np.ones((2, 3)), np.ones(3))
    error.value.player.save(path)  # type: ignore[attr-defined]
    player = enter(visit(path.as_uri(), viewport=SCREEN))
    player.click("last")
    cut = player.root.evaluate("""root => {
      const outer = root.querySelector(".graph").getBoundingClientRect();
      return [...root.querySelectorAll("[data-tensor] > rect")].map((box) => box.getBoundingClientRect())
        .map(({ left, right }) => Math.max(outer.left - left, right - outer.right));
    }""")
    assert len(cut) == 5
    assert max(cut) <= 0


def test_a_hint_is_read_on_stage_without_scrolling(visit: Any, tmp_path: Path) -> None:
    path = tmp_path / "chain.html"
    ad.play(chain, 1.3).save(path)
    player = enter(visit(path.as_uri(), viewport=SCREEN))
    player.click("predict")
    box = player.root.locator(".predict")
    hints = 0
    for _ in range(int(player.root.locator(".bar input[type=range]").get_attribute("max"))):
        player.root.focus()
        player.press("PageDown")
        if box.locator("input").is_visible():
            box.locator("input").fill("77.5")
            player.press("Enter")
            hints += 1
            assert "Not quite." in box.inner_text()
            assert box.evaluate("(box) => box.scrollHeight <= box.clientHeight")
            player.click("reveal")
        elif box.locator(".question").is_visible():
            player.click("reveal")
    assert hints > 3


def test_a_presenter_s_remote_turns_the_steps_on_stage_alone(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(diamond(), tmp_path), viewport=SCREEN)
    player = only(tab)
    player.root.focus()
    player.press("PageDown")
    player.stands_at(0)
    enter(tab)
    player.press("PageDown")
    player.press("PageDown")
    player.stands_at(2)
    player.press("PageUp")
    player.stands_at(1)


# The sizes of all letters on show but those of the graph, which fits its pane.
SIZES = """root => [...root.querySelectorAll(".player, .player *")].concat(root).filter((part) =>
    !part.closest(".graph, [data-aside]") && part.checkVisibility() && part.getClientRects().length &&
    [...part.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim()))
  .map((part) => [part.getAttribute("class"), parseFloat(getComputedStyle(part).fontSize)])"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_letters_are_measured_by_the_screen(width: int, height: int, visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(descent(), tmp_path), viewport={"width": width, "height": height})
    player = enter(tab)
    player.measures(x=0, y=0, width=width, height=height)
    unit = width / 100
    wanted = {".tape button": 2.2, ".sentence": 2.4, "figcaption": 1.6}
    for part, units in wanted.items():
        size = player.root.locator(part).first.evaluate("part => parseFloat(getComputedStyle(part).fontSize)")
        assert size == pytest.approx(units * unit, abs=0.1), part
    for tabs in ("Numbers", "Graph", "Tape"):
        player.root.get_by_role("button", name=tabs, exact=True).click()
        for sizes in player.at_every_step(SIZES):
            assert sizes
            assert [(name, size) for name, size in sizes if size < 1.5 * unit - 0.1] == []
    tab.is_quiet()


@pytest.mark.parametrize("stage", ["full screen"], indirect=True)
def test_on_a_wide_screen_graph_and_numbers_stand_beside_the_code(stage: Any) -> None:
    player = enter(stage)
    player.measures(x=0, y=0, **SCREEN)
    parts = {name: player.root.locator(f".{name}") for name in ("code-figure", "graph-figure", "panel", "tape-figure")}

    def on_show() -> list[str]:
        return [name for name, part in parts.items() if part.is_visible()]

    assert on_show() == ["code-figure", "graph-figure", "panel"]
    boxes = [parts[name].bounding_box() for name in on_show()]
    assert [round(100 * box["width"] / sum(box["width"] for box in boxes)) for box in boxes] == [30, 41, 29]
    assert {round(box["y"] + box["height"]) for box in boxes} == {720 - 8}, "down to the edge"
    for left, right in pairwise(boxes):
        assert left["x"] + left["width"] <= right["x"]
    for key, shown in {"3": "tape-figure", "2": "graph-figure"}.items():
        player.press(key)
        assert on_show() == ["code-figure", shown]
    player.press("1")
    assert on_show() == ["code-figure", "graph-figure", "panel"]
    player.press("1")
    assert on_show() == ["code-figure", "panel"], "chosen once more, it has the place of both"
    stage.is_quiet()


def six(x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
    a = x * y
    b = np.sin(x)
    c = a + b
    return c * c


GRAPH = """root => {
  const pane = root.querySelector(".graph").getBoundingClientRect();
  const inside = (part) => { const { left, right, top, bottom } = part.getBoundingClientRect();
    return left > pane.left - 2 && right < pane.right + 2 && top > pane.top - 2 && bottom < pane.bottom + 2; };
  const texts = [...root.querySelectorAll(".graph [data-part]")];
  return {
    letters: Math.min(...texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)),
    whole: [...root.querySelectorAll(".graph [data-tensor]")].every(inside), tall: pane.height,
    ends: [...root.querySelectorAll(".lit [data-flow]")].every(inside),
    map: root.querySelector(".overview").checkVisibility(),
  };
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_a_graph_of_six_is_whole_on_stage_and_by_itself_has_more_room(
    width: int, height: int, visit: Any, tmp_path: Path
) -> None:
    ad.play(six, 1.5, 0.5).save(tmp_path / "six.html")
    player = enter(visit((tmp_path / "six.html").as_uri(), viewport={"width": width, "height": height}))
    player.measures(x=0, y=0, width=width, height=height)
    player.press("End")
    beside = player.root.evaluate(GRAPH)
    assert (beside["whole"], beside["map"]) == (True, False)
    assert beside["letters"] >= 18 * width / 1280 - 0.1
    player.press("2")
    player.root.page.wait_for_timeout(200)
    alone = player.root.evaluate(GRAPH)
    assert alone["whole"]
    assert alone["tall"] > beside["tall"] + 60
    assert alone["letters"] > beside["letters"]


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_a_graph_is_whole_down_to_70_percent_of_the_smallest_letters_on_stage(
    width: int, height: int, visit: Any, tmp_path: Path
) -> None:
    smallest = 1.5 * width / 100
    squares = lambda a, b: np.sum(np.square(a @ b))  # noqa: E731
    for name, whole, made in (("squares", True, squares), ("chain", False, chain)):
        values = (np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)) if whole else (1.3,)
        ad.play(made, *values).save(tmp_path / f"{name}.html")
        player = enter(visit((tmp_path / f"{name}.html").as_uri(), viewport={"width": width, "height": height}))
        player.measures(x=0, y=0, width=width, height=height)
        seen = player.root.evaluate(GRAPH)
        assert (seen["whole"], seen["map"]) == (whole, not whole)
        assert 0.7 * smallest - 0.1 <= seen["letters"] < smallest if whole else seen["letters"] >= smallest - 0.1


def sum_squares(x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
    z = x * y
    return np.sum(z * z)


def layer(x: ad.Tensor) -> ad.Tensor:
    return np.tanh(np.array([[0.5, -0.25, 1.5], [0.125, 2.5, -0.75]]) @ x + np.array([0.1, 0.2]))


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
@pytest.mark.parametrize(
    "made",
    [
        lambda: ad.play(sum_squares, [1.25, 2.5, -0.75], [0.5, 0.25, 1.5], predict=True),
        lambda: ad.play(lambda a, b: np.trace(a @ b), np.arange(9.0).reshape(3, 3), np.eye(3) / 4),
        lambda: ad.sweep(layer, [0.5, -0.25, 1.125]),
    ],
    ids=["predict", "trace of a product", "sweep"],
)
def test_a_graph_of_few_boxes_is_whole_on_stage(made: Any, width: int, height: int, visit: Any, tmp_path: Path) -> None:
    made().save(tmp_path / "few.html")
    player = enter(visit((tmp_path / "few.html").as_uri(), viewport={"width": width, "height": height}))
    player.measures(x=0, y=0, width=width, height=height)
    player.press("End")
    seen = player.root.evaluate(GRAPH)
    assert (seen["whole"], seen["map"]) == (True, False)
    assert seen["letters"] >= 0.55 * width / 100


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_the_table_of_a_walk_needs_no_scrolling(width: int, height: int, visit: Any, tmp_path: Path) -> None:
    valley = lambda p: (1 - p[0]) ** 2 + 10 * (p[1] - p[0] ** 2) ** 2  # noqa: E731
    ad.descend(valley, (-1.2, 1.0), backtracking=True, steps=8).save(tmp_path / "walk.html")
    player = enter(visit((tmp_path / "walk.html").as_uri(), viewport={"width": width, "height": height}))
    player.measures(x=0, y=0, width=width, height=height)
    over = "root => { const told = root.querySelector('.told'); return told.scrollHeight - told.clientHeight; }"
    assert max(player.at_every_step(over)) <= 0


def energy(x: ad.Tensor, A: ad.Tensor) -> ad.Tensor:  # noqa: N803
    r = A @ x
    return 0.5 * x @ r - np.sum(x)


def test_the_rows_that_a_step_is_about_have_the_room_first(visit: Any, tmp_path: Path) -> None:
    made = ad.play(energy, [1.0, 2.0], [[2.0, 1.0], [1.0, 3.0]])
    made.save(tmp_path / "energy.html")
    player = enter(visit((tmp_path / "energy.html").as_uri(), viewport=SCREEN))
    player.measures(x=0, y=0, **SCREEN)
    trace = made._content["trace"]
    names = [tensor["name"] for tensor in trace["tensors"]]
    shown = player.at_every_step("""root => [...root.querySelectorAll(".about tbody .name")]
      .filter((name) => name.checkVisibility()).map((name) => name.textContent)""")
    about = [
        ({names[trace["entries"][step["entry"]]["output"]], names[step["tensor"]]}, set(rows))
        for step, rows in zip(trace["steps"], shown, strict=True)
        if step["kind"] == "accumulate" and names[step["tensor"]] != "A"  # a matrix stands in the sum alone
    ]
    assert len(about) > 5
    assert [(needed, rows) for needed, rows in about if not needed <= rows] == []


@pytest.mark.parametrize("letters", [10, 16, 32])
def test_a_long_name_leaves_its_numbers_in_the_table(letters: int, visit: Any, tmp_path: Path) -> None:
    x, name = ad.Variable(2.0, name="x"), "n" * letters
    with ad.trace("named") as traced:
        with ad.GradientTape() as tape:
            y = np.sin(x) * ad.Variable(1.5, name=name)
        tape.gradient(y, x)
    player = enter(visit(save_page(traced, tmp_path), viewport=SCREEN))
    out = """root => { const table = root.querySelector(".about"), { right } = table.getBoundingClientRect();
      return [...table.querySelectorAll(".value")].filter((part) =>
        part.checkVisibility() && part.getBoundingClientRect().right > right + 1).map((part) => part.textContent); }"""
    assert {len(found) for found in player.at_every_step(out)} == {0}


def test_where_a_cotangent_arrives_a_formula_in_numbers_has_its_result(visit: Any, tmp_path: Path) -> None:
    ad.play(lambda x: x**3, 2.0).save(tmp_path / "cube.html")
    player = enter(visit((tmp_path / "cube.html").as_uri(), viewport=SCREEN))
    read = """root => [root.dataset.kind, root.querySelector('[data-field="backward"]').textContent]"""
    kinds, shown = zip(*player.at_every_step(read), strict=True)
    at = kinds.index("pull back")
    assert shown[at].endswith("1·3·22=12")
    player.press("Home")
    for _ in range(at):
        player.press("ArrowRight")
    player.click("predict")
    kind, text = player.root.evaluate(read)
    assert (kind, "=12" in text) == ("pull back", False), "it is what will be asked"


def newton_iteration(x: ad.Tensor) -> ad.Tensor:
    for _ in range(4):
        x = x - (x**3 - 2 * x - 5) / (3 * x**2 - 2)
    return x


def test_two_numbers_of_a_step_are_told_apart(visit: Any, tmp_path: Path) -> None:
    made = ad.play(newton_iteration, 2.0)
    made.save(tmp_path / "newton.html")
    player = enter(visit((tmp_path / "newton.html").as_uri(), viewport=SCREEN))
    read = """root => [
      root.querySelector(".sentence").textContent, root.querySelector('[data-field="forward"]').textContent,
      [...root.querySelectorAll(".about [data-row] td:nth-child(2) .value")].map((one) => one.textContent)]"""
    said, formula, values = next(one for one in player.at_every_step(read) if one[0].count("x₄ is x₃ minus"))
    assert "which is 2.09455." in said
    assert formula.endswith("=2.09457−1.66394e-05=2.09455")
    assert values[::2] == ["2.09457", "2.09455"]


def cross_entropy(w: ad.Tensor, b: ad.Tensor) -> ad.Tensor:
    t = np.array([1.0, 0.0, 1.0])
    p = 1 / (1 + np.exp(-(np.array([[0.5, 1.2], [1.0, -0.7], [-1.5, 0.3]]) @ w + b)))
    return np.mean(-(t * np.log(p) + (1 - t) * np.log(1 - p)))


def test_rows_without_room_are_named_and_vectors_have_one_form(visit: Any, tmp_path: Path) -> None:
    ad.play(cross_entropy, [0.1234567, -0.3], 0.1).save(tmp_path / "cross.html")
    player = enter(visit((tmp_path / "cross.html").as_uri(), viewport=SCREEN))
    player.measures(x=0, y=0, **SCREEN)
    read = """root => {
      const rows = [...root.querySelectorAll(".about [data-row]")];
      const bottom = root.querySelector(".at-hand").getBoundingClientRect().bottom;
      const isSeen = (row) => row.checkVisibility() && row.getBoundingClientRect().bottom <= bottom + 1;
      const left = rows.filter((row) => !isSeen(row)).map((row) => row.querySelector(".name").textContent);
      const note = root.querySelector(".unseen");
      return [rows.length, left, note.textContent,
        root.querySelectorAll(".about .numbers tr:only-child").length];
    }"""
    hidden, all_rows = 0, 0
    for count, left, note, cells in player.at_every_step(read):
        assert note == (f"{len(left)} more row{'s' * (len(left) > 1)}: {', '.join(left)}" if left else "")
        assert cells == 0, "vectors of three numbers are written, as in the graph"
        hidden, all_rows = hidden + len(left), all_rows + count
    assert hidden < all_rows / 8


def mlp(a: ad.Tensor, b: ad.Tensor) -> ad.Tensor:
    c = a @ b
    return np.sum(c * ad.stop_gradient(np.tanh(c)))


DRAWN = """async root => {
  await new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(told)));
  const [hand, map] = [".at-hand", ".overview"].map((name) => root.querySelector(name));
  const [box, over] = [hand, map].map((part) => part.getBoundingClientRect());
  const cut = [...hand.querySelectorAll("mn, mi, tr")].filter((part) => part.checkVisibility()).map((part) =>
    part.getBoundingClientRect()).filter(({ top, bottom, left, right }) => left < box.left || right > box.right ||
      (top < box.top - 4 && bottom > box.top + 4) || (top < box.bottom - 4 && bottom > box.bottom + 4));
  const under = map.checkVisibility({ visibilityProperty: true }) ? [...root.querySelectorAll(
    ".graph [data-tensor] > rect, .scissors, .bead")].map((part) => part.getBoundingClientRect()).filter((part) =>
      part.left < over.right - 1 && part.right > over.left + 1 && part.top < over.bottom - 1 &&
      part.bottom > over.top + 1) : [];
  const lit = root.querySelector(".formulas [data-now]");
  return [cut.length, under.length, lit?.querySelectorAll(".matrix").length ?? 0, lit?.textContent ?? ""];
}"""


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_small_matrices_are_written_in_formulas_and_nothing_is_cut_or_covered(
    width: int, height: int, size: int, visit: Any, tmp_path: Path
) -> None:
    left, right = np.arange(2.0 * size).reshape(2, size) / 7, np.ones((size, 2)) / 3
    ad.play(mlp, left, right).save(tmp_path / "mlp.html")
    player = enter(visit((tmp_path / "mlp.html").as_uri(), viewport={"width": width, "height": height}))
    player.measures(x=0, y=0, width=width, height=height)
    seen = player.at_every_step(DRAWN)
    assert [(cut, under) for cut, under, *_ in seen if cut or under] == []
    product = [matrices for _, _, matrices, text in seen if "⊤" in text]
    assert len(product) == 2
    assert all(matrices >= 2 for matrices in product) is (size == 3)
    assert not any("@" in text for *_, text in seen)


def one_hidden_layer() -> ad.Trace:
    """A layer of 2×3 weights and one of 3×1, on four points."""
    inputs, wanted = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([[0.0], [1.0], [1.0], [0.0]])
    w1 = ad.Variable([[0.13, -0.13, 0.64], [0.1, -0.54, 0.36]], name="w1")
    b1 = ad.Variable([-0.1, 0.2, -0.3], name="b1")
    w2 = ad.Variable([[1.3], [0.95], [-0.7]], name="w2")
    with ad.trace("one hidden layer") as traced:
        with ad.GradientTape() as tape:
            h = np.tanh(inputs @ w1 + b1)
            loss = np.mean((h @ w2 - wanted) ** 2)
        tape.gradient(loss, [w1, b1, w2])
    return traced


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_the_matrices_of_a_layer_are_written_where_there_is_room(
    width: int, height: int, visit: Any, tmp_path: Path
) -> None:
    traced = one_hidden_layer()
    player = enter(visit(save_page(traced, tmp_path), viewport={"width": width, "height": height}))
    player.measures(x=0, y=0, width=width, height=height)
    read = """root => {
      const shown = (selector) => [...root.querySelectorAll(selector)].filter((part) => part.checkVisibility());
      const part = root.querySelector(".sum[data-active]") ? ".accumulator" : ".body"; // then the rows may not fit
      const tables = shown(".panel .body .numbers");
      return [shown(`.panel ${part} .heat`).length, tables.length,
        Math.min(99, ...tables.map((table) => parseFloat(getComputedStyle(table).fontSize))),
        Math.max(0, ...tables.map((table) =>
          table.getBoundingClientRect().right - table.parentElement.getBoundingClientRect().right))];
    }"""
    seen = player.at_every_step(read)
    assert min(size for *_, size, _ in seen) >= 1.5 * width / 100 - 0.1
    assert max(over for *_, over in seen) <= 1
    texts = [step["text"] for step in traced.document()["steps"]]
    for part in (
        "a 4×3 cotangent arrived at h",
        "a 4×1 cotangent arrived at t",
        "matrix-multiplied by w1",
        "contribution to w1",
    ):
        (at,) = [number for number, text in enumerate(texts) if part in text][:1]
        assert (seen[at][0], seen[at][1] > 1) == (0, True), texts[at]


def test_where_the_whole_could_not_be_read_its_map_and_both_ends_stay(visit: Any, tmp_path: Path) -> None:
    traced = training(3)
    player = enter(visit(save_page(traced, tmp_path), viewport=SCREEN))
    player.measures(x=0, y=0, **SCREEN)
    player.press("2")
    for number, step in enumerate(traced.document()["steps"]):
        if step["kind"] != "accumulate":
            continue
        player.root.locator(".scrubber input").fill(str(number))
        player.root.focus()
        player.press("0")
        player.root.page.wait_for_timeout(50)
        seen = player.root.evaluate(GRAPH)
        assert seen["map"]
        assert seen["ends"] or player.root.locator(".far-ends button").count(), step["text"]
        assert 13.4 <= seen["letters"] <= 13.7
        assert player.root.locator(".overview .ways").get_attribute("d")
        player.press("0")
        assert player.root.evaluate(GRAPH)["letters"] >= 13.4


def heron(x: ad.Tensor) -> Any:
    y: Any = 1.0
    for _ in range(3):
        y = 0.5 * (y + x / y)
    return y


ENDS = """root => {
  const pane = root.querySelector(".graph").getBoundingClientRect();
  return [...root.querySelectorAll(".lit [data-flow], .bead, .graph [data-now]")].map((part) => {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    return Math.max(pane.left - left, right - pane.right, pane.top - top, bottom - pane.bottom);
  }).concat([...root.querySelectorAll(".far-ends button")].map(() => 100));
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080), (1280, 900), (1024, 768)])
def test_graph_code_and_numbers_stand_side_by_side_with_both_ends_of_what_is_lit(
    width: int, height: int, visit: Any, tmp_path: Path
) -> None:
    made = ad.play(heron, 2.0)
    made.save(tmp_path / "heron.html")
    player = enter(visit((tmp_path / "heron.html").as_uri(), viewport={"width": width, "height": height}))
    player.measures(x=0, y=0, width=width, height=height)
    for part in (".code-figure", ".graph-figure", ".panel"):
        assert player.root.locator(part).is_visible()
    steps = [number for number, step in enumerate(made._content["trace"]["steps"]) if step["kind"] == "accumulate"]
    seen = player.at_every_step(ENDS)
    near = [max(seen[number]) for number in steps if max(seen[number]) < 100]
    assert len(near) >= len(steps) - 3, "the others go to x, far above"
    assert max(near) <= 2


def test_code_has_letters_with_which_its_longest_line_fits_if_they_are_not_too_small(
    visit: Any, tmp_path: Path
) -> None:
    def profit(price: Any) -> Any:
        demand = 100.0 - 5.0 * price
        return price * demand - 30.0

    ad.play(profit, 2.0).save(tmp_path / "profit.html")
    player = enter(visit((tmp_path / "profit.html").as_uri(), viewport=SCREEN))
    player.measures(x=0, y=0, **SCREEN)
    sizes = player.root.locator(".code:not(.program) [data-steps] code").evaluate_all(
        "all => all.map((line) => [parseFloat(getComputedStyle(line).fontSize),"
        " line.getBoundingClientRect().height / parseFloat(getComputedStyle(line).lineHeight)])"
    )
    assert sizes
    assert all(19 <= size < 28 for size, _ in sizes)
    assert all(rows < 1.5 for _, rows in sizes), "none goes on below"


@pytest.mark.parametrize("stage", ["full screen"], indirect=True)
def test_the_other_panels_stand_behind_tabs_on_a_narrow_screen(stage: Any) -> None:
    stage.page.set_viewport_size({"width": 820, "height": 1180})
    player = enter(stage)
    shown = {"Numbers": ".panel", "Graph": ".graph-figure", "Tape": ".tape-figure"}
    for name in ("Graph", "Tape", "Numbers"):
        player.root.get_by_role("button", name=name, exact=True).click()
        for other, part in shown.items():
            assert player.root.locator(part).is_visible() is (other == name)
    player.root.focus()
    player.press("Escape")
    for part in shown.values():
        assert player.root.locator(part).is_visible()
    assert not player.root.locator(".tabs").is_visible()


@pytest.mark.parametrize("stage", ["full screen"], indirect=True)
def test_the_graph_has_letters_for_the_last_row_and_follows_the_step(stage: Any) -> None:
    player = enter(stage)
    player.root.get_by_role("button", name="Graph", exact=True).click()
    size = player.root.locator(".graph [data-part]").evaluate_all(
        "texts => Math.min(...texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"
    )
    assert size >= 18


@pytest.mark.parametrize("stage", ["full screen"], indirect=True)
def test_the_graph_follows_the_step(stage: Any) -> None:
    player = enter(stage)
    read = """async root => {
      await new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(told)));
      const { top, bottom } = root.querySelector(".graph").getBoundingClientRect();
      return [...root.querySelectorAll(".graph [data-now] > rect")].filter((now) => {
        const inner = now.getBoundingClientRect();
        return inner.top < top - 1 || inner.bottom > bottom + 1;
      }).length;
    }"""
    assert not any(player.at_every_step(read))


def test_the_program_shows_its_line_below_a_long_listing(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(network(), tmp_path), viewport=SCREEN))
    player.root.focus()
    player.press("f")
    player.click("program")
    player.press("End")
    for _ in range(10):
        player.press("ArrowLeft")
    box = player.root.locator(".program").bounding_box()
    line = player.root.locator("[data-program-lit]").bounding_box()
    assert box["y"] <= line["y"]
    assert line["y"] + line["height"] <= box["y"] + box["height"]


def test_the_sentence_has_the_room_of_the_longest(visit: Any, tmp_path: Path) -> None:
    player = enter(visit(save_page(descent(), tmp_path), viewport=SCREEN))
    player.measures(x=0, y=0, **SCREEN)
    seen = player.at_every_step("""root => { const { clientHeight, scrollHeight } = root.querySelector(".sentence");
      return [clientHeight, scrollHeight]; }""")
    (room,) = {room for room, _ in seen}
    assert max(needed for _, needed in seen) == room


def wordy() -> ad.Trace:
    """Sentences of one line, of two and of three."""
    weights = ad.Variable([[0.0123, -0.234]], name="weights")
    with ad.trace("wordy") as traced:
        for _ in range(2):
            with ad.GradientTape() as tape:
                y = np.sum(weights * weights * 1.1)
            tape.gradient(y, weights)
    return traced


def test_the_caption_beside_nudge_is_read_whole(visit: Any, tmp_path: Path) -> None:
    ad.play(lambda x: x * x.numpy(), 2.0).save(tmp_path / "leave.html")
    player = enter(visit((tmp_path / "leave.html").as_uri(), viewport=SCREEN))
    read = """root => {
      const caption = root.querySelector('.panel [data-field="caption"]');
      const parts = [caption.firstElementChild ?? caption, caption];
      const [inner, outer] = parts.map((part) => part.getBoundingClientRect());
      return [caption.textContent, caption.scrollWidth - caption.clientWidth, inner.bottom - outer.bottom];
    }"""
    found = player.at_every_step(read)
    assert any(len(text) > 20 for text, _, _ in found), "too long for a line"
    assert max(wide for _, wide, _ in found) <= 1
    assert max(low for _, _, low in found) <= 2


def test_a_sentence_of_three_lines_has_smaller_letters_and_the_room_stays(visit: Any, tmp_path: Path) -> None:
    traced = wordy()
    player = enter(visit(save_page(traced, tmp_path), viewport=SCREEN))
    player.measures(x=0, y=0, **SCREEN)
    seen = player.at_every_step("""root => { const { clientHeight, scrollHeight, dataset } =
      root.querySelector(".sentence"); return [clientHeight, scrollHeight, "long" in dataset]; }""")
    assert {long for *_, long in seen} == {True, False}
    (room,) = {room for room, *_ in seen}
    assert max(needed for _, needed, _ in seen) == room
    assert room == pytest.approx(2 * 1.3 * 2.4 * 12.8, abs=1), "two lines of large letters"
    assert violations(player.root) == []
    lengths = {
        long: [
            len(step["text"]) for step, (*_, one) in zip(traced.document()["steps"], seen, strict=True) if one is long
        ]
        for long in (True, False)
    }
    assert max(lengths[False]) < min(lengths[True])


def pulled() -> ad.Trace:
    """Numbers of six digits, negative and tiny ones among them, and names of eight letters."""
    with ad.trace("pulled") as traced:
        ad.grad(lambda distance: np.sin(-1e-7 * distance) * np.exp(distance) / 3.0)(1.7533)
    return traced


# Words of the panel's table and of the sum that are broken at the end of a line or cut at its side, and the digits of
# its numbers, but for zeros in front; a sum has those with which it is right.
WORDS = r"""root => {
  const parts = [...root.querySelectorAll(".panel :is(.value, .name, td)")].filter((part) =>
    part.checkVisibility() && !part.closest("[data-aside], details"));
  const broken = [];
  const range = document.createRange();
  for (const part of parts) for (const text of part.childNodes) {
    if (text.nodeType !== Node.TEXT_NODE) continue;
    for (const { index, 0: word } of text.data.matchAll(/\S+/g)) {
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      const lines = new Set([...range.getClientRects()].filter(({ width }) => width).map(({ top }) => Math.round(top)));
      const { right } = range.getBoundingClientRect();
      if (lines.size > 1 || right > part.closest(".body").getBoundingClientRect().right) broken.push(word);
    }
  }
  const rounded = parts.filter((part) => !part.closest(".accumulator"));
  const numbers = rounded.flatMap((part) => part.textContent.match(/\d+\.\d+/g) ?? []);
  return [broken, numbers.map((number) => number.replace(".", "").replace(/^0+/, "").length)];
}"""


@pytest.mark.parametrize("program", [pulled, einsum, rows])
def test_numbers_in_the_panel_have_three_digits_and_are_whole(program: Any, visit: Any, tmp_path: Path) -> None:
    player = enter(visit(save_page(program(), tmp_path), viewport=SCREEN))
    player.measures(x=0, y=0, **SCREEN)
    digits = []
    for broken, lengths in player.at_every_step(WORDS):
        assert broken == []
        digits += lengths
    assert max(digits, default=0) <= 3
    assert violations_in_both_schemes(player.root) == []
    if program is pulled:
        assert digits
        player.press("Escape")
        player.root.locator(":scope:not([data-stage])").wait_for()
        assert max(player.root.evaluate(WORDS)[1]) == 6


def trace_arrangement() -> ad.Trace:
    """Long words, which have no spaces in them."""
    x = ad.Variable([0.1, 0.2, 0.3], name="x")
    with ad.trace("arranged") as traced:
        with ad.GradientTape() as tape:
            y = np.tanh(np.arange(6.0).reshape(2, 3) @ x)
            z = np.sum(np.broadcast_to(y[0], (2,)), keepdims=True)
        tape.gradient(z, x)
    return traced


def test_code_is_broken_after_brackets_and_not_inside_words(visit: Any, tmp_path: Path) -> None:
    traced = trace_arrangement()
    player = enter(visit(save_page(traced, tmp_path), viewport=SCREEN))
    player.measures(x=0, y=0, **SCREEN)
    read = r"""root => [...root.querySelectorAll(".lines code:not(.remark)")].flatMap((code) => {
      const [walk, broken, range] = [document.createTreeWalker(code, NodeFilter.SHOW_TEXT), [], document.createRange()];
      while (walk.nextNode()) for (const { index, 0: word } of walk.currentNode.data.matchAll(/[\w.]+/g)) {
        range.setStart(walk.currentNode, index);
        range.setEnd(walk.currentNode, index + word.length);
        const rects = [...range.getClientRects()].filter(({ width }) => width);
        const lines = new Set(rects.map(({ top }) => Math.round(top)));
        if (lines.size > 1 && word.length <= 12) broken.push(word); // a line may have no room for longer ones
      }
      return broken;
    })"""
    for broken in player.at_every_step(read):
        assert broken == []


def test_beside_the_code_the_program_is_closed_and_the_chips_are_whole(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(training(), tmp_path), viewport=SCREEN)
    player = only(tab)
    toggle = player.root.locator('[data-action="program"]')
    assert toggle.get_attribute("aria-expanded") == "true"
    enter(tab)
    player.measures(x=0, y=0, **SCREEN)
    assert toggle.get_attribute("aria-expanded") == "false"
    player.press("Escape")
    assert toggle.get_attribute("aria-expanded") == "true", "as it was before"
    enter(tab)
    player.measures(x=0, y=0, **SCREEN)
    toggle.click()
    assert player.root.locator(".program").is_visible()
    assert violations(player.root) == []
    around = player.root.locator(".chips").bounding_box()
    chips = [chip.bounding_box() for chip in player.root.locator(".chips button").all()]
    inside = [chip for chip in chips if chip["y"] < around["y"] + around["height"] - 1]
    assert len(inside) == 4
    assert all(chip["y"] + chip["height"] <= around["y"] + around["height"] + 1 for chip in inside)


@pytest.mark.parametrize("stage", ["full screen"], indirect=True)
def test_b_and_a_dot_blank_the_screen_until_any_key_or_click(stage: Any) -> None:
    player = enter(stage)
    player.measures(x=0, y=0, **SCREEN)
    blank = "root => getComputedStyle(root, '::after').backgroundColor"
    for key, back in (("b", "PageDown"), (".", "x"), ("b", "b")):
        player.press(key)
        assert player.root.evaluate(blank) == "rgb(0, 0, 0)"
        player.press(back)
        assert player.root.evaluate(blank) != "rgb(0, 0, 0)"
        player.stands_at(0)
    player.click("next")
    player.press("b")
    at = player.root.locator('[data-action="next"]').bounding_box()
    stage.page.mouse.click(at["x"] + 5, at["y"] + 5)
    assert player.root.get_attribute("data-blank") is None
    player.stands_at(1)
    player.press("Escape")
    player.root.locator(":scope:not([data-stage])").wait_for()
    player.press("b")
    assert player.root.get_attribute("data-blank") is None, "at the desk it is a key like any other"


@pytest.mark.parametrize("stage", ["full screen"], indirect=True)
def test_the_controls_fade_without_the_mouse_and_come_back_with_it_or_with_the_focus(stage: Any) -> None:
    player = enter(stage)
    player.measures(x=0, y=0, **SCREEN)
    stage.page.mouse.move(400, 400)
    parts = [player.root.locator(part) for part in (".buttons", ".choices", ".tabs")]

    def become(opacity: str) -> None:
        from playwright.sync_api import expect

        for part in parts:
            expect(part).to_have_css("opacity", opacity, timeout=60_000)

    become("0")
    stage.page.mouse.move(420, 400)
    become("1")
    become("0")
    player.press("Tab")
    become("1")


def test_a_remote_answers_the_question_that_is_open(visit: Any, tmp_path: Path) -> None:
    player = only(visit(save_page(diamond(), tmp_path), viewport=SCREEN))
    player.click("predict")
    enter_and_ask(player)
    asked = int(player.root.get_attribute("data-step"))
    reveal = player.root.get_by_role("button", name="Show me").bounding_box()
    field = player.root.locator(".question input").bounding_box()
    assert abs(reveal["y"] - field["y"]) < 4, "in one row"
    player.press("PageDown")
    player.stands_at(asked + 1)
    assert player.root.locator(".verdict").text_content()
    enter_and_ask(player)
    asked = int(player.root.get_attribute("data-step"))
    player.press("1")
    player.press("2")
    player.press("ArrowLeft")
    player.press(".")
    assert player.root.locator(".question input").input_value() == "1.2", "what is typed is typed"
    player.stands_at(asked)
    player.press("PageUp")
    player.stands_at(asked - 1)
    assert not player.root.locator(".question").is_visible()
    enter_and_ask(player)
    player.press("ArrowRight")
    player.stands_at(int(player.root.get_attribute("data-step")))
    assert not player.root.locator(".question").is_visible(), "in an empty field it has nowhere to go"


def enter_and_ask(player: Any) -> None:
    """Go on stage, and on to a question that is answered in a field."""
    if player.root.get_attribute("data-stage") is None:
        player.root.focus()
        player.press("f")
        player.measures(x=0, y=0, **SCREEN)
    for _ in range(30):
        if player.root.locator(".question input").is_visible():
            return
        player.press("PageDown")
    raise AssertionError("no question is answered in a field")


@pytest.mark.parametrize("stage", ["full screen"], indirect=True)
def test_the_button_says_whether_it_is_on(stage: Any) -> None:
    player = only(stage)
    button = player.root.get_by_role("button", name="Stage", exact=True)
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    stage.is_quiet()


def test_a_question_that_is_open_stays_open(stage: Any) -> None:
    player = only(stage)
    player.click("predict")
    player.click("last")
    player.root.focus()
    player.press("Home")
    for _ in range(10):
        if not player.root.locator(".question").is_visible():
            player.click("next")
    answer = player.root.locator(".question input")
    answer.fill("12")
    player.root.get_by_role("button", name="Stage", exact=True).click()
    assert answer.input_value() == "12"
    answer.press("Escape")
    player.root.locator(":scope:not([data-stage])").wait_for()
    assert answer.input_value() == "12"


def test_cases_have_no_strips_and_two_by_two_numbers_are_seen_whole(visit: Any, tmp_path: Path) -> None:
    tab = visit(save_page(clipped(), tmp_path), viewport=SCREEN)
    drawn = enter(tab).at_every_step('root => root.querySelectorAll("mtable svg").length')
    assert not any(drawn)
    tab = visit(save_page(newton(), tmp_path), viewport=SCREEN)
    player = enter(tab)
    cut = """root => {
      const seen = (part) => part.checkVisibility() && part.getClientRects().length > 0;
      const sum = root.querySelector(".accumulator");
      const row = root.querySelector(".about tbody > tr");
      const below = row.getBoundingClientRect().bottom - root.querySelector(".at-hand").getBoundingClientRect().bottom;
      return seen(sum) ? [sum.scrollHeight - sum.clientHeight, seen(row) ? below : 0] : [0, 0];
    }"""
    for over, below in player.at_every_step(cut):
        assert over <= 1
        assert below <= 1


def clipped() -> ad.Trace:
    x = ad.Variable(np.linspace(-1.5, 1.5, 23), name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = np.sum(np.clip(2 * x, -1.0, 1.0) ** 2)
        tape.gradient(y, x)
    return traced


def newton() -> ad.Trace:
    x = ad.Variable([1.2, 0.8], name="x")
    with ad.trace() as traced:
        for _ in range(2):
            with ad.GradientTape() as outer:
                with ad.GradientTape() as inner:
                    f = (1 - x[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
                g = inner.gradient(f, x)
            x.assign_sub(np.linalg.solve(outer.jacobian(g, x).numpy(), g.numpy()))
    return traced


@pytest.mark.parametrize(("numbers", "beads"), [([0.5, 1.25, -0.33], ["[0.479 0.949 -0.324]"]), ([0.5, 1.25] * 3, [])])
def test_up_to_six_numbers_are_written_on_stage(
    numbers: list[float], beads: list[str], visit: Any, tmp_path: Path
) -> None:
    def waves(w: ad.Tensor) -> ad.Tensor:
        a = w * w
        return np.sum(a * np.sin(w))

    ad.play(waves, np.array(numbers)).save(tmp_path / "few.html")
    player = enter(visit((tmp_path / "few.html").as_uri(), viewport=SCREEN))
    seen = player.at_every_step("""root => [
      root.querySelectorAll(".panel .body :is(.heat, .formulas svg)").length,
      [...root.querySelectorAll(".bead text")].map((text) => text.textContent),
      [...root.querySelectorAll(".sum[data-active] .value:not([data-aside])")].map((text) =>
        text.closest(".array").getBoundingClientRect().right - text.getBoundingClientRect().right),
    ]""")
    assert not any(colours for colours, *_ in seen)
    assert all(over >= 0 for *_, places in seen for over in places)
    written = [text for _, texts, _ in seen for text in texts if text.startswith("[0.479")]
    assert written[:1] == beads


# Texts cut by the pane's edge, how many boxes at the ends of active lines are cut, and buttons at the edge whose name
# is visible anyway.
CUT = """(root, entries) => {
  const pane = root.querySelector(".graph").getBoundingClientRect();
  const rectOf = (part) => part.getBoundingClientRect();
  const out = ({ left, right, top, bottom }) =>
    Math.max(pane.left - left, right - pane.right, pane.top - top, bottom - pane.bottom) > 2;
  const off = ({ left, right, top, bottom }) =>
    right <= pane.left || left >= pane.right || bottom <= pane.top || top >= pane.bottom;
  const isCut = (part) => out(rectOf(part)) && !off(rectOf(part));
  const shown = [...root.querySelectorAll(".graph [data-tensor] text")].filter((text) =>
    text.textContent.trim() && getComputedStyle(text).visibility !== "hidden");
  const names = shown.filter((text) => text.dataset.part === "name" && !out(rectOf(text)));
  const lines = [...root.querySelectorAll("[data-edge][data-flow]")].map(({ dataset }) => dataset.edge.split("."));
  const ends = lines.flatMap(([entry, input]) => [entries[entry].output, entries[entry].inputs[input]]);
  const boxes = [...new Set(ends)].map((end) => root.querySelector(`[data-tensor="${end}"] > rect`)).filter(Boolean);
  const far = [...root.querySelectorAll(".far-ends button")].map((button) => button.textContent.slice(2));
  return {
    texts: shown.filter(isCut).map((text) => text.textContent).filter((text) => /[0-9]/.test(text)),
    ends: boxes.filter(isCut).length,
    covered: far.filter((name) => names.some((text) => text.textContent === name)),
    letters: Math.min(...shown.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)),
  };
}"""


def binary_cross_entropy() -> ad.Trace:
    inputs = np.array([[0.5, -1.0], [1.5, 2.0], [-0.5, 0.25], [1.0, -0.75]])
    labels = np.array([1.0, 0.0, 1.0, 0.0])
    w, b = ad.Variable([0.4, -0.6], name="w"), ad.Variable(-0.1, name="b")
    with ad.trace("binary cross-entropy") as traced:
        with ad.GradientTape() as tape:
            p = 1.0 / (1.0 + np.exp(-(inputs @ w + b)))
            loss = -np.mean(labels * np.log(p) + (1.0 - labels) * np.log(1.0 - p))
        tape.gradient(loss, [w, b])
    return traced


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
@pytest.mark.parametrize("made", [one_hidden_layer, binary_cross_entropy])
def test_no_part_of_a_number_is_seen_and_both_ends_are_whole(
    made: Any, width: int, height: int, visit: Any, tmp_path: Path
) -> None:
    traced = made()
    entries = [{"inputs": one["inputs"], "output": one["output"]} for one in traced.document()["entries"]]
    player = enter(visit(save_page(traced, tmp_path), viewport={"width": width, "height": height}))
    player.measures(x=0, y=0, width=width, height=height)
    for whole in (False, True):
        if whole:
            player.press("0")
        seen = player.at_every_step(f"root => ({CUT})(root, {entries})")
        assert [now["texts"] for now in seen if now["texts"]] == []
        assert [now["covered"] for now in seen if now["covered"]] == []
        assert [(k, now["ends"]) for k, now in enumerate(seen) if now["ends"]] == []
        assert min(now["letters"] for now in seen) >= 0.9 * 0.7 * 1.5 * width / 100


NAMES = """root => {
  const pane = root.querySelector(".graph").getBoundingClientRect();
  const isSeen = ({ left, right, top, bottom }) =>
    left > pane.left - 1 && right < pane.right + 1 && top > pane.top - 1 && bottom < pane.bottom + 1;
  const room = ({ left, right, top, bottom }) => [
    Math.min(right, pane.right) - Math.max(left, pane.left), Math.min(bottom, pane.bottom) - Math.max(top, pane.top)];
  const inside = (frame, name, [wide, tall]) => {
    const [[across, down], own] = [room(frame.getBoundingClientRect()), name.getBoundingClientRect()];
    return across < own.width + wide || down < own.height + tall || isSeen(own);
  };
  const lost = [...root.querySelectorAll(".graph [data-cut]:not(.plain)")].filter((box) => {
    const [name, scale] = [box.querySelector("[data-part=name]"), box.getScreenCTM().a];
    return !inside(box.querySelector("rect"), name, [30 * scale, 30 * scale]) ||
      (box.dataset.cut === "value") !== (getComputedStyle(name).visibility === "visible");
  });
  const frames = [...root.querySelectorAll(".frames rect")];
  const labels = [...root.querySelectorAll('.group[aria-expanded="true"]')];
  return [...lost.map((box) => box.textContent), ...labels.flatMap((label, k) => {
    const own = label.getBoundingClientRect();
    const isAbove = own.bottom < pane.top + 1 || own.top > pane.bottom - 1 || own.top < pane.top;
    const isCut = own.left < pane.left - 1 || own.right > pane.right + 1;
    return !isAbove && isCut && room(frames[k].getBoundingClientRect())[0] > own.width + 20 ? [label.textContent] : [];
  })];
}"""


def logistic_descent(w: ad.Tensor) -> Any:
    inputs = np.array([[0.5, -1.0], [1.5, 2.0], [-0.5, 0.25], [1.0, -0.75]])
    for _ in range(3):
        p = 1.0 / (1.0 + np.exp(-(inputs @ w)))
        w = w - 0.1 * (inputs.T @ (p - np.array([1.0, 0.0, 1.0, 0.0])))
    return np.sum(w * w) + np.mean(inputs @ w)


def test_names_and_labels_stay_in_the_part_that_is_seen_and_a_wide_graph_has_the_room_of_short_code(
    visit: Any, tmp_path: Path
) -> None:
    path = tmp_path / "descent.html"
    ad.play(logistic_descent, np.array([0.5, -0.25])).save(path)
    player = enter(visit(path.as_uri(), viewport=SCREEN))
    player.measures(x=0, y=0, **SCREEN)
    assert player.root.locator(".code-figure").bounding_box()["width"] <= 0.286 * 1280
    seen = player.at_every_step(NAMES)
    assert [(k, now) for k, now in enumerate(seen) if now] == []


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_the_picture_of_copies_is_hidden_unless_its_letters_are_large(
    width: int, height: int, visit: Any, tmp_path: Path
) -> None:
    traced = one_hidden_layer()
    player = enter(visit(save_page(traced, tmp_path), viewport={"width": width, "height": height}))
    player.measures(x=0, y=0, width=width, height=height)
    read = """root => [...root.querySelectorAll(".unfold svg")].map((picture) => [
      picture.getBoundingClientRect().height,
      Math.min(...[...picture.querySelectorAll("text")].map((text) =>
        parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)),
    ])"""
    beside = [one for step in player.at_every_step(read) for one in step]
    assert [tall for tall, _ in beside] == [0, 0], "the picture is hidden where its letters would be too small"
    player.press("1")
    alone = [one for step in player.at_every_step(read) for one in step]
    assert len(alone) == 2
    assert min(tall for tall, _ in alone) > 60
    assert min(letters for _, letters in alone) >= 0.99 * 1.5 * width / 100
