"""Scopes, layers and repeated loop bodies are groups; the layout keeps every box apart, folded or not."""

import json
import random

import numpy as np
import pytest
from programs import loop

import autodiff_edu as ad
from autodiff_edu import nn
from autodiff_edu.player.layout.groups import find_groups, in_order, write_title
from autodiff_edu.player.layout.layout import layout


def chain(letters, scopes=None):
    """Entries one after the other, each from the place that its letter names."""
    entries = []
    for k, letter in enumerate(letters):
        where = {"code": 0, "line": ord(letter), "columns": [0, 1]}
        scope = (scopes or {}).get(k, [])
        entries.append(
            {"operation": letter, "inputs": [k], "output": k + 1, "where": where, "scope": scope, "text": ""}
        )
    return entries


def alone(entries):
    return {"entries": entries, "steps": []}


def outline(entries):
    """Write the groups as text: (3 ab) is a loop of three turns, n[ab] a scope."""
    groups, homes = find_groups(alone(entries))
    inside = {}
    for k, home in enumerate(homes):
        inside.setdefault(home, []).append((k, entries[k]["operation"]))

    def first(index):
        if index in inside:
            return min(inside[index])[0]
        return min(first(k) for k, one in enumerate(groups) if one["parent"] == index)

    def written(index):
        parts = [*inside.get(index, ())]
        parts += [(first(k), written(k)) for k, one in enumerate(groups) if one["parent"] == index]
        text = "".join(part for _, part in sorted(parts))
        if index < 0:
            return text
        one = groups[index]
        return {"loop": f"({one.get('times')} {text})", "turn": f"<{text}>", "scope": f"{one.get('name')}[{text}]"}[
            one["kind"]
        ]

    return written(-1)


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("", ""),
        ("ab", "ab"),
        ("aa", "aa"),
        ("aaa", "(3 aaa)"),
        ("abab", "abab"),
        ("ababab", "(3 <ab><ab><ab>)"),
        ("xabababy", "x(3 <ab><ab><ab>)y"),
        ("abababa", "(3 <ab><ab><ab>)a"),
        ("aaaabbbb", "(4 aaaa)(4 bbbb)"),
        ("aaabaaabaaab", "(3 <(3 aaa)b><(3 aaa)b><(3 aaa)b>)"),
        ("aaabaaaabaaab", "(3 <(3 aaa)b><(4 aaaa)b><(3 aaa)b>)"),
        ("abcdabcd", "abcdabcd"),
    ],
)
def test_what_comes_from_the_same_places_three_times_running_is_a_loop(letters, expected):
    assert outline(chain(letters)) == expected


def test_scopes_nest_and_one_entry_is_not_a_group():
    scopes = {1: ["net", "one"], 2: ["net", "one"], 3: ["net", "two"], 4: ["net"], 6: ["alone"]}
    assert outline(chain("abcdefg", scopes)) == "anet[one[bc]de]fg"


def test_loops_of_scopes_and_in_scopes():
    scopes = {k: ["step"] for k in range(6)}
    assert outline(chain("ababab", scopes)) == "step[(3 <ab><ab><ab>)]"
    scopes = {k: ["step"] for k in range(9) if k % 3 < 2}
    assert outline(chain("abcabcabc", scopes)) == "(3 <step[ab]c><step[ab]c><step[ab]c>)"


def test_groups_come_after_those_they_are_in_and_count_their_entries():
    groups, homes = find_groups(alone(chain("x" + "aaab" * 5)))
    assert all(one["parent"] < k for k, one in enumerate(groups))
    assert groups[0] == {"kind": "loop", "count": 20, "parent": -1, "times": 5}
    assert groups[1] == {"kind": "turn", "count": 4, "parent": 0, "number": 1}
    assert homes[:5] == [-1, 2, 2, 2, 1]
    assert find_groups(alone(chain("x" + "aaab" * 5))) == (groups, homes)


def test_entries_that_were_met_backwards_are_put_in_order():
    entries = chain("abc")
    assert in_order(entries) == [0, 1, 2]
    assert in_order(entries[::-1]) == [2, 1, 0]
    assert find_groups(alone(chain("aaa")[::-1]))[1] == [0, 0, 0]


