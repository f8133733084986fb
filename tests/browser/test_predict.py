"""Predict: what is asked, what is said about answers, the score, and that nothing on the page gives an answer away."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs import FIVE, HOSTILE, two_passes

import autodiff_edu as ad
from autodiff_edu.player.packing import dumps, packed
from browser.following import TOO_WIDE, only, read, saved


def cubic() -> ad.Trace:
    """z = x x (x + 2) at 3: what arrives, what is added and what is there are all different numbers."""
    x, two = ad.Variable(3.0, name="x"), ad.constant(2.0, name="two")
    with ad.trace("cubic") as traced:
        with ad.GradientTape() as tape:
            y = x * x
            w = x + two
            z = y * w
        slope = tape.gradient(z, x)
    assert float(slope) == 39.0
    return traced


def rows() -> ad.Trace:
    x, y = ad.Variable(np.arange(6.0).reshape(2, 3), name="x"), ad.Variable([1.0, 2.0, 3.0], name="y")
    with ad.trace("rows") as traced:
        with ad.GradientTape() as tape:
            z = x * y
            total = np.sum(z)
        tape.gradient(total, y)
    return traced


def loop() -> ad.Trace:
    x = ad.Variable(2.0, name="x")
    with ad.trace("a loop") as traced:
        with ad.GradientTape() as tape:
            y = x
            for _ in range(6):
                y = y * x
        tape.gradient(y, x)
    return traced


def pushing() -> ad.Trace:
    """exp(x w - 6) w + x: what moves, what adds up and what it comes to are all different numbers."""
    with ad.trace("pushing") as traced:
        ad.jvp(lambda x, w: np.exp(x * w - 6.0) * w + x, (3.0, 2.0), (1.0, 0.5))
    return traced


def stacked() -> ad.Trace:
    with ad.trace("stacked") as traced:
        ad.jacobian(lambda x: np.sum(x * x), mode="forward")(np.array([1.0, 2.0, 3.0]))
    return traced


class Predicting:
    """A player in predict mode, and the trace it shows."""

    def __init__(self, open_tab: Any, traced: ad.Trace, folder: Path) -> None:
        self.tab = open_tab(saved(traced, folder))
        self.player, self.expected = only(self.tab), read(traced)
        self.root = self.player.root
        self.player.click("predict")

    def find(self, kind: str, nth: int = 0, **wanted: Any) -> int:
        found = [
            number
            for number, step in enumerate(self.expected.steps)
            if step["kind"] == kind and all(step[key] == value for key, value in wanted.items())
        ]
        return found[nth]

    def tensor(self, name: str) -> int:
        return [tensor["name"] for tensor in self.expected.document["tensors"]].index(name)

    def is_asked(self, number: int) -> None:
        """Go to the step before, and on, to where the question is."""
        self.player.click("first")
        self.root.locator("input[type=range]").fill(str(number - 1))
        self.player.stands_at(number - 1)
        self.player.click("next")
        assert self.root.locator(".question").is_visible()
        self.player.agrees(self.expected, number - 1)  # nothing of the step is on show yet

    def types(self, text: str) -> str:
        self.root.locator(".predict input").fill(text)
        self.player.press("Enter")
        return self.verdict

    def answers(self, number: int, text: str) -> str:
        self.is_asked(number)
        return self.types(text)

    def chooses(self, number: int, text: str) -> str:
        self.is_asked(number)
        return self.picks(text)

    def picks(self, text: str) -> str:
        self.root.locator(".options").get_by_role("button", name=text, exact=True).click()
        return self.verdict

    def asked(self) -> list[dict[str, Any]]:
        """Go through all steps, and note each question: the step it is about, its prompt and its options."""
        found, last = [], len(self.expected) - 1
        self.player.click("first")
        while int(str(self.root.get_attribute("data-step"))) < last:
            self.player.click("next")
            if self.root.locator(".question").is_visible():
                step = int(str(self.root.get_attribute("data-step"))) + 1
                options = self.root.locator(".options button").all_text_contents()
                found.append({"step": step, "prompt": self.prompt, "options": options})
                self.player.click("reveal")
                found[-1]["said"] = self.verdict
        return found

    @property
    def prompt(self) -> str:
        return str(self.root.locator(".prompt").text_content())

    @property
    def verdict(self) -> str:
        return str(self.root.locator(".verdict").text_content())


@pytest.fixture
def predict(open_tab: Any, tmp_path: Path) -> Any:
    return lambda traced: Predicting(open_tab, traced, tmp_path)


# What a reader sees, hears or finds under the pointer: a list of texts.
SEEN = """root => {
  const found = [];
  const seen = (element) => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false });
  for (const element of root.querySelectorAll("*")) {
    const shown = element.tagName === "title" ? element.parentElement : element; // under the pointer, in SVG
    if (!seen(shown)) continue;
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) found.push(node.data);
    for (const { name, value } of element.attributes) {
      if (/^(title|alt|placeholder|value|data-value|aria-.*)$/.test(name)) found.push(value);
    }
    if (element.matches("input")) found.push(element.value);
  }
  return found;
}"""

CANARY = 98765.0
ARRAYS = ("cotangent", "contribution", "after", "value", "tangent")


def changed(array: dict[str, Any]) -> dict[str, Any]:
    """The same array with other numbers, which stand nowhere else, and another shape if it has axes."""
    shape = [5, *array["shape"][1:]] if array["shape"] else []
    return {**array, "shape": shape, "text": "98765", "data": np.full(shape, CANARY).tolist()}


def poisoned(document: dict[str, Any], number: int) -> dict[str, Any]:
    """The same document, in which a step and all after it say something else; the page must not know it before."""
    document = copy.deepcopy(document)
    steps, tensors, entries = document["steps"], document["tensors"], document["entries"]
    touched: set[int] = set()
    appeared: set[int] = set()
    for step in steps[:number]:
        if "entry" in step:
            appeared.add(step["entry"])
            touched |= {*entries[step["entry"]]["inputs"], entries[step["entry"]]["output"]}
        touched |= {step["tensor"]} if "tensor" in step else set()
    for step in steps[number:]:
        step["text"] = "98765"
        step["memory"] = None if step["memory"] is None else 98765
        for name in ARRAYS:
            if step.get(name):
                step[name] = changed(step[name])
        if step.get("contributions"):
            step["contributions"] = [part and changed(part) for part in step["contributions"]]
    for index, tensor in enumerate(tensors):
        if index not in touched and tensor["kind"] != "constant":
            tensor["value"] = changed(tensor["value"])
    for index, entry in enumerate(entries):
        if index not in appeared:
            entry["number"] = entry["number"] and 98765
            if index != steps[number].get("entry"):
                entry["text"] = "98765"
    document["program"]["lines"] = ["98765"] * len(document["program"]["lines"])
    return document


@pytest.mark.parametrize("program", [*FIVE, two_passes, cubic, loop, pushing])
def test_nothing_on_the_page_gives_an_answer_away(program: Any, open_tab: Any, tmp_path: Path) -> None:
    traced = program()
    whole = ad.play(traced, predict=True).page()
    start, end = '<script type="application/json">', "</script>"
    head, rest = whole.split(start, 1)
    rest = rest.split(end, 1)[1]
    at = Predicting(open_tab, traced, tmp_path)
    asked = at.asked()
    assert len(asked) >= 5
    opened = 0
    for question in asked:
        number = question["step"]
        content = {**ad.play(traced, predict=True)._content, "trace": poisoned(traced.document(), number)}
        path = tmp_path / "poisoned.html"
        data = dumps(packed(content)).replace("<", "\\u003c")
        page = head.replace('data-start="0"', f'data-start="{number - 1}"') + start + data + end + rest
        path.write_text(page, encoding="utf-8")
        at.tab.page.goto(path.as_uri())
        before = at.root.evaluate(SEEN)
        at.player.click("next")
        if at.root.locator(".question").is_visible():  # with other numbers, it may be that something else is asked
            opened += 1
            before += at.root.evaluate(SEEN)
        assert len(before) > 30
        assert [text for text in before if "98765" in text] == [], question
    assert opened >= 0.8 * len(asked)
    at.tab.is_quiet()


def test_the_canary_is_found_where_it_shows(open_tab: Any, tmp_path: Path) -> None:
    """Without Predict the same page does show what comes: the test above can fail."""
    traced = cubic()
    at = Predicting(open_tab, traced, tmp_path)
    assert not any("z: 45" in text for text in at.root.evaluate(SEEN))
    at.player.click("predict")
    assert any("x_bar" in text for text in at.root.evaluate(SEEN))
    at.player.click("last")
    assert any("z: 45" in text for text in at.root.evaluate(SEEN))


def test_what_flows_back_is_written_down_once_it_flows(open_tab: Any, tmp_path: Path) -> None:
    at = Predicting(open_tab, cubic(), tmp_path)
    number, formulas = at.find("record", 2), at.root.locator('[data-field="backward"] math')
    at.root.locator("input[type=range]").fill(str(number))
    at.player.stands_at(number)
    assert formulas.count() == 0
    at.player.click("predict")
    assert formulas.count() == 2
    at.player.click("predict")
    at.root.locator("input[type=range]").fill(str(at.find("pull back")))
    assert formulas.count() == 2
    assert not any("5" in text or "9" in text for text in formulas.all_text_contents())  # in names, not in numbers yet
    at.player.click("predict")
    assert any("5" in text for text in formulas.all_text_contents())


@pytest.mark.parametrize("program", [*FIVE, two_passes])
def test_the_kinds_of_question_alternate(program: Any, predict: Any) -> None:
    at = predict(program())
    asked = at.asked()
    kinds = [kind_of(question["prompt"]) for question in asked]
    assert len({question["step"] for question in asked}) == len(asked)
    for k, question in enumerate(asked[2:]):
        step = at.expected.steps[question["step"]]
        assert len({*kinds[k : k + 3]}) > 1 or step["count"] == step["of"] > 1, kinds
    assert len(set(kinds)) >= 4
    backward = [question for question in asked if at.expected.steps[question["step"]].get("pass") is not None]
    assert 0 < len(backward) < len(asked)


def kind_of(prompt: str) -> str:
    words = {
        "tangents are pushed": "pushed",
        "number": "value", "What shape will": "shape", "do?": "recorded", "kept": "kept", "How many": "count",
        "pass starts at": "fate", "pulled back next": "next", "sends": "sum", "What will d": "cut",
    }  # fmt: skip
    return next(kind for text, kind in words.items() if text in prompt)


def test_a_cut_is_offered_where_there_is_one(predict: Any) -> None:
    with ad.trace("a cut") as traced:
        x = ad.Variable(2.5, name="x")
        with ad.GradientTape():
            y = np.floor(x) * x
            z = y * x
            z * y
    for program, offered in ((traced, True), (cubic(), False)):
        at = predict(program)
        fates = [question["options"] for question in at.asked() if kind_of(question["prompt"]) == "recorded"]
        assert fates
        for options in fates:
            assert {"record it", "not record it"} == {*options} - {"record it as a cut"}
            assert ("record it as a cut" in options) == offered


def test_what_is_asked_about_a_small_program(predict: Any) -> None:
    at = predict(cubic())
    kinds = [kind_of(question["prompt"]) for question in at.asked()]
    assert kinds == ["value", "kept", "recorded", "fate", "next", "sum", "sum", "next", "sum", "sum", "sum"]


def test_a_turn_of_a_loop_is_asked_about_once(predict: Any) -> None:
    at = predict(loop())
    prompts = [question["prompt"] for question in at.asked()]
    assert sum("sends" in prompt for prompt in prompts) == 2
    assert len(prompts) < len(at.expected) / 2


def test_every_right_answer_is_right(predict: Any) -> None:
    at = predict(cubic())
    for question in at.asked():
        answer = re.match(r"Answer: (.*?)\.( |$)", question["said"])
        assert answer
        step = at.expected.steps[question["step"]]
        at.is_asked(question["step"])
        if question["options"]:
            said = at.picks(answer[1])
        else:
            wanted = (
                step.get("after")
                or at.expected.document["tensors"][at.expected.document["entries"][step["entry"]]["output"]]["value"]
            )
            said = at.types(f"{wanted['data']}")
        assert said.startswith(f"Right: {answer[1]}.")
        at.player.agrees(at.expected, question["step"])
    at.tab.is_quiet()


def test_a_wrong_answer_gets_a_hint_and_one_more_try(predict: Any) -> None:
    at = predict(cubic())
    number = at.find("accumulate")
    said = at.answers(number, "123456")
    assert said.startswith("Not quite. Multiply the cotangent that arrived, 1, by the local derivative")
    assert said.endswith("Try once more.")
    at.player.agrees(at.expected, number - 1)  # the answer is not on show yet
    assert at.types("what").startswith("“what” is not a number")  # which is no try
    after = at.expected.steps[number]["after"]["text"]
    assert at.types("654321") == f"Not quite. Answer: {after}."
    at.player.agrees(at.expected, number)
    at.is_asked(number)
    at.types("123456")
    assert at.types(after).startswith(f"Right: {after}.")


def test_each_known_mistake_has_its_hint(predict: Any) -> None:
    at = predict(cubic())
    x, y = at.tensor("x"), at.tensor("y")
    steps = at.expected.steps
    second = at.find("accumulate", 1, tensor=x)
    step = steps[second]
    before, added, after = (step[part]["data"] for part in ("before", "contribution", "after"))
    g = next(s["cotangent"]["data"] for s in reversed(steps[:second]) if s["kind"] == "pull back")
    local = added / g
    assert len({added, after, local, before + local, before, g}) == 6
    for answer, hint in {
        added: "You replaced what was there",
        local: f"multiply it by the cotangent that arrived, {g:g}.",
        before + local: f"multiply it by the cotangent that arrived, {g:g}.",
        before + g: "That is the cotangent that arrived: multiply it",
        before - added: "Check the sign",
        before: "That is what x already has",
    }.items():
        said = at.answers(second, f"{answer}")
        assert said.startswith("Not quite.")
        assert hint in said, answer
        at.player.agrees(at.expected, second - 1)
    assert "it is not None" in at.answers(second, "None")
    to_y = at.find("accumulate", tensor=y)
    assert "That is the contribution to w, the other input" in at.answers(to_y, "9")
    assert "the question is about a cotangent" in at.answers(to_y, "45")  # the value of z
    assert "upside down" in at.answers(to_y, "0.2")
    value = at.find("record", 0)
    assert "That is the value of x, an input" in at.answers(value, "3")


def test_shapes_are_asked_of_arrays(predict: Any) -> None:
    at = predict(rows())
    to_y = at.find("accumulate", tensor=at.tensor("y"))
    for right in ("(3,)", "3", " [3] ", "(3)"):
        assert at.answers(to_y, right).startswith("Right")
    said = at.answers(to_y, "2x3")
    assert "That is the shape of the output, (2, 3). y was broadcast to it" in said
    z = at.find("accumulate", 0, before=None)
    for right in ("(2, 3)", "2x3", "2×3", "2, 3", "[2,3]", "2 3"):
        assert at.answers(z, right).startswith("Right")
    assert "in the wrong order" in at.answers(z, "3x2")
    assert "That is the shape of the output, ()" in at.answers(z, "()")
    record = at.find("record")
    assert "That is the shape of y, an input" in at.answers(record, "3")
    assert at.types("(2, 3)").startswith("Right")


def test_tangents_are_asked_in_forward_mode_with_a_hint_for_each_mistake(predict: Any) -> None:
    at = predict(pushing())
    assert sum(kind_of(question["prompt"]) == "pushed" for question in at.asked()) >= 3
    product = at.find("push forward")  # t = x w: 1 · 2 + 0.5 · 3
    assert at.expected.steps[product]["tangent"]["data"] == 3.5
    for answer, hint in {
        "2": "That is what x does alone.",
        "1.5": "That is what w does alone.",
        "5": "You added up the local derivatives.",
        "3": "That is a local derivative: multiply it by the tangent of its input, 0.5.",
        "1": "That is the tangent of x, an input",
        "0.5": "That is the tangent of w, an input",
        "-3.5": "Check the sign",
        "6": "the question is about a tangent",
        "None": "it is not None",
        "77": "Multiply the tangent of each input by the local derivative with respect to it",
    }.items():
        assert hint in at.answers(product, answer), answer
        at.player.agrees(at.expected, product - 1)
    assert at.types("7/2").startswith("Right: 3.5.")
    at.tab.is_quiet()


def test_of_a_stack_of_tangents_the_shape_is_asked(predict: Any) -> None:
    at = predict(stacked())
    product, total = at.find("push forward"), at.find("push forward", 1)
    assert [at.expected.steps[number]["tangent"]["shape"] for number in (product, total)] == [[3, 3], [3]]
    assert "Here a stack of 3 is pushed forward together" in at.answers(product, "3")
    assert at.types("(3, 3)").startswith("Right")
    assert "Here a stack of 3 is pushed" in at.answers(total, "()")
    assert at.types("3").startswith("Right")
    assert "the tangent of t1, an input" in at.answers(total, "3x3")
    at.tab.is_quiet()


def test_choices_are_made_by_keyboard_and_none_is_not_zero(predict: Any) -> None:
    with ad.trace("a cut") as traced:
        x, w = ad.Variable(2.5, name="x"), ad.Variable(3.0, name="w")
        with ad.GradientTape() as tape:
            z = np.floor(x) * w
        tape.gradient(z, [x, w])
    at = predict(traced)
    cut = at.find("cut")
    at.is_asked(cut)
    assert at.prompt.endswith("What will dt1/dx be?")
    at.player.press("Tab")
    at.player.press("Enter")
    assert (
        at.verdict
        == "Not quite. 0 would mean that there is a path, but a flat one. Is there a path at all? Try once more."
    )
    at.player.agrees(at.expected, cut - 1)
    at.player.press("Tab")
    at.player.press("Space")  # the same once more: it is crossed out
    assert at.verdict.startswith("Not quite. 0 would")
    at.player.press("Tab")
    at.player.press("Tab")
    at.player.press("Space")
    assert at.verdict.startswith("Right: None. Nothing flows back through floor")
    at.player.agrees(at.expected, cut)
    seed = at.find("seed")
    assert "0 would mean that there is a path" in at.chooses(seed, "0")
    assert at.picks("not 0").startswith("Not quite.")
    assert "Answer: None. No entries lead from x to z" in at.verdict
    at.tab.is_quiet()


def test_at_the_end_there_is_a_score_and_a_way_back_to_what_was_wrong(predict: Any) -> None:
    at = predict(cubic())
    asked = at.asked()
    at.player.click("last")
    assert at.verdict == f"You got 0 of {len(asked)} on the first try. Look again at:"
    at.player.click("predict")
    at.player.click("predict")  # what was answered is kept
    assert at.verdict.startswith("You got 0 of")
    links = at.root.locator(".onwards button")
    assert links.all_text_contents() == [f"step {question['step'] + 1}" for question in asked]
    links.nth(2).click()
    at.player.agrees(at.expected, asked[2]["step"])
    assert links.count() == 0


def test_the_score_counts_first_and_second_tries(predict: Any) -> None:
    at = predict(cubic())
    value, first, second = at.find("record"), at.find("accumulate"), at.find("accumulate", 1)
    at.answers(value, "9")
    at.answers(first, "1")
    at.types("5")
    at.answers(second, "1")
    at.types("1")
    at.answers(second, "9")  # again: the first time counts
    at.player.click("last")
    assert at.verdict == "You got 1 of 3 on the first try, 1 on the second. Look again at:"
    assert at.root.locator(".onwards button").count() == 2


def test_after_an_answer_about_the_last_step_the_score_is_one_button_away(predict: Any) -> None:
    x = ad.Variable(3.0, name="x")
    with ad.trace("square") as traced, ad.GradientTape():
        x * x
    at = predict(traced)
    assert at.answers(len(at.expected) - 1, "9") == "Right: 9."
    at.root.get_by_role("button", name="How did I do?").click()
    assert at.verdict == "You got 1 of 1 on the first try."


@pytest.mark.parametrize("answer", ["1/3", "0.333", ".3333", "0,333", "3.33e-1", "−1/-3", " 1 / 3 "])
def test_a_number_may_be_written_in_many_ways(answer: str, predict: Any) -> None:
    x = ad.Variable(1.0, name="x")
    with ad.trace("a third") as traced:
        with ad.GradientTape() as tape:
            y = x / 3.0
        tape.gradient(y, x)
    at = predict(traced)
    assert at.answers(at.find("accumulate"), answer).startswith("Right")


def test_what_is_no_answer_gets_a_sentence_and_nothing_is_shown(predict: Any) -> None:
    at = predict(cubic())
    number = at.find("accumulate")
    at.is_asked(number)
    for typed in ("", "   ", "a lot", "(2, 3)", "1/2/3", HOSTILE, "9" * 40 + "x", "NaN(3)", "__proto__"):
        said = at.types(typed)
        assert said.startswith("Nothing is typed yet" if not typed.strip() else "“")
        at.player.agrees(at.expected, number - 1)
    assert at.root.locator("img").count() == 0
    at.player.click("reveal")
    at.player.agrees(at.expected, number)
    assert at.verdict.startswith(f"Answer: {at.expected.steps[number]['after']['text']}.")
    at.tab.is_quiet()


def test_a_question_is_withdrawn_by_going_elsewhere(predict: Any) -> None:
    at = predict(cubic())
    number = at.find("accumulate")
    at.is_asked(number)
    at.player.click("next")  # a question is not passed by asking again
    at.player.agrees(at.expected, number - 1)
    at.player.press("ArrowRight")  # in the field: a key of the field
    at.player.agrees(at.expected, number - 1)
    at.player.click("previous")
    at.player.agrees(at.expected, number - 2)
    assert not at.root.locator(".question").is_visible()
    at.is_asked(number)
    at.player.click("predict")  # no more questions
    assert not at.root.locator(".predict").is_visible()
    at.player.click("next")
    at.player.agrees(at.expected, number)


def test_after_an_answer_enter_goes_on(predict: Any) -> None:
    at = predict(cubic())
    number = at.find("accumulate")
    at.answers(number, "5")
    at.player.press("Enter")  # the button "next" has the focus
    if at.root.locator(".question").is_visible():
        at.player.agrees(at.expected, number)
    else:
        at.player.agrees(at.expected, number + 1)


def test_playing_stops_at_a_question(open_tab: Any, tmp_path: Path) -> None:
    traced = cubic()
    tab = open_tab("about:blank")
    tab.page.clock.install()
    tab.page.goto(saved(traced, tmp_path))
    player = only(tab)
    player.click("predict")
    player.click("play")
    tab.page.clock.run_for(60_000)
    player.agrees(read(traced), 0)
    assert player.root.locator(".question").is_visible()
    assert player.root.get_by_role("button", name="Play", exact=True).count() == 1


def test_what_becomes_of_a_gradient_that_is_no_number_is_not_asked(open_tab: Any, tmp_path: Path) -> None:
    p = ad.Variable([0.5, 0.0], name="p")
    with np.errstate(all="ignore"), ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = np.sum(p * np.log(p))
        slope = tape.gradient(y, p)
    assert str(slope.numpy()) == "[0.30685282        nan]"
    player = only(open_tab(saved(traced, tmp_path)))
    player.click("predict")
    prompts = []
    for _ in range(60):
        player.click("next")
        if player.root.locator(".question").is_visible():
            prompts.append(player.root.locator(".prompt").text_content())
            player.click("reveal")
    assert prompts
    assert not [prompt for prompt in prompts if "pass starts at" in prompt]


@pytest.mark.parametrize("width", [375, 1280])
def test_the_player_keeps_its_height_while_it_asks(width: int, open_tab: Any, tmp_path: Path) -> None:
    tab = open_tab(saved(cubic(), tmp_path), viewport={"width": width, "height": 720})
    player = only(tab)
    player.click("predict")
    box = player.root.locator(".predict")
    heights = set()
    for _ in range(40):
        player.click("next")
        heights.add(box.bounding_box()["height"])
        if player.root.locator(".question input").is_visible():
            player.root.page.keyboard.type("77")
            player.press("Enter")
            heights.add(box.bounding_box()["height"])
        if player.root.locator(".question").is_visible():
            player.click("reveal")
            heights.add(box.bounding_box()["height"])
        assert player.root.evaluate(TOO_WIDE) == []
    assert len(heights) == 1
