"""Answers to the exercises of chapter 4: tapes, with the chapter's own five cells under them."""

import json
from pathlib import Path
from typing import ClassVar

import numpy as np

CHAPTER = Path(__file__).parents[2] / "notebooks" / "04-your-own-tape.ipynb"


COPIES = "x.copy() if isinstance(x, np.ndarray) else x"


def sources():
    """Return the source of each cell of the chapter, by its id."""
    return {cell["id"]: "".join(cell["source"]) for cell in json.loads(CHAPTER.read_text(encoding="utf-8"))["cells"]}


def cells(*ids, without="(nothing)"):
    """Run some cells of the chapter, and return the names that they define; `without` a piece of code, it is just x."""
    names = {"__name__": "answers.chapter_04"}
    for id, source in sources().items():
        if id in ids:
            exec(source.replace(without, "x"), names)
    return names


FIVE = ("imports", "value-1", "door-1", "rules-1", "walk-1", "tape-1")
NUMBERS = cells(*FIVE)


def repaired(without="(nothing)"):
    """Return the chapter's tape after its repair, for numbers and arrays; without the fit that the last cell runs."""
    names = cells(*FIVE, "arrays-1", without=without)
    exec(sources()["repair-1"].partition("w, b = fit")[0], names)
    return names


ARRAYS = repaired()
WITHOUT_COPIES = repaired(without=COPIES)


def tape(gradient, names=NUMBERS):
    """Return a tape with this gradient, and its value."""
    return type("Mine", (names["Tape"],), {"gradient": gradient}), names["Value"]


def numbers_of(entry, names=NUMBERS):
    return [names["number_of"](x) for x in entry.inputs]


def parts_of(entry, g, names=NUMBERS):
    return names["RULES"][entry.operation](g, entry.output.number, *numbers_of(entry, names))


def is_value(x):
    return hasattr(x, "number")


def walking(order=reversed, seed=lambda target: 1.0, default=None, absent=None, add=lambda old, new: old + new):
    """Make the `gradient` of a tape, right by default."""

    def gradient(self, target, sources):
        cotangents = {target: seed(target)}
        for entry in order(self.entries):
            g = cotangents.get(entry.output, default)
            if g is None:
                continue
            for x, part in zip(entry.inputs, parts_of(entry, g), strict=True):
                if is_value(x):
                    cotangents[x] = add(cotangents[x], part) if x in cotangents else part
        return [cotangents.get(source, absent) for source in sources]

    return gradient


def from_the_index(self, target, sources):
    sums = {id(target): np.float32(1.0)}
    for k in range(len(self.entries) - 1, -1, -1):
        entry = self.entries[k]
        if id(entry.output) in sums:
            for x, part in zip(entry.inputs, parts_of(entry, sums[id(entry.output)]), strict=True):
                sums[id(x)] = sums.get(id(x), 0.0) + part
    return tuple(sums.get(id(source)) for source in sources)


def every_path(self, target, sources):
    """Follow all paths: slow, and right."""
    sums, made_by = {}, {entry.output: entry for entry in self.entries}

    def pull(value, g):
        sums[value] = sums.get(value, 0.0) + g
        if value in made_by:
            for x, part in zip(made_by[value].inputs, parts_of(made_by[value], g), strict=True):
                if is_value(x):
                    pull(x, part)

    pull(target, 1.0)
    return [sums.get(source) for source in sources]


def too_early(self, target, sources):
    sums, made_by = {target: 1.0}, {entry.output: entry for entry in self.entries}

    def pull(value):
        entry = made_by.get(value)
        if entry is not None:
            for x, part in zip(entry.inputs, parts_of(entry, sums[value]), strict=True):
                if is_value(x):
                    sums[x] = sums.get(x, 0.0) + part
                    pull(x)

    pull(target)
    return [sums.get(source) for source in sources]


def once_a_line(self, target, sources):
    sums = {target: 1.0}
    for entry in reversed(self.entries):
        if entry.output in sums:
            for x, part in dict(zip(entry.inputs, parts_of(entry, sums[entry.output]), strict=True)).items():
                if is_value(x):
                    sums[x] = sums.get(x, 0.0) + part
    return [sums.get(source) for source in sources]


def from_the_last(self, target, sources):
    return walking()(self, self.entries[-1].output, sources)


def without_g(self, target, sources):
    sums = {target: 1.0}
    for entry in reversed(self.entries):
        if entry.output in sums:
            for x, part in zip(entry.inputs, parts_of(entry, 1.0), strict=True):
                if is_value(x):
                    sums[x] = sums.get(x, 0.0) + part
    return [sums.get(source) for source in sources]


