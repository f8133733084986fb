"""The Jacobian that fills row by row, and the walk over contours, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import HOSTILE

import autodiff_edu as ad
from autodiff_edu.player.descend import descend
from autodiff_edu.player.sweep import sweep
from browser.player_page import Shown, violations_in_both_schemes

UNKNOWN = "—"


def products(x: Any) -> Any:
    return x[1:] * x[:-1]


def saddle(p: Any) -> Any:
    return p[0] ** 4 - 2 * p[0] ** 2 + p[1] ** 2


@pytest.fixture
def opened(visit: Any, tmp_path: Path) -> Any:
    def opened(player: ad.Player, **options: Any) -> tuple[Any, Shown, dict[str, Any]]:
        path = tmp_path / "player.html"
        player.save(path)
        tab = visit(path.as_uri(), **options)
        return tab, Shown(tab.page.locator("section.player")), player._content["trace"]

    return opened


MATRIX = """root => [...root.querySelectorAll(".sweep tr")].slice(1).map((row) =>
  [...row.querySelectorAll("td")].map((cell) => cell.title || cell.textContent))"""


def expected_matrix(document: dict[str, Any], number: int) -> list[list[str]]:
    """Rows whose seed has been pulled back by now; the stack starts from an empty matrix."""
    part = document["sweep"]
    begun = [one for one in part["passes"] if one["first"] <= number]
    stacked = bool(begun) and begun[-1]["stack"]
    done = [row for one in begun if one["last"] <= number and one["stack"] == stacked for row in one["rows"]]
    return [
        [f"{value}".removesuffix(".0").replace("-", "−") if i in done else UNKNOWN for value in row]
        for i, row in enumerate(part["jacobian"]["data"])
    ]


@pytest.mark.parametrize(
    "player", [sweep(products, [1.0, -2.0, 3.0]), sweep(np.cumsum, np.arange(5.0))], ids=["numbers", "heatmap"]
)
def test_rows_fill_as_the_document_says_forwards_and_backwards(player: ad.Player, opened: Any) -> None:
    tab, shown, document = opened(player)
    last = len(player) - 1
    shown.root.focus()
    seen = shown.through(["Home", *["ArrowRight"] * last, *["ArrowLeft"] * last], MATRIX)
    assert [number for number, _ in seen] == [*range(last + 1), *range(last - 1, -1, -1)]
    for number, matrix in seen:
        assert matrix == expected_matrix(document, number), number
    tab.is_quiet()
    assert len(tab.requests) == 1


def test_the_row_at_work_and_its_seed_are_said(opened: Any) -> None:
    _, shown, document = opened(sweep(products, [1.0, -2.0, 3.0]))
    label, lit = shown.root.locator(".sweep > .label"), shown.root.locator(".sweep tr[data-now] th")
    assert "one-hot seed" in label.text_content()
    for one in document["sweep"]["passes"]:
        shown.root.locator("input[type=range]").fill(str(one["first"]))
        words = (
            "All 2 rows at once" if one["stack"] else f"Row {document['sweep']['rows'][one['rows'][0]]}, from the seed"
        )
        assert label.text_content().startswith(words)
        assert lit.all_text_contents() == [document["sweep"]["rows"][row] for row in one["rows"]]


COLUMNS = """root => [...root.querySelectorAll(".sweep table")].map((table) => ({
  matrix: [...table.rows].slice(1).map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)),
  now: [...table.querySelectorAll("th[data-now], tr[data-now] th")].map((head) => head.textContent),
}))"""


def test_columns_fill_in_forward_mode(opened: Any) -> None:
    tab, shown, document = opened(sweep(products, [1.0, -2.0, 3.0], mode="forward"))
    part = document["sweep"]
    label = shown.root.locator(".sweep > .label")
    assert label.text_content().startswith("Each column takes a forward pass")
    for one in part["passes"]:
        shown.root.locator("input[type=range]").fill(str(one["last"]))
        (seen,) = shown.root.evaluate(COLUMNS)
        done = [other for other in part["passes"] if other["last"] <= one["last"] and other["stack"] == one["stack"]]
        known = {column for other in done for column in other["columns"]}
        wanted = [
            [f"{value:g}".replace("-", "−") if k in known else UNKNOWN for k, value in enumerate(row)]
            for row in part["jacobian"]["data"]
        ]
        assert seen == {"matrix": wanted, "now": [part["columns"][k] for k in one["columns"]]}
        words = (
            "All 3 columns at once"
            if one["stack"]
            else f"Column {part['columns'][one['columns'][0]]}, from the tangent ["
        )
        assert label.text_content().startswith(words)
    tab.is_quiet()


def test_one_seed_fills_several_rows(opened: Any) -> None:
    chain = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) <= 1
    player = sweep(lambda x: 2 * x - np.pad(x[1:], (0, 1)) - np.pad(x[:-1], (1, 0)), np.ones(4), sparsity=chain)
    tab, shown, document = opened(player)
    label, lit = shown.root.locator(".sweep > .label"), shown.root.locator(".sweep tr[data-now] th")
    assert label.text_content() == "Rows that share no column, or columns that share no row, are filled by one pass."
    said = [
        "Rows t9[0], t9[3], from the seed [1 0 0 1]",
        "Row t9[1], from the seed [0 1 0 0]",
        "Row t9[2], from the seed [0 0 1 0]",
        "All 4 rows at once, from a stack of 3 seeds",
    ]
    for one, words in zip(document["sweep"]["passes"], said, strict=True):
        shown.root.locator("input[type=range]").fill(str(one["last"]))
        assert label.text_content() == words
        assert lit.all_text_contents() == [document["sweep"]["rows"][row] for row in one["rows"]]
        assert shown.root.evaluate(MATRIX) == expected_matrix(document, one["last"])
    tab.is_quiet()


STRIPES = """root => [...root.querySelectorAll(".matrices th")].map((cell) => {
  const { content, borderLeftColor, borderTopColor } = getComputedStyle(cell, "::before");
  return [cell.textContent, content, cell.scope === "col" ? borderTopColor : borderLeftColor];
}).filter(([, content]) => content !== "none")"""


def test_lines_that_share_a_seed_share_a_stripe_that_stays(opened: Any) -> None:
    where = np.eye(3, 4) + np.eye(3, 4, 1)
    player = sweep(products, [1.0, 2.0, 3.0, 4.0], mode="both", sparsity=where)
    tab, shown, document = opened(player)
    done = [one for one in document["sweep"]["passes"] if not one["stack"]]
    seen = shown.at_every_step(STRIPES)
    for number, stripes in enumerate(seen):
        wanted = {
            document["sweep"][way][line]: f'"{1 + [each for each in done if way in each].index(one)}"'
            for one in done
            for way in ("rows", "columns")
            if way in one and one["last"] <= number
            for line in one[way]
        }
        assert {name: content for name, content, _ in stripes} == wanted
    colours = {content: {colour for _, each, colour in seen[-1] if each == content} for _, content, _ in seen[-1]}
    assert [len(each) for each in colours.values()] == [1, 1], "one colour for each number"
    assert len(set.union(*colours.values())) == 2
    assert violations_in_both_schemes(shown.root) == []
    tab.is_quiet()


def test_where_each_line_has_a_seed_of_its_own_there_are_no_stripes(opened: Any) -> None:
    _, shown, _ = opened(sweep(products, [1.0, 2.0, 3.0]))
    shown.click("last")
    assert shown.root.evaluate(STRIPES) == []


def test_both_modes_fill_side_by_side_and_count_their_passes(opened: Any) -> None:
    # of a lambda, whose result has a short name, so that both have room
    tab, shown, document = opened(sweep(lambda x: x[1:] * x[:-1], [1.0, -2.0, 3.0], mode="both"))
    passes = document["sweep"]["passes"]
    labels = shown.root.locator(".matrices .label")
    shown.root.locator("input[type=range]").fill(str(passes[2]["last"]))  # two rows and a column
    assert labels.all_text_contents() == ["reverse: 2 of 2 passes", "forward: 1 of 3 passes"]
    reverse, forward = shown.root.evaluate(COLUMNS)
    assert reverse["matrix"] == [["−2", "1", "0"], ["0", "3", "−2"]]
    assert forward["matrix"] == [["−2", UNKNOWN, UNKNOWN], ["0", UNKNOWN, UNKNOWN]]
    assert (len(reverse["now"]), forward["now"]) == (1, [])
    left, right = (box.bounding_box() for box in shown.root.locator(".matrices > div").all())
    assert left["x"] + left["width"] <= right["x"]
    assert left["y"] == right["y"]
    shown.press("End")
    assert labels.all_text_contents() == ["reverse: all rows in one pass", "forward: all columns in one pass"]
    tab.is_quiet()


def batch(x: Any) -> Any:
    return (x @ np.array([[1.0, 2.0], [3.0, -1.0]])) ** 2


BOARD = """root => {
  const texts = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.title));
  const all = (selector) => [...root.querySelectorAll(selector)];
  const grid = all(".patch:not([data-slot])");
  return {
    grid: grid.map(texts),
    zero: grid.map((table) => table.hasAttribute("data-zero")),
    moved: grid.flatMap((table, k) => (table.hasAttribute("data-moved") ? [k] : [])),
    slots: all(".patch[data-slot]").map(texts),
  };
}"""


def as_shown(data: Any) -> list[list[str]]:
    return [[f"{value:g}".replace("-0", "0").replace("-", "−") for value in row] for row in data]


def test_the_patches_of_a_batch_slide_together(opened: Any) -> None:
    tab, shown, document = opened(sweep(batch, [[1.0, 0.0], [2.0, 1.0], [0.0, -1.0]], batch=True))
    part = document["patches"]
    unknown = [[UNKNOWN] * 2] * 2
    full, folded = np.array(part["full"]["data"]), [as_shown(patch) for patch in part["folded"]["data"]]
    grid = [as_shown(full[i, :, j]) for i in range(3) for j in range(3)]

    def at(number: int) -> dict[str, Any]:
        shown.root.locator("input[type=range]").fill(str(number))
        return dict(shown.root.evaluate(BOARD))

    assert at(part["made"] - 1) == {"grid": [unknown] * 9, "zero": [False] * 9, "moved": [], "slots": [unknown] * 3}
    whole = at(part["made"])
    assert whole["grid"] == grid
    assert whole["zero"] == [k not in (0, 4, 8) for k in range(9)]
    for sample, step in enumerate(part["folds"]):
        seen = at(step)
        assert seen["moved"] == [0, 4, 8][: sample + 1]
        assert seen["slots"] == [*folded[: sample + 1], *[unknown] * (2 - sample)]
    assert at(part["begun"])["slots"] == [unknown] * 3, "the direct way begins with nothing"
    assert at(part["done"])["slots"] == folded
    tab.is_quiet()


def test_a_moved_patch_stands_where_it_belongs_without_motion(opened: Any) -> None:
    _, shown, document = opened(sweep(batch, [[1.0, 0.0], [2.0, 1.0]], batch=True))
    shown.root.locator("input[type=range]").fill(str(document["patches"]["folds"][-1]))
    moved = [box.bounding_box() for box in shown.root.locator(".patch[data-moved]").all()]
    slots = [box.bounding_box() for box in shown.root.locator(".patch[data-slot]").all()]
    for one, other in zip(moved, slots, strict=True):
        assert (one["x"], one["y"]) == (pytest.approx(other["x"], abs=1), pytest.approx(other["y"], abs=1))
    assert (
        shown.root.locator(".patch[data-moved]").first.evaluate("box => getComputedStyle(box).transitionDuration")
        == "0s"
    )


def test_the_patches_can_be_read_by_everybody(opened: Any) -> None:
    _, shown, document = opened(sweep(batch, [[1.0, 0.0], [2.0, 1.0]], batch=True))
    shown.root.locator("input[type=range]").fill(str(document["patches"]["folds"][0]))
    assert violations_in_both_schemes(shown.root) == []


def test_the_points_of_a_walk_are_those_of_the_document(opened: Any) -> None:
    player = descend(saddle, (0.3, 1.0))
    tab, shown, document = opened(player)
    shown.root.focus()
    for number, step in enumerate(document["steps"]):
        shown.stands_at(number)
        seen = shown.root.evaluate(
            """root => ({
              dots: [...root.querySelectorAll("circle")].map(({ cx, cy }) => [cx.baseVal.value, cy.baseVal.value]),
              now: [...root.querySelectorAll("circle[data-now]")].map((dot) => Number(dot.dataset.point)),
              arrows: [...root.querySelectorAll("[data-arrow]")].map((arrow) => arrow.dataset.arrow),
              model: root.querySelector(".model path").getAttribute("d"),
              sentence: root.querySelector(".sentence").textContent,
              fields: Object.fromEntries(
                [...root.querySelectorAll(".facts td")].map((cell) => [cell.dataset.field, cell.textContent])),
              empty: root.querySelectorAll(".code, .tape, .graph, .panel").length,
            })"""
        )
        iterates = document["contours"]["iterates"]
        places = [one["at"] for one in iterates[: number + 1]]
        assert seen["dots"] == pytest.approx(np.array(places), abs=1e-3)
        assert seen["now"] == [number]
        digits = [one["digits"] for one in document["steps"][: number + 1]]
        fields = {name: step[name]["text"] if step[name] else UNKNOWN for name in seen["fields"] if name != "digits"}
        fields["digits"] = " → ".join(map(str, digits))
        assert seen["arrows"] == [name for name in ("newton", "gradient") if iterates[number][name]]
        assert seen["model"] == iterates[number]["model"]
        assert seen["sentence"] == step["text"]
        assert seen["fields"] == fields
        assert len(seen["fields"]) == 9
        assert seen["empty"] == 0
        shown.press("ArrowRight")
    shown.root.locator('[data-point="1"]').click()
    shown.stands_at(1)
    tab.is_quiet()
    assert len(tab.requests) == 1


def arrow_of(shown: Shown, name: str) -> Any:
    """From where to where an arrow goes."""
    path = shown.root.locator(f'[data-arrow="{name}"] > path').first.get_attribute("d")
    return np.array([point.split() for point in path[1:].split("L")], dtype=float)


def test_damping_turns_newtons_arrow_into_that_of_descent(opened: Any) -> None:
    tab, shown, document = opened(descend(saddle, (0.3, 1.0), x=(-2, 2), y=(-2, 2)))
    step, slider = document["steps"][0], shown.root.locator(".damping input")
    gradient, hessian = (np.array(step[part]["data"]) for part in ("gradient", "hessian"))
    assert shown.root.locator('[data-arrow="damped"]').count() == 0
    for place in (20, 40, 60):
        slider.fill(str(place))
        damping = float(shown.root.locator(".damping output").text_content().removeprefix("λ = "))
        assert damping == float(f"{2.92 * 10 ** ((place - 30) / 10):.2g}")
        wanted = -np.linalg.solve(hessian + damping * np.eye(2), gradient)
        (start, end) = arrow_of(shown, "damped")
        assert (end - start) / 390 * 4 * [1, -1] == pytest.approx(wanted, abs=0.002)
        positive = np.linalg.eigvalsh(hessian)[0] + damping > 0
        said = "It starts downhill" if positive else "not positive definite"
        assert said in shown.root.locator(".damping .note").text_content()
    uphill = np.subtract(*arrow_of(shown, "gradient")[::-1])
    cosine = (end - start) @ uphill / np.linalg.norm(end - start) / np.linalg.norm(uphill)
    assert cosine == pytest.approx(1, abs=1e-3)
    slider.focus()
    shown.press("ArrowLeft")  # moves the slider and not the player
    assert slider.input_value() == "59"
    shown.stands_at(0)
    tab.is_quiet()


def test_shading_numbers_and_trial_steps_are_drawn_inside_the_player(opened: Any) -> None:
    def valley(x: Any, y: Any) -> Any:
        return (1 - x) ** 2 + 100 * (y - x**2) ** 2

    player = descend(valley, (-1.2, 1.0), steps=12, backtracking=True)
    tab, shown, document = opened(player, viewport={"width": 1280, "height": 720})
    levels = document["contours"]["levels"]
    assert shown.root.locator(".areas path").count() == len(levels)
    assert shown.root.locator(".labels text").all_text_contents() == [one["text"] for one in levels if "label" in one]
    shown.press("Home")
    shown.root.focus()
    for number, one in enumerate(document["contours"]["iterates"]):
        shown.stands_at(number)
        assert shown.root.locator(".trials path").count() == len(one.get("trials", []))
        length = np.hypot(*np.subtract(one["gradient"], one["at"]))
        assert length > 15.9, "a short gradient has an arrow that can be seen"
        assert bool(shown.root.locator(".told > .note").text_content()) is one.get("lengthened", False)
        bottom = shown.root.evaluate("root => root.getBoundingClientRect().bottom")
        assert shown.root.locator(".contours .legend").evaluate("one => one.getBoundingClientRect().bottom") < bottom
        shown.press("ArrowRight")
    tab.is_quiet()


def test_predict_asks_how_the_next_point_differs(opened: Any) -> None:
    tab, shown, document = opened(descend(saddle, (0.3, 1.0)))
    shown.click("predict")
    shown.click("next")
    shown.stands_at(0)
    lengths = [np.linalg.norm(step["gradient"]["data"]) for step in document["steps"]]
    assert "Will the gradient be longer or shorter there?" in shown.root.locator(".prompt").text_content()
    wanted = "longer" if lengths[1] > lengths[0] else "shorter"
    shown.root.locator('[data-action="choose"]', has_text=wanted).click()
    shown.stands_at(1)
    assert shown.root.locator(".verdict").text_content().startswith(f"Right: {wanted}. Its length goes from 2.28 to")
    shown.click("next")
    assert "How will the quadratic model curve there?" in shown.root.locator(".prompt").text_content()
    shown.root.locator('[data-action="choose"]', has_text="up in one direction").click()
    shown.stands_at(2)
    assert "The eigenvalues of the Hessian are [-3.99999 2]" in shown.root.locator(".verdict").text_content()
    tab.is_quiet()


def test_names_are_texts_and_not_markup(opened: Any) -> None:
    tab, shown, _ = opened(sweep(lambda x: x * 2.0, ad.Variable([1.0, 2.0], name=HOSTILE)))
    shown.press("End")
    heads = shown.root.locator(".sweep tr").first.locator("th")
    assert heads.all_text_contents() == [f"{HOSTILE}[0]", f"{HOSTILE}[1]"]
    assert tab.page.evaluate("window.hacked") is None
    tab.is_quiet()


def test_both_fit_a_narrow_page(opened: Any) -> None:
    for player in (sweep(np.cumsum, np.arange(12.0)), descend(saddle, (0.3, 1.0))):
        _, shown, _ = opened(player, viewport={"width": 375, "height": 800})
        shown.press("End")
        shown.fits()
        shown.legible()


def test_players_of_every_kind_start_on_one_page(visit: Any, tmp_path: Path) -> None:
    """The script of the first does not hold the views of the others."""
    players = [ad.play(saddle, np.ones(2)), sweep(products, [1.0, 2.0]), descend(saddle, (0.3, 1.0))]
    path = tmp_path / "several.html"
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{''.join(player.html() for player in players)}", "utf-8")
    tab = visit(path.as_uri())
    for part, count in (("section.player", 3), (".sweep", 1), (".contours", 1)):
        assert tab.page.locator(part).count() == count
    tab.is_quiet()


def test_without_scripts_the_walk_is_a_picture_and_a_transcript(opened: Any) -> None:
    player = descend(saddle, (0.3, 1.0))
    tab, _, _ = opened(player, java_script_enabled=False)
    assert tab.page.locator("pre").text_content() == player.transcript()
    assert tab.page.locator("img").bounding_box()["height"] > 300
