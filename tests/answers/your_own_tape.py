"""Answers to the exercises of chapter 4: tapes, with the chapter's own five pieces under them."""

import json
from pathlib import Path

import numpy as np

CHAPTER = Path(__file__).parents[2] / "notebooks" / "04-your-own-tape.ipynb"


def sources(whole=False):
    """Return the source of each cell of the chapter, or the whole cell, by its id."""
    cells = json.loads(CHAPTER.read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: cell if whole else "".join(cell["source"]) for cell in cells}


SHOWN = ("gap-1", "gap-2", "gap-3", "gap-4", "walk-1", "gap-5", "repair-1")
"""The cells in which the tape is built."""
FOLDED = ("imports", "piece-1", "piece-2", "piece-3", "rules", "piece-4", "piece-5")


def build(*left_out, without="(nothing)", instead=""):
    """Return the chapter's tape up to a cell, without some cells, and without what the cells print or fit."""
    names = {"__name__": "answers.your_own_tape"}
    for id, source in sources().items():
        if id in (*SHOWN, *FOLDED) and id not in left_out:
            code = source.partition("\n\n\nprint(")[0].partition("\n\n\nw, b = fit")[0]
            exec(code.replace(without, instead), names)
        if id == "beside-player":
            exec(source.partition("\n\n\nmany =")[0], names)
    return names


ARRAYS = build()
NUMBERS = build("repair-1")  # before the repair
WITHOUT_COPIES = build(without="x if isinstance(x, Value) else copy(x)", instead="x")
LENDING = build(without="np.array(number, dtype=float)[()]  # a copy", instead="number")


def edited(id, names, *changes):
    """Return the tape of a cell, with some pieces of its code replaced, and its value."""
    source = sources()[id].partition("\n\n\n")[0]
    for old, new in changes:
        assert source.count(old) == 1, (old, source)
        source = source.replace(old, new)
    scope = dict(names)
    exec(source, scope)
    return next(scope[name] for name in ("Theirs", "Repaired") if name in scope), names["Value"]


def by_arrays(*changes, id="ex-3-solution"):
    return edited(id, ARRAYS, *changes)


def leaving_it(work, names):
    """Return a tape that leaves its work to somebody else."""
    scope = dict(names)
    exec(f"class Mine(Tape):\n    {work}", scope)
    return scope["Mine"], names["Value"]


SEED, ONES, BACK = "{target: 1.0}", "np.ones(np.shape(target.number))", "reversed(self.entries)"
LAST = "        return [cotangents"
ADDED = "cotangents.get(x, 0.0) + part"


def tape(gradient, names=NUMBERS):
    """Return a tape with this gradient, and its value."""
    return type("Mine", (names["Tape"],), {"gradient": gradient}), names["Value"]


def numbers_of(entry, names=NUMBERS):
    return [names["number_of"](x) for x in entry.inputs]


def parts_of(entry, g, names=NUMBERS):
    return names["RULES"][entry.operation](g, entry.output.number, *numbers_of(entry, names))


def is_value(x):
    return hasattr(x, "number")


def dividing(rule, forward=None, reflected=None, names=ARRAYS):
    """Return the repaired tape with a division, or the tape before that repair."""
    names = build() if names is ARRAYS else build("repair-1")
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
    fold=lambda g, x, entry: ARRAYS["unbroadcast"](g, np.shape(x.number)),
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
    return ARRAYS["unbroadcast"](g, np.shape(entry.output.number))


def folded_copy(g, x, entry):
    return np.array(ARRAYS["unbroadcast"](g, np.shape(x.number)))


def only_left(g, x, entry):
    return np.sum(g, axis=tuple(range(np.ndim(g) - np.ndim(x.number))))


def only_ones(g, x, entry):
    shape = np.shape(x.number)
    return np.sum(g, axis=tuple(k for k, n in enumerate(shape) if n == 1), keepdims=True) if shape else g


def one(target):
    return 1.0


def shares(g, x, entry):
    """Un-broadcast, and return what already fits itself."""
    return g if np.shape(g) == np.shape(x.number) else ARRAYS["unbroadcast"](g, np.shape(x.number))


def finding(kept=lambda x: True, source="known.add(entry.output)", of="known.intersection(boxes)", order="entries"):
    """Return a function for exercise 4.2, right or with a slip."""
    code = sources()["ex-2-solution"].partition("\n\n\n")[0]
    code = code.replace("known.add(entry.output)", source).replace("known.intersection(boxes)", of)
    scope = dict(ARRAYS)
    exec(code.replace("for entry in entries", f"for entry in {order}"), scope)
    return scope["needed"]


