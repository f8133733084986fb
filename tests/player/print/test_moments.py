"""What is known at a step of a trace, and which steps tell the most about it."""

import numpy as np
import pytest
from programs import diamond, loop, training, two_passes, two_tapes

import autodiff_edu as ad
from autodiff_edu.player.print.moments import choose_film_steps, choose_key_steps, find_turns, read_moment, subject_of


def kinds(document, steps):
    return [document["steps"][number]["kind"] for number in steps]


def test_key_frames_tell_both_passes_from_beginning_to_end():
    document = diamond().document()
    steps = choose_key_steps(document)
    assert steps == sorted(set(steps))
    assert kinds(document, steps) == ["record", "record", "seed", "accumulate", "accumulate", "accumulate"]
    computed = [n for n, step in enumerate(document["steps"]) if step["kind"] == "record"]
    assert {computed[0], computed[-1]} <= set(steps)
    last = document["steps"][steps[-1]]
    assert (last["count"], last["of"]) == (2, 2), "the release after it tells less"


def test_one_key_frame_is_the_fullest_accumulator():
    document = diamond().document()
    (only,) = choose_key_steps(document, 1)
    step = document["steps"][only]
    assert (step["kind"], step["count"], step["of"]) == ("accumulate", 2, 2)
    assert document["tensors"][step["tensor"]]["name"] == "a"


def heron(x):
    y = x
    for _ in range(4):
        y = (y + x / y) / 2
    return y


def bend(x):
    return np.sin(x) * np.exp(x) + x


@pytest.mark.parametrize(("function", "at", "said"), [(heron, 2.0, (0.5, -0.4999985)), (bend, 0.5, (1.64872, 1.44689))])
def test_one_key_frame_is_a_cotangent_that_meets_a_slope_in_numbers_one_can_read(function, at, said):
    document = ad.play(function, at)._content["trace"]
    (only,) = choose_key_steps(document, 1)
    step = document["steps"][only]
    (arrived,) = (
        each["cotangent"]["data"]
        for each in document["steps"]
        if each["kind"] == "pull back" and each["entry"] == step["entry"]
    )
    assert (arrived, step["contribution"]["data"]) == pytest.approx(said, abs=1e-5)


def test_each_of_two_passes_has_a_key_frame_and_no_entry_has_two():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as outer:
            with ad.GradientTape() as inner:
                y = x**3 - 2 * x
            first = inner.gradient(y, x)
        outer.gradient(first, x)
    document = traced.document()
    steps = [document["steps"][number] for number in choose_key_steps(document)]
    assert {step["pass"] for step in steps if step["kind"] == "accumulate"} == {0, 1}
    recorded = [step["entry"] for step in steps if step["kind"] == "record"]
    assert len(recorded) == len(set(recorded)) == 2


def test_key_frames_show_how_the_sum_of_a_variable_begins_and_ends():
    def product_and_sum(x):
        product = x * x
        return np.sum(product + 2.0 * x)

    document = ad.play(product_and_sum, [1.0, -1.0])._content["trace"]
    steps = [document["steps"][number] for number in choose_key_steps(document)]
    of_x = [step for step in steps if step["kind"] == "accumulate" and step["of"] == 3]
    assert [step["count"] for step in of_x] == [1, 3]


def test_key_frames_prefer_what_has_a_name_in_the_code():
    def attention(q, k, v):
        scores = q @ k.T / np.sqrt(3.0)
        masked = np.where(np.tril(np.ones((4, 4), bool)), scores, -1e9)
        e = np.exp(masked - np.max(masked, axis=1, keepdims=True))
        weights = e / np.sum(e, axis=1, keepdims=True)
        out = weights @ v
        return np.sum(out**2)

    document = ad.play(attention, *np.random.default_rng(0).normal(size=(3, 4, 3)))._content["trace"]
    steps = [document["steps"][number] for number in choose_key_steps(document)]
    computed = [document["entries"][step["entry"]]["output"] for step in steps if step["kind"] == "record"]
    assert [document["tensors"][tensor]["name"] for tensor in computed] == ["masked", "attention"]
    full = [step for step in steps if step["kind"] == "accumulate" and step["count"] == step["of"] > 1]
    assert [document["tensors"][step["tensor"]]["name"] for step in full] == ["e", "masked"], "the two sums of softmax"


def test_key_frames_of_one_line_show_how_it_begins():
    document = ad.play(lambda x: np.sin(np.exp(x * x) + x), 0.5)._content["trace"]
    computed = [n for n, step in enumerate(document["steps"]) if step["kind"] == "record"]
    assert {computed[0], computed[-1]} <= set(choose_key_steps(document))


