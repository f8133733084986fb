"""The numbers and the failures of chapter 4: the tape that a reader builds there, gap by gap."""

import re
from contextlib import suppress

import numpy as np
import pytest
from answers.your_own_tape import ARRAYS, NUMBERS, SHOWN, WITHOUT_COPIES, build, dividing, quotient, sources

from autodiff_edu.course import check
from autodiff_edu.course.chapters.your_own_tape import check_gap
from autodiff_edu.course.tools.minutes import LINKS

GAPS = {
    1: ("Value", "        return ...\n"),
    2: ("apply", "        ...\n"),
    3: ("Tape", "    def __enter__(self):\n        ...\n\n    def __exit__(self, *error):\n        ...\n"),
    4: ("arrive", "    cotangents[x] = ...\n"),
    5: ("unbroadcast", "    g = ...\n"),
}


def with_body(enter, leave):
    return f"    def __enter__(self):\n        {enter}\n\n    def __exit__(self, *error):\n        {leave}\n"


RIGHT = {
    1: [
        "        return apply(np.subtract, other, self)\n",
        "        return apply(np.subtract, *(other, self))\n",
    ],
    2: ["        entries.append(entry)\n", "        entries += [entry]\n", "        entries.extend([entry])\n"],
    3: [
        with_body("recording.append(self.entries); return self", "recording.pop()"),
        with_body("recording.append(self.entries); return self", "del recording[-1]"),
        with_body("recording.extend([self.entries]); return self", "recording.pop(); return False"),
    ],
    4: [
        "    cotangents[x] = cotangents.get(x, 0.0) + contribution\n",
        "    cotangents[x] = contribution + cotangents.get(x, 0)\n",
        "    cotangents[x] = cotangents[x] + contribution if x in cotangents else contribution\n",
    ],
    5: [
        "    g = np.sum(g, axis=new_axes)\n",
        "    g = g.sum(axis=new_axes)\n",
        "    g = np.add.reduce(g, axis=new_axes)\n",
    ],
}
WRONG = {
    1: [
        (GAPS[1][1], "three dots"),
        ("        return apply(np.subtract, self, other)\n", "computes 4 - 10, which is -6"),
        ("        return apply(np.subtract, other, self.number)\n", "not its number"),
        ("        return other - self.number\n", "`apply` was never called"),
        ("        return other - self\n", "`-` asks `__rsub__` again"),
        ("        apply(np.subtract, other, self)\n", "Is a `return` missing"),
        ("        return apply(np.add, other, self)\n", "Which operation is `-`"),
        ("        return apply(np.subtract, other, me)\n", "NameError"),
        ("        return apply(np.negative, self - other)\n", "np.negative, for which this tape will have no rule"),
    ],
    2: [
        (GAPS[2][1], "three dots"),
        ("        entries = entries + [entry]\n", "makes another list"),
        ("        recording.append(entry)\n", "not to `recording`"),
        ("        recording.extend([entry])\n", "not to `recording`"),
        ("        (lambda: entries + [entry])()\n", "nothing has arrived in them"),
        ("        entries += entry\n", "four parts of the entry arrived one by one"),
        ("        entries.append(output)\n", "The output alone has arrived"),
        ("        entries.append(inputs)\n", "all four parts of it"),
        ("        recording[0].append(entry)\n", "didn't get the same"),
        ("        entries.append(entry); entries.append(entry)\n", "each got more"),
        ("        entries.insert(0, entry)\n", "stands before the first"),
        ("        entries.append(tuple(entry))\n", "is a tuple. Add `entry`"),
        ("        entries.append(Entry)\n", "the class `Entry`"),
    ],
    3: [
        (GAPS[3][1], "three dots.*no list is open"),
        (with_body("recording.append(self.entries)", "recording.pop()"), "names what `__enter__` returns"),
        (with_body("recording.append(self.entries); return self.entries", "recording.pop()"), "Return the tape itself"),
        (with_body("return self", "recording.pop()"), "^The block has begun and no list is open"),
        (with_body("recording.append(self); return self", "recording.pop()"), "holds the tape itself"),
        (with_body("recording.append(list(self.entries)); return self", "recording.pop()"), "stay empty"),
        (with_body("recording.append(self.entries); return self", "..."), "its list is still open"),
        (with_body("recording.append(self.entries); return self", "recording.clear()"), "the outer tape's list"),
        (with_body("recording.append(self.entries); return self", "recording.remove(self.entries)"), "is \\*equal\\*"),
        (with_body("recording.append(self.entries); return self", "return recording.pop()"), "Errors would vanish"),
        (with_body("recording.append(self.entries); return self", "recording.pop(0)"), "so close the last list"),
        (with_body("recording.append(self.entries); return Tape()", "recording.pop()"), "that is another tape"),
    ],
    4: [
        (GAPS[4][1], "three dots"),
        ("    cotangents[x] = contribution\n", "3 is left"),
        ("    cotangents[x] = cotangents[x] + contribution\n", "nothing is there yet"),
        ("    cotangents[x] += contribution\n", "nothing is there yet"),
        ("    cotangents[x] = cotangents.get(x) + contribution\n", "is None where nothing has arrived"),
        ("    cotangents[x] = np.append(cotangents.get(x, []), contribution)\n", "is an array now"),
        ("    cotangents[x] = np.array([contribution]) + cotangents.get(x, 0)\n", "is an array now"),
        ("    cotangents[x] = cotangents.get(x, 1.0) + contribution\n", "is 6. It should be 5"),
        ("    cotangents[x] = cotangents.get(x, 0.0) * contribution\n", "is 0. It should be 5"),
        (
            "    if x in cotangents: cotangents[x] += contribution\n    else: cotangents[x] = contribution\n",
            "may share it",
        ),
        ("    cotangents[contribution] = x\n", "has nothing at x"),
        ("    cotangents[x] = x.number + contribution\n", "is 10. It should be 5"),
        ("    cotangents[x] = x + contribution\n", "is a Value now"),
        ("    cotangents[x] = sum(cotangents.values(), contribution)\n", "doesn't belong to y"),
    ],
    5: [
        (GAPS[5][1], "three dots"),
        ("", "aren't yet"),
        ("    g = np.sum(g)\n", "right for the shape \\(\\), a plain number"),
        ("    g = np.mean(g, axis=new_axes)\n", "Their mean is too small"),
        ("    g = np.sum(g, axis=new_axes, keepdims=True)\n", "the new axes stay"),
        ("    g = np.sum(g, axis=0)\n", "adds up one axis on the left, always"),
        ("    g = np.sum(g, axis=-1)\n", "adds up the last axis"),
        ("    g = np.sum(g, axis=shape)\n", "`shape` has their lengths"),
    ],
}  # fmt: skip


