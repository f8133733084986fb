"""What is on show at each step, as a document says it: held against what its steps say, for many kinds of program."""

import numpy as np
import programs
import pytest
from moments import read_moment
from programs import EXAMPLES

import autodiff_edu as ad
from autodiff_edu.player import Player
from autodiff_edu.player.extra_parts import Written
from autodiff_edu.trace.states import states

OTHERS = [programs.nested, programs.logistic, programs.cubic, programs.rows, programs.power, programs.pushing]
OTHERS += [programs.stacked, programs.a_cut, programs.cut_off, programs.divided, programs.marks, programs.einsum]
COMPUTED = ("record", "skip", "cut")
LOST = {"reset": "forgotten", "release": "released"}


def before_the_trace():
    """A tape has recorded when the trace begins: its pass comes to entries that nothing is known of."""
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape() as tape:
        y = np.sin(x * 3.0)
    with ad.trace() as traced:
        tape.gradient(y, x)
    return traced


def two_pauses():
    """Two tapes pause at once, and each records the other's pass and its own; one is reset while a pass is on show."""
    x, first, second = ad.Variable(2.0, name="x"), ad.GradientTape(persistent=True), ad.GradientTape(persistent=True)
    with ad.trace() as traced, first, second:
        with first.stop_recording():
            with second.stop_recording():
                x * 4.0
            x * 5.0
        y = x * x
        second.gradient(y, x)
        first.gradient(y, x)
        second.reset()
    return traced


def reset_and_released():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            x * 4.0
            tape.reset()
            y = x * 6.0
        tape.gradient(y, x)
    return traced


