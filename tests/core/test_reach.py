"""Entries ahead of some tensors, behind some, and between the two are listed in the order of computation."""

import numpy as np
import pytest

import autodiff_edu as ad
from autodiff_edu.core.reach import ahead, behind, between, needed_for
from autodiff_edu.derivatives.nudge import used_by


@pytest.fixture
def tensors():
    x, y = ad.Variable(2.0), ad.Variable(3.0)
    with ad.GradientTape() as tape:
        a = np.sin(x)
        b = np.cos(y)
        c = a * b
        d = np.exp(a)
    return tape.entries, {name: value._id for name, value in {"x": x, "y": y, "a": a, "b": b, "c": c, "d": d}.items()}


def names(entries):
    return [entry.name for entry in entries]


def test_entries_ahead_of_a_tensor_compute_with_it_or_with_what_came_of_it(tensors):
    entries, ids = tensors
    assert names(ahead(entries, {ids["x"]})) == ["sin", "multiply", "exp"]
    assert names(ahead(entries, {ids["b"]})) == ["multiply"]
    assert ahead(entries, {ids["d"]}) == []


def test_entries_behind_a_tensor_computed_it(tensors):
    entries, ids = tensors
    assert names(behind(entries, {ids["c"]})) == ["sin", "cos", "multiply"]
    assert names(behind(entries, {ids["d"], ids["b"]})) == ["sin", "cos", "exp"]
    assert behind(entries, {ids["x"]}) == []


def test_entries_between_are_ahead_of_the_sources_and_behind_the_targets(tensors):
    entries, ids = tensors
    assert names(between(entries, {ids["x"]}, {ids["c"]})) == ["sin", "multiply"]
    assert between(entries, {ids["y"]}, {ids["d"]}) == []


def test_what_a_custom_gradient_captured_can_count_as_an_input():
    x = ad.Variable(2.0)
    with ad.GradientTape() as tape:
        y = np.sin(x)
        z = ad.custom_gradient(lambda t: (t * y, lambda g: g * y))(x)
    assert names(behind(tape.entries, {z._id}))[-1:] == names(behind(tape.entries, {z._id}))
    assert names(behind(tape.entries, {z._id}, used_by))[0] == "sin"


def test_what_is_needed_is_what_the_wanted_flows_into(tensors):
    entries, ids = tensors
    connected = set(ids.values())
    assert needed_for({ids["b"]}, entries, connected) == {ids["b"], ids["c"]}
    assert needed_for({ids["x"]}, entries, connected) == {ids["x"], ids["a"], ids["c"], ids["d"]}
    assert needed_for({ids["x"]}, entries, connected - {ids["a"]}) == {ids["x"]}
