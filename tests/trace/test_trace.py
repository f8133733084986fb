"""The trace document is valid, complete, deterministic JSON, and the transcript says the same in sentences."""

import json
import re

import numpy as np
import pytest
from no_rule import UNRULED
from programs import diamond

import autodiff_edu as ad
from autodiff_edu.trace.arrays import array


def nested():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as t:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                y = x**3
            slope = inner.gradient(y, x)
        outer.gradient(slope, x)
    return t


def busy():
    x, w = ad.constant([0.5, 2.0]), ad.Variable(3.0, name="w")
    with ad.trace() as t:
        tape = ad.GradientTape(persistent=True)
        with tape:
            tape.watch(x)
            y = np.sum(np.clip(x, 0.0, 1.0) * w + np.array([1.0, 2.0]))
            np.floor(x)
            ad.constant(1.0) * 2.0
            with tape.stop_recording():
                w.assign(4.0)
            if float(y) > 0:
                y = y * w
            for _ in range(2):
                y = y + w
        tape.gradient(y, {"x": x, "w": w})
        tape.gradient([y, w], x)
        with tape:
            tape.reset()
    return t


def odd_values():
    x = ad.Variable([np.nan, np.inf, -np.inf, 1.0])
    z, big = ad.Variable(1 + 2j), ad.Variable(np.arange(1000.0).reshape(20, 50))
    small, empty = ad.Variable([1.0], dtype="float16"), ad.Variable(np.zeros((0, 2)))
    with ad.trace() as t:
        with ad.GradientTape() as tape:
            y = [x * 2.0, z * z, np.sum(big * big), small * 1.0, empty + 1.0]
            y.append(x > 0)
        tape.gradient(y[:-1], [x, z, big, small, empty])
    return t


def backward_alone():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = np.sin(x) * x
    with ad.trace() as t:
        tape.gradient(y, x)
    return t


def entered_in_the_middle():
    x = ad.Variable(3.0, name="x")
    with ad.GradientTape() as tape:
        y = x * x
        with ad.trace() as t:
            z = np.sin(y)
    tape.gradient(z, x)
    return t


def stepped_by_hand():
    x = ad.Variable(3.0, name="x")
    with ad.trace() as t:
        with ad.GradientTape() as tape:
            y = np.sin(x) * x
        walk = tape.steps(y, x)
        next(walk)
        walk.close()
    return t


def nothing():
    with ad.trace() as t:
        pass
    return t


def joined():
    x, y = ad.Variable([1.0, 2.0]), ad.Variable([3.0])
    with ad.trace() as t, ad.GradientTape():
        z = np.einsum("i,i->", np.concatenate([x, y]), np.stack([y[0], y[0], x[1]]))
        q = np.sort(x)[::-1][[0, 1]]
        r = np.where(q > 1.0, q, 0.0) + z
        np.transpose(r)
    return t


TRACES = [diamond, nested, busy, odd_values, backward_alone, entered_in_the_middle, stepped_by_hand, nothing, joined]
each = pytest.mark.parametrize("make", TRACES, ids=lambda f: f.__name__)

FIELDS = {
    "watch": {"tensor"},
    "record": {"entry"},
    "cut": {"entry"},
    "skip": {"entry"},
    "release": set(),
    "pause": set(),
    "resume": set(),
    "reset": set(),
    "seed": {"tensor", "cotangent", "pass"},
    "pull back": {"entry", "cotangent", "pass"},
    "accumulate": {"entry", "argument", "tensor", "before", "contribution", "after", "count", "of", "pass"},
    "assign": {"tensor", "value"},
    "leave": {"tensor", "how"},
    "outcome": {"tensor", "targets", "gradient", "word"},
    "line": {"what"},
    "error": {"lesson"},
}


def check_array(value):
    assert set(value) - {"every", "norm"} == {"shape", "dtype", "text", "data"}
    assert isinstance(value["text"], str)
    assert value["text"]
    assert "\n" not in value["text"]
    every = value.get("every", [1] * len(value["shape"]))
    assert ("every" in value) is ("norm" in value) is (int(np.prod(value["shape"])) > 256)
    kept = [len(range(0, length, stride)) for length, stride in zip(value["shape"], every, strict=True)]
    assert np.prod(kept) <= 256
    if np.prod(kept):
        assert list(np.shape(value["data"])) == kept


