"""Answers to the exercises of chapter 4: tapes, with the chapter's own five pieces under them."""

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
    """Run some cells of the chapter, and return the names they define; `without` a copy, it keeps x itself."""
    names = {"__name__": "answers.your_own_tape", "test_rules": lambda: None}
    for id, source in sources().items():
        if id in ids:
            exec(source.replace(without, without.replace(COPIES, "x")), names)
    return names


FIVE = ("imports", "value-1", "door-1", "rules-1", "walk-1", "tape-1")
FILLED = (*FIVE, "rules-answer")
NUMBERS = cells(*FILLED)


def repaired(without="(nothing)"):
    """Return the chapter's tape after its repair, for numbers and arrays; without the fit that the last cell runs."""
    names = cells(*FILLED, "arrays-1", without=without)
    exec(sources()["repair-1"].partition("w, b = fit")[0], names)
    return names


ARRAYS = repaired()
WITHOUT_COPIES = repaired(without=COPIES)
LENDING = repaired(without=f"number = {COPIES}")


def edited(id, names, *changes):
    """Return the tape of a cell, with some pieces of its code replaced, and its value."""
    source = sources()[id].partition("\n\n\n")[0]
    for old, new in changes:
        assert source.count(old) == 1, (old, source)
        source = source.replace(old, new)
    scope = dict(names)
    exec(source, scope)
    return next(scope[name] for name in ("Mine", "Theirs", "Fixed") if name in scope), names["Value"]


def by_numbers(*changes, names=NUMBERS):
    return edited("ex-1-solution", names, *changes)


def by_arrays(*changes, id="ex-3-solution"):
    return edited(id, ARRAYS, *changes)


def leaving_it(work, names):
    """Return a tape that leaves its work to somebody else."""
    scope = dict(names)
    exec(f"class Mine(Tape):\n    {work}", scope)
    return scope["Mine"], names["Value"]


SKIP = "            if g is not None:\n"
WALKED, SEED, ONES = "reversed(self.entries)", "{target: 1.0}", "np.ones(np.shape(target.number))"
LAST, PAIRS = "        return [cotangents", "zip(entry.inputs, contributions)"
BEHIND = "def gradient(self, target, sources):\n        "


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


def dividing(rule, forward=None, reflected=None, names=ARRAYS):
    """Return the repaired tape with a division, or the tape before that repair."""
    names = repaired() if names is ARRAYS else cells(*FILLED)
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


def handing_over_numbers(self, other):
    return self.__mul__.__globals__["apply"](np.divide, self.number, getattr(other, "number", other))


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


def only_left(g, x, entry):
    return np.sum(g, axis=tuple(range(np.ndim(g) - np.ndim(x.number))))


def only_ones(g, x, entry):
    shape = np.shape(x.number)
    return np.sum(g, axis=tuple(k for k, n in enumerate(shape) if n == 1), keepdims=True) if shape else g


def one(target):
    return 1.0


RIGHT = {
    1: [
        by_numbers(),
        by_numbers()[::-1],
        by_numbers(names=ARRAYS),
        [*tape(walking())],
        tape(from_the_index),
        tape(every_path),
        tape(walking(order=lambda entries: entries[::-1], seed=lambda target: np.ones(()))),
    ],
    2: [
        dividing(quotient),
        dividing(lambda g, z, x, y: [g / y, -g * z / y]),
        dividing(lambda g, z, x, y: (g * y**-1.0, -(g * x) * y**-2.0)),
    ],
    3: [by_arrays(), by_arrays((ONES, "np.ones_like(target.number)")), on_arrays(fold=folded_copy, in_place=True)],
}