def answer_gap(gap, text):
    """What the check says of a gap that is filled in."""
    name, dots = GAPS[gap]
    code = sources()[f"gap-{gap}"]
    assert f"check_gap({gap}, {name})" in code
    code = code.partition("\n\n\ncheck_gap")[0] + "\n"
    assert code.count(dots) == 1
    names = build()
    exec(code.replace(dots, text), names)
    before = {name: names.get(name) for name in ("apply", "recording")}
    said = check_gap(gap, names[name])
    assert {name: names.get(name) for name in before} == before
    return said


@pytest.mark.parametrize(("gap", "text"), [(gap, text) for gap, texts in RIGHT.items() for text in texts])
def test_a_gap_that_is_filled_in_is_right(gap, text):
    said = answer_gap(gap, text)
    assert said, said


@pytest.mark.parametrize(("gap", "text", "hint"), [(gap, *each) for gap, slips in WRONG.items() for each in slips])
def test_each_slip_in_a_gap_has_a_hint(gap, text, hint):
    said = answer_gap(gap, text)
    assert not said
    assert re.search(hint, said.message), said.message


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("junk", [None, ..., 3.0, "x", [], len, int, lambda: None])
def test_a_gap_is_asked_for_whatever_is_handed_in(gap, junk):
    assert len(check_gap(gap, junk).message) > 20


def test_the_first_gap_is_checked_before_there_is_a_door():
    names = {}
    exec("import numpy as np\n" + sources()["gap-1"].partition("\n\n\ncheck_gap")[0], names)
    assert "three dots" in check_gap(1, names["Value"]).message
    assert "apply" not in names