def check_formula(tree, arguments):
    if isinstance(tree, list):
        head, *parts = tree
        assert isinstance(head, str)
        if head in ("number", "name", "bar", "code"):
            assert len(parts) == 1
            return
        for part in parts[1:] if head == "call" else parts[:1] if head in ("index", "sum") else parts:
            check_formula(part, arguments)
    else:
        assert tree in ("g", "y") or 0 <= tree < arguments


@each
def test_every_index_of_a_document_is_in_range_and_every_field_is_there(make):
    d = json.loads(make().to_json())
    assert (d["format"], d["version"]) == ("autodiff_edu.trace", 7)
    parts = {"code", "tapes", "tensors", "formulas", "entries", "calls", "program", "steps", "states"}
    assert set(d) - {"nudges"} == {"format", "version", "title"} | parts
    for nudge in d.get("nudges", []):
        assert all(0 <= nudge[role] < len(d["tensors"]) for role in ("tensor", "target"))

    def check_where(where):
        if where is not None:
            part = d["code"][where["code"]]
            text = part["lines"][where["line"] - part["first_line"]]
            if where["columns"] is not None:
                start, end = where["columns"]
                assert 0 <= start < end <= len(text)

    for tape in d["tapes"]:
        assert set(tape) == {"name", "persistent"}
    for tensor in d["tensors"]:
        assert tensor["kind"] in {"watched", "variable", "constant", "computed"}
        assert isinstance(tensor["name"], str)
        check_array(tensor["value"])
    for entry in d["entries"]:
        assert {"number", "operation", "text", "arguments", "inputs", "output", "formula"} <= set(entry)
        assert {"contributions", "tapes", "scope", "where"} <= set(entry)
        assert entry["inputs"] == [argument for argument in entry["arguments"] if not isinstance(argument, str)]
        check_formula(d["formulas"][entry["formula"]], len(entry["arguments"]))
        assert len(entry["contributions"]) == len(entry["arguments"])
        for place in entry["contributions"]:
            if place is not None:
                check_formula(d["formulas"][place], len(entry["arguments"]))
        assert all(0 <= i < len(d["tensors"]) for i in [*entry["inputs"], entry["output"]])
        assert all(0 <= i < len(d["tapes"]) for i in entry["tapes"])
        check_where(entry["where"])
    changing = {"backward", "tangents", "update", "over", "pass", "values", "flow", "fate", "unconnected", "paused"}
    changing |= {"lanes"}
    for state, step in zip(d["states"], d["steps"], strict=True):
        assert set(state) <= changing
        assert "flow" not in state or {state["flow"], "pass"} <= set(step)
        assert all(
            0 <= tensor < len(d["tensors"]) for part in ("values", "unconnected") for tensor in state.get(part, ())
        )
        assert all(0 <= tape < len(d["tapes"]) for tape in state.get("paused", ()))
        for entry, tape, _ in state.get("lanes", ()):
            assert 0 <= entry < len(d["entries"])
            assert 0 <= tape < len(d["tapes"])
    for step in d["steps"]:
        fields = FIELDS[step["kind"]] | {"kind", "text", "tape", "where", "memory"}
        optional = {"call", "passed", "unfolded", "born"}
        optional |= {"assign": {"formula", "in_numbers", "numbers"}, "record": {"within"}}.get(step["kind"], set())
        assert fields == set(step) - optional
        if "formula" in step:
            check_formula(d["formulas"][step["formula"]], 1)
        assert 0 <= step.get("call", 0) < max(1, len(d["calls"]))
        for code, line in step.get("passed", ()):
            assert 0 <= line - d["code"][code]["first_line"] < len(d["code"][code]["lines"])
        assert step["memory"] is None or step["memory"] >= 0
        assert step["text"].endswith(".")
        assert step["tape"] is None or 0 <= step["tape"] < len(d["tapes"])
        for key, parts in (("tensor", d["tensors"]), ("entry", d["entries"])):
            assert key not in step or 0 <= step[key] < len(parts)
        assert all(0 <= target < len(d["tensors"]) for target in step.get("targets", []))
        for key in ("cotangent", "contribution", "after", "value", "gradient"):
            if step.get(key) is not None:
                check_array(step[key])
        check_where(step["where"])