def by_ids(entries, sources):
    found = []
    for k, entry in enumerate(entries):
        reached = list(sources) + [entries[j].output for j in found]
        if any(x is y for x in entry.inputs for y in reached):
            found.append(k)
    return tuple(entries[k] for k in found)


def by_asking_back(entries, sources):
    made = {id(entry.output): entry for entry in entries}

    def leads(x):
        return any(x is each for each in sources) or any(map(leads, made[id(x)].inputs if id(x) in made else ()))

    return [entry for entry in entries if any(map(leads, entry.inputs))]


def with_plain_arrays(entries, sources):
    known, found = set(sources), []
    for entry in entries:
        if any(x in known for x in entry.inputs):
            found.append(entry)
            known.add(entry.output)
    return found


def in_a_list(entries, sources):
    known, found = list(sources), []
    for entry in entries:
        if any(is_value(x) and x in known for x in entry.inputs):
            found.append(entry)
            known.append(entry.output)
    return found


def outputs(entries, sources):
    return [entry.output for entry in in_a_list(entries, sources)]


def each_input(entries, sources):
    known, found = set(sources), []
    for entry in entries:
        for x in entry.inputs:
            if is_value(x) and x in known:
                found.append(entry)
                known.add(entry.output)
    return found


def returning_early(entries, sources):
    for entry in in_a_list(entries, sources):
        return [entry]
    return None


def unpacking(entries, sources):
    known, found = set(sources), []
    for operation, inputs, output, place in entries:
        if known.intersection(filter(is_value, inputs)):
            known.add(output)
            found.append((operation, inputs, output, place))
    return found


def to_the_last(entries, sources):
    known, found = {entries[-1].output}, []
    for entry in reversed(entries):
        if entry.output in known:
            found.insert(0, entry)
            known.update(filter(is_value, entry.inputs))
    return found


RIGHT = {
    1: [
        dividing(quotient),
        dividing(lambda g, z, x, y: [g / y, -g * z / y]),
        dividing(lambda g, z, x, y: (g * y**-1.0, -(g * x) * y**-2.0)),
    ],
    2: [finding(), by_ids, by_asking_back, in_a_list, unpacking],
    3: [
        by_arrays(),
        by_arrays((ONES, "np.ones_like(target.number)")),
        by_arrays(("np.shape(x.number)", "x.number.shape")),
        by_arrays((BACK, "self.entries[::-1]")),
        by_arrays((BACK, "list(reversed(self.entries))")),
        on_arrays(fold=folded_copy, in_place=True),
    ],
}

