"""The graph fits its pane; one that is too large for that can be moved and zoomed, has a map, and shows what is lit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import cubic, logistic, loop, nested, network, training

import autodiff_edu as ad
from browser.player_page import Expected, Shown, only, read, save_page, violations, violations_in_both_schemes
from browser.test_graph import button

ROOM = {"width": 1280, "height": 720}

# How large the letters are on the screen, and whether all boxes are in the pane, and the map is there.
FIT = """root => {
  const pane = root.querySelector(".graph").getBoundingClientRect();
  const texts = [...root.querySelectorAll(".graph [data-tensor] text")].filter((text) => text.textContent);
  const boxes = [...root.querySelectorAll(".graph [data-tensor], .group")].map((box) => box.getBoundingClientRect());
  return {
    letters: Math.min(...texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)),
    whole: boxes.every(({ left, right, top, bottom }) =>
      left >= pane.left - 1 && right <= pane.right + 1 && top >= pane.top - 1 && bottom <= pane.bottom + 1),
    map: root.querySelector(".overview").checkVisibility(),
    height: pane.height,
  };
}"""

# How many of the boxes at the ends of the lines along which something flows lie outside the pane or under the map; if
# they are further apart than the pane is large, whether the box that the step is about does.
OUTSIDE = """(root, entries) => {
  const pane = root.querySelector(".graph").getBoundingClientRect();
  const map = root.querySelector(".overview:not([hidden])")?.getBoundingClientRect();
  const lines = [...root.querySelectorAll("[data-edge][data-flow]")].map(({ dataset }) => dataset.edge.split("."));
  if (!lines.length) return null;
  const placeOf = (tensor) => root.querySelector(`[data-tensor="${tensor}"] > rect`)?.getBoundingClientRect();
  const { inputs, output } = entries[lines[0][0]];
  const ends = [output, ...lines.map(([, input]) => inputs[input])].map(placeOf).filter(Boolean);
  const side = (name, choose) => choose(...ends.map((end) => end[name]));
  const wide = side("right", Math.max) - side("left", Math.min);
  const tall = side("bottom", Math.max) - side("top", Math.min);
  const now = [...root.querySelectorAll("[data-now] > rect")].map((rect) => rect.getBoundingClientRect());
  const wanted = wide > pane.width || tall > pane.height ? now : ends;
  return wanted.filter(({ left, right, top, bottom }) =>
    left < pane.left - 1 || right > pane.right + 1 || top < pane.top - 1 || bottom > pane.bottom + 1 ||
    (map && right > map.left + 1 && left < map.right - 1 && bottom > map.top + 1 && top < map.bottom - 1)).length;
}"""


def profit(price: Any) -> Any:
    demand = 100.0 - 5.0 * price
    return price * demand - (30.0 + 2.0 * demand)


def tall() -> ad.Trace:
    """A graph that is too high for any pane, and not folded."""
    x = ad.Variable(0.5, name="x")
    with ad.trace("tall") as traced:
        with ad.GradientTape() as tape:
            a = np.sin(x)
            b = np.cos(a)
            c = np.exp(b)
            d = np.tanh(c)
            e = np.square(d)
            f = np.sqrt(e)
            g = np.log(f)
            h = np.arctan(g)
            i = np.sinh(h)
            j = i + a
        tape.gradient(j, x)
    return traced


def shown(visit: Any, folder: Path, traced: ad.Trace, size: dict[str, int] = ROOM, **options: Any) -> Shown:
    return only(visit(save_page(traced, folder), viewport=size, **options))


def settle(player: Shown) -> None:
    player.root.evaluate("() => new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(told)))")


def scroll(player: Shown) -> list[float]:
    found: list[float] = player.root.evaluate("""root => {
      const { scrollLeft, scrollTop } = root.querySelector(".graph");
      return [scrollLeft, scrollTop];
    }""")
    return found


def scale(player: Shown) -> float:
    return float(player.root.evaluate("root => root.querySelector('.graph svg').getScreenCTM().a"))


def middle(player: Shown, selector: str = ".graph") -> tuple[float, float]:
    box = player.root.locator(selector).first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize(("width", "usual"), [(700, 12), (848, 12), (1280, 14), (1920, 16)])
def test_a_graph_is_whole_where_its_letters_can_be_read(width: int, usual: int, visit: Any, tmp_path: Path) -> None:
    ad.play(profit, 2.0).save(tmp_path / "profit.html")
    player = only(visit((tmp_path / "profit.html").as_uri(), viewport={"width": width, "height": 720}))
    settle(player)
    fit = player.root.evaluate(FIT)
    assert fit["height"] >= 240
    assert fit["letters"] >= 0.7 * usual - 0.02
    assert fit["letters"] <= usual + 0.01
    assert fit["whole"] != fit["map"]
    assert fit["whole"] or fit["letters"] < 0.701 * usual, "it is made as small as letters may be before it is cut"
    assert fit["whole"] or width == 700


def test_letters_have_12_pixels_where_an_output_of_jupyterlab_is_narrow(visit: Any, tmp_path: Path) -> None:
    for made in (logistic(), network()):
        player = shown(visit, tmp_path, made, {"width": 960, "height": 760})
        assert min(player.at_every_step(f"root => ({FIT})(root).letters")) >= 12 - 0.02


def test_an_end_of_a_lit_line_beyond_the_pane_is_named_at_its_edge(visit: Any, tmp_path: Path) -> None:
    traced = tall()
    player = shown(visit, tmp_path, traced)
    far = player.root.locator(".far-ends button")
    steps, entries, tensors = (traced.document()[part] for part in ("steps", "entries", "tensors"))
    last = next(k for k, step in enumerate(steps) if step["kind"] == "pull back")  # j = i + a: a is high above
    named = {tensors[tensor]["name"] for tensor in entries[steps[last]["entry"]]["inputs"]}
    player.root.evaluate("(root, n) => root.getRootNode().host.autodiffPlayer.show(n)", last)
    settle(player)
    assert far.count() == 1
    text = far.text_content()
    assert text.startswith("↑ ")
    assert text[2:] in named
    box, pane = far.bounding_box(), player.root.locator(".graph").bounding_box()
    assert pane["y"] <= box["y"] <= pane["y"] + 4
    far.click()
    settle(player)
    assert not [one for one in far.all_text_contents() if one == text], "a click brings it into view"


def test_a_training_is_fitted_around_what_the_step_is_about(visit: Any, tmp_path: Path) -> None:
    traced = training(60)
    player = shown(visit, tmp_path, traced, {"width": 1024, "height": 768})
    steps, entries = (traced.document()[part] for part in ("steps", "entries"))
    tanh = [k for k, step in enumerate(steps) if step["kind"] == "record" and "tanh" in entries[step["entry"]]["text"]]
    player.root.evaluate("(root, n) => root.getRootNode().host.autodiffPlayer.show(n)", tanh[30])
    player.root.focus()
    player.press("0")
    settle(player)
    _, y = middle(player, "[data-now]")
    pane = player.root.locator(".graph").bounding_box()
    assert 0.3 < (y - pane["y"]) / pane["height"] < 0.7


def test_a_graph_that_is_too_large_has_a_map_and_letters_that_can_be_read(visit: Any, tmp_path: Path) -> None:
    player = shown(visit, tmp_path, tall())
    settle(player)
    fit = player.root.evaluate(FIT)
    assert (fit["whole"], fit["map"]) == (False, True)
    assert fit["letters"] == pytest.approx(13, abs=0.02)
    size = player.root.locator(".overview").bounding_box()
    assert (size["width"], size["height"]) == (120, 90)
    parts = player.root.evaluate("""root => {
      const [seen, lit] = [".seen", ".lit-box"].map((name) => root.querySelector(`.overview ${name}`));
      const numbers = (rect) => ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
      return { seen: numbers(seen), lit: numbers(lit), shown: lit.getAttribute("visibility"),
        boxes: root.querySelector(".overview .boxes").getAttribute("d").split("M").length - 1 };
    }""")
    assert parts["boxes"] == 11
    (_, top, _, height), (_, lit, _, _) = parts["seen"], parts["lit"]
    assert parts["shown"] is None
    assert top <= lit < top + height, "what is lit is in the part that is seen"
    player.click("last")
    player.root.locator(".overview .lit-box").wait_for()
    assert violations_in_both_schemes(player.root) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_map_stands_where_no_box_is_and_is_smaller_where_some_are_everywhere(
    width: int, visit: Any, tmp_path: Path
) -> None:
    player = only(visit(save_page(nested(), tmp_path), viewport={"width": width, "height": 844}))
    seen = player.at_every_step("""async root => {
      await new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(told)));
      const map = root.querySelector(".overview:not([hidden])").getBoundingClientRect();
      const covered = [...root.querySelectorAll(".graph [data-tensor] > rect:first-child")].filter((box) => {
        const { left, right, top, bottom } = box.getBoundingClientRect();
        return right > map.left + 1 && left < map.right - 1 && bottom > map.top + 1 && top < map.bottom - 1;
      });
      return [map.width, covered.length];
    }""")
    assert {size for size, _ in seen} <= {60, 120}
    assert [covered for size, covered in seen if covered and size == 120] == []
    assert sum(covered > 0 for _, covered in seen) < len(seen) / 4


@pytest.mark.parametrize("example", [tall, nested, network, cubic])
def test_both_ends_of_a_lit_line_are_in_view(example: Any, visit: Any, tmp_path: Path) -> None:
    traced = example()
    expected = read(traced)
    for size in (ROOM, {"width": 848, "height": 720}):
        player = shown(visit, tmp_path, traced, size)
        steps = player.at_every_step(f"root => ({OUTSIDE})(root, {entries(expected)})")
        assert set(steps) == {None, 0}, [number for number, step in enumerate(steps) if step]


def entries(expected: Expected) -> list[dict[str, Any]]:
    return [{"inputs": entry["inputs"], "output": entry["output"]} for entry in expected.document["entries"]]


def test_the_wheel_moves_the_page_and_with_ctrl_it_zooms_where_the_mouse_is(visit: Any, tmp_path: Path) -> None:
    traced = tall()
    page = tmp_path / "long.html"
    page.write_text(ad.play(traced).page().replace("</body>", "<p style='height: 2000px'></p></body>"))
    player = only(visit(page.as_uri(), viewport=ROOM))
    mouse, tab = player.root.page.mouse, player.root.page
    mouse.move(*middle(player))
    mouse.wheel(0, 120)
    tab.wait_for_function("() => scrollY > 50")
    tab.evaluate("() => scrollTo(0, 0)")
    settle(player)
    before, box = scale(player), player.root.locator('[data-tensor="3"] > rect').first
    mouse.move(*middle(player, '[data-tensor="3"]'))
    held = middle(player, '[data-tensor="3"]')
    tab.keyboard.down("Control")
    mouse.wheel(0, -120)
    tab.wait_for_function("([root, old]) => root.querySelector('.graph svg').getScreenCTM().a > 1.2 * old",
                          arg=[player.root.element_handle(), before])  # fmt: skip
    assert middle(player, '[data-tensor="3"]')[1] == pytest.approx(held[1], abs=2)
    assert tab.evaluate("() => scrollY") == 0
    assert box.is_visible()
    for _ in range(20):
        mouse.wheel(0, 120)
    tab.keyboard.up("Control")
    tab.wait_for_function(
        "root => root.querySelector('.graph svg').getScreenCTM().a < 0.6", arg=player.root.element_handle()
    )
    fit = player.root.get_by_role("button", name="Fit", exact=True)
    assert fit.is_visible()
    player.root.focus()
    player.press("0")
    pane, picture = (player.root.locator(part).first.bounding_box() for part in (".graph", ".graph svg"))
    assert picture["height"] <= pane["height"]
    assert picture["width"] <= pane["width"]
    assert not fit.is_visible()
    assert player.root.get_by_role("button", name="Larger", exact=True).is_visible()
    player.press("0")
    assert scale(player) == pytest.approx(before)
    player.stands_at(0)


def test_a_drag_moves_the_picture_and_does_not_click(visit: Any, tmp_path: Path) -> None:
    player = shown(visit, tmp_path, tall())
    player.click("last")
    settle(player)
    mouse = player.root.page.mouse
    number, (x, y) = player.root.get_attribute("data-step"), middle(player, '[data-tensor="2"]')
    before = scroll(player)
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, y - 40, steps=4)
    mouse.up()
    settle(player)
    assert scroll(player)[1] == pytest.approx(before[1] + 40, abs=2)
    assert player.root.get_attribute("data-step") == number
    mouse.click(*middle(player, '[data-tensor="2"]'))
    assert player.root.get_attribute("data-step") != number


def test_the_map_leads_to_what_is_clicked_and_follows_the_mouse(visit: Any, tmp_path: Path) -> None:
    player = shown(visit, tmp_path, tall())
    settle(player)
    mouse, area = player.root.page.mouse, player.root.locator(".overview").bounding_box()
    x = area["x"] + 60
    mouse.click(x, area["y"] + 84)
    last = player.root.locator('[data-tensor="10"] > rect')
    pane = player.root.locator(".graph").bounding_box()
    at = last.bounding_box()
    assert pane["y"] <= at["y"]
    assert at["y"] + at["height"] <= pane["y"] + pane["height"] + 1
    area = player.root.locator(".overview").bounding_box()
    mouse.move(x, area["y"] + 84)
    mouse.down()
    mouse.move(x, area["y"] + 4, steps=3)
    mouse.up()
    assert scroll(player)[1] == 0
    player.stands_at(0)


def touch(session: Any, kind: str, *points: tuple[float, float]) -> None:
    session.send(
        "Input.dispatchTouchEvent",
        {"type": kind, "touchPoints": [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]},
    )


def test_two_fingers_zoom_and_one_moves_the_page(visit: Any, tmp_path: Path) -> None:
    ad.play(lambda x: x * x, 2.0).save(tmp_path / "square.html")
    page = (tmp_path / "square.html").as_uri()
    player = only(visit(page, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True))
    player.root.locator(".graph").scroll_into_view_if_needed()
    settle(player)
    tab, before, (x, y) = player.root.page, scale(player), middle(player)
    session = tab.context.new_cdp_session(tab)
    touch(session, "touchStart", (x - 20, y), (x + 20, y))
    for apart in (25, 30, 40):
        touch(session, "touchMove", (x - apart, y), (x + apart, y))
    touch(session, "touchEnd")
    assert scale(player) == pytest.approx(before * 40 / 25, rel=0.05)
    player.root.get_by_role("button", name="Fit", exact=True).click()
    assert scale(player) == pytest.approx(before)
    assert player.root.evaluate(FIT)["whole"]
    start = tab.evaluate("() => scrollY")
    touch(session, "touchStart", (x, y))
    for up in range(10, 110, 10):
        touch(session, "touchMove", (x, y - up))
    touch(session, "touchEnd")
    tab.wait_for_function("start => scrollY > start + 50", arg=start)


# Where the pane is scrolled to in the frame after a step, and at the end.
SOON = """async root => {
  const box = root.querySelector(".graph");
  const from = box.scrollTop;
  root.querySelector('button[data-action="last"]').click();
  const seen = [];
  for (let still = 0; still < 5;) {
    await new Promise(requestAnimationFrame);
    still = box.scrollTop === seen.at(-1) ? still + 1 : 0;
    seen.push(box.scrollTop);
  }
  return [from, ...seen];
}"""


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_the_view_moves_calmly_or_at_once_for_those_who_want_no_motion(motion: str, visit: Any, tmp_path: Path) -> None:
    x = ad.Variable(0.5, name="x")
    with ad.trace("downwards") as traced, ad.GradientTape():
        y = np.sin(x)
        for f in (np.cos, np.exp, np.tanh, np.square, np.sqrt, np.log, np.arctan, np.sinh, np.sin):
            y = f(y)
    player = shown(visit, tmp_path, traced, reduced_motion=motion)
    settle(player)
    seen = player.root.evaluate(SOON)
    assert seen[-1] > seen[0]
    between = [top for top in seen if seen[0] + 1 < top < seen[-1] - 1]
    assert seen == sorted(seen)
    assert bool(between) == (motion == "no-preference")


@pytest.mark.parametrize("example", [logistic, loop, nested])
def test_a_folded_group_is_as_wide_as_its_label_which_is_whole(example: Any, visit: Any, tmp_path: Path) -> None:
    player = shown(visit, tmp_path, example(20) if example is loop else example())
    for _ in range(4):  # the innermost first
        opened = player.root.locator('.group[aria-expanded="true"]')
        if not opened.count():
            break
        opened.last.evaluate("button => button.click()")
        settle(player)
        found = player.root.evaluate("""root =>
          [...root.querySelectorAll('.group[aria-expanded="false"]')].map((group) => {
          const label = group.querySelector(".label");
          return [label.scrollWidth - label.clientWidth, group.offsetWidth, label.textContent];
        })""")
        assert found
        for cut, width, label in found:
            assert cut <= 0, label
            assert width <= 260
            assert label.endswith(" entries")
            assert "…" not in label


def test_what_is_folded_leaves_no_gap_beside_its_box(visit: Any, tmp_path: Path) -> None:
    player = shown(visit, tmp_path, logistic())
    group = player.root.locator(".group").first
    for _ in range(2):
        if group.get_attribute("aria-expanded") == "true":
            group.evaluate("button => button.click()")
    spans = player.root.locator(".graph svg [data-tensor] > rect, .graph .group").evaluate_all(
        "boxes => boxes.map((box) => box.getBoundingClientRect()).map(({ left, right }) => [left, right])"
    )
    spans.sort()
    reach, widest = spans[0][1], 0.0
    for left, right in spans:
        widest, reach = max(widest, left - reach), max(reach, right)
    assert widest <= 20 * scale(player) * 2.1, "between two boxes there is a line at most"


def test_the_graph_is_walked_with_the_keys(visit: Any, tmp_path: Path) -> None:
    ad.play(profit, 2.0).save(tmp_path / "profit.html")
    player = only(visit((tmp_path / "profit.html").as_uri(), viewport=ROOM))
    trace = ad.play(profit, 2.0)._content["trace"]
    names = [tensor["name"] for tensor in trace["tensors"]]
    graph = player.root.locator(".graph")
    for _ in range(40):
        player.press("Tab")
        if graph.evaluate("graph => graph.matches(':focus')"):
            break
    assert player.root.locator(".keys").is_visible()
    player.press("ArrowRight")  # the walk has not begun
    player.stands_at(1)

    def at() -> str | None:
        found = player.root.locator("[data-visited]")
        if not found.count():
            return None
        assert graph.get_attribute("aria-activedescendant") == found.get_attribute("id")
        return names[int(found.get_attribute("data-tensor"))]

    player.press("ArrowDown")
    start = at()
    assert start in names
    player.press("Escape")
    assert at() is None
    assert graph.get_attribute("aria-activedescendant") is None
    player.press("ArrowDown")
    for key, name in (("ArrowUp", "5"), ("ArrowRight", None), ("ArrowDown", None), ("ArrowDown", "demand")):
        player.press(key)
        assert name is None or at() == name or {name, at()} == {"5", "price"}
    player.press("Enter")
    entry = next(k for k, one in enumerate(trace["entries"]) if names[one["output"]] == "demand")
    computed = next(k for k, step in enumerate(trace["steps"]) if step["kind"] == "record" and step["entry"] == entry)
    player.stands_at(computed)
    assert at() == "demand", "the walk goes on from there"
    player.press("ArrowDown")
    outputs = {names[one["output"]] for one in trace["entries"] if trace["entries"][entry]["output"] in one["inputs"]}
    assert at() in outputs
    sideways = at()
    player.press("ArrowRight")
    player.press("ArrowRight")
    player.press("ArrowLeft")
    assert {sideways, at()} <= outputs
    assert violations(player.root) == []
    player.press("Tab")
    assert at() is None


def test_the_walk_passes_a_folded_group_as_one_box(visit: Any, tmp_path: Path) -> None:
    player = shown(visit, tmp_path, loop(60))
    player.click("last")
    player.root.locator(".graph").focus()
    player.press("ArrowDown")
    assert player.root.locator("[data-visited]").get_attribute("data-tensor") is not None
    player.press("ArrowDown")
    assert player.root.locator(".group[data-visited]").get_attribute("data-group") == "0"
    player.press("ArrowUp")
    assert player.root.locator("[data-visited]").get_attribute("data-tensor") is not None


def test_the_graph_says_the_step(visit: Any, tmp_path: Path) -> None:
    ad.play(profit, 2.0).save(tmp_path / "profit.html")
    player = only(visit((tmp_path / "profit.html").as_uri(), viewport=ROOM))
    said = player.at_every_step("root => root.querySelector('.graph').ariaLabel")
    assert len(set(said)) > len(said) / 2, "not one phrase for all"
    assert "demand: 90. Lit: 100 to demand, 100; t1 to demand, 10." in said
    assert "t1: 10, cotangent 0. Lit: demand to t1, 0." in said
    assert "price: 2, cotangent 90. Lit: t3 to price, 90." in said or any(
        text.startswith("price: 2, cotangent 90. Lit: ") and text.endswith(" to price, 90.") for text in said
    )
    assert any(", −2." in text for text in said), "with a minus that is read"
    assert player.root.get_by_role("application").count() == 1


def test_the_graph_says_arrays_by_their_shape_and_what_is_folded(visit: Any, tmp_path: Path) -> None:
    player = shown(visit, tmp_path, network())
    said = player.at_every_step("root => root.querySelector('.graph').ariaLabel")
    assert any("shape (4, 3)" in text for text in said)
    assert not any("…" in text or len(text) > 120 for text in said)
    player = shown(visit, tmp_path, loop(60))
    button(player, "×60").click()
    button(player, "×60").click()
    player.root.locator("input[type=range]").fill("90")
    assert ", inside the folded group loop ×60" in player.root.locator(".graph").get_attribute("aria-label")


def test_the_graph_stands_beside_the_numbers_from_720_pixels_on(visit: Any, tmp_path: Path) -> None:
    player = shown(visit, tmp_path, tall())
    columns = """root => ({
      width: root.clientWidth, graph: root.querySelector(".graph").clientHeight,
      beside: root.querySelector(".panel").getBoundingClientRect().left >
        root.querySelector(".graph").getBoundingClientRect().right,
    })"""
    seen = set()
    for width in (660, 710, 760, 848, 1280):
        player.root.page.set_viewport_size({"width": width, "height": 720})
        settle(player)
        now = player.root.evaluate(columns)
        assert now["beside"] == (now["width"] >= 720 - 2)
        assert now["graph"] >= 240
        seen.add(now["beside"])
    assert seen == {True, False}


def test_a_step_changes_nothing_of_the_map_but_what_is_lit_and_seen(visit: Any, tmp_path: Path) -> None:
    player = shown(visit, tmp_path, tall())
    settle(player)
    changed = player.root.evaluate("""async root => {
      const seen = new Set();
      const note = (list) => list.forEach(({ target }) => seen.add(target.getAttribute("class")));
      const observer = new MutationObserver(note);
      observer.observe(root.querySelector(".overview"), { attributes: true, childList: true, subtree: true });
      for (let k = 0; k < 40; k++) {
        root.querySelector('button[data-action="next"]').click();
        await new Promise(requestAnimationFrame);
      }
      note(observer.takeRecords());
      return [...seen];
    }""")
    assert "lit-box" in changed
    assert set(changed) <= {"lit-box", "ways", "seen", "overview"}


def test_on_stage_what_a_step_is_about_and_its_bead_are_whole(visit: Any, tmp_path: Path) -> None:
    def curvature(x: ad.Variable) -> None:
        for _ in range(2):
            with ad.GradientTape() as outer:
                with ad.GradientTape() as inner:
                    y = x**4 - 3.0 * x**2 + x
                slope = inner.gradient(y, x)
            x.assign_sub(slope / outer.gradient(slope, x))

    with ad.trace() as traced:
        curvature(ad.Variable(2.0, name="x"))
    player = only(visit(save_page(traced, tmp_path), viewport={"width": 1280, "height": 720}))
    player.root.focus()
    player.press("f")
    cut = player.root.evaluate("""async root => {
      const [{ autodiffPlayer: player }, cut] = [root.getRootNode().host, []];
      for (let step = 0; step <= Number(root.querySelector(".scrubber input").max); step++) {
        player.show(step);
        await new Promise(requestAnimationFrame);
        const pane = root.querySelector(".graph").getBoundingClientRect();
        for (const part of root.querySelectorAll(".graph [data-now], .graph .bead")) {
          const { left, right, top, bottom } = part.getBoundingClientRect();
          const out = [pane.left - left, right - pane.right, pane.top - top, bottom - pane.bottom];
          if (Math.max(...out) > 2) cut.push([step, part.textContent]);
        }
      }
      return cut;
    }""")
    assert cut == []