def turning_the_list(self, target, sources):
    self.entries.reverse()
    return walking(order=iter)(self, target, sources)


class Hoarding(NUMBERS["Tape"]):
    """Keeps its cotangents from one question to the next."""

    kept: ClassVar[dict] = {}

    def gradient(self, target, sources):
        self.kept[target] = 1.0
        for entry in reversed(self.entries):
            if entry.output in self.kept:
                for x, part in zip(entry.inputs, parts_of(entry, self.kept[entry.output]), strict=True):
                    if is_value(x):
                        self.kept[x] = self.kept.get(x, 0.0) + part
        return [self.kept.get(source) for source in sources]


def without_get(self, target, sources):
    sums = {target: 1.0}
    for entry in reversed(self.entries):
        for x, part in zip(entry.inputs, parts_of(entry, sums[entry.output]), strict=True):
            sums[x] = sums.get(x, 0.0) + part
    return [sums[source] for source in sources]


def turned_in_place(self, target, sources):
    for entry in self.entries.reverse():
        parts_of(entry, 1.0)


def with_boxes(self, target, sources):
    entry = self.entries[-1]
    return list(NUMBERS["RULES"][entry.operation](1.0, entry.output, *entry.inputs))[:1] * len(sources)


def dividing(rule, forward=None, reflected=None):
    """Return the repaired tape with a division."""
    names = repaired()
    divide = names["apply"]
    names["Value"].__truediv__ = forward or (lambda self, other: divide(np.divide, self, other))
    names["Value"].__rtruediv__ = reflected or (lambda self, other: divide(np.divide, other, self))
    if rule is not None:
        names["RULES"][np.divide] = rule
    return names["Tape"], names["Value"]


def unboxed(self, other):
    return self.number / (other.number if is_value(other) else other)


def reboxed(self, other):
    return type(self)(unboxed(self, other))


def reboxed_reflected(self, other):
    return type(self)(other / self.number)


def quotient(g, z, x, y):
    return g / y, -g * x / y**2


def on_arrays(
    seed=lambda target: np.ones(np.shape(target.number)),
    fold=lambda g, x, entry: ARRAYS["fold"](g, np.shape(x.number)),
    in_place=False,
    names=ARRAYS,
):
    """Return the tape of exercise 4.3, corrected or with some of its mistakes."""

    def gradient(self, target, sources):
        cotangents = {target: seed(target)}
        for entry in reversed(self.entries):
            g = cotangents.get(entry.output)
            if g is None:
                continue
            for x, part in zip(entry.inputs, parts_of(entry, g, names), strict=True):
                if is_value(x):
                    part = fold(part, x, entry)
                    if x not in cotangents:
                        cotangents[x] = part
                    elif in_place:
                        cotangents[x] += part
                    else:
                        cotangents[x] = cotangents[x] + part
        return [cotangents.get(source) for source in sources]

    return tape(gradient, names)


def to_the_output(g, x, entry):
    return ARRAYS["fold"](g, np.shape(entry.output.number))


def folded_copy(g, x, entry):
    return np.array(ARRAYS["fold"](g, np.shape(x.number)))


def of_the_box(g, x, entry):
    return ARRAYS["fold"](g, np.shape(x))


def only_left(g, x, entry):
    return np.sum(g, axis=tuple(range(np.ndim(g) - np.ndim(x.number))))


def only_ones(g, x, entry):
    shape = np.shape(x.number)
    return np.sum(g, axis=tuple(k for k, n in enumerate(shape) if n == 1), keepdims=True) if shape else g


def one(target):
    return 1.0


RIGHT = {
    "4.1": [
        (NUMBERS["Tape"], NUMBERS["Value"]),
        (NUMBERS["Value"], NUMBERS["Tape"]),
        (ARRAYS["Tape"], ARRAYS["Value"]),
        [*tape(walking())],
        tape(from_the_index),
        tape(every_path),
        tape(walking(order=lambda entries: entries[::-1], seed=lambda target: np.ones(()))),
    ],
    "4.2": [
        dividing(quotient),
        dividing(lambda g, z, x, y: [g / y, -g * z / y]),
        dividing(lambda g, z, x, y: (g * y**-1.0, -(g * x) * y**-2.0)),
    ],
    "4.3": [on_arrays(), on_arrays(fold=folded_copy, in_place=True), (ARRAYS["Tape"], ARRAYS["Value"])],
}