@each
def test_two_runs_give_the_same_bytes_and_so_does_asking_twice(make):
    first, second = make(), make()
    assert first.to_json() == first.to_json() == second.to_json()
    assert first.transcript() == second.transcript()


@each
def test_a_document_survives_json_and_holds_no_nan_and_no_absolute_path(make):
    t = make()
    text = t.to_json()
    assert json.loads(text) == t.document()
    assert not re.search(r"[:,[](NaN|Infinity)\b", text)
    assert "/tests/" not in text
    assert json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) == text


@each
def test_no_two_tensors_that_flow_have_the_same_name(make):
    d = make().document()
    names = [tensor["name"] for tensor in d["tensors"] if tensor["kind"] != "constant"]
    assert len(set(names)) == len(names)


@each
def test_recorded_entries_have_the_numbers_they_have_on_the_tape(make):
    numbers = [entry["number"] for entry in make().document()["entries"] if entry["number"] is not None]
    first = 2 if make is entered_in_the_middle else 1
    assert sorted(numbers) == list(range(first, first + len(numbers)))


@each
def test_the_transcript_has_one_numbered_sentence_for_each_step(make):
    t = make()
    lines = t.transcript().splitlines()
    assert len(lines) == len(t.document()["steps"]) == len(t)
    assert all(line.startswith(f"{number}. ") for number, line in enumerate(lines, 1))


@each
def test_accumulators_add_up(make):
    latest = {}
    for step in make().document()["steps"]:
        if step["kind"] == "accumulate":
            key = step["pass"], step["tensor"]
            assert step["count"] == latest.get(key, (0, None))[0] + 1 <= step["of"]
            if step["count"] > 1 and step["before"] is not None:
                assert step["before"] == latest[key][1]
            latest[key] = step["count"], step["after"]


def test_contributions_are_counted():
    d = diamond().document()
    counts = [(s["count"], s["of"]) for s in d["steps"] if s["kind"] == "accumulate"]
    assert counts == [(1, 1), (1, 2), (2, 2), (1, 2), (2, 2)]
    text = diamond().transcript()
    assert text.count("1 of 2") == text.count("2 of 2") == 2
    assert "1 of 1" not in text


def test_the_diamond_reads_well_aloud():
    sentences = [re.sub(r"^\d+\. (Line \d+: )?", "", s) for s in diamond().transcript().splitlines()]
    assert sentences[0] == "The tape watches a, which is [1 2]."
    assert sentences[1] == "b is a plus a, which is [2 4]. The tape records it as entry 1."
    assert "total is the sum of c" in sentences[3]
    assert "with the cotangent 1" in sentences[4]
    assert sentences[-2:] == ["The one-shot tape releases its arrays.", "d total/da is [4 4], of shape (2,)."]


def test_passes_are_counted():
    numbers = [step["pass"] for step in busy().document()["steps"] if step["kind"] == "seed"]
    assert numbers == [0, 1, 1]
    assert {step["pass"] for step in nested().document()["steps"] if "pass" in step} == {0, 1}


def test_an_operation_that_several_tapes_record_is_one_entry():
    d = nested().document()
    cube = d["entries"][0]
    assert (cube["operation"], cube["tapes"]) == ("power", [0, 1])
    assert [tape["name"] for tape in d["tapes"]] == ["outer", "inner"]
    assert all(entry["tapes"] == [0] for entry in d["entries"][1:] if entry["number"] is not None)