def test_a_gradient_that_is_none_has_a_key_frame():
    x = ad.Variable(3.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = np.sign(x)
        tape.gradient(y, x)
    document = traced.document()
    assert kinds(document, choose_key_steps(document))[-1] == "outcome"
    explained = tape.explain(y, x).trace().document()
    moments = [read_moment(explained, number) for number in range(len(explained["steps"]))]
    assert [moment.backward for moment in moments] == [step["kind"] == "explain" for step in explained["steps"]]


def test_key_frames_of_a_training_show_the_learning():
    document = training(20).document()
    steps, tensors = document["steps"], document["tensors"]
    turns = find_turns(document)
    assert len(turns) == 20
    chosen = choose_key_steps(document)
    assert len(chosen) == 6
    heights = [turn for turn, (number, _) in enumerate(turns, 1) if number in chosen]
    assert (heights[0], heights[-1]) == (1, 20)
    assert any(8 <= turn <= 13 for turn in heights), "one in the middle"
    values = [tensors[target]["value"]["data"] for number, target in turns if number in chosen]
    assert values == sorted(values, reverse=True), "the loss falls"
    assert len(set(values)) == len(values)
    said = kinds(document, chosen)
    assert "accumulate" in said
    assert "assign" in said
    (only,) = choose_key_steps(document, 1)
    assert only == turns[-1][0], "when the curve is complete"
    assert {number for number, _ in turns} >= {
        number for number in choose_key_steps(document, 12) if steps[number]["kind"] == "record"
    }


def test_two_passes_are_not_a_training():
    assert find_turns(two_passes().document()) == []
    assert find_turns(diamond().document()) == []


def test_a_film_has_every_step_that_brings_something_new():
    document = diamond().document()
    steps = document["steps"]
    left_out = [steps[number]["kind"] for number in range(len(steps)) if number not in choose_film_steps(document)]
    assert set(left_out) == {"pull back", "release"}
    long = loop(60).document()
    assert len(choose_film_steps(long)) == 24
    assert len(choose_film_steps(long, 10)) == 10
    assert set(choose_key_steps(long, 5)) <= set(choose_film_steps(long, 10))
    assert choose_film_steps(long) == sorted(set(choose_film_steps(long)))


def test_a_trace_of_few_events_has_few_frames():
    x = ad.Variable(3.0, name="x")
    with ad.trace() as traced, ad.GradientTape():
        x * x
    assert kinds(traced.document(), choose_key_steps(traced.document())) == ["watch", "record"]


def test_a_moment_knows_what_has_happened_and_nothing_else():
    document = diamond().document()
    names = [tensor["name"] for tensor in document["tensors"]]
    computed, seeded = (kinds(document, range(len(document["steps"]))).index(kind) for kind in ("record", "seed"))
    early, late = read_moment(document, computed), read_moment(document, seeded)
    assert {names[tensor]: value["text"] for tensor, value in early.values.items()} == {"a": "[1 2]", "b": "[2 4]"}
    assert (early.backward, early.flows) == (False, {})
    assert late.backward
    assert [names[tensor] for tensor in late.flows] == ["total"]


def test_an_assigned_value_replaces_what_was_there_and_a_second_pass_the_cotangents():
    x = ad.Variable(2.0, name="x")
    with ad.trace() as traced:
        with ad.GradientTape(persistent=True) as tape:
            y = x * x
        tape.gradient(y, x)
        x.assign(5.0)
        tape.gradient(y, x)
    document = traced.document()
    seen = kinds(document, range(len(document["steps"])))
    assigned = read_moment(document, seen.index("assign"))
    assert "5" in [value["text"] for value in assigned.values.values()]
    assert (assigned.backward, assigned.update) == (False, True)
    assert sorted(given["text"] for given in assigned.flows.values()) == ["1", "4"], "it may be computed from these"
    second = len(seen) - 1 - seen[::-1].index("seed")
    assert [given["text"] for given in read_moment(document, second).flows.values()] == ["1"]


def test_a_step_is_backward_until_something_is_computed():
    document = two_passes().document()
    seen = [(step["kind"], read_moment(document, number).backward) for number, step in enumerate(document["steps"])]
    backward = {kind for kind, back in seen if back}
    assert {"seed", "pull back", "accumulate"} <= backward
    assert not {"watch", "record", "skip", "cut", "assign", "pause", "resume", "reset"} & backward


def test_the_cotangents_of_an_inner_pass_stay_while_an_outer_tape_records_and_go_after_it():
    document = two_tapes().document()
    inside = [
        n for n, step in enumerate(document["steps"]) if step["kind"] == "record" and read_moment(document, n).flows
    ]
    assert inside
    ends = {step["pass"]: n for n, step in enumerate(document["steps"]) if "pass" in step}
    assert all(n < ends[0] for n in inside)


def test_entries_are_recorded_cut_or_skipped_and_then_pulled():
    document = two_passes().document()
    seen = kinds(document, range(len(document["steps"])))
    before, last = (read_moment(document, number) for number in (seen.index("seed"), len(seen) - 1))
    texts = [entry["text"] for entry in document["entries"]]
    entries = [texts.index(text) for text in ("fixed * fixed", "floor(x)", "x * x")]
    assert [before.fates[entry] for entry in entries] == ["skip", "cut", "recorded"]
    assert [last.fates[entry] for entry in entries] == ["skip", "cut", "pulled"]
    assert read_moment(document, 0).fates == {}


def test_a_step_is_about_its_tensor_or_the_output_of_its_entry_or_nothing():
    document = two_passes().document()
    for step in document["steps"]:
        found = subject_of(document, step)
        if step["kind"] in ("pause", "resume", "reset", "release"):
            assert found is None
        elif "tensor" in step:
            assert found == step["tensor"]
        else:
            assert found == document["entries"][step["entry"]]["output"]


@pytest.mark.parametrize("count", [1, 2, 3, 6, 100])
def test_no_more_key_steps_than_asked_for_and_each_once(count):
    document = two_passes().document()
    steps = choose_key_steps(document, count)
    assert steps == sorted(set(steps))
    assert len(steps) <= count
    assert set(choose_key_steps(document, 1)) <= set(steps)


def test_the_fullest_accumulator_is_shown_when_it_is_full():
    x = ad.Variable(np.ones(2), name="x")
    with ad.trace() as traced:
        with ad.GradientTape() as tape:
            y = x * x * x
        tape.gradient(y, x)
    document = traced.document()
    (only,) = choose_key_steps(document, 1)
    step = document["steps"][only]
    assert (step["count"], step["of"]) == (3, 3)