WRONG = {
    1: [
        (dividing(lambda g, z, x, y: (g / y, g * x / y**2)), "Which sign"),
        (dividing(lambda g, z, x, y: (g / y, -g * x / y)), "There is a square in it"),
        (dividing(lambda g, z, x, y: (g / y, -g / y**2)), "Where is the x"),
        (dividing(lambda g, z, x, y: (-g * x / y**2, g / y)), "changed places"),
        (dividing(lambda g, z, x, y: (1 / y, -x / y**2)), "g is left out"),
        (dividing(lambda g, z, x, y: (g * y, g * x)), "the rule of a product"),
        (dividing(lambda g, z, x, y: (1 / y, -g * x / y**2)), "left out of the first"),
        (dividing(lambda g, z, x, y: (g / y, -x / y**2)), "left out of the second"),
        (dividing(lambda g, z, x, y: (g / y, g / x)), "What is the slope of 1 / y"),
        (dividing(lambda g, z, x, y: (g / y, g * x)), "The second is that of a product"),
        (dividing(lambda g, z, x, y: (-g / y, g * x / y**2)), "The two signs have changed places"),
        (dividing(lambda g, z, x, y: (g / y, -g * z**2)), "only y is squared"),
        (dividing(lambda g, z, x, y: (g / y, x / y**2)), "g is left out, and a sign"),
        (dividing(quotient, forward=lambda self, other: None), "is None. Is a `return` missing"),
        (dividing(lambda g, z, x, y: (g / y,)), "one contribution, the one to x"),
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
        (dividing(lambda g, z, x, y: g / y), "raised TypeError.*returns a tuple"),
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
    2: [
        (finding(source="pass"), "What about those that use *their* outputs"),
        (finding(order="reversed(entries)"), "Which way does this go"),
        (finding(of="known.issuperset(boxes) and boxes"), "One input that leads from a source is enough"),
        (each_input, "is in your list twice"),
        (finding(of="known.intersection([*boxes, entry.output])"), "How a source came about doesn't matter"),
        (to_the_last, "go the way the program went"),
        (lambda entries, sources: entries, "That is the whole list"),
        (with_plain_arrays, "unhashable"),
        (returning_early, "does `return` stand inside the loop"),
        (outputs, "Return the entries themselves"),
        (lambda entries, sources: [], "all but c are needed"),
        (lambda entries, sources: by_ids(entries, sources)[::-1], "in the order of the tape"),
        (lambda entries, sources: [k for k, _ in enumerate(entries)], "Return a list of entries"),
        (lambda entries, sources: ..., "three dots"),
        (lambda entries, sources: None, "Is a `return` missing"),
        (lambda entries, sources: 3, "Return a list of entries"),
    ],
    3: [
        (on_arrays(seed=one, fold=to_the_output), "What does the walk start with"),
        (on_arrays(fold=to_the_output), "they go to its inputs"),
        (on_arrays(fold=lambda g, x, entry: g), "not add up the contributions where a value was copied"),
        (on_arrays(fold=shares, in_place=True), "writes into an array that another value may share"),
        (on_arrays(seed=one), "What does the walk start with"),
        (on_arrays(fold=only_left), "but not axes of length 1 that were stretched"),
        (on_arrays(fold=only_ones), "but not axes that were new on the left"),
        (by_arrays(id="ex-3-answer"), "What does the walk start with"),
        (by_arrays((SEED, f"{{target: {ONES}}}"), id="ex-3-answer"), "they go to its inputs"),
        (by_arrays((ONES, "np.ones_like(target)")), "Rules take numbers, not boxes"),
        (by_arrays((ONES, "np.ones(len(target.number))")), "A plain number has neither a length"),
        (by_arrays((ONES, "np.ones(target.number)")), "`np.ones` takes a shape"),
        (by_arrays(("np.shape(x.number)", "len(x.number)")), "A plain number has neither a length"),
        (by_arrays(("np.shape(x.number)", "x.shape")), "not of the box"),
        (by_arrays(("np.shape(x.number)", "np.shape(g)")), "to one shape, that of the target or of `g`"),
        (by_arrays(("np.shape(x.number)", "np.shape(target.number)")), "to one shape, that of the target or of `g`"),
        (by_arrays(("np.shape(x.number)", "np.shape(g)"), (ONES, "1.0")), "What does the walk start with"),
        ((ARRAYS["Tape"], ARRAYS["Value"]), "This leaves the work to `walk`. Fix the three lines here"),
        (leaving_it("pass", ARRAYS), "has no `gradient` of its own"),
        (on_arrays(names=LENDING), "`Value` should keep a copy"),
        (on_arrays(names=WITHOUT_COPIES), "Note a copy"),
        (by_arrays(("np.shape(x.number)", "np.shape(x)")), "not of the box"),
        (by_arrays((ONES, "np.ones(np.shape(target))")), "not of the box"),
        (on_arrays(fold=lambda g, x, entry: np.sum(g)), "with a pencil"),
        (tape(lambda self, target, sources: None, ARRAYS), "returns None"),
        (by_arrays((BACK, "self.entries")), "does your walk go forwards"),
        (by_arrays((BACK, "self.entries.reverse() or self.entries")), "Did the first walk reverse"),
        (by_arrays((BACK, "self.entries.reverse()")), "reverses the list itself and returns None"),
        (by_arrays((BACK, "reversed(entries)")), "NameError"),
        (by_arrays((ADDED, "part")), "overwrites"),
        (by_arrays((ADDED, "cotangents[x] + part")), "KeyError. When the first contribution arrives"),
        (by_arrays((ADDED, "cotangents.get(x) + part")), "is None where nothing has arrived yet"),
        (by_arrays(("cotangents[x] =", "cotangents[entry.output] =")), "contributions go to the inputs"),
        (by_arrays(("cotangents.get(source)", "cotangents[source]")), "so use `.get`"),
        (by_arrays(("cotangents.get(source)", "cotangents.get(source, 0.0)")), "so return None"),
        (by_arrays((LAST, f"    {LAST}")), "does `return` stand inside the loop"),
        (by_arrays((f"{{target: {ONES}}}", "{}")), "Is the seed at the target"),
        (by_arrays((ONES, "target.number")), "Your seed is the value of the target"),
        (NUMBERS["Tape"], "Hand in two classes"),
        ((NUMBERS["Value"], NUMBERS["Value"]), "which one is the tape"),
        ((NUMBERS["Tape"], str), "should have the `number`"),
    ],
}