@pytest.mark.parametrize("gap", GAPS)
def test_a_gap_s_folded_cell_fills_it_in_only_if_it_is_open(gap):
    name, dots = GAPS[gap]
    code = sources()[f"gap-{gap}"].partition("\n\n\ncheck_gap")[0] + "\n"
    for text in (dots, RIGHT[gap][-1]):
        names = build()
        exec(code.replace(dots, text), names)
        yours = names[name], dict(getattr(names[name], "__dict__", {}))
        exec(sources()[f"piece-{gap}"], names)
        assert check_gap(gap, names[name])
        same = names[name] is yours[0] and all(
            vars(names[name])[each] is yours[1][each] for each in yours[1] if each in ("__rsub__", "__enter__")
        )
        assert same == (text != dots)


def test_what_is_shown_before_the_exercises_has_60_lines_and_1500_words():
    lines, words = 0, 0
    for id, cell in sources(whole=True).items():
        if id == "ex":
            break
        source, tags = "".join(cell["source"]), cell["metadata"].get("tags", ())
        if cell["cell_type"] == "markdown":
            words += len(LINKS.sub("", source).split())
        elif "hide-input" not in tags:
            lines += sum(map(bool, map(str.strip, source.split("\n"))))
    assert lines <= 60
    assert words <= 1500
    assert set(SHOWN) < set(sources())


# The fit ------------------------------------------------------------------------------------------------------------


def fit(names, rate, turns=40):
    """Run the chapter's fit."""
    exec(sources()["player"].partition("\n\n\nad.play")[0], names)
    exec(sources()["fit-1"], names)
    w, b = names["fit"](rate, turns)
    return w, b, np.mean((w * names["km"] + b - names["minutes"]) ** 2)


def test_the_repaired_tape_finds_the_line_from_5_entries(capsys):
    names = build()
    w, b, loss = fit(names, 0.2)
    assert np.allclose([w, b], np.polyfit(names["km"], names["minutes"], 1), atol=1e-3)
    assert 9 < loss < 10
    assert abs(np.mean(names["traffic"] ** 2) - loss) < 0.5
    assert capsys.readouterr().out.count("from 5 entries") == 3


def test_one_tape_for_all_turns_finds_the_same_line_from_a_list_that_grows(capsys):
    names = build()
    exec(sources()["player"].partition("\n\n\nad.play")[0], names)
    exec(sources()["fit-1"], names)
    assert np.array_equal(names["fit"](0.2), names["fit"](0.2, tape=names["Tape"]()))
    assert re.findall(r"from (\d+) entries", capsys.readouterr().out) == ["5", "5", "5", "5", "30", "205"]


def test_an_array_in_front_asks_array_ufunc_and_not_the_reflected_method():
    names = build()
    del names["Value"].__rsub__
    with names["Tape"]() as tape:
        difference = np.arange(3.0) - names["Value"](1.0)
    assert np.array_equal(difference.number, [-1.0, 0.0, 1.0])
    assert len(tape.entries) == 1


@pytest.mark.filterwarnings("ignore:overflow")
def test_with_right_slopes_a_rate_of_15_explodes():
    assert fit(build(), 15.0)[2] > 1e100


def test_without_unbroadcasting_each_delivery_gets_a_line_of_its_own_and_the_loss_is_too_good():
    names = build("repair-1")
    slow = fit(names, 0.2)
    assert slow[0].shape == slow[1].shape == (200,)
    assert 300 < slow[2] < 400
    w, b, loss = fit(names, 15.0)
    assert loss < 0.001
    assert np.allclose(w, b * names["km"])
    assert np.all(b > 0.0)


# The table ----------------------------------------------------------------------------------------------------------


def slope_of(names, program, *numbers):
    x = names["Value"](*numbers)
    with names["Tape"]() as tape:
        target = program(x)
    return tape.gradient(target, [x])[0]


def test_without_the_reflected_method_10_minus_x_is_a_type_error():
    names = build()
    del names["Value"].__rsub__
    with pytest.raises(TypeError, match="unsupported operand"):
        10.0 - names["Value"](4.0)


def test_without_array_ufunc_an_array_in_front_gives_an_array_of_boxes():
    names, km = build(), np.arange(200.0)
    assert isinstance(km * names["Value"](3.0), names["Value"])
    del names["Value"].__array_ufunc__
    with names["Tape"]() as tape:
        product = km * names["Value"](3.0)
    assert product.dtype == object
    assert len(tape.entries) == product.size == 200
    with pytest.raises(TypeError):
        np.sin(names["Value"](3.0))