def test_what_json_has_no_number_for_is_a_string():
    d = odd_values().document()
    values = {tensor["name"]: tensor["value"] for tensor in d["tensors"]}
    assert values["x"]["data"] == ["nan", "inf", "-inf", 1.0]
    assert values["z"]["data"] == "1+2j"
    assert values["big"]["data"] == np.arange(1000.0).reshape(20, 50)[::2, ::3].tolist()
    assert values["big"]["every"] == [2, 3]
    assert values["big"]["shape"] == [20, 50]
    assert values["big"]["text"] == "20×50, from 0 to 999"
    assert values["empty"]["data"] == []


def test_numbers_have_six_significant_digits():
    x = ad.Variable(2 / 3, name="x")
    with ad.trace() as t, ad.GradientTape():
        x * 1e-9
    d = t.document()
    assert [tensor["value"]["data"] for tensor in d["tensors"] if tensor["kind"] != "constant"] == [
        0.666667,
        6.66667e-10,
    ]
    assert "which is 6.67e-10" in t.transcript(), "and a sentence has three"


def test_a_trace_keeps_the_arrays_that_its_tape_released_and_later_assignments_do_not_change_it():
    x = ad.Variable([1.0, 2.0], name="x")
    with ad.trace() as t:
        with ad.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
    before = t.to_json()
    x.assign([7.0, 8.0])
    assert t.to_json() == before
    assert "[1 4]" in t.transcript()


def test_names_given_twice_and_names_that_look_like_numbered_ones_stay_apart():
    xs = [ad.Variable(float(k), name=name) for k, name in enumerate(["y", "y", "y₂", "t1", "y"])]
    with ad.trace() as t, ad.GradientTape() as tape:
        tape.watch(xs)
        xs[0] + xs[1] + xs[2] + xs[3] + xs[4]
    names = [tensor["name"] for tensor in t.document()["tensors"]]
    assert len(set(names)) == len(names)
    assert {"y", "y₂", "t1"} <= set(names)


def test_names_keep_their_case_in_sentences():
    x, z = ad.Variable(1.0, name="weight"), ad.Variable(1.0, name="Über_x")
    with ad.trace() as t, ad.GradientTape() as tape:
        tape.watch([x, z])
        y = x * z
        x.assign(5.0)
        float(z)
        tape.gradient(y, [x, z])
    text = t.transcript()
    assert re.search(r"\bweight is assigned 5\b", text)
    assert "Weight" not in text
    assert "über_x" not in text


def test_a_trace_says_how_long_it_is():
    t = diamond()
    assert repr(t) == f"Trace('diamond', {len(t)} steps)"
    assert (t.title, t.document()["title"]) == ("diamond", "diamond")


def test_an_exception_inside_the_block_keeps_the_trace_readable():
    x = ad.Variable(3.0)
    with pytest.raises(ValueError, match="boom"), ad.trace() as t, ad.GradientTape():  # noqa: PT012
        x * x
        raise ValueError("boom")
    assert [step["kind"] for step in t.document()["steps"]] == ["watch", "record", "error"]
    assert t.transcript().splitlines()[-1].endswith("ValueError: boom.")


def test_a_backward_pass_that_fails_leaves_a_readable_trace():
    x = ad.Variable([3.0, 1.0])
    with ad.trace() as t:
        with ad.GradientTape() as tape:
            y = np.sum(UNRULED(x))
        with pytest.raises(LookupError):
            tape.gradient(y, x)
    assert UNRULED.__name__ in t.transcript()
    assert json.loads(t.to_json())


def test_the_memory_of_a_tape_is_what_its_arrays_take():
    x = ad.Variable(np.ones(10), name="x")
    with ad.trace() as t:
        with ad.GradientTape() as tape:
            y = np.sin(x)
            z = y * y
        tape.gradient(z, x)
    memory = [(step["kind"], step["memory"]) for step in t.document()["steps"]]
    assert memory[:3] == [("watch", 0), ("record", 160), ("record", 240)]
    # as soon as the walk has passed z = y * y, its output is released; y is sin's output
    assert dict(memory[3:6]) == {"seed": 240, "pull back": 240, "accumulate": 240}
    assert memory[-4:] == [("pull back", 160), ("accumulate", 160), ("release", 0), ("outcome", 0)]


