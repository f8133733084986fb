"""The document: its lists point to each other, and its steps go on from one another."""

import re

import pytest
from programs import EXAMPLES

import autodiff_edu as ad
from autodiff_edu.text.shared import shared


@pytest.mark.parametrize("example", EXAMPLES)
def test_everything_is_met_before_it_is_pointed_to(example):
    document = example().document()
    assert (document["format"], document["version"]) == ("autodiff_edu.trace", shared()["version"])
    tensors, computed = len(document["tensors"]), set()
    for entry in document["entries"]:
        assert entry["inputs"] == [argument for argument in entry["arguments"] if isinstance(argument, int)]
        assert all(0 <= k < tensors for k in (*entry["inputs"], entry["output"]))
        assert entry["output"] not in computed, "a tensor is computed once"
        computed.add(entry["output"])
    for step in document["steps"]:
        names = tuple(f"{tape['name']} " for tape in document["tapes"])
        said = step["text"]
        assert said[0].isupper() or not said[0].isalpha() or said.startswith(names) or re.match(r"d.+/d.+ is ", said)
        assert step["text"][-1] in ".:"
        if step["kind"] in ("record", "cut"):
            assert step["tape"] in document["entries"][step["entry"]]["tapes"]
        if (where := step["where"]) is not None:
            part = document["code"][where["code"]]
            line = part["lines"][where["line"] - part["first_line"]]
            start, end = where["columns"] or (0, len(line))
            assert line[start:end].strip()


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_accumulation_goes_on_from_the_last(example):
    document = example().document()
    sums = {}
    for step in document["steps"]:
        if step["kind"] == "seed":
            sums[step["pass"], step["tensor"]] = step["cotangent"]
        elif step["kind"] == "accumulate":
            key = step["pass"], step["tensor"]
            assert step["before"] == sums.get(key)
            assert 1 <= step["count"] <= step["of"]
            sums[key] = step["after"]


def test_where_a_name_begins_as_that_of_something_else():
    def halve(x):
        p = x
        s = 1.0
        for _ in range(2):
            p = p * 0.5
            s = s + p
        return s

    document = ad.play(halve, 2.0)._content["trace"]
    assert [(each["name"], each["array"]["text"], each.get("tensor")) for each in document["begins"]] == [
        ("s", "1", None),
        ("p", "2", 0),
    ]