WRONG = {
    "4.1": [
        (tape(walking(add=lambda old, new: new)), "overwrites"),
        (tape(walking(order=iter)), "goes forwards"),
        (tape(once_a_line), "used twice in one line"),
        (tape(too_early), "where 4 became 6"),
        (tape(from_the_last), "The target may come from an earlier one"),
        (tape(walking(absent=0.0)), "so return None"),
        (tape(walking(default=0.0)), "a zero is not None"),
        (tape(walking(seed=lambda target: target.number)), "Your seed is the value of the target"),
        (tape(without_g), "as if a 1 had arrived"),
        (tape(turning_the_list), "reverse or empty `self.entries`"),
        ((Hoarding, NUMBERS["Value"]), "keep its cotangents"),
        (tape(without_get), "so use `.get`"),
        (tape(with_boxes), "The slopes are Values"),
        (tape(turned_in_place), "`reversed(list)` leaves it as it is"),
        (tape(lambda self, target, sources: [0.5] * len(sources)), "with a pencil"),
        (tape(lambda self, target, sources: None), "returns None"),
        (tape(lambda self, target, sources: ...), "three dots"),
        (tape(lambda self, target, sources: [... for _ in sources]), "three dots"),
        (tape(lambda self, target, sources: {"x": 1.0}), "Return a list with one slope for each"),
        (tape(lambda self, target: 1.0), "raised TypeError.*3 were given`.$"),
        (NUMBERS["Tape"], "Hand in two classes"),
        ((NUMBERS["Value"], NUMBERS["Value"]), "which one is the tape"),
        ((NUMBERS["Tape"], str), "should have the `number`"),
    ],
    "4.2": [
        (dividing(lambda g, z, x, y: (g / y, g * x / y**2)), "Which sign"),
        (dividing(lambda g, z, x, y: (g / y, -g * x / y)), "There is a square in it"),
        (dividing(lambda g, z, x, y: (g / y, -g / y**2)), "Where is the x"),
        (dividing(lambda g, z, x, y: (-g * x / y**2, g / y)), "changed places"),
        (dividing(lambda g, z, x, y: (1 / y, -x / y**2)), "g is left out"),
        (dividing(lambda g, z, x, y: (g * y, g * x)), "the rule of a product"),
        (dividing(lambda g, z, x, y: (2 * g / y, -g * x / y**2)), "with a pencil"),
        (dividing(None), "no rule for `np.divide`"),
        (dividing(lambda g, z, x, y: (..., ...)), "Replace the three dots"),
        (dividing(lambda g, z, x, y: ...), "Replace the three dots"),
        (dividing(quotient, forward=reboxed, reflected=reboxed_reflected), "no tape has heard of"),
        (dividing(lambda g, z, x, y: g / y), "raised TypeError.*returns a tuple"),
        (dividing(quotient, forward=unboxed), "Let `apply` compute it"),
        (dividing(quotient, reflected=lambda self, other: ...), "three dots"),
        (dividing(quotient, reflected=lambda self, other: self / other), "the wrong way round"),
        (dividing(quotient, reflected=lambda self, other: type(self)(self.number / other)), "of the two is `self`"),
        (dividing(quotient, forward=lambda self, other: self * other), "should have the number 3"),
        ((ARRAYS["Tape"], ARRAYS["Value"]), "raised TypeError"),
    ],
    "4.3": [
        (on_arrays(seed=one, fold=to_the_output, in_place=True), "The seed of an array has to be an array"),
        (on_arrays(fold=to_the_output, in_place=True), "they go to its inputs"),
        (on_arrays(fold=lambda g, x, entry: g, in_place=True), "not add up the contributions where a value was copied"),
        (on_arrays(in_place=True), "writes into an array that another value may share"),
        (on_arrays(seed=one), "The seed of an array"),
        (on_arrays(fold=only_left), "but not axes of length 1 that were stretched"),
        (on_arrays(fold=only_ones), "but not axes that were new on the left"),
        (on_arrays(names=WITHOUT_COPIES), "Note a copy"),
        (on_arrays(fold=of_the_box), "not of the box"),
        (on_arrays(seed=lambda target: np.ones(np.shape(target))), "not of the box"),
        (on_arrays(fold=lambda g, x, entry: np.sum(g)), "with a pencil"),
        (tape(lambda self, target, sources: None, ARRAYS), "returns None"),
    ],
}