def test_the_memory_of_a_tape_is_its_nbytes():
    x = ad.constant(np.ones(10))
    with ad.trace() as t, ad.GradientTape() as tape:
        tape.watch(x)
        sizes = [tape.nbytes]
        y = np.sin(x)
        sizes.append(tape.nbytes)
        y = y * np.ones(10)
        sizes.append(tape.nbytes)
    assert sizes == [0, 160, 320]
    assert [step["memory"] for step in t.document()["steps"]] == sizes


def test_views_hold_no_memory_of_their_own_for_the_tape_as_for_the_trace():
    x = ad.constant(np.ones((10, 10)))
    with ad.trace() as t, ad.GradientTape() as tape:
        tape.watch(x)
        sizes = [tape.nbytes]
        for view in (lambda y: y[0], lambda y: np.reshape(y, (2, 5)), np.transpose, np.sum):
            x = view(x)
            sizes.append(tape.nbytes)
        np.broadcast_to(x, (1000,))
        sizes.append(tape.nbytes)
    assert sizes == [0, 800, 800, 800, 808, 816]  # np.broadcast_to views a copy of the scalar
    held = [step["memory"] for step in t.document()["steps"] if step["memory"] is not None]
    assert held == sizes


def test_the_memory_of_each_tape_is_its_own_and_starts_with_what_it_held_before():
    x = ad.Variable(np.ones(4))
    with ad.GradientTape(persistent=True) as outer:
        y = x * 2.0
        with ad.trace() as t:
            with ad.GradientTape() as inner:
                np.sin(y)
                inner.watch(y)
                np.sin(y)
            outer.reset()
            x.assign(np.zeros(4))
    steps = t.document()["steps"]
    assert [(step["kind"], step["tape"], step["memory"]) for step in steps] == [
        ("record", 0, 96),
        ("skip", 1, 0),
        ("watch", 1, 0),
        ("record", 0, 128),
        ("record", 1, 64),
        ("reset", 0, 0),
        ("assign", None, None),
    ]


@pytest.mark.parametrize("shape", [(257,), (100_000,), (20, 50), (2, 1000), (1000, 2), (7, 7, 7), (2, 3, 50, 4)])
def test_samples_of_large_arrays_are_large_themselves_and_evenly_taken(shape):
    value = np.arange(float(np.prod(shape))).reshape(shape)
    described = array(value)
    check_array(described)
    sample = value[tuple(slice(None, None, stride) for stride in described["every"])]
    assert np.allclose(described["data"], sample, rtol=1e-5)
    assert sample.size >= 80
    assert np.isclose(described["norm"], np.linalg.norm(np.ravel(value)), rtol=1e-5)


def test_a_trace_of_a_forward_pass_shows_no_tape_of_ours():
    with ad.trace() as steps:
        ad.jvp(lambda x: np.max(x * x), (np.array([1.0, 2.0]),), (np.ones(2),))
    assert len({event.tape for event in steps.events}) == 1


def test_tapes_have_the_names_of_their_with_lines():
    x = ad.Variable(2.0, name="x")
    kept = ad.GradientTape(persistent=True)
    with ad.trace() as t:
        with ad.GradientTape() as tape0, kept:
            with ad.GradientTape() as tape1:
                y = x * x
            slope = tape1.gradient(y, x)
        tape0.gradient(slope, x)
    assert [tape["name"] for tape in t.document()["tapes"]] == ["tape0", "kept", "tape1"]
    said = t.transcript().splitlines()
    assert said[0] == "1. tape0 watches x, which is 2.", "a name of the user's keeps its small letter"
    assert said[1].endswith("y is x times x, which is 4. tape0 records it as entry 1 of this run.")
    assert any("The backward pass of tape1 starts at y" in line for line in said)
    lines = t.document()["program"]["lines"]
    assert [line for line in lines if line.startswith("# backward")] == [
        "# backward, pass 1: tape1",
        "# backward, pass 2: tape0",
    ]


