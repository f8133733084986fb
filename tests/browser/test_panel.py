"""The panel of a player: the formula, the arrays and the accumulator of a step are those of the trace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import stopped, training

import autodiff_edu as ad
from browser.player_page import TOO_WIDE, Shown, only

# All that the panel shows, in one call.
READ = """root => {
  const texts = (selector, within = root) => [...within.querySelectorAll(selector)].map((one) => one.textContent);
  const place = (box) => ({
    text: texts(".value", box).join(),
    numbers: [...box.querySelectorAll(".picture table")].map((table) =>
      [...table.querySelectorAll("tr")].map((row) => texts("td", row))),
    cells: [...box.querySelectorAll(".heat")].map((heat) => [...heat.children].map((cell) => cell.dataset.value)),
    odd: [...box.querySelectorAll(".heat [data-odd]")].map((cell) => cell.dataset.odd),
    colours: [...box.querySelectorAll(".heat i")].map((cell) => getComputedStyle(cell).backgroundColor),
    labels: texts(".piece .label", box),
    legend: texts(".ramp b", box),
    notes: texts(".note", box),
  });
  const places = (selector) => [...root.querySelectorAll(selector)].map(place);
  return {
    forward: texts('[data-field="forward"]').join(),
    backward: texts('[data-field="backward"] > div'),
    rows: [...root.querySelectorAll(".about tbody > tr")].filter((row) => row.dataset.row).map((row) => ({
      name: texts(".name", row).join(), shape: texts("th .shape", row).join(),
      arrays: [...row.querySelectorAll(".array")].map(place),
    })),
    sum: places(".sum .array"),
    count: texts('[data-field="count"]').join(),
    memory: texts('[data-field="memory"]').join(),
  };
}"""


class Panel:
    """The panel of the only player of a page, moved step by step."""

    def __init__(self, visit: Any, folder: Path, traced: ad.Trace, **options: Any) -> None:
        path = folder / "panel.html"
        ad.play(traced).save(path)
        self.tab = visit(path.as_uri(), **options)
        self.document = traced.document()
        self.steps = self.document["steps"]
        self.player = Shown(self.tab.page.locator("section.player"))
        self.root = self.player.root
        self.at = 0

    def go(self, number: int) -> dict[str, Any]:
        seen: dict[str, Any] = self.root.evaluate(
            f"""async (root, number) => {{
              const range = root.querySelector("input[type=range]");
              range.value = number;
              range.dispatchEvent(new Event("input"));
              await new Promise(requestAnimationFrame);
              return ({READ})(root);
            }}""",
            number,
        )
        self.at = number
        self.player.stands_at(number)
        return seen

    def find(self, kind: str, name: str, last: bool = False) -> int:
        """The first step of a kind at the entry whose output has that name."""
        named = [
            number
            for number, step in enumerate(self.steps)
            if step["kind"] == kind
            and self.document["tensors"][self.document["entries"][step["entry"]]["output"]]["name"] == name
        ]
        return named[-1 if last else 0]


@pytest.fixture
def panel(visit: Any, tmp_path: Path) -> Any:
    return lambda traced, **options: Panel(visit, tmp_path, traced, **options)


def traced(function: Any, *arguments: Any, **names: Any) -> ad.Trace:
    """Trace a function of variables with these names, and its gradient with respect to all of them."""
    xs = [ad.Variable(value, name=name) for name, value in names.items()]
    with ad.trace("panel") as kept:
        with ad.GradientTape() as tape:
            y = function(*xs)
        tape.gradient(y, xs)
    return kept


def plain(text: str) -> str:
    """Take out of a formula what is only space; a bar stands behind its name."""
    return re.sub(r"\s", "", text)


def sine(x: Any) -> Any:
    y = np.sin(x)
    z = -y / x**3.0
    return z  # noqa: RET504 - its name is shown


def test_a_formula_stands_in_names_and_in_numbers_and_has_its_result_once_a_cotangent_is_there(panel: Any) -> None:
    shown = panel(traced(sine, x=2.0))
    seen = shown.go(shown.find("record", "y"))
    assert plain(seen["forward"]) == "y=sinx=sin2=0.909297"
    assert [plain(line) for line in seen["backward"]] == ["x¯+=y¯·cosx"]
    pulled = shown.find("pull back", "y")
    seen = shown.go(pulled)
    cotangent = shown.steps[pulled]["cotangent"]["text"].replace("-", "−")
    assert cotangent.startswith("−")  # so it needs parentheses
    result = shown.steps[pulled + 1]["contribution"]["text"].replace("-", "−")
    assert [plain(line) for line in seen["backward"]] == [f"x¯+=y¯·cosx=({cotangent})·cos2={result}"]
    seen = shown.go(pulled + 1)
    assert plain(seen["backward"][0]).endswith(f"=({cotangent})·cos2={result}")


def of_two(x: Any, w: Any) -> Any:
    return np.sum((x * w) ** 2.0)


@pytest.mark.parametrize(
    ("x", "w", "product", "power"),
    [
        (3.0, 2.0, "t1=x·w=3·2=6", "t2=t12=62=36"),
        (1.234567e-11, 2.0, "t1=x·w=1.23e-11·2=2.46913e-11", "t2=t12=(2.47e-11)2=6.09662e-22"),
        ([3.0, 4.0], 2.0, "t1=x·w=34·2=[6 8]", "t2=t12=682=[36 64]"),  # small arrays stand in brackets that are drawn
        ([3.0, 4.0, 0.0, 1.0], 2.0, "t1=x·w=3401·2=[6 8 0 2]", "t2=t12=68022=[36 64 0 4]"),
        ([1.0] * 7, 2.0, "t1=x·w=[2 2 2 2 2 2 2]", "t2=t12=[4 4 4 4 4 4 4]"),
    ],
    ids=["short", "long", "a small array among them", "a vector among them", "an array among them"],
)
def test_a_formula_has_numbers_for_all_its_names_or_for_none(
    x: Any, w: float, product: str, power: str, panel: Any
) -> None:
    shown = panel(traced(of_two, x=x, w=w))
    for name, formula in (("t1", product), ("t2", power)):
        assert plain(shown.go(shown.find("record", name))["forward"]) == formula.replace(" ", "")


def test_an_exponent_stands_beside_its_base_and_not_on_top_of_it(panel: Any) -> None:
    shown = panel(traced(of_two, x=3.0, w=2.0))
    shown.go(shown.find("record", "t2"))
    for power in shown.root.locator('[data-field="forward"] msup').all():
        exponent = power.locator(":scope > :nth-child(2)").bounding_box()
        assert exponent is not None
        text = power.locator("mi, mn").first.bounding_box()
        assert text is not None
        middle = exponent["y"] + exponent["height"] / 2
        assert text["y"] - 0.3 * text["height"] < middle < text["y"] + 0.4 * text["height"]


def test_fractions_and_powers_are_drawn_as_such(panel: Any) -> None:
    shown = panel(traced(sine, x=2.0))
    shown.go(shown.find("record", "z"))
    names = shown.root.locator('[data-field="forward"] mfrac').first
    assert names.evaluate("node => [...node.children].map((part) => part.textContent)") == ["t2", "t3"]
    power = next(n for n, step in enumerate(shown.steps) if "** 3" in step["text"] or "power" in step["text"])
    shown.go(power)
    parts = shown.root.locator('[data-field="backward"] msup').evaluate_all(
        "nodes => nodes.map((node) => [...node.children].map((part) => part.textContent))"
    )
    assert parts[0] == ["x", "2"]
    assert shown.root.locator("math").first.evaluate("node => node.namespaceURI").endswith("MathML")


def test_small_arrays_are_tables_and_the_accumulator_adds_up(panel: Any) -> None:
    def diamond(a: Any) -> Any:
        b = a + a
        c = b + b
        return c  # noqa: RET504 - its name is shown

    shown = panel(traced(diamond, a=[1.0, -2.5]))
    sums = [number for number, step in enumerate(shown.steps) if step["kind"] == "accumulate"]
    for number in [*sums, *reversed(sums)]:
        step, seen = shown.steps[number], shown.go(number)
        assert seen["count"] == f"{step['count']} of {step['of']}"
        wanted = [step["before"], step["contribution"], step["after"]]
        assert [place["text"] for place in seen["sum"]] == [a["text"] if a else "nothing yet" for a in wanted]
        for place, array in zip(seen["sum"], wanted, strict=True):
            assert [[float(x.replace("−", "-")) for x in row] for table in place["numbers"] for row in table] == (
                [array["data"]] if array else []
            )
    seen = shown.go(shown.find("record", "b"))
    assert [row["name"] for row in seen["rows"]] == ["a", "a", "b"]
    assert seen["rows"][0]["arrays"][0]["numbers"] == [[["1", "−2.5"]]]
    assert seen["rows"][0]["shape"] == "(2,) float64"
    assert {row["arrays"][1]["text"] for row in seen["rows"]} == {"—"}
    assert [place["text"] for place in seen["sum"]] == ["—"] * 3
    first, second = (shown.go(shown.find("accumulate", "b", last)) for last in (False, True))
    assert [row["arrays"][1]["text"] for row in first["rows"]] == ["[2 2]", "—", "[2 2]"]
    assert [row["arrays"][1]["text"] for row in second["rows"]] == ["[2 2]", "[2 2]", "[2 2]"]


def test_large_arrays_are_heatmaps_around_zero_with_every_value_in_them(panel: Any) -> None:
    value = np.arange(-3.0, 17.0).reshape(5, 4)
    value[0, 0], value[1, 1], value[2, 2] = np.nan, np.inf, -np.inf
    shown = panel(traced(lambda x: x * 2.0, x=value))
    place = shown.go(shown.find("record", "y"))["rows"][0]["arrays"][0]
    tensor = next(tensor for tensor in shown.document["tensors"] if tensor["name"] == "x")["value"]
    assert place["cells"] == [[str(x).removesuffix(".0") for row in tensor["data"] for x in row]]
    assert place["odd"] == ["nan", "inf", "-inf"]
    assert place["legend"] == ["−16", "0", "16"]
    colours = dict(zip(place["cells"][0], place["colours"], strict=True))
    assert len({colours["-2"], colours["0"], colours["3"], colours["16"]}) == 4
    page = shown.root.locator('[data-row="input"] details').first
    page.locator("summary").press("Enter")
    page.locator("td").nth(1).wait_for()
    assert page.locator("td").all_inner_texts()[1:6] == ["nan", "−2", "−1", "0", "1"]
    shown.tab.is_quiet()


def test_arrays_of_many_axes_are_slices_and_thinned_ones_say_so(panel: Any) -> None:
    rng = np.random.default_rng(0)
    shown = panel(
        traced(
            lambda a, b, c, d: (a * 2.0, b * 2.0, c * 2.0, d * 2.0),
            a=rng.normal(size=(2, 2, 3, 2)),
            b=rng.normal(size=(60, 40)),
            c=rng.normal(size=20) + 1j,
            d=rng.normal(size=(9, 2, 2)),
        )
    )
    places = {}
    for number, step in enumerate(shown.steps):
        if step["kind"] == "record":
            row = shown.go(number)["rows"][0]
            places[row["name"]] = row["arrays"][0]
    assert places["a"]["labels"] == ["[0, 0, :, :]", "[0, 1, :, :]", "[1, 0, :, :]", "[1, 1, :, :]"]
    assert list(map(len, places["a"]["cells"])) == [6] * 4
    assert places["b"]["notes"] == ["every 4th row", "every 3rd column"]
    assert len(places["b"]["cells"][0]) == 15 * 14
    assert places["c"]["notes"] == ["magnitudes of complex numbers"]
    assert places["c"]["legend"][0] == "0"
    assert places["d"]["labels"] == ["all axes but the last flattened into 18 rows"]


def test_the_tape_says_what_it_holds(panel: Any) -> None:
    shown = panel(traced(sine, x=2.0))
    before, turns = 0, set()
    for number, step in enumerate(shown.steps):
        if (memory := step["memory"]) is None:
            continue
        turn = " ↑" if memory > before else " ↓" if memory < before else ""
        assert shown.go(number)["memory"] == f"The tape holds {memory} bytes{turn}"
        before = memory
        turns.add(turn)
    assert memory == 0
    assert turns == {"", " ↑", " ↓"}


def test_what_is_not_an_entry_is_shown_too(panel: Any) -> None:
    x = ad.Variable(2.0, name="x")
    with ad.trace() as kept:
        with ad.GradientTape(persistent=True) as tape:
            with tape.stop_recording():
                x.assign(3.0)
            y = x * np.sqrt(np.square(x).numpy())
        tape.gradient(y, x)
        with tape:
            tape.reset()
    shown = panel(kept)
    forward = [plain(shown.go(number)["forward"]) for number in range(len(shown.steps))]
    seen = dict(zip([step["kind"] for step in shown.steps], forward, strict=True))
    assert seen["assign"] == "x=3"
    assert seen["seed"] == "y¯=1"
    assert seen["pause"] == seen["resume"] == seen["reset"] == "—"
    shown.tab.is_quiet()


def test_the_player_has_one_height_at_every_step(panel: Any) -> None:
    def mixed(x: Any, w: Any) -> Any:
        return np.sum(np.tanh(x @ w) ** 2)

    shown = panel(traced(mixed, x=np.ones((20, 3)), w=np.ones((3, 2))))
    read = "root => [root, root.querySelector('.columns')].map((part) => part.getBoundingClientRect().height)"
    for width in (1280, 900, 375):
        shown.root.page.set_viewport_size({"width": width, "height": 720})
        assert len({tuple(seen) for seen in shown.player.at_every_step(read)}) == 1


NAMED = """root => [...root.querySelectorAll(".about tr[data-row]")].filter((row) => row.checkVisibility()).map((row) =>
  [row.querySelector(".name").textContent, row.querySelector(".value").textContent])"""


def test_what_is_about_no_tensor_lists_the_named_values_so_far(visit: Any, tmp_path: Path) -> None:
    panel = Panel(visit, tmp_path, stopped())
    for width in (1280, 720):
        panel.root.page.set_viewport_size({"width": width, "height": 720})
        panel.go([step["kind"] for step in panel.steps].index("pause"))
        assert panel.root.evaluate(NAMED) == [["x", "3"], ["a", "9"]]
        assert not panel.root.locator('[data-field="operation"]').is_visible()
    panel.go(1)
    assert panel.root.locator('[data-field="operation"]').is_visible()


def test_a_named_array_is_its_numbers_or_its_shape_and_of_a_loop_the_latest(visit: Any, tmp_path: Path) -> None:
    panel = Panel(visit, tmp_path, training(3))
    turns = [number for number, step in enumerate(panel.steps) if step.get("what") == "value"]
    if not turns:
        turns = [number for number, step in enumerate(panel.steps) if step["kind"] == "release"]
    panel.go(turns[-1])
    rows = dict(panel.root.evaluate(NAMED))
    assert 2 < len(rows) <= 6
    assert not any(name[-1] in "₂₃" and name[:-1] in rows for name in rows)
    assert all(len(text) <= 20 or text.count(" ") < 12 for text in rows.values())


def test_a_constant_matrix_has_its_shape_for_a_name(visit: Any, tmp_path: Path) -> None:
    def product(w: ad.Tensor) -> ad.Tensor:
        return np.sum(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]) @ w)

    ad.play(product, np.array([0.5, -0.25])).save(tmp_path / "product.html")
    player = only(visit((tmp_path / "product.html").as_uri()))
    seen = player.at_every_step(
        "root => [...root.querySelectorAll('.about tbody tr .name')].map((name) => name.textContent)"
    )
    assert {name for names in seen for name in names if "[" in name} == {"[…] 3×2"}


def test_where_nothing_has_a_value_yet_the_graph_has_the_room(visit: Any, tmp_path: Path) -> None:
    traced = training(1)
    panel = Panel(visit, tmp_path, traced)
    panel.root.page.set_viewport_size({"width": 700, "height": 720})
    empty = panel.root.locator(".panel[data-empty]").count()
    assert empty == (0 if "tensor" in panel.steps[0] or "entry" in panel.steps[0] else 1)


def test_factor_and_cotangent_of_a_product_of_matrices_stand_side_by_side(panel: Any) -> None:
    at = panel(traced(lambda w: np.sum(np.arange(12.0).reshape(4, 3) @ w), w=np.ones((3, 4))))
    number = max(k for k, step in enumerate(at.steps) if step["kind"] == "accumulate")
    at.go(number)
    lit = at.root.locator('[data-field="backward"] > [data-now]')
    assert lit.locator("svg").count() == 2
    tall = lit.locator("svg").first.bounding_box()["height"]
    assert 10 < tall < 40
    at.go(number - 1)
    assert at.root.locator(".formulas svg").count() == 0


def test_small_matrices_stand_in_the_formula_with_their_numbers(panel: Any) -> None:
    at = panel(traced(lambda w: np.sum(np.arange(6.0).reshape(2, 3) @ w), w=np.ones((3, 2))))
    at.go(max(k for k, step in enumerate(at.steps) if step["kind"] == "accumulate"))
    lit = at.root.locator('[data-field="backward"] > [data-now]')
    assert lit.locator("svg").count() == 0
    rows = lit.locator(".matrix").evaluate_all(
        "all => all.map((one) => [...one.children].map((row) => row.children.length))"
    )
    assert rows == [[3, 3], [2, 2], [2, 2, 2]], "a factor, the cotangent, and what is sent"


def cells(table: Any) -> list[list[str]]:
    return table.evaluate(
        "table => [...table.rows].map((row) => [...row.cells].map((cell) => [cell.textContent, cell.title].join('|')))"
    )


@pytest.mark.parametrize("n", [5, 9, 20])
def test_a_vector_is_one_row_everywhere_however_long(n: int, panel: Any) -> None:
    shown = panel(traced(lambda x: x * x, x=np.arange(float(n)) + 1))
    step = [number for number, step in enumerate(shown.steps) if step["kind"] == "accumulate"][-1]
    shown.go(step)
    pictures = shown.root.locator(".array .picture:has(td, i)").evaluate_all(
        "all => all.map((one) => [...one.querySelectorAll('td, i')].map((cell) => cell.getBoundingClientRect().top))"
    )
    assert len(pictures) >= 5
    assert {(len(tops), len(set(tops))) for tops in pictures} == {(n, 1)}


def test_numbers_in_narrow_cells_are_short_and_their_title_is_whole(panel: Any) -> None:
    value = np.array([[0.123456, -2.0], [1234567.0, np.nan]])
    shown = panel(traced(lambda x: x * 2.0, x=value))
    shown.go(shown.find("record", "y"))
    table = shown.root.locator('[data-row="input"] .picture table').first
    assert cells(table) == [["0.123|0.123456", "−2|"], ["1.23e6|1234570", "nan|"]]


@pytest.mark.parametrize("shape", [(6, 2), (3, 3), (4,), (2, 4)])
def test_tables_of_small_arrays_fit_into_their_cells(shape: tuple[int, ...], panel: Any) -> None:
    value = -np.random.default_rng(0).uniform(0.1, 0.9, shape)
    shown = panel(traced(lambda x: x * x, x=value), viewport={"width": 1280, "height": 720})
    wide = """root => [...root.querySelectorAll(".array .picture:has(table)")].filter(
      (box) => box.scrollWidth > box.clientWidth + 1).length"""
    assert shown.player.at_every_step(wide) == [0] * len(shown.steps)


def test_an_element_that_is_nearly_whole_is_whole_in_tables_and_formulas(panel: Any) -> None:
    value = np.array([[1.0, 1.0], [1.0, 1.000001]])
    shown = panel(traced(lambda x: x @ np.array([[1.0], [2.0]]), x=value))
    shown.go(shown.find("record", "y"))
    table = shown.root.locator('[data-row="input"] .picture table').first
    assert cells(table) == [["1|", "1|"], ["1|", "1.000001|"]]
    assert "1.000001" in shown.root.locator(".formulas").first.text_content()
    assert "1.000001" in shown.root.locator('[id="tensor-0"]').text_content()


HOSTILE = '<img src=x onerror="window.hacked=1">"><script>window.hacked=1</script>'


def test_hostile_names_are_text(panel: Any) -> None:
    x, w = ad.Variable(np.ones(20), name=HOSTILE), ad.Variable(2.0, name="</math><style>*{display:none}" * 300)
    with ad.trace(HOSTILE) as kept:
        with ad.GradientTape() as tape:
            y = np.sum(np.sin(x) * w)
        tape.gradient(y, [x, w])
    shown = panel(kept, viewport={"width": 375, "height": 800})
    read = f"root => [root.querySelectorAll('img, script').length, ({TOO_WIDE})(root)]"
    assert shown.player.at_every_step(read) == [[0, []]] * len(shown.steps)
    assert shown.root.locator(".name").first.text_content()
    assert shown.tab.page.evaluate("window.hacked") is None
    assert len(shown.tab.requests) == 1
    shown.tab.is_quiet()


def test_a_formula_stands_only_where_something_flows(visit: Any, tmp_path: Path) -> None:
    panel = Panel(visit, tmp_path, stopped())
    assert panel.go(panel.find("pull back", "z"))["backward"] == ["t3¯+=z¯"]  # and none for s1, which no tape has
    assert panel.go(panel.at + 1)["backward"] == ["t3¯+=z¯=1"]


@pytest.mark.parametrize("width", [900, 1280])
@pytest.mark.parametrize("function", ["grad", "jvp"])
def test_captions_stay_on_one_line(width: int, function: str, visit: Any, tmp_path: Path) -> None:
    with ad.trace() as trace:
        if function == "jvp":
            ad.jvp(np.sin, (0.5,), (1.0,))
        else:
            ad.grad(np.sin)(0.5)
    panel = Panel(visit, tmp_path, trace)
    panel.root.page.set_viewport_size({"width": width, "height": 720})
    panel.go([step["kind"] for step in panel.steps].index("move" if function == "jvp" else "seed"))
    captions = panel.root.locator(".tape-figure > figcaption, .panel figcaption").all()
    assert [caption.bounding_box()["height"] < 24 for caption in captions] == [True, True]


def test_a_pause_says_what_it_leaves_out(visit: Any, tmp_path: Path) -> None:
    panel = Panel(visit, tmp_path, stopped())
    panel.go([step["kind"] for step in panel.steps].index("pause"))
    assert panel.root.locator(".graph-figure > figcaption > span").text_content() == "Graph ‖ the tape is paused"
    assert panel.root.locator(".sentence").text_content() == "The tape pauses: what is computed now is not recorded."


PARTS = """async root => {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame); // the player fits its new size
  return [...root.querySelectorAll(".part")].map((part) => part.getBoundingClientRect().toJSON());
}"""


@pytest.mark.parametrize("shape", [(), (6, 2), (3, 3), (16, 1), (20, 20)])
def test_what_is_added_up_is_one_row_or_one_column(shape: tuple[int, ...], panel: Any) -> None:
    value = -np.random.default_rng(0).uniform(0.1, 0.9, shape)
    shown = panel(traced(lambda x: np.sum(x * x), x=value), viewport={"width": 1280, "height": 720})
    shown.go(max(n for n, step in enumerate(shown.steps) if step["kind"] == "accumulate"))
    for width in (1280, 800, 390):
        shown.root.page.set_viewport_size({"width": width, "height": 720})
        boxes = shown.root.evaluate(PARTS)
        assert len(boxes) == 3
        in_a_row, in_a_column = ({box[side] for box in boxes} for side in ("y", "x"))
        assert min(len(in_a_row), len(in_a_column)) == 1
        if width != 800:  # there the panel stands below the graph, and scrolls
            formula = shown.root.locator('.at-hand [data-field="backward"] > *').first.bounding_box()
            outer = shown.root.locator(".at-hand").bounding_box()
            assert formula["y"] + formula["height"] <= outer["y"] + outer["height"], "the sum leaves room to it"


def test_a_sum_that_cancels_adds_up_on_the_page_and_on_stage(panel: Any) -> None:
    at = panel(traced(lambda x: (x - 0.5) * x - 0.5 * x, x=np.float64(0.50005312)))
    subtract = next(k for k, step in enumerate(at.steps) if step["kind"] == "record")
    last = max(k for k, step in enumerate(at.steps) if step["kind"] == "accumulate")
    assert plain(at.go(subtract)["forward"]).endswith("=0.50005312−0.5=5.312e-05")
    assert [place["text"] for place in at.go(last)["sum"]] == ["-0.49994688", "0.50005312", "0.00010624"]
    at.root.locator('[data-action="stage"]').click()
    assert plain(at.go(subtract)["forward"]).endswith("=0.5000531−0.5=5.31e-05")
    assert [place["text"] for place in at.go(last)["sum"]] == ["-0.499947", "0.500053", "0.000106"]


def test_a_bar_below_a_fraction_line_is_clear_of_it(visit: Any, tmp_path: Path) -> None:
    def newton(x: Any) -> Any:
        for _ in range(2):
            with ad.GradientTape() as tape:
                tape.watch(x)
                y = x**2 - 2
            x = x - y / tape.gradient(y, x)
        return x

    ad.play(newton, 1.0).save(tmp_path / "newton.html")
    player = Shown(visit((tmp_path / "newton.html").as_uri()).page.locator("section.player"))
    gaps = player.at_every_step("""root => [...root.querySelectorAll("mfrac:has(.bar)")].map(({ children }) =>
      children[1].getBoundingClientRect().top - children[0].getBoundingClientRect().bottom)""")
    assert min(gap for step in gaps for gap in step) >= 7