def test_an_entry_that_does_not_lead_to_the_target_is_a_key_error_if_it_is_not_skipped():
    names = build()
    source = sources()["walk-1"].partition("\n\n\nprint")[0]
    exec(source.replace("if entry.output in cotangents:", "if True:"), names)
    with pytest.raises(KeyError):
        slope_of(names, lambda x: [x * 2.0, np.sin(x)][0], 3.0)
    assert slope_of(ARRAYS, lambda x: [x * 2.0, np.sin(x)][0], 3.0) == 2.0


def test_without_its_copy_a_box_has_its_past_changed_with_the_array():
    lending = build(without="np.array(number, dtype=float)[()]  # a copy", instead="number")
    for names, wanted in ((ARRAYS, 6.0), (lending, 303.0)):
        buffer = np.array([1.0, 2.0])
        assert slope_of(names, lambda x, buffer=buffer: [x * 3.0 * x, buffer.fill(100.0)][0], buffer)[0] == wanted
    for names, wanted in ((ARRAYS, 3.0), (WITHOUT_COPIES, 200.0)):
        buffer = np.array([1.0, 2.0])
        assert slope_of(names, lambda x, buffer=buffer: [x * buffer, buffer.fill(100.0)][0], 3.0) == wanted


@pytest.mark.parametrize(("symbol", "wanted"), [("x + y", [1.0, 1.0]), ("x * y", [[3.0, 2.0], [1.0, 2.0]])])
def test_without_np_ones_in_the_seed_the_slope_of_an_array_at_x_plus_y_is_a_single_number(symbol, wanted):
    names = build("repair-1", without="np.ones(np.shape(target.number))", instead="1.0")
    x, y = names["Value"](np.array([1.0, 2.0])), names["Value"](np.array([3.0, 2.0]))
    with names["Tape"]() as tape:
        target = eval(symbol, {"x": x, "y": y})
    assert np.array_equal(tape.gradient(target, [x, y]), wanted)


def test_the_walk_from_the_first_entry_to_the_last_leaves_0_909():
    forwards = build(without="reversed(entries)", instead="entries")
    assert slope_of(forwards, lambda x: x * np.sin(x), 2.0) == pytest.approx(np.sin(2.0))
    assert slope_of(ARRAYS, lambda x: x * np.sin(x), 2.0) == pytest.approx(0.077, abs=1e-3)


def test_with_the_slip_of_the_first_gap_10_minus_4_is_minus_6():
    names = build()
    names["Value"].__rsub__ = lambda self, other: names["apply"](np.subtract, self, other)
    assert (10.0 - names["Value"](4.0)).number == -6.0


def test_a_call_that_the_tape_has_no_rule_for_is_refused():
    x = ARRAYS["Value"](np.array([[1.0, 2.0], [3.0, 4.0]]))
    with pytest.raises(AssertionError, match=r"np.mean with \{'axis': 0\}: no rule"):
        np.mean(x, axis=0)
    with pytest.raises(AssertionError, match=r"np.multiply.outer: no rule"):
        np.multiply.outer(x, x)


def test_an_error_in_the_block_closes_the_list():
    with suppress(ZeroDivisionError), ARRAYS["Tape"]():
        _ = 1 / 0
    assert ARRAYS["recording"] == []


# The exercises ------------------------------------------------------------------------------------------------------


def test_division_in_a_class_below_value_is_sent_up_to_value():
    names = build()
    below = type("Dividing", (names["Value"],), {"__truediv__": lambda self, other: self * (1.0 / other.number)})
    hint = "`apply` makes `Value`s, so add the methods to `Value` itself."
    assert check("4.1", (names["Tape"], below)).message == hint


@pytest.mark.parametrize("rule", [None, lambda g, z, x: (g * np.exp(x),)])
def test_the_check_leaves_the_table_of_rules_as_it_was(rule):
    rules = ARRAYS["RULES"]
    before = dict(rules)
    if rule is not None:
        rules[np.exp] = rule
    try:
        wanted = dict(rules)
        check("4.3", (ARRAYS["Tape"], ARRAYS["Value"]))
        assert rules == wanted
    finally:
        rules.clear()
        rules.update(before)


def test_a_division_made_of_two_operations_is_right():
    tape, value = dividing(quotient)
    apply = value.__mul__.__globals__["apply"]
    value.__truediv__ = lambda self, other: self * apply(np.divide, 1.0, other)
    assert check("4.1", (tape, value))


def test_the_tape_before_the_repair_is_right_for_numbers():
    assert slope_of(NUMBERS, lambda x: 10.0 - x * x + x, 3.0) == -5.0