def tangents_under_a_tape():
    """An outer tape records while tangents are pushed forward."""
    x = ad.Variable(2.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            _, slope = ad.jvp(lambda x: np.sin(x) * x, (x,), (1.0,))
        tape.gradient(slope, x)
    return traced


def explanation():
    x = ad.Variable(2.0, name="x")
    with ad.GradientTape() as tape:
        y = np.floor(x * x) * 2.0
    return tape.explain(y, x).trace()


OTHERS += [before_the_trace, two_pauses, reset_and_released, tangents_under_a_tape, explanation]


def read(document):
    return document["steps"], [read_moment(document, number) for number in range(len(document["steps"]))]


@pytest.fixture(scope="module", params=[*EXAMPLES, *OTHERS])
def document(request):
    return request.param().document()


def test_a_state_is_there_for_each_step_and_says_only_what_changes(document):
    steps, moments = read(document)
    assert len(document["states"]) == len(steps)
    for state, before, now in zip(document["states"][1:], moments, moments[1:], strict=False):
        assert ("backward" in state) is (now.backward != before.backward)
        assert ("tangents" in state) is (now.tangents != before.tangents)
        assert ("update" in state) is (now.update != before.update)
        assert ("pass" in state) is (now.on_show != before.on_show)
        assert ("paused" in state) is (now.paused != before.paused)
        for entry, tape, word in state.get("lanes", ()):
            assert before.lanes.get((entry, tape)) != word
        new = [tensor for tensor in state.get("values", ()) if tensor not in before.values]
        assert new == [tensor for tensor in now.values if tensor not in before.values]
        assert new == state.get("values", []) or now.step["kind"] == "assign"
        computed = [now.step["entry"]] if "fate" in state and "flow" not in state else []
        assert computed == [entry for entry in now.fates if entry not in before.fates]


def test_a_tensor_has_a_value_from_the_step_that_watches_computes_or_first_uses_it(document):
    steps, moments = read(document)
    values = {}
    for step, now in zip(steps, moments, strict=True):
        used = [step["tensor"]] if "tensor" in step else []
        if step["kind"] in COMPUTED:
            entry = document["entries"][step["entry"]]
            used += [*entry["inputs"], entry["output"]]
        for tensor in used:
            values.setdefault(tensor, document["tensors"][tensor]["value"])
        if step["kind"] == "assign":
            values[step["tensor"]] = step["value"]
        assert now.values == values


def test_a_pass_is_on_show_from_its_first_step_until_computing_goes_on_after_its_last(document):
    steps, moments = read(document)
    before = None
    for number, (step, now) in enumerate(zip(steps, moments, strict=True)):
        goes_on = any(before is not None and later.get("pass") == before for later in steps[number:])
        computes = step["kind"] in (*COMPUTED, "watch")
        if "pass" in step:
            assert now.on_show == step["pass"]
        elif step["kind"] == "reset" or (computes and not goes_on):
            assert now.on_show is None
        else:
            assert now.on_show == before
        before = now.on_show


def test_what_flows_is_that_of_the_pass_on_show(document):
    steps, moments = read(document)
    for number, now in enumerate(moments):
        own = [step for step in steps[: number + 1] if now.on_show is not None and step.get("pass") == now.on_show]
        arrays = [next(step[key] for key in ("after", "cotangent", "tangent") if key in step) for step in own]
        flowing = zip(own, arrays, strict=True)
        assert now.flows == {step["tensor"]: array for step, array in flowing if "tensor" in step}
        come = [step for step in own if step["kind"] in ("pull back", "push forward")]
        assert now.arrived == {step["entry"]: step.get("cotangent") or step["tangent"] for step in come}


def test_an_entry_is_recorded_cut_or_skipped_and_while_a_pass_is_on_show_pulled_or_pushed(document):
    steps, moments = read(document)
    for number, now in enumerate(moments):
        fates = {}
        for step in steps[: number + 1]:
            if step["kind"] in COMPUTED:
                fates.setdefault(step["entry"], set()).add(step["kind"])
        assert now.fates.keys() == fates.keys()
        for entry, kinds in fates.items():
            skipped = not document["entries"][entry]["tapes"]  # by every tape
            own = "cut" if "cut" in kinds else "skip" if skipped else "recorded"
            assert now.fates[entry] == (("pushed" if now.tangents else "pulled") if entry in now.arrived else own)


def test_the_direction_is_back_in_a_backward_pass_and_until_computing_goes_on(document):
    steps, moments = read(document)
    before = False
    for number, (step, now) in enumerate(zip(steps, moments, strict=True)):
        if "tangent" in step or step["kind"] in (*COMPUTED, "watch", "assign"):
            assert not now.backward
        else:
            assert now.backward is ("pass" in step or step["kind"] == "explain" or before)
        flowing = now.on_show
        if flowing is None:
            flowing = next((later["pass"] for later in steps[number:] if "pass" in later), None)
        assert now.tangents is any("tangent" in one for one in steps if one.get("pass", -1) == flowing)
        assert now.pushes is (now.tangents and now.on_show is not None)
        before = now.backward


def test_an_update_is_the_assignments_and_the_plain_lines_on_the_way_to_them_from_a_backward_pass(document):
    steps, moments = read(document)
    updates = [now.update for now in moments]
    for number, step in enumerate(steps):
        if step["kind"] == "assign":
            assert updates[number]
        elif updates[number]:
            assert step["kind"] == "line"
            assert number == 0 or updates[number - 1] or moments[number - 1].backward
            assert updates[number + 1]


def test_a_pass_that_an_outer_tape_records_names_its_tape_at_each_step_and_what_is_returned_in_the_end_is_over():
    def second(x):
        with ad.GradientTape() as outer:
            outer.watch(x)
            with ad.GradientTape() as inner:
                inner.watch(x)
                y = x**3
            dy = inner.gradient(y, x)
        return outer.gradient(dy, x)

    def newton(x):
        for _ in range(2):
            with ad.GradientTape() as tape:
                tape.watch(x)
                y = x * x - 2.0
            x = x - y / tape.gradient(y, x)
        return x

    with ad.trace() as traced:
        second(ad.constant(2.0))
    steps, moments = read(document := traced.document())
    recorded = [step for step in steps if step["kind"] == "record"]
    assert [document["tapes"][step["within"]]["name"] for step in recorded if "within" in step] == ["inner"] * 3
    assert ["within" in step for step in recorded] == ["in the pass of" in step["text"] for step in recorded]
    assert not any(now.over for now in moments)
    with ad.trace() as traced:
        newton(ad.constant(2.0))
    steps, moments = read(traced.document())
    assert steps[-1]["text"].endswith("newton returns x, which is 1.42.")
    assert [number for number, now in enumerate(moments) if now.over] == [len(steps) - 1]


def test_a_program_without_a_pass_is_never_over():
    def double(n):
        return 2 * n

    with ad.trace() as traced:
        n = double(2)  # noqa: F841
    assert not any(now.over for now in read(traced.document())[1])


def test_a_training_goes_forward_backward_and_updates_again_and_again():
    x, w = np.array([1.0, 2.0]), ad.Variable(3.0, name="w")
    with ad.trace() as traced:
        w.assign(0.5)
        for turn in range(2):
            rate = 0.1 + turn
            with ad.GradientTape() as tape:
                loss = np.mean((w * x - 1.0) ** 2)
            slope = tape.gradient(loss, w)
            step = rate * slope
            w.assign_sub(step)
    steps, moments = read(traced.document())
    words = ["update" if now.update else "backward" if now.backward else "forward" for now in moments]
    runs = [word for number, word in enumerate(words) if words[:number][-1:] != [word]]
    assert runs == ["update", *["forward", "backward", "update"] * 2]
    lines = [step["text"] for step, now in zip(steps, moments, strict=True) if now.update and step["kind"] == "line"]
    assert len(lines) == 2
    assert all("step is " in line for line in lines)
    after = [number + 1 for number, step in enumerate(steps) if step["kind"] == "assign"][1]
    assert moments[after - 1].flows
    assert steps[after]["kind"] == "line"
    assert not moments[after].flows, "the cotangents were those of the old value"


def own_pass(steps, tape, number):
    """What a tape has of an entry that another records in the middle of its pass, if a step is there."""
    spans = {}
    for at, step in enumerate(steps):
        if "pass" in step and step["tape"] == tape:
            spans.setdefault(step["pass"], []).append(at)
    around = [span[0] for span in spans.values() if span[0] < number < span[-1]]
    return ("tangents" if steps[around[0]]["kind"] == "move" else "backward") if around else None


def test_a_tape_has_what_it_records_until_it_loses_it_and_what_others_record_in_its_pauses_and_passes(document):
    steps, moments = read(document)
    for tape in range(len(document["tapes"])):
        paused, found = False, {}
        for number, (step, now) in enumerate(zip(steps, moments, strict=True)):
            kind, own = step["kind"], step["tape"] == tape
            if own and kind in ("pause", "resume", "reset"):
                paused = kind == "pause"
            if own and kind in LOST:
                for entry, word in found.items():
                    if word in ("recorded", "cut"):
                        found[entry] = LOST[kind]
            if kind in COMPUTED and own:
                found[step["entry"]] = "recorded" if kind == "record" else "paused" if paused else kind
            elif kind in COMPUTED and step["entry"] not in found:
                found[step["entry"]] = "paused" if paused else own_pass(steps, tape, number)
            wanted = {entry: word for entry, word in found.items() if word}
            assert {entry: word for (entry, one), word in now.lanes.items() if one == tape} == wanted
            assert (tape in now.paused) is paused


def test_what_a_backward_pass_could_have_reached_and_has_not_is_unconnected_when_it_has_ended(document):
    steps, moments = read(document)
    tapes = {}
    for step in steps:
        if step["kind"] == "watch":
            tapes.setdefault(step["tensor"], []).append(step["tape"])
    tapes |= {entry["output"]: entry["tapes"] for entry in document["entries"]}
    for number, now in enumerate(moments):
        own = [at for at, step in enumerate(steps) if "pass" in step and step["pass"] == now.on_show]
        wanted = []
        if own and own[-1] <= number and not now.tangents:
            tape = steps[own[-1]]["tape"]
            wanted = [k for k in moments[own[-1]].values if tape in tapes.get(k, ()) and k not in now.flows]
        assert now.unconnected == wanted


def test_a_pause_ends_with_its_block_and_with_a_reset():
    def lanes(kind, **more):
        steps = [{"kind": "pause", "tape": 0}, {"kind": "record", "tape": 1, "entry": 0}]
        steps += [{"kind": kind, "tape": 0, **more}, {"kind": "record", "tape": 1, "entry": 1}]
        entries = [{"tapes": [1], "inputs": [], "output": 0}, {"tapes": [1], "inputs": [], "output": 1}]
        found = states({"steps": steps, "entries": entries})
        return [lane for state in found for lane in state.get("lanes", ()) if lane[1] == 0]

    assert lanes("resume") == lanes("reset") == [[0, 0, "paused"]]
    assert lanes("watch", tensor=2) == [[0, 0, "paused"], [1, 0, "paused"]]


def test_a_released_tape_no_longer_has_its_entries_and_a_document_without_steps_has_no_states():
    document = programs.diamond().document()
    last = read_moment(document, len(document["steps"]) - 1)
    assert set(last.lanes.values()) == {"released"}
    assert states({"steps": [], "entries": []}) == []


def test_a_document_that_another_program_wrote_gets_its_states_from_the_player():
    document = programs.diamond().document()
    wanted = document.pop("states")
    assert Player(Written(document))._content["trace"]["states"] == wanted