def test_what_a_backward_pass_computes_for_another_tape_is_a_group():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as traced, ad.GradientTape() as outer:
        with ad.GradientTape() as inner:
            y = x * x * x
        slope = inner.gradient(y, x)
    assert float(outer.gradient(slope, x)) == 12.0
    d = traced.document()
    groups, homes = find_groups(d)
    assert [(one["kind"], one["name"]) for one in groups] == [("pass", "inner")], (
        "and three multiplications are no loop"
    )
    assert homes[:2] == [-1, -1]
    assert groups[0]["count"] == homes.count(0) >= 4


# Layers ---------------------------------------------------------------------------------------------------------------


class Twice(nn.Module):
    def __init__(self):
        self.layers = [nn.Dense(2, nn.relu), nn.Dense(2, nn.relu)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Shifted(Twice):
    def __call__(self, x):
        return super().__call__(x) + 1.0


def scopes_of(model, *inputs):
    with ad.trace() as traced, ad.GradientTape():
        for x in inputs:
            model(x)
    return [entry["scope"] for entry in traced.document()["entries"]]


def test_modules_are_scopes_and_those_of_one_class_are_numbered():
    found = scopes_of(Twice(), np.ones((1, 2)))
    assert found[0] == ["twice", "dense"]
    assert found[-1] == ["twice", "dense 2"]


def test_a_layer_keeps_its_number_and_the_next_trace_begins_anew():
    model = Twice()
    once, twice = scopes_of(model, np.ones((1, 2))), scopes_of(model, np.ones((1, 2)), np.ones((1, 2)))
    assert twice == once + once
    assert scopes_of(model.layers[1], np.ones((1, 2)))[0] == ["dense"]


def test_a_call_of_the_super_class_opens_no_second_scope():
    found = scopes_of(Shifted(), np.ones((1, 2)))
    assert found[0] == ["shifted", "dense"]
    assert found[-1] == ["shifted"]


# Layout ---------------------------------------------------------------------------------------------------------------


def network():
    model = Twice()
    with ad.trace("network") as traced:
        with ad.GradientTape() as tape:
            loss = nn.mse(model(np.ones((3, 2))), np.zeros((3, 2)))
        tape.gradient(loss, model.variables)
    return traced


def tangled(seed):
    """A made-up program: every entry uses what some earlier ones gave, scopes open and close."""
    chance = random.Random(seed)
    number = {"shape": [], "dtype": "float64", "text": "2", "data": 2.0}
    tensors = [{"name": f"x{k}", "kind": chance.choice(["variable", "constant"]), "value": number} for k in range(3)]
    entries, scope = [], []
    for k in range(40):
        scope = chance.choice([scope, scope, scope, scope[:-1], [*scope, chance.choice("abc")]])
        inputs = [chance.randrange(len(tensors)) for _ in range(chance.choice([1, 2, 2, 3]))]
        where = {"code": 0, "line": chance.randrange(3), "columns": [0, 1]}
        tensors.append({"name": f"t{k}", "kind": "computed", "value": number})
        entry = {"operation": "sin", "text": "sin", "inputs": inputs, "output": len(tensors) - 1}
        entries.append({**entry, "scope": scope, "where": where})
    return {"tensors": tensors, "entries": entries, "steps": []}


DOCUMENTS = [traced.document() for traced in (loop(1), loop(4), loop(30), network())]
DOCUMENTS += [tangled(seed) for seed in range(8)]


def around(picture, index):
    while index >= 0:
        yield index
        index = picture["groups"][index]["parent"]


def seen(picture, folded):
    """Return what you see while some groups are folded, and how far up each height has moved."""

    def cover(index):
        return [k for k in around(picture, index) if k in folded][-1:]

    strips = [one for k, one in enumerate(picture["groups"]) if cover(k) == [k]]

    def up(y):
        cuts = ((one["y"] + picture["folded"], one["y"] + one["height"]) for one in strips)
        return y - sum(max(0.0, min(y, bottom) - top) for top, bottom in cuts)

    boxes = [
        (box["x"], up(box["y"]), box["width"], box["height"]) for box in picture["tensors"] if not cover(box["group"])
    ]
    boxes += [(one["folded"]["x"], up(one["y"]), one["folded"]["width"], picture["folded"]) for one in strips]
    links = [link for link in picture["links"] if not cover(link["group"])]
    return boxes, links, up


def foldings(picture):
    everything = range(len(picture["groups"]))
    yield set()
    yield set(everything)
    chance = random.Random(1)
    for _ in range(4):
        yield {k for k in everything if chance.random() < 0.5}


def overlap(one, other):
    (x, y, w, h), (left, top, width, height) = one, other
    return x < left + width and left < x + w and y < top + height and top < y + h


@pytest.mark.parametrize("document", DOCUMENTS)
def test_boxes_stand_apart_however_groups_are_folded(document):
    picture = layout(document)
    for folded in foldings(picture):
        boxes, _, _ = seen(picture, folded)
        assert not [(a, b) for k, a in enumerate(boxes) for b in boxes[:k] if overlap(a, b)]
        assert all(
            x >= 0 and y >= 0 and x + w <= picture["width"] and y + h <= picture["height"] for x, y, w, h in boxes
        )


@pytest.mark.parametrize("document", DOCUMENTS)
def test_lines_run_downwards_from_box_to_box_however_groups_are_folded(document):
    picture = layout(document)
    for folded in foldings(picture):
        boxes, links, up = seen(picture, folded)
        tops = {round(y, 1) for _, y, _, _ in boxes}
        ends = {(link["points"][2], round(up(link["points"][4]), 1)) for link in links}
        for link in links:
            x, y, _, bend, bottom = link["points"]
            assert up(y) < up(bend) <= up(bottom)
            if (left := link.get("out_of", -1)) in folded:  # at whatever place below the box, which is narrower
                one = picture["groups"][left]
                assert one["x"] <= x <= one["x"] + one["width"]
                x = one["folded"]["x"] + one["folded"]["width"] / 2
            at_box = any(a <= x <= a + w and abs(up(y) - b - h) < 0.2 for a, b, w, h in boxes)
            assert at_box or (x, round(up(y), 1)) in ends, "it begins at a box or goes on where another line ends"
        for row in picture["entries"]:
            for number in row:
                link = picture["links"][number]
                assert link not in links or round(up(link["points"][4]), 1) in tops


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_line_says_at_which_groups_border_it_begins_or_ends(document):
    picture = layout(document)
    for link in picture["links"]:
        x, y, to_x, _, bottom = link["points"]
        for key, at, edge in (("out_of", x, y), ("into", to_x, bottom)):
            borders = {
                k
                for k, one in enumerate(picture["groups"])
                if one["parent"] == link["group"]
                and one["x"] <= at <= one["x"] + one["width"]
                and abs(edge - one["y"] - (one["height"] if key == "out_of" else 0.0)) < 0.2
            }
            assert borders == ({link[key]} if key in link else set())


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_line_leads_from_the_input_to_the_entry(document):
    picture = layout(document)
    for entry, row in zip(document["entries"], picture["entries"], strict=True):
        output = picture["tensors"][entry["output"]]
        for tensor, number in zip(entry["inputs"], row, strict=True):
            box, link = picture["tensors"][tensor], picture["links"][number]
            assert output["x"] <= link["points"][2] <= output["x"] + output["width"]
            assert link["points"][4] == output["y"]
            while link["parent"] >= 0:
                before, link = link, picture["links"][link["parent"]]
                assert before["points"][:2] == [link["points"][2], link["points"][4]]
            x, y = link["points"][:2]
            assert abs(x - (box["x"] + box["width"] / 2)) < 0.2
            assert y == pytest.approx(box["y"] + box["height"], abs=0.2)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_only_what_is_in_a_group_lies_in_its_strip(document):
    picture = layout(document)
    for k, one in enumerate(picture["groups"]):
        for box in picture["tensors"]:
            inside = k in around(picture, box["group"])
            apart = box["y"] >= one["y"] + one["height"] or box["y"] + box["height"] <= one["y"]
            assert inside != apart


def test_the_same_trace_gives_the_same_picture_and_a_long_one_is_folded():
    short, long = loop(4).document(), loop(30).document()
    assert json.dumps(layout(long)) == json.dumps(layout(json.loads(json.dumps(long))))
    assert layout(short)["open"]
    assert not layout(long)["open"]


def test_what_turns_share_stands_before_the_loop_and_what_one_uses_in_it():
    d = loop(4).document()
    picture = layout(d)
    kinds = {d["tensors"][k]["name"]: box["group"] for k, box in enumerate(picture["tensors"])}
    assert kinds["x"] == -1
    assert picture["groups"][kinds["0.1"]]["kind"] == "turn"


def test_a_long_loop_stays_narrow():
    assert layout(loop(300).document())["width"] < 600


def test_nothing_at_all_can_be_laid_out():
    picture = layout({"tensors": [], "entries": [], "steps": []})
    assert (picture["tensors"], picture["links"], picture["groups"]) == ([], [], [])
    assert picture["height"] >= 0


def test_what_one_turn_of_a_loop_uses_stays_inside_of_it():
    def f(x):
        for _ in range(300):
            x = x * 1.5
        return x

    with ad.trace() as traced:
        ad.grad(f)(1.0)
    picture = layout(json.loads(traced.to_json()))
    assert picture["groups"][0]["times"] == 300
    assert len(picture["links"]) < 1500, "a constant above the loop needs a line past all turns before its own"


def power(x, n):
    return x if n == 1 else x * power(x, n - 1)


def test_recursion_is_calls_inside_each_other_and_no_loop():
    d = ad.play(lambda x: power(x, 5), 2.0)._content["trace"]
    groups, homes = find_groups(d)
    assert [(group["kind"], group["name"], group["count"], group["parent"]) for group in groups] == [
        ("call", "power(2, 5)", 4, -1),
        ("call", "power(2, 4)", 3, 0),
        ("call", "power(2, 3)", 2, 1),
    ]
    assert homes == [2, 2, 1, 0]


def test_deep_recursion_has_a_few_frames_and_still_no_loop():
    groups, _ = find_groups(ad.play(lambda x: power(x, 40), 1.0)._content["trace"])
    assert [group["kind"] for group in groups] == ["call"] * 5


class Neuron:
    def __init__(self, w, b):
        self.w, self.b = ad.Variable(w, name="w"), ad.Variable(b, name="b")

    def __call__(self, x):
        return np.tanh(self.w * x + self.b)

    def twice(self, x):
        return self(self(x))


def two_neurons():
    n1, n2 = Neuron(0.5, 0.1), Neuron(-1.0, 0.2)
    x = ad.Variable(2.0)
    with ad.trace() as traced, ad.GradientTape() as tape:
        h = n1(x)
        out = n2.twice(h)
        tape.gradient(out * out, [n1.w, n2.w])
    return json.loads(traced.to_json())


def test_a_call_of_a_method_has_a_frame_with_the_name_that_its_line_has_for_it():
    groups, _ = find_groups(two_neurons())
    assert [(group["name"], group["count"], group["parent"]) for group in groups] == [
        ("n1(2)", 3, -1),
        ("n2.twice(0.800)", 6, -1),
        ("Neuron.__call__(0.800)", 3, 1),
        ("Neuron.__call__(-0.537)", 3, 1),
    ]


def test_what_a_call_is_given_stands_outside_of_its_frame_and_what_it_reads_inside():
    document = two_neurons()
    boxes = dict(zip((t["name"] for t in document["tensors"]), layout(document)["tensors"], strict=True))
    assert {name: boxes[name]["group"] for name in ("x", "w", "b", "w₂")} == {"x": -1, "w": 0, "b": 0, "w₂": 1}


def test_the_input_of_a_recursion_stands_outside_of_all_its_frames():
    document = ad.play(lambda x: power(x, 5), 2.0)._content["trace"]
    picture = layout(document)
    assert picture["groups"][0]["name"] == "power(2, 5)"
    groups = {t["name"]: box["group"] for t, box in zip(document["tensors"], picture["tensors"], strict=True)}
    assert groups == {"x": -1, "t1": 2, "t2": 2, "t3": 1, "power": 0}


def test_three_layers_in_a_row_are_turns_of_a_loop():
    layers = [Neuron(0.5, 0.1) for _ in range(3)]

    def f(x):
        for layer in layers:
            x = layer(x)
        return x

    groups, _ = find_groups(ad.play(f, 2.0)._content["trace"])
    assert [(group["kind"], group.get("name")) for group in groups] == [
        ("loop", None),
        *(("call", f"layer({given})") for given in ("2", "0.800", "0.462")),
    ]


def test_a_layer_whose_scope_frames_it_has_no_second_frame():
    class Layer(nn.Module):
        def __call__(self, x):
            return np.sin(x) * 2.0

    layer = Layer()
    groups, _ = find_groups(ad.play(lambda x: layer(layer(x)) + 1.0, 2.0)._content["trace"])
    assert [(group["kind"], group["name"]) for group in groups] == [("scope", "layer")]


def test_a_function_that_a_loop_calls_is_not_a_recursion():
    def twice(x):
        return np.sin(x) * 2.0

    def f(x):
        for _ in range(4):
            x = twice(x)
        return x

    groups, _ = find_groups(ad.play(f, 2.0)._content["trace"])
    assert [group["kind"] for group in groups] == ["loop", "turn", "turn", "turn", "turn"]


def test_what_another_call_repeats_is_a_loop_of_its_own():
    def sines(x, count):
        for _ in range(count):
            x = np.sin(x)
        return x

    groups, _ = find_groups(ad.play(lambda x: sines(sines(x, 3), 4), 2.0)._content["trace"])
    assert [(group["kind"], group["times"], group["parent"]) for group in groups] == [("loop", 3, -1), ("loop", 4, -1)]


def test_what_a_pass_repeats_for_another_entry_is_a_loop_of_its_own():
    def sines(x):
        for _ in range(3):
            x = np.sin(x)
        return x

    def f(x):
        for _ in range(4):
            x = ad.checkpoint(sines)(x)
        return x

    groups, _ = find_groups(ad.play(f, 2.0)._content["trace"])
    times = [(group["times"], group["parent"]) for group in groups if group["kind"] == "loop"]
    assert times == [(4, -1), (4, -1), (3, 2), (3, 4), (3, 6), (3, 8)]
    turns = [group for group in groups if group["parent"] == 1]
    assert [(group["kind"], group["count"]) for group in turns] == [("rerun", 3)] * 4, "each for another entry"


def test_what_is_computed_while_tangents_are_pushed_is_a_group():
    with ad.trace() as traced:
        ad.hvp(lambda x: x**3 + np.sin(x), (2.0,), (1.0,))
    found, _ = find_groups(traced.document())
    assert found == [{"kind": "push", "count": 6, "parent": -1, "name": "tape 2"}]


def titles(f, x):
    """Return the titles of the loops and turns that have frames."""
    return [write_title(group) for group in find_groups(ad.play(f, x).document())[0]]


def test_a_turn_is_one_of_the_program_s_whatever_it_computes():
    def f(x):
        for k in range(6):
            if k % 2 == 0:
                x = x * x
                x = x + 1
            else:
                x = np.sin(x)
        return x

    assert titles(f, 1.2) == ["loop ×6", "turn 1", "turn 3", "turn 5"]  # the others have one thing each


def test_loops_in_loops_and_turns_that_compute_nothing():
    def f(x):
        for k in range(4):
            for j in range(5):
                if k == 1 or j == k:
                    continue
                x = x * 2
                x = x + j
        return x

    first, third, fourth = ["loop ×4", *"2345"], ["loop ×4", *"1245"], ["loop ×4", *"1235"]
    found = [title.removeprefix("turn ") for title in titles(f, 1.2)]
    assert found == ["loop ×3", *first, *third, *fourth]  # the second turn computes nothing


def test_what_comes_after_a_break_is_in_no_turn():
    def f(x):
        for _ in range(9):
            x = x * x
            if x > 50.0:
                break
        return x + 1.0

    document = ad.play(f, 1.5).document()
    homes = find_groups(document)[1]
    assert homes[-1] == -1
    assert document["entries"][-1].get("turns") is None


def test_what_a_while_asks_after_a_turn_is_part_of_it():
    def f(x):
        while x < 50.0:
            x = x * x
        return x

    document = ad.play(f, 1.5).document()
    assert [entry.get("turns", [[0, 0]])[0][1] for entry in document["entries"]] == [0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_a_scope_inside_of_a_loop_and_one_around_it():
    def f(x):
        with ad.scope("around"):
            x = x * 2
            for _ in range(3):
                with ad.scope("inside"):
                    x = np.tanh(x) * 2
                x = x + 1
        return x

    assert titles(f, 1.5) == ["around", "loop ×3", "turn 1", "inside", "turn 2", "inside", "turn 3", "inside"]
