"""A program in the player: what was recorded, what each pass takes out and why, and what is left."""

from __future__ import annotations

import json

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.player.compiler_passes import MOST_LINES, document_of


def step(w, rate):
    def loss(w):
        return np.mean((w * np.array([1.0, 2.0]) - 3.0) ** 2)

    return w - rate * ad.grad(loss)(w), loss(w)


def stages_of(function, *args, passes=None):
    document = document_of(ad.compile(function, passes=passes).program(*args))
    return {stage["name"]: stage for stage in document["compiling"]}, document


def gone(stage):
    return {line["text"].strip(): line["why"] for line in stage["lines"] if line.get("state") == "gone"}


def test_the_first_and_the_last_stage_are_the_programs_as_they_are_printed():
    stages, document = stages_of(step, 1.0, 0.1)
    for name, passes in (("recorded", ()), ("compiled", None)):
        program = ad.compile(step, passes=passes).program(1.0, 0.1)
        assert "\n".join(line["text"] for line in stages[name]["lines"]) == "\n".join(
            line.partition("  # ")[0].rstrip() for line in program.text.splitlines()
        )
        assert stages[name]["count"] == len(program.listing.instructions)
    assert [stage["name"] for stage in document["compiling"]][1:-1] == [*ad.compile(step).program(1.0, 0.1).lengths][1:]
    assert len(document["steps"]) == len(document["compiling"])
    json.dumps(document)


def test_a_line_that_is_taken_out_says_why():
    def f(x):
        wasted = np.exp(x)
        np.sin(wasted)
        twice = x * 2.0
        again = x * 2.0
        return np.tanh(twice) + np.tanh(again) ** 1

    stages, _ = stages_of(f, 0.5)
    assert gone(stages["unused"]) == {
        "wasted = np.exp(x)": "only t2 reads it",
        "t2 = np.sin(wasted)": "nothing reads it",
    }
    assert gone(stages["folded"]) == {"t7 = t6 ** 1": "the same as t6"}
    assert gone(stages["shared"]) == {
        "again = x * 2.0": "the same as twice",
        "t6 = np.tanh(again)": "the same as t5",
    }
    changed = [line["text"].strip() for line in stages["shared"]["lines"] if line.get("state") == "changed"]
    assert changed == ["t8 = t5 + t5"]


def test_a_number_that_is_the_same_in_every_call_and_a_short_result_say_so():
    stages, _ = stages_of(lambda x: np.sum(-x * np.sqrt(ad.constant([4.0, 9.0]))), np.ones(2))
    assert list(gone(stages["folded"]).values()) == ["the same in every call"]
    assert set(gone(stages["joined"]).values()) == {"now part of the line that reads it"}


def test_a_guard_that_has_been_asked_already_says_so():
    def f(x):
        if x > 0.0 and x > 0.0:
            return x * 2.0
        return x

    stages, _ = stages_of(f, 1.0)
    assert "asked above" in gone(stages["shared"]).values()


def test_each_pass_is_told_in_a_sentence_and_names_stay_the_same():
    stages, document = stages_of(step, 1.0, 0.1)
    texts = [one["text"] for one in document["steps"]]
    assert texts[0].startswith("step has been recorded: ")
    assert (
        "The pass “reused” writes large results into arrays that are no longer needed. It finds nothing to do"
        in texts[6]
    )
    recorded = {line["text"].strip() for line in stages["recorded"]["lines"]}
    assert {text for stage in ("unused", "folded") for text in gone(stages[stage])} <= recorded
    assert stages["compiled"]["constants"] == ["c"]


def test_a_pass_of_one_s_own_may_reorder_and_write_lines():
    def turned(listing):
        return listing.with_instructions(sorted(listing.instructions, key=lambda one: one.name))

    stages, document = stages_of(lambda x, y: np.sin(x) + np.cos(y), 1.0, 2.0, passes=(turned,))
    assert [line["text"].strip() for line in stages["turned"]["lines"]][-1].startswith("return")
    assert document["steps"][1]["text"] == "The pass “turned”: 1 line changes."


def test_play_shows_a_program_and_saves_it(tmp_path):
    player = ad.play(ad.compile(step).program(1.0, 0.1))
    assert repr(player) == "Player('step, compiled', 8 steps)"
    assert player.transcript().count("\n") == 7
    for ending in ("html", "svg", "txt", "pdf"):
        player.save(tmp_path / f"program.{ending}")
    svg = (tmp_path / "program.svg").read_text(encoding="utf-8")
    assert "def step(w, rate):" in svg


def test_a_program_that_is_too_long_is_refused():
    def long(x):
        for k in range(MOST_LINES + 1):
            x = x + k
        return x

    with pytest.raises(ValueError, match=r"long has 201 operations, .* up to 200 .* Print the program"):
        ad.play(ad.compile(long).program(1.0))
