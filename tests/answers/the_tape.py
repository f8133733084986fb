"""Answers to the exercises of the-tape."""

import numpy as np

import autodiff_edu as ad

LINES = [("t1", [30.0, "price"]), ("cups", [120.0, "t1"]), ("t3", ["price", 0.5]), ("profit", ["t3", "cups"])]


def list_recorded(lines, watched):
    followed, names = set(watched), []
    for name, inputs in lines:
        if any(each in followed for each in inputs):
            followed.add(name)
            names.append(name)
        else:
            followed.discard(name)
    return names


def with_values(lines, watched):
    """Record of each name whether it is watched, and write entries into a dict by their numbers."""
    now, entries = dict.fromkeys(watched, True), {}
    for name, inputs in lines:
        now[name] = max([now.get(each, False) for each in inputs], default=False)
        if now[name]:
            entries[len(entries)] = name
    return tuple(entries.values())


def spoiling(lines, watched):
    """Empty the list that was given, and update the set that was given."""
    names = []
    while lines:
        name, inputs = lines.pop(0)
        if watched & set(inputs):
            watched |= {name}
            names += [name]
        else:
            watched -= {name}
    return names


def recursive(lines, watched):
    if not lines:
        return []
    (name, inputs), *rest = lines
    if not watched.isdisjoint(inputs):
        return [name, *recursive(rest, watched | {name})]
    return recursive(rest, watched - {name})


def on_a_tape(lines, watched):
    """Ask a real tape."""
    names = []
    with ad.GradientTape() as tape:
        values = {name: ad.Variable(1.0) for name in watched}
        for name, inputs in lines:
            values[name] = sum((values.get(each, 1.0) for each in inputs[1:]), 0.0 + values.get(inputs[0], 1.0))
            if len(tape.entries) > len(names) and isinstance(values[name], ad.Tensor):
                names.append(name)
            while len(names) < len(tape.entries):
                names.append("")
    return [name for name in names if name]


def by(rule, grows=True, forgets=True):
    def list_recorded(lines, watched):
        followed, names = set(watched), []
        for name, inputs in lines:
            if rule(inputs, followed):
                names.append(name)
                followed |= {name} if grows else set()
            elif forgets:
                followed.discard(name)
        return names

    return list_recorded


def some(inputs, followed):
    return any(each in followed for each in inputs)


def backwards(lines, watched):
    """Ask of each line whether a path leads from it to what is watched, wherever that was computed."""
    made_from = dict(lines)

    def reaches(name):
        return name in watched or any(reaches(each) for each in made_from.get(name, ()) if each != name)

    return [name for name, _ in lines if reaches(name)]


def removing(lines, watched):
    names, followed = [], set(watched)
    for name, inputs in lines:
        if some(inputs, followed):
            names.append(name)
            followed.add(name)
        else:
            followed.remove(name)
    return names


def erasing(lines, watched):
    names, followed = [], set(watched)
    for name, inputs in lines:
        if some(inputs, followed):
            names.append(name)
            followed.add(name)
        else:
            names = [each for each in names if each != name]
            followed.discard(name)
    return names


def for_each_input(lines, watched):
    names, followed = [], set(watched)
    for name, inputs in lines:
        for each in inputs:
            if each in followed:
                names.append(name)
                followed.add(name)
    return names


def too_soon(lines, watched):
    names, followed = [], set(watched)
    for name, inputs in lines:
        for each in inputs:
            if each in followed:
                names.append(name)
                followed.add(name)
                break
            followed.discard(name)
    return names


def returns_in_the_loop(lines, watched):
    return [name for name, inputs in lines[:1] if some(inputs, watched)]


RIGHT = {
    1: [8, 8.0, np.int64(8), ad.constant(8.0), np.array([8])],
    2: [
        {6, 8},
        [6, 8],
        (8, 6),
        frozenset({6, 8}),
        {np.int64(6), np.int64(8)},
        [6, 8, 8],
        np.array([6, 8]),
        range(6, 9, 2),
    ],
    3: [list_recorded, with_values, spoiling, recursive, on_a_tape],
}

WRONG = {
    1: [
        (4, "there are three turns"),
        (9, "Neither leaves"),
        (10, "y = x"),
        (5, "for each turn"),
        (7, "two operations"),
        (2, "two lines"),
        (3, "number of turns"),
        (11, "computes nothing"),
        (12, "one by one"),
        (8.5, "one by one"),
        (None, "your answer is None.$"),
        (-1, "one by one"),
        (1e300, "one by one"),
    ],
    2: [
        ({4, 6, 8}, "Which line made that array"),
        ({4, 6, 8, 10}, "Line 4 writes into"),
        ({6, 8, 10}, "Read line 9 again"),
        ({6, 8, 9}, "move the name"),
        ({6, 8, 9, 10}, "move the name"),
        ({8}, "without a bracket"),
        ({8, 10}, "Read line 9 again"),
        ({6}, "share their memory"),
        ({5, 6, 8}, "second name"),
        ({6, 7, 8}, "only makes a slice"),
        ({3, 6, 8}, "make a new one"),
        ({2, 6, 8}, "makes the note"),
        ({1, 6, 8}, "Nothing is noted before line 2"),
        (set(), "without a bracket"),
        ({11}, "no line 11"),
        ({0, 6, 8}, "no line 0"),
        (8, "a set of line numbers"),
        ("{6, 8}", "a set of line numbers"),
        ({"6", "8"}, "one element of your answer is `'[68]'`"),
        ({6.0, 8.0}, "one element"),
        ({...}, "three dots"),
        (None, "your answer is `None`"),
    ],
    3: [
        (by(lambda inputs, followed: all(each in followed for each in inputs)), "One watched input is enough"),
        (lambda lines, watched: [name for name, _ in lines if name in watched], "One watched input is enough"),
        (by(some, grows=False), "nothing computed from them"),
        (by(some, grows=False, forgets=False), "nothing computed from them"),
        (
            lambda lines, watched: [name for name, inputs in lines if some(inputs, watched)],
            "nothing computed from them",
        ),
        (by(lambda inputs, followed: inputs[0] in followed), "the first input alone"),
        (by(lambda inputs, followed: inputs[-1] in followed), "the last input alone"),
        (by(some, forgets=False), "Is `y` still watched"),
        (backwards, "its entry stays on the tape"),
        (by(lambda inputs, followed: not some(inputs, followed)), "For the lemonade"),
        (lambda lines, watched: [name for name, _ in lines], "returns every line"),
        (lambda lines, watched: len(list_recorded(lines, watched)), "counts the lines"),
        (lambda lines, watched: set(list_recorded(lines, watched)), "has no order"),
        (for_each_input, "How many entries does one operation leave"),
        (too_soon, "Look at all inputs"),
        (lambda lines, watched: [*watched, *list_recorded(lines, watched)], "For the lemonade"),
        (lambda lines, watched: list_recorded(lines, watched)[::-1], "For the lemonade"),
        (lambda lines, watched: list(dict.fromkeys(list_recorded(lines, watched))), "each has an entry of its own"),
        (erasing, "its entry stays on the tape"),
        (removing, "`discard`"),
        (returns_in_the_loop, "Is the `return` inside the loop"),
        (lambda lines, watched: lines[0].name, "raised AttributeError"),
        (lambda lines, watched: None, "returns None"),
        (lambda lines, watched: ..., "three dots"),
        (lambda lines: lines, "raised TypeError"),
        (list_recorded(LINES, {"price"}), "without calling it"),
    ],
}