def test_tapes_of_one_name_are_counted_and_those_without_one_are_called_tape():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as t:
        for _ in range(2):
            with ad.GradientTape() as step:
                step.watch(x * x)
        with ad.GradientTape():
            x * x
        with ad.GradientTape() as tape:
            tape.watch(x * x)
    assert [tape["name"] for tape in t.document()["tapes"]] == ["step 1", "step 2", "tape 1", "tape"]
    said = t.transcript()
    assert "step 1 watches x" in said
    assert "Tape 1 watches x" in said
    assert ". tape watches x" in said


def test_one_tape_alone_is_the_tape():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as t, ad.GradientTape() as mine:
        mine.watch(x * x)
    assert t.transcript().startswith("1. The tape watches x")
    assert t.document()["tapes"][0]["name"] == "mine"


def branching(x):
    y = x
    if y > 5.0:
        return y * 2.0
    return y * y


def newton(a):
    x = a
    for _ in range(2):
        x = x - (x * x - a) / (2.0 * x)
    return x


def swapped(a, b):
    b, a = a, b
    return a - b


def of_a_parameter(v):
    return v * v


def steps_of(function, *values):
    """The document of a call, of variables with the names of the function's parameters."""
    names = function.__code__.co_varnames
    with ad.trace() as t, ad.GradientTape():
        function(*(ad.Variable(value, name=name) for value, name in zip(values, names, strict=False)))
    return t.document()


def test_a_line_that_has_a_second_name_for_a_tensor_is_read_with_it():
    d = steps_of(branching, 3.0)
    said = [step["text"] for step in d["steps"]]
    assert any("t1 is y > 5, which is False. Here y is another name for x. The tape" in text for text in said)
    assert any("t2 is y times y, which is 9. The tape" in text for text in said), "said once"
    assert [entry["text"] for entry in d["entries"]] == ["y > 5", "y * y"]
    assert [entry["aliases"] for entry in d["entries"]] == [["y", None], ["y", "y"]]
    assert [tensor["name"] for tensor in d["tensors"] if tensor["kind"] == "variable"] == ["x"]


def test_newton_s_x_is_x_from_the_first_turn_on():
    d = steps_of(newton, 2.0)
    texts = [entry["text"] for entry in d["entries"]]
    assert [texts[k] for k in (0, 2, 4, 5)] == ["x * x", "2 * x", "x - t4", "x₂ * x₂"]
    assert any("Here x is another name for a." in step["text"] for step in d["steps"])
    assert d["entries"][1]["text"] == "t1 - a", "where the line says a"
    assert "aliases" not in d["entries"][1]


def test_a_second_name_never_hides_another_tensor():
    assert [entry["text"] for entry in steps_of(swapped, 1.0, 2.0)["entries"]] == ["b - a"]


def test_a_parameter_is_not_a_second_name():
    x = ad.Variable(3.0, name="x")
    with ad.trace() as t, ad.GradientTape():
        of_a_parameter(x)
    assert [entry["text"] for entry in t.document()["entries"]] == ["x * x"]


def test_a_trace_that_is_called_like_play_says_that_it_is_a_with_block():
    def cube(x):
        return x**3

    with pytest.raises(TypeError, match="is a `with` block") as caught:
        ad.trace(cube, 1.5)
    assert "\n    with ad.trace() as steps:\n        cube(1.5)\n" in str(caught.value)
    with pytest.raises(TypeError, match=r"  f\(\)\n"):
        ad.trace(lambda: None)
    with pytest.raises(TypeError, match="a title and nothing else, but was also given 2"):
        ad.trace("a square", 2)
    with pytest.raises(TypeError, match=r"nothing else, but was also given array\(\[\[0., 1.\], \[2., 3.\]\]\)$"):
        ad.trace("a square", np.arange(4.0).reshape(2, 2))
    with pytest.raises(TypeError, match=r"  cube\(1.5, \.\.\.\)\n"):  # half of an array could not be run
        ad.trace(cube, 1.5, np.arange(4.0).reshape(2, 2))
