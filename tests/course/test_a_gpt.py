"""The GPT of the course: its slopes beside those of the same model on single numbers, and what the chapter claims."""

import json
import math
from functools import reduce
from operator import add

import numpy as np
import pytest
from answers.your_own_tape import build

import autodiff_edu as ad
from autodiff_edu.course.contents import OURS

CHAPTER = OURS.find("a-gpt")


@pytest.fixture(scope="module")
def names():
    """What the chapter's visible cells define, up to the first training."""
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(CHAPTER.notebook.read_text())["cells"]}
    wanted = ["model-1", "parts-2", "train-1"]
    defined = {"np": np, "ad": ad, "nn": ad.nn, "LETTERS": ".abcdefghijklmnopqrstuvwxyz"}
    for name in wanted:
        exec(cells[name], defined)
    defined["numbers_of"] = lambda word: np.array([defined["LETTERS"].index(letter) for letter in f".{word}."])
    return defined


def of_numbers(tape):
    """Write the model for single numbers, with what chapter 4's tape doesn't have: division and four functions."""
    apply, rules, value = tape["apply"], tape["RULES"], tape["Value"]
    value.__truediv__ = lambda self, other: apply(np.divide, self, other)
    value.__rtruediv__ = lambda self, other: apply(np.divide, other, self)
    rules[np.divide] = lambda g, z, x, y: (g / y, -g * x / y**2)
    rules[np.exp] = lambda g, z, x: (g * z,)
    rules[np.log] = lambda g, z, x: (g / x,)
    rules[np.sqrt] = lambda g, z, x: (g / (2 * z),)
    rules[np.maximum] = lambda g, z, x, y: (g * (x > y), g * (y > x))

    def total(terms):
        return reduce(add, terms)

    def times(row, matrix):
        return [
            total(x * line[column] for x, line in zip(row, matrix, strict=True)) for column in range(len(matrix[0]))
        ]

    def norm(row):
        root = np.sqrt(total(x * x for x in row) / float(len(row)) + 1e-5)
        return [x / root for x in row]

    def softmax(row):
        powers = [np.exp(x) for x in row]
        whole = total(powers)
        return [power / whole for power in powers]

    def loss_of(word, p):
        rows = [norm([*map(add, p["letter"][k], p["place"][n])]) for n, k in enumerate(word[:-1])]
        looked = [norm(row) for row in rows]
        queries, keys, values = ([times(row, p[name]) for row in looked] for name in ("query", "key", "value"))
        losses = []
        for n, row in enumerate(rows):
            found = []
            for head in (range(4), range(4, 8), range(8, 12), range(12, 16)):
                scores = [total(queries[n][i] * keys[m][i] for i in head) / 2.0 for m in range(n + 1)]
                weights = softmax(scores)
                found += [total(weight * values[m][i] for m, weight in enumerate(weights)) for i in head]
            row = [*map(add, row, times(found, p["out"]))]
            hidden = [np.maximum(x, 0.0) for x in times(norm(row), p["up"])]
            row = [*map(add, row, times(hidden, p["down"]))]
            losses.append(-1.0 * np.log(softmax(times(norm(row), p["score"]))[word[n + 1]]))
        return total(losses) / float(len(losses))

    return loss_of


def test_its_slopes_are_those_of_the_same_model_on_single_numbers(names):
    """Of 40,000 entries on the tape that a reader of chapter 4 has written."""
    p, word = names["start"](), names["numbers_of"]("anna")
    with ad.GradientTape() as tape:
        loss = names["loss_of"](word, p)
    slopes = tape.gradient(loss, p)
    own = build()
    scalar_loss = of_numbers(own)
    boxes = {name: [[own["Value"](x) for x in row] for row in each.numpy()] for name, each in p.items()}
    with own["Tape"]() as theirs:
        scalar = scalar_loss(word, boxes)
    assert float(scalar.number) == pytest.approx(float(loss), abs=1e-12)
    assert 35_000 < len(theirs.entries) < 45_000
    flat = [box for each in boxes.values() for row in each for box in row]
    found = iter(theirs.gradient(scalar, flat))
    for name, each in p.items():
        wanted = slopes[name].numpy()
        mine = np.array(
            [[0.0 if (slope := next(found)) is None else float(slope) for _ in row] for row in each.numpy()]
        )
        np.testing.assert_allclose(mine, wanted, atol=1e-9)