WRONG = {
    1: [
        (tape(walking(add=lambda old, new: new)), "overwrites"),
        (tape(walking(order=iter)), "Only the target's own entry was pulled back"),
        (
            by_numbers(
                (SKIP, f"{SKIP[:-1].replace('not ', '')}\n                continue\n            if True:\n"),
                (LAST, f"    {LAST}"),
            ),
            "does `return` stand inside the loop",
        ),
        (by_numbers((LAST, f"    {LAST}")), "Only the last entry was looked at"),
        (by_numbers((LAST, f"            {LAST}")), "At most one contribution got through"),
        (by_numbers((LAST, f"                {LAST}")), "At most one contribution got through"),
        (by_numbers((SKIP, "            if True:\n")), "'NoneType' and 'float'.*does not lead to the target: skip it"),
        (by_numbers((SKIP, "            if g:\n")), "skips a cotangent of 0 too"),
        (
            by_numbers((SKIP, f"{SKIP[:-1].replace('not ', '')}\n                break\n            if True:\n")),
            "as `break` does",
        ),
        (by_numbers((SEED, "{}")), "Is the seed at the target"),
        (by_numbers((WALKED, "reversed(entries)"), names=NUMBERS | {"entries": []}), "do you walk over `self.entries`"),
        (by_numbers(("cotangents[x] =", "cotangents[entry.output] =")), "contributions go to the inputs"),
        (by_numbers(("s.get(x, 0.0)", "s[x]")), "KeyError. When the first contribution arrives, nothing is there yet"),
        (by_numbers((WALKED, "self.entries"), ("s.get(entry.output)", "s[entry.output]")), "so use `.get`"),
        (by_numbers(("output.number", "output")), "slopes are Values.*entry.output.number.*Is z the number"),
        (by_numbers(("entry.output.number", "g")), "but your tape says .*Is z the number of the output"),
        (by_numbers((PAIRS, "zip(entry.inputs, contributions[::-1])")), "changed places"),
        (by_numbers(("(g, entry.output.number, ", "(g, ")), "missing 1.*A rule takes `g`, the number of the output"),
        (by_numbers(("(x, 0.0)", "(x)")), "is None where nothing has arrived yet"),
        (by_numbers(("number_of(x) for x", "x for x")), "the slopes are Values"),
        (leaving_it("pass", NUMBERS), "`Mine` has no `gradient` of its own"),
        (
            leaving_it(f"{BEHIND}return super().gradient(target, sources)", NUMBERS),
            "leaves the work to `Tape.gradient`",
        ),
        (leaving_it(f"{BEHIND}return [walk(self.entries, target).get(x) for x in sources]", NUMBERS), "to `walk`"),
        ((NUMBERS["Tape"], NUMBERS["Value"]), "This leaves the work to `walk`. Write the backward pass here"),
        ((ARRAYS["Value"], ARRAYS["Tape"]), "This leaves the work to `walk`"),
        (by_numbers((PAIRS, f"dict({PAIRS}).items()")), "used twice in one line"),
        (tape(too_early), "where 4 became 6"),
        (by_numbers((SEED, "{self.entries[-1].output: 1.0}")), "The target may come from an earlier one"),
        (tape(walking(absent=0.0)), "so return None"),
        (tape(walking(default=0.0)), "a zero is not None"),
        (tape(walking(seed=lambda target: target.number)), "Your seed is the value of the target"),
        (by_numbers(("rule(g, ", "rule(1.0, ")), "as if a 1 had arrived"),
        (
            by_numbers(("reversed(self.entries)", "[self.entries.reverse(), *self.entries][1:]")),
            "reverse or empty `self.entries`",
        ),
        ((Hoarding, NUMBERS["Value"]), "keep its cotangents"),
        (by_numbers((SKIP, "            if True:\n"), ("s.get(entry.output)", "s[entry.output]")), "so use `.get`"),
        (by_numbers(("reversed(self.entries)", "self.entries.reverse()")), "`reversed(list)` leaves it as it is"),
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
    2: [
        (dividing(lambda g, z, x, y: (g / y, g * x / y**2)), "Which sign"),
        (dividing(lambda g, z, x, y: (g / y, -g * x / y)), "There is a square in it"),
        (dividing(lambda g, z, x, y: (g / y, -g / y**2)), "Where is the x"),
        (dividing(lambda g, z, x, y: (-g * x / y**2, g / y)), "changed places"),
        (dividing(lambda g, z, x, y: (1 / y, -x / y**2)), "g is left out"),
        (dividing(lambda g, z, x, y: (g * y, g * x)), "the rule of a product"),
        (dividing(lambda g, z, x, y: (1 / y, -g * x / y**2)), "left out of the first"),
        (dividing(lambda g, z, x, y: (g / y, -x / y**2)), "left out of the second"),
        (dividing(lambda g, z, x, y: (g / y,)), "one contribution for each input"),
        (dividing(lambda g, z, x, y: (g / y,), names=NUMBERS), "one contribution, the one to x"),
        (dividing(lambda g, x, y: (g / y, -g * x / y**2)), "4 were given`. A rule takes `g`, the output `z`"),
        (dividing(quotient, reflected=reboxed_reflected), "no tape has heard of `a = 1.0 / x`"),
        (
            dividing(quotient, forward=lambda x, y: reboxed(x, y) if is_value(y) else x * (1 / y)),
            "heard of `a = x / y`",
        ),
        (dividing(lambda g, z, x, y: (2 * g / y, -g * x / y**2)), "with a pencil, from the last line up.$"),
        (dividing(lambda g, z, x, y: (g / y, -g * x / 2 * y)), "divides by 2 and then multiplies by y"),
        (dividing(lambda g, z, x, y: (g / y, g * -x * y**2)), "divide by it"),
        (dividing(lambda g, z, x, y: (g / y, -g * y / x**2)), "second contribution x and y have changed places"),
        (dividing(None), "no rule for `np.divide`"),
        (dividing(lambda g, z, x, y: (..., ...)), "computes with three dots. Replace all of them.$"),
        (dividing(lambda g, z, x, y: ...), "computes with three dots"),
        (dividing(quotient, forward=reboxed, reflected=reboxed_reflected), "no tape has heard of"),
        (dividing(lambda g, z, x, y: g / y), "raised IndexError.*returns a tuple"),
        (dividing(lambda g, z, x, y: g / y, names=NUMBERS), "raised TypeError.*returns a tuple"),
        (dividing(quotient, forward=handing_over_numbers), "not their numbers. Otherwise the entry doesn't know x."),
        (dividing(quotient, forward=lambda self, other: self / other), "`/` asks `__truediv__` again: call `apply`."),
        (dividing(quotient, reflected=lambda self, other: other / self), "`/` asks `__rtruediv__` again"),
        (dividing(lambda g, z, x, y: (g, -g * x / y**2)), "1 / y is forgotten in the first"),
        (dividing(lambda g, z, x, y: (g / y, -g * x / y ^ 2)), "Python's power is"),
        (dividing(lambda g, z, x, y: None), "Your rule returns `None`"),
        (
            dividing(lambda g, z, x, y: (g / y, None)),
            r"returns `\(0.5, None\)`. Is a `return` or a contribution missing",
        ),
        (dividing(quotient, forward=unboxed), "Let `apply` compute it"),
        (dividing(quotient, reflected=lambda self, other: ...), "three dots"),
        (dividing(quotient, reflected=lambda self, other: self / other), "the wrong way round"),
        (dividing(quotient, reflected=lambda self, other: type(self)(self.number / other)), "of the two is `self`"),
        (dividing(quotient, forward=lambda self, other: self * other), "should have the number 3"),
        ((ARRAYS["Tape"], ARRAYS["Value"]), "raised TypeError.*`Value` has no `__truediv__`"),
    ],
    3: [
        (on_arrays(seed=one, fold=to_the_output, in_place=True), "The seed of an array has to be an array"),
        (on_arrays(fold=to_the_output, in_place=True), "they go to its inputs"),
        (on_arrays(fold=lambda g, x, entry: g, in_place=True), "not add up the contributions where a value was copied"),
        (on_arrays(in_place=True), "writes into an array that another value may share"),
        (on_arrays(seed=one), "The seed of an array"),
        (on_arrays(fold=only_left), "but not axes of length 1 that were stretched"),
        (on_arrays(fold=only_ones), "but not axes that were new on the left"),
        (by_arrays(id="ex-3-answer"), "The seed of an array has to be an array"),
        (by_arrays((SEED, f"{{target: {ONES}}}"), id="ex-3-answer"), "they go to its inputs"),
        (by_arrays((ONES, "np.ones_like(target)")), "Rules take numbers, not boxes"),
        (by_arrays((ONES, "np.ones(len(target.number))")), "A plain number has neither a length"),
        (by_arrays((ONES, "np.ones(target.number)")), "`np.ones` takes a shape"),
        (by_arrays(("np.shape(x.number)", "len(x.number)")), "A plain number has neither a length"),
        (by_arrays(("np.shape(x.number)", "x.number.shape")), "A plain number has neither a length"),
        (by_arrays(("np.shape(x.number)", "x.shape")), "not of the box"),
        (by_arrays(("np.shape(x.number)", "np.shape(g)")), "to one shape, that of the target or of `g`"),
        (by_arrays(("np.shape(x.number)", "np.shape(target.number)")), "to one shape, that of the target or of `g`"),
        (by_arrays(("np.shape(x.number)", "np.shape(g)"), (ONES, "1.0")), "The seed of an array has to be an array"),
        (by_arrays(("if g is None", "if not g")), "Ask `if g is None`"),
        ((ARRAYS["Tape"], ARRAYS["Value"]), "This leaves the work to `walk`. Fix the three lines here"),
        (leaving_it("pass", ARRAYS), "has no `gradient` of its own"),
        (on_arrays(names=LENDING), "`Value` should keep a copy"),
        (on_arrays(names=WITHOUT_COPIES), "Note a copy"),
        (by_arrays(("np.shape(x.number)", "np.shape(x)")), "not of the box"),
        (by_arrays((ONES, "np.ones(np.shape(target))")), "not of the box"),
        (on_arrays(fold=lambda g, x, entry: np.sum(g)), "with a pencil"),
        (tape(lambda self, target, sources: None, ARRAYS), "returns None"),
    ],
}