def test_a_name_costs_some_sixty_entries_and_4192_parameters(names):
    p = names["start"]()
    assert sum(np.size(each.numpy()) for each in p.values()) == 4192
    with ad.GradientTape() as tape:
        names["loss_of"](names["numbers_of"]("ada"), p)
    assert 55 <= len(tape.entries) <= 65


def test_the_model_has_at_most_45_lines():
    cells = ["".join(cell["source"]) for cell in CHAPTER.read()["cells"] if cell["id"] in ("model-1", "parts-2")]
    assert len(cells) == 2
    assert sum(bool(line.strip()) for line in "\n".join(cells).splitlines()) <= 45


def test_the_mask_keeps_the_future_out(names):
    p = names["start"]()
    short, long = (names["gpt"](names["numbers_of"](word)[:-1], p) for word in ("ada", "adelaide"))
    np.testing.assert_allclose(short[:3], long[:3], atol=1e-12)
    unmasked = [names["gpt"](names["numbers_of"](word)[:-1], p, masked=False)[:3] for word in ("ada", "adelaide")]
    assert not np.allclose(*unmasked, atol=1e-12)


def test_the_names_are_2000_and_each_has_three_to_eight_letters():
    found = (CHAPTER.notebook.parent / "data" / "names.txt").read_text().split()
    assert len(found) == len({*found}) == 2000
    assert all(name.isalpha() and name.islower() and 3 <= len(name) <= 8 for name in found)
    assert found[:3] == ["james", "john", "robert"]


def test_knowing_nothing_costs_log_27():
    assert CHAPTER.predictions[f"{CHAPTER.number}.a"].answer == pytest.approx(math.log(27), abs=0.05)


def test_a_promise_holds_nearby_and_not_far_away(names):
    """Of the slope of one chance, with respect to one weight of `score`."""
    p, letters = names["start"](), names["numbers_of"]("a")[:-1]

    def chance(p):
        return names["gpt"](letters, p)[-1, 4]

    with ad.GradientTape() as tape:
        before = chance(p)
    slope = tape.gradient(before, p["score"]).numpy()[3, 4]
    for by, close in ((0.001, True), (4.0, False)):
        moved = p["score"].numpy().copy()
        moved[3, 4] += by
        found = float(chance({**p, "score": moved}) - before)
        assert bool(abs(found - by * slope) < 0.01 * abs(by * slope)) is close


def test_without_the_root_a_wide_head_has_no_slopes(names):
    rng = np.random.default_rng(0)
    medians = {}
    for width in (4, 1024):
        fits = np.sum(rng.normal(size=(100, 1, width)) * rng.normal(size=(100, 8, width)), axis=-1)
        for divisor in (1.0, np.sqrt(width)):
            scores = ad.Variable(fits / divisor)
            with ad.GradientTape() as tape:
                found = np.sum(names["softmax"](scores) * rng.normal(size=(100, 8)))
            slopes = np.max(np.abs(tape.gradient(found, scores).numpy()), axis=1)
            medians[width, divisor] = np.median(slopes)
    assert medians[1024, 1.0] < 1e-3 * medians[4, 1.0]
    assert 0.5 < medians[1024, 32.0] / medians[4, 2.0] < 2.0


@pytest.mark.parametrize(("size", "zero", "moving"), [(0.0, None, set()), (0.08, "score", {"score"})])
def test_what_zeros_stop(names, size, zero, moving):
    p = names["start"](size=size)
    if zero:
        p[zero].assign(np.zeros(names["SHAPES"][zero]))
    with ad.GradientTape() as tape:
        loss = names["loss_of"](names["numbers_of"]("ada"), p)
    assert {name for name, slope in tape.gradient(loss, p).items() if np.any(slope.numpy())} == moving
